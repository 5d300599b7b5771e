"""Answers forged for requests that are yet to be sent hide no loss of these.

usage: forged_drill.py PROGRAM [--seed S] [--rounds N]

An acknowledgement, a NAK or an RNR NAK ahead of its connection, which the requester drops, on the way of connections of which the mirror
then loses requests, but not what answers them. No more is lost than may have been, as the upper bound has it, also if as many answers might
be; a capture of which nothing is lost shows no loss, and one of which more than a hundredth is lost is never `compliant`.
"""

import random
import struct

import streams
import transport
from loss_drill import Judge, run

KINDS = {"acknowledgement": transport.ACK, "NAK": transport.SEQUENCE_ERROR, "RNR NAK": transport.RNR}
LOST = (0, 20, 60)  # requests in a row, of one half


def world(rng):
    """WRITEs and SENDs of one packet, to and fro, and some ends in it."""
    fabric = transport.Fabric(random.Random(rng.random()))
    for _ in range(10):
        transport.Connection(fabric).chat(200, questions=0, longest=1)
    fabric.run()
    return fabric.capture


def forged(end, before, last, syndrome):
    """What answers all up to `last`, as its responder would, sent right before another frame."""
    psn = int.from_bytes(last.data[51:54], "big")
    refused = psn + (syndrome != transport.ACK) & 0xffffff
    counted = end.peer.completed // 3 & 0xffffff
    return end.peer.side.frame(before.ts_ns - 1, streams.ACKNOWLEDGE, refused, struct.pack(">I", syndrome << 24 | counted))


def attack(judge, rng, name, count):
    frames = world(rng)
    end = rng.choice([frame.end for frame in frames])
    requests = [frame for frame in frames if frame.end is end and not frame.answers]
    first = len(requests) // 3
    answered, gone = requests[first:first + max(count, 20)], set(map(id, requests[first:first + count]))
    frames = [frame for frame in frames if id(frame) not in gone]
    frames.append(forged(end, answered[0], answered[-1], KINDS[name]))
    document = judge.report(streams.in_order(frames))
    lost = document["coverage"]["frames_lost"]
    label = "%s, %d lost: %s, %s" % (name, count, lost, document["verdict"])
    if count > (lost["high"] or count) or lost["low"] > 2 * count:
        judge.complain(label)
    if count == 0 and (lost["estimate"] != 0 or document["verdict"] == "not-evidenced"):
        judge.complain(label)
    if 100 * count > len(frames) and document["verdict"] == "compliant":
        judge.complain(label)


def drill(judge, rng, rounds):
    for _ in range(rounds):
        for name in KINDS:
            for count in LOST:
                attack(judge, rng, name, count)


if __name__ == "__main__":
    run(__doc__, drill, Judge, rounds=3)
