"""Connections of one message of several packets each, of which frames are lost: what is lost at their ends shows by the answer, if at all.

usage: brief_drill.py PROGRAM [--seed S] [--messages N]

Source ports that both directions share by the drivers' rule or by another one, and such that say nothing. A complete capture shows no loss;
of losses one by one, in twos and in tens, the bounds hold the truth, and the estimate is near it: of single ones, and less so of others. Never
is a capture of which a tenth is lost `compliant`.
"""

import random
import struct

import streams
from loss_drill import Judge, Stream, lose, run

ANSWER_NS, GAP_NS, AT_ONCE, HOSTS = 10_000, 300, 40, 8
LENGTHS = (3, 5, 9)  # packets of a message
PORTS = {
    "by the rule": lambda rng, qps: [streams.source_port(qps)] * 2,
    "shared": lambda rng, qps: [0xc000 | rng.getrandbits(14)] * 2,
    "any": lambda rng, qps: [0xc000 | rng.getrandbits(14) for _ in qps],
    "any of a few": lambda rng, qps: [0xc000 | rng.getrandbits(8) for _ in qps],
}
LOSSES = ((0.1, 1), (0.3, 1), (0.1, 2), (0.3, 10))
ERROR = 0.15
LEAST, MOST = 0.75, 1.6  # of what was lost in bursts


def messages(rng, packets, count, ports):
    """SENDs of so many packets on queue pairs of their own, and their ACKs; in order."""
    frames, now = [], 1_700_000_000 * 10**9
    for number in range(count):
        now += int(rng.expovariate(AT_ONCE / (ANSWER_NS + packets * GAP_NS)))
        ends, psn, qps = rng.sample(range(1, HOSTS + 1), 2), rng.getrandbits(24), [0x100 + 2 * number, 0x101 + 2 * number]
        pair = ports(rng, qps)
        asks, answers = (streams.Side(ends[i], ends[1 - i], qps[1 - i], pair[i], psn) for i in (0, 1))
        for i in range(packets):
            last = i == packets - 1
            frames.append(asks.frame(now + i * GAP_NS, 0 if i == 0 else 2 if last else 1, psn + i, b"", 1024, last))
        frames.append(answers.frame(now + packets * GAP_NS + ANSWER_NS, streams.ACKNOWLEDGE, psn + packets - 1, struct.pack(">I", 1)))
    return streams.in_order(frames)


def lossy(judge, rng, label, stream, share, burst):
    kept, gone = lose(rng, stream.frames, share, burst)
    document, truth = judge.report(kept), len(gone)
    lost = document["coverage"]["frames_lost"]
    label = "%s, %g lost in bursts of %d: %s of %d," % (label, share, burst, lost, truth)
    if document["verdict"] != "not-evidenced":
        judge.complain(label, document["verdict"])
    if not lost["low"] <= truth <= (lost["high"] or truth):
        judge.missed.append(label)
    if burst == 1 and abs(lost["estimate"] - truth) > ERROR * truth:
        judge.complain(label, "estimate")
    if burst > 1 and not LEAST * truth < lost["estimate"] < MOST * truth:
        judge.complain(label, "estimate")


def drill(judge, rng, **numbers):
    for name, ports in PORTS.items():
        for packets in LENGTHS:
            label = "messages of %d packets, ports %s" % (packets, name)
            stream = Stream(label, messages(random.Random(rng.random()), packets, numbers["messages"] // (packets + 1), ports))
            judge.complete(stream)
            for share, burst in LOSSES:
                lossy(judge, rng, label, stream, share, burst)


if __name__ == "__main__":
    run(__doc__, drill, Judge, messages=12000)
