"""Captures of soft-RoCE (tests/data/soft-roce): a fabric that loses packets is no mirror that loses frames; what queue pairs carry."""

import gzip
import json
import random
import struct

import roce
from harness import COMPLIANT, DATA, NOT_EVIDENCED, WithFolder, fabtap, main
from pcapfile import read_pcap, write_pcap

FOLDER = DATA / "soft-roce"
DRILLS = 12
ETHERNET, IPV4, UDP, ROCE = 16, b"\x08\x00", 17, 4791


def is_roce(record):
    frame = record[ETHERNET:]
    return frame[12:14] == IPV4 and frame[23] == UDP and struct.unpack_from(">H", frame, 36)[0] == ROCE


class SoftRoce(WithFolder):
    def setUp(self):
        super().setUp()
        self.truth = json.loads((FOLDER / "lossy.json").read_text())
        (self.folder / "map.json").write_text(json.dumps(roce.EVERYBODY))
        self.capture = self.folder / "lossy.pcap"
        self.capture.write_bytes(gzip.decompress((FOLDER / "lossy.pcap.gz").read_bytes()))
        self.header, self.records = read_pcap(self.capture)

    def coverage(self, capture):
        run = fabtap("audit", "--json", "-m", self.folder / "map.json", capture)
        report = run.json()
        self.assertEqual(report["findings"], [])
        return run.status, report["coverage"]

    def audit(self, capture):
        status, coverage = self.coverage(capture)
        return status, coverage["frames_lost"]

    def test_a_complete_capture_lost_nothing(self):
        status, lost = self.audit(self.capture)
        self.assertEqual(len(self.records), self.truth["frames"])
        self.assertEqual(status, COMPLIANT)
        self.assertEqual((lost["estimate"], lost["low"]), (self.truth["lost_by_the_tap"],) * 2)
        self.assertLess(lost["high"], len(self.records) / 50)

    def test_what_the_mirror_lost_is_within_bounds(self):
        outside = 0
        for seed in range(DRILLS):
            drawn = random.Random(seed)
            kept = [record for record in self.records if drawn.random() >= 0.1]
            gone = sum(map(is_roce, self.records)) - sum(map(is_roce, kept))
            path = self.folder / "kept.pcap"
            write_pcap(path, self.header, kept)
            status, lost = self.audit(path)
            self.assertEqual(status, NOT_EVIDENCED, seed)
            outside += not lost["low"] <= gone <= lost["high"]
        self.assertEqual(outside, 0)

    def test_what_queue_pairs_carry(self):
        for name in ("nfs", "iser"):
            truth = json.loads((FOLDER / (name + ".json")).read_text())
            capture = FOLDER / (name + ".pcap.gz")
            status, lost = self.audit(capture)
            self.assertEqual((status, lost["estimate"]), (COMPLIANT, 0), name)
            rows = fabtap("nccl", "--json", capture).json()["queue_pairs"]
            self.assertEqual(sorted([row["address"], row["qpn"]] for row in rows if row["class"] == truth["class"]),
                             truth["queue_pairs"])
            self.assertEqual({row["class"] for row in rows}, {truth["class"], "rdma_cm"})

    def test_acknowledgements_of_what_is_sent_again_are_no_copies(self):
        truth = json.loads((FOLDER / "pings.json").read_text())
        _, coverage = self.coverage(FOLDER / "pings.pcap.gz")
        self.assertEqual((coverage["frames_seen"], coverage["duplicates"]), (truth["frames"], truth["copies"]))

    def test_what_examples_tell_each_other_names_their_queue_pairs(self):
        truth = json.loads((FOLDER / "pings.json").read_text())
        rows = fabtap("nccl", "--json", FOLDER / "pings.pcap.gz").json()["queue_pairs"]
        self.assertEqual(sorted([row["address"], row["qpn"]] for row in rows), truth["queue_pairs"])
        self.assertEqual({row["class"] for row in rows}, {truth["class"]})

    def test_what_comes_again_after_silence_is_no_message_more(self):
        truth = json.loads((FOLDER / "late.json").read_text())
        rows = fabtap("flows", "--json", FOLDER / "late.pcap.gz").json()["flows"]
        for kind in ("read", "write"):
            sent = [row["messages"][kind] for row in rows if row["src"]["address"] == truth[kind]["address"]
                    and row["dest_qp"] == truth[kind]["dest_qp"]]
            self.assertEqual(sent, [truth[kind]["messages"]], kind)

    def test_where_all_comes_again_and_again_losses_do_not_show(self):
        truth = json.loads((FOLDER / "again.json").read_text())
        capture, path = self.folder / "again.pcap", self.folder / "kept.pcap"
        capture.write_bytes(gzip.decompress((FOLDER / "again.pcap.gz").read_bytes()))
        header, records = read_pcap(capture)
        self.assertEqual(len(records), truth["frames"])
        for seed in range(DRILLS // 3):
            drawn = random.Random(seed)
            write_pcap(path, header, [record for record in records if drawn.random() >= 0.1])
            status, lost = self.audit(path)
            self.assertEqual((status, lost["estimate"], lost["high"]), (NOT_EVIDENCED, None, None), seed)


if __name__ == "__main__":
    main()
