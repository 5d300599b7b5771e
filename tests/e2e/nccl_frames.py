"""What decode says of packets, and flows of half-connections, that are NCCL's, against the ground truth of their captures."""

import collections
import random

from harness import DATA, FAILED, fabtap, main, shared
from nccl import WithTruths
from pcapfile import read_pcap

ROLES = {"cts", "data", "sizes", "completion"}
WHOLE = 262144  # snaplen of captures whose set-up over TCP is not cut
KNOWS_TAGS = {"C", "D", "E", "F"}


def frames_of(capture, *options):
    """frame number -> what it is of NCCL's framing"""
    lines = fabtap("decode", "--nccl", "--json", *options, capture, timeout=600).lines()
    return {line["frame"]: line for line in lines}


def has_setup(truth):
    return truth["snaplen"] == WHOLE and bool(truth["tcp"])


def expected_role(write, sizes_at):
    if "imm_wire_bytes" in write and write["dmalen"] == 0 and write["first_opcode"] == "0x0b":
        return "completion"
    if sizes_at is not None and int(write["va"], 16) - sizes_at in range(256 * 160) and "imm_wire_bytes" in write:
        return "sizes"
    return "data"


def sizes_of(truth):
    """connection -> address of its array of sizes, where messages of several requests end"""
    return {c["connection"]: int(c["multi_receive_sizes_at_receiver"]["addr"], 16)
            for c in truth["connections"] if "multi_receive_sizes_at_receiver" in c}


class Packets(WithTruths):
    def expected(self, truth):
        """frame -> (connection, k, role, the message) of the first and last packets of writes, and of clear-to-sends"""
        sizes = sizes_of(truth)
        told = {}
        for message in truth["messages"] + truth["receives_without_data"]:
            where = message["connection"], message["k"]
            if message["cts_frame"] is not None:
                told[message["cts_frame"]] = (*where, "cts", message)
            for write in message.get("wire", []):
                role = expected_role(write, sizes.get(message["connection"]) if message["n"] > 1 else None)
                for frame in (write["first_frame"], write["last_frame"]):
                    told[frame] = (*where, role, message)
        return told

    def check(self, told, true, truth, ids):
        connection, k, role, message = true
        self.assertEqual((told["role"], told["k"], told["again"]), (role, k, False))
        self.assertEqual(told["family"], truth["cts_family"])
        self.assertEqual(ids.setdefault(told["connection"], connection), connection)
        if role == "cts":
            self.check_requests(told["requests"], message, truth)
        if role == "sizes":
            written = [0] * message["n"]
            for send in message["sends"]:
                written[send["index_in_group"]] = send["size"]
            self.assertEqual([request["written_bytes"] for request in told["requests"]], written)

    def check_requests(self, requests, message, truth):
        posted = message.get("receive", message)
        self.assertEqual([request["offered_size"] for request in requests], posted["posted_sizes"])
        self.assertTrue(all("rkeys" not in request for request in requests))
        if "addrs" in posted:
            self.assertEqual([int(request["va"], 16) for request in requests], [int(va, 16) for va in posted["addrs"]])
        if truth["cts_family"] in KNOWS_TAGS and "tags" in posted:
            self.assertEqual([request["tag"] for request in requests], posted["tags"])

    def test_every_packet_of_the_truths(self):
        """Where the set-up is in the capture, from the first one on."""
        for capture, truth in self.each():
            if not has_setup(truth):
                continue
            frames, expected, ids = frames_of(capture), self.expected(truth), {}
            for number, true in expected.items():
                with self.subTest(capture=capture.name, frame=number):
                    self.assertIsNotNone(frames[number]["nccl"])
                    self.check(frames[number]["nccl"], true, truth, ids)
            self.assertEqual(sorted(ids.values()), [c["connection"] for c in truth["connections"]])

    def test_nothing_else_is_said_to_be_nccl(self):
        """Each message has as many packets as it had, and what was sent again is said to be."""
        for capture, truth in self.each():
            told = [line["nccl"] for line in frames_of(capture).values() if line["nccl"] is not None]
            counts = collections.Counter((t["connection"], t["role"] == "cts", t["k"]) for t in told if not t["again"])
            again = collections.Counter("cts" if t["role"] == "cts" else "data" for t in told if t["again"])
            most = collections.Counter()
            for message in truth["messages"] + truth["receives_without_data"]:
                most[True, message["k"]] += message["cts_frame"] is not None
                most[False, message["k"]] += sum(write["packets"] for write in message.get("wire", []))
            with self.subTest(capture=capture.name):
                self.assertLessEqual({t["role"] for t in told}, ROLES)
                sums = collections.Counter()
                for (_, is_cts, k), count in counts.items():
                    sums[is_cts, k] += count
                if has_setup(truth):
                    self.assertEqual(+sums, +most)
                else:  # what passed before the connection was known is not told
                    self.assertEqual(+(sums - most), collections.Counter())
                    self.assertGreater(sum(sums.values()), 0.9 * sum(most.values()))
                seen = collections.Counter()
                for connection in truth["connections"]:
                    seen.update(connection.get("retransmitted_packets_seen", {}))
                self.assertEqual(+again, +seen)

    def test_nothing_false_is_said_where_one_frame_in_a_hundred_is_lost(self):
        for capture, truth in self.each():
            header, records = read_pcap(capture)
            expected = self.expected(truth)
            for seed in range(3):
                chance = random.Random(seed)
                kept = [number for number in range(1, len(records) + 1) if chance.random() >= 0.01]
                frames = frames_of(self.write("lossy", header, [records[number - 1] for number in kept]))
                told = {number: frames[at]["nccl"] for at, number in enumerate(kept, 1) if number in expected}
                for number, one in told.items():
                    if one is not None:
                        _, k, role, _ = expected[number]
                        self.assertEqual(one["role"], role, (capture.name, seed, number))
                        self.assertIn(one["k"], (k, None), (capture.name, seed, number))
                said = sum(one is not None and one["k"] is not None for one in told.values())
                self.assertGreater(said, 0.4 * len(told), (capture.name, seed))

    def test_what_is_sent_again_is_of_the_message_it_was_of(self):
        found = 0
        for capture, _ in self.each():
            before = {}
            for number, line in frames_of(capture).items():
                told = line["nccl"]
                if told is None:
                    continue
                where = line["ip"]["dst"], line["dest_qp"], line["psn"]
                self.assertEqual(told["again"], where in before, (capture.name, number))
                if told["again"]:
                    found += 1
                    self.assertEqual((told["connection"], told["role"], told["k"]), before[where], (capture.name, number))
                before[where] = told["connection"], told["role"], told["k"]
        self.assertGreater(found, 50)

    def test_fields_are_those_of_the_objects(self):
        names = ["nccl.role", "nccl.connection", "nccl.k", "nccl.again", "nccl.family", "nccl.protocol"]
        lists = {"nccl.tag": "tag", "nccl.offered_size": "offered_size", "nccl.va": "va", "nccl.written_bytes": "written_bytes"}
        capture = DATA / "nccl" / "multirecv-q2-2.21.5.pcap"
        wanted = ["frame", *names, *lists]
        options = [option for name in wanted for option in ("-e", name)]
        printed = fabtap("decode", "--nccl", "-T", "fields", *options, capture).out.decode().splitlines()
        frames = frames_of(capture)
        self.assertEqual(len(printed), len(frames))
        for line in printed:
            values = dict(zip(wanted, line.split("\t")))
            told = frames[int(values["frame"])]["nccl"]
            if told is None:
                self.assertEqual({values[name] for name in wanted[1:]}, {""})
                continue
            for name in names:
                true = told.get(name[5:], "")
                self.assertEqual(values[name], str(true).lower() if isinstance(true, bool) else str(true), line)
            for name, member in lists.items():
                rows = [request for request in told.get("requests", []) if member in request]
                self.assertEqual(values[name], ",".join(str(request[member]) for request in rows), line)

    def test_keys_are_shown_when_asked_for(self):
        for capture, truth in self.each():
            buffers = {c["connection"]: c["receive_buffer"] for c in truth["connections"] if "receive_buffer" in c}
            if not has_setup(truth) or not buffers:
                continue
            frames = frames_of(capture, "--keys")
            for message in truth["messages"]:
                buffer = buffers.get(message["connection"])
                if message["cts_frame"] is None or buffer is None:
                    continue
                keys = [int(key, 16) for key in buffer.get("rkeys_per_device", [buffer["rkey"]])]
                for request in frames[message["cts_frame"]]["nccl"]["requests"]:
                    told = [int(key, 16) for key in request["rkeys"]]
                    self.assertEqual(told[:len(keys)], keys, (capture.name, message["cts_frame"]))
                    self.assertFalse(any(told[len(keys):]))
        capture = DATA / "nccl" / "multirecv-q2-2.21.5.pcap"
        self.assertNotIn(b"rkeys", fabtap("decode", "--nccl", capture).out)
        self.assertIn(b" rkeys 0x00000405/", fabtap("decode", "--nccl", "--keys", capture).out)

    def test_without_the_option_nothing_is_said(self):
        capture = DATA / "nccl" / "multirecv-q2-2.21.5.pcap"
        plain = fabtap("decode", "--json", capture).lines()
        self.assertTrue(all("nccl" not in line for line in plain))
        for line in frames_of(capture).values():
            line.pop("nccl")
            self.assertEqual(line, plain[line["frame"] - 1])

    def test_several_workers_say_the_same(self):
        capture = DATA / "nccl" / "dual-2.27.7.pcap"
        self.assertEqual(frames_of(capture, "--workers", "3"), frames_of(capture))

    def test_options_that_need_another(self):
        capture = DATA / "nccl" / "dual-2.27.7.pcap"
        for options in (["-T", "fields", "-e", "nccl.k"], ["--keys"],
                        ["--nccl", "-T", "fields", "-e", "nccl.rkeys"]):
            run = fabtap("decode", *options, capture)
            self.assertEqual((run.status, len(run.complaints()), run.out), (FAILED, 1, b""), options)


class Flows(WithTruths):
    def flows(self, capture, *options):
        return fabtap("flows", "--nccl", "--json", *options, capture, timeout=600).json()

    def halves(self, truth):
        """(source, destination, queue pair) -> (connection of the truth, role, rank of who sends it)"""
        halves = {}
        for connection in truth["connections"]:
            lanes = zip(connection["sender_qpns"], connection["receiver_qpns"])
            for lane, (sender, receiver) in enumerate(lanes):
                at = connection["sender_addresses"][connection.get("sender_qp_device", [0] * 99)[lane]]
                to = connection["receiver_addresses"][connection.get("receiver_qp_device", [0] * 99)[lane]]
                halves[at, to, receiver] = connection, "data", connection["sender_rank"]
                halves[to, at, sender] = connection, "cts", connection["receiver_rank"]
        return halves

    def test_every_half_connection_of_the_truths(self):
        for capture, truth in self.each():
            document, halves, ids = self.flows(capture), self.halves(truth), {}
            for row in document["flows"]:
                where = row["src"]["address"], row["dst"]["address"], row["dest_qp"]
                with self.subTest(capture=capture.name, where=where):
                    connection, role, rank = halves.pop(where)
                    told = row["nccl"]
                    self.assertEqual((told["class"], told["role"]), ("nccl", role))
                    self.assertTrue(0.8 <= told["confidence"] <= 1)
                    self.assertIn(told["rank"], (rank, None))
                    self.assertIn(told["channel"], (connection["channel"], None))
                    self.assertEqual(ids.setdefault(told["connection"], connection["connection"]), connection["connection"])
            self.assertEqual(halves, {}, capture.name)
            self.assertEqual(len(set(ids.values())), len(ids))

    def test_ranks_and_connections_are_those_that_nccl_tells(self):
        for capture, _ in self.each():
            connections = {c["connection"]: c for c in fabtap("nccl", "--json", capture).json()["connections"]}
            for row in self.flows(capture)["flows"]:
                told = row["nccl"]
                true = connections[told["connection"]]
                self.assertEqual(told["channel"], true["channel"])
                self.assertEqual(told["rank"], true["sender" if told["role"] == "data" else "receiver"]["rank"])

    def test_the_set_up_pairs_the_halves(self):
        """With certainty; and nobody else is said to have."""
        for capture, truth in self.each():
            document = self.flows(capture)
            rows = {row["flow"]: row for row in document["flows"]}
            with self.subTest(capture=capture.name):
                self.assertEqual(2 * len(document["connections"]), len(rows))
                wanted = {("nccl", 1)} if has_setup(truth) else {("transport", True)}
                paired = {(c["paired_by"], 1 if c["paired_by"] == "nccl" else c["certainty"] > 0.99)
                          for c in document["connections"]}
                self.assertEqual(paired, wanted)
                for connection in document["connections"]:
                    one, other = (rows[flow]["nccl"] for flow in connection["flows"])
                    self.assertEqual(one["connection"], other["connection"])
                    self.assertEqual({one["role"], other["role"]}, {"data", "cts"})

    def test_the_rest_of_the_document_is_as_without(self):
        for capture, _ in self.each():
            followed, plain = self.flows(capture), fabtap("flows", "--json", capture).json()
            for row in followed["flows"]:
                row.pop("nccl")
                self.assertEqual(row["rules"], [])
                row["rules"] = None
            for connection in followed["connections"] + plain["connections"]:
                del connection["paired_by"], connection["certainty"]
            self.assertEqual(followed, plain, capture.name)

    def test_several_workers_say_the_same(self):
        for capture, _ in self.each():
            self.assertEqual(self.flows(capture, "--workers", "3"), self.flows(capture), capture.name)

    def test_queue_pairs_of_others_have_their_class(self):
        if shared() is None:
            self.skipTest("the reference captures of others are not here (FT_SHARED or ../shared)")
        for name, wanted in (("nvme-rdma", "nvme"), ("openmpi-ucx-allreduce-2rank", "ucx"), ("gloo-ibverbs-3rank", "gloo")):
            document = self.flows(shared() / "captures" / (name + ".pcap"))
            busy = [row for row in document["flows"] if row["transport"] == "RC" and row["packets"] > 50]
            self.assertTrue(busy)
            for row in busy:
                self.assertEqual((row["nccl"]["class"], row["nccl"]["connection"], row["nccl"]["role"]), (wanted, None, None))

    def test_rows_are_chosen_and_ordered_by_it(self):
        capture = DATA / "nccl" / "midstart-2.19.3.pcap"
        rows = self.flows(capture)["flows"]
        chosen = self.flows(capture, "--where", "class=nccl", "--where", "nccl=1")["flows"]
        self.assertEqual(chosen, [row for row in rows if row["nccl"]["connection"] == 1])
        self.assertEqual(self.flows(capture, "--where", "class=ucx,nvme")["flows"], [])
        by_class = [row["nccl"]["role"] for row in self.flows(capture, "--sort", "class")["flows"]]
        self.assertEqual(by_class, ["cts", "cts", "data", "data"])
        self.assertIn(b"  nccl data  ", fabtap("flows", "--nccl", capture).out)
        for options in (["--where", "class=nccl"], ["--sort", "class"], ["--nccl", "--where", "class=mpi"],
                        ["--where", "rule=nccl.*"], ["--nccl", "--where", "rule=nccl.foreign-setup"]):
            run = fabtap("flows", *options, capture)
            self.assertEqual((run.status, len(run.complaints()), run.out), (FAILED, 1, b""), options)


if __name__ == "__main__":
    main()
