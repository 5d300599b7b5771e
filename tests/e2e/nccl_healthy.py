"""Healthy traffic of NCCL over several queue pairs, as it was sent and as mirrors spoil it: nothing is found in it, and messages
that are said to be complete have their numbers. Forged into it, frames are found."""

import collections
import functools
import itertools
import random
import struct

import nccl_made
from harness import WithFolder, fabtap, main
from nccl import BTH, retouched
from nccl_forged import WithForged
from roce import checksum, mac

SEEDS = range(60)
# without a set-up: data passes before it is asked for, or after its buffer was offered anew
OVERTAKEN = (104, 209, 373, 377, 655, 845, 1134, 1136, 1179, 1183, 1544)
OVERTAKEN_FROM_THE_MIDDLE = (1, 43, 55, 165, 239, 752, 811, 846, 1001, 1134)
OVERTAKEN_WITH_HOLES = (43, 240, 309, 470, 1136, 1190)
OVERTAKEN_BEHIND_HOLES = (56, 240, 4063)  # with the set-up
OUTAGES_APART = (92195, 93043)  # likewise
CUT_OFF_APART = (94202, 94379)  # likewise, by audits: clear-to-sends at the end come long after their data
NUMBERED = (94331, 95071)  # likewise: the immediates of the first messages are 0, as they are numbers
COUNTED_LATE = (95129,)  # likewise: which message a queue pair has is known while that is under way
SHORT = (6, 8, 11, 12, 17, 20, 23, 36, 37, 39)  # several requests at a time, or two devices
CUT = (4, 8, 9, 16, 22, 26, 38, 39, 48, 50)  # not of the set-up: messages of several requests, or empty parts of them
SHOWN_LATE = (422,)  # with the set-up: a queue pair still writes a message while others are far ahead
MADE_ROOM = (238,)  # with the set-up: a message whose number was a guess made room for another queue pair's before it ended
NOT_ACKNOWLEDGED = (51,)  # from the middle: no ACK of a clear-to-send since it was known whose data it is
TAKEN_OVER = {  # by whether there is a set-up
    True: (7, 9, 11, 14, 16, 17, 21, 27, 57, 100), False: (10, 14, 15, 25, 31, 36, 40, 43, 49, 3495, 5032, 5122, 5157, 5278)}
# (seed, sets of queue pairs, frames of the capture), without a set-up: the next job's first writes have PSNs that passed
TAKEN_OVER_IN_SETS = (17, 2, None), (60, 4, None), (85, 2, None), (174, 4, 1347), (198, 2, 568)
# (seed, frames lost from here, so many, frames of the capture): the last clear-to-send of a connection is among them
END_LOST = ((38, 2709, 80, 2816), (68, 312, 80, 450), (128, 2166, 40, 2236), (150, 1118, 20, 1157), (182, 2690, 40, 2744))
LOST_WITH_DATA = (3162, 3169)
# seed, milliseconds that one port's clock is off, and the frames that are missing
FAR_AHEAD = (906031, 0.1, 11, 91), (907516, -0.1, 0, 1093)
# (seed, milliseconds likewise): clear-to-sends pass long after their data
CLOCKS_APART = (902986, 1), (904211, -1), (905393, -1)
# seed, bytes of a slice, and the frames that are left, of a job without set-up: clear-to-sends and the data that they asked for are
# missing, and the next one seen was cut behind its first requests
CUT_BEHIND_A_HOLE = 901195, 192, ((663, 1048), (1051, 1125), (1145, 1180), (1260, 1269), (1272, 2064))
# (seed, ways, set-up): data was listed under the number of another message
ASTRAY = ((3, "middle lossy", False), (4, "bursts", True), (5, "middle", True), (78, "middle", False), (82, "bursts", True),
          (132, "middle lossy", False))
UNREAD_BETWEEN = (91,)  # from the middle: between two messages that were asked for is one whose clear-to-send was lost
UNASKED = {"nccl.write-outside", "nccl.write-unasked"}
ENDS_AHEAD = ((108, 96), (108, 127), (108, 165), (108, 205))  # (seed, of the order)
RETH, IP_PROTOCOL, TCP = 54, 23, 6
BOUNDARIES = range(40)
LATE_SET_UPS = (3, 16, 23, 39, 68, 75)  # queue pairs that were met in its order, or in another one, or with their first clear-to-sends alone
BACK = {1: 0.99, 5: 0.9, 20: 0.75, 100: 0.75}  # PSNs behind the next one: how many of such forged writes are named, at least
BACK_OF_SEVERAL = {1: 0.75, 5: 0.7, 20: 0.7, 100: 0.3}  # likewise over several queue pairs, without a set-up


one_world = functools.lru_cache(192)(nccl_made.World)


def made(seed, setup=True, slice_bytes=700, sets=None, hosts=None):
    """Jobs that several tests look at are made once."""
    return one_world(seed, setup, slice_bytes, sets, hosts)


def whole(frames, chance):
    return frames


def lossy(frames, chance):
    share = chance.choice([0.003, 0.01, 0.05])
    return [f for f in frames if f.bytes[23] == 6 or chance.random() >= share]


def bursts(frames, chance):
    kept, left = [], 0
    for frame in frames:
        if left == 0 and chance.random() < 0.003:
            left = chance.randrange(1, 60)
        left -= left > 0
        kept += [frame] if left == 0 else []
    return kept


def outage(frames, chance):
    """Nothing is seen for a while, and then few frames up to the end."""
    at = chance.randrange(len(frames) // 10, len(frames) - 5)
    again = min(len(frames) - 1, at + chance.randrange(100, 3000))
    return frames[:at] + frames[again:again + chance.randrange(1, 40)]


def apart_with_an_outage(frames, chance):
    return outage(apart(frames, chance), chance)


def cut_off_apart(frames, chance):
    return apart(frames, chance)[:chance.randrange(len(frames) // 10, len(frames) - 5)]


def middle(frames, chance):
    return frames[chance.randrange(len(frames) // 8, len(frames) // 2):]


def swapped(frames, chance):
    """Frames overtake each other, on one queue pair, too."""
    order = sorted(range(len(frames)), key=lambda i: i + 4 * chance.random())
    return [frames[j]._replace(ts=frames[i].ts) for i, j in enumerate(order)]


def apart(frames, chance):
    """Each queue pair is seen at a port of its own, and later by so much: data may pass before it is asked for."""
    late = collections.defaultdict(lambda: chance.uniform(0, 20000))
    return sorted(frames, key=lambda f: f.ts + (late[f.connection, f.role, f.lane] if f.role else 0))


def apart_from_the_middle(frames, chance):
    return middle(apart(frames, chance), chance)


def apart_with_holes(frames, chance):
    return bursts(apart(frames, chance), chance)


def apart_with_losses(frames, chance):
    return lossy(apart(frames, chance), chance)


def clock_off(frames, milliseconds):
    """What one host sends is seen by a tap whose clock is off."""
    first = frames[-1].bytes[6:12]
    return sorted([f if f.bytes[6:12] == first else f._replace(ts=f.ts + milliseconds * 1e6) for f in frames], key=lambda f: f.ts)


def set_up_late(frames, chance):
    """TCP is seen at another port, and up to 0.3 ms later: connections have begun by then."""
    late = chance.uniform(0, 300000)
    return sorted(frames, key=lambda f: f.ts + (late if f.bytes[IP_PROTOCOL] == TCP else 0))


def taken_over(seed, setup, sets=None):
    """Nothing is seen of the end of one job and of the beginning of the next."""
    world, chance = made(seed, setup=setup, sets=sets), random.Random(seed)
    before, after = world.frames, nccl_made.Successor(world, seed).frames
    end = int(len(before) * chance.uniform(0.3, 0.95))
    return before[:end] + after[int(len(after) * chance.choice([0, 0.02, 0.1, 0.3])):]


class Healthy(WithFolder):
    def document(self, frames, *options):
        path = nccl_made.write(self.folder / "made.pcap", frames)
        return fabtap("nccl", "--json", *options, path).json()

    def finds_nothing(self, ways, seeds=SEEDS, **how):
        for seed in seeds:
            world = made(seed, **how)
            for way in ways:
                with self.subTest(seed=seed, way=way.__name__, release=world.release):
                    found = self.document(way(world.frames, random.Random(seed)), "--messages", "0")["findings"]
                    self.assertEqual([(f["rule"], f["frames"], f["evidence"]) for f in found], [])

    def test_nothing_is_found(self):
        self.finds_nothing((whole, lossy, bursts, middle, swapped, apart))

    def test_nothing_is_found_behind_holes_of_several_taps(self):
        self.finds_nothing((apart_with_holes, apart_with_losses), OVERTAKEN_BEHIND_HOLES)

    def test_nothing_is_found_in_first_messages(self):
        self.finds_nothing((whole, lossy), NUMBERED)
        self.finds_nothing((apart,), COUNTED_LATE)

    def test_nothing_is_found_behind_an_outage(self):
        """Of which the first packet of a queue pair is the last one of all, far ahead, to where nothing that was seen had asked for it."""
        self.finds_nothing((outage,))
        self.finds_nothing((apart_with_an_outage,), OUTAGES_APART)

    def test_a_loss_that_took_clear_to_sends_and_what_they_asked_for(self):
        """What comes behind it on the one queue pair goes where a message before did: nothing is told of where it is then."""
        self.finds_nothing((bursts,), LOST_WITH_DATA)
        for seed in LOST_WITH_DATA:
            kept = bursts(made(seed).frames, random.Random(seed))
            self.assertEqual(self.numbers(self.document(kept), kept)[1], [])

    def test_messages_before_the_first_clear_to_send_are_counted_back(self):
        for seed in UNREAD_BETWEEN:
            chance = random.Random(seed)
            kept = lossy(middle(made(seed).frames, chance), chance)
            told, wrong = self.numbers(self.document(kept), kept)
            self.assertGreater(told, 20)
            self.assertEqual(wrong, [])

    def test_data_is_listed_under_its_own_number_or_none(self):
        for seed, ways, setup in ASTRAY:
            chance, frames = random.Random(seed), made(seed, setup=setup).frames
            for way in ways.split():
                frames = globals()[way](frames, chance)
            rows = [m for m in self.document(frames)["messages"] if m["k"] is not None and m["first_frame"] is not None]
            with self.subTest(seed=seed, ways=ways):
                self.assertEqual([m for m in rows if {frames[m[at] - 1].k for at in ("first_frame", "last_frame")} != {m["k"]}], [])

    def test_a_loss_before_the_end_that_took_a_clear_to_send(self):
        for seed, first, count, end in END_LOST:
            with self.subTest(seed=seed):
                frames = made(seed).frames
                found = self.document(frames[:first] + frames[first + count:end], "--messages", "0")["findings"]
                self.assertEqual([(f["rule"], f["frames"]) for f in found], [])

    def test_data_that_many_messages_overtook_has_no_number(self):
        """Of more buffers than messages wait for, where so many clear-to-sends are late; but for what was kept before that was seen."""
        for seed, milliseconds, first, end in FAR_AHEAD:
            frames = clock_off(made(seed).frames, milliseconds)
            kept = frames[:first] + frames[end:]
            wrong = [m for m in self.document(kept)["messages"]
                     if m["first_frame"] and m["k"] not in (None, kept[m["first_frame"] - 1].k)]
            with self.subTest(seed=seed):
                self.assertLessEqual(len(wrong), 2, wrong)

    def test_clear_to_sends_that_pass_long_after_their_data(self):
        for seed, milliseconds in CLOCKS_APART:
            with self.subTest(seed=seed):
                found = self.document(clock_off(made(seed).frames, milliseconds), "--messages", "0")["findings"]
                self.assertEqual([(f["rule"], f["frames"]) for f in found], [])

    def test_what_was_cut_off_may_be_of_any_message_that_was_missed(self):
        seed, size, left = CUT_BEHIND_A_HOLE
        frames = made(seed, setup=False, slice_bytes=size).frames
        found = self.document([f for first, end in left for f in frames[first:end]], "--messages", "0")["findings"]
        self.assertEqual([(f["rule"], f["frames"]) for f in found], [])

    def test_ends_that_overtake_their_data_without_the_set_up(self):
        """Of messages that two queue pairs share, where only one was met."""
        for seed, order in ENDS_AHEAD:
            world = made(seed, setup=False)
            with self.subTest(seed=seed, order=order):
                found = self.document(swapped(world.frames, random.Random(order)), "--messages", "0")["findings"]
                self.assertEqual([(f["rule"], f["frames"]) for f in found], [])

    def test_a_queue_pair_whose_message_made_room(self):
        self.finds_nothing((apart,), MADE_ROOM)

    def test_messages_wait_for_the_last_of_their_queue_pairs(self):
        self.finds_nothing((apart,), SHOWN_LATE)
        for seed in SHOWN_LATE:
            world = made(seed)
            frames = apart(world.frames, random.Random(seed))
            told, wrong = self.numbers(self.document(frames), frames)
            self.assertEqual((told, wrong), (world.messages * len(world.connections), []))

    def test_set_ups_that_are_read_late(self):
        """What they name is the connection's, with what went there before."""
        self.finds_nothing((set_up_late, swapped), LATE_SET_UPS)
        sent = complete = 0
        for seed in (*LATE_SET_UPS, *SEEDS):
            world = made(seed)
            frames = set_up_late(world.frames, random.Random(seed))
            document = self.document(frames)
            told, wrong = self.numbers(document, frames)
            with self.subTest(seed=seed, release=world.release):
                self.assertEqual((document["findings"], wrong), ([], []))
                for connection in document["connections"]:
                    self.assertGreater(connection["counts"]["messages"], 0)
                    self.assertEqual(connection["found_by"], "metadata")
            sent += world.messages * len(world.connections)
            complete += told
        self.assertGreater(complete, 0.99 * sent)

    def test_queue_pairs_that_another_job_took_over_in_an_outage(self):
        for setup, seeds in TAKEN_OVER.items():
            for seed in seeds:
                with self.subTest(seed=seed, setup=setup):
                    found = self.document(taken_over(seed, setup), "--messages", "0")["findings"]
                    self.assertEqual([(f["rule"], f["frames"], f["evidence"]) for f in found], [])

        for seed, sets, end in TAKEN_OVER_IN_SETS:
            with self.subTest(seed=seed, sets=sets):
                found = self.document(taken_over(seed, False, sets)[:end], "--messages", "0")["findings"]
                self.assertEqual([(f["rule"], f["frames"], f["evidence"]) for f in found], [])

    def test_nothing_is_found_in_short_slices(self):
        self.finds_nothing((whole, lossy), slice_bytes=160)
        self.finds_nothing((whole,), CUT, slice_bytes=80)
        self.finds_nothing((whole,), CUT, slice_bytes=110)

    def test_short_slices_count_each_message_once(self):
        """Where they show the first of several requests, or the key of the first device only."""
        for setup in (True, False):
            for seed, slice_bytes in itertools.product(SHORT, (76, 90, 100)):
                world = made(seed, setup=setup, slice_bytes=slice_bytes, sets=1)
                document = self.document(world.frames)
                with self.subTest(seed=seed, setup=setup, slice=slice_bytes):
                    if all(c["found_by"] != "lengths" for c in document["connections"]):
                        self.assertEqual([m["k"] for m in document["messages"] if not (m["cts_frame"] and m["first_frame"])], [])

    def test_nothing_is_found_with_as_many_queue_pairs_as_there_can_be(self):
        for sets in (62, 63, 64, 128):
            self.finds_nothing((whole,), seeds=(0, 2, 4, 6), sets=sets)

    def test_nothing_is_found_without_the_set_up(self):
        self.finds_nothing((whole, apart), (*SEEDS, *OVERTAKEN), setup=False)
        self.finds_nothing((apart_from_the_middle,), OVERTAKEN_FROM_THE_MIDDLE, setup=False)
        self.finds_nothing((apart_with_holes,), OVERTAKEN_WITH_HOLES, setup=False)

    def numbers(self, document, frames):
        """(messages said to be complete, those of them whose first or last frame is of another message)"""
        told = [m for m in document["messages"] if m["completed"]]
        wrong = [m for m in told if {frames[m["first_frame"] - 1].k, frames[m["last_frame"] - 1].k} != {m["k"]}]
        return len(told), wrong

    def test_all_messages_of_whole_captures(self):
        """Each is complete and has its number, and how queue pairs take turns is known; but for a few that may be of either way."""
        sent = complete = 0
        for seed in SEEDS:
            world = made(seed)
            document = self.document(world.frames)
            told, wrong = self.numbers(document, world.frames)
            with self.subTest(seed=seed, release=world.release):
                self.assertEqual(wrong, [])
                self.assertEqual(len(document["connections"]), len(world.connections))
                for connection in document["connections"]:
                    self.assertIn(connection["split_data_on_qps"], (world.split, None))
            sent += world.messages * len(world.connections)
            complete += told
        self.assertGreater(complete, 0.998 * sent)

    def test_messages_have_all_their_parts(self):
        """Queue pairs that carry nothing but empty parts for long, or any at all, are the connection's, too."""
        for seed, way in ((302, middle), (305, whole), (354, middle), (394, middle), (395, bursts), (349, whole),
                          (376, lossy), (736, whole), (736, bursts), (799, whole)):
            with self.subTest(seed=seed, way=way.__name__):
                frames = made(seed, setup=False).frames
                packets = collections.Counter((f.connection, f.k) for f in frames if f.role == "data")
                kept = way(frames, random.Random(seed))
                told = [m for m in self.document(kept)["messages"] if m["completed"]]
                self.assertGreater(len(told), 0)
                self.assertEqual([m for m in told if m["packets"] != packets[kept[m["first_frame"] - 1].connection, m["k"]]], [])

    def test_numbers_behind_holes(self):
        """Hardly one in a hundred of those said to be complete is taken for another one."""
        complete = mistaken = 0
        for seed in SEEDS:
            for setup in (True, False):
                frames = made(seed, setup=setup).frames
                for way in (lossy, middle):
                    kept = way(frames, random.Random(seed))
                    told, wrong = self.numbers(self.document(kept), kept)
                    complete, mistaken = complete + told, mistaken + len(wrong)
        self.assertGreater(complete, 5000)
        self.assertLess(mistaken, 0.01 * complete)

    def test_numbers_where_many_messages_are_empty(self):
        """Buffers lie side by side, and queue pairs take turns: no message is taken for the one before or behind it."""
        for seed, setup, way in ((1029, False, whole), (1029, False, bursts), (437, False, lossy), (437, True, bursts),
                                 (453, False, bursts), (453, True, lossy), (459, True, middle),
                                 (322, False, bursts), (733, False, bursts), (798, False, lossy)):
            with self.subTest(seed=seed, setup=setup, way=way.__name__):
                kept = way(made(seed, setup=setup).frames, random.Random(seed))
                self.assertEqual(self.numbers(self.document(kept), kept)[1], [])

    def test_numbers_where_clear_to_sends_were_missed_with_their_data(self):
        """Buffers recur: what was asked for by one that was missed is not taken for what an earlier one asked for."""
        for seed, setup, way in ((1950, False, bursts), (1887, False, bursts), (1817, False, bursts), (1895, False, middle),
                                 (1982, False, middle), (1996, False, bursts), (2103, False, bursts), (2275, False, bursts),
                                 (2911, False, bursts), (1895, True, bursts), (1896, True, lossy), (1809, True, apart)):
            with self.subTest(seed=seed, setup=setup, way=way.__name__):
                kept = way(made(seed, setup=setup).frames, random.Random(seed))
                self.assertEqual(self.numbers(self.document(kept), kept)[1], [])

    def test_holes_between_messages_do_not_join_them(self):
        """What is lost with the clear-to-sends of both: the end of one message, and maybe the beginning of the next one."""
        spoilt = 0
        for seed in BOUNDARIES:
            world = made(seed, sets=1)
            frames = [] if world.several or world.devices > 1 else world.frames
            packets = collections.defaultdict(list)
            for i, f in enumerate(frames):
                packets[f.connection, f.k, f.role].append(i)
            for (connection, k, role), mine in list(packets.items())[40:]:
                later = packets.get((connection, k + 1, role), ())
                if role != "data" or min(len(mine), len(later)) < 3 or mine[-1] > later[0]:
                    continue
                spoilt += 1
                asked = packets[connection, k, "cts"] + packets[connection, k + 1, "cts"]
                for lost in (mine[-1:], mine[-2:] + later[:1]):
                    kept = [f for i, f in enumerate(frames) if i not in (*asked, *lost)]
                    with self.subTest(seed=seed, connection=connection, k=k, lost=len(lost)):
                        ends = [[kept[m[end] - 1].k for end in ("first_frame", "last_frame")]
                                for m in self.document(kept)["messages"] if m["first_frame"] and m["connection"] == connection]
                        self.assertEqual([pair for pair in ends if pair[0] != pair[1]], [])
                if spoilt % 4 == 0:
                    break
        self.assertGreater(spoilt, 20)

    def test_ends_alone_are_no_message(self):
        """Of releases that write data first and its end, an empty write, behind it: all of the data was missed."""
        for seed in (2087, 2225, 2729):
            with self.subTest(seed=seed):
                kept = bursts(made(seed, setup=False).frames, random.Random(seed))
                told = [m for m in self.document(kept)["messages"] if m["completed"]]
                self.assertGreater(len(told), 0)
                self.assertEqual([m for m in told if m["requests"][0]["written_bytes"] is None], [])

    def test_numbers_where_taps_differ_in_their_order(self):
        """What cannot be known is not said to be complete."""
        complete = mistaken = 0
        for seed in SEEDS:
            frames = made(seed, setup=False).frames
            for way in (apart, apart_from_the_middle, apart_with_losses):
                kept = way(frames, random.Random(seed))
                told, wrong = self.numbers(self.document(kept), kept)
                complete, mistaken = complete + told, mistaken + len(wrong)
        self.assertGreater(complete, 1000)
        self.assertLess(mistaken, 0.005 * complete)

    def forged(self, world, frames):
        """(name, rules, where it comes, the frame): before the first write of a message, once it is known how queue pairs take turns"""
        first = {}
        for i, f in enumerate(frames):
            if f.role == "data":
                first.setdefault((f.connection, f.k), i)
        known = [i for (_, k), i in first.items() if i > len(frames) // 2 and k > 2 * world.sets and self.length(frames[i])]
        at = random.Random(world.messages).choice(known or [None])
        if at is None:
            return
        frame = frames[at]
        va, key, length = struct.unpack_from(">QII", frame.bytes, RETH)
        yield "outside", UNASKED, at, self.rewritten(frame, va ^ 1 << 40, key, length)
        yield "other key", UNASKED, at, self.rewritten(frame, va, key ^ 0x6666, length)
        other, source = self.rewritten(frame, va, key, length), bytes((10, 66, 6, 6))
        ip = other.bytes[14:24] + bytes(2) + source + other.bytes[30:34]
        ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
        yield "second writer", {"nccl.second-writer"}, at, other._replace(bytes=other.bytes[:6] + mac(source) + b"\x08\x00" + ip + other.bytes[34:])

    def length(self, frame):
        return struct.unpack_from(">I", frame.bytes, RETH + 12)[0]

    def rewritten(self, frame, va, key, length):
        changed = frame.bytes[:RETH] + struct.pack(">QII", va, key, length) + frame.bytes[RETH + 16:]
        return frame._replace(bytes=changed, ts=frame.ts - 1)

    def finds_forged(self, world, frames):
        for name, rules, at, frame in self.forged(world, frames):
            found = self.document(frames[:at] + [frame] + frames[at:], "--messages", "0", "--no-icrc")["findings"]
            with self.subTest(forged=name, release=world.release, sets=world.sets, style=world.style):
                self.assertEqual([f["frames"] for f in found], [[at + 1]])
                self.assertIn(found[0]["rule"], rules)

    def test_forged_writes_are_found(self):
        for seed in SEEDS:
            world = made(seed)
            with self.subTest(seed=seed):
                self.finds_forged(world, world.frames)

    def test_forged_writes_are_found_without_the_set_up(self):
        """Of one queue pair, also from the middle, where what is acknowledged shows that packets pass in order."""
        for seed in SEEDS:
            world = made(seed, setup=False, sets=1)
            for way in () if world.devices != 1 else (whole,) if seed in NOT_ACKNOWLEDGED else (whole, middle):
                with self.subTest(seed=seed, way=way.__name__):
                    self.finds_forged(world, way(world.frames, random.Random(seed)))

    def with_old_psns(self, world, backs):
        """(PSNs behind the next one, the frames of each finding, those of the one that there is to be)"""
        writes = [i for i, f in enumerate(world.frames) if f.role == "data" and f.bytes[BTH] in (0x06, 0x0a) and self.length(f)]
        if len(writes) < 8:
            return
        at = writes[len(writes) * 3 // 4]
        frame = world.frames[at]
        record = struct.pack("<IIII", 0, 0, len(frame.bytes), frame.size) + frame.bytes
        va, psn = struct.unpack_from(">Q", frame.bytes, RETH)[0], int.from_bytes(frame.bytes[BTH + 9:BTH + 12], "big")
        for back in [back for back in backs if back <= psn]:
            forged = retouched(record, psn=psn - back, reth=(va + (8 << 30), 64))[16:]
            frames = world.frames[:at] + [nccl_made.Frame(frame.ts - 1, len(forged), forged)] + world.frames[at:]
            yield back, [f["frames"] for f in self.document(frames, "--messages", "0")["findings"]], [at + 1]

    def finds_with_old_psns(self, worlds, shares):
        named = collections.Counter()
        for world in worlds:
            for back, found, forged in self.with_old_psns(world, shares):
                with self.subTest(setup=world.setup, release=world.release, frame=forged, back=back):
                    self.assertIn(found, ([], [forged]))
                    named[back, len(found)] += 1
        for back, share in shares.items():
            self.assertGreater(named[back, 1], share * (named[back, 0] + named[back, 1]), back)

    def test_forged_writes_with_old_psns_are_found(self):
        """Under PSNs of messages of late, and of those before: nothing was asked for where they go."""
        worlds = (made(seed, setup=setup, sets=1, hosts=2) for seed, setup in itertools.product(SEEDS, (True, False)))
        self.finds_with_old_psns((world for world in worlds if world.devices == 1), BACK)

    def test_forged_writes_with_old_psns_over_several_queue_pairs(self):
        """Without the set-up, where it is a guess which message had the PSN."""
        worlds = (made(seed, setup=False, hosts=2) for seed in SEEDS)
        self.finds_with_old_psns((world for world in worlds if world.sets * world.devices > 1), BACK_OF_SEVERAL)

    def test_of_two_writes_with_one_psn_both_are_named(self):
        """A short one into the buffer that was asked for comes before the connection's own: that is not blamed alone."""
        named = 0
        for seed in SEEDS:
            world = made(seed, sets=1, hosts=2)
            writes = [i for i, f in enumerate(world.frames) if f.role == "data" and f.bytes[BTH] == 0x06]
            if world.devices != 1 or world.several or len(writes) < 8:
                continue
            at = writes[len(writes) * 2 // 3]
            frame = world.frames[at]
            record = struct.pack("<IIII", 0, 0, len(frame.bytes), frame.size) + frame.bytes
            for ahead in (0, 128):
                va = struct.unpack_from(">Q", frame.bytes, RETH)[0] + ahead
                forged = retouched(record, reth=(va, 64))[16:]
                frames = world.frames[:at] + [nccl_made.Frame(frame.ts - 1, len(forged), forged)] + world.frames[at:]
                found = self.document(frames, "--messages", "0")["findings"]
                with self.subTest(seed=seed, release=world.release, ahead=ahead):
                    self.assertEqual([f["frames"] for f in found], [[at + 1, at + 2]])
                    self.assertIn("one of the two is forged", found[0]["evidence"][-1])
                    named += 1
        self.assertGreater(named, 20)


class Audits(WithForged):
    def test_nothing_is_found_at_the_end(self):
        for seed in CUT_OFF_APART:
            path = nccl_made.write(self.folder / "made.pcap", cut_off_apart(made(seed).frames, random.Random(seed)))
            with self.subTest(seed=seed):
                self.assertEqual([(f["rule"], f["frames"]) for f in self.findings("audit", path)], [])


if __name__ == "__main__":
    main()
