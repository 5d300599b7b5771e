"""Large training jobs in small: all GPUs in one communicator, of which four bytes use the first channel alone; replicas on each rail; stages
that send forwards and have connections backwards, too; a job started anew on the same hosts; GPUs that share the ports of several rails."""

import functools

from nccl_training_made import ALL_GATHER, ALL_REDUCE, REDUCE_SCATTER, Cluster, Group

LL = "LL"


class Job:
    """Ranks are the job's, but of those that share ports. `stages` over the hosts, replicas of each GPU of a stage on its rail."""

    def __init__(self, seed, hosts, each, stages=1, rails=None, own=False, **how):
        self.cluster = cluster = Cluster(seed, hosts, each, rails or each, **how)
        self.all = Group(cluster, cluster.processes(), each, name="all")
        per, self.own = hosts // stages, own
        self.data = [self.group("data", [(stage * per + host, gpu) for host in range(per)], 1)
                     for stage in range(stages) for gpu in range(each)]
        self.stages = [self.group("stages", [(stage * per + host, gpu) for stage in range(stages)], 0)
                       for host in range(per) for gpu in range(each) if stages > 1]
        for group in self.stages:
            for one, other in zip(group.members, group.members[1:]):
                group.pair(one, other, 1)
                group.pair(other, one, 1)
        self.clock = cluster.clock()

    def group(self, name, members, channels):
        names = None if self.own else [host * self.cluster.each + gpu for host, gpu in members]
        return Group(self.cluster, members, channels, names, name=name)

    def forward(self, backward=False):
        """Of less than a chunk of 131072 bytes: in quarters of that."""
        for turn in (1, -1) if backward else (1,):
            for group in self.stages:
                walk = group.members[::turn]
                for pair in zip(walk, walk[1:]):
                    group.exchange(self.clock, {pair: 104392})

    def reduce(self, kinds, count):
        for what in kinds:
            for _ in range(count):
                size = 4 * self.cluster.chance.randrange(3000, 30000)
                for group in self.data:
                    group.ring(self.clock, what, size)

    def agree(self):
        self.all.ring(self.clock, ALL_REDUCE, 4, LL, 1)

    def done(self):
        self.cluster.finish()
        return self.cluster


@functools.cache
def replicas(seed, hosts=6, each=2, kinds=(ALL_REDUCE,), iterations=2, **how):
    job = Job(seed, hosts, each, **how)
    job.agree()
    for _ in range(iterations):
        job.reduce(kinds, 2)
        job.agree()
    return job.done()


@functools.cache
def pipeline(seed, hosts, each, stages, backward):
    job = Job(seed, hosts, each, stages)
    job.agree()
    for _ in range(2):
        job.forward(backward)
        job.reduce((REDUCE_SCATTER, ALL_GATHER), 1)
    job.agree()
    return job.done()


@functools.cache
def used_by_all(seed):
    """All channels of the communicator of all ranks carry lines, and no slices."""
    job = Job(seed, 8, 2, 2)
    job.forward()
    job.reduce((REDUCE_SCATTER, ALL_GATHER), 1)
    job.all.ring(job.clock, ALL_GATHER, 4000, LL, 2)
    return job.done()


@functools.cache
def again(seed):
    first = replicas(seed, 4)
    last = max(frame.ts for frame in first.frames)
    return [first, replicas(seed + 1, 4, before=first, release=first.release, began=last + 1e7)]


JOBS = {
    "replicas": lambda: [replicas(1)],
    "stages": lambda: [pipeline(2, 12, 2, 4, False)],
    "two stages": lambda: [pipeline(3, 8, 1, 2, True)],
    "used by all": lambda: [used_by_all(4)],
    "started anew": lambda: again(5),
}
SHARED = {
    "shared rails": lambda: [replicas(7, 3, 4, (REDUCE_SCATTER, ALL_GATHER), 1, rails=2, own=True, families="DEF")],
}
