"""Connections of one request each, of which frames are lost: no sequence shows it, requests and answers without each other do.

usage: exchange_drill.py PROGRAM [--seed S] [--connections N]

Each is a SEND and its ACK, an ATOMIC and its answer, or a READ and its response, on queue pairs of its own. A complete capture shows no
loss, also of one direction, or where nobody answers some; else the bounds hold the truth and the estimate is near it, or there is no
upper bound. Never is a capture of which a tenth is lost `compliant`.
"""

import json
import random
import struct

import ledger
import streams
from ledger import NATIVE, ROCE2_V4
from loss_drill import EVERYONE, audit, lose, run

HOSTS, ANSWER_NS = 8, 10_000
KINDS = {  # opcode and headers of the request and of its answer; AETH and what follows
    "send": ((0x04, b""), (0x11, b"")),
    "atomic": ((0x14, struct.pack(">QIQQ", 0x1000, 7, 1, 0)), (0x12, bytes(8))),
    "read": ((0x0c, struct.pack(">QII", 0x1000, 7, 256)), (0x10, b"")),
}
ALWAYS = {"from": "2000-01-01T00:00:00Z", "to": None}
PORTS = range(1, HOSTS + 1)
MAPS = {ROCE2_V4: EVERYONE, NATIVE: {
    **EVERYONE, "fabric": {"kind": "infiniband"}, "segments": [], "nodes": [{"host": "h%d" % i, "ports": [{"lid": i}]} for i in PORTS],
    "partitions": [{"pkey": "0x0001", "tenant": "all", "intervals": [
        {**ALWAYS, "members": [{"lid": i, "membership": "full"} for i in PORTS]}]}]}}
# family; whether source ports tell which halves belong together; exchanges at once
WORLDS = ((ROCE2_V4, True, 30), (ROCE2_V4, False, 0.1), (NATIVE, False, 30))
LOSSES = ((0.1, 1), (0.3, 1), (0.1, 10), (0.1, 200))


class Site(ledger.Tenant):
    """Hosts of one tenant."""

    def __init__(self):
        super().__init__("all", 1)
        self.hosts = [ledger.Host(self, number) for number in PORTS]


def exchanges(rng, family, ports, at_once, connections):
    """Frames in order, each of which knows who sent it, and whether it is an answer."""
    site, frames, now = Site(), [], 1_700_000_000 * 10**9
    qps = rng.sample(range(0x100, 0x100000), 2 * connections)
    for number in range(connections):
        now += rng.expovariate(at_once / ANSWER_NS)
        ends, pair, psn = rng.sample(site.hosts, 2), qps[2 * number:2 * number + 2], rng.getrandbits(24)
        port = streams.source_port(pair)
        delays = (0, ANSWER_NS * rng.uniform(0.5, 1.5))
        for answers, (code, above) in enumerate(KINDS[rng.choice(list(KINDS))]):
            side = ledger.Side(family, ends[answers], ends[1 - answers], pair[1 - answers],
                               port if ports else 0xc000 | rng.getrandbits(14), psn, 0x8001 if family == NATIVE else 0xffff)
            aeth = struct.pack(">I", 1) if answers else b""
            data, wire = side.frame(code, psn, aeth + above, 256 if code in (0x04, 0x10) else 0, not answers, False, 0)
            frame = streams.Frame(int(now + delays[answers]), data, wire)
            frame.end, frame.answers = ends[answers].number, bool(answers)
            frames.append(frame)
    frames.sort(key=lambda frame: frame.ts_ns)
    streams.pack(frames)
    return frames


class Judge:
    def __init__(self, program, folder):
        self.program, self.folder, self.wrong, self.missed = program, folder, [], []

    def report(self, family, frames):
        declared, path = self.folder / "map.json", self.folder / "drill.pcap"
        declared.write_text(json.dumps(MAPS[family]))
        streams.write(path, frames, 247 if family == NATIVE else 1)
        return audit(self.program, ("-m", str(declared)), path)

    def complain(self, *words):
        self.wrong.append(" ".join(map(str, words)))

    def whole(self, label, family, frames):
        document = self.report(family, frames)
        lost = document["coverage"]["frames_lost"]
        if (lost["estimate"] or 0) + (lost["low"] or 0) != 0 or document["verdict"] != "compliant":
            self.complain(label, document["verdict"], lost, document["because"])

    def lossy(self, rng, label, family, frames, share, burst, bounded):
        kept, gone = lose(rng, frames, share, burst)
        document, truth = self.report(family, kept), len(gone)
        lost = document["coverage"]["frames_lost"]
        label = "%s, %g lost in bursts of %d: %s of %d," % (label, share, burst, lost, truth)
        if document["verdict"] != "not-evidenced":
            self.complain(label, document["verdict"])
        if bounded is not None and (lost["high"] is not None) != bounded:
            self.complain(label, "bounded" if lost["high"] else "not bounded")
        if not lost["low"] <= truth <= (lost["high"] or truth):
            self.missed.append(label)
        if bounded and abs(lost["estimate"] - truth) > 0.15 * truth + 5 * burst:
            self.complain(label, "estimate")


def is_bounded(at_once, burst):
    """Whether losses leave an upper bound; None: that of a silence as long as they are, if any."""
    if burst == 1 or at_once > burst:
        return True
    return None if burst > 100 and at_once < 1 else False


def drill(judge, rng, connections):
    for family, ports, at_once in WORLDS:
        frames = exchanges(rng, family, ports, at_once, connections)
        label = "%s, %g at once:" % (family, at_once)
        judge.whole(label, family, frames)
        for share, burst in LOSSES:
            judge.lossy(rng, label, family, frames, share, burst, is_bounded(at_once, burst))
    judge.whole(label + " one direction", family, [frame for frame in frames if frame.end % 2])
    judge.whole(label + " of a dead host", family, [frame for frame in frames if not (frame.answers and frame.end == 1)])
    judge.whole(label + " cut out", family, frames[len(frames) // 3:])


if __name__ == "__main__":
    run(__doc__, drill, Judge, connections=5000)
