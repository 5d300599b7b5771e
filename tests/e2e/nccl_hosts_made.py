"""NCCL's rings of hosts that have several ranks each, by its wire format: a channel leads through all ranks of a host, which is not
on the wire, and from the last of them to the first of the next host. A rank sends on what it has been sent, no sooner."""

import collections
import functools
from typing import NamedTuple

from nccl_trees_made import LL, LL_DATA, OFFERED, RING, SEND, SIMPLE, Job, Link, Sends, Trees, parent_in, pieces, place_in, shares, slices
from nccl_trees_made import Channel as Tree

MOST = {SIMPLE: 2 << 20, LL: LL_DATA}  # bytes of a chunk (section 7.2)
TREE = "TREE"
ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, SEND_RECV = "AllReduce", "AllGather", "ReduceScatter", "SendRecv"


class Operation(NamedTuple):
    collective: str
    size: int      # bytes that each rank gives NCCL; of a reduce-scatter, that it gets; of sends those of each
    protocol: str
    channels: int  # the first ones of the communicator
    algorithm: str = "RING"
    step: int = OFFERED[SIMPLE]  # bytes of a message of SIMPLE over a tree, at most


class Way(NamedTuple):
    """Of a channel through each host."""
    entry: int    # the process that receives from the host before, by its place among those of the host ..
    exit: int     # .. and the one that sends to the next host; the same if there is one only
    arrives: int  # rail of the one ..
    departs: int  # .. and of the other


def ways(chance, each, rails, channels, crossing=False):
    """Of so many processes of a host; each rail has as many of them. A channel leaves on the next rail if `crossing`."""
    share, shift = each // rails, chance.randrange(1, each) if each > 1 else 0
    for channel in range(channels):
        arrives, turn = channel % rails, channel // rails
        departs = (arrives + crossing) % rails
        entry, last = arrives * share + turn % share, departs * share + (turn + 1) % share
        yield Way(entry, (entry + shift) % each if share == 1 and not crossing else last, arrives, departs)


class Chain(NamedTuple):
    """Of the processes of each host on a channel of a tree: who has which neighbour, as (process, by its place in its host; its rail)."""
    parent: tuple
    lower: tuple  # the child that stands before the host in tree 0 ..
    upper: tuple  # .. and the one behind it; that of the root is one


def chains(pattern, each, rails, channels, by_channel=False):
    """NCCL's patterns of a first and a second process of a host; both trees have the same. `by_channel`: both use the first one's rail."""
    share, half = each // rails, max(1, channels // 2)
    for channel in range(channels):
        rail, turn = channel % half % rails, channel % half // rails
        first = rail * share + turn % share
        second = (first + 1) % each if share == 1 else rail * share + (turn + 1) % share
        first, second = (first, rail), (second, rail if by_channel else second // share)
        yield {"tree": Chain(first, first, first), "balanced": Chain(first, first, second), "split": Chain(first, second, second)}[pattern]


class Circle:
    """A channel. `ranks` in the order of the ring; `links` from each host to the next one."""

    def __init__(self, group, way, is_made=True):
        self.cluster, self.ranks, self.links, self.exits = group.cluster, [], [], {}
        for host, members in enumerate(group.members):
            between = [rank for i, rank in enumerate(members) if i not in (way.entry, way.exit)]
            self.cluster.chance.shuffle(between)
            self.ranks += [members[way.entry], *between] + [members[way.exit]] * (way.entry != way.exit)
            there = (host + 1) % len(group.members)
            if is_made:
                self.links.append(self.cluster.wire(
                    (host, way.departs), (there, way.arrives), group.job, (members[way.exit], group.members[there][way.entry])))
                self.exits[len(self.ranks) - 1] = self.links[-1]
        self.first = self.ranks.index(group.members[0][0])  # chunks are counted from there
        self.busy, self.tree = [], None

    def run(self, what, share, begins):
        """One operation; when each rank has done its part. What it adds up (all-reduce) goes round twice."""
        ranks, most = len(self.ranks), MOST[what.protocol]
        self.busy = [begins[rank] for rank in self.ranks]
        for link in self.links:
            link.asked = max([link.asked, begins[link.receiving]] + link.done[-1:])
            link.step += -link.step % 4 if what.protocol == SIMPLE else 0  # section 6.4
        ready = [[begin] * 2 for begin in self.busy]
        while share > 0:
            if what.collective == ALL_REDUCE:
                chunk = min(most, 16 * -(-share // (16 * ranks)))
                chunks = [min(chunk, max(0, share - chunk * i)) for i in range(ranks)]
                ready = self.loop(chunks, 2 * (ranks - 1), ready, what.protocol)
                share -= sum(chunks)
            else:
                chunk = min(most, share)
                ready = self.loop([chunk] * ranks, ranks - 1, ready, what.protocol)
                share -= chunk
        return [max(*came, busy) for came, busy in zip(ready, self.busy)]

    def all_links(self):
        of_tree = [*self.tree.up.values(), *self.tree.down.values()] if self.tree is not None else []
        return list(dict.fromkeys(self.links + of_tree))

    def loop(self, chunks, steps, ready, protocol):
        """Each rank sends so many of the chunks, in turn; ready: of each place, of each slice, when it has what it sends."""
        for step in range(steps):
            came = []
            for place, times in enumerate(ready):
                data = chunks[(place - self.first - 1 - step) % len(chunks)]
                parts = slices(data) if protocol == SIMPLE else [data]
                came.append([self.hop(place, part, when, protocol) for part, when in zip(parts, times)])
            ready = came[-1:] + came[:-1]
        return ready

    def hop(self, place, data, ready, protocol):
        """When it has come to the next place."""
        link = self.exits.get(place)
        if link is None:
            self.busy[place] = max(self.busy[place], ready) + self.cluster.chance.uniform(2000, 10000)
        elif protocol == SIMPLE:
            self.busy[place] = self.cluster.message(link, data, RING, ready, ahead=4)
        else:
            self.busy[place] = self.cluster.message(link, 16 * -(-data // 8), LL, ready)
        return self.busy[place]


class Group:
    """A communicator. `members`: of each host its ranks, which are numbers in the job. `trees`: chains, if there are trees, beside rings or
    without these, where they are not made until something goes over them."""

    def __init__(self, cluster, members, through, job=0, trees=(), rings=True):
        self.cluster, self.members, self.job, through = cluster, members, job, list(through)
        self.circles = [Circle(self, way, rings) for way in through]
        for i, (circle, chain) in enumerate(zip(self.circles, trees)):
            tree = 2 * i // len(through)
            circle.tree = Tree(cluster, tree, functools.partial(self.connect, circle, tree, chain))
        self.links = [link for circle in self.circles for link in circle.all_links()]
        self.ranks = sorted(rank for host in members for rank in host)
        self.free = {rank: cluster.ready[job, rank] for rank in self.ranks}
        self.done = []  # operations: (what, {(connection, k), ..})
        cluster.groups.append(self)

    def connect(self, circle, tree, chain, sender, receiver):
        """Of a tree (section 7.3): the ring's, where that has one between these processes (section 0)."""
        hosts = len(self.members)
        child, parent = (sender, receiver) if parent_in(tree, hosts, sender) == receiver else (receiver, sender)
        is_lower = place_in(tree, hosts, child) < place_in(tree, hosts, parent)
        at = {child: chain.parent, parent: chain.lower if is_lower else chain.upper}
        ranks, ends = zip(*((self.members[host][at[host][0]], (host, at[host][1])) for host in (sender, receiver)))
        known = [link for link in circle.links if (link.rank, link.receiving) == ranks]
        return known[0] if known else self.cluster.wire(*ends, self.job, ranks)

    def run(self, what, begin=0):
        """One operation: each rank begins at about the time told, but not before it has done what came before."""
        chance, before = self.cluster.chance, [len(link.done) for link in self.links]
        begins = {rank: max(begin + chance.uniform(0, 50000), free + chance.uniform(3000, 20000)) for rank, free in self.free.items()}
        self.free = dict(begins)
        for circle, share in zip(self.circles, shares(what.size, what.channels)):
            ends = self.climb(circle, what, share, begins) if what.algorithm == TREE else circle.run(what, share, begins)
            for rank, end in zip(circle.ranks, ends):
                self.free[rank] = max(self.free[rank], end)
        self.done.append((what, {(link.number, k) for link, count in zip(self.links, before) for k in range(count, len(link.done))}))

    def climb(self, circle, what, share, begins):
        """Over a tree: sums of each host go up, results come down; what happens within hosts takes its time."""
        within = functools.partial(self.cluster.chance.uniform, 2000, 50000)
        ready = [max(begins[rank] for rank in members) + within() for members in self.members]
        for link in [*circle.tree.up.values(), *circle.tree.down.values()]:
            link.asked = max([link.asked, begins[link.receiving]] + link.done[-1:])
        for data in pieces(share, what.step if what.protocol == SIMPLE else LL_DATA):
            length = data if what.protocol == SIMPLE else 16 * -(-data // 8)
            Trees.chunk(self.cluster, circle.tree, length, what.protocol, ready, within)
        return [self.end(circle.tree, host) for host, members in enumerate(self.members) for _ in members]

    def end(self, tree, host):
        """When all has come to a host and gone from it."""
        own = [link for child in tree.up if host in (child, tree.parent[child]) for link in (tree.up[child], tree.down[child])]
        return max(link.free for link in own) + 10000


class Cluster(Job):
    """Hosts that have a network of their own for set-ups, beside as many rails as told."""

    def __init__(self, seed, hosts, rails, slice_bytes=192, **how):
        super().__init__(seed, hosts, **how)
        self.slice_bytes, self.groups = slice_bytes, []
        self.ready = collections.defaultdict(lambda began=self.began: began)  # when a process has set up what it has
        numbers = [address[3] for address, in self.hosts]
        self.ports = [[bytes((10, 2 + rail, 0, number)) for rail in range(rails)] for number in numbers]

    def wire(self, sender, receiver, job, ranks):
        """From a (host, rail) to another; processes set up what they have one after the other, all of them at once."""
        ports = ([self.ports[host][rail]] for host, rail in (sender, receiver))
        link, processes = Link(self, *ports, ranks[0]), [(job, rank) for rank in ranks]
        link.receiving = ranks[1]
        self.connections.append(link)
        end = self.set_up(link, max(self.ready[one] for one in processes) + self.chance.uniform(0, 50000))
        self.ready.update(dict.fromkeys(processes, end))
        self.began = max(self.began, end)
        return link

    def tcp_ends(self, connection):
        return [bytes((10, 1, 0, address[3])) for address, in (connection.sender, connection.receiver)]


class Senders:
    """Ranks that send each other what is no collective's, pair by pair; what `after` names has come before, by place in `pairs`."""

    def __init__(self, cluster, each, pairs, after=(), protocol=SEND, channels=2, job=0):
        self.cluster, self.job, self.protocol, self.after = cluster, job, protocol, dict(after)
        self.ranks, self.circles, self.done = sorted({rank for pair in pairs for rank in pair}), [], []
        self.channels = [[cluster.wire(*(self.place(each, rank) for rank in pair), job, pair) for pair in pairs] for _ in range(channels)]
        self.links = [link for channel in self.channels for link in channel]
        cluster.groups.append(self)

    def place(self, each, rank):
        return rank // each, rank % each * len(self.cluster.ports[0]) // each

    def run(self, what, _begin=0):
        before = [len(link.done) for link in self.links]
        for channel in self.channels:
            Sends.round(self.cluster, channel, what.size, self.after, self.protocol)
        self.done.append((what, {(link.number, k) for link, count in zip(self.links, before) for k in range(count, len(link.done))}))
