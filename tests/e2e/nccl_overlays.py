"""Two tenants whose overlays have the same addresses, ports, queue pairs and keys: each has its connections, and a write outside
of what was asked for is found in either."""

import struct

from harness import DATA, WithFolder, fabtap, main
from nccl import BTH, is_roce, opcode, retouched
from pcapfile import read_pcap
from roce import capture, vxlan

RETH = BTH + 12
WITH_RETH = (0x06, 0x0a)
ONE, OTHER, VLAN, LATER_NS = 77, 78, 100, 3_000_000
OVERLAY = 50  # bytes before the frame in it


def forged(records):
    """Behind two thirds of the writes one goes 8 MiB behind its buffer; and where that stands."""
    writes = [at for at, record in enumerate(records) if is_roce(record) and opcode(record) in WITH_RETH]
    at = writes[len(writes) * 2 // 3]
    va, _, length = struct.unpack(">QII", records[at][16 + RETH:16 + RETH + 16])
    return records[:at] + [retouched(records[at], reth=(va + (8 << 20), 64))] + records[at:], at


def timed(header, records, vni, later_ns=0):
    unit = 1 if header[:4] == struct.pack("<I", 0xa1b23c4d) else 1000
    return [(struct.unpack("<I", r[:4])[0] * 10**9 + struct.unpack("<I", r[4:8])[0] * unit + later_ns, vxlan(r[16:], vni)) for r in records]


class Overlays(WithFolder):
    def document(self, *parts):
        frames = sorted((frame for part in parts for frame in part), key=lambda frame: frame[0])
        return fabtap("nccl", "--json", capture(self.folder / "overlays.pcap", frames)).json(), [frame for _, frame in frames]

    def test_each_has_its_connections_and_its_findings(self):
        for name in ("dual-2.27.7", "multirecv-q2-2.21.5"):
            header, records = read_pcap(DATA / "nccl" / (name + ".pcap"))
            spoilt, at = forged(records)
            alone, _ = self.document(timed(header, records, ONE))
            for bad in (ONE, OTHER):
                with self.subTest(capture=name, bad=bad):
                    parts = [timed(header, spoilt if vni == bad else records, vni, LATER_NS * (vni == OTHER)) for vni in (ONE, OTHER)]
                    told, frames = self.document(*parts)
                    self.assertEqual(len(told["connections"]), 2 * len(alone["connections"]))
                    self.assertEqual(len(told["messages"]), 2 * len(alone["messages"]))
                    self.assertEqual([(c["vnis"], c["vlans"]) for c in told["connections"]], [([ONE], []), ([OTHER], [])])
                    self.assertEqual(len(told["findings"]), 1)
                    self.assertIn(told["findings"][0]["rule"], ("nccl.write-outside", "nccl.write-unasked"))
                    number = frames.index(parts[bad == OTHER][at][1]) + 1
                    self.assertEqual(told["findings"][0]["frames"], [number])

    def test_the_network_of_a_connection_is_named(self):
        """Where there is any."""
        header, records = read_pcap(DATA / "nccl" / "dual-2.27.7.pcap")
        inner = [(ts, frame[OVERLAY:]) for ts, frame in timed(header, records, ONE)]
        tagged = [(ts, frame[:12] + struct.pack(">HH", 0x8100, VLAN) + frame[12:]) for ts, frame in inner]
        for frames, networks, shown in ((timed(header, records, ONE), ([ONE], []), "VNI 77"), (tagged, ([], [VLAN]), "VLAN 100"),
                                        (inner, (None, None), None)):
            told, _ = self.document(frames)
            page = fabtap("nccl", self.folder / "overlays.pcap").out.decode()
            self.assertEqual([(c.get("vnis"), c.get("vlans")) for c in told["connections"]], [networks])
            (row,) = [line for line in page.splitlines() if " metadata " in line]
            self.assertEqual("  network\n" in page, shown is not None)
            self.assertTrue(row.endswith("  " + (shown or ".")), row)


if __name__ == "__main__":
    main()
