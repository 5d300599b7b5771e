"""Captures that keep few bytes of each frame. 64: of a READ request over RoCEv2 all but its length. Requests go on while
responses are due, so that no response tells either how many packets a READ takes before the next request comes.
96 of RoCEv2 in VXLAN: P_Key and no PSN."""

import json
import random

import pipelined
import roce
from harness import WithFolder, fabtap, main
from pcapfile import read_pcap, write_pcap

SLICE, VNI = 64, 5000


class ShortSlices(WithFolder):
    def setUp(self):
        super().setUp()
        (self.folder / "map.json").write_text(json.dumps(roce.EVERYBODY))

    def capture(self, frames, size):
        capture = roce.capture(self.folder / "capture.pcap", frames)
        header, records = read_pcap(capture)
        # of a record: time, captured length, length
        cut = [r[:8] + min(size, len(r) - 16).to_bytes(4, "little") + r[12:16 + size] for r in records]
        write_pcap(capture, header, cut)
        return capture

    def lost(self, seed, share):
        """(frames lost, what the report says of them)."""
        rng, frames = random.Random(seed), pipelined.connections(seed, 10, 60)
        kept = [(ts_ns, frame) for ts_ns, frame, _ in frames if rng.random() >= share]
        report = fabtap("flows", "--json", self.capture(kept, SLICE)).json()
        return len(frames) - len(kept), report["coverage"]["frames_lost"]

    def audit(self, frames, size):
        return fabtap("audit", "--json", "-m", self.folder / "map.json", self.capture(frames, size)).json()

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

    def test_frames_that_are_all_cut_before_their_psn_are_no_evidence(self):
        frames = [(ts_ns, roce.vxlan(frame, VNI)) for ts_ns, frame, _ in pipelined.connections(1, 1, 60)]
        self.assertEqual(self.audit(frames, 110)["verdict"], "compliant")
        report = self.audit(frames, 96)
        self.assertEqual(report["verdict"], "not-evidenced")
        self.assertIn("%d of %d RDMA frames are cut before their sequence numbers" % (len(frames), len(frames)), report["because"])

    def test_without_a_map_what_does_not_tell_its_connection_is_cut_too_short(self):
        frames = [(ts_ns, roce.vxlan(frame, VNI)) for ts_ns, frame, _ in pipelined.connections(1, 1, 1)]
        for size, cut in (94, len(frames)), (100, 0):  # within the P_Key, behind the queue pair
            with self.subTest(size=size):
                seen = fabtap("flows", "--json", self.capture(frames, size)).json()["coverage"]
                self.assertEqual([seen[name] for name in ("judged", "undecided", "truncated")], [len(frames) - cut, cut, cut])
                self.assertEqual(seen["undecided_by"]["cut"], cut)

    def test_a_row_has_what_is_left_of_the_transport_header(self):
        half = roce.Half("10.0.0.1", "10.0.1.1", 0x2000)
        frames = [(pipelined.START_NS + i * 1000, roce.vxlan(half.packet(0x64, i, bytes(8), bytes(64)), VNI)) for i in range(9)]
        for size, psns in (100, (None, None)), (104, (0, 8)):
            with self.subTest(size=size):
                row, = fabtap("flows", "--json", self.capture(frames, size)).json()["flows"]
                self.assertEqual((row["transport"], row["pkey"], row["dest_qp"]), ("UD", "0xffff", 0x2000))
                self.assertEqual((row["psn_first"], row["psn_last"]), psns)

    def test_datagrams_that_are_cut_there_would_not_show_a_loss_either(self):
        half = roce.Half("10.0.0.1", "10.0.1.1", 0x2000)
        datagrams = [half.packet(0x64, i, bytes(8), bytes(64)) for i in range(200)]
        frames = [(pipelined.START_NS + i * 1000, roce.vxlan(datagram, VNI)) for i, datagram in enumerate(datagrams)]
        self.assertEqual(self.audit(frames, 96)["verdict"], "compliant")


if __name__ == "__main__":
    main()
