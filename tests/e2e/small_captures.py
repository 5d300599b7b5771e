"""Captures that hold next to nothing, and what reports say of them."""

import json
import struct

from harness import DATA, WithFolder, fabtap, main
from pcapfile import pcap_of, pcapng_of, read_pcap

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

    def test_a_clock_beyond_what_the_map_can_say_is_no_violation(self):
        """A frame of the year 2554, the last that nanoseconds in 64 bits reach: intervals without an end hold it."""
        header, records = read_pcap(CLEAN)
        data = pcapng_of(header, records[:1], lambda number: True)
        seconds, nanoseconds = struct.unpack_from("<II", records[0])
        time = seconds * 10 ** 9 + nanoseconds
        late = 2 ** 64 - 2
        path = self.folder / "late.pcapng"
        path.write_bytes(data.replace(struct.pack("<II", time >> 32, time & 0xffffffff),
                                      struct.pack("<II", late >> 32, late & 0xffffffff)))
        document = fabtap("audit", "-m", MAP, "--json", path).json()
        self.assertEqual(document["capture"]["first_ts"], "2554-07-21T23:34:33.709551614Z")
        self.assertEqual((document["verdict"], document["findings"]), ("compliant", []))

    def test_one_frame_is_told_of_as_one(self):
        page = fabtap("audit", "-m", MAP, "-c", "1", CLEAN).out.decode()
        for sentence in ("the one RDMA frame seen agrees with the declared map", "stopped after 1 frame, as asked (-c)",
                         "P_KEYS    0xffff 1 frame\n"):
            self.assertIn(sentence, page)

    def test_tenants_of_whose_frames_none_was_judged_are_not_said_to_be_allowed(self):
        """Red's host runs the subnet manager: what it and the management's port send each other are SMPs, which no rule judges."""
        folder = DATA / "tenants"
        truth = json.loads((folder / "tenants-ib.json").read_text())
        judged = truth["frames"] - truth["kinds"]["SMP on QP0: the P_Key has no meaning"] - len(truth["undecided_frames"])
        arguments = ["audit", "-m", folder / "tenants-ib.map.json", folder / "tenants-ib.pcap"]
        rows = {(row["from"], row["to"]): row for row in fabtap(*arguments, "--json").json()["matrix"]}
        for pair in (("red", "mgmt"), ("mgmt", "red")):
            self.assertEqual([rows[pair][name] for name in ("packets", "judged", "violating", "undecided", "verdict")],
                             [4, 0, 0, 0, "unknown"])
        self.assertEqual(rows["green", "mgmt"]["verdict"], "allowed")
        self.assertEqual(sum(row["judged"] for row in rows.values()), judged)
        row = next(line.split() for line in fabtap(*arguments).out.decode().splitlines() if line.split()[:1] == ["mgmt"])
        self.assertEqual(row, ["mgmt", ".", ".", ".", "*4", "1.16", "kB", "."])


if __name__ == "__main__":
    main()
