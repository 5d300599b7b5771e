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

TCP, IP_PROTOCOL, ADDRESSES = 6, 23, 26
LOST, CUT = 0.01, 128


# --- worlds ---

def even(collective, protocol, most):
    """All chunks are as long."""
    return lambda chance, ranks, channels: Operation(
        collective, 16 * ranks * channels * chance.randrange(1, most), protocol, channels)


def uneven(collective, protocol, least, most):
    """The last chunk of the last loop is shorter; channels need not have as much as each other."""
    def drawn(chance, ranks, channels):
        size = 16 * ranks * channels * chance.randrange(least, most)
        return Operation(collective, size - 4 * chance.randrange(1, 3 * channels), protocol, channels)

    return drawn


def tiny(protocol, most):
    """Less than a chunk for each rank, over the first channel alone: many messages are empty."""
    return lambda chance, ranks, _channels: Operation(ALL_REDUCE, 4 * chance.randrange(1, most), protocol, 1)


def on_fewer(drawn):
    """Channels: half of them."""
    return lambda chance, ranks, channels: drawn(chance, ranks, max(1, channels // 2))


def over_trees(drawn):
    return lambda chance, ranks, channels: drawn(chance, ranks, channels)._replace(algorithm=made.TREE)


SMALL = (even(ALL_REDUCE, SIMPLE, 150), uneven(ALL_REDUCE, LL, 2, 120), even(ALL_GATHER, SIMPLE, 9), uneven(ALL_REDUCE, SIMPLE, 2, 150),
         even(REDUCE_SCATTER, LL, 9), even(ALL_REDUCE, LL, 120), uneven(ALL_REDUCE, SIMPLE, 2, 60))
FEW = SMALL[3], SMALL[1], SMALL[2], SMALL[6]
LONG = (uneven(ALL_REDUCE, LL, 2049, 2500),      # a full loop, and a part of one
        uneven(ALL_REDUCE, SIMPLE, 2600, 3000),  # no slice is empty
        uneven(ALL_GATHER, LL, 1500, 2000))
FEWER = SMALL[0], on_fewer(SMALL[1]), SMALL[2], on_fewer(SMALL[3]), SMALL[5], on_fewer(SMALL[4])
TINY = SMALL[0], tiny(LL, 3), tiny(SIMPLE, 20), SMALL[1], tiny(LL, 40)
IN_TURN = SMALL[0], over_trees(SMALL[1]), SMALL[3], over_trees(SMALL[3]), SMALL[1], SMALL[2]
ALIKE = SMALL[6], SMALL[1], SMALL[6], SMALL[6], SMALL[1], SMALL[1]


def by_host(hosts, each, first=0, of=None):
    """Ranks from the first on, of as many on each host as `of` tells."""
    return [[host * (of or each) + first + i for i in range(each)] for host in range(hosts)]


def together(cluster, scripts, pauses=True):
    """Groups begin at about the same time; each has what its script says, nothing where that is None."""
    for drawn in zip(*scripts):
        if pauses:
            cluster.pause()
        for group, one in zip(cluster.groups, drawn):
            if one is not None:
                group.run(one(cluster.chance, len(group.ranks), len(group.circles)), cluster.began)
    cluster.finish()
    return cluster


def in_own_time(cluster, scripts):
    for group, script in zip(cluster.groups, scripts):
        begin = cluster.began + cluster.chance.uniform(0, 300000)
        for one in script:
            group.run(one(cluster.chance, len(group.ranks), len(group.circles)), begin)
            begin = max(group.free.values()) + cluster.chance.uniform(50000, 300000)
    cluster.finish()
    return cluster


@functools.cache
def one_job(seed, hosts, each, rails, channels, crossing=False, script=SMALL, pauses=True, trees=None, **how):
    cluster = made.Cluster(seed, hosts, rails, **how)
    of_trees = made.chains(trees, each, rails, channels) if trees else ()
    made.Group(cluster, by_host(hosts, each), made.ways(cluster.chance, each, rails, channels, crossing), trees=of_trees)
    return together(cluster, [script], pauses)


def all_alike(chance, script, ranks, channels):
    return [lambda *_, what=one(chance, ranks, channels): what for one in script]


def add_data_parallel(cluster, channels):
    """A communicator for each rail, of one rank of each host."""
    hosts, rails = len(cluster.ports), len(cluster.ports[0])
    for rail in range(rails):
        made.Group(cluster, by_host(hosts, 1, rail, rails), [made.Way(0, 0, rail, rail)] * channels)
    return rails


@functools.cache
def data_parallel(seed, hosts, each, channels=1, script=SMALL):
    """All do the same."""
    cluster = made.Cluster(seed, hosts, each)
    groups = add_data_parallel(cluster, channels)
    return together(cluster, [all_alike(cluster.chance, script, hosts, channels)] * groups)


@functools.cache
def all_and_parts(seed, hosts, each):
    """A communicator of all ranks, and one for each rail, which take turns."""
    cluster = made.Cluster(seed, hosts, each)
    made.Group(cluster, by_host(hosts, each), made.ways(cluster.chance, each, each, each))
    groups = add_data_parallel(cluster, 1)
    of_all, of_parts = SMALL[:4], all_alike(cluster.chance, SMALL[3:], hosts, 1)
    return together(cluster, [[one for pair in zip(of_all, [None] * 4) for one in pair]]
                    + [[one for pair in zip([None] * 4, of_parts) for one in pair]] * groups)


@functools.cache
def side_by_side(seed, hosts, each, groups, one_numbering, script=SMALL, run=together):
    """Communicators of so many ranks of each host, each on its own rails: of one job, whose ranks they are, or jobs that count anew."""
    cluster = made.Cluster(seed, hosts, groups * each)
    for i in range(groups):
        members = by_host(hosts, each, i * each, groups * each) if one_numbering else by_host(hosts, each)
        through = [way._replace(arrives=way.arrives + i * each, departs=way.departs + i * each)
                   for way in made.ways(cluster.chance, each, each, each)]
        made.Group(cluster, members, through, 0 if one_numbering else i)
    return run(cluster, [script] * groups)


@functools.cache
def pairs_on_rails(seed, hosts, pairs, turning):
    """A communicator for each rail, of the two ranks of each host that have it; all do the same. Both ranks send, or one."""
    cluster = made.Cluster(seed, hosts, pairs)
    for rail in range(pairs):
        through = made.Way(0, 1, rail, rail), made.Way(turning, 1 - turning, rail, rail)
        made.Group(cluster, by_host(hosts, 2, 2 * rail, 2 * pairs), through)
    return together(cluster, [all_alike(cluster.chance, SMALL, 2 * hosts, 2)] * pairs)


# (seed, hosts, ranks of each, rails, channels)
ON_OWN_RAILS = {
    "2 of 2": lambda: one_job(221, 2, 2, 2, 2),
    "3 of 2": lambda: one_job(321, 3, 2, 2, 4, script=FEW),
    "2 of 4": lambda: one_job(241, 2, 4, 4, 4),
    "4 of 3": lambda: one_job(431, 4, 3, 3, 3, script=FEW),
    "2 of 8": lambda: one_job(281, 2, 8, 8, 8, script=FEW[:3]),
    "long": lambda: one_job(222, 2, 2, 2, 2, script=LONG),
    "all bytes": lambda: one_job(223, 2, 2, 2, 2, script=FEW, slice_bytes=1 << 16),
    "one like the other": lambda: one_job(224, 2, 2, 2, 4, script=ALIKE),
    "several queue pairs": lambda: one_job(322, 3, 2, 2, 2, script=FEW, sets=2),
    "before 2.20": lambda: one_job(226, 2, 2, 2, 2, families="C"),
}
SHARED_RAILS = {
    "2 of 4, 2 rails": lambda: one_job(242, 2, 4, 2, 4, script=FEW),
    "3 of 4, 2 rails": lambda: one_job(342, 3, 4, 2, 2, script=FEW),
    "2 of 2, 1 rail": lambda: one_job(212, 2, 2, 1, 2),
    "3 of 4, 1 rail": lambda: one_job(341, 3, 4, 1, 4, script=FEW[:3]),
    "2 of 2, 1 rail, channels twice": lambda: one_job(214, 2, 2, 1, 4),
}
CROSSING = {
    "2 of 2 crossing": lambda: one_job(225, 2, 2, 2, 2, True),
    "3 of 3 crossing": lambda: one_job(335, 3, 3, 3, 3, True, script=FEW),
    "2 of 3 crossing": lambda: one_job(111, 2, 3, 3, 3, True, script=FEW),
    "2 of 4, 2 rails, crossing": lambda: one_job(245, 2, 4, 2, 4, True, script=FEW),
}
APART = {
    "data parallel, 3 of 2": lambda: data_parallel(32, 3, 2),
    "data parallel, 4 of 3": lambda: data_parallel(43, 4, 3, 2, FEW),
    "two jobs": lambda: side_by_side(61, 2, 2, 2, False),
    "two jobs of 3 hosts": lambda: side_by_side(62, 3, 2, 2, False, FEW),
    "two jobs alike": lambda: side_by_side(53, 2, 2, 2, False, ALIKE),
    "two jobs in their own time": lambda: side_by_side(64, 2, 2, 2, False, run=in_own_time),
    "pairs on rails": lambda: pairs_on_rails(71, 2, 2, True),
    "pairs of one job": lambda: side_by_side(63, 2, 2, 4, True, FEW),
}
ONE_EACH = {  # on a host
    "5 of 1": lambda: one_job(511, 5, 1, 1, 2),
    "3 of 1, long": lambda: one_job(311, 3, 1, 1, 1, script=LONG),
}
IN_OTHER_WAYS = {
    "on fewer channels": lambda: one_job(227, 2, 2, 2, 4, script=FEWER),
    "on one rail": lambda: one_job(230, 3, 2, 2, 2, script=FEWER),
    "on fewer channels, 3 of 1": lambda: one_job(312, 3, 1, 1, 2, script=FEWER),
    "tiny": lambda: one_job(228, 2, 2, 2, 2, script=TINY),
    "tiny, 3 of 1": lambda: one_job(314, 3, 1, 1, 2, script=TINY),
    "no pauses": lambda: one_job(323, 3, 2, 2, 2, script=FEW, pauses=False),
    "no pauses, 3 of 1": lambda: one_job(313, 3, 1, 1, 2, pauses=False),
}
PLAIN = {**ON_OWN_RAILS, **SHARED_RAILS, **CROSSING, **APART, **ONE_EACH, **IN_OTHER_WAYS}
HARD = {  # less may be told of them
    "4 of 2 crossing": lambda: one_job(116, 4, 2, 2, 2, True, script=FEW),  # each port is tied to one of each other host
    "no ranks": lambda: one_job(229, 2, 2, 2, 2, families="AB"),
    "trees that nothing goes over": lambda: one_job(324, 3, 2, 2, 2, script=FEW, trees="tree"),
    "trees in turn": lambda: one_job(421, 4, 2, 2, 2, script=IN_TURN, trees="tree"),
    "pairs on rails of which one sends": lambda: pairs_on_rails(72, 2, 2, False),
    "all and parts": lambda: all_and_parts(91, 2, 2),
    "all and parts, 3 of 3": lambda: all_and_parts(92, 3, 3),
}
ALL = {**PLAIN, **HARD}
# (world, view): ports that follow each other are taken for a ring, since no operation that is whole tells otherwise (docs/nccl.md)
UNDECIDED = {("4 of 2 crossing", "cut, lossy, middle")}


# --- what is seen of them ---

def is_set_up(frame):
    return frame.bytes[IP_PROTOCOL] == TCP


def no_set_up(cluster):
    return [frame for frame in cluster.frames if not is_set_up(frame)]


def at_ports(cluster, ports):
    return [frame for frame in cluster.frames if {frame.bytes[at:at + 4] for at in (ADDRESSES, ADDRESSES + 4)} & set(ports)]


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
    "one rail": lambda cluster: at_ports(cluster, [host[0] for host in cluster.ports]),
    "one port": lambda cluster: at_ports(cluster, cluster.ports[0][:1]),
    "middle": middle,
    "lossy": lambda cluster: lossy(cluster.frames),
    "cut": lambda cluster: cut(cluster.frames),
    "cut, lossy, middle": lambda cluster: cut(lossy(middle(cluster))),
}
MORE_VIEWS = {
    "one rail and set-ups": lambda cluster: [
        frame for frame in cluster.frames if is_set_up(frame) or rail_of(frame) == cluster.ports[0][0][1]],
    "ended early": lambda cluster: cluster.frames[:-len(middle(cluster))],
}


def rail_of(frame):
    return frame.bytes[ADDRESSES + 1]


@functools.cache
def told(make, view):
    """Of a world, by what makes it."""
    cluster = make()
    return Told(cluster, {**VIEWS, **MORE_VIEWS}[view](cluster))


def ends(row, side):
    return [(row[side]["addresses"][0], qpn) for qpn in row[side]["qpns"]]


def address(end):
    return ".".join(map(str, end[0]))


def pairs_of(link):
    """Also with one end alone: the other's queue pair is not known before it was met."""
    sender, receiver = address(link.sender), address(link.receiver)
    return [pair for a, b in zip(link.sender_qpns, link.receiver_qpns)
            for pair in ((sender, a, receiver, b), (sender, a, receiver, None), (sender, None, receiver, b))]


def link_of(row, links):
    """Of several queue pairs the order is not told without a set-up."""
    link, = {links[(*sender, *receiver)] for sender, receiver in zip(ends(row, "sender"), ends(row, "receiver"))}
    return link


@functools.cache
def bytes_written(cluster):
    """By the RETHs of data: {(connection, k): bytes}"""
    written = collections.Counter()
    for frame in cluster.frames:
        if frame.role == "data" and frame.bytes[BTH] in (WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM):
            written[frame.connection, frame.k] += int.from_bytes(frame.bytes[BTH + 24:BTH + 28], "big")
    return written


def frames_of_messages(frames):
    return collections.Counter((frame.connection, frame.k) for frame in frames)


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


@functools.cache
def all_frames_of_messages(cluster):
    return frames_of_messages(cluster.frames)


class Told:
    """Of a capture, in terms of the cluster: connections by their numbers there, communicators by their groups."""

    def __init__(self, cluster, frames):
        self.cluster, self.frames, self.at = cluster, frames, passed(frames)
        self.asked_and_sent, self.made = frames_of_messages(frames), all_frames_of_messages(cluster)
        self.document = self.run("nccl", "--json").json()
        links = {pair: link for link in cluster.connections for pair in pairs_of(link)}
        self.links = {row["connection"]: link_of(row, links) for row in self.document["connections"]}
        self.circles = {link.number: circle for group in cluster.groups for circle in group.circles for link in circle.all_links()}
        self.group_of = {link.number: group for group in cluster.groups for link in group.links}

    def run(self, verb, *how, tenants=None):
        """`tenants`: a map, valid from 2000 on; captures are from 1970."""
        with tempfile.TemporaryDirectory() as folder:
            if tenants is not None:
                how = *how, "-m", Path(folder) / "map.json"
                how[-1].write_text(json.dumps(tenants).replace("2000-", "1970-"))
            return fabtap(verb, *how, nccl_made.write(Path(folder) / "hosts.pcap", self.frames))

    def numbers(self, connections):
        return [self.links[i].number for i in connections]

    def groups(self, communicator):
        """All that have connections in it, in the order of these."""
        return list(dict.fromkeys(self.group_of[number] for number in self.numbers(communicator["connections"])))

    def operations(self, group, among=None):
        """(what, its first and last frame of data in view); of some connections, by their numbers."""
        for what, messages in group.done:
            numbers = [number for message in messages if among is None or message[0] in among for number in self.at.get(message, ())]
            if numbers:
                yield what, min(numbers), max(numbers)

    def is_of(self, row, group):
        return group in self.groups(self.document["communicators"][row["communicator"]])

    def has_all(self, group, what):
        """All frames of an operation are in view: clear-to-sends and data."""
        messages, = (messages for done, messages in group.done if done is what)
        return all(self.asked_and_sent[message] == self.made[message] for message in messages)
