"""Captures that hold next to nothing, and what reports say of them."""

from harness import DATA, WithFolder, fabtap, main
from pcapfile import pcap_of

MAP = DATA / "tenants" / "tenants-segments.map.json"
CLEAN = DATA / "tenants" / "tenants-segments-clean.pcap"
STARTED = "2023-11-14T22:13:20.00000"  # where pcap_of() begins; its frames are a microsecond apart
ARP = b"\xff" * 6 + bytes(6) + b"\x08\x06" + bytes(46)


class SmallCaptures(WithFolder):
    def capture(self, frames, link_type=1):
        path = self.folder / "small.pcap"
        path.write_bytes(pcap_of(frames, link_type))
        return path

    def test_the_time_of_a_capture_is_that_of_all_its_frames(self):
        """Those that are copies of another one too, as in the count of its frames."""
        for verb in (["audit", "-m", MAP], ["flows"]):
            document = fabtap(*verb, "--json", self.capture([ARP] * 3)).json()
            self.assertEqual(document["coverage"]["duplicates"], 2)
            capture = document["capture"]
            for part in (capture, capture["sources"][0]):
                self.assertEqual((part["frames"], part["bytes"], part["first_ts"], part["last_ts"]),
                                 (3, 180, STARTED + "0000Z", STARTED + "2000Z"))

    def test_one_frame_is_told_of_as_one(self):
        page = fabtap("audit", "-m", MAP, "-c", "1", CLEAN).out.decode()
        for sentence in ("the one RDMA frame seen agrees with the declared map", "stopped after 1 frame, as asked (-c)",
                         "P_KEYS    0xffff 1 frame\n"):
            self.assertIn(sentence, page)


if __name__ == "__main__":
    main()
