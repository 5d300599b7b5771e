"""Packets that are encrypted, or in tunnels of kinds that are not opened: judged by nobody, and the report says so."""

import json
import struct

import roce
from harness import COMPLIANT, WithFolder, fabtap, main

START = 1_750_000_000 * 10**9
GREEN, RED = "10.0.1.1", "10.0.2.1"


def in_ip(protocol, inside):
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(inside), 0, 0x4000, 64, protocol, 0) + roce.number(GREEN) + roce.number(RED)
    return roce.mac(roce.number(RED)) + roce.mac(roce.number(GREEN)) + b"\x08\x00" + ip + inside


def in_ethertype(ethertype, inside):
    return roce.mac(roce.number(RED)) + roce.mac(roce.number(GREEN)) + struct.pack(">H", ethertype) + inside


def in_udp(port, inside):
    return in_ip(17, struct.pack(">HHHH", 0xd00d, port, 8 + len(inside), 0) + inside)


class Unopened(WithFolder):
    def setUp(self):
        super().setUp()
        (self.folder / "map.json").write_text(json.dumps(roce.EVERYBODY))

    def capture(self, hidden):
        """Among them a connection that is in the clear."""
        there, back = roce.Half(GREEN, RED, 0x22), roce.Half(RED, GREEN, 0x11)
        clear = [f for psn in range(100) for f in (there.write(), back.answer(psn, msn=psn + 1))]
        return roce.capture(self.folder / "a.pcap", [(START + 1000 * i, f) for i, f in enumerate(clear + hidden)])

    def test_they_are_counted_by_kind_and_weaken_no_verdict(self):
        ip = roce.Half(GREEN, RED, 0x33).write()[14:]
        frames = {"macsec": [in_ethertype(0x88e5, b"\x2c\0" + struct.pack(">I", i) + bytes(50)) for i in range(7)],
                  "esp": [in_ip(50, struct.pack(">II", 5, i) + bytes(60)) for i in range(3)],
                  "ip-in-ip": [in_ip(4, ip)],
                  "gtp-u": [in_udp(2152, struct.pack(">BBHI", 0x30, 0xff, len(ip), 9) + ip)]}
        path = self.capture([frame for kind in frames.values() for frame in kind])
        audit = fabtap("audit", "--json", "-m", self.folder / "map.json", path)
        expected = {kind: len(of_kind) for kind, of_kind in frames.items()}
        self.assertEqual(audit.status, COMPLIANT, audit)
        for run in (audit, fabtap("flows", "--json", path), fabtap("flows", "--json", "--workers", 2, path)):
            coverage = run.json()["coverage"]
            self.assertEqual({row["protocol"]: row["frames"] for row in coverage["unopened"]}, expected)
            self.assertEqual(coverage["not_rdma"], sum(expected.values()))
            self.assertEqual(coverage["undecided"], 0)
        line = "not opened: 7 macsec, 3 esp, 1 ip-in-ip, 1 gtp-u; RDMA in there would not show"
        for run in (fabtap("audit", "-m", self.folder / "map.json", path), fabtap("flows", path)):
            self.assertIn(line, run.out.decode())

    def test_where_there_are_none_nothing_is_said(self):
        path = self.capture([in_ip(6, bytes(40)), in_ethertype(0x0806, bytes(46)), in_udp(53, bytes(20))])
        self.assertEqual(fabtap("audit", "--json", "-m", self.folder / "map.json", path).json()["coverage"]["unopened"], [])
        self.assertNotIn("not opened", fabtap("audit", "-m", self.folder / "map.json", path).out.decode())


if __name__ == "__main__":
    main()
