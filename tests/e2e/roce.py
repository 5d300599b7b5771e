"""RoCEv2 packets and pause frames made byte by byte from the formats' definitions."""

import struct
import sys
import zlib
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "property"))

import wire

ROCE_PORT = 4791
WRITE_ONLY, READ_REQUEST, SEND_ONLY, ACKNOWLEDGE, UD_SEND_ONLY, CNP = 0x0a, 0x0c, 0x04, 0x11, 0x64, 0x81
ACK, NAK_SEQUENCE, NAK_ACCESS, RNR_NAK = 0x1f, 0x60, 0x62, 0x20 | 14
CE, ECT = 3, 2

LINKTYPE_INFINIBAND = 247

# everybody may talk to everybody: what is found is not about the map
EVERYBODY = {
    "schema": "tapmap/1", "map_id": "any", "serial": 1, "issued_at": "2020-01-01T00:00:00Z", "issuer": "tests",
    "fabric": {"kind": "roce"}, "nodes": [], "tenants": [{"name": "all", "class": "customer"}],
    "segments": [{"name": "all", "tenant": "all", "intervals": [
        {"from": "2000-01-01T00:00:00Z", "to": None, "members": [{"subnet": "0.0.0.0/0"}, {"subnet": "::/0"}]}]}],
}


def mac(address):
    return b"\x02\0" + address


def checksum(header):
    total = sum(struct.unpack(">%dH" % (len(header) // 2), header))
    total = (total & 0xffff) + (total >> 16)
    return (total & 0xffff) + (total >> 16) ^ 0xffff


def number(text):
    return bytes(int(part) for part in text.split("."))


class Half:
    """What one host sends to one queue pair of another."""

    def __init__(self, source, destination, dest_qp, port=0xc123, psn=0, pkey=0xffff):
        self.source, self.destination = number(source), number(destination)
        self.dest_qp, self.port, self.psn, self.pkey = dest_qp, port, psn, pkey

    def packet(self, opcode, psn, above=b"", payload=b"", ecn=ECT, dscp=26, ttl=64, smac=None, port=None, ident=0, ask=False, becn=False):
        bth = struct.pack(">BBHII", opcode, 0x40, self.pkey, becn << 30 | self.dest_qp, ask << 31 | psn & 0xffffff)
        transport = bth + above + payload
        size = 20 + 8 + len(transport) + 4
        ip = struct.pack(">BBHHHBBH", 0x45, dscp << 2 | ecn, size, ident, 0x4000, ttl, 17, 0) + self.source + self.destination
        ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
        udp = struct.pack(">HHHH", self.port if port is None else port, ROCE_PORT, size - 20, 0)
        masked = ip[:1] + b"\xff" + ip[2:8] + b"\xff" + ip[9:10] + b"\xff\xff" + ip[12:] + udp[:6] + b"\xff\xff"
        icrc = zlib.crc32(b"\xff" * 8 + masked + transport[:4] + b"\xff" + transport[5:])
        ethernet = mac(self.destination) + (smac or mac(self.source)) + b"\x08\x00"
        return ethernet + ip + udp + transport + struct.pack("<I", icrc)

    def write(self, psn=None, size=64, ask=True, **how):
        """A WRITE of one packet; without a PSN the next one."""
        if psn is None:
            psn, self.psn = self.psn, self.psn + 1
        return self.packet(WRITE_ONLY, psn, struct.pack(">QII", 0x7f0000001000 + 4096 * psn, 0x1234, size), bytes(size),
                           ask=ask, **how)

    def read(self, psn, address, size):
        return self.packet(READ_REQUEST, psn, struct.pack(">QII", address, 0x1234, size), ask=True)

    def response(self, psn, part, payload, **how):
        """A packet of the answer to a READ; `part`: "first", "middle", "last" or "only"."""
        opcode = {"first": 0x0d, "middle": 0x0e, "last": 0x0f, "only": 0x10}[part]
        return self.packet(opcode, psn, b"" if part == "middle" else struct.pack(">I", ACK << 24), payload, **how)

    def answer(self, psn, syndrome=ACK, msn=0, **how):
        return self.packet(ACKNOWLEDGE, psn, struct.pack(">I", syndrome << 24 | msn), **how)

    def datagram(self, source_qp, psn, qkey=0x11111111, payload=None, **how):
        """Without a payload, one that the PSN tells from others."""
        payload = struct.pack(">I", psn) * 8 if payload is None else payload
        return self.packet(UD_SEND_ONLY, psn, struct.pack(">II", qkey, source_qp), payload, **how)

    def cnp(self, **how):
        return self.packet(CNP, 0, b"", bytes(16), dscp=48, becn=True, **how)


def native(frame):
    """The packet of a Half as it would be on InfiniBand, between LIDs that are the last parts of its addresses."""
    source, destination, transport = frame[29], frame[33], frame[42:-4]
    lrh = struct.pack(">BBHHH", 0, 2, destination, (8 + len(transport) + 4) // 4, source)
    packet = lrh + transport + wire.icrc(b"\xf0" + lrh[1:] + wire.masked_transport(transport))
    return packet + wire.vcrc(packet)


def version1(frame):
    """The packet of a Half as RoCEv1 has it: behind a GRH with its addresses and TTL."""
    source, destination, ttl, transport = frame[26:30], frame[30:34], frame[22], frame[42:-4]
    gids = [int.from_bytes(bytes(10) + b"\xff\xff" + address, "big") for address in (source, destination)]
    ethertype, packet, _ = wire.roce1(*gids, transport)
    return frame[:12] + struct.pack(">H", ethertype) + packet[:7] + bytes([ttl]) + packet[8:]  # no ICRC covers it


def vxlan(frame, vni, ecn=ECT):
    """In an overlay between two switches, whose outer IP header has this ECN (RFC 7348)."""
    inner = struct.pack(">II", 0x08000000, vni << 8) + frame
    size = 20 + 8 + len(inner)
    ip = struct.pack(">BBHHHBBH", 0x45, ecn, size, 0, 0x4000, 64, 17, 0) + number("172.16.0.1") + number("172.16.0.2")
    ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
    return mac(number("172.16.0.2")) + mac(number("172.16.0.1")) + b"\x08\x00" + ip + struct.pack(">HHHH", 0xd00d, 4789, size - 20, 0) + inner


def sflow(frames, rate, captured=128):
    """A datagram of a sample of each frame, one of so many (sFlow version 5: raw packet headers in flow samples)."""
    samples = b""
    for frame in frames:
        header = frame[:captured] + bytes(-len(frame[:captured]) % 4)
        record = struct.pack(">IIII", 1, len(frame) + 4, 4, len(frame[:captured])) + header
        body = struct.pack(">IIIIIIII", 7, 1, rate, 7 * rate, 0, 1, 2, 1) + struct.pack(">II", 1, len(record)) + record
        samples += struct.pack(">II", 1, len(body)) + body
    inner = struct.pack(">II4sIIII", 5, 1, number("192.0.2.1"), 0, 7, 1000, len(frames)) + samples
    size = 20 + 8 + len(inner)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, size, 0, 0, 64, 17, 0) + number("192.0.2.1") + number("192.0.2.2")
    ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
    return mac(number("192.0.2.2")) + mac(number("192.0.2.1")) + b"\x08\x00" + ip + struct.pack(">HHHH", 0xd00d, 6343, size - 20, 0) + inner


def pause(source, quanta):
    """PFC (IEEE 802.1Qbb): {priority: quanta}."""
    enabled = sum(1 << priority for priority in quanta)
    times = struct.pack(">8H", *(quanta.get(priority, 0) for priority in range(8)))
    frame = b"\x01\x80\xc2\0\0\x01" + mac(number(source)) + struct.pack(">HHH", 0x8808, 0x0101, enabled) + times
    return frame.ljust(60, b"\0")


def capture(path, frames, link_type=1):
    """A pcap of (time in ns, frame)."""
    header = struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, link_type)
    path.write_bytes(header + b"".join(struct.pack("<IIII", *divmod(ts_ns, 10**9), len(f), len(f)) + f for ts_ns, f in frames))
    return path
