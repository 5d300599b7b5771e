"""Thousands of connections whose set-ups were not seen: all pairs of many hosts that send to each other, a message at a time in turn; trees
beside rings over many channels, which carry one message each; and a job beside many queue pairs of something else that are idle. Each
connection is known all the same, and nothing is found; nor where a job takes over all queue pairs of the one before at once."""

import functools
import json
import struct
import tempfile
import unittest
from pathlib import Path

import nccl_made
from harness import fabtap, main
from nccl_made import Frame, roce_frame, source_port
from nccl_successors import Numbered, busy
from nccl_training_made import ALL_GATHER, LL, REDUCE_SCATTER, Cluster, Group
from nccl_training_worlds import is_set_up
from roce import EVERYBODY


def cluster_of(seed, hosts):
    return Cluster(seed, hosts, 1, 1, families="DEF")


@functools.cache
def pairs(seed, hosts, rounds):
    cluster = cluster_of(seed, hosts)
    group = Group(cluster, cluster.processes(), 0)
    both = [(a, b) for a in group.members for b in group.members if a != b]
    for pair in both:
        group.pair(*pair, 1)
    clock = cluster.clock()
    for _ in range(rounds):
        group.exchange(clock, dict.fromkeys(both, 20000))
    cluster.finish()
    return cluster


@functools.cache
def trees(seed, hosts, channels):
    cluster = cluster_of(seed, hosts)
    group = Group(cluster, cluster.processes(), channels, trees=True)
    clock = cluster.clock()
    group.ring(clock, REDUCE_SCATTER, 4 * channels * 1000, LL)
    group.tree(clock, 4 * channels * 400, LL)
    cluster.finish()
    return cluster


@functools.cache
def ring(seed, hosts, channels):
    cluster = cluster_of(seed, hosts)
    group = Group(cluster, cluster.processes(), channels)
    clock = cluster.clock()
    for what in (REDUCE_SCATTER, ALL_GATHER, REDUCE_SCATTER, ALL_GATHER):
        group.ring(clock, what, 4 * channels * 1000, LL)
    cluster.finish()
    return cluster


@functools.cache
def successors(seed, hosts, channels):
    """Three jobs on the same queue pairs, a fifth of a second apart."""
    made = [busy(Numbered(seed, hosts, 1, 1, families="CDEF"), channels, True, 8)]
    for i in (1, 2):
        began = max(frame.ts for frame in made[-1].frames) + 2e8
        again = Numbered(seed + 500 * i, hosts, 1, 1, again=made[0], release=made[0].release, began=began)
        made.append(busy(again, channels, True, 8))
    return made


def idle(count):
    """Writes to so many queue pairs of no NCCL before anything else, two each."""
    for i in range(count):
        ends, qpn = (bytes((10, 7, 0, 1 + i % 200)), bytes((10, 7, 1, 1 + i // 200))), 5000 + i
        for psn in (100, 101):
            reth = struct.pack(">QII", 0x7c0000000000 + 4096 * i, 0x1000 + i, 64)
            packet = roce_frame(ends, source_port(qpn, qpn + 7), 0x0a, qpn, psn, reth, 64, bytes(range(64)), slice_bytes=192)
            yield Frame(1e8 + 2000 * (2 * i + psn), *packet)


class Seen:
    def __init__(self, cluster, before=()):
        self.cluster, frames = cluster, [frame for frame in (*before, *cluster.frames) if not is_set_up(frame)]
        with tempfile.TemporaryDirectory() as folder:
            capture, everybody = nccl_made.write(Path(folder) / "many.pcap", frames), Path(folder) / "map.json"
            everybody.write_text(json.dumps(EVERYBODY).replace("2000-", "1970-"))
            self.document = fabtap("nccl", "--json", capture).json()
            self.audit = fabtap("audit", "--json", "-m", everybody, capture).json()

    def made(self):
        return {(link.sender[0], qpn) for link in self.cluster.connections for qpn in link.sender_qpns}

    def told(self):
        return {(bytes(map(int, row["sender"]["addresses"][0].split("."))), row["sender"]["qpns"][0])
                for row in self.document["connections"]}


WORLDS = {
    "all pairs": lambda: Seen(pairs(1, 40, 2)),
    "trees": lambda: Seen(trees(2, 12, 32)),
    "idle queue pairs": lambda: Seen(ring(3, 6, 2), idle(900)),
    "more idle queue pairs": lambda: Seen(ring(4, 6, 2), idle(3500)),
}


SEEDS = range(1, 6)


@functools.cache
def seen(name):
    return WORLDS[name]()


class Many(unittest.TestCase):
    def each(self, check, names=WORLDS):
        for name in names:
            with self.subTest(name=name):
                check(seen(name))

    def test_all_connections_are_told(self):
        self.each(lambda it: self.assertEqual(it.told(), it.made()))

    def test_they_are_one_communicator(self):
        def check(it):
            row, = it.document["communicators"]
            self.assertEqual(len(row["ranks"]), len(it.cluster.hosts))
            self.assertEqual(len(row["connections"]), len(it.cluster.connections))

        self.each(check)

    def test_rings_and_channels_are_known(self):
        def check(it):
            row, = it.document["communicators"]
            self.assertIsNotNone(row["ring"])
            channels = {link.channel for link in it.cluster.connections}
            self.assertEqual({channel["channel"] for channel in row["channels"]}, channels)

        self.each(check, ["trees", "idle queue pairs", "more idle queue pairs"])

    def test_nothing_is_found(self):
        def check(it):
            self.assertEqual(it.document["findings"], [])
            self.assertEqual(it.audit["findings"], [])

        self.each(check)

    def test_nothing_is_found_where_jobs_take_over_from_another(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                *before, later = successors(seed, 9, 2)
                it = Seen(later, [frame for job in before for frame in job.frames])
                self.assertEqual(it.document["findings"], [])
                self.assertEqual(it.audit["findings"], [])


if __name__ == "__main__":
    main()
