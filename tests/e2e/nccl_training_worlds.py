"""Jobs that train models, and what may be in view of them."""

import functools
import random

from nccl_training_made import ALL_GATHER, ALL_REDUCE, REDUCE_SCATTER, Cluster, Group, store

TCP, IP_PROTOCOL, ADDRESSES = 6, 23, 26
STORAGE = bytes((10, 9, 0, 1))


class Model:
    """Stages over hosts, as many data-parallel ones of each, experts over these. `own`: each communicator numbers its own ranks."""

    def __init__(self, cluster, stages, own, experts, trees, channels):
        hosts, each = len(cluster.ports), cluster.each
        self.cluster, self.own, per = cluster, own, hosts // stages
        self.all = Group(cluster, cluster.processes(), channels, trees=trees, name="all")
        places = [[(host, gpu) for host in range(stage * per, stage * per + per)] for stage in range(stages) for gpu in range(each)]
        self.data = [self.group("data", members, channels) for members in places if per > 1]
        self.stages = [self.group("stages", [(stage * per + host, gpu) for stage in range(stages)])
                       for host in range(per) for gpu in range(each) if stages > 1]
        self.experts = [self.group("experts", [(host, gpu) for host in range(stage * per, stage * per + per) for gpu in range(each)])
                        for stage in range(stages) if experts and per > 1]
        for group in self.stages:
            for one, other in zip(group.members, group.members[1:]):
                group.pair(one, other, 2)
                group.pair(other, one, 2)
        self.clock = cluster.clock()

    def group(self, name, members, channels=0):
        names = None if self.own else [host * self.cluster.each + gpu for host, gpu in members]
        return Group(self.cluster, members, channels, names, name=name)

    def begin(self):
        self.all.broadcast(self.clock, 200000)
        for group in self.data:
            group.broadcast(self.clock, 100000)
        self.all.ring(self.clock, ALL_REDUCE, 4, "LL", 1)

    def microbatch(self):
        chance, clock = self.cluster.chance, self.clock
        for turn in (1, -1):
            for group in self.stages:
                walk = group.members[::turn]
                for pair in zip(walk, walk[1:]):
                    group.exchange(clock, {pair: 4 * chance.randrange(20000, 40000)}, 2)
            for group in self.experts:
                pairs = [(a, b) for a in group.members for b in group.members if a[0] != b[0]]
                group.exchange(clock, {pair: 4 * chance.randrange(100, 9000) for pair in pairs if chance.random() < 0.95})
            for process in clock:
                clock[process] += chance.uniform(50000, 200000)

    def iteration(self, layers, trees):
        """Gradients are under way before the last microbatch is over."""
        chance = self.cluster.chance
        self.microbatch()
        beside = {process: at - 300000 for process, at in self.clock.items()}
        self.microbatch()
        for what, least in ((REDUCE_SCATTER, 10000), (ALL_GATHER, 2000)):
            for _ in range(layers):
                size = 4 * chance.randrange(least, 30000)
                for group in self.data:
                    group.ring(beside, what, size)
        for process in self.clock:
            self.clock[process] = max(self.clock[process], beside[process])
        if trees:
            self.all.tree(self.clock, 4 * chance.randrange(100, 4000))
        self.all.ring(self.clock, ALL_REDUCE, 4 * chance.randrange(10000, 30000))
        self.all.ring(self.clock, ALL_REDUCE, 4, "LL", 1)
        store(self.cluster, 0, STORAGE, max(self.clock.values()))


@functools.cache
def job(seed, hosts, each, rails, stages=1, own=True, experts=True, trees=True, channels=1, layers=2, iterations=2, **how):
    cluster = Cluster(seed, hosts, each, rails, **how)
    model = Model(cluster, stages, own, experts, trees, channels)
    model.begin()
    for _ in range(iterations):
        model.iteration(layers, trees)
    cluster.finish()
    return cluster


@functools.cache
def restarted(seed):
    first = job(seed, 4, 1, 1)
    again = job(seed + 1, 4, 1, 1, before=first, release=first.release, began=max(frame.ts for frame in first.frames) + 5e6)
    return [first, again]


# (seed, hosts, processes of each, rails)
JOBS = {
    "numbered anew": lambda: [job(1, 4, 2, 2, stages=2)],
    "numbered alike": lambda: [job(2, 4, 2, 2, stages=2, own=False)],
    "four replicas": lambda: [job(3, 8, 1, 1, stages=2, own=False)],
    "several channels": lambda: [job(5, 4, 2, 2, channels=2, iterations=1)],
    "several queue pairs": lambda: [job(9, 4, 2, 2, stages=2, experts=False, trees=False, sets=2)],
    "before 2.12": lambda: [job(11, 4, 1, 1, experts=False, release=(11, 4), sets=2)],
    "before 2.20": lambda: [job(10, 4, 1, 1, families="C")],
    "two tenants": lambda: [job(21, 4, 2, 2, stages=2, job=1), job(22, 4, 1, 1, job=2, experts=False, iterations=3)],
    "on the same hosts": lambda: [job(23, 4, 1, 1, release=(24, 3)), job(24, 4, 1, 1, before=job(23, 4, 1, 1, release=(24, 3)),
                                                                      release=(30, 7), began=1e9 + 3e6)],
}


def is_set_up(frame):
    return frame.bytes[IP_PROTOCOL] == TCP


def lossy(frames, share):
    chance = random.Random(len(frames))
    return [frame for frame in frames if chance.random() >= share]


def middle(frames):
    return frames[2 * len(frames) // 5:]


def cut(frames, size):
    return [frame._replace(bytes=frame.bytes[:size]) for frame in frames]


def without_port(jobs, frames):
    port = jobs[0].ports[0][0]
    return [frame for frame in frames if port not in (frame.bytes[at:at + 4] for at in (ADDRESSES, ADDRESSES + 4))]


def all_of(jobs):
    return sorted((frame for one in jobs for frame in one.frames), key=lambda frame: frame.ts)


VIEWS = {
    "whole": lambda jobs: all_of(jobs),
    "no set-up": lambda jobs: [frame for frame in all_of(jobs) if not is_set_up(frame)],
    "middle": lambda jobs: middle(all_of(jobs)),
    "lossy": lambda jobs: lossy(all_of(jobs), 0.01),
    "cut, lossy": lambda jobs: cut(lossy(all_of(jobs), 0.001), 128),
    "a port is missing": lambda jobs: without_port(jobs, all_of(jobs)),
}
