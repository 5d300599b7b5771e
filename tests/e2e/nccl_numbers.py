"""Which message data is of, where a capture leaves that open: rows have their number or none, and no number that is wrong makes healthy
traffic look forged. Made jobs as taps see them: one host's by a clock that is off, with ACKs or without, lossy or from the middle."""

import collections
import json
import random

import nccl_healthy
import nccl_made
import roce
from harness import WithFolder, fabtap, main
from nccl_healthy import apart, bursts, clock_off, lossy, middle, whole


def from_frame(first):
    return lambda frames, chance: frames[first:]


def sliced(size):
    """All frames, those of set-ups too."""
    return lambda frames, chance: [frame._replace(bytes=frame.bytes[:size]) for frame in frames]


def one_in_a_hundred(frames, chance):
    return [frame for frame in frames if chance.random() >= 0.01]


# (seed, set-up, milliseconds, what is seen)
WITHOUT_ACKS = ((902393, False, -0.02, middle), (902393, True, -1, lossy), (905677, False, 0.02, whole), (905677, True, -0.1, middle),
                (906121, True, -1, middle), (990012, False, -0.02, middle), (991061, False, 0.02, bursts), (993057, True, 0.1, whole))
WITH_ACKS = ((905118, False, 0.1, middle), (991083, False, -0.02, whole), (993002, False, -1, whole))
TWO_REQUESTS = ((991057, False, 0, middle), (993002, True, 0, middle))  # each message takes two, which the first ones seen do not show
LAST_MISSED = ((991061, False, 0, bursts),)  # clear-to-sends, that ACKs tell of
LAGGING = ((993057, False, 0, middle),)  # a queue pair has messages still that were asked for before the capture
FAR_BEHIND = ((994510, False, 1, bursts), (994510, True, -1, lossy))  # sixteen messages and more, one of which was not seen to be asked for
BEHIND_A_BUFFER = ((999009, True, 0, middle),)  # empty parts lie in the buffer of a message that was seen to be asked for, data not yet
ANOTHERS_BEFORE = ((994518, True, 0, lossy),)  # what passed before a clear-to-send was taken for its data, and goes elsewhere
COUNTED_LATE = ((994551, True, -1, from_frame(111)),)  # data that nobody was seen to ask for passes before ACKs show that data is late
# seeds, without set-up: immediates are numbers, and queue pairs take turns in an order that is not known
BY_THEIR_NUMBERS = (1310285, 1310492, 1311176)
LENGTHS_LIKE_NUMBERS = (1200136,)  # seeds, without set-up
# what one of two devices has of a message is as long as its number, which is its immediate
NUMBERED_LIKE_LENGTHS = ((996055, True, 0, whole),)
# (seed, set-up, what is seen)
SHARED_OR_NOT = ((996005, False, whole), (996055, False, whole), (997033, False, whole), (997036, False, whole), (996057, False, whole), (998008, False, lossy),
                 (998021, True, middle), (998021, False, apart), (998037, False, bursts), (998037, False, apart), (997068, True, middle), (996026, False, apart),
                 (1030002, True, middle), (1100034, True, sliced(128)))
ENDS = ((997032, False, apart), (997024, False, bursts), (997026, False, bursts), (998004, True, bursts), (1020024, True, middle))  # immediates of nothing, and of several requests, that others seemed to end with
SECOND_FIRST = ((997004, middle), (997004, apart), (997008, middle))  # of two devices, without set-up, the second one's clear-to-send passes first
LAST_TO_BEGIN = (996011,)  # seeds, without set-up: one of four queue pairs, when the others have had several messages, the first ones empty
ONE_DEVICE_MISSED = ((1200018, False), (1200035, True))  # (seed, set-up), from the middle
ONE_DEVICE_LATE = ((993007, True, -1, whole), (996708, True, -1, whole))  # of two, by all messages, or by what audits leave out until it shows

CUT_SET_UPS = ((1100002, True, 0, sliced(96)), (1100027, True, 0, sliced(128)))  # they name the first queue pairs alone
IN_THE_NEXT_BUFFER = (1200041,)  # seeds, without set-up: an empty part, whose message's length shows that it is of that one
# (seed, set-up, what is seen): queue pairs that have nothing but empty parts, and are not met, or one part of which was missed
EMPTY_PARTS = ((1300000, False, sliced(96)), (1100014, False, whole), (1200174, False, whole), (1100003, False, sliced(96)), (1100025, False, sliced(96)), (1100012, False, one_in_a_hundred))
MADE_ROOM = ((1100099, True, sliced(96)), (1100082, True, sliced(160)))  # likewise: a message, before another queue pair's part of it was read
COUNTED_ALONE = ((1100034, True, middle), (1100002, True, middle))  # likewise: by a queue pair, before another one was met
ENDED_OTHERWISE = ((1311039, True, middle), (1311113, False, middle))  # likewise: immediates are numbers, and this one is another's
FAR_PARTS = ((16, True, sliced(192)),)  # likewise: empty parts of a request lie behind all that the queue pairs met so far may have
PARTS = ((1200046, False, sliced(96)), (1200084, True, sliced(96)))  # likewise: of several requests, by one of the queue pairs that share them
IN_PIECES = ((998071, True, middle), (1100029, False, middle), (1100132, False, middle), (900351, False, middle), (900355, False, bursts))  # likewise: parts of messages whose number is not known
ASKED_OTHERWISE = ((900125, False, apart),)  # likewise: two queue pairs had parts of a message before it was asked for, and that goes elsewhere
LEFT_OVER = (1100067,)  # seeds, with set-up: empty parts fit as well what another number of queue pairs would leave
KEYS = ((1100042, True, middle), (1100042, False, whole), (1100090, False, whole))  # likewise: of the array of sizes; the second device's is met first
# (seed, what is seen), with the set-up: of several requests, which slices show nothing of; a write more than those of the clear-to-send
# that was taken for its own shows that it is another one's, and one that was missed may be meant
MORE_THAN_ASKED = ((16, lossy), (39, lossy), (46, lossy))
ASKED_IN_A_HOLE = ((50, bursts), (249, lossy), (256, lossy))


def without_acks(frames):
    return [f for f in frames if f.role or f.bytes[nccl_healthy.IP_PROTOCOL] == nccl_healthy.TCP]


class Numbers(WithFolder):
    def is_right(self, cases, only=lambda frames: frames):
        for seed, setup, milliseconds, way in cases:
            frames = only(clock_off(nccl_made.World(seed, setup=setup).frames, milliseconds))
            kept = way(frames, random.Random(seed))
            document = fabtap("nccl", "--json", nccl_made.write(self.folder / "made.pcap", kept)).json()
            wrong = [m for m in document["messages"] if m["completed"] and
                     {kept[m["first_frame"] - 1].k, kept[m["last_frame"] - 1].k} != {m["k"]}]
            with self.subTest(seed=seed, setup=setup, milliseconds=milliseconds, way=way.__name__):
                self.assertEqual([(f["rule"], f["frames"]) for f in document["findings"]], [])
                self.assertEqual(wrong, [])
                self.assertEqual(self.audited(self.folder / "made.pcap"), [])

    def audited(self, path):
        (self.folder / "all.map.json").write_text(json.dumps(roce.EVERYBODY))
        found = fabtap("audit", "-m", self.folder / "all.map.json", "--json", path).json()["findings"]
        return [(f["rule"], f["frames"]) for f in found if f["rule"].startswith("nccl.")]

    def test_where_nothing_is_acknowledged(self):
        """So that nothing shows whether data passes after it was asked for, and before its buffer is offered anew."""
        self.is_right(WITHOUT_ACKS, without_acks)

    def test_where_acknowledgments_show_that_order_is_lost(self):
        self.is_right(WITH_ACKS)

    def test_where_the_first_messages_do_not_show_their_requests(self):
        self.is_right(TWO_REQUESTS)

    def test_where_the_last_clear_to_sends_were_missed(self):
        self.is_right(LAST_MISSED)

    def test_where_a_queue_pair_lags_behind_the_capture(self):
        self.is_right(LAGGING)

    def test_where_messages_that_are_not_remembered_come(self):
        self.is_right(FAR_BEHIND)

    def test_where_messages_are_counted_late(self):
        self.is_right(COUNTED_LATE)

    def test_what_immediates_say_that_are_numbers(self):
        """Wherever the data goes: nearly all messages are there, and each row is of the message of its number."""
        for seed in BY_THEIR_NUMBERS:
            world, kept, document = self.told(seed, False, whole)
            rows = [m for m in document["messages"] if m["first_frame"] and m["k"] is not None]
            with self.subTest(seed=seed):
                self.assertGreater(sum(m["completed"] for m in rows), 0.97 * world.messages * len(world.connections))
                self.assertEqual([m for m in rows if {kept[m[at] - 1].k for at in ("first_frame", "last_frame")} != {m["k"]}], [])

    def test_where_numbers_look_like_lengths(self):
        self.is_right(NUMBERED_LIKE_LENGTHS)

    def test_where_empty_parts_lie_in_the_next_buffer(self):
        self.is_right(BEHIND_A_BUFFER)

    def test_where_data_before_its_clear_to_send_goes_elsewhere(self):
        self.is_right(ANOTHERS_BEFORE)

    def told(self, seed, setup, way):
        """The world, what is seen of it, and the document."""
        world = nccl_made.World(seed, setup=setup)
        kept = way(world.frames, random.Random(seed))
        return world, kept, fabtap("nccl", "--json", "--keys", nccl_made.write(self.folder / "made.pcap", kept)).json()

    def test_where_slices_cut_the_set_up(self):
        self.is_right(CUT_SET_UPS)

    def test_what_is_complete_has_all_its_parts(self):
        for seed, setup, way in EMPTY_PARTS:
            world, kept, document = self.told(seed, setup, way)
            packets = collections.Counter((f.connection, f.k) for f in world.frames if f.role == "data")
            wrong = [m for m in document["messages"] if m["completed"] and m["packets"] !=
                     packets[kept[m["first_frame"] - 1].connection, m["k"]]]
            with self.subTest(seed=seed, setup=setup):
                self.assertEqual((document["findings"], wrong), ([], []))

    def test_parts_are_no_longer_than_what_their_queue_pairs_carried(self):
        for case in PARTS:
            world, kept, document = self.told(*case)
            sent, qpns = collections.Counter(), {row["connection"]: row["receiver"]["qpns"] for row in document["connections"]}
            for f in world.frames:
                if f.role == "data" and f.bytes[nccl_healthy.BTH] in (0x06, 0x0a, 0x0b):
                    sent[f.connection, f.k, world.connections[f.connection].receiver_qpns[f.lane]] += int.from_bytes(
                        f.bytes[nccl_healthy.RETH + 12:nccl_healthy.RETH + 16], "big")
            parts = [((kept[m["first_frame"] - 1].connection, m["k"], qpns[m["connection"]][part["qp_index"]]), part["bytes"])
                     for m in document["messages"] if m["first_frame"] and m["k"] is not None for part in m["qps"] if part["bytes"]]
            with self.subTest(seed=case[0]):
                self.assertGreater(len(parts), 100)
                self.assertEqual([(part, size) for part, size in parts if size > sent[part]], [])

    def test_no_more_messages_than_there_were_are_counted(self):
        for case in IN_PIECES:
            _, kept, document = self.told(*case)
            seen = collections.defaultdict(set)
            for f in kept:
                if f.role == "data":
                    seen[f.bytes[30:34], int.from_bytes(f.bytes[nccl_healthy.BTH + 5:nccl_healthy.BTH + 8], "big")].add((f.connection, f.k))
            for row in document["connections"]:
                ends = [(bytes(map(int, row["receiver"]["addresses"][d].split("."))), qpn)
                        for d, qpn in zip(row["receiver"]["qp_device"], row["receiver"]["qpns"])]
                with self.subTest(seed=case[0], connection=row["connection"]):
                    self.assertLessEqual(row["counts"]["messages"], len(set().union(*(seen[end] for end in ends))))
                    self.assertGreater(row["counts"]["messages"], 0)

    def test_rows_add_up(self):
        for case in ASKED_OTHERWISE:
            _, _, document = self.told(*case)
            sums = collections.Counter()
            for m in document["messages"]:
                sums[m["connection"]] += sum(request["written_bytes"] or 0 for request in m["requests"])
            with self.subTest(seed=case[0]):
                self.assertEqual({row["connection"]: row["counts"]["payload_bytes"] for row in document["connections"]}, dict(sums))

    def test_no_number_is_told_twice(self):
        for case in MADE_ROOM:
            times = collections.Counter((m["connection"], m["k"]) for m in self.told(*case)[2]["messages"] if m["k"] is not None)
            with self.subTest(seed=case[0]):
                self.assertEqual([number for number, count in times.items() if count > 1], [])

    def test_numbers_without_a_doubt(self):
        for case in COUNTED_ALONE + ENDED_OTHERWISE + FAR_PARTS:
            _, kept, document = self.told(*case)
            with self.subTest(seed=case[0]):
                self.assertEqual([m for m in document["messages"] if None not in (m["k"], m["first_frame"]) and
                                  {kept[m[at] - 1].k for at in ("first_frame", "last_frame")} != {m["k"]}], [])

    def test_numbers_where_nothing_that_is_asked_for_can_be_read(self):
        told = 0
        for seed, way in MORE_THAN_ASKED + ASKED_IN_A_HOLE:
            kept = way(nccl_made.World(seed, slice_bytes=74).frames, random.Random(seed))
            document = fabtap("nccl", "--json", nccl_made.write(self.folder / "made.pcap", kept)).json()
            rows = [m for m in document["messages"] if None not in (m["k"], m["first_frame"])]
            told += len(rows)
            with self.subTest(seed=seed, way=way.__name__):
                self.assertEqual([m for m in rows if {kept[m[at] - 1].k for at in ("first_frame", "last_frame")} != {m["k"]}], [])
        self.assertGreater(told, 60)

    def test_where_empty_parts_go_at_most(self):
        """Queue pairs take turns: a message has no more of them than there are devices."""
        for seed in IN_THE_NEXT_BUFFER:
            world, _, document = self.told(seed, False, whole)
            with self.subTest(seed=seed):
                self.assertEqual([m for m in document["messages"] if len(m["qps"]) > world.devices], [])

    def test_where_empty_parts_fit_several_ways(self):
        for seed in LEFT_OVER:
            world, _, document = self.told(seed, True, whole)
            with self.subTest(seed=seed):
                self.assertEqual([c["counts"]["messages"] for c in document["connections"]], [world.messages] * len(world.connections))

    def test_whose_key_is_whose(self):
        for case in KEYS:
            world, _, document = self.told(*case)
            keys = {hex(c.sizes): [hex(key) for key in c.sizes_keys] for c in world.connections}
            arrays = [c["sizes_array"] for c in document["connections"] if c["sizes_array"]]
            with self.subTest(seed=case[0]):
                self.assertGreater(len(arrays), 0)
                for array in arrays:
                    self.assertEqual(array["rkeys"], keys[array["addr"]][:len(array["rkeys"])])

    def test_lengths_that_look_like_numbers(self):
        """Message 8 has 8 bytes: each of its queue pairs ends with its number, by accident, and it is no later release for that."""
        for seed in LENGTHS_LIKE_NUMBERS:
            world, _, document = self.told(seed, False, whole)
            for row in document["connections"]:
                first, last = [tuple(map(int, version.split("."))) for version in row["family"]["versions"]]
                with self.subTest(seed=seed, connection=row["connection"]):
                    self.assertTrue(first <= (2, *world.release) <= last, row["family"])

    def is_true(self, cases, fields):
        """Of each connection, as far as it is told."""
        for seed, setup, way in cases:
            world = nccl_made.World(seed, setup=setup)
            true = {"split_data_on_qps": world.split, "adaptive_routing": world.adaptive, "order": "big" if world.layout.big else "little"}
            path = nccl_made.write(self.folder / "made.pcap", way(world.frames, random.Random(seed)))
            for row in fabtap("nccl", "--json", path).json()["connections"]:
                for field in fields:
                    with self.subTest(seed=seed, setup=setup, way=way.__name__, field=field):
                        self.assertIn({**row, **row["imm"]}[field], (true[field], None))

    def test_whether_queue_pairs_share_messages(self):
        """Many are empty, and buffers recur: what several carried for one buffer may be several messages."""
        self.is_true(SHARED_OR_NOT, ["split_data_on_qps"])

    def test_what_ends_of_messages_show(self):
        self.is_true(ENDS, ["adaptive_routing", "order"])

    def test_which_device_is_the_first(self):
        """Message k is asked for on device k modulo their number, whichever is met first."""
        for seed, way in SECOND_FIRST:
            world = nccl_made.World(seed, setup=False)
            path = nccl_made.write(self.folder / "made.pcap", way(world.frames, random.Random(seed)))
            told = [[row[side]["addresses"] for side in ("sender", "receiver")] for row in fabtap("nccl", "--json", path).json()["connections"]]
            true = [[[".".join(map(str, address)) for address in side] for side in (c.sender, c.receiver)] for c in world.connections]
            with self.subTest(seed=seed, way=way.__name__):
                self.assertEqual(sorted(told), sorted(true))

    def test_where_a_queue_pair_before_others_begins_behind_them(self):
        for seed in LAST_TO_BEGIN:
            world = nccl_made.World(seed, setup=False)
            document = fabtap("nccl", "--json", nccl_made.write(self.folder / "made.pcap", world.frames)).json()
            told = [(m["connection"], m["k"]) for m in document["messages"] if m["completed"]]
            with self.subTest(seed=seed):
                self.assertEqual(sorted(told), [(i, k) for i in range(len(world.connections)) for k in range(world.messages)])

    def test_where_one_of_two_devices_is_missed(self):
        """Numbers of the other one's clear-to-sends show that there are two."""
        for seed, setup in ONE_DEVICE_MISSED:
            world, _, document = self.told(seed, setup, middle)
            keys = {hex(c.fifo): [hex(key) for key in c.fifo_keys] for c in world.connections}
            rows = [(row["devices"], row["cts_fifo"]["rkeys"], row["cts_fifo"]["addr"]) for row in document["connections"]]
            with self.subTest(seed=seed):
                self.assertIn((None, []), [row[:2] for row in rows])
                self.assertEqual([row for row in rows if row[0] not in (None, world.devices) or row[1] not in ([], keys[row[2]])], [])

    def test_where_one_of_two_devices_is_late(self):
        self.is_right(ONE_DEVICE_LATE)


if __name__ == "__main__":
    main()
