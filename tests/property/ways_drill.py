"""Packets that take ways of many lengths, as adaptive routing lets them: thousands of one connection overtake each other.

usage: ways_drill.py PROGRAM [--seed S]

One connection at its line rate, WRITEs or READs, of which each packet takes one of several ways, up to 900 us longer than the shortest; or
stretches of packets do. A complete capture shows no loss, and counts what came late; else the bounds hold the truth, and the
estimate is near it. Where more is out of order than is followed, no number is told, and no verdict.
"""

import random
import struct

import streams
from loss_drill import lose, run

MTU, PSN_NS, MESSAGE, ANSWER_NS, BEGAN_NS = 1024, 200, 64, 10_000, 1_700_000_000 * 10**9
PACKETS = 16384
WRITE, READ_RESPONSE = (0x06, 0x07, 0x08), (0x0d, 0x0e, 0x0f)  # First, Middle, Last
# ways, how much longer the longest is, and packets in a row that take one, on average
FABRICS = ((2, 200_000, 1), (2, 900_000, 1), (8, 400_000, 1), (8, 900_000, 1), (8, 400_000, 10), (8, 900_000, 100))
FAR = (64, 6_000_000, 1), 2 * PACKETS  # no ring holds as many
LOSSES = ((0.01, 1), (0.1, 1), (0.1, 10))


def sides():
    """What asks, and what answers."""
    qps = (0x1234, 0x4321)
    return [streams.Side(1 + i, 2 - i, qps[1 - i], 0xd00d, 0) for i in (0, 1)]


class Ways:
    def __init__(self, rng, count, longest_ns, run):
        self.rng, self.count, self.longest_ns, self.run, self.way = rng, count, longest_ns, run, 0

    def delay(self):
        if self.rng.random() < 1 / self.run:
            self.way = self.rng.randrange(self.count)
        return self.longest_ns * self.way // (self.count - 1)


def code_of(codes, index):
    return codes[0 if index == 0 else 2 if index == MESSAGE - 1 else 1]


def writes(rng, ways, packets=PACKETS):
    """A message is acknowledged when all up to it has come."""
    asker, responder = sides()
    frames, newest, first = [], 0, rng.getrandbits(24)
    for number in range(packets):
        index, due = number % MESSAGE, BEGAN_NS + PSN_NS * number + ways.delay()
        above = struct.pack(">QII", 0x1000, 7, MESSAGE * MTU) if index == 0 else b""
        frames.append(asker.frame(due, code_of(WRITE, index), first + number, above, MTU, index == MESSAGE - 1))
        newest = max(newest, due)
        if index == MESSAGE - 1:
            aeth = struct.pack(">I", number // MESSAGE + 1)
            frames.append(responder.frame(newest + ANSWER_NS, streams.ACKNOWLEDGE, first + number, aeth))
    return frames


def reads(rng, ways):
    asker, responder = sides()
    frames, first = [], rng.getrandbits(24)
    for number in range(PACKETS):
        index, now = number % MESSAGE, BEGAN_NS + PSN_NS * number
        if index == 0:
            frames.append(asker.frame(now, 0x0c, first + number, struct.pack(">QII", 0x1000, 7, MESSAGE * MTU), 0, True))
        aeth = struct.pack(">I", number // MESSAGE + 1) if index in (0, MESSAGE - 1) else b""
        frames.append(responder.frame(now + ANSWER_NS + ways.delay(), code_of(READ_RESPONSE, index), first + number, aeth, MTU))
    return frames


def of_fabric(judge, rng, make, fabric):
    missed, frames = [], streams.in_order(make(rng, Ways(rng, *fabric)))
    label = "%s on %d ways, %d ns, %d in a row:" % (make.__name__, *fabric)
    document = judge.report(frames)
    lost = document["coverage"]["frames_lost"]
    if document["verdict"] != "compliant" or lost["estimate"] != 0 or lost["low"] != 0:
        judge.complain(label, "complete, but", document["verdict"], lost, document["because"])
    for share, burst in LOSSES:
        kept, gone = lose(rng, frames, share, burst)
        document, truth = judge.report(kept), len(gone)
        lost = document["coverage"]["frames_lost"]
        words = (label, "%g lost in bursts of %d:" % (share, burst), document["verdict"], lost, "of", truth)
        if document["verdict"] == "compliant" and truth > 0.01 * len(frames):
            judge.complain(*words)
        if lost["estimate"] is not None and abs(lost["estimate"] - truth) > 0.05 * truth + 5 * burst:
            judge.complain(*words)
        if lost["estimate"] is None and make is writes:
            judge.complain(*words, document["because"])
        if lost["estimate"] is not None and not lost["low"] <= truth <= lost["high"]:
            missed.append(" ".join(map(str, words)))
    return missed


def too_far(judge, rng):
    document = judge.report(streams.in_order(writes(rng, Ways(rng, *FAR[0]), FAR[1])))
    lost = document["coverage"]["frames_lost"]
    if document["verdict"] != "not-evidenced" or lost["estimate"] is not None or lost["high"] is not None:
        judge.complain("farther out of order than is followed:", document["verdict"], lost)


def drill(judge, rng):
    for fabric in FABRICS:
        judge.missed += of_fabric(judge, rng, writes, fabric) + of_fabric(judge, rng, reads, fabric)
    too_far(judge, rng)


if __name__ == "__main__":
    run(__doc__, drill)
