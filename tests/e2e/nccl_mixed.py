"""NCCL's rings and trees on the same connections, as it makes them when it begins: who is next to whom, who above whom, and over
which of the two each all-reduce went. Whole, from the middle, with losses, without set-ups, and where nothing goes over the trees."""

import functools
import itertools
import random
import tempfile
import unittest
from pathlib import Path

import nccl_made
import nccl_trees_made as made
from harness import fabtap, main

TCP, IP_PROTOCOL = 6, 23
WORLDS = (3, 1), (4, 1), (5, 2), (8, 1)  # ranks, channels of each tree
RING, TREE = "RING", "TREE"
LOST = 0.01


class Mixed(made.Job):
    """As many channels as both trees have; a tree's connection that goes the way of its channel's ring is the ring's."""

    all_reduce, chunk, loop = made.Trees.all_reduce, made.Trees.chunk, made.Ring.loop

    def __init__(self, seed, ranks, each, kinds):
        super().__init__(seed, ranks)
        self.beside, self.said = None, []
        self.rings = [[self.connect(rank, (rank + 1) % ranks) for rank in range(ranks)] for _ in range(2 * each)]
        self.channels = []
        for number, self.beside in enumerate(self.rings):
            self.channels.append(made.Channel(self, number // each))
        for kind in kinds:
            self.pause()
            self.said.append(("AllReduce", kind, self.around() if kind == RING else self.over_trees()))
        self.finish()

    def connect(self, sender, receiver):
        if self.beside is not None and receiver == (sender + 1) % len(self.hosts):
            return self.beside[sender]
        return super().connect(sender, receiver)

    def around(self):
        chunk = 16 * self.chance.randrange(1, 4000)
        for ring in self.rings:
            self.loop(ring, chunk)
        return len(self.rings) * len(self.hosts) * chunk

    def over_trees(self):
        size = 4 * self.chance.randrange(len(self.channels), 20000)
        self.all_reduce(made.Operation(size, made.SIMPLE, 524288))
        return size


@functools.cache
def job(ranks, each, kinds=(RING, TREE, TREE, RING, TREE, RING, RING)):
    return Mixed(7000 * each + ranks, ranks, each, kinds)


def is_set_up(frame):
    return frame.bytes[IP_PROTOCOL] == TCP


def lossy(frames):
    chance = random.Random(30)
    return [frame for frame in frames if is_set_up(frame) or chance.random() >= LOST]


def middle(made_job):
    return [frame for frame in made_job.frames if frame.ts >= made_job.rounds[3] + 20000]


WAYS = {
    "whole": lambda it: it.frames,
    "no set-up": lambda it: [frame for frame in it.frames if not is_set_up(frame)],
    "middle": middle,
    "lossy": lambda it: lossy(it.frames),
}


@functools.cache
def told(ranks, each, way, **kinds):
    with tempfile.TemporaryDirectory() as folder:
        capture = nccl_made.write(Path(folder) / "mixed.pcap", WAYS[way](job(ranks, each, **kinds)))
        return fabtap("nccl", "--json", capture).json()


def edges(communicator, document):
    """Of each tree (child, parent, sender's queue pairs up, those down, of each channel)."""
    of = {row["connection"]: row["sender"]["qpns"] for row in document["connections"]}
    return {tree["tree"]: {(edge["child"], edge["parent"], tuple(tuple(of[i]) for i in edge["up"]),
                            tuple(tuple(of[i]) for i in edge["down"])) for edge in tree["edges"]}
            for tree in communicator["trees"] or []}


def true_edges(it, each):
    sets = {}
    for tree in 0, 1:
        channels = it.channels[tree * each:(tree + 1) * each]
        parent = channels[0].parent
        sets[tree] = {(child, parent[child], *(tuple(tuple(way[child].sender_qpns) for way in ways)
                                               for ways in ([c.up for c in channels], [c.down for c in channels])))
                      for child in channels[0].up}
    return sets


class RingsAndTrees(unittest.TestCase):

    def each_way(self, ways=WAYS):
        for (ranks, each), way in itertools.product(WORLDS, ways):
            with self.subTest(ranks=ranks, each=each, way=way):
                yield ranks, each, way

    def test_ring_channels_and_trees(self):
        for ranks, each, way in self.each_way():
            document = told(ranks, each, way)
            (communicator,) = document["communicators"]
            self.assertEqual([row["rank"] for row in communicator["ranks"]], list(range(ranks)))
            self.assertEqual(communicator["ring"], list(range(ranks)))
            self.assertEqual([row["channel"] for row in communicator["channels"]], list(range(2 * each)))
            self.assertEqual(edges(communicator, document), true_edges(job(ranks, each), each))
            self.assertEqual(document["findings"], [])

    def test_what_went_over_which(self):
        for ranks, each, way in self.each_way(("whole", "no set-up")):
            rows = told(ranks, each, way)["collectives"]
            self.assertEqual([(row["collective"], row["algorithm"], row["message_bytes"]) for row in rows],
                             job(ranks, each).said)
            self.assertEqual({row["channels"] for row in rows}, {2 * each})

    def test_what_is_missing_is_not_made_up(self):
        for ranks, each, way in self.each_way(("lossy", "middle")):
            rows = {(row["collective"], row["algorithm"], row["message_bytes"]) for row in told(ranks, each, way)["collectives"]
                    if row["algorithm"] and row["message_bytes"] and row["channels"] == 2 * each}
            self.assertLessEqual(rows, set(job(ranks, each).said))

    def test_trees_that_nothing_goes_over(self):
        """Their set-ups are in the capture; the ring is told as if they were not."""
        for ranks, each in WORLDS:
            with self.subTest(ranks=ranks):
                (communicator,) = told(ranks, each, "whole", kinds=(RING, RING, RING))["communicators"]
                self.assertEqual(communicator["ring"], list(range(ranks)))
                self.assertEqual([tree["tree"] for tree in communicator["trees"]], [0, 1])
                rows = told(ranks, each, "whole", kinds=(RING, RING, RING))["collectives"]
                self.assertEqual([(row["collective"], row["algorithm"], row["message_bytes"]) for row in rows],
                                 job(ranks, each, kinds=(RING, RING, RING)).said)


if __name__ == "__main__":
    main()
