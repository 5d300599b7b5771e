"""Jobs that follow each other on the same hosts, whose set-ups were not seen: the later one has queue pair numbers of the earlier one
again, for connections of its own, with ends the other way round, with other peers, or of another release. Each message is told of the
connection that had it, and nothing is found."""

import collections
import functools
import json
import random
import tempfile
import unittest
from pathlib import Path

import nccl_made
from harness import fabtap, main
from nccl_training_made import ALL_GATHER, ALL_REDUCE, LL, REDUCE_SCATTER, SIMPLE, Cluster, Group
from nccl_training_worlds import all_of, is_set_up, lossy, middle
from roce import EVERYBODY


class Numbered(Cluster):
    """Hands out the queue pair numbers of `again` anew, by host in its order. `order`: of its hosts, as ranks."""

    def __init__(self, *how, again=None, order=None, **more):
        self.given = collections.defaultdict(list)
        self.left = {host: list(numbers) for host, numbers in again.given.items()} if again else {}
        super().__init__(*how, before=again, **more)
        self.numbers += 1000 * (again is not None)
        if order is not None:
            self.ports = [self.ports[host] for host in order]

    def qpn(self, host):
        left = self.left.get(host[0])
        self.given[host[0]].append(left.pop(0) if left else super().qpn(host))
        return self.given[host[0]][-1]


def busy(cluster, channels, trees, count):
    group = Group(cluster, cluster.processes(), channels, trees=trees)
    clock, chance = cluster.clock(), cluster.chance
    for _ in range(count):
        if trees and chance.random() < 0.3:
            group.tree(clock, 4 * chance.randrange(100, 8000), chance.choice([LL, SIMPLE]))
        else:
            what = chance.choice([ALL_REDUCE, ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER])
            size = 4 * chance.randrange(2000, 30000) // (1 if what == ALL_REDUCE else 4) // 4 * 4
            group.ring(clock, what, size, chance.choice([SIMPLE, SIMPLE, LL]))
        for process in clock:
            clock[process] += chance.uniform(20000, 200000)
    cluster.finish()
    return cluster


@functools.cache
def jobs(kind, seed, pauses=(1.2e9, 1e10)):
    chance = random.Random("%s %d" % (kind, seed))
    hosts, channels, sets = chance.choice([3, 4, 5, 8]), chance.choice([1, 2, 4]), chance.choice([1, 1, 2])
    trees = chance.random() < 0.4
    first = busy(Numbered(seed, hosts, 1, 1, families="CDEF", sets=sets), channels, trees, 4)
    order = chance.sample(range(hosts), hosts) if kind == "other peers" else range(hosts)[::-1 if kind == "turned round" else 1]
    release = chance.choice(RELEASES) if kind == "another release" else first.release
    began = max(frame.ts for frame in first.frames) + chance.choice(pauses)
    later = Numbered(seed + 500, hosts, 1, 1, again=first, order=order, release=release, sets=sets, began=began)
    return [first, busy(later, chance.choice([1, 2, 4]), chance.random() < 0.4, 4)]


RELEASES = [release for release, layout in nccl_made.RELEASES.items() if layout.family in "CDEF"]
KINDS = "alike", "turned round", "other peers", "another release"
SEEDS = range(1, 7)
VIEWS = {
    "no set-up": lambda frames: frames,
    "lossy": lambda frames: lossy(frames, 0.01),
    "lossy, with set-up": lambda frames: lossy(frames, 0.01),
    "3 % lost, with set-up": lambda frames: lossy(frames, 0.03),
    "middle": middle,
}


SHORT = (1e7, 1e8, 5e8, 9e8)  # ns


class Told:
    def __init__(self, kind, seed, view, *pauses):
        self.jobs = jobs(kind, seed, *pauses)
        frames = list(all_of(self.jobs))
        self.frames = VIEWS[view](frames if "with set-up" in view else [frame for frame in frames if not is_set_up(frame)])
        with tempfile.TemporaryDirectory() as folder:
            capture, everybody = nccl_made.write(Path(folder) / "jobs.pcap", self.frames), Path(folder) / "map.json"
            everybody.write_text(json.dumps(EVERYBODY).replace("2000-", "1970-"))
            self.document = fabtap("nccl", "--json", capture).json()
            self.audit = fabtap("audit", "--json", "-m", everybody, capture).json()

    @functools.cached_property
    def passed(self):
        """Of each connection told: {number of one that was made: [(k that is told, k that it is), ..]}"""
        passed = collections.defaultdict(lambda: collections.defaultdict(list))
        for row in self.document["messages"]:
            for number in row["cts_frame"], row["first_frame"], row["last_frame"]:
                if number is not None:
                    frame = self.frames[number - 1]
                    passed[row["connection"]][frame.connection].append((row["k"], frame.k))
        return passed


@functools.cache
def told(kind, seed, view, *pauses):
    return Told(kind, seed, view, *pauses)


class Successors(unittest.TestCase):
    def each(self, check, views=("no set-up", "lossy", "middle")):
        for kind in KINDS:
            for seed in SEEDS:
                for view in views:
                    with self.subTest(kind=kind, seed=seed, view=view):
                        check(told(kind, seed, view))

    def test_messages_are_of_the_connection_that_had_them(self):
        def check(it):
            for made in it.passed.values():
                self.assertEqual(len(made), 1, {number: len(messages) for number, messages in made.items()})
                for messages in made.values():
                    self.assertEqual([pair for pair in messages if pair[0] not in (pair[1], None)], [])

        self.each(check)

    def test_nothing_is_found(self):
        def check(it):
            self.assertEqual(it.document["findings"], [])
            self.assertEqual([finding for finding in it.audit["findings"] if finding["rule"].startswith("nccl.")], [])

        self.each(check)

    def test_all_of_the_later_job_is_told(self):
        """But for connections that hardly anything passed over."""
        def check(it):
            later = it.jobs[1]
            seen = {number for made in it.passed.values() for number in made}
            self.assertLessEqual({link.number for link in later.connections if len(link.done) > 2}, seen)

        self.each(check, ["no set-up"])

    def test_a_communicator_is_of_one_job(self):
        def check(it):
            of = {link.number: job for job in it.jobs for link in job.connections}
            for communicator in it.document["communicators"]:
                made = {of[number] for i in communicator["connections"] for number in it.passed[i]}
                self.assertEqual(len(made), 1)

        self.each(check)


class Soon(unittest.TestCase):
    """Within a second of the earlier job's last message."""

    def each(self, check):
        for kind in ("turned round", "other peers"):
            for seed in range(1, 11):
                for view in ("no set-up", "lossy"):
                    with self.subTest(kind=kind, seed=seed, view=view):
                        check(told(kind, seed, view, SHORT))

    def test_nothing_is_found(self):
        def check(it):
            self.assertEqual(it.document["findings"], [])
            self.assertEqual([finding for finding in it.audit["findings"] if finding["rule"].startswith("nccl.")], [])

        self.each(check)

    def test_nothing_is_found_of_one_that_has_a_message_alone(self):
        """Its clear-to-send passes where the earlier job had data."""
        for pause in 1e6, 1e7:
            it = told("another release", 3, "lossy, with set-up", (pause,))
            self.assertEqual(it.document["findings"], [])

    def test_nothing_is_found_where_connections_are_taken_over_and_the_capture_ends(self):
        it = told("alike", 12, "3 % lost, with set-up", (1e7,))
        self.assertEqual(it.document["findings"], [])


if __name__ == "__main__":
    main()
