"""Worlds of NCCL jobs of which all is drawn by a seed: hosts, ranks, rails, channels, how trees lead through hosts, and what is done."""

import functools
import random

import nccl_host_trees_worlds as trees
import nccl_hosts_worlds as hosts
from nccl_hosts_made import ALL_GATHER, ALL_REDUCE, LL, REDUCE_SCATTER, SIMPLE
from nccl_hosts_worlds import MORE_VIEWS, VIEWS, is_set_up, lossy, middle, no_set_up

AROUND = (hosts.even(ALL_REDUCE, SIMPLE, 150), hosts.uneven(ALL_REDUCE, LL, 2, 120), hosts.even(ALL_GATHER, SIMPLE, 9),
          hosts.uneven(ALL_REDUCE, SIMPLE, 2, 150), hosts.even(REDUCE_SCATTER, LL, 9), hosts.even(ALL_REDUCE, LL, 120),
          hosts.uneven(ALL_REDUCE, SIMPLE, 2, 60), hosts.tiny(LL, 40), hosts.tiny(SIMPLE, 20))
FEWER = hosts.on_fewer(hosts.uneven(ALL_REDUCE, SIMPLE, 2, 150)), hosts.on_fewer(hosts.even(ALL_GATHER, LL, 9))
UP = (*trees.UP, *trees.UP, *trees.UP_LONG[1:], trees.tiny(LL, 4), trees.tiny(SIMPLE, 9000), hosts.on_fewer(trees.UP[1]),
      hosts.on_fewer(trees.UP[2]))
VIEWS_OF_DRAWN = {
    **VIEWS, **MORE_VIEWS,
    "lossy, no set-up": lambda cluster: lossy(no_set_up(cluster)),
    "late": lambda cluster: cluster.frames[2 * len(cluster.frames) // 3:],
    "set-ups, middle": lambda cluster: [frame for frame in cluster.frames if is_set_up(frame)] + middle(cluster),
}
SMALL = "-small"


def script(chance, makers, few):
    return tuple(chance.choice(makers) for _ in range(chance.randint(2, 3) if few else chance.randint(4, 8)))


def drawn(kind, seed):
    """Over rings, trees, both in turn ("mixed"), or of jobs and groups that are apart. "-small": six ranks at most."""
    return functools.partial(world, kind, seed)


@functools.cache
def world(kind, seed):
    chance = random.Random("%s %d" % (kind, seed))
    of, is_small = kind.removesuffix(SMALL), kind.endswith(SMALL)
    count, each, rails = size(chance, 6 if is_small else 24)
    channels, few = chance.choice([1, 2, 2, 4, 4]), chance.random() < 0.5
    pattern = chance.choice(["tree", "balanced", "split"])
    how = {"by_channel": chance.random() < 0.2, "pauses": chance.random() < 0.85}
    if chance.random() < 0.15:
        how["sets"] = 2
    if of == "apart":
        return apart(chance, seed, pattern, min(count, 4), min(each, 4), few)
    if of == "ring":
        del how["by_channel"]
        done = script(chance, AROUND + FEWER + (hosts.LONG[:1] if count * each <= 8 else ()), few)
        return hosts.one_job(seed, count, each, rails, channels, False, done, trees=pattern if chance.random() < 0.3 else None, **how)
    if of == "tree":
        return trees.a_job(seed, pattern, count, each, rails, channels, script(chance, UP, few), rings=chance.random() < 0.7, **how)
    return trees.a_job(seed, pattern, count, each, rails, channels, script(chance, UP + AROUND, few), **how)


def size(chance, most):
    """Hosts, ranks of each, rails, which have as many of these each."""
    while True:
        count, each, rails = chance.randint(2, 6), chance.randint(1, 8), chance.choice([1, 1, 2, 2, 3, 4])
        if each % rails == 0 and count * each <= most:
            return count, each, rails


def apart(chance, seed, pattern, count, each, few):
    which = chance.choice(["two", "data parallel", "side by side", "pairs"])
    mixed, around = script(chance, UP + AROUND, few), script(chance, AROUND, few)
    if which == "two":
        return trees.two_jobs(seed, pattern, count, each, mixed, run=chance.choice([hosts.together, hosts.in_own_time]))
    if which == "data parallel":
        return trees.data_parallel(seed, count, max(2, each), mixed, chance.choice([1, 2]))
    if which == "side by side":
        return hosts.side_by_side(seed, count, each, 2, chance.random() < 0.5, around,
                                  run=chance.choice([hosts.together, hosts.in_own_time]))
    return hosts.pairs_on_rails(seed, count, 2, chance.random() < 0.5)
