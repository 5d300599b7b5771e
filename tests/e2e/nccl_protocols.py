"""Which protocol messages have that several queue pairs share, where no line of them is captured: by how long they are."""

import collections
from unittest import mock

import nccl_made
from harness import WithFolder, fabtap, main

SEEDS = range(40)
HEADERS = 74  # bytes up to the immediate, and nothing behind it


def without_lines(frames):
    return [frame._replace(bytes=frame.bytes[:HEADERS]) if frame.role == "data" else frame for frame in frames]


class Protocols(WithFolder):
    def told(self, style):
        """(family, protocol): how many complete messages with data, all of which go to buffers of that style's size"""
        told = collections.Counter()
        with mock.patch.object(nccl_made, "STYLES", [style]):
            for seed in SEEDS:
                world = nccl_made.World(seed)
                if world.several or world.sets * world.devices == 1:
                    continue
                path = nccl_made.write(self.folder / "made.pcap", without_lines(world.frames))
                for row in fabtap("nccl", "--json", path).json()["messages"]:
                    if row["completed"] and row["requests"][0]["written_bytes"]:
                        told[world.layout.family, row["protocol"]] += 1
        return told

    def test_less_than_a_step_of_ll(self):
        """16 384 bytes at most in the 65 536 of a step: a part of a send would be as long as what was asked for."""
        told = self.told("ll")
        self.assertGreater(sum(told.values()), 1000)
        self.assertEqual({family for family, _ in told}, set("BCDEF"))
        self.assertEqual({protocol for _, protocol in told}, {"LL"})

    def test_slices_of_a_ring(self):
        told = self.told("simple")
        self.assertGreater(sum(told.values()), 1000)
        self.assertEqual({protocol for _, protocol in told}, {"SIMPLE"})

    def test_sizes_that_lines_may_have_too(self):
        """Of any size: it is told only where that is no number of lines."""
        told = self.told("p2p") + self.told("tiny")
        self.assertGreater(sum(told.values()), 1000)
        self.assertLessEqual({protocol for _, protocol in told}, {"SIMPLE", "unknown"})


if __name__ == "__main__":
    main()
