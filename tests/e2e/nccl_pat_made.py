"""NCCL's all-gather and reduce-scatter over powers of two (PAT, 2.23 and later, one rank per host), as its kernels send them.

Of N ranks, number s of the others' blocks is the one that is s ranks away. A block goes home in steps of its bits, one connection
for each: with the lowest bit set first where blocks are added up (reduce-scatter, from rank r to r + 2^i), and last where they are
copied (all-gather, from r to r - 2^i). Blocks that are longer than a chunk go chunk by chunk; of short ones several share a
message. Ranks are alike, so one list of steps is everybody's, and a rank takes them one after the other."""

import random
from typing import NamedTuple

from nccl_made import RELEASES
from nccl_trees_made import SIMPLE, STEPS, Channel, Job, Operation, Ring, Trees

GATHER, SCATTER, REDUCE, CLIMB = "AllGather", "ReduceScatter", "AllReduce", "AllReduce over trees"
CHUNK, LEAST_CHUNK = 524288, 65536
PART = {GATHER: 32, SCATTER: 16}  # a chunk is halved until so many of it are not more than all data
LOWS = {2: (1,), 4: (2, 3, 1)}    # of an all-gather: in which order blocks of the lower bits go, by how many there are


class Step(NamedTuple):
    """Wait for a block, then put one into a message, if there is room for `width` of them send it."""
    awaited: int = 0   # 0: none
    sent: int = 0
    width: int = 0     # 0: more is to come before it is sent


class What(NamedTuple):
    kind: str
    size: int      # bytes that the program names: of a block, which each rank gives or gets; of an all-reduce, which takes the ring


def lowest(s):
    return (s & -s).bit_length() - 1


def peers(ranks):
    return range((ranks - 1).bit_length())


def distance(kind, dimension, ranks):
    return (1 << dimension if kind == SCATTER else -(1 << dimension)) % ranks


def aggregation(ranks, share, chunk):
    """(blocks in a message, blocks that go at once): as fit in a chunk, then eight times that, and no more than half of all."""
    width = 1
    while width < ranks // 2 and chunk // (share * width) >= 2:
        width *= 2
    at_once, depth = width, STEPS
    while depth > 1 and at_once < ranks // 2:
        at_once, depth = 2 * at_once, depth // 2
    return width, at_once


def mirrored(count):
    """0 .. count-1 by their bits from the other end, the last one first."""
    bits = count.bit_length() - 1
    return [int("0" + format(count - 1 - i, "0%db" % bits)[::-1][:bits], 2) if bits else 0 for i in range(count)]


def in_groups(blocks, width):
    """(block, how many the message has by then if it goes now): after each `width` places, and at the end."""
    for i, block in enumerate(blocks):
        place = i % width + 1
        yield block, place if place == width or i == len(blocks) - 1 else 0


def scatter_steps(ranks, width, at_once):
    reach = (1 << len(peers(ranks))) // at_once  # blocks of which only the lower bits differ

    def exists(s):
        return s if s < ranks else 0

    for low in range(reach - 1, 0, -1):
        own = [far * reach + low for far in mirrored(at_once)]
        if low % 2:
            yield from (Step(0, s, go) for s, go in in_groups(own, width) if exists(s))
        if low > 1:  # what came is added to a block that is to go further; it goes with the last of them
            for s, go in in_groups(own, width):
                above = s - (1 << lowest(s))
                if exists(s) or 0 < above < ranks:
                    yield Step(exists(s), above, go if low % 2 else 0)
    scale = 1
    while scale < at_once:
        far = [(2 * i + 1) * scale * reach for i in mirrored(at_once // (2 * scale))]
        yield from (Step(exists(s + 1), s, go) for s, go in in_groups(far, width) if exists(s))
        yield from (Step(exists(s), s - (1 << lowest(s)), 0) for s in far if s - (1 << lowest(s)) < ranks)
        scale *= 2
    yield Step(1)


def gather_steps(ranks, width, at_once):
    reach = (1 << len(peers(ranks))) // at_once
    scale = at_once // 2

    def sends(blocks):
        for s, go in in_groups([s for s in blocks if s < ranks], width):
            yield Step(s - (1 << lowest(s)), s, go)

    while scale:
        yield from sends([(2 * i + 1) * scale * reach for i in range(at_once // (2 * scale))])
        scale //= 2
    for low in LOWS[reach]:
        blocks = [i * reach + low for i in range(at_once)]
        yield from sends(blocks)
        if low % 2:  # what has gone nowhere is to be taken, too
            yield from (Step(s - 1) for s in blocks if s == ranks)
            yield from (Step(s) for s in blocks if s < ranks)


STEPS_OF = {GATHER: gather_steps, SCATTER: scatter_steps}


class Message(NamedTuple):
    dimension: int
    blocks: tuple
    width: int
    after: int     # blocks that were awaited before it, as many of `awaited`


def messages(kind, ranks, width, at_once):
    """(messages in their order, what was awaited in its order)"""
    sent, awaited, filled = [], [], {}
    for step in STEPS_OF[kind](ranks, width, at_once):
        if step.awaited:
            awaited.append(step.awaited)
        if step.sent:
            dimension = lowest(step.sent)
            if step.sent not in filled.setdefault(dimension, []):
                filled[dimension].append(step.sent)
            if step.width:
                sent.append(Message(dimension, tuple(filled.pop(dimension)), step.width, len(awaited)))
    assert not filled, filled
    return sent, awaited


class Pat(Job):
    """Each on all channels. Both ways are connected, whichever is used; `book`ed with (What, messages)."""

    loop = Ring.loop

    def __init__(self, seed, ranks, channels=1, whats=(), sets=1, compact=False):
        super().__init__(seed, ranks, sets)
        self.release = self.chance.choice([release for release in RELEASES if release >= (23, 0)])
        self.layout, self.compact = RELEASES[self.release], compact
        self.links = [{} for _ in range(channels)]
        self.connect_all(ranks)
        for what in whats:
            self.pause()
            before = self.counted()
            self.run_all(what)
            self.book(what, before)
        self.finish()

    def connect_all(self, ranks):
        for far in sorted({distance(kind, dimension, ranks) for kind in STEPS_OF for dimension in peers(ranks)}):
            for rank in self.chance.sample(range(ranks), ranks):
                for links in self.links:
                    if (rank, far) not in links:
                        links[rank, far] = self.connect(rank, (rank + far) % ranks)

    def run_all(self, what):
        for links in self.links:
            if what.kind == REDUCE:
                self.loop([links[rank, 1] for rank in range(len(self.hosts))], what.size // len(self.links) // len(self.hosts))
            else:
                self.exchange(links, what)

    def exchange(self, links, what):
        ranks, share = len(self.hosts), what.size // len(self.links)
        chunk = CHUNK
        while chunk * len(self.links) * PART[what.kind] > what.size * ranks and chunk > LEAST_CHUNK:
            chunk //= 2
        width, at_once = aggregation(ranks, share, chunk)
        clock = [self.began + self.chance.uniform(0, 50000) for _ in range(ranks)]
        for at in range(0, share, chunk):
            self.steps(links, what.kind, min(chunk, share - at), messages(what.kind, ranks, width, at_once), clock)

    def steps(self, links, kind, length, plan, clock):
        ranks, came, taken = len(self.hosts), {}, 0
        sent, awaited = plan
        for message in [*sent, None]:
            until = len(awaited) if message is None else message.after
            for block in awaited[taken:until]:
                for rank in range(ranks):
                    clock[rank] = max(clock[rank], came[rank, block])
            taken = until
            if message is None:
                return
            far = distance(kind, message.dimension, ranks)
            width = len(message.blocks) if self.compact else message.width
            for rank in range(ranks):
                done = self.message(links[rank, far], length * width, SIMPLE, clock[rank])
                came.update({((rank + far) % ranks, block): done for block in message.blocks})


class Connected(Pat):
    """All connections are made when the job begins: those of rings, where there are, then those of trees, then the others."""

    all_reduce, chunk = Trees.all_reduce, Trees.chunk

    def __init__(self, seed, ranks, channels, whats, ring=True):
        self.ring, self.at = ring, None
        super().__init__(seed, ranks, channels, whats)

    def connect_all(self, ranks):
        for links in self.links if self.ring else ():
            links.update({(rank, 1): self.connect(rank, (rank + 1) % ranks) for rank in range(ranks)})
        self.channels = []
        for i, self.at in enumerate(self.links):
            self.channels.append(Channel(self, 2 * i // len(self.links)))
        self.at = None
        super().connect_all(ranks)

    def connect(self, sender, receiver):
        """Channels of trees share what is there."""
        if self.at is None:
            return super().connect(sender, receiver)
        pair = sender, (receiver - sender) % len(self.hosts)
        if pair not in self.at:
            self.at[pair] = super().connect(sender, receiver)
        return self.at[pair]

    def run_all(self, what):
        if what.kind != CLIMB:
            super().run_all(what)
            return
        self.all_reduce(Operation(what.size, SIMPLE, CHUNK))
        self.operations.pop()  # is booked as what it is


def drawn(seed, ranks, channels, kinds=(GATHER, SCATTER)):
    """Of each kind: short blocks, of which several share a message, longer ones, and some of several chunks where that is not much."""
    chance = random.Random(seed)
    sizes = [4 * channels * chance.randrange(*few) for few in ((1, 2000), (2000, 8000), (8200, 9000))]
    if ranks <= 5:
        sizes.append(4 * channels * chance.randrange(17000, 40000))
    whats = [What(kind, size) for kind in kinds for size in (sizes if ranks < 16 else sizes[:2])]
    chance.shuffle(whats)
    return whats
