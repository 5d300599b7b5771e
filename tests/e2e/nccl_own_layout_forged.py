"""Connections of a build whose clear-to-sends are laid out as in no release: nothing is found in healthy ones, and what is forged is
named, over one queue pair and several that share each message."""

import collections
import random
import struct

import nccl_made
from harness import WithFolder, fabtap, main
from nccl import BTH
from nccl_healthy import apart, bursts, lossy, middle, swapped, whole

SEEDS = range(40)
SETS = (1, 2, 4)
RETH = struct.Struct(">QII")
ONLY = 0x0a
FAR = 1 << 30
SLOT = 512  # bytes
PSN_AT = BTH + 9


class Own(nccl_made.World):
    """Entries begin with the address and the length, as all do; key, number of requests and number of the message are elsewhere."""

    def entries(self, connection, k, requests):
        for va, offered, _ in requests:
            yield struct.pack("<QI4xI4xQQ", va, offered, connection.keys[0], len(requests), k + 1).ljust(self.layout.entry, b"\0")


def worlds(seeds, **how):
    """Of slots with room for eight entries, as it takes to be known without their layout."""
    for seed in seeds:
        world = Own(seed, setup=False, **how)
        if world.devices == 1 and world.layout.stride == SLOT:
            yield seed, world


def psn_of(data):
    return int.from_bytes(data[PSN_AT:PSN_AT + 3], "big")


def with_psn(data, psn):
    return data[:PSN_AT] + psn.to_bytes(3, "big") + data[PSN_AT + 3:]


def with_reth(data, va, key):
    return data[:BTH + 12] + struct.pack(">QI", va, key) + data[BTH + 24:]


class OwnLayout(WithFolder):
    def findings(self, frames):
        """ICRCs are left as they were before frames were changed."""
        path = nccl_made.write(self.folder / "made.pcap", frames)
        return fabtap("nccl", "--no-icrc", "--messages", "0", "--json", path).json()["findings"]

    def test_nothing_is_found(self):
        for slice_bytes in (700, 128):
            for seed, world in worlds(SEEDS, slice_bytes=slice_bytes):
                for way in (whole, lossy, bursts, middle, swapped, apart):
                    with self.subTest(seed=seed, way=way.__name__, slice=slice_bytes):
                        found = self.findings(way(world.frames, random.Random(seed)))
                        self.assertEqual([(f["rule"], f["frames"], f["evidence"]) for f in found], [])

    def jobs(self):
        """(its queue pairs, a job of plain messages, the number of one that is not where any FIFO wraps)"""
        for sets in SETS:
            for _, world in worlds(SEEDS, sets=sets):
                if not world.several and world.split and world.messages == 60:
                    yield sets, world, 36

    def asks(self, world):
        """The clear-to-sends of the first connection: where they are."""
        return [i for i, f in enumerate(world.frames) if f.role == "cts" and f.connection == 0]

    def with_one_more(self, world, at, forged, is_counted):
        """`forged` behind frame `at` of its queue pair; what comes behind has the next PSNs if that `is_counted`."""
        like, psn = world.frames[at], psn_of(forged)
        kept = [f._replace(bytes=with_psn(f.bytes, psn_of(f.bytes) + 1)) if is_counted and f[3:4] + f[5:] == like[3:4] + like[5:] and
                psn_of(f.bytes) >= psn else f for f in world.frames]
        return kept[:at + 1] + [like._replace(bytes=forged)] + kept[at + 1:]

    def clear_to_sends(self, world, k):
        """(name, rule, the frames, the number of the forged one)"""
        asks, fifo, key = self.asks(world), world.connections[0].fifo, world.connections[0].fifo_keys[0]
        at, frame = asks[k], world.frames[asks[k]]
        slot = fifo + (k + 100) % world.layout.slots * SLOT
        for name, forged in (("slot", with_reth(frame.bytes, slot, key)),
                             ("key", with_reth(frame.bytes, fifo + k % world.layout.slots * SLOT, key ^ 0x41))):
            frames = list(world.frames)
            frames[at] = frame._replace(bytes=forged)
            yield name, "nccl.contradiction", frames, at + 1
        again = with_psn(frame.bytes, psn_of(frame.bytes) + 1)
        for is_counted in (True, False):
            yield "again", "nccl.replay", self.with_one_more(world, at, again, is_counted), at + 2
            yield "other slot", "nccl.contradiction", self.with_one_more(world, at, with_reth(again, slot, key), is_counted), at + 2
        if any((f.connection, f.role, f.k) == (0, "data", k) for f in world.frames[at:asks[k + 1]]):
            return  # it was answered before the next one
        frames = list(world.frames)
        for one, other in ((asks[k], asks[k + 1]), (asks[k + 1], asks[k])):
            frames[one] = frames[one]._replace(bytes=with_psn(world.frames[other].bytes, psn_of(world.frames[one].bytes)))
        yield "exchanged", "nccl.contradiction", frames, asks[k] + 1

    def test_clear_to_sends_that_have_not_the_place_of_their_psn(self):
        tried = collections.Counter()
        for sets, world, k in self.jobs():
            for name, rule, frames, number in self.clear_to_sends(world, k):
                with self.subTest(sets=sets, forged=name):
                    self.assertEqual([(f["rule"], f["frames"]) for f in self.findings(frames)], [(rule, [number])])
                tried[sets] += 1
        self.assertGreater(min(tried[sets] for sets in SETS), 0)

    def test_writes_to_where_nobody_asked_for_them(self):
        tried = collections.Counter()
        for sets, world, k in self.jobs():
            connection, lane = world.connections[0], sets - 1
            ends = [i for i, f in enumerate(world.frames) if (f.connection, f.role, f.k, f.lane) == (0, "data", k, lane)]
            if not ends:
                continue
            at, psn = ends[-1], psn_of(world.frames[ends[-1]].bytes) + 1
            for name, va, key in (("far", connection.buffer + FAR, connection.keys[0]),
                                  ("key", connection.buffer + 0x530000, connection.keys[0] ^ 0x41)):
                for is_counted in (True, False):
                    forged = nccl_made.roce_frame(world.ends(connection, lane), connection.ports[lane], ONLY,
                                                  connection.receiver_qpns[lane], psn, RETH.pack(va, key, 64), 64)[1]
                    frames = self.with_one_more(world, at, forged, is_counted)
                    with self.subTest(sets=sets, forged=name, counted=is_counted):
                        found = [(f["rule"], f["frames"]) for f in self.findings(frames)]
                        self.assertIn(found, ([("nccl.write-outside", [at + 2])], [("nccl.write-unasked", [at + 2])]))
                    tried[sets] += 1
        self.assertGreater(min(tried[sets] for sets in SETS), 0)


if __name__ == "__main__":
    main()
