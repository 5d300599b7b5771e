"""Captures of about a millisecond, shorter than the time that late responses are awaited, and losses of one direction alone."""

import json
import random
import struct

import nccl
import pipelined
import roce
from harness import DATA, WithFolder, fabtap, main
from pcapfile import read_pcap, write_pcap

WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY = 0x06, 0x07, 0x08, 0x0a
READ_REQUEST, RESPONSE_FIRST, RESPONSE_MIDDLE, RESPONSE_LAST = 0x0c, 0x0d, 0x0e, 0x0f
START_NS, MTU = pipelined.START_NS, 256


def part(opcodes, at, of):
    first, middle, last = opcodes
    return first if at == 0 else last if at == of - 1 else middle


def queue_pairs(number, psn):
    """The two halves of a connection, of which one asks from this PSN on."""
    there, back = "10.0.0.%d" % (number % 200 + 1), "10.1.0.%d" % (number % 200 + 1)
    return (roce.Half(there, back, 0x1000 + number, port=0xc000 + number, psn=psn),
            roce.Half(back, there, 0x8000 + number, port=0xc000 + number))


def reads_in_turns(rng, halves, turns, packets):
    """So many queue pairs each get a response at a time, to READs of so many, and were met somewhere in one."""
    pairs = [(*queue_pairs(i, rng.getrandbits(24)), rng.randrange(packets)) for i in range(halves)]
    frames = []
    for turn in range(turns):
        for there, back, first in pairs:
            at, psn = (first + turn) % packets, there.psn + turn & 0xffffff
            if at == 0:
                frames.append(there.packet(READ_REQUEST, psn, struct.pack(">QII", 0x7f0000001000, 0x1234, packets * MTU)))
            opcode = part((RESPONSE_FIRST, RESPONSE_MIDDLE, RESPONSE_LAST), at, packets)
            above = b"" if opcode == RESPONSE_MIDDLE else struct.pack(">I", roce.ACK << 24 | turn // packets + 1)
            frames.append(back.packet(opcode, psn, above, bytes(MTU)))
    return [(START_NS + i * 1000, frame, False) for i, frame in enumerate(frames)]


def writes_in_turns(rng, halves, writes):
    """So many queue pairs, each of which sends so few writes of one packet, one at a time, and gets its acknowledgement."""
    pairs = [queue_pairs(i, rng.getrandbits(24)) for i in range(halves)]
    frames = []
    for turn in range(writes):
        for there, back in pairs:
            psn = there.psn + turn & 0xffffff
            frames.append(there.packet(WRITE_ONLY, psn, struct.pack(">QII", 0x7f0000001000, 0x1234, MTU), bytes(MTU), ask=True))
            frames.append(back.packet(roce.ACKNOWLEDGE, psn, struct.pack(">I", roce.ACK << 24 | turn + 1)))
    return [(START_NS + i * 1000, frame, False) for i, frame in enumerate(frames)]


def lose_runs(rng, frames, share, length):
    kept, left = [], 0
    for frame in frames:
        if left == 0 and rng.random() < share / (length * (1 - share)):
            left = length
        if left == 0:
            kept.append(frame)
        left -= left != 0
    return kept


class ShortCaptures(WithFolder):
    def setUp(self):
        super().setUp()
        (self.folder / "map.json").write_text(json.dumps(roce.EVERYBODY))

    def audit(self, frames, *options):
        capture = roce.capture(self.folder / "capture.pcap", [(ts_ns, frame) for ts_ns, frame, _ in frames])
        return fabtap("audit", "-m", self.folder / "map.json", "--json", *options, capture).json()

    def test_a_complete_one_is_compliant(self):
        for seed in range(4):
            with self.subTest(seed=seed):
                report = self.audit(pipelined.connections(seed, 10, 60))
                self.assertEqual(report["verdict"], "compliant")
                self.assertEqual(report["coverage"]["frames_lost"]["estimate"], 0)

    def test_one_in_which_many_queue_pairs_take_turns_is_whole_though_it_begins_amid_their_messages(self):
        """A thousand send writes of 16 packets, a packet at a time, and most were met in the midst of one."""
        rng, frames = random.Random(1), []
        halves = [(*queue_pairs(i, i * 1000), rng.randrange(16)) for i in range(1000)]
        for turn in range(5):
            for there, back, first in halves:
                at, psn = (first + turn) % 16, there.psn + turn
                opcode = part((WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST), at, 16)
                above = struct.pack(">QII", 0x7f0000001000, 0x1234, 16 * MTU) if at == 0 else b""
                frames.append(there.packet(opcode, psn, above, bytes(MTU), ask=at == 15))
                if at == 15:
                    frames.append(back.packet(roce.ACKNOWLEDGE, psn, struct.pack(">I", roce.ACK << 24 | 7)))
        report = self.audit([(START_NS + i * 1000, frame, False) for i, frame in enumerate(frames)])
        self.assertEqual(report["verdict"], "compliant")
        self.assertEqual(report["coverage"]["frames_lost"]["estimate"], 0)
        self.assertIsNotNone(report["coverage"]["frames_lost"]["high"])

    def test_reads_of_many_queue_pairs_that_take_turns(self):
        """Most are met in the midst of a READ; a tenth of all frames is lost, one by one."""
        for packets in 16, 64:
            rng, sums = random.Random(packets), [0, 0]
            frames = reads_in_turns(rng, 300, 40, packets)
            self.assertEqual(self.audit(frames)["coverage"]["frames_lost"]["estimate"], 0)
            for seed in range(3):
                kept = [frame for frame in frames if rng.random() >= 0.1]
                truth, lost = len(frames) - len(kept), self.audit(kept)["coverage"]["frames_lost"]
                sums = [sums[0] + truth, sums[1] + lost["estimate"]]
                with self.subTest(packets=packets, seed=seed):
                    self.assertTrue(lost["low"] <= truth <= lost["high"], (truth, lost))
            with self.subTest(packets=packets):
                self.assertLess(abs(sums[1] - sums[0]), sums[0] * 0.015)

    def test_writes_lost_together_with_their_acknowledgements(self):
        """Nothing shows that the last ones of a half are missing."""
        rng, sums = random.Random(3), [0, 0]
        frames = writes_in_turns(rng, 400, 6)
        self.assertEqual(self.audit(frames)["coverage"]["frames_lost"]["estimate"], 0)
        for _ in range(6):
            kept = lose_runs(rng, frames, 0.3, 10)
            sums = [sums[0] + len(frames) - len(kept), sums[1] + self.audit(kept)["coverage"]["frames_lost"]["estimate"]]
        self.assertLess(abs(sums[1] - sums[0]), sums[0] * 0.1)

    def test_responses_lost_all_along_are_estimated(self):
        for seed in range(4):
            for share in 0.03, 0.1, 0.3:
                with self.subTest(seed=seed, share=share):
                    rng, frames = random.Random(seed), pipelined.connections(seed, 10, 60)
                    kept = [frame for frame in frames if not frame[2] or rng.random() >= share]
                    report = self.audit(kept)
                    truth, lost = len(frames) - len(kept), report["coverage"]["frames_lost"]
                    self.assertEqual(report["verdict"], "not-evidenced")
                    self.assertLess(abs(lost["estimate"] - truth), 10 + truth / 4)
                    self.assertEqual(self.audit(kept, "--workers", "3")["coverage"]["frames_lost"], lost)

    def test_what_one_direction_alone_lost_is_not_sought_in_the_other(self):
        """Two taps, one of which loses frames, one by one."""
        for of_answers in False, True:
            sums = [0, 0]
            for seed in range(12):
                rng, frames = random.Random(seed), pipelined.connections(seed, 10, 120)
                kept = [frame for frame in frames if frame[2] != of_answers or rng.random() >= 0.05]
                truth, lost = len(frames) - len(kept), self.audit(kept)["coverage"]["frames_lost"]
                sums = [sums[0] + truth, sums[1] + lost["estimate"]]
                with self.subTest(of_answers=of_answers, seed=seed):
                    self.assertLess(abs(lost["estimate"] - truth), truth / 10)
                    self.assertGreaterEqual(lost["high"], truth)
            with self.subTest(of_answers=of_answers):
                self.assertLess(abs(sums[1] - sums[0]), sums[0] * 0.03)

    def test_a_mirror_that_passes_no_long_frames(self):
        """READ responses are gone, or nearly all; what is short is here: no acknowledgement is missing."""
        for share in 0, 0.02, 0.1:
            for seed in range(3):
                with self.subTest(share=share, seed=seed):
                    rng, frames = random.Random(seed), pipelined.connections(seed, 10, 120)
                    kept = [frame for frame in frames if len(frame[1]) < 1000 or rng.random() < share]
                    truth, report = len(frames) - len(kept), self.audit(kept)
                    lost = report["coverage"]["frames_lost"]
                    self.assertEqual(report["verdict"], "not-evidenced")
                    self.assertLess(abs(lost["estimate"] - truth), 0.05 * truth)
                    self.assertTrue(lost["low"] <= truth <= lost["high"], lost)

    def test_responses_lost_at_the_end_alone_leave_the_verdict_open(self):
        """The fabric may have lost them, and they may yet be asked for again."""
        frames = pipelined.connections(1, 10, 60)
        rng, begin = random.Random(1), len(frames) * 3 // 4
        kept = frames[:begin] + [frame for frame in frames[begin:] if not frame[2] or rng.random() >= 0.3]
        report = self.audit(kept)
        self.assertEqual(report["verdict"], "not-evidenced")
        self.assertIn("may be lost", report["because"])
        self.assertEqual(report["coverage"]["frames_lost"]["estimate"], 0)

    def test_a_few_long_messages_show_a_filter_by_opcode(self):
        """All that was sent is here but what is in the midst of messages, and few of these are of many packets."""
        for capture in "dual-2.27.7", "multirecv-q2-2.21.5":
            header, records = read_pcap(DATA / "nccl" / (capture + ".pcap"))
            kept = [record for record in records if nccl.opcode(record) != WRITE_MIDDLE]
            path, truth = write_pcap(self.folder / "filtered.pcap", header, kept), len(records) - len(kept)
            with self.subTest(capture=capture):
                lost = fabtap("flows", "--json", path).json()["coverage"]["frames_lost"]
                self.assertEqual((lost["low"], lost["estimate"]), (truth, truth))
                self.assertLess(lost["high"], 1.1 * truth)


if __name__ == "__main__":
    main()
