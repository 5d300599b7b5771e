"""Frames that the capturing interface counts as dropped, with and without copies of them (docs/coverage.md)."""

import json

import roce
from harness import COMPLIANT, NOT_EVIDENCED, WithFolder, fabtap, main
from pcapfile import interface_statistics, pcapng_of, read_pcap

START = 1_750_000_000 * 10**9
REQUESTS = 2000


class CountedLosses(WithFolder):
    def setUp(self):
        super().setUp()
        (self.folder / "map.json").write_text(json.dumps(roce.EVERYBODY))
        there, back = roce.Half("10.0.1.1", "10.0.2.1", 0x22), roce.Half("10.0.2.1", "10.0.1.1", 0x11)
        self.frames = [f for psn in range(REQUESTS) for f in (there.write(), back.answer(psn, msn=psn + 1))]

    def audit(self, keeps, dropped):
        """keeps(i): how often frame i is here; so many the interface says it has dropped."""
        timed = [(START + 10_000 * i + 700 * way, f) for i, f in enumerate(self.frames) for way in range(keeps(i))]
        records = read_pcap(roce.capture(self.folder / "a.pcap", timed))
        path = self.folder / "a.pcapng"
        path.write_bytes(pcapng_of(*records, timed=lambda number: True) + interface_statistics(dropped))
        run = fabtap("audit", "--json", "-m", self.folder / "map.json", path)
        coverage = run.json()["coverage"]
        self.assertEqual([(row["method"], row["frames"]) for row in coverage["lost_by"]],
                         [("source-counter", dropped)] if dropped else [])
        return run.status, coverage["duplicates"], coverage["frames_lost"]["estimate"]

    def test_what_took_every_copy_is_lost(self):
        """A burst took the end of the capture, where no sequence goes on behind it."""
        cut = 3 * len(self.frames) // 4
        gone = len(self.frames) - cut
        for ways in (1, 2, 3):
            self.assertEqual(self.audit(lambda i, ways=ways: ways if i < cut else 0, ways * gone),
                             (NOT_EVIDENCED, (ways - 1) * cut, gone))

    def test_what_left_a_copy_is_not_lost(self):
        lacking = len(self.frames) // 20
        status, duplicates, estimate = self.audit(lambda i: 1 if i % 20 == 0 else 2, lacking)
        self.assertEqual((status, duplicates), (COMPLIANT, len(self.frames) - lacking))
        self.assertLess(estimate, lacking / 10)

    def test_nothing_dropped_is_nothing_lost(self):
        for ways in (1, 2):
            self.assertEqual(self.audit(lambda i, ways=ways: ways, 0), (COMPLIANT, (ways - 1) * len(self.frames), 0))


if __name__ == "__main__":
    main()
