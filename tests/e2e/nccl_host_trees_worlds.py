"""Worlds of NCCL jobs with several ranks on a host that reduce over trees of their hosts, of all patterns of processes; of jobs and
groups of them beside each other; and of stages and neighbours on such hosts that send each other what looks like it."""

import functools
import itertools

import nccl_hosts_made as made
import nccl_hosts_worlds as hosts
from nccl_hosts_made import ALL_REDUCE, LL, SEND_RECV, SIMPLE, TREE, Chain, Operation, Way
from nccl_hosts_worlds import FEW, by_host, together
from nccl_trees_made import REGISTERED, SEND, both_ways


def climb(protocol, step, least, most):
    """Of each channel about so many full messages; a part of one more, or only that."""
    return lambda chance, _ranks, channels: Operation(
        ALL_REDUCE, 4 * int(channels * chance.uniform(least, most) * step / 4), protocol, channels, TREE, step)


def tiny(protocol, most):
    """So few bytes that the first channel has them all."""
    return lambda chance, _ranks, _channels: Operation(ALL_REDUCE, 4 * chance.randrange(1, most), protocol, 1, TREE)


# several channels, of both trees; those of a script can be told from each other
UP = (climb(SIMPLE, 524288, 0.01, 0.04), climb(LL, 32768, 2.2, 2.9), climb(SIMPLE, 65536, 1.1, 1.9), climb(LL, 32768, 0.01, 0.5))
UP_LONG = (climb(SIMPLE, 524288, 1.02, 1.2), climb(LL, 32768, 9.1, 9.8), climb(SIMPLE, 65536, 9.1, 9.8), climb(SIMPLE, 131072, 0.3, 0.9),
           climb(SIMPLE, 524288, 0.0001, 0.001))  # more than are asked for ahead
UP_FEW = UP[0], UP[3], UP[1]
UP_FEWER = UP[0], hosts.on_fewer(UP[1]), UP[3], hosts.on_fewer(UP[2])  # channels: tree 0 alone
UP_TINY = UP[0], tiny(LL, 4), tiny(SIMPLE, 9000), UP[3], tiny(SIMPLE, 4)
ALIKE = UP[0], UP[3], UP[3], UP[2], UP[0]
IN_TURN = FEW[0], UP[0], FEW[1], UP[1], UP[2], FEW[2]
AROUND_FIRST = *FEW[:2], *UP_FEW


def trees_of(seed, pattern, count, each, rails, channels, script=UP, **how):
    """A job of so many hosts, with as many ranks each."""
    return functools.partial(a_job, seed, pattern, count, each, rails, channels, script, **how)


@functools.cache
def a_job(seed, pattern, count, each, rails, channels, script, by_channel=False, first=0, rings=True, pauses=True, **how):
    """`first`: of the ranks of each host; those before it are in other communicators, which are silent."""
    cluster = made.Cluster(seed, count, rails, **how)
    made.Group(cluster, by_host(count, each, first, first + each), made.ways(cluster.chance, each, rails, channels),
               trees=made.chains(pattern, each, rails, channels, by_channel), rings=rings)
    return together(cluster, [script], pauses)


@functools.cache
def two_jobs(seed, pattern, count, each, script, run=together):
    """On the same hosts, each with its own rails, and ranks that it counts from 0."""
    cluster = made.Cluster(seed, count, 2 * each)
    for job in range(2):
        first = job * each
        through = [way._replace(arrives=way.arrives + first, departs=way.departs + first)
                   for way in made.ways(cluster.chance, each, each, 2 * each)]
        trees = [Chain(*((process, rail + first) for process, rail in chain)) for chain in made.chains(pattern, each, each, 2 * each)]
        made.Group(cluster, by_host(count, each), through, job, trees)
    return run(cluster, [script] * 2)


@functools.cache
def data_parallel(seed, count, each, script, channels=2):
    """On each rail a communicator of one rank of each host; all do the same."""
    cluster = made.Cluster(seed, count, each)
    for rail in range(each):
        made.Group(cluster, by_host(count, 1, rail, each), [Way(0, 0, rail, rail)] * channels,
                   trees=[Chain(*[(0, rail)] * 3)] * channels)
    return together(cluster, [hosts.all_alike(cluster.chance, script, count, channels)] * each)


TIED = {  # connections lead from each host's process to all that take part
    "tree, 2 of 4, 1 rail": trees_of(1241, "tree", 2, 4, 1, 4),
    "tree, 5 of 2, 1 rail": trees_of(1521, "tree", 5, 2, 1, 2),
    "balanced, 3 of 4, 1 rail": trees_of(1341, "balanced", 3, 4, 1, 4),
    "balanced, 4 of 2": trees_of(1422, "balanced", 4, 2, 2, 4),
    "balanced, 2 of 2": trees_of(1222, "balanced", 2, 2, 2, 4, UP_LONG),
    "balanced, 3 of 4": trees_of(1344, "balanced", 3, 4, 4, 8, UP_FEW),
    "balanced, 8 of 2, 1 rail": trees_of(1821, "balanced", 8, 2, 1, 2, UP_FEW),
    "split, 2 of 2, 1 rail": trees_of(1221, "split", 2, 2, 1, 2, UP_LONG),
    "split, 5 of 2": trees_of(1522, "split", 5, 2, 2, 4, UP_FEW),
    "split, 8 of 4, 1 rail": trees_of(1841, "split", 8, 4, 1, 2, UP_FEW),
}
WIDE = {"balanced, 8 of 8": trees_of(1888, "balanced", 8, 8, 8, 16, (UP[0], UP[3]))}
ON_RAILS = {  # nothing but set-ups shows that their rails are of one job
    "tree, 2 of 2": trees_of(2222, "tree", 2, 2, 2, 4),
    "tree, 4 of 3": trees_of(2433, "tree", 4, 3, 3, 6, UP_FEW),
    "tree, 5 of 4, 2 rails": trees_of(2542, "tree", 5, 4, 2, 4, UP_FEW),
    "balanced, 2 of 4, 2 rails": trees_of(2242, "balanced", 2, 4, 2, 4),
    "balanced, 3 of 8, 4 rails": trees_of(2384, "balanced", 3, 8, 4, 8, UP_FEW),
    "balanced, 3 of 2, rails by channels": trees_of(2322, "balanced", 3, 2, 2, 4, by_channel=True),
    "split, 4 of 4, 2 rails": trees_of(2442, "split", 4, 4, 2, 4, UP_FEW),
    "split, 2 of 4, rails by channels": trees_of(2244, "split", 2, 4, 4, 8, by_channel=True),
}
TURNS = {  # loops of rings show how many ranks there are
    "tree in turn, 4 of 2": trees_of(3422, "tree", 4, 2, 2, 4, IN_TURN),
    "tree in turn, 3 of 4, 1 rail": trees_of(3341, "tree", 3, 4, 1, 4, IN_TURN),
    "balanced in turn, 2 of 4, 2 rails": trees_of(3242, "balanced", 2, 4, 2, 4, IN_TURN),
    "balanced in turn, 3 of 3": trees_of(3333, "balanced", 3, 3, 3, 6, IN_TURN),
    "split in turn, 5 of 2, 1 rail": trees_of(3521, "split", 5, 2, 1, 2, IN_TURN),
    "split after rings, 2 of 2": trees_of(3222, "split", 2, 2, 2, 4, AROUND_FIRST),
    "split after rings, 3 of 4": trees_of(100, "split", 3, 4, 4, 2, AROUND_FIRST),
}
AROUND = {  # nothing goes over trees
    "tree unused, 3 of 2": trees_of(4322, "tree", 3, 2, 2, 4, FEW),
    "balanced unused, 2 of 4, 2 rails": trees_of(4242, "balanced", 2, 4, 2, 4, FEW),
    "balanced unused, 4 of 2": trees_of(4422, "balanced", 4, 2, 2, 4, FEW),
    "split unused, 3 of 3, 1 rail": trees_of(4331, "split", 3, 3, 1, 2, FEW),
}
OTHERS = {
    "balanced, on fewer channels": trees_of(5341, "balanced", 3, 4, 1, 4, UP_FEWER),
    "split, tiny": trees_of(5422, "split", 4, 2, 2, 4, UP_TINY),
    "balanced, one like the other": trees_of(5322, "balanced", 3, 2, 2, 4, ALIKE),
    "balanced, no pauses": trees_of(5321, "balanced", 3, 2, 1, 4, pauses=False),
    "balanced, several queue pairs": trees_of(5222, "balanced", 2, 2, 2, 4, sets=2),
    "split, no rings": trees_of(5423, "split", 4, 2, 1, 4, rings=False),
    "split, 2 of 4, no rings": trees_of(404, "split", 2, 4, 1, 2, UP_FEW, rings=False),
    "balanced, no rings": trees_of(5343, "balanced", 3, 4, 4, 8, UP_FEW, rings=False),
    "balanced, of a part of the ranks": trees_of(5342, "balanced", 3, 2, 1, 4, first=2),
    "tree, before 2.20": trees_of(5221, "tree", 2, 2, 1, 2, families="C"),
}
HARD = {  # less may be told of them
    "split, 3 of 3": trees_of(1333, "split", 3, 3, 3, 6, UP_FEW),  # what is tied together has one rank of each host, and parts of channels
    "split, no ranks": trees_of(5323, "split", 3, 2, 2, 4, families="AB"),
}
APART = {
    "two jobs": lambda: two_jobs(6222, "balanced", 2, 2, UP_FEW),
    "two jobs of 3 hosts": lambda: two_jobs(6322, "split", 3, 2, UP_FEW),
    "two jobs in their own time": lambda: two_jobs(6422, "balanced", 4, 2, UP_FEW, run=hosts.in_own_time),
    "two jobs in turn": lambda: two_jobs(6323, "balanced", 3, 2, IN_TURN),
}
GROUPS = {  # of one rank of each host: to be told from a job that has all rails
    "data parallel, 3 of 2": lambda: data_parallel(7322, 3, 2, UP_FEW),
    "data parallel, 4 of 3": lambda: data_parallel(7433, 4, 3, UP_FEW),
    "data parallel in turn, 3 of 2": lambda: data_parallel(7323, 3, 2, IN_TURN),
}
ONE_EACH = {  # on a host
    "5 of 1": trees_of(8511, "tree", 5, 1, 1, 2),
    "4 of 1": trees_of(8411, "tree", 4, 1, 1, 4),
}
# hosts have one address on a rail that is in view, and there are more than two: who is above whom shows without set-ups
ONE_ADDRESS = ("tree, 5 of 2, 1 rail", "balanced, 3 of 4, 1 rail", "balanced, 8 of 2, 1 rail", "split, 8 of 4, 1 rail",
               "tree, 4 of 3", "tree, 5 of 4, 2 rails", "balanced, 3 of 8, 4 rails", "balanced, 3 of 2, rails by channels",
               "split, 4 of 4, 2 rails")


# --- what is none ---

def stages(hosts, each, first, last):
    """Of a model, on each host: forward from its last process to the first one of the next host, and back; of so many models at a time."""
    pairs, after = [], []
    for model in range(each):
        ranks = [[host * each + (model + process) % each for process in (first, last)] for host in hosts]
        there = [(here[1], following[0]) for here, following in itertools.pairwise(ranks)]
        own = there + [pair[::-1] for pair in reversed(there)]
        after += [(len(pairs) + place, (len(pairs) + place - 1,)) for place in range(1, len(own))]
        pairs += own
    return pairs, after


def gathered(count, each):
    """By the ranks of the first host, from those at their place in all others, then sent to them."""
    there = [(host * each + i, i) for i in range(each) for host in range(1, count)]
    back = [pair[::-1] for pair in there]
    after = [(len(there) + place, tuple(i for i, pair in enumerate(there) if pair[1] == one[0])) for place, one in enumerate(back)]
    return there + back, after


def neighbours(count, each):
    return both_ways((host * each + i, host * each + each + i) for i in range(each) for host in range(count - 1)), ()


def to_all(count, each):
    ranks = range(count * each)
    return [pair for pair in itertools.permutations(ranks, 2) if pair[0] // each != pair[1] // each], ()


def send(chance, *_):
    return Operation(SEND_RECV, chance.choice([4096, 20000, 140000]), SIMPLE, 2, None)


@functools.cache
def sent(seed, count, each, rails, pairs, after, protocol):
    cluster = made.Cluster(seed, count, rails)
    made.Senders(cluster, each, pairs, after, protocol)
    return together(cluster, [[send] * 4])


def sends(seed, count, each, rails, pairs_and_after, protocol=SEND):
    return functools.partial(sent, seed, count, each, rails, *map(tuple, pairs_and_after), protocol)


@functools.cache
def beside(seed, pattern, count, each, rails, script=UP_FEW):
    """Stages of a model on the hosts, which take turns with all-reduces of all ranks."""
    cluster = made.Cluster(seed, count, rails)
    channels = 2 * rails
    made.Group(cluster, by_host(count, each), made.ways(cluster.chance, each, rails, channels),
               trees=made.chains(pattern, each, rails, channels))
    made.Senders(cluster, each, *stages(range(count), each, 0, 1))
    return together(cluster, [[one for drawn in script for one in (drawn, None)], [None, send] * len(script)])


SENDS = {
    "stages, rank by rank": sends(9321, 3, 2, 2, stages(range(3), 2, 0, 0)),
    "stages, rank by rank, 1 rail": sends(9421, 4, 2, 1, stages(range(4), 2, 0, 0)),
    "stages, last to first, 1 rail": sends(9221, 2, 2, 1, stages(range(2), 1, 0, 0)),
    "stages, last to first": sends(9322, 3, 2, 2, stages(range(3), 2, 0, 1)),
    "stages along a tree, 2 rails": sends(9342, 3, 4, 2, stages((1, 2, 0), 4, 0, 1)),
    "stages along a tree, registered buffers": sends(9341, 3, 2, 1, stages((1, 2, 0), 2, 0, 1), REGISTERED),
    "gathered, 4 of 2": sends(9422, 4, 2, 2, gathered(4, 2)),
    "gathered, 3 of 2, 1 rail": sends(9323, 3, 2, 1, gathered(3, 2)),
    "neighbours, 4 of 2, 1 rail": sends(9423, 4, 2, 1, neighbours(4, 2)),
    "to all, 2 of 2": sends(9231, 2, 2, 2, to_all(2, 2)),
}
BESIDE = {
    "tree beside stages, 3 of 2, 1 rail": functools.partial(beside, 9521, "tree", 3, 2, 1),
    "balanced beside stages, 4 of 2": functools.partial(beside, 9522, "balanced", 4, 2, 2),
}
ALL = {**TIED, **ON_RAILS, **TURNS, **AROUND, **OTHERS, **HARD, **APART, **GROUPS, **ONE_EACH, **BESIDE}
