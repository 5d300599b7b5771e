"""What is told of messages in captures as mirrors spoil them, held against the ground truth of the whole capture: a row is of one
message, lengths are what was sent or not told, rows add up to their connection, and what passes late was not sent again."""

import collections
import itertools
import random
import struct

import nccl
from harness import main
from nccl import BTH, cut, document, is_roce, opcode
from pcapfile import read_pcap

TCP = 6


def destination(record):
    return record[46:50], int.from_bytes(record[16 + BTH + 5:16 + BTH + 8], "big")


def psn_of(record):
    return int.from_bytes(record[16 + BTH + 9:16 + BTH + 12], "big")


class Truth:
    """Which message each frame with data is of: by queue pair and PSN, as the writes of the truth have them."""

    def __init__(self, records, document):
        self.messages = {(m["connection"], m["k"]): m for m in document["messages"]}
        self.records, self.of_psn, self.frames = records, {}, {}
        for place, message in self.messages.items():
            for write in message["wire"]:
                first = records[write["first_frame"] - 1]
                for i in range(write["packets"]):
                    self.of_psn[destination(first), (psn_of(first) + i) % (1 << 24)] = place
        for number, record in enumerate(records, 1):
            if is_roce(record) and 6 <= opcode(record) <= 0x0b:
                self.frames[number] = self.of_psn.get((destination(record), psn_of(record)))
        self.lanes = collections.defaultdict(set)
        for (connection, _), message in self.messages.items():
            self.lanes[connection] |= {write["qp_index"] for write in message["wire"]}
        for message in document["messages"] + document["receives_without_data"]:
            self.frames[message["cts_frame"]] = message["connection"], message["k"]

    def sent(self, place):
        """Bytes of each request, in their order."""
        message = self.messages[place]
        written = [None] * message["n"]
        for send in message["sends"]:
            written[send.get("index_in_group", 0)] = send["size"]
        return written

    def sent_on(self, place, lane):
        message = self.messages[place]
        return sum(w["dmalen"] for w in message["wire"]
                   if w["qp_index"] == lane and not (message["n"] > 1 and "imm_wire_bytes" in w))


def lossy(share):
    return lambda kept, chance: [one for one in kept if chance.random() >= share]


def bursts(length):
    """Holes of so many frames, three in a hundred frames lost."""
    def way(kept, chance):
        left, rest = 0, []
        for one in kept:
            if left == 0 and chance.random() < 0.03 / length:
                left = length
            left -= left > 0
            rest += [one] if left == 0 else []
        return rest
    return way


def middle(share):
    return lambda kept, chance: kept[int(len(kept) * share):]


def without_set_up(kept, chance):
    return [one for one in kept if one[1][16 + 23] != TCP]


def sliced(size):
    return lambda kept, chance: [(number, cut(record, size)) for number, record in kept]


def late(microseconds):
    """Each frame up to so much later, so that they overtake each other."""
    def way(kept, chance):
        stamps = [struct.unpack_from("<II", record) for _, record in kept]
        digits = 9 if any(fraction >= 10 ** 6 for _, fraction in stamps) else 6
        moved = [seconds * 10 ** digits + fraction + chance.uniform(0, microseconds * 10 ** (digits - 6)) for seconds, fraction in stamps]
        return [one for _, one in sorted(zip(moved, kept), key=lambda pair: pair[0])]
    return way


# name: what is done one after the other
WAYS = {
    "lossy": (lossy(0.03),), "hardly anything": (lossy(0.3),), "bursts": (bursts(10),), "long bursts": (bursts(50),),
    "middle": (middle(0.25),), "late": (late(50),), "sliced lossy": (sliced(128), lossy(0.05)), "sliced bursts": (sliced(128), bursts(10)),
    "sliced hardly anything": (sliced(128), lossy(0.3)), "middle lossy": (middle(0.5), lossy(0.3)), "middle late": (middle(0.25), late(50)),
    "no set-up, lossy": (without_set_up, lossy(0.1)), "no set-up, late": (without_set_up, late(50)), "lossy late": (lossy(0.03), late(50)),
}
SEEDS = range(2)
HEAVY = {"ring4-2.27.7"}  # of many frames, and of the same kind as the other rings

View = collections.namedtuple("View", "name document true numbers")  # numbers[n]: of frame n of the view in the whole capture


class Rows(nccl.WithTruths):
    views = None

    def setUp(self):
        super().setUp()
        if Rows.views is None:
            Rows.views = list(self.made())

    def made(self):
        for capture, truth in self.each():
            if capture.stem in HEAVY:
                continue
            header, records = read_pcap(capture)
            true = Truth(records, truth)
            for (way, steps), seed in itertools.product(WAYS.items(), SEEDS):
                kept, chance = list(enumerate(records, 1)), random.Random(seed)
                for step in steps:
                    kept = step(kept, chance)
                told = document(self.write("view", header, [record for _, record in kept]))
                yield View((capture.stem, way, seed), told, true, [0] + [number for number, _ in kept])

    def rows(self):
        """(view, row, the messages that its frames are of)"""
        for view in self.views:
            for row in view.document["messages"]:
                frames = [row[at] for at in ("cts_frame", "first_frame", "last_frame") if row[at] is not None]
                yield view, row, {view.true.frames.get(view.numbers[frame]) for frame in frames} - {None}

    def of_one(self, *needed):
        """(view, row, its message), where those members are known"""
        for view, row, places in self.rows():
            if len(places) == 1 and places <= view.true.messages.keys() and None not in [row[member] for member in needed]:
                yield view, row, next(iter(places))

    def test_nothing_is_found(self):
        self.assertEqual([(view.name, f["rule"], f["frames"]) for view in self.views for f in view.document["findings"]], [])

    def test_a_row_with_a_number_is_of_that_message(self):
        wrong = [(view.name, row) for view, row, places in self.rows() if row["k"] is not None and {k for _, k in places} - {row["k"]}]
        self.assertEqual(wrong, [])

    def test_a_row_without_a_number_is_of_one_message(self):
        """But for one in many, of several requests, where nearly all that would tell was missed."""
        rows = [(view.name, row, len(places)) for view, row, places in self.rows() if row["k"] is None]
        mixed = [(name, row) for name, row, count in rows if count > 1]
        self.assertGreater(len(rows), 1000)
        self.assertLessEqual(len(mixed), len(rows) / 500, mixed)

    def seen(self, view):
        """Frames of each message's data, first copies."""
        passed, frames = set(), collections.defaultdict(list)
        for frame, number in enumerate(view.numbers[1:], 1):
            record = view.true.records[number - 1]
            packet = is_roce(record) and 6 <= opcode(record) <= 0x0b and (destination(record), psn_of(record))
            if packet in view.true.of_psn and packet not in passed:
                passed.add(packet)
                frames[view.true.of_psn[packet]].append(frame)
        return frames

    def test_packets_are_those_that_passed(self):
        """In whichever order, where messages have one request and one queue pair: so are the first and the last frame."""
        rows, frames = [], {}
        for view, row, place in self.of_one("k", "first_frame"):
            if view.true.messages[place]["n"] == 1 and view.true.lanes[place[0]] == {0}:
                if view.name not in frames:
                    frames[view.name] = self.seen(view)
                mine = frames[view.name][place]
                rows.append((view.name, row, [row["packets"], row["first_frame"], row["last_frame"]], [len(mine), mine[0], mine[-1]]))
        self.assertGreater(len(rows), 1000)
        self.assertEqual([one for one in rows if one[2] != one[3]], [])

    def test_lengths_are_what_was_sent(self):
        """Of a message whose clear-to-send was seen."""
        lengths = [(view.name, row, request["written_bytes"], size)
                   for view, row, place in self.of_one("cts_frame", "first_frame")
                   for request, size in zip(row["requests"], view.true.sent(place)) if request["written_bytes"] is not None]
        self.assertGreater(len(lengths), 1000)
        self.assertEqual([one for one in lengths if one[2] != one[3]], [])

    def test_parts_are_as_long_as_they_were(self):
        """Where the connection has one queue pair, whatever of the message was missed."""
        parts = [(view.name, row, row["qps"][0]["bytes"], view.true.sent_on(place, 0))
                 for view, row, place in self.of_one("k", "first_frame")
                 if view.true.lanes[place[0]] == {0} and row["qps"][0]["bytes"] is not None]
        self.assertGreater(len(parts), 1000)
        self.assertEqual([one for one in parts if one[2] != one[3]], [])

    def test_rows_add_up(self):
        for view in self.views:
            sums = collections.Counter()
            for row in view.document["messages"]:
                sums[row["connection"]] += sum(request["written_bytes"] or 0 for request in row["requests"])
            with self.subTest(view=view.name):
                self.assertEqual([(row["connection"], row["counts"]["payload_bytes"]) for row in view.document["connections"]],
                                 [(row["connection"], sums[row["connection"]]) for row in view.document["connections"]])

    def test_what_is_late_was_not_sent_again(self):
        """Packets whose PSN passed before, and no others: before the connection was known some may not have been counted."""
        for view in self.views:
            passed, again = set(), collections.Counter()
            for record in (view.true.records[number - 1] for number in view.numbers[1:]):
                if is_roce(record) and 6 <= opcode(record) <= 0x0b:
                    packet = destination(record), psn_of(record)
                    again["data" if packet in view.true.of_psn else "cts"] += packet in passed
                    passed.add(packet)
            for role in ("data", "cts"):
                counted = sum(row["counts"]["retransmitted_packets"][role] for row in view.document["connections"])
                with self.subTest(view=view.name, role=role):
                    self.assertLessEqual(counted, again[role])


if __name__ == "__main__":
    main()
