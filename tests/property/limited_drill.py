"""A mirror that loses what is long and passes what is short: a port or a policer that limits the rate, or a sieve of long frames.

usage: limited_drill.py PROGRAM [--seed S]

Data is lost, and of acknowledgements and congestion notifications hardly any: the rate seen on data is not theirs. A complete capture
shows no loss; else the bounds hold the truth and the estimate is near it. The capture is not `compliant` below the minimum coverage.
"""

import streams
import transport
from loss_drill import MIN_COVERAGE, run

LONG = 500  # bytes
NOTICE, NOTED = 0x81, "notices"  # CNP; a world with many of them, whose loss is a guess
# of the mean rate of all, so much passes; bytes that pass at once
BUCKETS = ((3, 3000), (1.5, 10_000), (1.1, 30_000), (0.9, 10_000))
SIEVES = (0.1, 0.3)  # of what is long, this share is lost


class Notices(transport.Datagrams):
    """Congestion notifications."""

    def send(self, psn):
        self.fabric.carry(self.side.frame(0, NOTICE, 0, bytes(16)), self, ())


class Tailed(transport.End):
    """The last packet of its messages may be short."""

    def emit(self, code, psn, above=b"", payload=0, ask=False):
        if ask and above == b"":
            payload = self.fabric.rng.choice((16, 64, 256, 1024))
        super().emit(code, psn, above, payload, ask)


def crowd(rng, connections, messages, every_ns=0, ends=None, notices=0):
    """Connections at a time, or one begun so long after the other."""
    fabric = transport.Fabric(rng)
    for _ in range(connections):
        fabric.run(fabric.now + every_ns)
        connection = transport.Connection(fabric)
        for end in connection.ends:
            end.__class__ = ends or transport.End
        connection.chat(messages)
    for _ in range(notices):
        Notices(fabric, 200, 60_000)
    fabric.run()
    return fabric.capture


def length(frame):
    """On the wire, with what is between frames."""
    return frame.wire + 24


def limit(frames, part, depth):
    """(kept, lost): a token bucket that fills with `part` of the mean rate."""
    rate = part * sum(map(length, frames)) / (frames[-1].ts_ns - frames[0].ts_ns)
    level, last, kept, lost = depth, frames[0].ts_ns, [], []
    for frame in frames:
        level, last = min(depth, level + rate * (frame.ts_ns - last)), frame.ts_ns
        passes = length(frame) <= level
        level -= length(frame) if passes else 0
        (kept if passes else lost).append(frame)
    return kept, lost


def sieve(rng, frames, share):
    gone = [frame.wire >= LONG and rng.random() < share for frame in frames]
    return tuple([frame for frame, lost in zip(frames, gone) if lost == which] for which in (False, True))


def look(judge, label, kept, gone):
    document, truth = judge.report(kept), len(gone)
    lost = document["coverage"]["frames_lost"]
    words = "%s: %s of %d" % (label, lost, truth)
    if abs(lost["estimate"] - truth) > (0.2 if NOTED in label else 0.1) * truth + 3:
        judge.complain(words)
    if lost["low"] > truth or (lost["high"] or truth) < truth:
        judge.missed.append(words)
    if document["findings"] or (document["verdict"] == "compliant" and len(kept) < MIN_COVERAGE * (len(kept) + truth)):
        judge.complain(label, document["verdict"], document["findings"])


def drill(judge, rng):
    worlds = {"all at a time": crowd(rng, 20, 60), "brief ones": crowd(rng, 400, 4, 100_000),
              "short ends": crowd(rng, 20, 60, ends=Tailed), NOTED: crowd(rng, 20, 60, notices=20)}
    for name, frames in worlds.items():
        streams.pack(frames)
        look(judge, name + ", complete", frames, [])
        for part, depth in BUCKETS:
            look(judge, "%s, %g of the rate, %d bytes at once" % (name, part, depth), *limit(frames, part, depth))
        for share in SIEVES:
            look(judge, "%s, %g of what is long" % (name, share), *sieve(rng, frames, share))


if __name__ == "__main__":
    run(__doc__, drill)
