"""What is counted of each connection in captures as mirrors spoil them, held against what was sent and what of that was seen:
clear-to-sends, packets that are missing or were sent again, and how many queue pairs there are."""

import collections
import random

import nccl
from harness import main
from nccl import document, is_roce, opcode
from nccl_rows import HEAVY, bursts, destination, late, lossy, middle, psn_of, sliced, without_set_up
from pcapfile import read_pcap


def one_way(kept, chance):
    """What one address sends."""
    mine = chance.choice(sorted({record[42:46] for _, record in kept if is_roce(record)}))
    return [one for one in kept if not is_roce(one[1]) or one[1][42:46] == mine]


def swapped(kept, chance):
    """One in ten frames behind the next one, set-ups among them."""
    kept = list(kept)
    for i in range(len(kept) - 1):
        if chance.random() < 0.1:
            kept[i], kept[i + 1] = kept[i + 1], kept[i]
    return kept


# name: what is done one after the other
WAYS = {
    "lossy": (lossy(0.1),), "hardly anything": (lossy(0.3),), "bursts": (bursts(10),), "long bursts": (bursts(50),), "late": (late(50),),
    "swapped": (swapped,), "middle lossy": (middle(0.4), lossy(0.2)), "middle late": (middle(0.25), late(50)),
    "no set-up, lossy": (without_set_up, lossy(0.2)), "no set-up, late": (without_set_up, late(50)), "lossy late": (lossy(0.05), late(50)),
    "sliced lossy": (sliced(128), lossy(0.1)), "one way": (one_way,), "one way lossy": (one_way, lossy(0.1)),
    "all": (middle(0.2), sliced(160), lossy(0.1), late(50)),
}


class Sent:
    """Which way of which queue pair each write is on."""

    def __init__(self, records, truth):
        ends = {}
        for c in truth["connections"]:
            count = len(c["sender_qpns"])
            for role, side in (("cts", "sender"), ("data", "receiver")):
                devices = c.get(side + "_qp_device", [0] * count)
                for lane, (qpn, device) in enumerate(zip(c[side + "_qpns"], devices)):
                    ends[bytes(map(int, c[side + "_addresses"][device].split("."))), qpn] = c["connection"], role, lane
        self.connections = {c["connection"]: c for c in truth["connections"]}
        self.ways = {n: (ends[destination(r)], psn_of(r)) for n, r in enumerate(records, 1)
                     if is_roce(r) and 6 <= opcode(r) <= 0x0b and destination(r) in ends}
        self.psns = collections.defaultdict(set)
        for way, psn in self.ways.values():
            self.psns[way].add(psn)

    def of(self, row):
        """The connection that a row is of."""
        ends = {(row[side]["addresses"][device], qpn) for side in ("sender", "receiver")
                for device, qpn in zip(row[side]["qp_device"], row[side]["qpns"])}
        (found,) = [i for i, c in self.connections.items()
                    if ends & {(c[side + "_addresses"][c.get(side + "_qp_device", [0] * 8)[lane]], qpn)
                               for side in ("sender", "receiver") for lane, qpn in enumerate(c[side + "_qpns"])}]
        return found


class View:
    """What was seen of what was sent, way by way."""

    def __init__(self, name, told, sent, numbers):
        self.name, self.told, self.sent = name, told, sent
        self.seen = collections.defaultdict(list)
        for way, psn in (sent.ways[n] for n in numbers if n in sent.ways):
            self.seen[way].append(psn)

    def ways(self, connection, role=None):
        return [(way, psns) for way, psns in self.seen.items() if way[0] == connection and role in (None, way[1])]

    def missing(self, connection, is_set_up):
        """From PSN 0 on, or from the first that was seen."""
        return sum(len([p for p in self.sent.psns[way] if (is_set_up or p >= min(psns)) and p <= max(psns)]) - len(set(psns))
                   for way, psns in self.ways(connection))

    def again(self, connection, role):
        return sum(len(psns) - len(set(psns)) for _, psns in self.ways(connection, role))

    def asked(self, connection):
        return sum(len(set(psns)) for _, psns in self.ways(connection, "cts"))

    def is_known(self, row):
        """Every queue pair that carried something was met: what others carried cannot be counted."""
        connection = self.sent.connections[self.sent.of(row)]
        return all(connection[side + "_qpns"][lane] in row[side]["qpns"]
                   for way, _ in self.ways(connection["connection"])
                   for side, lane in (("sender" if way[1] == "cts" else "receiver", way[2]),))


class Counts(nccl.WithTruths):
    views = None

    def setUp(self):
        super().setUp()
        if Counts.views is None:
            Counts.views = list(self.made())

    def made(self):
        for capture, truth in self.each():
            if capture.stem in HEAVY:
                continue
            header, records = read_pcap(capture)
            sent = Sent(records, truth)
            for way, steps in WAYS.items():
                kept, chance = list(enumerate(records, 1)), random.Random(way)
                for step in steps:
                    kept = step(kept, chance)
                told = document(self.write("view", header, [record for _, record in kept]), options=["--messages", "0"])
                yield View((capture.stem, way), told, sent, [number for number, _ in kept])

    def rows(self):
        for view in self.views:
            for row in view.told["connections"]:
                if view.is_known(row):
                    yield view, row, view.sent.of(row)

    def are_right(self, told, least=300):
        """[(view, told, true)]"""
        self.assertGreater(len(told), least)
        self.assertEqual([one for one in told if one[1] != one[2]], [])

    def test_nothing_is_found(self):
        self.assertEqual([(view.name, f["rule"], f["frames"]) for view in self.views for f in view.told["findings"]], [])

    def test_clear_to_sends(self):
        self.are_right([(view.name, row["counts"]["cts"], view.asked(connection)) for view, row, connection in self.rows()])

    def test_packets_that_are_missing(self):
        """Between the first and the last that were seen; or from the beginning on, as a set-up that was seen shows it."""
        self.are_right([(view.name, row["counts"]["missing_packets"], view.missing(connection, row["metadata_tcp"] is not None))
                        for view, row, connection in self.rows()])

    def test_packets_that_were_sent_again(self):
        for role in ("data", "cts"):
            with self.subTest(role=role):
                self.are_right([(view.name, row["counts"]["retransmitted_packets"][role], view.again(connection, role))
                                for view, row, connection in self.rows()])

    def test_queue_pairs(self):
        """As many as there are, or null; it is known of most connections."""
        told = []
        for view in self.views:
            for row in view.told["connections"]:
                true = view.sent.connections[view.sent.of(row)]
                told.append((view.name, row["qps_per_connection"], len(true["sender_qpns"]) // true.get("devices", 1)))
        self.assertEqual([one for one in told if one[1] not in (one[2], None)], [])
        self.assertGreater(sum(one[1] is not None for one in told), 0.85 * len(told), [one for one in told if one[1] is None])


if __name__ == "__main__":
    main()
