"""NCCL's all-reduces over double binary trees: the trees and the operations are told, whole, from the middle, with losses and without
set-ups. Rings, and sends between neighbours that look like a tree, are none."""

import collections
import functools
import itertools
import random
import tempfile
import unittest
from pathlib import Path

import nccl_made
import nccl_trees_made as made
from harness import fabtap, main
from nccl import BTH, WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM

TCP, IP_PROTOCOL = 6, 23
# (seed, ranks, channels of each tree)
APART = 7020, 3, 1  # channels share an operation, and their data does not overlap in time
NO_RANGE = 8021, 6, 1  # lossy: of a message what asked for it and its first packet are missing
WORLDS = (301, 3, 1), (401, 4, 1), (501, 5, 1), (801, 8, 1), (1301, 13, 1), (502, 5, 2), APART, NO_RANGE
LOST = 0.01
HEADERS = BTH + 12 + 16 + 4  # with a RETH and an immediate
BEGINNINGS = WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM
# drawn by hand from section 7.3: of each rank its parent in tree 0, and in tree 1
BY_HAND = {3: ([None, 2, 0], [1, None, 0]), 4: ([None, 2, 0, 2], [1, 3, 1, None]),
           5: ([None, 2, 4, 2, 0], [1, None, 3, 0, 3]), 8: ([None, 2, 4, 2, 0, 6, 4, 6], [1, 3, 1, 7, 5, 3, 5, None]),
           13: ([None, 2, 4, 2, 8, 6, 4, 6, 0, 10, 12, 10, 8], [9, None, 3, 5, 3, 9, 7, 5, 7, 1, 11, 0, 11])}
LIKE_TREE_0 = 1, 2, 0  # from the leaf to the root
NO_TREES = {
    "line": functools.cache(lambda: made.line(1, 4)),
    "grid": functools.cache(lambda: made.grid(2, 2, 3)),
    "pipeline": functools.cache(lambda: made.pipeline(3, range(4))),
    "pipeline along a tree": functools.cache(lambda: made.pipeline(11, LIKE_TREE_0)),
    "pipeline of registered buffers": functools.cache(lambda: made.pipeline(10, LIKE_TREE_0, made.REGISTERED)),
    "star": functools.cache(lambda: made.star(4, 4)),
    "star of three": functools.cache(lambda: made.star(5, 3)),
    "all to all": functools.cache(lambda: made.all_to_all(6, 4)),
    "ring of 5": functools.cache(lambda: made.Ring(7, 5)),
    "ring of 2": functools.cache(lambda: made.Ring(8, 2)),
    "rings of 3 both ways": functools.cache(lambda: made.Ring(9, 3, turned=True)),
}


@functools.cache
def trees(seed, ranks, channels, of=(0, 1)):
    return made.Trees(seed, ranks, channels, of, sets=channels)


def is_set_up(frame):
    return frame.bytes[IP_PROTOCOL] == TCP


def without_set_up(frames):
    return [frame for frame in frames if not is_set_up(frame)]


def lossy(frames, seed):
    chance = random.Random(seed)
    return [frame for frame in frames if is_set_up(frame) or chance.random() >= LOST]


def without_payload(frames):
    """A mirror that cuts data behind its headers, but no clear-to-sends."""
    return [frame._replace(bytes=frame.bytes[:HEADERS]) if frame.role == "data" else frame for frame in frames]


def middle(job):
    """From within a round of the first half on."""
    at = len(job.rounds) // 2 - 1
    mine = [i for i, frame in enumerate(job.frames) if job.rounds[at] <= frame.ts < job.rounds[at + 1]]
    return job.frames[mine[len(mine) // 2]:]


WAYS = {
    "whole": lambda job: job.frames,
    "no set-up": lambda job: without_set_up(job.frames),
    "middle": middle,
    "headers": lambda job: without_payload(job.frames),
    "lossy": lambda job: lossy(job.frames, len(job.hosts)),
    "lossy, no set-up": lambda job: lossy(without_set_up(job.frames), len(job.hosts)),
}


def document(frames):
    with tempfile.TemporaryDirectory() as folder:
        return fabtap("nccl", "--json", nccl_made.write(Path(folder) / "trees.pcap", frames)).json()


@functools.cache
def seen(world, way):
    """(frames, what is told of them)"""
    frames = WAYS[way](trees(*world))
    return frames, Told(trees(*world), document(frames))


class Told:
    """A document, in the terms of the job."""

    def __init__(self, job, document):
        self.document = document
        numbers = {pair: link.number for link in job.connections for pair in pairs_of(link)}
        self.numbers = {}
        for row in document["connections"]:  # of several queue pairs the order is not told without a set-up
            number, = {numbers.get((*sender, *receiver)) for sender, receiver in zip(ends(row, "sender"), ends(row, "receiver"))}
            self.numbers[row["connection"]] = number

    def edge(self, row):
        return row["parent"], row["child"], *(sorted(self.numbers[i] for i in row[way]) for way in ("up", "down"))

    def trees(self):
        group, = self.document["communicators"]
        return [(row["tree"], row["root"], [self.edge(edge) for edge in row["edges"]]) for row in group["trees"]]


def str_of(host):
    return ".".join(map(str, host[0]))


def ends(row, side):
    return [(row[side]["addresses"][0], qpn) for qpn in row[side]["qpns"]]


def pairs_of(link):
    sender, receiver = str_of(link.sender), str_of(link.receiver)
    return [(sender, a, receiver, b) for a, b in zip(link.sender_qpns, link.receiver_qpns)]


def true_trees(job, named):
    """{tree: name} of those that are in use. Ranks are the positions: each is known."""
    for tree, name in named.items():
        channels = [channel for channel in job.channels if channel.tree == tree]
        yield name, channels[0].root, [
            (channels[0].parent[child], child, sorted(channel.up[child].number for channel in channels),
             sorted(channel.down[child].number for channel in channels))
            for child in sorted(channels[0].up)]


class Seen:
    """One of the job's, in a capture of it."""

    def __init__(self, what, messages, frames):
        self.size, self.protocol = what.size, what.protocol
        mine = [(i, frame.role) for i, frame in enumerate(frames, 1) if (frame.connection, frame.k) in messages]
        self.data = [i for i, role in mine if role == "data"]
        self.asked = [i for i, role in mine if role == "cts"]

    def has(self, row):
        return bool(self.data) and self.data[0] <= row["first_frame"] <= row["last_frame"] <= self.data[-1]

    def fits(self, row):
        """Lines of LL do not show where their data ends."""
        least, most = row["message_bytes_range"] or (0, 1 << 64)
        return row["message_bytes"] in ((self.size,) if self.protocol == "SIMPLE" else (self.size, None)) and least <= self.size <= most


class Made(unittest.TestCase):
    """What is made is what the specification says."""

    def test_trees_are_those_drawn_by_hand(self):
        for ranks, both in BY_HAND.items():
            for tree, parents in enumerate(both):
                self.assertEqual([made.parent_in(tree, ranks, node) for node in range(ranks)], parents, (ranks, tree))

    def test_all_ranks_together_send_the_data_once_per_edge_up_and_down(self):
        """Section 7.1: in two trees S/2 on each edge both ways, twice that in lines."""
        for world in WORLDS:
            job, ranks = trees(*world), world[1]
            written = collections.Counter({(frame.connection, frame.k): 0 for frame in job.frames})
            for frame in job.frames:
                if frame.role == "data" and frame.bytes[BTH] in BEGINNINGS:
                    written[frame.connection, frame.k] += int.from_bytes(frame.bytes[BTH + 24:BTH + 28], "big")
            for way, (what, messages) in itertools.product(("up", "down"), job.operations):
                links = {link.number for channel in job.channels for link in getattr(channel, way).values()}
                mine = [message for message in messages if message[0] in links]
                total, sent = what.size * (ranks - 1), sum(written[message] for message in mine)
                least, most = (total, total) if what.protocol == "SIMPLE" else (2 * total, 2 * total + 8 * len(mine))
                self.assertTrue(least <= sent <= most, (way, what, sent))

    def test_sums_wait_for_those_of_all_children(self):
        for world in WORLDS:
            job, first, last = trees(*world), {}, {}
            for i, frame in enumerate(job.frames):
                if frame.role == "data":
                    first.setdefault((frame.connection, frame.k), i)
                    last[frame.connection, frame.k] = i
            for channel, (child, up) in ((c, one) for c in job.channels for one in c.up.items()):
                parent = channel.parent[child]
                passed_on = list(channel.down.values()) if parent == channel.root else [channel.up[parent]]
                told_on = [channel.down[grandchild] for grandchild in channel.children[child]]
                for k in range(len(up.done)):
                    self.assertTrue(all(last[up.number, k] < first[link.number, k] for link in passed_on))
                    self.assertTrue(all(last[channel.down[child].number, k] < first[link.number, k] for link in told_on))


class Trees(unittest.TestCase):
    def of_each(self, check):
        """check(job, way of seeing it, frames, what is told of them)"""
        for world, way in itertools.product(WORLDS, WAYS):
            with self.subTest(world=world, way=way):
                check(trees(*world), way, *seen(world, way))

    def test_connections_ranks_and_messages(self):
        def check(job, way, _, told):
            rows = told.document["messages"]
            self.assertEqual(told.document["findings"], [])
            self.assertEqual(sorted(told.numbers.values()), list(range(len(job.connections))))
            group, = told.document["communicators"]
            self.assertEqual([(row["rank"], row["addresses"]) for row in group["ranks"]],
                             [(rank, [str_of(host)]) for rank, host in enumerate(job.hosts)])
            if way in ("whole", "no set-up"):
                self.assertEqual(len(rows), sum(job.counted().values()))
                self.assertTrue(all(row["completed"] and row["latency_ns"] > 0 for row in rows))

        self.of_each(check)

    def test_trees_are_told(self):
        def check(job, _way, _frames, told):
            self.assertIsNone(told.document["communicators"][0]["ring"])
            self.assertEqual(told.trees(), list(true_trees(job, {0: 0, 1: 1})))

        self.of_each(check)

    def test_one_tree_alone_is_named_by_its_ranks(self):
        for tree, names in ((0, (0,)), (1, (1, None))):  # its place in the order of set-ups does not tell that it is the second
            job = trees(500, 5, 1, (tree,))
            with self.subTest(tree=tree):
                self.assertIn(Told(job, document(job.frames)).trees(), [list(true_trees(job, {tree: name})) for name in names])

    def test_operations_are_told(self):
        def check(job, way, frames, told):
            operations = [(Seen(what, messages, frames), messages) for what, messages in job.operations]
            rows = [row for row in told.document["collectives"] if row["collective"] or row["algorithm"]]
            self.are_true(rows, [operation for operation, _ in operations])
            if way in ("whole", "no set-up", "middle"):
                self.are_all(rows, [one for one, messages in operations if len(one.asked) == len(messages)], job)

        self.of_each(check)

    def are_true(self, rows, operations):
        """Of those that a row names: what it says."""
        for row in rows:
            self.assertIn((row["collective"], row["algorithm"]), (("AllReduce", "TREE"), ("AllReduce", None), (None, "TREE")))
            mine = [operation for operation in operations if operation.has(row)]
            self.assertEqual(len(mine), 1, row)
            self.assertIn(row["message_bytes"], (mine[0].size, None), row)
            least, most = row["message_bytes_range"] or (0, 1 << 64)
            self.assertTrue(least <= mine[0].size <= most, (row, mine[0].size))

    def are_all(self, rows, operations, job):
        """Those that were seen from their first clear-to-send on."""
        rows = [row for row in rows if row["first_frame"] >= operations[0].data[0]]
        self.assertEqual([(row["collective"], row["algorithm"], row["protocol"], row["channels"], row["first_frame"], row["last_frame"])
                          for row in rows],
                         [("AllReduce", "TREE", one.protocol, len(job.channels), one.data[0], one.data[-1]) for one in operations])
        for row, operation in zip(rows, operations):
            self.assertTrue(operation.fits(row), (row, operation.size))


class NoTrees(unittest.TestCase):
    def test_what_is_no_tree(self):
        for name, way in itertools.product(NO_TREES, WAYS):
            job = NO_TREES[name]()
            told = document(WAYS[way](job))
            with self.subTest(job=name, way=way):
                self.assertEqual(told["findings"], [])
                self.assertEqual(len(told["connections"]), len(job.connections))
                self.assertNotIn("TREE", {row["algorithm"] for row in told["collectives"]})
                self.assertEqual([group["trees"] for group in told["communicators"]], [None])


if __name__ == "__main__":
    main()
