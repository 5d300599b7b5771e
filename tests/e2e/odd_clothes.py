"""Traffic between tenants in forms that few use, one frame of it in the midst of what is permitted: it is found, in that
frame, or the report says what was not judged."""

import json
import struct
import zlib

from harness import COMPLIANT, NOT_EVIDENCED, VIOLATED, WithFolder, fabtap, main
from roce import ROCE_PORT, WRITE_ONLY, Half, capture, mac, number

START, US = 1_750_000_000 * 10**9, 10**3
RED, RED_2, BLUE, STORE = "10.1.0.1", "10.1.0.2", "10.2.0.1", "10.9.0.1"
RED_V6, BLUE_V6 = bytes.fromhex("fd01" + 27 * "0" + "1"), bytes.fromhex("fd02" + 27 * "0" + "1")
GSI_QKEY, CM_CLASS, SEND, CONNECT_REQUEST = 0x80010000, 7, 3, 0x10
HOP_BY_HOP, DESTINATION_OPTIONS, FRAGMENT, UDP = 0, 60, 44, 17
PADDING = bytes([1, 4, 0, 0, 0, 0])  # an option PadN that fills a header of eight bytes

INTERVAL = {"from": "2020-01-01T00:00:00Z", "to": None}


def segment(tenant, *members):
    return {"name": tenant, "tenant": tenant, "intervals": [dict(INTERVAL, members=list(members))]}


SEGMENTS = {
    "schema": "tapmap/1", "map_id": "two", "serial": 1, "issued_at": "2020-01-01T00:00:00Z", "issuer": "tests",
    "fabric": {"kind": "roce"}, "nodes": [],
    "tenants": [{"name": "red", "class": "customer"}, {"name": "blue", "class": "customer"}, {"name": "store", "class": "shared"}],
    "segments": [segment("red", {"vlan": 101}, {"subnet": "10.1.0.0/16"}, {"subnet": "fd01::/64"}),
                 segment("blue", {"vlan": 102}, {"subnet": "10.2.0.0/16"}, {"subnet": "fd02::/64"}),
                 segment("store", {"vlan": 900}, {"subnet": "10.9.0.0/16"})],
    "exceptions": [{"id": "ex-store", "kind": "shared-service", "to_tenant": "store", "direction": "both"}],
}


def tagged(frame, vid=101):
    return frame[:12] + struct.pack(">HH", 0x8100, vid) + frame[12:]


def connect_request(source, destination, vid=101):
    """A REQ of the connection manager, 256 bytes (IBA vol. 1, 12.6.5), of which nothing but its head matters here."""
    mad = struct.pack(">BBBBHHQHHI", 1, CM_CLASS, 2, SEND, 0, 0, 0x1234, CONNECT_REQUEST, 0, 0).ljust(256, b"\0")
    return tagged(Half(source, destination, 1).datagram(1, 5, qkey=GSI_QKEY, payload=mad), vid)


def chain(kinds):
    """Extension headers of eight bytes each, before a UDP header (RFC 8200)."""
    bodies = {HOP_BY_HOP: PADDING, DESTINATION_OPTIONS: PADDING, FRAGMENT: bytes(2) + b"\0\0\0\7"}
    following = [*kinds[1:], UDP]
    return b"".join(bytes([after, 0]) + bodies[kind] for kind, after in zip(kinds, following))


def over_ipv6(kinds, covers):
    """A WRITE from red to blue. `covers`: what its ICRC takes for what stands before the BTH, of (IPv6 header, chain, UDP header)."""
    transport = struct.pack(">BBHII", WRITE_ONLY, 0x40, 0xffff, 0x55, 77) + struct.pack(">QII", 0x1000, 7, 64) + bytes(64)
    extensions, size = chain(kinds), 8 + len(transport) + 4
    ip = struct.pack(">IHBB", 0x60000000, len(extensions) + size, (*kinds, UDP)[0], 64) + RED_V6 + BLUE_V6
    udp = struct.pack(">HHHH", 0xc123, ROCE_PORT, size, 0)
    masked = b"\x6f\xff\xff\xff" + ip[4:7] + b"\xff" + ip[8:]
    icrc = zlib.crc32(b"\xff" * 8 + covers(masked, extensions, udp) + transport[:4] + b"\xff" + transport[5:])
    frame = mac(number(BLUE)) + mac(number(RED)) + b"\x86\xdd" + ip + extensions + udp + transport
    return tagged(frame + struct.pack("<I", icrc))


def all_of_it(ip, extensions, udp):
    return ip + extensions + udp[:6] + b"\xff\xff"


def as_if_there_were_none(ip, _, udp):
    return ip + udp[:6] + b"\xff\xff"


def eight_bytes(ip, extensions, udp):
    """As Linux's rxe_icrc.c does: what stands where the UDP header mostly is."""
    return ip + (extensions + udp)[:6] + b"\xff\xff"


class OddClothes(WithFolder):
    def setUp(self):
        super().setUp()
        self.map = self.folder / "two.map.json"
        self.map.write_text(json.dumps(SEGMENTS))

    def audit(self, odd, *more):
        """With the frame `odd` as number 101, between WRITEs of red and their answers."""
        there, back = Half(RED, RED_2, 0x22), Half(RED_2, RED, 0x11)
        frames = [tagged(frame) for psn in range(100) for frame in (there.write(ident=psn), back.answer(psn, msn=psn + 1, ident=psn))]
        frames.insert(100, odd)
        path = capture(self.folder / "odd.pcap", [(START + 5 * US * i, frame) for i, frame in enumerate(frames)])
        run = fabtap("audit", "-m", self.map, "--json", *more, path)
        self.assertEqual(run.complaints(), [])
        return run, {finding["rule"]: (finding["severity"], finding["frames"]) for finding in run.json()["findings"]}

    def test_a_set_up_and_nothing_else_is_remarked_on(self):
        """By the contract no tenant.crossing; but not without a word, where no exception permits what it asks for."""
        for workers in (1, 3):
            run, findings = self.audit(connect_request(RED, BLUE), "--workers", workers)
            self.assertEqual((run.status, findings), (COMPLIANT, {"tenant.management-crossing": ("info", [101])}))
            (row,) = [row for row in run.json()["matrix"] if (row["from"], row["to"]) == ("red", "blue")]
            self.assertEqual((row["packets"], row["violating"]), (1, 0))
        for request in (connect_request(RED, RED_2), connect_request(RED, STORE), connect_request(STORE, BLUE, vid=102)):
            run, findings = self.audit(request)
            self.assertEqual((run.status, findings), (COMPLIANT, {}))

    def test_ipv6_extension_headers_hide_nothing(self):
        """What the ICRC covers then is defined nowhere (IBA vol. 1, A17), so none says that the receiver drops the packet."""
        for kinds in ((), (HOP_BY_HOP,), (DESTINATION_OPTIONS,), (HOP_BY_HOP, DESTINATION_OPTIONS), (DESTINATION_OPTIONS,) * 8):
            for covers in (all_of_it, as_if_there_were_none, eight_bytes):
                run, findings = self.audit(over_ipv6(kinds, covers))
                self.assertEqual(findings, {"tenant.crossing": ("critical", [101])}, (kinds, covers))
                self.assertEqual((run.status, run.json()["coverage"]["undecided"]), (VIOLATED, 0))

    def test_a_fragment_is_not_judged_and_the_report_says_so(self):
        run, findings = self.audit(over_ipv6((FRAGMENT,), all_of_it))
        self.assertEqual((run.status, findings, run.json()["coverage"]["undecided"]), (NOT_EVIDENCED, {}, 1))


if __name__ == "__main__":
    main()
