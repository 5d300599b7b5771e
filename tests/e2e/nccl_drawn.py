"""NCCL jobs that chance drew, in views in which something was told once that was not so, or nearly: nothing that is told is wrong."""

import functools
import tempfile
import unittest
from pathlib import Path

import nccl_host_trees
import nccl_made
from harness import main
from nccl_drawn_worlds import VIEWS_OF_DRAWN, drawn
from nccl_hosts_worlds import Told

# (world, view) and what was told of it; of the last lines, from "the size of a part" on, by a program that asks less than this one
FAULTS = {
    # numbers of channels, of one rail of several; as rails were told before they were found to be of one job
    (("tree", 2), "whole"), (("mixed-small", 3), "set-ups, middle"), (("tree", 43), "set-ups, middle"), (("ring", 8), "ended early"),
    # a size twice, as two rings had a connection in common with what was taken for one channel of a tree
    (("mixed-small", 24), "whole"),
    # lines over two trees of two hosts as a ring's, and the other way round; two operations as one
    (("tree", 15), "whole"), (("tree", 18), "cut"), (("apart", 68), "lossy, no set-up"), (("mixed", 40), "ended early"),
    # a part of an operation's channels as all: one showed that it went over a ring, or it has no name
    (("mixed", 52), "no set-up"), (("mixed-small", 102), "whole"),
    # a broadcast, as the capture ended in what began to go over a tree
    (("apart", 137), "ended early"),
    # how many ranks there are, and two operations as one, where data at the end of a message was missed
    (("ring", 6), "lossy, no set-up"), (("ring", 8), "lossy"),
    # a size, where a part had passed before the capture
    (("ring", 15), "late"), (("ring", 23), "set-ups, middle"), (("mixed", 55), "set-ups, middle"),
    # a size, where messages of another channel had no numbers
    (("ring", 435), "set-ups, middle"),
    # which connections are of one channel, where the clear-to-sends of half of them were not in view
    (("mixed-small", 319), "one rail and set-ups"),
    # of one channel or tree, where some had only been asked for a step, or the numbers of messages were not known yet
    (("tree-small", 401), "ended early"), (("apart", 405), "set-ups, middle"),
    # the root of a tree of four hosts, two of which hang together by their ports
    (("tree", 403), "whole"),
    # who receives, and a ring, as four addresses of two hosts were taken for four hosts
    (("tree-small", 169), "middle"), (("tree-small", 304), "late"),
    # two jobs as one, by an operation of a few bytes
    (("apart", 101), "ended early"),
    # the size of a part of the channels, of an operation without a name, or beside one, or whose ranks send on other rails, too
    (("apart", 148), "lossy"), (("tree-small", 256), "lossy"), (("mixed-small", 119), "no set-up"),
    # what is left of an all-gather, and the next one, as an all-reduce; ranks of two operations that have no name
    (("ring-small", 186), "middle"), (("mixed", 418), "lossy, middle"),
    # a ring's lines as a tree's, which was asked for its first step only
    (("mixed-small", 35), "ended early"),
}


@functools.cache
def told(kind, seed, view):
    cluster = drawn(kind, seed)()
    return Told(cluster, VIEWS_OF_DRAWN[view](cluster))


class Made(unittest.TestCase):
    def test_a_seed_draws_one_world(self):
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for name in "one", "other":
                drawn("ring", 8).func.cache_clear()
                files.append(nccl_made.write(Path(folder) / name, drawn("ring", 8)().frames).read_bytes())
            self.assertEqual(*files)


class Wrong(nccl_host_trees.Wrong):
    worlds, apart, undecided = {}, {}, ()

    def everywhere(self, check, but=None):
        self.of_views(check, [view for view in VIEWS_OF_DRAWN if view != but])

    where_decided = everywhere

    def each(self, check, *cases):
        for _, views in cases:
            self.of_views(check, views)

    def of_views(self, check, views):
        for (kind, seed), view in sorted(FAULTS):
            if view in views:
                with self.subTest(world=kind, seed=seed, view=view):
                    check(told(kind, seed, view))

    def test_connections_have_the_number_of_their_channel(self):
        def check(seen):
            for row in seen.document["connections"]:
                number = seen.links[row["connection"]].number
                circles = seen.group_of[number].circles
                self.assertIn(row["channel"], (circles.index(seen.circles[number]), None))

        self.everywhere(check)

    def test_connections_of_a_tree_are_of_one_channel(self):
        def check(seen):
            for tree in (tree for row in seen.document["communicators"] for tree in row["trees"] or []):
                for lane in zip(*(edge[way] for edge in tree["edges"] for way in ("up", "down"))):
                    self.assertEqual(len({seen.circles[number] for number in seen.numbers(lane)}), 1)

        self.everywhere(check)


if __name__ == "__main__":
    main()
