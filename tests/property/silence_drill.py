"""A mirror is silent for a while, longer than connections last: no sequence shows what it lost.

usage: silence_drill.py PROGRAM [--seed S]

Connections of some messages each begin at random at a steady rate. A capture that has them all shows no loss, nor does one of connections
that come in waves, or of two runs with a pause between. Where the mirror was silent in the midst for 2 to 10 % of the time `high` is
not below the truth, or not known, and the capture is not `compliant`. Nor where many connections are under way at once and the silence is
soon after the beginning: those that it cut are not taken for older ones. A capture that begins in the midst of such is complete.
"""

import random
import struct

import brief_drill
import streams
from loss_drill import run

HOSTS, MTU, CONNECTIONS, LASTING_NS = 8, 1024, 1500, 500_000_000
PACKET_NS, ANSWER_NS, BEGAN_NS = 300, 10_000, 1_700_000_000 * 10**9
WAVES = 25
SOON = ((0.08, 0.13), (0.1, 0.3), (0.2, 0.25))  # of the frames of all
SILENCES = ((1, 0.02), (1, 0.05), (1, 0.1), (3, 0.06))  # how many, and of what share of the time all


def connection(rng, number, now):
    hosts, qps = rng.sample(range(1, HOSTS + 1), 2), (0x100 + 2 * number, 0x101 + 2 * number)
    port, first = streams.source_port(qps), rng.getrandbits(24)
    asker, responder = (streams.Side(hosts[i], hosts[1 - i], qps[1 - i], port, 0) for i in (0, 1))
    frames, psn = [], first
    for message in range(rng.randint(1, 6)):
        count = rng.randint(1, 8)
        for index in range(count):
            last = index == count - 1
            code = (0x04 if count == 1 else 0x00) if index == 0 else 0x02 if last else 0x01
            frames.append(asker.frame(now + PACKET_NS * index, code, psn + index, b"", MTU, last))
        psn += count
        now += PACKET_NS * count + ANSWER_NS
        frames.append(responder.frame(now, streams.ACKNOWLEDGE, psn - 1, struct.pack(">I", message + 1)))
        now += rng.randrange(10_000)
    return frames


def steady(rng):
    return streams.in_order([frame for number in range(CONNECTIONS)
                     for frame in connection(rng, number, BEGAN_NS + rng.randrange(LASTING_NS))])


def in_waves(rng):
    """Many begin within a twentieth of the time from wave to wave, and one wave is left out."""
    each, frames = LASTING_NS // WAVES, []
    for number in range(CONNECTIONS):
        wave = rng.choice([wave for wave in range(WAVES) if wave != WAVES // 2])
        frames += connection(rng, number, BEGAN_NS + wave * each + rng.randrange(each // 20))
    return streams.in_order(frames)


def paused(rng):
    """Two runs, and a pause that is longer than both."""
    frames = steady(rng)
    for frame in frames:
        number = frame.ts_ns > BEGAN_NS + LASTING_NS // 2
        frame.ts_ns += number * 2 * LASTING_NS
    return streams.in_order(frames)


def silence(rng, frames, count, share):
    """In the midst: (kept, lost)."""
    length = share * LASTING_NS / count
    begins = [BEGAN_NS + LASTING_NS * (0.1 + 0.8 * (k + rng.random() * 0.5) / count) for k in range(count)]
    parts = [], []
    for frame in frames:
        parts[any(0 <= frame.ts_ns - begin < length for begin in begins)].append(frame)
    return parts


def silent_soon(judge, rng):
    """Dozens under way at a time, begun in one millisecond."""
    frames = brief_drill.messages(rng, 5, 2000, brief_drill.PORTS["by the rule"])
    count = len(frames)
    document = judge.report(frames[count // 3:])
    if document["verdict"] != "compliant" or document["coverage"]["frames_lost"]["estimate"] != 0:
        judge.complain("begun amid many:", document["verdict"], document["coverage"]["frames_lost"], document["because"])
    for first, last in SOON:
        document, truth = judge.report(frames[:int(first * count)] + frames[int(last * count):]), int((last - first) * count)
        lost = document["coverage"]["frames_lost"]
        if document["verdict"] != "not-evidenced" or lost["low"] == 0 or (lost["high"] is not None and lost["high"] < truth):
            judge.complain("silent from %g to %g:" % (first, last), document["verdict"], lost, "of", truth)


def drill(judge, rng):
    silent_soon(judge, rng)
    for make in (steady, in_waves, paused):
        document = judge.report(make(rng))
        lost = document["coverage"]["frames_lost"]
        if document["verdict"] != "compliant" or lost["estimate"] != 0 or lost["low"] != 0:
            judge.complain(make.__name__, "complete, but", document["verdict"], lost, document["because"])
    frames = steady(rng)
    for count, share in SILENCES:
        kept, gone = silence(rng, frames, count, share)
        document, truth = judge.report(kept), len(gone)
        lost = document["coverage"]["frames_lost"]
        if document["verdict"] != "not-evidenced" or (lost["high"] is not None and lost["high"] < truth):
            judge.complain("%d silent for %g of the time:" % (count, share), document["verdict"], lost, "of", truth)


if __name__ == "__main__":
    run(__doc__, drill)
