"""Collectives as NCCL puts them on the wire, by its wire format: all-reduces over double binary trees and over rings, and sends
between neighbours, of one rank per host. A rank sends on what it has been sent, no sooner; what depends on nothing is drawn."""

import itertools
import random
import struct
from typing import NamedTuple

from nccl_made import RELEASES, Connection, World

STEPS = 8  # of a buffer, and messages asked for ahead
SIMPLE, LL, RING, SEND, REGISTERED = "SIMPLE", "LL", "RING", "SEND", "REGISTERED"
# section 5: bytes offered, where buffers begin, how far they are from each other; sends have a pool, or the program's own buffer
OFFERED = {SIMPLE: 524288, LL: 65536, RING: 1048576, SEND: 131072, REGISTERED: 1 << 30}
BUFFERS = {SIMPLE: (0x530000, 0x80000), LL: (0, 0x10000), RING: (0x530000, 0x80000), SEND: (0, 131072),
           REGISTERED: (0x1000, 0)}
STEPS_OF_MESSAGE = {RING: 2}
LL_DATA = 32768  # bytes in a step


class Operation(NamedTuple):
    size: int       # bytes that the program reduces
    protocol: str
    chunk: int      # bytes of data, at most


def place_in(tree, nodes, node):
    """Section 7.3: node v of tree 1 stands where n-1-v is in tree 0, or v-1 if n is odd."""
    return node if tree == 0 else nodes - 1 - node if nodes % 2 == 0 else (node - 1) % nodes


def parent_in(tree, nodes, node):
    """None: the root."""
    place = place_in(tree, nodes, node)
    bit = place & -place
    above = (place ^ bit) | 2 * bit
    above = above if above < nodes else place ^ bit
    return None if place == 0 else next(other for other in range(nodes) if place_in(tree, nodes, other) == above)


def shares(size, count):
    """Of elements of four bytes, nearly the same for each."""
    each, more = divmod(size // 4, count)
    return [4 * (each + (i < more)) for i in range(count)]


def pieces(size, most):
    return [min(most, size - at) for at in range(0, size, most)]


def slices(chunk):
    """Section 6.3, of elements of four bytes; the second may be empty."""
    first = min(chunk, max(64 * -(-chunk // 128), 32768))
    return [first, chunk - first]


class Link(Connection):
    """What one rank sends another on one channel."""

    def __init__(self, job, sender, receiver, rank):
        super().__init__(job, len(job.connections), sender, receiver, rank)
        self.step, self.asked, self.free, self.done = 0, 0, 0, []


class Channel:
    """A tree's: of each child the connection to its parent, and the one from there."""

    def __init__(self, job, tree, connect=None):
        nodes, connect = range(len(job.hosts)), connect or job.connect
        self.tree, self.parent = tree, [parent_in(tree, len(nodes), node) for node in nodes]
        self.root = self.parent.index(None)
        self.children = [[child for child in nodes if self.parent[child] == node] for node in nodes]
        self.up, self.down = {}, {}
        for child in job.chance.sample(nodes, len(nodes)):
            if child != self.root:
                self.up[child] = connect(child, self.parent[child])
                self.down[child] = connect(self.parent[child], child)
        self.order = [self.root]  # parents first
        for node in self.order:
            self.order += self.children[node]


class Job(World):
    """Of so many ranks. `connections` in the order in which they were set up."""

    def __init__(self, seed, ranks, sets=1, families="DEF"):
        chance = self.chance = random.Random(seed)
        self.release = chance.choice([release for release, layout in RELEASES.items() if layout.family in families])
        self.layout, self.slice_bytes, self.sets, self.devices = RELEASES[self.release], 192, sets, 1
        self.split = chance.random() < 0.5 or self.release[0] < 18
        self.adaptive, self.numbered, self.mtu = 6 <= self.release[0] <= 15, False, 4096
        self.used, self.frames, self.connections, self.began = {}, [], [], 1e9
        self.hosts = [[bytes((10, 0, 0, host))] for host in chance.sample(range(1, 250), ranks)]
        self.rounds = []      # when each began
        self.operations = []  # of all-reduces over trees: (what, {(connection, k), ..})

    def connect(self, sender, receiver):
        link = Link(self, self.hosts[sender], self.hosts[receiver], sender)
        self.connections.append(link)
        self.began = self.set_up(link, self.began)
        return link

    def pause(self):
        """All that was asked for has come; nothing more is asked for until later."""
        ends = [link.free for link in self.connections if link.done]
        self.began = max([self.began] + ends) + self.chance.uniform(1e5, 5e5)
        self.rounds.append(self.began)

    def finish(self):
        self.frames.sort(key=lambda frame: frame.ts)

    def payload(self, link, protocol, length):
        data = bytearray(self.chance.randbytes(length))
        if protocol == LL:  # section 6.1: the flag in each line
            for i, byte in enumerate(struct.pack("<I", link.step + 1)):
                data[4 + i::16] = data[12 + i::16] = bytes([byte]) * (length // 16)
        return bytes(data)

    def message(self, link, length, protocol, ready, offered=None, ahead=STEPS):
        """Of so many bytes on the wire, asked for as soon as there is room, sent from `ready` on. When it has come."""
        chance, k = self.chance, len(link.done)
        begin, stride = BUFFERS[protocol]
        va = link.buffer + begin + link.step % STEPS * stride
        room = link.done[k - ahead] if k >= ahead else 0
        link.asked = max(link.asked, self.began, room) + chance.uniform(200, 2000)
        requests, start = [(va, offered or OFFERED[protocol], length)], max(link.free, link.asked + 5000, ready)
        self.ask(link, k, requests, link.asked)
        payload = self.payload(link, protocol, length)
        for lane, writes in self.writes(link, k, requests).items():
            told = [(at, key, own, immediate, payload[at - va:][:own]) for at, key, own, immediate, _ in writes]
            link.free = max(link.free, self.answer(link, k, lane, told, start + chance.uniform(100, 8000)))
        link.step += STEPS_OF_MESSAGE.get(protocol, 1)
        link.done.append(link.free + 3000)
        return link.done[-1]

    def counted(self):
        return {link.number: len(link.done) for link in self.connections}

    def book(self, operation, before):
        messages = {(link, k) for link, count in self.counted().items() for k in range(before[link], count)}
        self.operations.append((operation, messages))


class Trees(Job):
    """All-reduces over trees: as many channels of each, tree 0's first."""

    def __init__(self, seed, ranks, each=1, trees=(0, 1), sets=1):
        super().__init__(seed, ranks, sets)
        self.channels = [Channel(self, tree) for tree in trees for _ in range(each)]
        for operation in self.drawn():
            self.pause()
            self.all_reduce(operation)
        self.finish()

    def drawn(self):
        """Less than a chunk, some full ones, and more than are asked for ahead where that is not too many frames."""
        chance, count, most = self.chance, len(self.channels), max(1, 30 // len(self.hosts))

        def size(chunk, least, most):
            return 4 * int(count * chance.uniform(least, most) * chunk / 4)

        yield Operation(4 * chance.randrange(count, 2000 * count), SIMPLE, 524288)
        yield Operation(size(LL_DATA, most, most + 1), LL, LL_DATA)
        yield Operation(size(524288, 1, 1.3 if most < 4 else 2.5), SIMPLE, 524288)
        yield Operation(size(65536, most, most + 1), SIMPLE, 65536)
        yield Operation(4 * chance.randrange(count, 8000 * count), LL, LL_DATA)
        yield Operation(size(131072, 0.1, 0.9), SIMPLE, 524288)

    def all_reduce(self, operation):
        before = self.counted()
        for channel, share in zip(self.channels, shares(operation.size, len(self.channels))):
            ready = [self.began + self.chance.uniform(0, 50000) for _ in self.hosts]
            for data in pieces(share, operation.chunk):
                self.chunk(channel, data if operation.protocol == SIMPLE else 16 * -(-data // 8), operation.protocol, ready)
        self.book(operation, before)

    def chunk(self, channel, length, protocol, ready, within=float):
        """Sums go up as soon as those of all children came; the result goes down as soon as it came, each once it is through the host."""
        summed, told = list(ready), {}
        for node in reversed(channel.order[1:]):
            came = self.message(channel.up[node], length, protocol, summed[node])
            above = channel.parent[node]
            summed[above] = max(summed[above], came + within())
        told[channel.root] = summed[channel.root]
        for node in channel.order[1:]:
            told[node] = self.message(channel.down[node], length, protocol, told[channel.parent[node]]) + within()


class Ring(Job):
    """All-reduces over two rings, the other way round if `turned` (sections 6.3 and 7.2): of one loop each."""

    def __init__(self, seed, ranks, turned=False):
        super().__init__(seed, ranks)
        orders = list(range(ranks)), list(range(ranks))[::-1 if turned else 1]
        rings = [[self.connect(rank, order[(i + 1) % ranks]) for i, rank in enumerate(order)] for order in orders]
        for _ in range(4):
            self.pause()
            chunk = 16 * self.chance.randrange(1, 8000)
            for ring in rings:
                self.loop(ring, chunk)
        self.finish()

    def loop(self, ring, chunk):
        came = [self.began + self.chance.uniform(0, 50000) for _ in ring]
        for _ in range(2 * (len(ring) - 1)):
            sent = [[self.message(link, part, RING, came[rank], ahead=4) for part in slices(chunk)]
                    for rank, link in enumerate(ring)]
            came = [max(sent[rank - 1]) for rank in range(len(ring))]


class Sends(Job):
    """Between pairs of ranks, in pieces (section 7.4); what `after` names has come before, by place in `pairs`."""

    def __init__(self, seed, ranks, pairs, after=(), protocol=SEND, channels=2):
        super().__init__(seed, ranks)
        links = [[self.connect(*pair) for pair in pairs] for _ in range(channels)]
        for _ in range(4):
            self.pause()
            size = self.chance.choice([4096, 20000, 300000])
            for channel in links:
                self.round(channel, size, dict(after), protocol)
        self.finish()

    def round(self, channel, size, after, protocol):
        came, most = [], OFFERED[protocol]
        for place, link in enumerate(channel):
            ready = max((came[i] for i in after.get(place, ())), default=self.began + self.chance.uniform(0, 50000))
            came.append([self.message(link, part, protocol, ready, min(size, most)) for part in pieces(size, most)][-1])


def both_ways(edges):
    return [pair for a, b in edges for pair in ((a, b), (b, a))]


def line(seed, ranks):
    return Sends(seed, ranks, both_ways((i, i + 1) for i in range(ranks - 1)))


def grid(seed, rows, columns):
    cells = list(itertools.product(range(rows), range(columns)))
    edges = [(columns * r + c, columns * (r + dr) + c + dc) for r, c in cells for dr, dc in ((0, 1), (1, 0))
             if r + dr < rows and c + dc < columns]
    return Sends(seed, rows * columns, both_ways(edges))


def all_to_all(seed, ranks):
    return Sends(seed, ranks, list(itertools.permutations(range(ranks), 2)))


def pipeline(seed, order, protocol=SEND):
    """Stages of a model: forward through all, and back."""
    there = list(itertools.pairwise(order))
    pairs = there + [pair[::-1] for pair in reversed(there)]
    return Sends(seed, len(order), pairs, [(place, [place - 1]) for place in range(1, len(pairs))], protocol)


def star(seed, ranks):
    """One gathers from all, then sends to all."""
    there = [(i, 0) for i in range(1, ranks)]
    return Sends(seed, ranks, there + [pair[::-1] for pair in there], [(ranks - 1 + i, range(ranks - 1)) for i in range(ranks - 1)])
