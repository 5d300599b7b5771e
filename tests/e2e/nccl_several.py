"""Writes forged into connections over several queue pairs whose set-up was not seen, from their first packet on or from the middle:
outside of what was asked for, with another key, beyond its end, and by other queue pairs and addresses. No other frame is named."""

import collections
import json
import random
import struct

import nccl_made
from harness import WithFolder, fabtap, main
from nccl import BTH, OUTSIDE, WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM, retouched
from roce import EVERYBODY

SEEDS = range(1, 41)
START = 1_750_000_000 * 10**9  # the map is in force
WRITE_LAST_IMM = 0x09
STRANGER, ELSEWHERE = bytes((10, 66, 6, 6)), 0xabcd
# so many of each kind are named at least: near the end nothing goes on behind it that would show it wrong
FLOORS = {"far": 0.9, "key": 0.85, "beyond": 0.9, "fifo": 0.95, "fifo of its own host": 0.95, "buffer": 0.75}


def number(frame, at, size):
    return int.from_bytes(frame.bytes[at:at + size], "big")


def psn_of(frame):
    return number(frame, BTH + 9, 3)


def with_psn(frame, psn):
    return frame._replace(bytes=frame.bytes[:BTH + 9] + (psn & 0xffffff).to_bytes(3, "big") + frame.bytes[BTH + 12:])


def made_of(like, behind, **what):
    record = retouched(struct.pack("<IIII", 0, 0, len(like.bytes), like.size) + like.bytes, **what)
    return like._replace(ts=behind.ts + 1, bytes=record[16:], size=len(record) - 16, role="forged")


class Moment:
    """Behind a message's end on one queue pair, in the second half of what a job of two hosts sends."""

    def __init__(self, world, chance):
        ends = [i for i, f in enumerate(world.frames) if f.role == "data" and f.bytes[BTH] in (WRITE_LAST_IMM, WRITE_ONLY_IMM)]
        self.frames, self.at = world.frames, chance.choice(ends[len(ends) // 2:-2])
        self.end = world.frames[self.at]
        self.mine = [f for f in world.frames if f.role and f.connection == self.end.connection]
        before = [f for f in self.mine if f.ts <= self.end.ts]
        self.asks = [f for f in before if f.role == "cts"]
        begun = {f.k for f in before if f.role == "data"}
        self.waiting = [f for f in self.asks if f.k not in begun]
        self.writes = [f for f in before if f.role == "data" and f.lane == self.end.lane and
                       f.bytes[BTH] in (WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM) and number(f, BTH + 24, 4)]
        self.key = world.connections[self.end.connection].keys[self.end.lane % world.devices]

    def in_sequence(self, forged):
        """What follows on the queue pair comes one PSN later."""
        later = [with_psn(f, psn_of(f) + 1) if f in self.mine and f.role == "data" and f.lane == self.end.lane else f
                 for f in self.frames[self.at + 1:]]
        return self.frames[:self.at + 1] + [forged] + later

    def beside(self, forged):
        return self.frames[:self.at + 1] + [forged] + self.frames[self.at + 1:]

    def forgeries(self):
        if self.writes:
            like, psn = self.writes[-1], psn_of(self.end) + 1
            va, length = number(like, BTH + 12, 8), number(like, BTH + 24, 4)
            address, offered = struct.unpack_from("<Qi", self.asks[-1].bytes, BTH + 28)
            yield "far", self.in_sequence(made_of(like, self.end, psn=psn, reth=(va + (8 << 30), 64)))
            yield "key", self.in_sequence(made_of(like, self.end, psn=psn, reth=(va, min(length, 64)), key=0x66666666))
            yield "beyond", self.in_sequence(made_of(like, self.end, psn=psn, reth=(address + offered - 32, 64)))
            if self.waiting:
                address, = struct.unpack_from("<Q", self.waiting[-1].bytes, BTH + 28)
                forged = made_of(like, self.end, source=STRANGER, psn=77, reth=(address, 8), key=self.key, qpn=ELSEWHERE)
                yield "buffer", self.beside(forged)
        ask = self.asks[-1]
        slot, length = number(ask, BTH + 12, 8), number(ask, BTH + 24, 4)
        yield "fifo", self.beside(made_of(ask, self.end, source=STRANGER, psn=77, reth=(slot, length), qpn=ELSEWHERE))
        yield "fifo of its own host", self.beside(made_of(ask, self.end, psn=77, reth=(slot, length), qpn=ELSEWHERE))


class Several(WithFolder):
    def setUp(self):
        super().setUp()
        (self.folder / "map.json").write_text(json.dumps(EVERYBODY))

    def found(self, verb, path):
        how = ("nccl", "--messages", "0") if verb == "nccl" else ("audit", "-m", self.folder / "map.json")
        return [f for f in json.loads(fabtap(*how, "--json", "--no-icrc", path).out)["findings"] if f["rule"].startswith("nccl.")]

    def worlds(self):
        for seed in SEEDS:
            chance = random.Random(seed)
            world = nccl_made.World(seed, setup=False, sets=chance.choice([2, 2, 3, 4, 8]), hosts=2)
            if world.release >= (10, 0):  # one queue pair each before
                yield seed, world, chance

    def test_each_is_named_and_nothing_else(self):
        forged, named = collections.Counter(), collections.Counter()
        for seed, world, chance in self.worlds():
            for kind, frames in Moment(world, chance).forgeries():
                at = next(i for i, frame in enumerate(frames) if frame.role == "forged")
                first = int(at * chance.uniform(0.1, 0.5)) if chance.random() < 0.5 else 0
                path = nccl_made.write(self.folder / "forged.pcap", [f._replace(ts=START + f.ts) for f in frames[first:]])
                verb = chance.choice(("nccl", "audit"))
                found = [(f["rule"], f["frames"]) for f in self.found(verb, path)]
                rules = OUTSIDE if kind in ("far", "key", "beyond") else {"nccl.second-writer"}
                with self.subTest(seed=seed, kind=kind, verb=verb, release=world.release, first=first):
                    self.assertTrue(all(rule in rules and frames == [at - first + 1] for rule, frames in found), found)
                forged[kind] += 1
                named[kind] += bool(found)
        for kind, floor in FLOORS.items():
            with self.subTest(kind=kind):
                self.assertGreaterEqual(named[kind], floor * forged[kind], (named, forged))


if __name__ == "__main__":
    main()
