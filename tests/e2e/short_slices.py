"""Captures that keep 64 bytes of each frame: of a READ request over RoCEv2 all but its length. Requests go on while
responses are due, so that no response tells either how many packets a READ takes before the next request comes."""

import random
import tempfile
import unittest
from pathlib import Path

import pipelined
import roce
from harness import fabtap, main
from pcapfile import read_pcap, write_pcap

SLICE = 64


class ShortSlices(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def lost(self, seed, share):
        """(frames lost, what the report says of them)."""
        rng, frames = random.Random(seed), pipelined.connections(seed, 10, 60)
        kept = [(ts_ns, frame) for ts_ns, frame, _ in frames if rng.random() >= share]
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
