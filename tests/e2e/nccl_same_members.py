"""Two communicators of the same members, whose operations are under way at the same time: each is told by itself, as volumes and
protocols of what both do show, by set-ups or without, and where packets are missing."""

import functools
import unittest

import nccl_training
from harness import main
from nccl_training_made import ALL_GATHER, ALL_REDUCE, LL, REDUCE_SCATTER, SIMPLE, Cluster, Group
from nccl_training_worlds import VIEWS, all_of, is_set_up, lossy
from nccl_trees_made import shares

OPERATIONS = 10


@functools.cache
def made(seed, hosts, channels):
    """Each goes on by itself: gradients are added up while parameters are gathered, and lines between them."""
    cluster = Cluster(seed, hosts, 1, 1, families="CDEF")
    groups = [Group(cluster, cluster.processes(), channels, name=name) for name in ("first", "second")]
    begin, chance = cluster.clock(), cluster.chance
    for group, kinds in zip(groups, ((ALL_REDUCE, ALL_REDUCE, REDUCE_SCATTER), (ALL_GATHER, ALL_REDUCE))):
        clock = dict(begin)
        for i in range(OPERATIONS):
            what, protocol = kinds[i % len(kinds)], LL if chance.random() < 0.3 else SIMPLE
            size = 16 * hosts * channels * chance.randrange(20, 400)
            group.ring(clock, what, size if what == ALL_REDUCE else size // hosts, protocol)
            for process in clock:
                clock[process] += chance.uniform(10000, 60000)
    cluster.finish()
    return cluster


@functools.cache
def alone(seed, hosts, channels):
    """One communicator: all channels take part in nearly all it does, the first one alone in what is short."""
    cluster = Cluster(seed, hosts, 1, 1, families="CDEF")
    group, chance = Group(cluster, cluster.processes(), channels), cluster.chance
    clock = cluster.clock()
    for i in range(OPERATIONS):
        if i % 5 == 4:
            group.ring(clock, ALL_REDUCE, 4 * chance.randrange(1, 64), LL, 1)
        else:
            group.ring(clock, ALL_REDUCE, 16 * hosts * channels * chance.randrange(20, 400), LL if chance.random() < 0.3 else SIMPLE)
        for process in clock:
            clock[process] += chance.uniform(10000, 60000)
    cluster.finish()
    return cluster


@functools.cache
def grouped(seed, hosts, channels):
    """One communicator: each launch has two operations, each on half of the channels, which differ in size and protocol."""
    cluster = Cluster(seed, hosts, 1, 1, families="CDEF")
    group, chance = Group(cluster, cluster.processes(), channels), cluster.chance
    clock = cluster.clock()
    for _ in range(OPERATIONS):
        begins, half = group.begin(clock), channels // 2
        for first, protocol, times in ((0, LL, 1), (half, SIMPLE, chance.choice([3, 4, 6]))):
            size = 16 * hosts * half * chance.randrange(300, 900) * times
            for channel, share in enumerate(shares(size, half), first):
                for member, end in group.around(channel, ALL_REDUCE, share, protocol, begins).items():
                    clock[member] = max(clock[member], end)
        for process in clock:
            clock[process] += chance.uniform(10000, 60000)
    cluster.finish()
    return cluster


JOBS = {"%d hosts, %d channels, %d" % (hosts, channels, seed): functools.partial(lambda *how: [made(*how)], seed, hosts, channels)
        for seed, hosts, channels in ((901, 3, 2), (903, 4, 1), (905, 8, 1), (906, 5, 4))}


def no_set_up(jobs):
    return [frame for frame in all_of(jobs) if not is_set_up(frame)]


POOR_VIEWS = {
    "one in twenty is missing": lambda jobs: lossy(all_of(jobs), 0.05),
    "one in twenty is missing, no set-up": lambda jobs: lossy(no_set_up(jobs), 0.05),
}
MORE_VIEWS = {**VIEWS, **POOR_VIEWS, "lossy, no set-up": lambda jobs: lossy(no_set_up(jobs), 0.003)}


seen = nccl_training.seen_of(JOBS, MORE_VIEWS)


class Wrong(nccl_training.Wrong):
    jobs, views, seen = JOBS, MORE_VIEWS, staticmethod(seen)


class SameMembers(unittest.TestCase):
    def test_operations_of_one_launch_are_of_one(self):
        for seed, hosts, channels in ((1, 3, 2), (2, 4, 8), (3, 6, 4)):
            for view in ("whole", "no set-up", "lossy, no set-up"):
                with self.subTest(seed=seed, view=view):
                    jobs = [grouped(seed, hosts, channels)]
                    rows = nccl_training.Seen(jobs, MORE_VIEWS[view](jobs)).document["communicators"]
                    self.assertEqual([len(row["connections"]) for row in rows], [hosts * channels])

    def test_channels_of_one_are_of_one_where_packets_are_missing(self):
        for seed, hosts, channels in ((21, 3, 4), (22, 5, 2), (23, 6, 4)):
            for view in POOR_VIEWS:
                with self.subTest(seed=seed, view=view):
                    jobs = [alone(seed, hosts, channels)]
                    rows = nccl_training.Seen(jobs, POOR_VIEWS[view](jobs)).document["communicators"]
                    self.assertEqual([(len(row["connections"]), row["ring"] is None) for row in rows], [(hosts * channels, False)])

    def test_each_is_told_by_itself(self):
        for name in JOBS:
            for view in ("whole", "no set-up"):
                with self.subTest(job=name, view=view):
                    it = seen(name, view)
                    told = [it.groups(row) for row in it.document["communicators"]]
                    self.assertEqual([len(groups) for groups in told], [1, 1])
                    self.assertTrue(all(row["ring"] for row in it.document["communicators"]))

    def test_most_are_told_by_themselves_where_packets_are_missing(self):
        told = []
        for name in JOBS:
            for view in POOR_VIEWS:
                it = seen(name, view)
                told.append([len(it.groups(row)) for row in it.document["communicators"] if row["ring"]] == [1, 1])
        self.assertGreaterEqual(sum(told), 0.8 * len(told))


if __name__ == "__main__":
    main()
