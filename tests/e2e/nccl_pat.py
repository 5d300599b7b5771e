"""NCCL's all-gather and reduce-scatter over powers of two (PAT): which of them each was and how much it was given, whole, without
set-ups, from the middle, with losses and cut short; beside the ring; and nothing of it where programs send along such distances."""

import collections
import functools
import itertools
import random
import tempfile
import unittest
from pathlib import Path

import nccl_made
import nccl_pat_made as made
import nccl_trees_made as others
from harness import fabtap, main
from nccl import BTH, WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM
from nccl_pat_made import CLIMB, GATHER, REDUCE, SCATTER, What

TCP, IP_PROTOCOL = 6, 23
LOST, CUT = 0.01, 128
BEGINNINGS = WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM
BOTH = GATHER, SCATTER
# ranks, channels, kinds, of short blocks of a reduce-scatter none but those that are there have room
WORLDS = ((3, 2, BOTH, False), (4, 2, BOTH, False), (5, 1, BOTH, False), (5, 2, BOTH, True), (6, 1, BOTH, False),
          (7, 1, BOTH, True), (8, 2, BOTH, False), (9, 1, BOTH, False), (16, 1, BOTH, False), (4, 1, (GATHER,), False),
          (5, 1, (SCATTER,), False), (6, 2, (GATHER,), False))
# worked out by hand: which of the others' blocks go over the connection for which bit
BLOCKS = {3: ([1], [2]), 5: ([1, 3], [2], [4]), 6: ([1, 3, 5], [2], [4]), 8: ([1, 3, 5, 7], [2, 6], [4]),
          9: ([1, 3, 5, 7], [2, 6], [4], [8])}


@functools.cache
def job(ranks, channels, kinds, compact):
    seed = 1000 * ranks + 10 * channels + len(kinds)
    return made.Pat(seed, ranks, channels, made.drawn(seed, ranks, channels, kinds), compact=compact)


def is_set_up(frame):
    return frame.bytes[IP_PROTOCOL] == TCP


def without_set_up(frames):
    return [frame for frame in frames if not is_set_up(frame)]


def lossy(frames):
    chance = random.Random(len(frames))
    return [frame for frame in frames if is_set_up(frame) or chance.random() >= LOST]


def middle(it):
    """From within the first round on."""
    mine = [i for i, frame in enumerate(it.frames) if it.rounds[0] <= frame.ts < it.rounds[1]]
    return it.frames[mine[len(mine) // 2]:]


WAYS = {
    "whole": lambda it: it.frames,
    "no set-up": lambda it: without_set_up(it.frames),
    "middle": middle,
    "lossy": lambda it: lossy(it.frames),
    "lossy, no set-up": lambda it: lossy(without_set_up(it.frames)),
    "cut": lambda it: [frame._replace(bytes=frame.bytes[:CUT]) for frame in it.frames],
}


def run(frames, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        return fabtap("nccl", *arguments, nccl_made.write(Path(folder) / "pat.pcap", frames))


def document(frames):
    return run(frames, "--json").json()


@functools.cache
def seen(world, way):
    frames = WAYS[way](job(*world))
    return frames, document(frames)


class Seen:
    """One of the job's operations, in a capture of it."""

    def __init__(self, what, messages, frames):
        self.what = what
        mine = [(i, frame.role) for i, frame in enumerate(frames, 1) if (frame.connection, frame.k) in messages]
        self.data = [i for i, role in mine if role == "data"]
        self.is_whole = sum(role == "cts" for _, role in mine) == len(messages)

    def has(self, row):
        return bool(self.data) and self.data[0] <= row["first_frame"] <= row["last_frame"] <= self.data[-1]


def all_seen(it, frames):
    return [Seen(what, messages, frames) for what, messages in it.operations]


def kinds_before(operations, at):
    """Of this kind in the capture; a connection is followed once it had two messages."""
    return sum(bool(one.data) and one.what.kind == operations[at].what.kind for one in operations[:at])


def named(told):
    return [row for row in told["collectives"] if row["collective"] or row["algorithm"]]


class Made(unittest.TestCase):
    """What is made is what the specification says."""

    def test_blocks_go_by_their_lowest_bit(self):
        for (ranks, by_hand), kind, short in itertools.product(BLOCKS.items(), BOTH, (False, True)):
            width, at_once = made.aggregation(ranks, 100 if short else 65536, 65536)
            sent = collections.defaultdict(list)
            for message in made.messages(kind, ranks, width, at_once)[0]:
                sent[message.dimension] += message.blocks
            self.assertEqual([sorted(sent[dimension]) for dimension in made.peers(ranks)], list(by_hand), (ranks, kind))

    def test_all_ranks_send_all_blocks_but_their_own(self):
        """Section 7.1: S(N-1)/N each; a reduce-scatter of short blocks may have room for those of a power of two of ranks."""
        for world in WORLDS:
            it, ranks, written = job(*world), world[0], collections.Counter()
            for frame in it.frames:
                if frame.role == "data" and frame.bytes[BTH] in BEGINNINGS:
                    written[frame.connection, frame.k] += int.from_bytes(frame.bytes[BTH + 24:BTH + 28], "big")
            for what, messages in it.operations:
                total, sent = what.size * ranks * (ranks - 1), sum(written[message] for message in messages)
                most = what.size * ranks * ((1 << len(made.peers(ranks))) - 1) if what.kind == SCATTER and not it.compact else total
                self.assertTrue(total <= sent <= most, (world, what, sent))

    def test_nobody_sends_on_what_has_not_come(self):
        """A block is sent on, alone or in a sum, by who was sent it as a block with one bit more, or one bit less."""
        for ranks, kind, short in itertools.product(BLOCKS, BOTH, (False, True)):
            sent, awaited = made.messages(kind, ranks, *made.aggregation(ranks, 100 if short else 65536, 65536))
            for message in sent:
                for block in message.blocks:
                    bit = block & -block
                    needs = ({block - bit} - {0} if kind == GATHER else
                             {block + low for low in (1 << i for i in range(8)) if low < bit and block + low < ranks})
                    self.assertLessEqual(needs, set(awaited[:message.after]), (ranks, kind, message))


class Pat(unittest.TestCase):
    def of_each(self, check, ways=WAYS):
        for world, way in itertools.product(WORLDS, ways):
            with self.subTest(world=world, way=way):
                check(job(*world), way, *seen(world, way))

    def test_processes_and_messages(self):
        def check(it, way, _frames, told):
            group, = told["communicators"]
            self.assertEqual([row["rank"] for row in group["ranks"]], list(range(len(it.hosts))))
            self.assertEqual(told["findings"], [])
            if way == "whole":
                self.assertEqual(len(told["messages"]), sum(it.counted().values()))

        self.of_each(check)

    def test_channels_and_distances(self):
        def check(it, _way, _frames, told):
            group, = told["communicators"]
            numbers = {(str_of(link.sender), link.sender_qpns[0]): (pair, channel)
                       for channel, links in enumerate(it.links) for pair, link in links.items()}
            rows = {row["connection"]: numbers[row["sender"]["addresses"][0], row["sender"]["qpns"][0]] for row in told["connections"]}
            self.assertEqual(group["pat"], sorted({far for (_, far), _ in rows.values()}))
            self.assertEqual(group["ring"], list(range(len(it.hosts))) if 1 in group["pat"] else None)
            self.assertIsNone(group["trees"])
            self.assertEqual([row["channel"] for row in group["channels"]], list(range(len(it.links))))
            for row in group["channels"]:
                self.assertEqual([rows[i] for i in row["connections"]],
                                 [((rank, far), row["channel"]) for far in group["pat"] for rank in range(len(it.hosts))])

        self.of_each(check, ("whole", "no set-up", "middle", "cut"))

    def test_operations(self):
        def check(it, way, frames, told):
            operations = all_seen(it, frames)
            if way == "middle":
                operations = [one for i, one in enumerate(operations) if kinds_before(operations, i) > 1]
                if not operations:
                    return
            self.assertTrue(all(one.is_whole for one in operations))
            rows = [row for row in named(told) if way != "middle" or row["first_frame"] in {one.data[0] for one in operations}]
            self.assertEqual([(row["collective"], row["algorithm"], row["protocol"], row["message_bytes"], row["message_bytes_range"],
                               row["channels"], row["first_frame"], row["last_frame"], row["complete"]) for row in rows],
                             [(one.what.kind, "PAT", "SIMPLE", one.what.size, [one.what.size] * 2, len(it.links), one.data[0],
                               one.data[-1], True) for one in operations])

        self.of_each(check, ("whole", "no set-up", "middle", "cut"))

    def test_nothing_is_named_that_was_not(self):
        told_at_all = 0

        def check(it, _way, frames, told):
            nonlocal told_at_all
            operations = all_seen(it, frames)
            for row in named(told):
                mine = [one for one in operations if one.has(row)]
                self.assertEqual(len(mine), 1, row)
                self.assertEqual((row["collective"], row["algorithm"]), (mine[0].what.kind, "PAT"))
                self.assertIn(row["message_bytes"], (mine[0].what.size, None), row)
                told_at_all += 1

        self.of_each(check, ("middle", "lossy", "lossy, no set-up"))
        self.assertGreater(told_at_all, 2 * len(WORLDS))

    def test_two_ranks_are_a_ring(self):
        """One copies, or adds up, what the other sends: nothing tells which."""
        sizes = 2000, 40000, 100000, 200000, 262144
        for channels, kind in itertools.product((1, 2), BOTH):
            it = made.Pat(20 + channels, 2, channels, [What(kind, channels * size) for size in sizes])
            for way in ("whole", "lossy"):
                with self.subTest(channels=channels, kind=kind, way=way):
                    told = document(WAYS[way](it))
                    self.assertEqual({(row["collective"], row["algorithm"] == "PAT") for row in told["collectives"]}, {(None, False)})
                    self.assertEqual({group["pat"] for group in told["communicators"]}, {None})

    def test_records_have_the_volume_of_all_ranks(self):
        """NCCL's inspector has the size of one block, and a bandwidth of all of them."""
        it = job(4, 2, BOTH, False)
        rows = run(it.frames, "-o", "inspector").lines()
        told = seen((4, 2, BOTH, False), "whole")[1]["collectives"]
        self.assertEqual([row["coll_perf"]["coll_msg_size_bytes"] for row in rows], [what.size for what, _ in it.operations])
        for row, one in zip(rows, told):
            performance = row["coll_perf"]
            self.assertEqual((performance["coll"], performance["algorithm"], row["header"]["n_ranks"]), (one["collective"], "PAT", 4))
            gbs = 4 * one["message_bytes"] / (nanoseconds(one["last_ts"]) - nanoseconds(one["first_ts"]))
            self.assertAlmostEqual(performance["coll_algobw_gbs"] / gbs, 1, 3)
            self.assertAlmostEqual(performance["coll_busbw_gbs"] / (gbs * 3 / 4), 1, 3)


@functools.cache
def repeated(ranks, size):
    return made.Pat(900 + ranks, ranks, 1, [What(kind, size) for kind in (GATHER, GATHER, SCATTER, SCATTER, SCATTER, GATHER, GATHER)])


class OfOneSize(unittest.TestCase):
    """Operations on end that are alike: what is left over of one is not taken for the next one's."""

    WORLDS = (3, 11832), (4, 46192), (9, 11832)

    def test_what_each_was(self):
        for world in self.WORLDS:
            with self.subTest(world=world):
                self.assertEqual([(row["collective"], row["algorithm"], row["message_bytes"])
                                  for row in document(repeated(*world).frames)["collectives"]],
                                 [(what.kind, "PAT", what.size) for what, _ in repeated(*world).operations])

    def test_what_is_missing_is_not_made_up(self):
        for world, way in itertools.product(self.WORLDS, ("middle", "lossy, no set-up")):
            with self.subTest(world=world, way=way):
                frames = WAYS[way](repeated(*world))
                operations = all_seen(repeated(*world), frames)
                for row in named(document(frames)):
                    mine = [one.what for one in operations if one.has(row)]
                    self.assertEqual([(row["collective"], row["algorithm"]) for _ in mine], [(what.kind, "PAT") for what in mine])
                    self.assertEqual(len(mine), 1, row)


def str_of(host):
    return ".".join(map(str, host[0]))


def nanoseconds(text):
    return int(text.split(".")[1].rstrip("Z").ljust(9, "0")) + 10**9 * int(text.split(".")[0][-2:])


@functools.cache
def beside_ring(ranks, channels):
    chance = random.Random(ranks)
    whats = [What(REDUCE, 16 * ranks * channels * chance.randrange(1, 4000)) for _ in range(3)]
    whats += [What(kind, 4 * channels * chance.randrange(1, 9000)) for kind in BOTH for _ in range(2)]
    chance.shuffle(whats)
    return made.Pat(700 + ranks, ranks, channels, whats)


class BesideTheRing(unittest.TestCase):
    """All-reduces over the ring, whose connections are those of a reduce-scatter to the next rank."""

    def test_what_went_over_which(self):
        for (ranks, channels), way in itertools.product(((3, 1), (4, 2), (5, 1), (8, 1)), ("whole", "no set-up", "cut")):
            with self.subTest(ranks=ranks, way=way):
                it = beside_ring(ranks, channels)
                told = document(WAYS[way](it))
                self.assertEqual([(row["collective"], row["algorithm"], row["message_bytes"], row["channels"])
                                  for row in told["collectives"]],
                                 [(what.kind, "RING" if what.kind == REDUCE else "PAT", what.size, channels)
                                  for what, _ in it.operations])
                self.assertEqual(told["communicators"][0]["ring"], list(range(ranks)))

    def test_what_is_missing_is_not_made_up(self):
        for ranks, channels in ((3, 1), (4, 2), (5, 1), (8, 1)):
            it = beside_ring(ranks, channels)
            for way in ("middle", "lossy"):
                with self.subTest(ranks=ranks, way=way):
                    frames = WAYS[way](it)
                    operations = all_seen(it, frames)
                    for row in named(document(frames)):
                        mine = [one.what for one in operations if one.has(row)]
                        self.assertEqual(len(mine), 1, row)
                        self.assertIn(row["algorithm"], ("RING" if mine[0].kind == REDUCE else "PAT", None), row)
                        self.assertIn(row["message_bytes"], (mine[0].size, None), row)


@functools.cache
def connected(ranks, channels, ring=True, pat=True):
    chance = random.Random(ranks)
    whats = [What(kind, 16 * ranks * channels * chance.randrange(1, 2000)) for kind in (REDUCE, CLIMB) for _ in range(3 if ring else 2)]
    if not ring:
        whats = [what for what in whats if what.kind != REDUCE]
    if pat:
        whats += [What(kind, 4 * channels * chance.randrange(1, 9000)) for kind in BOTH for _ in range(2)]
    chance.shuffle(whats)
    return made.Connected(40 + ranks, ranks, channels, whats, ring)


@functools.cache
def connected_seen(ranks, channels, ring, way):
    return document(WAYS[way](connected(ranks, channels, ring)))


class BesideRingsAndTrees(unittest.TestCase):
    """NCCL makes connections for all three, where it makes them as it begins, and the trees' and the ring's are PAT's, too."""

    NAMES = {REDUCE: (REDUCE, "RING"), CLIMB: (REDUCE, "TREE"), GATHER: (GATHER, "PAT"), SCATTER: (SCATTER, "PAT")}

    def test_ring_trees_and_channels(self):
        for (ranks, channels), ring, way in itertools.product(((4, 2), (5, 4), (8, 2)), (True, False), ("whole", "no set-up")):
            with self.subTest(ranks=ranks, ring=ring, way=way):
                it = connected(ranks, channels, ring)
                told = connected_seen(ranks, channels, ring, way)
                group, = told["communicators"]
                numbers = {(str_of(link.sender), link.sender_qpns[0]): (channel, *pair)
                           for channel, links in enumerate(it.links) for pair, link in links.items()}
                rows = {row["connection"]: numbers[row["sender"]["addresses"][0], row["sender"]["qpns"][0]] for row in told["connections"]}
                self.assertEqual([{rows[i][0] for i in channel["connections"]} for channel in group["channels"]],
                                 [{channel} for channel in range(channels)])
                self.assertEqual(group["ring"], list(range(ranks)))
                self.assertEqual([row["tree"] for row in group["trees"]], [0, 1])
                for tree in group["trees"]:
                    mine = it.channels[tree["tree"] * channels // 2:][:channels // 2]
                    self.assertEqual([(edge["child"], edge["parent"]) for edge in tree["edges"]],
                                     [(child, mine[0].parent[child]) for child in sorted(mine[0].up)])
                    for edge in tree["edges"]:
                        self.assertEqual([rows[i][:2] for i in edge["up"]],
                                         [(it.channels.index(channel), edge["child"]) for channel in mine])
                        self.assertEqual([rows[i][:2] for i in edge["down"]],
                                         [(it.channels.index(channel), edge["parent"]) for channel in mine])

    def test_what_went_over_which(self):
        for (ranks, channels), ring, way in itertools.product(((4, 2), (5, 4), (8, 2)), (True, False), ("whole", "no set-up")):
            with self.subTest(ranks=ranks, ring=ring, way=way):
                it = connected(ranks, channels, ring)
                self.assertEqual([(row["collective"], row["algorithm"], row["message_bytes"], row["channels"])
                                  for row in connected_seen(ranks, channels, ring, way)["collectives"]],
                                 [(*self.NAMES[what.kind], what.size, channels) for what, _ in it.operations])

    def test_where_pat_is_not_used(self):
        """Set-ups show its connections: ring and trees are told all the same."""
        for ranks, channels in ((4, 2), (5, 4), (8, 2)):
            with self.subTest(ranks=ranks):
                it = connected(ranks, channels, pat=False)
                told = document(it.frames)
                self.assertEqual(told["communicators"][0]["ring"], list(range(ranks)))
                self.assertEqual([row["tree"] for row in told["communicators"][0]["trees"]], [0, 1])
                self.assertEqual([(row["collective"], row["algorithm"], row["message_bytes"], row["channels"])
                                  for row in told["collectives"]],
                                 [(*self.NAMES[what.kind], what.size, channels) for what, _ in it.operations])

    def test_what_is_missing_is_not_made_up(self):
        for (ranks, channels), way in itertools.product(((4, 2), (5, 4), (8, 2)), ("middle", "lossy")):
            with self.subTest(ranks=ranks, way=way):
                it = connected(ranks, channels)
                frames = WAYS[way](it)
                operations = all_seen(it, frames)
                for row in named(document(frames)):
                    mine = [one.what for one in operations if one.has(row)]
                    self.assertEqual(len(mine), 1, row)
                    self.assertIn(row["algorithm"], (self.NAMES[mine[0].kind][1], None), row)
                    self.assertIn(row["collective"], (self.NAMES[mine[0].kind][0], None), row)
                    self.assertIn(row["message_bytes"], (mine[0].size, None), row)


class Steps(others.Sends):
    """The same room is offered as for a step, whatever is sent."""

    def message(self, link, length, protocol, ready, offered=None, ahead=others.STEPS):
        return super().message(link, length, others.SIMPLE, ready, 524288, ahead)


def around(ranks, *distances):
    return [(rank, (rank + far) % ranks) for far in distances for rank in range(ranks)]


def doubling(ranks):
    return [(rank, rank ^ 1 << i) for i in range((ranks - 1).bit_length()) for rank in range(ranks)]


def once_came(pairs, ranks):
    """Each sends on once what he was sent the distance before has come."""
    return [(place, [i for i in range(place // ranks * ranks - ranks, place // ranks * ranks) if pairs[i][1] == pairs[place][0]])
            for place in range(ranks, len(pairs))]


NO_PAT = {
    "all to all of 3": (3, around(3, 1, 2)),
    "all to all of 4": (4, around(4, 1, 2, 3)),
    "all to all of 5": (5, around(5, 1, 2, 3, 4)),
    "halo of 8": (8, around(8, 1, 2, 4)),
    "halo of 8 both ways": (8, around(8, 1, 2, 4, 6, 7)),
    "halo of 7 back": (7, around(7, 6, 5, 3)),
    "recursive doubling": (8, doubling(8)),
    "recursive doubling of 4": (4, doubling(4)),
}


class NoPat(unittest.TestCase):
    def test_sends(self):
        for (name, (ranks, pairs)), sends, protocol in itertools.product(NO_PAT.items(), (others.Sends, Steps),
                                                                         (others.SEND, others.REGISTERED)):
            after = [(place, [place - ranks]) for place in range(ranks, len(pairs))]
            if sends is Steps and (protocol == others.REGISTERED or ranks == 3):  # the same of three would be PAT's
                continue
            it = sends(ranks + len(name), ranks, pairs, after, protocol, channels=1)
            for way in ("whole", "lossy, no set-up")[:1 if sends is Steps else 2]:
                with self.subTest(job=name, sends=sends.__name__, protocol=protocol, way=way):
                    told = document(WAYS[way](it))
                    self.assertNotIn("PAT", {row["algorithm"] for row in told["collectives"]})
                    self.assertFalse({GATHER, SCATTER} & {row["collective"] for row in told["collectives"]})
                    if sends is others.Sends:
                        self.assertEqual([group["pat"] for group in told["communicators"]], [None])

    def test_rounds_of_one_size(self):
        """Steps are offered, and every member waits for the others: a round and a part of the next have as many messages as PAT."""
        for seed, (ranks, distances) in itertools.product(range(3, 6), ((5, (4, 3, 1)), (4, (1, 2)), (6, (4, 2, 1)))):
            with self.subTest(seed=seed, ranks=ranks):
                pairs = around(ranks, *distances)
                told = document(Steps(seed, ranks, pairs, once_came(pairs, ranks), others.SEND, channels=1).frames)
                self.assertNotIn("PAT", {row["algorithm"] for row in told["collectives"]})


if __name__ == "__main__":
    main()
