"""Queue pairs that are used again at once, and crowds that begin alike: what their losses are told to be.

usage: reuse_drill.py PROGRAM [--seed S]

Lives of one request each, at PSNs anywhere or at the same one again, without a set-up in view, show hardly any loss: then no number is told,
and no verdict. Nor does a complete capture of them show a loss. Connections of one message each that begin at one PSN are told apart
by their ports: there the bounds hold the truth, and the estimate is near it. Where ports do not tell either, no number is told, and a
capture of which a hundredth and more is lost is never `compliant`; a complete one is, also if a host answers nobody.
"""

import random
import struct

import streams
from loss_drill import lose, run

HOSTS, MTU, ANSWER_NS, BEGAN_NS = 8, 1024, 10_000, 1_700_000_000 * 10**9
PAIRS, LIVES, CONNECTIONS = 40, 75, 4000
# from one life to the next; at one PSN again within a millisecond it would be a copy of the mirror
GAPS_NS = ((20_000, True), (200_000_000, True), (3_000_000, False), (200_000_000, False))
LOSSES = ((0.013, 1), (0.1, 1), (0.1, 10))


def ends_of(rng, number):
    """Both sides of the connection with this number, by a source port of its own."""
    hosts, qps = rng.sample(range(1, HOSTS + 1), 2), (0x100 + 2 * number, 0x101 + 2 * number)
    return [streams.Side(hosts[i], hosts[1 - i], qps[1 - i], 0xc000 | rng.getrandbits(14), 0) for i in (0, 1)]


def message(asker, responder, ts_ns, psn, count):
    """A SEND of so many packets and its ACK, the first that the responder counts."""
    frames = []
    for index in range(count):
        last = index == count - 1
        code = (0x04 if count == 1 else 0x00) if index == 0 else 0x02 if last else 0x01
        frames.append(asker.frame(ts_ns + 300 * index, code, psn + index & 0xffffff, b"", MTU, last))
    frames.append(responder.frame(frames[-1].ts_ns + ANSWER_NS, streams.ACKNOWLEDGE, psn + count - 1 & 0xffffff,
                                  struct.pack(">I", 1)))
    return frames


def lives(rng, count, gap_ns, anywhere):
    frames = []
    for number in range(PAIRS):
        asker, responder = ends_of(rng, number)
        responder.port, now = asker.port, BEGAN_NS + rng.randrange(gap_ns)
        for _ in range(LIVES):
            frames += message(asker, responder, now, rng.getrandbits(24) if anywhere else 0, count)
            now = frames[-1].ts_ns + 1000 + int(rng.expovariate(1 / gap_ns))
    return streams.in_order(frames)


def crowd(rng, count, port=None):
    """`port`: the source port of all; None: each connection has one."""
    frames = []
    for number in range(CONNECTIONS):
        asker, responder = ends_of(rng, number)
        asker.port = responder.port = port or asker.port
        frames += message(asker, responder, BEGAN_NS + rng.randrange(CONNECTIONS * 1000), 0, count)
    return streams.in_order(frames)


def used_again(judge, rng):
    for gap_ns, anywhere in GAPS_NS:
        for count in (1, 3):
            frames = lives(rng, count, gap_ns, anywhere)
            label = "%d packets at %s PSN after %d ns:" % (count, "any" if anywhere else "one", gap_ns)
            lost = judge.report(frames)["coverage"]["frames_lost"]
            if (lost["estimate"] or 0) + (lost["low"] or 0) != 0:
                judge.complain(label, "complete, but", lost)
            for share, burst in LOSSES:
                kept, gone = lose(rng, frames, share, burst)
                document = judge.report(kept)
                lost = document["coverage"]["frames_lost"]
                if document["verdict"] == "compliant" or (lost["estimate"] or 0) > 2 * len(gone):
                    judge.complain(label, "%g lost in bursts of %d:" % (share, burst), document["verdict"], lost, "of", len(gone))


def begun_alike(judge, rng):
    missed = []
    for count in (1, 2):
        frames = crowd(rng, count)
        document = judge.report(frames)
        lost = document["coverage"]["frames_lost"]
        if document["verdict"] != "compliant" or lost["estimate"] != 0 or lost["low"] != 0:
            judge.complain("crowd of %d packets each, complete:" % count, document["verdict"], lost)
        for share, burst in LOSSES[:2]:
            kept, gone = lose(rng, frames, share, burst)
            document, truth = judge.report(kept), len(gone)
            lost = document["coverage"]["frames_lost"]
            label = "crowd of %d packets each, %g lost: %s of %d," % (count, share, lost, truth)
            if document["verdict"] != "not-evidenced" or not 0.75 * truth <= (lost["estimate"] or 0) <= 1.33 * truth:
                judge.complain(label, document["verdict"])
            if not (lost["low"] or 0) <= truth <= (lost["high"] or truth):
                missed.append(label)
    if len(missed) > 1:  # of 99 in 100
        judge.complain("bounds missed the truth:", *missed)


def not_told_apart(judge, rng):
    for count in (1, 2):
        frames = crowd(rng, count, 0xc000)
        mute = [frame for frame in frames if frame.opcode != streams.ACKNOWLEDGE or frame.data[29] != 1]
        for label, some in (("complete", frames), ("with a mute host", mute)):
            document = judge.report(some)
            lost = document["coverage"]["frames_lost"]
            if document["verdict"] != "compliant" or lost["estimate"] or lost["low"]:
                judge.complain("crowd not told apart, %d packets each, %s:" % (count, label), document["verdict"], lost)
        for share, burst in LOSSES:
            kept, gone = lose(rng, frames, share, burst)
            document = judge.report(kept)
            if document["verdict"] == "compliant":
                judge.complain("crowd not told apart, %d packets each, %d lost in bursts of %d:" % (count, len(gone), burst),
                               document["because"])


def drill(judge, rng):
    used_again(judge, rng)
    begun_alike(judge, rng)
    not_told_apart(judge, rng)


if __name__ == "__main__":
    run(__doc__, drill)
