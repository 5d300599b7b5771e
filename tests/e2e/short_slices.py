"""Captures that keep 64 bytes of each frame: of a READ request over RoCEv2 all but its length. Requests go on while
responses are due, so that no response tells either how many packets a READ takes before the next request comes."""

import random
import tempfile
import unittest
from pathlib import Path

import roce
from harness import fabtap, main
from pcapfile import read_pcap, write_pcap

START_NS, SLICE, MTU = 1_700_000_000_000_000_000, 64, 1024
RESPONSE_AFTER_NS = 12_000


class Connection:
    """WRITEs and READs of several packets; every second one is a READ."""

    def __init__(self, rng, number):
        there, back = "10.0.0.%d" % (number + 1), "10.0.1.%d" % (number + 1)
        self.rng, self.frames = rng, []
        self.asks = roce.Half(there, back, 0x2000 + number, port=0xc000 + number, psn=rng.randrange(1 << 24))
        self.answers = roce.Half(back, there, 0x100 + number, port=0xd000 + number)
        self.now = self.due = START_NS + rng.randrange(1_000_000)

    def ask(self, frame):
        self.now += self.rng.randrange(600, 1500)
        self.frames.append((self.now, frame))

    def answer(self, frame):
        self.due = max(self.due + 400, self.now + RESPONSE_AFTER_NS)
        self.frames.append((self.due, frame))

    def post(self, number):
        packets = self.rng.choice((1, 2, 3, 8, 20))
        psn, self.asks.psn = self.asks.psn, self.asks.psn + packets
        if number % 2:
            self.ask(self.asks.read(psn, 0x10000, packets * MTU))
            for i in range(packets):
                part = "only" if packets == 1 else "first" if i == 0 else "last" if i == packets - 1 else "middle"
                self.answer(self.answers.response(psn + i, part, bytes(MTU), ident=psn + i & 0xffff))
        else:
            for i in range(packets):
                self.ask(self.asks.write(psn + i, ident=psn + i & 0xffff))
            self.answer(self.answers.answer(psn + packets - 1, ident=psn & 0xffff))


class ShortSlices(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def lost(self, seed, share):
        """(frames lost, what the report says of them)."""
        rng, frames = random.Random(seed), []
        for number in range(10):
            connection = Connection(rng, number)
            for message in range(60):
                connection.post(message)
            frames += connection.frames
        kept = [frame for frame in sorted(frames, key=lambda frame: frame[0]) if rng.random() >= share]
        capture = roce.capture(self.folder / "capture.pcap", kept)
        header, records = read_pcap(capture)
        # of a record: time, captured length, length
        cut = [r[:8] + min(SLICE, len(r) - 16).to_bytes(4, "little") + r[12:16 + SLICE] for r in records]
        write_pcap(capture, header, cut)
        return len(frames) - len(kept), fabtap("flows", "--json", capture).json()["coverage"]["frames_lost"]

    def test_a_complete_capture_shows_no_loss(self):
        for seed in range(4):
            with self.subTest(seed=seed):
                self.assertEqual(self.lost(seed, 0)[1]["estimate"], 0)

    def test_the_bounds_hold_what_was_lost(self):
        for seed in range(4):
            for share in 0.002, 0.02, 0.1:
                with self.subTest(seed=seed, share=share):
                    truth, lost = self.lost(seed, share)
                    self.assertLessEqual(lost["low"], truth)
                    self.assertGreaterEqual(lost["high"], truth)
                    self.assertLess(abs(lost["estimate"] - truth), 10 + truth / 4)


if __name__ == "__main__":
    main()
