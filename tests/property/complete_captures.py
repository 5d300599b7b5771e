"""A capture that has all that passed shows no loss, whatever the fabric itself lost.

usage: complete_captures.py PROGRAM [--rounds N] [--seed S]

Of each kind of traffic: the estimate and the lower bound are 0, for one worker and for four, and of every frame twice, of
the two directions from ports that differ by some microseconds, and of a capture cut in two or anywhere; bounds stay as
they are. The halves of a capture cut in two have the packets and the findings of the whole between them, but for notes of
far requests that began a life of which too little is in view. Nothing here is a violation.
"""

import argparse
import copy
import json
import math
import random
import sys
import tempfile
from pathlib import Path

import streams
import transport
from loss_drill import EVERYONE, audit


def usual(fabric, connections=15, messages=40, **habits):
    for _ in range(connections):
        transport.Connection(fabric).chat(messages, **habits)
    fabric.run()


def wrapping(fabric):
    for _ in range(10):
        transport.Connection(fabric, psns=[0xffffff - fabric.rng.randrange(200) for _ in (0, 1)]).chat(40)
    fabric.run()


def between_two(fabric):
    for i in range(20):
        transport.Connection(fabric, hosts=[1, 2], qps=[0x200 + i, 0x400 + i]).chat(30)
    fabric.run()


def idle(fabric):
    """Silences around those after which PSNs are taken as they come."""
    connections = [transport.Connection(fabric) for _ in range(10)]
    for seconds in (1, 3, 100, 290, 310, 1000):
        for connection in connections:
            connection.chat(fabric.rng.randint(0, 12), questions=0.4)
        fabric.run()
        fabric.now += seconds * 10**9


def any_ports(fabric):
    for _ in range(15):
        transport.Connection(fabric, any_port=True).chat(40)
    fabric.run()


def with_datagrams(fabric):
    for _ in range(10):
        transport.Datagrams(fabric, 60, 200_000)
    usual(fabric, 10)


def anew(fabric, finished=True):
    """Queue pairs that are set up again and again, without a set-up in view."""
    for _ in range(12):
        lives = [transport.Connection(fabric, hosts=[1, 2 + i], qps=[0x200 + i, 0x400 + i]) for i in range(5)]
        last = max(life.chat(15) for life in lives)
        fabric.run(None if finished else (fabric.now + last) // 2)
        for life in lives:
            life.end()
        fabric.now += fabric.rng.randrange(10**9)


def anew_ahead(fabric):
    """Short lives, each of which begins so soon behind the PSNs of the last one that what lies between may be missing."""
    ends = [[fabric.rng.getrandbits(24), fabric.rng.getrandbits(24)] for _ in range(5)]
    for _ in range(12):
        lives = [transport.Connection(fabric, hosts=[1, 2 + i], qps=[0x200 + i, 0x400 + i], psns=ends[i]) for i in range(5)]
        for life in lives:
            life.chat(fabric.rng.randint(1, 4), longest=4)
        fabric.run()
        for i, life in enumerate(lives):
            life.end()
            ends[i] = [end.side.psn + len(end.packets) + fabric.rng.choice((3, 50, 900, 30_000)) & PSNS - 1 for end in life.ends]
        fabric.now += 20_000_000 + fabric.rng.randrange(10**9)


def all_at_once(fabric):
    """Many questions, long and short, of which each may be refused, overtaken or answered together with others."""
    for _ in range(12):
        transport.Connection(fabric).chat(50, questions=0.6, longest=fabric.rng.choice((3, 20)))
    fabric.run()


KINDS = {
    "usual": (usual, {}),
    "many READs": (lambda fabric: usual(fabric, questions=0.8, longest=20), {}),
    "few acknowledgements": (usual, {"acknowledge": 50}),
    "receivers not ready": (usual, {"not_ready": 0.2}),
    "PSNs that wrap": (wrapping, {}),
    "two hosts": (between_two, {}),
    "idle": (idle, {}),
    "any source ports": (any_ports, {}),
    "datagrams": (with_datagrams, {}),
    "many ways": (usual, {"ways_ns": 4000}),
    "anew": (anew, {}),
    "anew in the middle": (lambda fabric: anew(fabric, False), {}),
    "anew ahead": (anew_ahead, {}),
    "all at once": (all_at_once, {"not_ready": 0.1, "acknowledge": 50, "ways_ns": 2000}),
}
CURED = (  # showed losses once
    ("many READs", 0.02, 778), ("many READs", 0.02, 779), ("many READs", 0.02, 2008), ("datagrams", 0.002, 2023),
    ("anew in the middle", 0.02, 1296), ("anew in the middle", 0.02, 3014), ("anew in the middle", 0.02, 3022),
    ("anew in the middle", 0.02, 3034),
)
LOST = (0.0, 0.002, 0.02)  # by the fabric, on each half of the way
PIECES = 5  # from anywhere to anywhere, of each capture
LONG = 2000  # frames of a piece
PSNS, WAITING = 1 << 24, 1 << 13  # PSNs in all, and those of requests that may wait for an answer at a time
BEHIND = 1 << 22  # PSNs, in which an answer may be one to a request that is said to come again
SKEWS_NS = (500, 20_000)  # of one port against the other: less and more than a round trip


def later(frames, delay_ns):
    moved = [copy.copy(frame) for frame in frames]
    for frame in moved:
        frame.ts_ns += delay_ns
    return moved


def found(document):
    return {finding["id"]: finding for finding in document["findings"]}


class Lives:
    """Of all queue pairs in a capture; of which of them a cut may hide that they are no forged requests (spoof.psn-window)."""

    def __init__(self, frames):
        self.frames, self.of = frames, {}
        for frame in frames:
            if frame.end is not None:
                lives = self.of.setdefault(self.half_of(frame.end), [])
                if frame.end not in lives:
                    lives.append(frame.end)

    @staticmethod
    def half_of(end):
        return end.side.addresses, end.side.dest_qp

    def may_differ(self, finding, begin, end):
        """Of a document about frames `begin` to `end`: what its requests began is not shown, or left for a seeming return."""
        lives = [self.frames[begin + number - 1].end for number in finding["frames"]]
        return finding["rule"] == "spoof.psn-window" and None not in lives and all(
            not self.is_shown(life, end) or self.is_between(life) for life in lives)

    def is_shown(self, end, cut):
        """By an answer before the cut; not if it may be to a forged READ, or came behind a new beginning of the other half."""
        seen = [(at, frame) for at, frame in enumerate(self.frames[:cut]) if frame.end in (end, end.peer)]
        requests, others = ([at for at, frame in seen if frame.end is side and not frame.answers] for side in (end, end.peer))
        other_began = min([third(others)] + [at for at, frame in seen if frame.end is end and frame.answers])
        answers = [(at, frame.opcode) for at, frame in seen if frame.end is end.peer and frame.answers]
        if self.lies_behind(end):
            answers = [(at, code) for at, code in answers if code == streams.ACKNOWLEDGE or at > third(requests)]
        return bool(answers) and answers[0][0] < other_began

    def lies_behind(self, end):
        lives = self.of[self.half_of(end)]
        before = [life for life in lives[:lives.index(end)] if life.packets]
        return bool(before) and -BEHIND <= distance(end.side.psn, before[-1].side.psn + len(before[-1].packets)) < 0

    def is_between(self, end):
        """A later life begins, by chance, where one before this was left."""
        lives = self.of[self.half_of(end)]
        at = lives.index(end)
        return any(goes_on(before, later) for before in lives[:at] for later in lives[at + 1:])


def third(places):
    """Of requests in another sequence, of which three in a row are believed."""
    return places[2] if len(places) > 2 else math.inf


def distance(psn, start):
    return (psn - start + PSNS // 2) % PSNS - PSNS // 2


def goes_on(before, later):
    """The later life has PSNs at which what comes behind the earlier one may be answered."""
    ahead = distance(later.side.psn, before.side.psn + len(before.packets))
    return -len(later.packets) <= ahead <= WAITING + transport.WINDOW


def in_order(*lists):
    return sorted((frame for frames in lists for frame in frames), key=lambda frame: frame.ts_ns)


class Judge:
    def __init__(self, program, folder):
        self.program, self.folder, self.wrong = program, folder, []
        (folder / "everyone.json").write_text(json.dumps(EVERYONE))

    def report(self, frames, *options):
        path = self.folder / "complete.pcap"
        streams.write(path, frames)
        return audit(self.program, ("-m", str(self.folder / "everyone.json"), *options), path)

    def lost(self, frames, *options):
        return self.report(frames, *options)["coverage"]["frames_lost"]

    def expect_sum(self, label, whole, halves):
        """Of documents: what is counted by frame, and what was found."""
        documents = (whole, *map(self.report, halves))
        packets = [sum(row["packets"] for row in document["matrix"]) for document in documents]
        all_found, first, second = map(found, documents)
        lives, middle, end = Lives(halves[0] + halves[1]), len(halves[0]), len(halves[0]) + len(halves[1])
        odd = [finding for name, finding in all_found.items() if name not in first | second
               and not lives.may_differ(finding, 0, end)]
        for part, begin, until in ((first, 0, middle), (second, middle, end)):
            odd += [finding for name, finding in part.items() if name not in all_found
                    and not lives.may_differ(finding, begin, until)]
        if packets[0] != sum(packets[1:]) or odd:
            self.wrong.append("%s: cut in two: %s packets, findings %s" % (label, packets, odd))

    def expect_none(self, label, lost):
        if lost["estimate"] or lost["low"]:  # None: too few packets to tell
            self.wrong.append("%s: %s" % (label, lost))

    def expect_no_violation(self, label, document):
        violations = [finding["rule"] for finding in document["findings"] if finding["severity"] != "info"]
        if violations:
            self.wrong.append("%s: %s" % (label, violations))

    def check(self, label, frames, rng, skews_ns, least):
        document = self.report(frames)
        whole = document["coverage"]["frames_lost"]
        middle = len(frames) // 2 + rng.randrange(100)
        self.expect_no_violation(label, document)
        up = [frame for frame in frames if frame.data[26:30] < frame.data[30:34]]
        down = [frame for frame in frames if frame.data[26:30] > frame.data[30:34]]
        self.expect_none(label, whole)
        for name, same in (("four workers", self.lost(frames, "--workers", "4")),
                           ("every frame twice", self.lost(in_order(frames, later(frames, 100))))):
            if same != whole:
                self.wrong.append("%s, %s: %s, not %s" % (label, name, same, whole))
        self.expect_sum(label, document, (frames[:middle], frames[middle:]))
        parts = [("first half", frames[:middle]), ("second half", frames[middle:])]
        parts += [("one port %d ns late" % skew, in_order(up, later(down, skew))) for skew in skews_ns]
        for _ in range(PIECES):
            begin = rng.randrange(len(frames) - least)
            end = rng.randrange(begin + least, len(frames) + 1)
            parts.append(("frames %d to %d" % (begin, end), frames[begin:end]))
        for name, part in parts:
            self.expect_none("%s, %s" % (label, name), self.lost(part))
        print("%-36s %6d frames, at most %d lost" % (label, len(frames), whole["high"]))


def drill(judge, kind, share, seed):
    make, habits = KINDS[kind]
    # which of two lives, or of two tries, an answer is for that comes before its request, nothing tells
    skews_ns = SKEWS_NS[:1] if kind.startswith("anew") or share > 0.01 else SKEWS_NS
    fabric = transport.Fabric(random.Random(seed), share, **habits)
    make(fabric)
    least = LONG if "ways_ns" in habits else 2  # nor what had overtaken what before a short piece
    judge.check("%s, %g lost by the fabric" % (kind, 2 * share), in_order(fabric.capture), fabric.rng, skews_ns, least)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        judge = Judge(arguments.program, Path(scratch))
        for seed in range(arguments.seed, arguments.seed + arguments.rounds):
            for kind in KINDS:
                for share in LOST:
                    drill(judge, kind, share, seed)
        for kind, share, seed in CURED:
            drill(judge, kind, share, seed)
    print("\n".join(judge.wrong))
    sys.exit(1 if judge.wrong else 0)


if __name__ == "__main__":
    main()
