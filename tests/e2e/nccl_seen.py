"""What is told of NCCL's captures is true however they are seen: each row is of the packets that its number names, by the ground truth."""

import collections
import random
import struct

from harness import main
from nccl import BTH, WithTruths, cut, document, is_roce
from pcapfile import read_pcap

ACK = 0x11


def psn_of(record):
    return struct.unpack_from(">I", record, 16 + BTH + 8)[0] & 0xffffff


def ns(record):
    seconds, fraction = struct.unpack_from("<II", record)
    return seconds * 10**9 + fraction


def stamped(time, record):
    return struct.pack("<II", *divmod(time, 10**9)) + record[8:]


class Truth:
    """Which message each frame is of: by queue pair and PSN, so that copies are of it, too."""

    def __init__(self, records, truth):
        self.kinds, self.packets, self.sizes = {}, collections.Counter(), {}
        numbers, ends = {}, {}
        for c in truth["connections"]:
            for i, qpn in enumerate(c["receiver_qpns"]):
                device = c.get("receiver_qp_device", [0] * (i + 1))[i]
                ends[bytes(map(int, c["receiver_addresses"][device].split("."))), qpn] = c["connection"], i
        for m in truth["messages"]:
            self.sizes[m["connection"], m["k"]] = sum(send["size"] for send in m["sends"])
            for write in m["wire"]:
                self.packets[m["connection"], m["k"]] += write["packets"]
                first = psn_of(records[write["first_frame"] - 1])
                for i in range(write["packets"]):
                    numbers[m["connection"], write["qp_index"], first + i & 0xffffff] = m["k"]
        for frame, record in enumerate(records, 1):
            if not is_roce(record) or record[16 + BTH] == ACK:
                continue
            where = ends.get((record[16 + 30:16 + 34], int.from_bytes(record[16 + BTH + 5:16 + BTH + 8], "big")))
            if where is not None and (*where, psn_of(record)) in numbers:
                self.kinds[frame] = where[0], numbers[(*where, psn_of(record))]


def lossy(share, seed):
    chance = random.Random(seed)
    return lambda frame: chance.random() >= share


def without(*frames):
    return lambda frame: frame not in frames


# (capture, frames that the mirror lost): the clear-to-send and the end of its first write; those of a ring's first messages, and
# what the transport sends again
MISSED = (("multirecv-2.12.12", (9, 14)), ("multirecv-2.12.12", (9, 20)), ("loss-ring2-2.21.5", (36, 38, 40, 41, 245, 246)))
LOSSES = ((0.01, 1), (0.03, 16), (0.1, 4), (0.1, 8))


class Seen(WithTruths):
    def is_true(self, capture, truth, keeps, size=None):
        header, records = read_pcap(capture)
        true = Truth(records, truth)
        kept = [frame for frame in range(1, len(records) + 1) if keeps(frame)]
        told = document(self.write("seen", header, [cut(records[f - 1], size) if size else records[f - 1] for f in kept]))
        self.assertEqual(told["findings"], [])
        rows = [m for m in told["messages"] if m["first_frame"] is not None]
        for row in rows:
            ends = {true.kinds.get(kept[row[at] - 1]) for at in ("first_frame", "last_frame")}
            (message,) = ends
            if row["k"] is not None:
                self.assertEqual(message[1], row["k"])
            if row["completed"]:
                self.assertEqual((row["packets"], sum(part["bytes"] for part in row["qps"])), (true.packets[message], true.sizes[message]))
        missing = [r for r in map(records.__getitem__, {*range(len(records))} - {f - 1 for f in kept}) if is_roce(r) and r[16 + BTH] != ACK]
        self.assertLessEqual(sum(c["counts"]["missing_packets"] for c in told["connections"]), len(missing))
        seen = {true.kinds[frame] for frame in kept if frame in true.kinds}
        self.assertLessEqual(sum(c["counts"]["messages"] for c in told["connections"]), len(seen))
        return len({true.kinds[kept[row["first_frame"] - 1]] for row in rows if row["k"] is not None}), len(seen)

    def test_nothing_is_missing_where_one_clock_is_off(self):
        """What passes in another order was seen all the same: what one host sends, a millisecond before or behind."""
        for capture, truth in self.each():
            header, records = read_pcap(capture)
            if any(c.get("retransmitted_packets_seen", {}).get("data") for c in truth["connections"]) or truth["snaplen"] < 9000:
                continue
            mine = records[-1][16 + 6:16 + 12]
            for later in (-1000000, 1000000):
                moved = sorted((ns(r) + (later if r[16 + 6:16 + 12] == mine else 0), i, r) for i, r in enumerate(records))
                told = document(self.write("moved", header, [stamped(time, r) for time, _, r in moved]))
                with self.subTest(capture=capture.name, later=later):
                    self.assertEqual([c["counts"]["missing_packets"] for c in told["connections"]], [0] * len(truth["connections"]))
                    self.assertEqual(told["findings"], [])

    def test_where_what_ends_a_write_was_missed(self):
        for capture, truth in self.each():
            for name, frames in MISSED:
                if capture.stem == name:
                    with self.subTest(capture=name, missed=frames):
                        numbered, seen = self.is_true(capture, truth, without(*frames))
                        self.assertGreaterEqual(numbered, seen - 1)

    def test_where_the_mirror_is_lossy(self):
        """Most messages have their number, even where one packet in ten is missing."""
        for share, seed in LOSSES:
            for size in (None, 192):
                numbered = seen = 0
                for capture, truth in self.each():
                    with self.subTest(capture=capture.name, share=share, seed=seed, size=size):
                        more = self.is_true(capture, truth, lossy(share, seed), size)
                        numbered, seen = numbered + more[0], seen + more[1]
                self.assertGreater(numbered, 0.8 * seen)


if __name__ == "__main__":
    main()
