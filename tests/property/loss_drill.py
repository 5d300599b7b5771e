"""Frames are taken out of captures as a mirror would lose them; the report must tell how many.

usage: loss_drill.py PROGRAM [--rounds N] [--seed S] [--shared FOLDER] [CAPTURE ...]

Of the block `coverage`: the estimate is right within what sampling allows, `low`..`high` hold the truth in 99 of 100
drills and are narrow, a complete capture shows no loss, `compliant` needs what was seen, and loss makes no finding. Losses that take whole
connections leave too little trace for an estimate: then no bound is told, and no verdict.
"""

import argparse
import collections
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import streams
import transport

PROJECT = Path(__file__).resolve().parents[2]
TENANTS = PROJECT / "tests" / "data" / "tenants"
SHARES = (0.001, 0.01, 0.1, 0.3)
BURSTS = (1, 10)  # frames lost in a row, on average
MIN_COVERAGE = 0.99
MIDDLES = (0x01, 0x07, 0x0e)
REAL = {  # of the reference captures, those with 10 000 frames and more, or several joined
    "nccl-emul-long": ["nccl-emul-long-snap160.pcap"],
    "ring4": ["nccl/ring4-2.27.7.pcap"],
    "joined": ["perftest-rc-v4.pcap", "gloo-ibverbs-3rank.pcap", "openmpi-ucx-allreduce-4rank.pcap",
               "nccl-emul-3rank-checkpoint.pcap", "nccl-emul-2rank.pcap", "nccl-emul-4rank-ar-oldfifo.pcap"],
}
CURED = (("nccl-emul-3rank-checkpoint.pcap", 0.1, 27), ("nccl-emul-3rank-checkpoint.pcap", 0.3, 27))  # with this seed
EVERYONE = {
    "schema": "tapmap/1", "map_id": "everyone", "serial": 1, "issued_at": "2020-01-01T00:00:00Z", "issuer": "drill",
    "fabric": {"kind": "roce"}, "nodes": [], "exceptions": [], "tenants": [{"name": "all", "class": "customer"}],
    "segments": [{"name": "all", "tenant": "all", "intervals": [
        {"from": "2000-01-01T00:00:00Z", "to": None, "members": [{"subnet": "0.0.0.0/0"}, {"subnet": "::/0"}]}]}],
}


def audit(program, arguments, capture):
    done = subprocess.run([program, "audit", *arguments, "--json", str(capture)], capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=300, check=False)
    if done.returncode not in (0, 1, 3) and not done.stdout:  # a damaged capture still has its report
        sys.exit("%s: status %d: %s" % (capture, done.returncode, done.stderr.decode()))
    return json.loads(done.stdout)


def lose(rng, frames, share, burst):
    """(kept, lost): runs of lost frames, geometric with the mean given, so many that `share` is lost."""
    kept, lost, losing = [], [], rng.random() < share
    for frame in frames:
        if burst == 1:
            losing = rng.random() < share
        elif losing:
            losing = rng.random() >= 1 / burst
        else:
            losing = rng.random() < share / (burst * (1 - share))
        (lost if losing else kept).append(frame)
    return kept, lost


def packet_of(frame):
    """The same for a packet that is sent again, whatever its IP identification."""
    return frame.data[26:-4] if frame.data[12:14] == b"\x08\x00" else frame.data[:]


class Stream:
    """`least`: where fewer are lost, a fabric that loses frames too may explain all that shows: bounds alone are judged."""

    def __init__(self, name, frames, least=0, shares=SHARES):
        self.name, self.frames, self.least, self.shares = name, frames, least, shares
        streams.pack(frames)
        rdma = [frame for frame in frames if frame.opcode is not None]
        self.rdma = len(rdma)
        times = collections.Counter(map(packet_of, rdma))
        self.silent = sum(not frame.in_sequence() or times[packet_of(frame)] > 1 for frame in rdma) / len(rdma)

    def deviation(self, lost, share, burst):
        """What sampling allows, of the estimate: silent frames among the lost ones are known by lot only."""
        return math.sqrt(lost * self.silent / (1 - self.silent) / (1 - share) * burst) + 1


class Drills:
    """What the drills of one stream and one kind of loss came to."""

    def __init__(self):
        self.rounds, self.missed, self.errors, self.widths = 0, 0, [], []

    def add(self, truth, lost, share_of):
        self.rounds += 1
        self.missed += lost["high"] is None or not lost["low"] <= truth <= lost["high"]
        self.errors.append((lost["estimate"] - truth) / share_of)
        self.widths.append(((lost["high"] or lost["low"]) - lost["low"]) / share_of)


class Judge:
    def __init__(self, program, folder):
        self.program, self.folder, self.wrong, self.missed, self.declared_runs = program, folder, [], [], 0
        self.map = folder / "everyone.json"
        self.map.write_text(json.dumps(EVERYONE))

    def complain(self, *words):
        self.wrong.append(" ".join(str(word) for word in words))

    def report(self, frames):
        path = self.folder / "drill.pcap"
        streams.write(path, frames)
        return audit(self.program, ("-m", str(self.map)), path)

    def complete(self, stream):
        document = self.report(stream.frames)
        coverage = document["coverage"]
        if coverage["frames_lost"]["estimate"] != 0 or coverage["frames_lost"]["low"] != 0 or coverage["lost_by"]:
            self.complain(stream.name, "complete, but", coverage["frames_lost"], coverage["lost_by"])
        if coverage["share_seen"] != 1 or document["verdict"] != "compliant":
            self.complain(stream.name, "complete, but", coverage["share_seen"], document["verdict"], document["because"])
        return {finding["id"] for finding in document["findings"]}

    def one(self, rng, stream, share, burst, known, drills):
        kept, gone = lose(rng, stream.frames, share, burst)
        truth = sum(frame.opcode is not None for frame in gone)
        document = self.report(kept)
        coverage = document["coverage"]
        label = "%s, %g lost in bursts of %d:" % (stream.name, share, burst)
        invented = [finding["rule"] for finding in document["findings"] if finding["id"] not in known]
        if invented:
            self.complain(label, "findings that the complete capture does not have:", sorted(set(invented)))
        if document["verdict"] == "compliant" and (coverage["share_seen"] or 0) < MIN_COVERAGE:
            self.complain(label, "compliant with", coverage["share_seen"])
        if stream.rdma - truth != coverage["judged"] + coverage["undecided"]:
            self.complain(label, stream.rdma - truth, "RDMA frames left,", coverage["judged"], "judged")
        error = abs(coverage["frames_lost"]["estimate"] - truth)
        if burst == 1 and truth >= stream.least and error > max(0.01 * truth, 5 * stream.deviation(truth, share, 1)):
            self.complain(label, "estimate", coverage["frames_lost"]["estimate"], "of", truth)
        drills.add(truth, coverage["frames_lost"], max(truth, 1))

    def declared(self, rng, truth, rounds):
        """A capture with the map it is judged by: loss takes findings away, and confidence."""
        folder, declared = truth.parent, json.loads(truth.read_text())
        if declared.get("schema") != "tenants-truth/1" or "capture" not in declared:
            return
        arguments = [str(folder / word) if (folder / word).exists() else word for word in declared["audit_args"]]
        source, path = folder / declared["capture"], self.folder / "declared.pcap"
        frames, link = streams.read(source), streams.link_type(source)
        known = {finding["id"] for finding in audit(self.program, arguments, source)["findings"]}
        for share in rounds * (0.05, 0.3, 0.6):
            kept, _ = lose(rng, frames, share, rng.choice(BURSTS))
            streams.write(path, kept, link)
            document = audit(self.program, arguments, path)
            coverage = document["coverage"]
            label = "%s, %g lost:" % (truth.stem, share)
            for finding in document["findings"]:
                if finding["id"] not in known:
                    self.complain(label, "invented:", finding["rule"], finding["summary"])
            if document["verdict"] == "compliant" and (coverage["share_seen"] or 1) < MIN_COVERAGE:
                self.complain(label, "compliant with", coverage["share_seen"])
            self.declared_runs += 1

    def cured(self, folder):
        """Drills whose truth was once outside the bounds, far."""
        for name, share, seed in CURED:
            stream, drills = Stream(name, streams.joined([folder / name])), Drills()
            self.one(random.Random(seed), stream, share, 1, self.complete(stream), drills)
            if drills.missed:
                self.complain(name, share, "with seed", seed, "is off by %.3f, out of bounds" % drills.errors[0])

    def sum_up(self, stream, share, burst, drills):
        expected = share * stream.rdma
        error = sum(drills.errors) / drills.rounds
        width = sum(drills.widths) / drills.rounds
        allowed = 0.01 + 4 * stream.deviation(expected, share, 2 * burst) / expected / math.sqrt(drills.rounds)
        narrow = (2 * 5.2 * stream.deviation(expected, share, 4 * burst) + 6 * burst) / expected
        print("%-15s %5.1f %% in bursts of %2d: error %+6.1f %% (of %.1f %%), bounds %6.1f %% apart, missed %d of %d"
              % (stream.name, 100 * share, burst, 100 * error, 100 * allowed, 100 * width, drills.missed, drills.rounds))
        if abs(error) > allowed and expected >= stream.least:
            self.complain(stream.name, share, burst, "is off by %.3f on average, more than %.3f" % (error, allowed))
        if width > narrow:
            self.complain(stream.name, share, burst, "has bounds %.3f apart, more than %.3f" % (width, narrow))


def run(documentation, drill, judge=Judge, **numbers):
    """What main() of a drill is: `drill(judge, rng, ...)` with these numbers, or others that the command line has, complains, or adds to `missed`."""
    parser = argparse.ArgumentParser(description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=lambda path: str(Path(path).resolve()))
    for name, number in {"seed": 1, **numbers}.items():
        parser.add_argument("--" + name, type=int, default=number)
    options = vars(parser.parse_args())
    with tempfile.TemporaryDirectory() as folder:
        judging = judge(options.pop("program"), Path(folder))
        drill(judging, random.Random(options.pop("seed")), **options)
    if len(judging.missed) > 1:  # of 99 in 100
        judging.complain("bounds missed the truth:", *judging.missed)
    print("\n".join(judging.wrong))
    sys.exit(1 if judging.wrong else 0)


def simulated(rng, datagrams=0):
    """Connections event by event: from source ports that say nothing, and datagrams that go on for longer."""
    fabric = transport.Fabric(random.Random(rng.random()))
    for _ in range(20):
        transport.Connection(fabric, any_port=True).chat(60)
    for _ in range(datagrams):
        transport.Datagrams(fabric, 300, 100_000)
    fabric.run()
    return fabric.capture


def alike(rng, connections=120, messages=12, questions=0):
    """Connections that all begin at PSN 0: which halves belong together is not known."""
    fabric = transport.Fabric(random.Random(rng.random()))
    for i in range(connections):
        connection = transport.Connection(fabric, hosts=[1, 2], qps=[0x200 + i, 0x4000 + i], psns=[0, 0], any_port=True)
        connection.chat(messages, questions=questions)
    fabric.run()
    return fabric.capture


def responses_alone(rng):
    """READs of four packets each, of which only what answers them is in view."""
    fabric = transport.Fabric(random.Random(rng.random()))
    for _ in range(20):
        asker, delay = transport.Connection(fabric).ends[0], 0
        for _ in range(150):
            delay += int(fabric.rng.expovariate(1 / 100_000))
            fabric.after(delay, asker.post, transport.READ, 4)
    fabric.run()
    return [frame for frame in fabric.capture if frame.answers]


def readers(judge, rng):
    """Requests alone, of which one half has nothing but READs of eight packets: eight of those lost in a row are no more."""
    fabric = transport.Fabric(random.Random(rng.random()))
    for _ in range(12):
        transport.Connection(fabric).chat(60, questions=0)
    asker = transport.Connection(fabric).ends[0]
    for i in range(40):
        fabric.after(i * 100_000, asker.post, transport.READ, 8)
    fabric.run()
    requests = [frame for frame in fabric.capture if not frame.answers]
    reads = [frame for frame in requests if frame.end is asker]
    singles = [frame for frame in requests[100:-100] if frame.end is not asker][::150]
    gone = set(map(id, reads[15:23] + singles))
    lost = judge.report([frame for frame in requests if id(frame) not in gone])["coverage"]["frames_lost"]
    if not lost["low"] <= len(gone) <= lost["high"] or abs(lost["estimate"] - len(gone)) > 8:
        judge.complain("READs alone, of", len(gone), "lost:", lost)


def without_middles(rng, questions=0.2, ways_ns=0):
    """(all frames, those that a switch mirrors which leaves out what is in the midst of messages)"""
    fabric = transport.Fabric(random.Random(rng.random()), ways_ns=ways_ns)
    for _ in range(20):
        transport.Connection(fabric).chat(60, questions=questions, longest=30)
    fabric.run()
    return fabric.capture, [frame for frame in fabric.capture if frame.opcode not in MIDDLES]


def filtered(judge, rng):
    """A switch that mirrors by opcode leaves out what is in the midst of messages, which says nothing of how often others are lost."""
    crossed, passed = without_middles(rng)
    for share in (0, 0.02, 0.2):
        kept, _ = lose(rng, passed, share, 1)
        truth = len(crossed) - len(kept)
        document = judge.report(kept)
        lost = document["coverage"]["frames_lost"]
        if abs(lost["estimate"] - truth) > 0.02 * truth or not lost["low"] <= truth <= lost["high"] or lost["high"] > 1.05 * truth:
            judge.complain("without Middles,", share, "lost:", lost, "of", truth)
        if "a filter by opcode" not in document["because"]:
            judge.complain("without Middles,", share, "lost:", document["because"])


def filtered_alone(judge, rng):
    """Likewise of READs alone, and where packets overtake each other: what the filter took, and no more."""
    for label, world in (("READs", {"questions": 1}), ("overtaking", {"ways_ns": 5000})):
        crossed, passed = without_middles(rng, **world)
        truth = len(crossed) - len(passed)
        lost = judge.report(passed)["coverage"]["frames_lost"]
        if abs(lost["estimate"] - truth) > 0.002 * truth or not lost["low"] <= truth <= lost["high"] or lost["high"] > 1.05 * truth:
            judge.complain("without Middles,", label + ":", lost, "of", truth)


def ahead_of(rng, frame, psns):
    """Another request of the same half, up to so many PSNs ahead."""
    data, at = bytearray(frame.data), 14 + 20 + 8 + 9
    psn = int.from_bytes(data[at:at + 3], "big") + rng.randrange(1000, psns)
    data[at:at + 3] = (psn & 0xffffff).to_bytes(3, "big")
    return streams.Frame(frame.ts_ns, bytes(data), frame.wire)


def forged_ahead(judge, rng):
    """Somebody forges requests far ahead of one sequence: they leave out nothing, of a whole capture or of what a filter passes."""
    fabric = transport.Fabric(random.Random(rng.random()))
    transport.Connection(fabric).chat(1500, questions=0, longest=5)
    fabric.run()
    passed = [frame for frame in fabric.capture if frame.opcode not in MIDDLES]
    for frames, truth in ((fabric.capture, 0), (passed, len(fabric.capture) - len(passed))):
        at = max(i for i, frame in enumerate(frames[:400]) if frame.opcode in (0x04, 0x0a)) + 1
        forged = [ahead_of(rng, frames[at - 1], psns) for psns in (2000, 30000, 60000, 90000)]
        document = judge.report(frames[:at] + forged + frames[at:])
        lost = document["coverage"]["frames_lost"]
        if not lost["low"] <= truth <= lost["high"] or lost["high"] > 1.05 * truth + 10 or abs(lost["estimate"] - truth) > 0.01 * truth:
            judge.complain("forged ahead:", lost, "of", truth)


def half_unanswered(rng):
    """As many frames of unreliable connections as of reliable ones."""
    fabric = transport.Fabric(random.Random(rng.random()))
    for _ in range(12):
        transport.Connection(fabric).chat(60)
        transport.Unanswered(fabric, 600, 10_000)
    fabric.run()
    return fabric.capture


def troubled(rng, lost, **habits):
    """A fabric that loses frames itself, on either side of the mirror: what it lost is sent again, and much with it."""
    fabric = transport.Fabric(random.Random(rng.random()), lost)
    for _ in range(20):
        transport.Connection(fabric).chat(60, **habits)
    fabric.run()
    return fabric.capture


def brief(rng, connections, messages, longest=6, questions=0.2):
    """Connections one after the other, each of which has the wire nearly to itself."""
    fabric = transport.Fabric(random.Random(rng.random()))
    for _ in range(connections):
        fabric.run(fabric.now + 300_000)
        transport.Connection(fabric).chat(messages, longest=longest, questions=questions)
    fabric.run()
    return fabric.capture


def swallowed(judge, rng):
    """Losses that last as long as connections do: too low an estimate has no bounds, and no verdict rests on it."""
    missed = drills = 0
    for connections, messages in ((400, 4), (2000, 1)):
        stream = Stream("brief", brief(rng, connections, messages))
        judge.complete(stream)
        for share, burst in ((share, burst) for share in SHARES[2:] for burst in BURSTS):
            kept, gone = lose(rng, stream.frames, share, burst)
            document, truth = judge.report(kept), len(gone)
            lost = document["coverage"]["frames_lost"]
            label = "brief, %d messages, %g lost in bursts of %d:" % (messages, share, burst)
            drills, missed = drills + 1, missed + (lost["low"] > truth or (lost["high"] or truth) < truth)
            if document["verdict"] == "compliant":
                judge.complain(label, "compliant with", lost, "of", truth)
            if burst == 1 and (lost["high"] is None or abs(lost["estimate"] - truth) > 5 * stream.deviation(truth, share, 2)):
                judge.complain(label, lost, "of", truth)
    if missed > 3:
        judge.complain("brief: the bounds missed the truth in", missed, "of", drills)


def unseen(judge, rng):
    """Of short connections runs of ten and twenty leave no hole: of single packets and their acknowledgements, which cut no message, nor of READs."""
    for label, world, run in (("single packets", {"messages": 6, "longest": 1, "questions": 0}, 20),
                              ("single READs", {"messages": 1, "questions": 1}, 10)):
        frames = brief(rng, 800, **world)
        kept = [frame for i, frame in enumerate(frames) if i % (10 * run) >= run]
        document, truth = judge.report(kept), len(frames) - len(kept)
        lost = document["coverage"]["frames_lost"]
        if document["verdict"] == "compliant" or lost["low"] > truth or (lost["high"] or truth) < truth:
            judge.complain("%s in runs of %d:" % (label, run), document["verdict"], "with", lost, "of", truth)


def references(arguments):
    return Path(arguments.shared or os.environ.get("FT_SHARED", PROJECT.parent / "shared")) / "captures"


def choose(arguments, rng):
    if arguments.captures:
        return [Stream(path.name, streams.read(path)) for path in arguments.captures]
    chosen = [Stream("many-short", streams.made_up(rng, 12000, 60, 4)),
              Stream("few-long", streams.made_up(rng, 12000, 6, 40)),
              Stream("any-port", simulated(rng)),
              Stream("datagrams", simulated(rng, datagrams=8)),
              Stream("alike", alike(rng)),
              Stream("alike-reads", alike(rng, 60, 60, 0.2), shares=SHARES[:3]),
              Stream("responses", responses_alone(rng), shares=SHARES[1:]),
              Stream("unreliable", half_unanswered(rng)),
              Stream("lossy-fabric", troubled(rng, 0.01), least=50),
              Stream("lossy-reads", troubled(rng, 0.01, questions=0.9), least=50)]
    folder = references(arguments)
    if not folder.is_dir():
        print("SKIPPED: %s is not there; FT_SHARED names the folder of the reference captures" % folder)
        return chosen
    return chosen + [Stream(name, streams.joined([folder / path for path in paths])) for name, paths in REAL.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("captures", nargs="*", type=Path, help="instead of the usual ones")
    parser.add_argument("--rounds", type=int, default=10, help="of each kind of loss on each capture")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shared", help="folder of the reference captures")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    rounds = missed = 0
    with tempfile.TemporaryDirectory() as scratch:
        judge = Judge(arguments.program, Path(scratch))
        for stream in choose(arguments, rng):
            known = judge.complete(stream)
            for share in stream.shares:
                for burst in BURSTS:
                    drills = Drills()
                    for _ in range(arguments.rounds):
                        judge.one(rng, stream, share, burst, known, drills)
                    judge.sum_up(stream, share, burst, drills)
                    rounds, missed = rounds + drills.rounds, missed + drills.missed
        if not arguments.captures:
            swallowed(judge, rng)
            unseen(judge, rng)
            readers(judge, rng)
            filtered(judge, rng)
            filtered_alone(judge, rng)
            forged_ahead(judge, rng)
        if not arguments.captures and references(arguments).is_dir():
            judge.cured(references(arguments))
        if not arguments.captures:
            for truth in sorted(TENANTS.glob("*.json")):
                judge.declared(rng, truth, arguments.rounds // 5 + 1)
    print("%d drills, %d missed; %d with a map" % (rounds, missed, judge.declared_runs))
    if missed > 0.01 * rounds + 3 * math.sqrt(0.01 * rounds):
        judge.complain("the bounds missed the truth in", missed, "of", rounds, "drills")
    print("\n".join(judge.wrong[:50]))
    sys.exit(1 if judge.wrong else 0)


if __name__ == "__main__":
    main()
