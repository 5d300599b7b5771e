"""Frames made from their headers up, with the ICRC they ought to have."""

import struct

from second import crc
from second.model import Carrier

MACS = bytes.fromhex("02aabbccddee021122334455")
ROCE = 4791


def ethernet(body, ethertype):
    return MACS + struct.pack("!H", ethertype) + body


def ipv4(body, protocol=17, total=None, options=b"", fragment=0x4000, tos=0):
    header = bytearray(struct.pack("!BBHHHBBH", 0x45 + len(options) // 4, tos, total or 20 + len(options) + len(body),
                                   7, fragment, 64, protocol, 0) + bytes([10, 0, 0, 1, 10, 0, 0, 2]) + options)
    header[10:12] = struct.pack("!H", crc.ones_sum(bytes(header)))
    return bytes(header) + body


def ipv6(body, protocol=17, total=None):
    addresses = b"\xfd" + bytes(14) + b"\x01" + b"\xfd" + bytes(14) + b"\x02"
    return struct.pack("!IHBB", 6 << 28 | 0x12345, len(body) if total is None else total, protocol, 63) + addresses + body


def udp(body, port=ROCE, length=None):
    return struct.pack("!4H", 0xC123, port, length or 8 + len(body), 0) + body


def bth(opcode, pad=0, tver=0, pkey=0xFFFF, qp=0x1234, psn=99, flags=0x40, marks=0):
    return struct.pack("!BBHII", opcode, flags | pad << 4 | tver, pkey, marks << 24 | qp, 0x80000000 | psn)


def sealed(network, at, variant, prefix=b"\xff" * 8):
    """network ends where the ICRC begins; at is the place of the BTH in it."""
    carrier = Carrier(0, prefix, list(variant) + [(at + 4, 255)])
    return network + crc.icrc(network, 0, len(network), carrier)


def over_ipv4(packet, options=b""):
    network = ipv4(udp(packet + bytes(4)), options=options)[:-4]
    return ethernet(sealed(network, 28 + len(options), [(1, 255), (8, 255), (10, 255), (11, 255), (26, 255),
                                                        (27, 255)]), 0x0800)


def over_ipv6(packet):
    network = ipv6(udp(packet + bytes(4)))[:-4]
    masks = [(0, 15), (1, 255), (2, 255), (3, 255), (7, 255), (46, 255), (47, 255)]
    return ethernet(sealed(network, 48, masks), 0x86DD)


def _grh(packet):
    network = ipv6(packet + bytes(4), 0x1B)[:-4]
    return sealed(network, 40, [(0, 15), (1, 255), (2, 255), (3, 255), (7, 255)])


def over_grh(packet):
    return ethernet(_grh(packet), 0x8915)


def lrh(size, following, level=0):
    return struct.pack("!BBHHH", level << 4, following, 17, size // 4 & 0x7FF, 18)


def over_lrh(packet):
    network = lrh(12 + len(packet), 2) + packet
    whole = sealed(network, 8, [(0, 0xF0)], prefix=b"")
    return whole + crc.crc16(whole)


def over_lrh_grh(packet):
    grh = _grh(packet)
    whole = lrh(8 + len(grh), 3) + grh
    return whole + crc.crc16(whole)


CARRIERS = {"v4": (over_ipv4, 1), "v6": (over_ipv6, 1), "grh": (over_grh, 1), "ib": (over_lrh, 247),
            "ib_grh": (over_lrh_grh, 247)}


def erf(data, kind, rlen=None, wlen=None, extensions=(), flags=4, ts_ns=1700000693 * 10 ** 9):
    chain = b"".join(bytes([code | (0x80 if i + 1 < len(extensions) else 0)]) + bytes(7)
                     for i, code in enumerate(extensions))
    body = chain + (bytes(2) if kind & 127 in (2, 11, 16, 20) else b"") + data
    stamp = ts_ns // 10 ** 9 << 32
    header = struct.pack("<Q", stamp) + struct.pack(
        "!BBHHH", kind | (0x80 if extensions else 0), flags, 16 + len(body) if rlen is None else rlen, 0,
        len(data) if wlen is None else wlen)
    return header + body


def cooked(frame, version):
    ethertype, sender = frame[12:14], frame[6:12] + bytes(2)
    if version == 1:
        return struct.pack("!HHH", 0, 1, 6) + sender + ethertype + frame[14:]
    return ethertype + bytes(6) + struct.pack("!HBB", 1, 0, 6) + sender + frame[14:]


# Tunnels around an Ethernet frame; each returns an Ethernet frame.

def gre(frame, protocol=0x6558, flags=0, middle=b""):
    words = b"".join(b"\0\0\0\x05" for bit in (0x8000, 0x2000, 0x1000) if flags & bit)
    return ethernet(ipv4(struct.pack("!HH", flags, protocol) + words + middle + frame, 47), 0x0800)


def erspan1(frame):
    return gre(frame, 0x88BE)


def erspan2(frame):
    return gre(frame, 0x88BE, 0x1000, bytes.fromhex("1064a807000000ff"))


def erspan3(frame):
    return gre(frame, 0x22EB, 0x1000, bytes.fromhex("2064a80700000001000a8000"))


def erspan3_sub(frame):
    return gre(frame, 0x22EB, 0x1000, bytes.fromhex("2064a80700000001000a800d0400000100000002"))


def nvgre(frame):
    return gre(frame, 0x6558, 0x2000)


def mellanox(frame):
    return gre(frame, 0x8949, 0, bytes(22))


def vxlan(frame):
    return ethernet(ipv4(udp(bytes.fromhex("0800000000123400") + frame, 4789)), 0x0800)


def vxlan6(frame):
    return ethernet(ipv6(udp(bytes.fromhex("0800000000123400") + frame, 4789)), 0x86DD)


def geneve(frame):
    return ethernet(ipv4(udp(bytes.fromhex("0100655800123400aaaa0100") + frame, 6081)), 0x0800)


def tzsp(frame):
    return ethernet(ipv4(udp(bytes.fromhex("01000001290201f401") + frame, 37008)), 0x0800)


def sflow(frame, stripped=4):
    kept = frame[:128]
    padded = kept + bytes(-len(kept) % 4)
    raw = struct.pack("!4I", 1, len(frame) + stripped, stripped, len(kept)) + padded
    record = struct.pack("!II", 1, len(raw)) + raw
    sample = struct.pack("!8I", 1, 2, 512, 0, 0, 7, 9, 1) + record
    head = struct.pack("!III", 5, 1, 0x0A000001) + struct.pack("!4I", 0, 1, 1000, 1)
    return ethernet(ipv4(udp(head + struct.pack("!II", 1, len(sample)) + sample, 6343)), 0x0800)


def metamako(rng, stamp):
    seconds, rest = divmod(stamp, 10 ** 9)
    return struct.pack("!IIBHB", seconds, rest + rng.choice((0, 0, 0, 10 ** 9)), rng.choice((0, 1)), 7, 3)


def exablaze(rng, stamp):
    seconds, rest = divmod(stamp, 10 ** 9)
    return bytes([1, 2]) + struct.pack("!I", seconds) + ((rest << 40) // 10 ** 9).to_bytes(5, "big") + bytes(1)


def mpls(frame, labels=1):
    stack = b"".join(struct.pack("!I", (100 + i) << 12 | (i == labels - 1) << 8 | 64) for i in range(labels))
    return frame[:12] + b"\x88\x47" + stack + frame[14:]


def vlan(frame, tpid=0x8100, tci=0x6064):
    return frame[:12] + struct.pack("!HH", tpid, tci) + frame[12:]


def avsp(frame):
    return frame[:12] + bytes.fromhex("d28b000100106553f0f500000001") + frame[12:]


def mellanox_ethertype(frame):
    return MACS + b"\x89\x49" + frame


TUNNELS = [gre, erspan1, erspan2, erspan3, erspan3_sub, nvgre, mellanox, vxlan, vxlan6, geneve, tzsp, sflow]
TPIDS = (0x8100, 0x8100, 0x88A8, 0x9100, 0x9200)
