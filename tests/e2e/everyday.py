"""What happens every day where nobody does wrong: links and routers fail over, paths change, mirrors add tags and numbers,
clocks are set. Nothing above a note is found, nothing counts as lost, and all is judged."""

import json
import random
import struct

from harness import COMPLIANT, VIOLATED, WithFolder, fabtap, main
from odd_clothes import BLUE, RED, SEGMENTS, tagged
from roce import ACK, READ_REQUEST, Half, capture, checksum, mac, number, vxlan

START, US, MS, SECOND = 1_750_000_000 * 10**9, 10**3, 10**6, 10**9
PEER = "10.1.9.2"  # of red, too
RED_VLAN, OTHER_RED_VLAN, MIRROR_VLAN = 101, 111, 999
STYLES = {"counts": lambda n, chance: 7 + n, "always 0": lambda n, chance: 0, "random": lambda n, chance: chance.randrange(1 << 16)}
ROUTERS = [b"\x02\xee\0\0\0" + bytes([n]) for n in range(4)]
SOURCE_MAC, TTL, DSCP, CHECKSUM = slice(6, 12), 22, 15, slice(24, 26)  # of an untagged frame


def connection(style, rounds=300):
    """[(time, frame)] of READs and WRITEs of RED and what PEER answers, untagged; each sender has its own identifications."""
    chance, sent = random.Random(5), {RED: 0, PEER: 0}
    there, back, at_ns = Half(RED, PEER, 0x22, psn=(1 << 24) - 100), Half(PEER, RED, 0x11), START

    def ident(sender):
        sent[sender] += 1
        return STYLES[style](sent[sender], chance)
    for i in range(rounds):
        psn, at_ns = there.psn, at_ns + chance.randrange(10, 60) * US
        if i % 3 == 0:
            there.psn += 1
            yield at_ns, there.packet(READ_REQUEST, psn, struct.pack(">QII", 4096 * i, 0x1234, 64), ask=True, ident=ident(RED))
            yield at_ns + 5 * US, back.packet(0x10, psn, struct.pack(">I", ACK << 24 | i + 1), chance.randbytes(64), ident=ident(PEER))
        else:
            yield at_ns, there.write(ident=ident(RED))
            yield at_ns + 5 * US, back.answer(psn, msn=i + 1, ident=ident(PEER))


def is_red(frame):
    return frame[26:30] == number(RED)


def changed(frame, smac=None, hops=0, dscp=None):
    """As a router or another port of the sender makes it; nothing of it is in the ICRC."""
    frame = bytearray(frame)
    frame[SOURCE_MAC] = smac or frame[SOURCE_MAC]
    frame[TTL] -= hops
    frame[DSCP] = frame[DSCP] if dscp is None else dscp << 2 | frame[DSCP] & 3
    frame[CHECKSUM] = bytes(2)
    frame[CHECKSUM] = struct.pack(">H", checksum(bytes(frame[14:34])))
    return bytes(frame)


def erspan(frame, sequence):
    """ERSPAN type II between two switches, of session 7 (draft-foschiano-erspan)."""
    gre = struct.pack(">HHIHHI", 0x1000, 0x88be, sequence % (1 << 32), 0x1000, 7, 0) + frame
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(gre), 0, 0x4000, 64, 47, 0) + number("192.0.2.1") + number("192.0.2.2")
    ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
    return mac(number("192.0.2.2")) + mac(number("192.0.2.1")) + b"\x08\x00" + ip + gre


class Everyday(WithFolder):
    def setUp(self):
        super().setUp()
        segments = json.loads(json.dumps(SEGMENTS))
        segments["segments"][0]["intervals"][0]["members"].append({"vlan": OTHER_RED_VLAN})
        for tenant, vni in (("red", 5001), ("blue", 5002)):  # with the same addresses
            members = [{"vni": vni}, {"subnet": "192.168.1.0/24"}]
            segments["segments"].append({"name": tenant + "-overlay", "tenant": tenant, "intervals": [
                {"from": "2020-01-01T00:00:00Z", "to": None, "members": members}]})
        self.map = self.folder / "two.map.json"
        self.map.write_text(json.dumps(segments))

    def audit(self, frames, *more):
        run = fabtap("audit", "-m", self.map, "--json", *more, capture(self.folder / "day.pcap", frames))
        self.assertEqual(run.complaints(), [])
        return run

    def is_innocent(self, frames, copies=0, connections=1, case=None):
        for workers in (1, 3):
            run = self.audit(frames, "--workers", workers)
            document = run.json()
            coverage = document["coverage"]
            with self.subTest(case=case, workers=workers):
                self.assertEqual([finding["rule"] for finding in document["findings"] if finding["severity"] != "info"], [])
                self.assertEqual((run.status, document["verdict"]), (COMPLIANT, "compliant"))
                self.assertEqual((coverage["undecided"], coverage["frames_lost"]["estimate"], coverage["duplicates"]), (0, 0, copies))
                self.assertEqual((coverage["connections"], coverage["one_sided"]), (connections, 0))

    def each(self):
        for style in STYLES:
            frames = list(connection(style))
            yield style, frames, frames[len(frames) // 2][0]

    def test_another_port_or_router_takes_over(self):
        """LACP, MLAG, VRRP: another source MAC address, of the host or of a router, whose hop counts; there and back, or mixed."""
        for style, frames, middle in self.each():
            ways = {
                "port": lambda t, f: changed(f, ROUTERS[0]) if is_red(f) and t > middle else f,
                "port and back": lambda t, f: changed(f, ROUTERS[0]) if is_red(f) and middle < t < middle + 3 * MS else f,
                "router": lambda t, f: changed(f, ROUTERS[t > middle], 1),
                "a longer path": lambda t, f: changed(f, ROUTERS[t > middle], 1 + (t > middle)),
                "either router": lambda t, f: changed(f, ROUTERS[t // US % 2], 1 + t // US % 2),
                "class": lambda t, f: changed(f, dscp=26 if t < middle else 10),
            }
            for name, way in ways.items():
                self.is_innocent([(t, tagged(way(t, f), RED_VLAN)) for t, f in frames], case=(name, style))

    def test_both_sides_of_a_router_are_mirrored(self):
        """With another VLAN, another class of service and a hop less behind it."""
        for style, frames, _ in self.each():
            for later in (300, 3 * US, 80 * US):
                there = [(t, tagged(f, RED_VLAN)) for t, f in frames]
                behind = [(t + later, tagged(changed(f, ROUTERS[is_red(f)], 1, dscp=10), OTHER_RED_VLAN)) for t, f in frames]
                self.is_innocent(sorted(there + behind), copies=len(frames), case=(later, style))

    def test_numbers_of_the_mirror_begin_anew(self):
        for style, frames, _ in self.each():
            seen = [(t, erspan(tagged(f, RED_VLAN), (1 << 32) - 100 + i)) for i, (t, f) in enumerate(frames)]
            self.is_innocent(seen, case=style)

    def test_the_clock_is_set(self):
        for style, frames, middle in self.each():
            for step in (-20 * SECOND, -500 * MS, -50 * US, 40 * MS):
                self.is_innocent([(t + step * (t > middle), tagged(f, RED_VLAN)) for t, f in frames], case=(step, style))

    def test_two_tenants_have_the_same_addresses_in_their_overlays(self):
        inner = [(t, f) for t, f in connection("counts")]
        own = [(t, changed_addresses(f)) for t, f in inner]
        both = sorted((t + n * 777, vxlan(f, 5001 + n)) for t, f in own for n in (0, 1))
        self.is_innocent(both, connections=2)

    def test_a_tag_of_the_mirror_is_none_of_the_packets(self):
        """RSPAN: around tagged and untagged frames. What is found and counted is what is without it, but for the bytes."""
        evil = tagged(Half(RED, BLUE, 0x55).write(), RED_VLAN)
        frames = [(t, tagged(f, RED_VLAN)) for t, f in connection("counts")]
        routed = [(t, f) for t, f in connection("counts")]  # untagged, in no segment of red's: a violation by the map
        for seen, status in ((frames, COMPLIANT), (sorted([*frames, (START + 2 * MS, evil)]), VIOLATED), (routed, VIOLATED)):
            around = [(t, tagged(f, MIRROR_VLAN)) for t, f in seen]
            bare = self.audit(seen)
            self.assertEqual(bare.status, status)
            for workers in (1, 3):
                run = self.audit(around, "--workers", workers, "--mirror-vlan", 7, "--mirror-vlan", MIRROR_VLAN)
                self.assertEqual(run.status, status)
                self.assertEqual(without_bytes(run.json()), without_bytes(bare.json()))
            self.assertEqual(self.audit(around).status, VIOLATED)  # nobody's VLAN, as far as is known
            inside = self.audit([(t, erspan(f, i)) for i, (t, f) in enumerate(around)], "--mirror-vlan", MIRROR_VLAN)
            self.assertEqual(inside.status, VIOLATED)  # the packet's, in a tunnel of the mirror


def changed_addresses(frame):
    """A packet between 192.168.1.1 and .2, made anew: its ICRC covers the addresses."""
    source, destination = ("192.168.1.1", "192.168.1.2") if is_red(frame) else ("192.168.1.2", "192.168.1.1")
    bth = struct.unpack(">BBHII", frame[42:54])
    half = Half(source, destination, bth[3] & 0xffffff)
    return half.packet(bth[0], bth[4] & 0xffffff, frame[54:-4], ask=bth[4] >> 31, ident=struct.unpack(">H", frame[18:20])[0])


def without_bytes(document):
    document = json.loads(json.dumps(document))
    del document["capture"]
    for rows in ("matrix", "pkeys", "tenants", "findings"):
        for row in document[rows]:
            row.pop("bytes")
    for tenant in document["tenants"]:
        tenant.pop("peak_gbps")
    return document


if __name__ == "__main__":
    main()
