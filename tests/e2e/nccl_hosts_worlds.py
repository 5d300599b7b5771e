"""Worlds of NCCL jobs with several ranks on a host, and jobs beside each other; what may be in view of them; and what is told of that,
in terms of the world."""

import collections
import functools
import json
import random
import tempfile
from pathlib import Path

import nccl_hosts_made as made
import nccl_made
from harness import fabtap
from nccl import BTH, WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM
from nccl_hosts_made import ALL_GATHER, ALL_REDUCE, LL, REDUCE_SCATTER, SIMPLE, Operation
from roce import EVERYBODY

TCP, IP_PROTOCOL, ADDRESSES = 6, 23, 26
LOST, CUT = 0.01, 128


# --- worlds ---

def even(collective, protocol, most):
    """All chunks are as long."""
    return lambda chance, ranks, channels: Operation(collective, 16 * ranks * channels * chance.randrange(1, most), protocol)


def uneven(collective, protocol, least, most):
    """The last chunk of the last loop is shorter; channels need not have as much as each other."""
    def drawn(chance, ranks, channels):
        size = 16 * ranks * channels * chance.randrange(least, most)
        return Operation(collective, size - 4 * chance.randrange(1, 3 * channels), protocol)

    return drawn


SMALL = (even(ALL_REDUCE, SIMPLE, 150), uneven(ALL_REDUCE, LL, 2, 120), even(ALL_GATHER, SIMPLE, 9), uneven(ALL_REDUCE, SIMPLE, 2, 150),
         even(REDUCE_SCATTER, LL, 9), even(ALL_REDUCE, LL, 120), uneven(ALL_REDUCE, SIMPLE, 2, 60))
FEW = SMALL[3], SMALL[1], SMALL[2]
LONG = (uneven(ALL_REDUCE, LL, 2049, 2500),      # a full loop, and a part of one
        uneven(ALL_REDUCE, SIMPLE, 2600, 3000),  # no slice is empty
        uneven(ALL_GATHER, LL, 1500, 2000))


def by_host(hosts, each, first=0, of=None):
    """Ranks from the first on, of as many on each host as `of` tells."""
    return [[host * (of or each) + first + i for i in range(each)] for host in range(hosts)]


def together(cluster, scripts):
    """All groups begin at about the same time; each has what its script says."""
    for drawn in zip(*scripts):
        cluster.pause()
        for group, one in zip(cluster.groups, drawn):
            group.run(one(cluster.chance, len(group.ranks), len(group.circles)), cluster.began)
    cluster.finish()
    return cluster


@functools.cache
def one_job(seed, hosts, each, rails, channels, crossing=False, script=SMALL, **how):
    cluster = made.Cluster(seed, hosts, rails, **how)
    made.Group(cluster, by_host(hosts, each), made.ways(cluster.chance, each, rails, channels, crossing))
    return together(cluster, [script])


@functools.cache
def data_parallel(seed, hosts, each, channels=1):
    """A communicator for each rail, of one rank of each host; all do the same."""
    cluster = made.Cluster(seed, hosts, each)
    for rail in range(each):
        made.Group(cluster, by_host(hosts, 1, rail, each), [made.Way(0, 0, rail, rail)] * channels)
    what = [one(cluster.chance, hosts, channels) for one in SMALL]
    return together(cluster, [[lambda *_, same=same: same for same in what]] * each)


@functools.cache
def side_by_side(seed, hosts, each, groups, one_numbering):
    """Communicators of so many ranks of each host, each on its own rails: of one job, whose ranks they are, or jobs that count anew."""
    cluster = made.Cluster(seed, hosts, groups * each)
    for i in range(groups):
        members = by_host(hosts, each, i * each, groups * each) if one_numbering else by_host(hosts, each)
        through = [way._replace(arrives=way.arrives + i * each, departs=way.departs + i * each)
                   for way in made.ways(cluster.chance, each, each, each)]
        made.Group(cluster, members, through)
    return together(cluster, [SMALL] * groups)


# (seed, hosts, ranks of each, rails, channels)
ON_OWN_RAILS = {
    "2 of 2": lambda: one_job(221, 2, 2, 2, 2),
    "3 of 2": lambda: one_job(321, 3, 2, 2, 4),
    "2 of 4": lambda: one_job(241, 2, 4, 4, 4),
    "4 of 3": lambda: one_job(431, 4, 3, 3, 3),
    "2 of 8": lambda: one_job(281, 2, 8, 8, 8, script=FEW),
    "long": lambda: one_job(222, 2, 2, 2, 2, script=LONG),
    "all bytes": lambda: one_job(223, 2, 2, 2, 2, script=FEW, slice_bytes=1 << 16),
}
SHARED_RAILS = {
    "2 of 4, 2 rails": lambda: one_job(242, 2, 4, 2, 4),
    "3 of 4, 2 rails": lambda: one_job(342, 3, 4, 2, 2, script=FEW),
    "2 of 2, 1 rail": lambda: one_job(212, 2, 2, 1, 2),
    "3 of 4, 1 rail": lambda: one_job(341, 3, 4, 1, 4, script=FEW),
    "2 of 2, 1 rail, channels twice": lambda: one_job(214, 2, 2, 1, 4),
}
CROSSING = {
    "2 of 2 crossing": lambda: one_job(225, 2, 2, 2, 2, True),
    "3 of 4 crossing": lambda: one_job(345, 3, 4, 4, 4, True, script=FEW),
    "2 of 4, 2 rails, crossing": lambda: one_job(245, 2, 4, 2, 4, True),
}
APART = {
    "data parallel, 3 of 2": lambda: data_parallel(32, 3, 2),
    "data parallel, 4 of 4": lambda: data_parallel(44, 4, 4, 2),
    "two jobs": lambda: side_by_side(61, 2, 2, 2, False),
    "two jobs of 3 hosts": lambda: side_by_side(62, 3, 2, 2, False),
    "pairs of one job": lambda: side_by_side(63, 2, 2, 4, True),
}
ONE_EACH = {  # on a host
    "5 of 1": lambda: one_job(511, 5, 1, 1, 2),
    "3 of 1, long": lambda: one_job(311, 3, 1, 1, 1, script=LONG),
}
ALL = {**ON_OWN_RAILS, **SHARED_RAILS, **CROSSING, **APART, **ONE_EACH}


# --- what is seen of them ---

def is_set_up(frame):
    return frame.bytes[IP_PROTOCOL] == TCP


def no_set_up(cluster):
    return [frame for frame in cluster.frames if not is_set_up(frame)]


def one_rail(cluster):
    ports = {host[0] for host in cluster.ports}
    return [frame for frame in cluster.frames if {frame.bytes[at:at + 4] for at in (ADDRESSES, ADDRESSES + 4)} <= ports]


def middle(cluster):
    """From within the second operation on."""
    mine = [i for i, frame in enumerate(cluster.frames) if (frame.connection, frame.k) in cluster.groups[0].done[1][1]]
    return cluster.frames[mine[len(mine) // 2]:]


def lossy(frames):
    chance = random.Random(len(frames))
    return [frame for frame in frames if chance.random() >= LOST]


def cut(frames):
    return [frame._replace(bytes=frame.bytes[:CUT]) for frame in frames]


VIEWS = {
    "whole": lambda cluster: cluster.frames,
    "no set-up": no_set_up,
    "one rail": one_rail,
    "middle": middle,
    "lossy": lambda cluster: lossy(cluster.frames),
    "lossy, no set-up": lambda cluster: lossy(no_set_up(cluster)),
    "cut": lambda cluster: cut(cluster.frames),
    "cut, lossy, middle": lambda cluster: cut(lossy(middle(cluster))),
}


@functools.cache
def told(name, view):
    cluster = ALL[name]()
    return Told(cluster, VIEWS[view](cluster))


def text(address):
    return ".".join(map(str, address))


@functools.cache
def bytes_written(cluster):
    """By the RETHs of data: {(connection, k): bytes}"""
    written = collections.Counter()
    for frame in cluster.frames:
        if frame.role == "data" and frame.bytes[BTH] in (WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM):
            written[frame.connection, frame.k] += int.from_bytes(frame.bytes[BTH + 24:BTH + 28], "big")
    return written


def passed(frames):
    """{(connection, k): numbers of the frames of its data}"""
    numbers = {}
    for number, frame in enumerate(frames, 1):
        if frame.role == "data":
            numbers.setdefault((frame.connection, frame.k), []).append(number)
    return numbers


@functools.cache
def data_of(cluster):
    return passed(cluster.frames)


class Told:
    """Of a capture, in terms of the cluster: connections by their numbers there, communicators by their groups."""

    def __init__(self, cluster, frames):
        self.frames = frames
        with tempfile.TemporaryDirectory() as folder:
            capture = nccl_made.write(Path(folder) / "hosts.pcap", frames)
            self.document = fabtap("nccl", "--json", capture).json()
            self.inspector = fabtap("nccl", "-o", "inspector", capture).lines()
            (Path(folder) / "map.json").write_text(json.dumps(EVERYBODY).replace("2000-", "1970-"))
            self.audit = fabtap("audit", "-m", Path(folder) / "map.json", "--json", capture)
        known = {(text(link.sender[0]), *link.sender_qpns, text(link.receiver[0]), *link.receiver_qpns): link
                 for link in cluster.connections}
        self.links = {row["connection"]: known[tuple(each for side in ("sender", "receiver") for member in ("addresses", "qpns")
                                                     for each in row[side][member])] for row in self.document["connections"]}
        self.circles = {link.number: circle for group in cluster.groups for circle in group.circles for link in circle.links}
        self.groups = {link.number: group for group in cluster.groups for link in group.links}
        self.at = passed(frames)

    def numbers(self, connections):
        return [self.links[i].number for i in connections]

    def group(self, communicator):
        """None: its connections are not all of one."""
        groups = {self.groups[number] for number in self.numbers(self.document["communicators"][communicator]["connections"])}
        return groups.pop() if len(groups) == 1 else None

    def operations(self, group):
        """(what, its first and last frame of data in view)"""
        for what, messages in group.done:
            numbers = [number for message in messages for number in self.at.get(message, ())]
            if numbers:
                yield what, min(numbers), max(numbers)
