"""A training job as a cluster runs it, by NCCL's wire format: several communicators of the same processes at the same ports, each with
connections of its own, whose operations are under way at the same time. Every communicator numbers its own ranks from 0, or a split one
keeps those of the job. What is made stands beside it: members, ways, operations."""

import collections
from typing import NamedTuple

from nccl_made import RELEASES, Frame, roce_frame, source_port
from nccl_trees_made import LL, LL_DATA, RING, SEND, SIMPLE, Job, Link, pieces, shares, slices

ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST, SEND_RECV = "AllReduce", "AllGather", "ReduceScatter", "Broadcast", "SendRecv"
MOST = {SIMPLE: 2 << 20, LL: LL_DATA}  # bytes of a chunk (section 7.2)
PAGE = 4096


class Done(NamedTuple):
    """An operation, as the program asked for it."""
    what: str
    algorithm: str
    protocol: str
    size: int        # bytes that each rank gives NCCL; of a reduce-scatter, that it gets
    channels: int
    messages: set    # {(connection, k), ..}


class Cluster(Job):
    """Hosts with so many GPUs, each a process, and so many rails. `job` numbers it among those of one capture."""

    def __init__(self, seed, hosts, each, rails, job=0, sets=1, families="DEF", release=None, before=None, began=1e9, slice_bytes=192):
        super().__init__(seed, hosts, sets, families)
        if release is not None:
            self.release, self.layout = release, RELEASES[release]
            self.split = self.chance.random() < 0.5 or release[0] < 18
        self.job, self.each, self.rails, self.began, self.slice_bytes = job, each, rails, began, slice_bytes
        self.groups, self.numbers = [], 1000 * job
        self.ports = [[bytes((10, 2 + rail, 0, address[3])) for rail in range(rails)] for address, in self.hosts]
        if before is not None:  # another job on the same hosts
            self.hosts, self.ports, self.used, self.numbers = before.hosts, before.ports, before.used, before.numbers + 500
        self.ready = collections.defaultdict(lambda: self.began)

    def tcp_ends(self, connection):
        return [bytes((10, 1, 0, address[3])) for address, in (connection.sender, connection.receiver)]

    def port_of(self, process, rail=None):
        host, gpu = process
        return self.ports[host][gpu * self.rails // self.each if rail is None else rail]

    def wire(self, sender, receiver, rank, rail=None, channel=0):
        """Between two processes, (host, gpu), through the rails of their GPUs or the one told."""
        link = Link(self, [self.port_of(sender, rail)], [self.port_of(receiver, rail)], rank)
        link.number, link.ends, link.channel, link.protocols = self.numbers, (sender, receiver), channel, {}
        self.numbers += 1
        self.connections.append(link)
        end = self.set_up(link, max(self.ready[sender], self.ready[receiver]) + self.chance.uniform(0, 50000))
        self.ready[sender] = self.ready[receiver] = end
        return link

    def send(self, link, length, protocol, ready, **how):
        link.protocols[len(link.done)] = protocol
        return self.message(link, length, protocol, ready, **how)

    def clock(self):
        """Of all processes, once everything is set up."""
        begin = max(self.ready.values()) + 1e6
        return {process: begin + self.chance.uniform(0, 100000) for process in self.processes()}

    def processes(self):
        return [(host, gpu) for host in range(len(self.ports)) for gpu in range(self.each)]


class Group:
    """A communicator. `members` in the order of their ranks, those of a host together; `names` are their tags: their places, or ranks of
    the job. Its channels go through the rails of its members, one after the other."""

    def __init__(self, cluster, members, channels=1, names=None, trees=False, name=""):
        self.cluster, self.members, self.name, self.done = cluster, members, name, []
        self.names = names or list(range(len(members)))
        self.name_of = dict(zip(members, self.names))
        self.hosts = list(dict.fromkeys(host for host, _ in members))
        self.local = [[member for member in members if member[0] == host] for host in self.hosts]
        self.rings, self.exits, self.trees, self.sends = [], [], [], {}
        for channel in range(channels):
            self.make_ring(channel)
        if trees:
            for channel in range(channels):
                self.make_tree(channel, 2 * channel // channels if channels > 1 else 0)
        cluster.groups.append(self)

    def make_ring(self, channel):
        order, ways = [], []
        for local in self.local:
            entry = channel % len(local)
            walk = local[entry:] + local[:entry]
            ways.append((walk[0], walk[-1]))
            order += walk
        exits = {}
        for i, (_, leaves) in enumerate(ways):
            arrives = ways[(i + 1) % len(ways)][0]
            rail = arrives[1] * self.cluster.rails // self.cluster.each
            if leaves[0] != arrives[0]:
                exits[leaves] = self.cluster.wire(leaves, arrives, self.name_of[leaves], rail, channel)
        self.rings.append(order)
        self.exits.append(exits)

    def make_tree(self, channel, tree):
        """Section 7.3, of one process of each host; a connection that the ring of the channel has is the ring's."""
        nodes, entry = len(self.hosts), channel
        place = (lambda v: v) if tree == 0 else (lambda v: nodes - 1 - v) if nodes % 2 == 0 else (lambda v: (v + 1) % nodes)
        edges = {}
        for v in range(1, nodes):
            bit = v & -v
            above = (v ^ bit) | 2 * bit
            edges[v] = above if above < nodes else v ^ bit
        up, down = {}, {}
        for v, above in edges.items():
            child, parent = (self.local[place(x)][entry % len(self.local[0])] for x in (v, above))
            up[v], down[v] = self.connect(child, parent, channel), self.connect(parent, child, channel)
        self.trees.append((edges, up, down))

    def connect(self, a, b, channel):
        known = self.exits[channel].get(a)
        if known is not None and known.ends == (a, b):
            return known
        return self.cluster.wire(a, b, self.name_of[a], None, channel)

    def links(self):
        of_rings = [link for exits in self.exits for link in exits.values()]
        of_trees = [link for _, up, down in self.trees for links in (up, down) for link in links.values()]
        return list(dict.fromkeys([*of_rings, *of_trees, *(link for links in self.sends.values() for link in links)]))

    def begin(self, after):
        """When each member begins: a kernel's launch after what it waits for. `after` then is when it is done."""
        return {member: after[member] + self.cluster.chance.uniform(3000, 30000) for member in self.members}

    def book(self, links, before, *what):
        self.done.append(Done(*what, {(link.number, k) for link, count in zip(links, before) for k in range(count, len(link.done))}))

    # --- rings ---

    def ring(self, after, what, size, protocol=SIMPLE, channels=None):
        """An all-reduce, all-gather or reduce-scatter. `after`: when each member is free, set anew."""
        begins, links = self.begin(after), self.links()
        before, channels = [len(link.done) for link in links], channels or len(self.rings)
        for channel, share in zip(range(channels), shares(size, channels)):
            free = self.around(channel, what, share, protocol, begins)
            for member, end in free.items():
                after[member] = max(after[member], end)
        self.book(links, before, what, "RING", protocol, size, channels)

    def around(self, channel, what, share, protocol, begins):
        order, exits, ranks = self.rings[channel], self.exits[channel], len(self.members)
        free = {member: begins[member] for member in order}
        for link in exits.values():
            link.asked = max([link.asked, begins[link.ends[1]]] + link.done[-1:])
            link.step += -link.step % 4 if protocol == SIMPLE else 0  # section 6.4
        have = {member: [begins[member]] * 2 for member in order}
        while share > 0:
            if what == ALL_REDUCE:
                chunk = min(MOST[protocol], 16 * -(-share // (16 * ranks)))
                chunks, steps = [min(chunk, max(0, share - chunk * i)) for i in range(ranks)], 2 * (ranks - 1)
                share -= sum(chunks)
            else:
                chunks, steps = [min(MOST[protocol], share)] * ranks, ranks - 1
                share -= chunks[0]
            for step in range(steps):
                have = self.step(order, exits, chunks, step, have, free, protocol)
        return free

    def step(self, order, exits, chunks, step, have, free, protocol):
        """All send one chunk on; when each part of it has come to whom it is for."""
        cluster, came = self.cluster, {}
        for place, member in enumerate(order):
            data = chunks[(place - 1 - step) % len(chunks)]
            there, parts = order[(place + 1) % len(order)], slices(data) if protocol == SIMPLE else [data]
            times = []
            for part, ready in zip(parts, have[member]):
                begin = max(free[member], ready)
                if member not in exits:
                    end = begin + cluster.chance.uniform(2000, 10000)
                elif protocol == SIMPLE:
                    end = cluster.send(exits[member], part, RING, begin, ahead=4)
                else:
                    end = cluster.send(exits[member], 16 * -(-part // 8), LL, begin)
                times.append(end)
            free[member] = max(free[member], *times)
            came[there] = times
        for member, times in came.items():
            free[member] = max(free[member], *times)
        return came

    def broadcast(self, after, size):
        """From the first member along the rings: one slice of a chunk, a step each (section 6.3)."""
        begins, links = self.begin(after), self.links()
        before = [len(link.done) for link in links]
        for order, exits, share in zip(self.rings, self.exits, shares(size, len(self.rings))):
            first = order.index(self.members[0])
            walk = order[first:] + order[:first]
            for link in exits.values():
                link.asked = max([link.asked, begins[link.ends[1]]] + link.done[-1:])
            times = [begins[walk[0]]] * len(pieces(share, 524288))
            for member, there in zip(walk, walk[1:]):
                for i, part in enumerate(pieces(share, 524288)):
                    begin = max(times[i], begins[member])
                    times[i] = (self.cluster.send(exits[member], part, SIMPLE, begin) if member in exits
                                else begin + self.cluster.chance.uniform(2000, 10000))
                    after[member], after[there] = max(after[member], times[i]), max(after[there], times[i])
        self.book(links, before, BROADCAST, "RING", SIMPLE, size, len(self.rings))

    # --- trees ---

    def tree(self, after, size, protocol=LL, channels=None):
        begins, links = self.begin(after), self.links()
        before, channels = [len(link.done) for link in links], channels or len(self.trees)
        for (edges, up, down), share in zip(self.trees, shares(size, channels)):
            for link in [*up.values(), *down.values()]:
                link.asked = max([link.asked, begins[link.ends[1]]] + link.done[-1:])
            for data in pieces(share, 524288 if protocol == SIMPLE else LL_DATA):
                length = data if protocol == SIMPLE else 16 * -(-data // 8)
                self.up_and_down(edges, up, down, length, protocol, begins, after)
        self.book(links, before, ALL_REDUCE, "TREE", protocol, size, channels)

    def up_and_down(self, edges, up, down, length, protocol, begins, after):
        within = lambda: self.cluster.chance.uniform(2000, 30000)  # through the host
        ready = collections.defaultdict(lambda: max(begins.values()) + within())
        deepest_first = sorted(edges, key=lambda v: v & -v)
        for v in deepest_first:
            came = self.cluster.send(up[v], length, protocol, ready[v])
            ready[edges[v]] = max(ready[edges[v]], came + within())
        told = {0: ready[0]}
        for v in reversed(deepest_first):
            told[v] = self.cluster.send(down[v], length, protocol, told[edges[v]]) + within()
        for member in self.members:
            after[member] = max(after[member], *told.values())

    # --- sends ---

    def pair(self, sender, receiver, channels):
        """Connections of sends are apart from those of collectives (section 7.4)."""
        if (sender, receiver) not in self.sends:
            self.sends[sender, receiver] = [
                self.cluster.wire(sender, receiver, self.name_of[sender], None, channel) for channel in range(channels)]
        return self.sends[sender, receiver]

    def exchange(self, after, what, channels=1):
        """Grouped sends: {(sender, receiver): bytes}. Members who have none take no part."""
        parties = {member for pair, size in what.items() if size for member in pair}
        begins = {member: after[member] + self.cluster.chance.uniform(3000, 30000) for member in parties}
        links = [link for (a, b), size in what.items() if size and a[0] != b[0] for link in self.pair(a, b, channels)]
        before = [len(link.done) for link in links]
        for (a, b), size in what.items():
            if size and a[0] != b[0]:
                end = self.part_by_part(self.pair(a, b, channels), size, begins[a], begins[b])
                after[a], after[b] = max(after[a], end), max(after[b], end)
        self.book(links, before, SEND_RECV, None, None, max(what.values()), channels)

    def part_by_part(self, links, size, sends, receives):
        part, ends = PAGE * -(-size // (PAGE * len(links))), []
        for link, own in zip(links, pieces(size, part)):
            link.asked = max([link.asked, receives] + link.done[-1:])
            if size <= 16384 * len(links):
                for data in pieces(own, LL_DATA):
                    offered = min(65536, 16 * -(-own // 8))
                    ends.append(self.cluster.send(link, 16 * -(-data // 8), LL, sends, offered=offered))
                continue
            most = 131072 if own >= 8 * 131072 else 65536 if own >= 131072 else 32768
            for data in pieces(own, most):
                ends.append(self.cluster.send(link, data, SEND, sends, offered=min(131072, own)))
        return max(ends)


def store(cluster, host, storage, ts, size=65536):
    """A checkpoint to storage: a command, the target's READ of the data, its answer; by no NCCL, on a queue pair of its own."""
    at, target = cluster.ports[host][0], storage
    mine, its = cluster.qpn([at]), cluster.qpn([target])
    port, psn, its_psn, frames = source_port(mine, its), 0x4000, 0x9000, cluster.frames

    def emit(ends, *packet, **how):
        nonlocal ts
        ts += 3000
        frames.append(Frame(ts, *roce_frame(ends, port, *packet, slice_bytes=cluster.slice_bytes, **how)))

    for _ in range(4):
        emit((at, target), 0x04, its, psn, b"", 64, cluster.chance.randbytes(64))
        emit((target, at), 0x0c, mine, its_psn, (0x7c0000000000).to_bytes(8, "big") + bytes(4) + size.to_bytes(4, "big"))
        packets = size // 4096
        for i in range(packets):
            opcode = 0x0d if i == 0 else 0x0f if i == packets - 1 else 0x0e
            emit((at, target), opcode, its, its_psn + i, b"" if opcode == 0x0e else b"\x1f\0\0\x01", 4096)
        its_psn += packets
        emit((target, at), 0x04, mine, its_psn, b"", 16, cluster.chance.randbytes(16))
        psn, its_psn = psn + 1, its_psn + 1
