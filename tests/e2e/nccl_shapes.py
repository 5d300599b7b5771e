"""NCCL jobs on native InfiniBand, between IPv6 addresses and with different numbers of devices, in LL128 lines, for other ranks of the
host: what is told of them is true, whatever of them is seen, and nothing is found."""

import json
import random
import struct

import nccl_made
import nccl_shapes_made as made
import roce
from harness import WithFolder, fabtap, main
from nccl_healthy import lossy, middle, whole
from nccl_shapes_made import GLOBAL, INFINIBAND, LIDS, NETS, ROCE4, Shape

UNEVEN = ((1, 2), (2, 1), (4, 1), (2, 4), (4, 2))
MIXED = ("LL", "LL128", "SIMPLE")
LL128 = ("LL128",)


def cut(net):
    """To what an RDMA write has in front of its payload and 10 bytes, set-ups too."""
    def way(frames, chance):
        return [f._replace(bytes=f.bytes[:made.HEADERS[net] + 10]) for f in frames]
    return way


def without(frames, chance):
    """Clear-to-sends that were missed: every fifth."""
    return [f for i, f in enumerate(frames) if f.role != "cts" or f.k % 5]


class Told:
    """What a document says, in terms of the job."""

    def __init__(self, shape, frames, document):
        self.shape, self.frames, self.document = shape, frames, document
        ends = {pair: c for c in shape.connections for pair in zip(c.sender_qpns, c.receiver_qpns)}
        self.of = {}
        for row in document["connections"]:
            pairs = zip(row["sender"]["qpns"], row["receiver"]["qpns"])
            self.of[row["connection"]] = {ends[pair].number if pair in ends else None for pair in pairs if None not in pair}

    def wrong_messages(self):
        for m in self.document["messages"]:
            number = self.of[m["connection"]]
            seen = [self.frames[m[at] - 1] for at in ("cts_frame", "first_frame", "last_frame") if m[at]]
            true = {(f.connection, f.k) for f in seen}
            if number != {c for c, _ in true} or m["k"] is None:
                continue
            style, tag, length = self.shape.sent[seen[0].connection, m["k"]]
            if (true != {(seen[0].connection, m["k"])} or m["protocol"] not in (style, "unknown")
                    or [r["tag"] for r in m["requests"] if r["tag"] not in (tag, None)]
                    or (m["completed"] and m["requests"][0]["written_bytes"] != length)):
                yield m

    def protocols(self):
        """(told, messages that have data)"""
        rows = [m for m in self.document["messages"] if m["first_frame"]]
        return sum(m["protocol"] != "unknown" for m in rows), len(rows)


class Shapes(WithFolder):
    def told(self, shape, way=whole):
        frames = way(shape.frames, random.Random(7))
        self.path = made.write(self.folder / "shape.pcapng", frames)
        return Told(shape, frames, fabtap("nccl", "--json", "--no-icrc", self.path).json())

    def nothing_is_found(self, told):
        self.assertEqual([(f["rule"], f["frames"], f["evidence"]) for f in told.document["findings"]], [])
        tenants = self.folder / "map.json"
        tenants.write_text(json.dumps(roce.EVERYBODY).replace("2000-", "1970-"))
        found = fabtap("audit", "-m", tenants, "--no-icrc", "--json", self.path).json()["findings"]
        self.assertEqual([(f["rule"], f["frames"]) for f in found if f["rule"].startswith("nccl.")], [])

    def each(self, setup=(True, False)):
        for seed, net in enumerate(NETS * 3):
            release = list(nccl_made.RELEASES)[seed * 5 % len(nccl_made.RELEASES)]
            for is_set_up in setup:
                yield Shape(seed, net, release, sets=1 + seed % 3, styles=MIXED, proxied=1 + seed % 2 * 3, setup=is_set_up)

    def test_all_of_jobs_that_are_seen_whole(self):
        for shape in self.each((True,)):
            told = self.told(shape)
            with self.subTest(net=shape.net, release=shape.release):
                self.nothing_is_found(told)
                self.assertEqual(list(told.wrong_messages()), [])
                rows = {tuple(row["sender"]["qpns"]): row for row in told.document["connections"]}
                self.assertEqual(set(rows), {tuple(c.sender_qpns) for c in shape.connections})
                for connection in shape.connections:
                    row = rows[tuple(connection.sender_qpns)]
                    self.assertEqual((row["receiver"]["qpns"], row["family"]["name"], row["counts"]["messages"], row["found_by"]),
                                     (connection.receiver_qpns, shape.layout.family, shape.messages, "metadata"))
                    self.assertEqual(row["cts_fifo"]["addr"], hex(connection.fifo))
                self.assertTrue(all(m["completed"] for m in told.document["messages"]))
                self.assertEqual({q["class"] for q in told.document["queue_pairs"]}, {"nccl"})

    def test_a_process_that_sends_for_others_has_no_rank(self):
        told = self.told(Shape(3, ROCE4, (21, 5), proxied=8))
        self.assertEqual({row["sender"]["rank"] for row in told.document["connections"]}, {None})

    def test_nothing_false_is_told_of_what_is_left(self):
        for shape in self.each():
            for way in (middle, lossy, cut(shape.net), without):
                told = self.told(shape, way)
                with self.subTest(net=shape.net, release=shape.release, way=way.__name__, setup=shape.setup):
                    self.nothing_is_found(told)
                    self.assertEqual(list(told.wrong_messages()), [])

    def test_lines_of_ll128_that_queue_pairs_share(self):
        """Parts are whole lines, not whole units of them."""
        for sets, release in ((3, (19, 3)), (4, (14, 3)), (8, (17, 1))):
            shape = Shape(sets, ROCE4, release, sets=sets, styles=LL128)
            shape.split = True
            for way in (whole, without):
                told = self.told(shape, way)
                with self.subTest(release=release, way=way.__name__):
                    self.assertEqual(list(told.wrong_messages()), [])
                    known, messages = told.protocols()
                    self.assertGreater(known, 0.85 * messages)

    def uneven(self, net, setup):
        for seed, devices in enumerate(UNEVEN):
            yield Shape(seed, net, (28, 9), devices, sets=1 + seed % 2, styles=MIXED, setup=setup)

    def test_hosts_with_different_numbers_of_devices(self):
        for net in NETS:
            for shape in self.uneven(net, True):
                told = self.told(shape)
                with self.subTest(net=net, connection=0):
                    self.nothing_is_found(told)
                    self.assertEqual(list(told.wrong_messages()), [])
                    self.assertEqual(len(told.document["messages"]), shape.messages * len(shape.connections))
                    self.assertEqual({q["class"] for q in told.document["queue_pairs"]}, {"nccl"})
                    for row in told.document["connections"]:
                        self.assertEqual({address[:4] == "lid:" for side in ("sender", "receiver") for address in row[side]["addresses"]},
                                         {net == LIDS})

    def test_further_devices_of_a_sender_are_no_second_writers(self):
        for net in (ROCE4, LIDS, GLOBAL):
            for shape in self.uneven(net, False):
                for way in (whole, middle, lossy):
                    with self.subTest(net=net, way=way.__name__):
                        self.nothing_is_found(self.told(shape, way))

    def test_data_between_clear_to_sends_of_devices_that_were_not_met(self):
        """Of a receiver's two devices the other one's are not known: data goes by where it was asked for, not by how much came."""
        for seed, release in ((10, (29, 7)), (22, (21, 5))):
            told = self.told(Shape(seed, LIDS, release, (1, 2), sets=2, styles=("LL", "SIMPLE"), setup=False))
            with self.subTest(release=release):
                self.nothing_is_found(told)
                self.assertEqual(list(told.wrong_messages()), [])

    def test_writes_and_additions_beside_nccl(self):
        """Of GPUs by GIN, from 2.28 on, or as others, NVSHMEM among them, have them, too."""
        for release, is_told in (((21, 5), False), ((24, 3), False), ((28, 9), True), ((30, 7), True)):
            shape, half = Shape(1, ROCE4, release), roce.Half("10.0.0.1", "10.0.0.2", 0x7777)
            for i in range(40):
                packet = half.packet(0x14, i, struct.pack(">QIQQ", 0x7f1000000000, 0x1234, 1, 0)) if i % 2 else half.write(i, 64)
                shape.frames.append(nccl_made.Frame(2e9 + 1e4 * i, len(packet), packet))
            told = self.told(shape)
            with self.subTest(release=release):
                self.assertEqual([q["class"] for q in told.document["queue_pairs"] if q["qpn"] == 0x7777],
                                 ["gin" if is_told else "unknown"])

    def test_the_queue_pair_of_a_device_where_nothing_can_be_read(self):
        """The only one that data goes to has the clear-to-sends, too: no further one is told."""
        for net in INFINIBAND:
            for devices in ((1, 1), (2, 2)):
                told = self.told(Shape(5, net, (28, 9), devices, setup=False), cut(net))
                with self.subTest(net=net, devices=devices):
                    self.assertGreater(len(told.document["connections"]), 0)
                    for row in told.document["connections"]:
                        self.assertEqual((row["qps_per_connection"], row["found_by"]), (1, "lengths"))
                        self.assertNotIn(None, told.of[row["connection"]])


if __name__ == "__main__":
    main()
