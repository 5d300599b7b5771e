"""Frames built byte by byte from the formats' definitions, and the captures that hold them."""

import struct
import zlib

LINK_ETHERNET, LINK_ERF, LINK_INFINIBAND = 1, 197, 247
UD_SEND_ONLY = 0x64
TRANSPORT = {0: "RC", 1: "UC", 2: "RD", 3: "UD", 5: "XRC"}

ACK = b"\0\0\0\1"  # an AETH
IMMEDIATE = b"IMM4"

# what follows the BTH (and a service's own headers) by the five operation bits, and a payload that is legal
OPERATION = {
    0x00: (b"", 256), 0x01: (b"", 256), 0x02: (b"", 64), 0x03: (IMMEDIATE, 64), 0x04: (b"", 64),
    0x05: (IMMEDIATE, 64), 0x06: ("reth", 256), 0x07: (b"", 256), 0x08: (b"", 64), 0x0a: ("reth", 64),
    0x0c: ("reth", 0), 0x0d: (ACK, 256), 0x0e: (b"", 256), 0x0f: (ACK, 64), 0x10: (ACK, 64), 0x11: (ACK, 0),
    0x12: (ACK + bytes(8), 0), 0x13: (bytes(28), 0), 0x14: (bytes(28), 0),
}
RESPONSES = range(0x0d, 0x13)
UC_OPERATIONS = [op for op in OPERATION if op <= 0x0a]


def legal_opcodes():
    """Opcodes by service, as the table of the specification lists them."""
    return {
        "RC": [0x00 | op for op in OPERATION],
        "UC": [0x20 | op for op in UC_OPERATIONS],
        "RD": [0x40 | op for op in OPERATION],
        "UD": [0x64, 0x65],
        "XRC": [0xa0 | op for op in OPERATION],
        "CNP": [0x81],
    }


def above_bth(rng, opcode, qkey, management_class):
    """Extended headers and payload; management_class is None where there is no datagram of that kind."""
    if opcode == 0x81:
        return bytes(16)
    kind, operation = TRANSPORT[opcode >> 5], opcode & 0x1f
    headers, size = OPERATION[operation]
    if headers == "reth":
        length = size if operation == 0x0a else 512 if operation == 6 else 4096
        headers = struct.pack(">QII", 0x7f0000001000, rng.getrandbits(32), length)
    deth = struct.pack(">II", qkey, rng.getrandbits(20))
    if kind == "UD":
        headers = deth + headers
    elif kind == "RD":
        headers = bytes(4) + (b"" if operation in RESPONSES else deth) + headers
    elif kind == "XRC" and operation not in RESPONSES:
        headers = bytes(4) + headers
    if management_class is not None:
        mad = struct.pack(">BBBBHHQHHI", 1, management_class, 1, 1, 0, 0, rng.getrandbits(64), 0x10, 0, 0)
        return headers + mad.ljust(256, b"\0")
    return headers + rng.randbytes(size)


def bth(opcode, pkey, dest_qp, psn, pad=0, tver=0):
    return struct.pack(">BBHII", opcode, 0x40 | pad << 4 | tver, pkey, dest_qp, psn)


def icrc(masked):
    return struct.pack("<I", zlib.crc32(masked))


def vcrc_step(register):
    for _ in range(8):
        register = register >> 1 ^ (0xd008 if register & 1 else 0)
    return register


VCRC_TABLE = [vcrc_step(byte) for byte in range(256)]


def vcrc(packet):
    register = 0xffff
    for byte in packet:
        register = register >> 8 ^ VCRC_TABLE[(register ^ byte) & 0xff]
    return struct.pack("<H", register ^ 0xffff)


def masked_transport(transport):
    return transport[:4] + b"\xff" + transport[5:]


def masked_ipv6(header):
    return bytes([header[0] | 0x0f]) + b"\xff\xff\xff" + header[4:7] + b"\xff" + header[8:]


def spoil(crc, wrong):
    return bytes([crc[0] ^ 0x5a]) + crc[1:] if wrong else crc


def grh(sgid, dgid, length):
    return struct.pack(">IHBB", 0x60000000, length, 0x1b, 64) + sgid.to_bytes(16, "big") + dgid.to_bytes(16, "big")


def native(rng, slid, dlid, gids, transport, vl=0, wrong=False, bad_vcrc=False, bad_length=0):
    """LRH, GRH if there are gids, BTH and above, ICRC, VCRC. Answers the packet and the BTH's offset."""
    words = (8 + (40 if gids else 0) + len(transport) + 4) // 4
    lrh = struct.pack(">BBHHH", vl << 4, rng.randrange(16) << 4 | (3 if gids else 2), dlid, words + bad_length, slid)
    if gids:
        header = grh(*gids, len(transport) + 4)
        crc = icrc(b"\xff" * 8 + masked_ipv6(header) + masked_transport(transport))
    else:
        header = b""
        crc = icrc(bytes([lrh[0] | 0xf0]) + lrh[1:] + masked_transport(transport))
    packet = lrh + header + transport + spoil(crc, wrong)
    return packet + spoil(vcrc(packet), bad_vcrc), 8 + len(header)


def roce1(sgid, dgid, transport, wrong=False, bad_length=0):
    header = grh(sgid, dgid, len(transport) + 4 + bad_length)
    crc = icrc(b"\xff" * 8 + masked_ipv6(header) + masked_transport(transport))
    return 0x8915, header + transport + spoil(crc, wrong), 40


def ones_complement(header):
    total = sum(struct.unpack(">%dH" % (len(header) // 2), header))
    while total > 0xffff:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


def ipv4(rng, source, destination, protocol, length):
    header = struct.pack(">BBHHHBBHII", 0x45, 2, 20 + length, rng.getrandbits(16), 0x4000, 64, protocol, 0,
                         source & 0xffffffff, destination & 0xffffffff)
    return header[:10] + struct.pack(">H", ones_complement(header)) + header[12:]


def ipv6(source, destination, protocol, length):
    return (struct.pack(">IHBB", 0x60000000, length, protocol, 64) + source.to_bytes(16, "big")
            + destination.to_bytes(16, "big"))


def roce2(rng, source, destination, transport, wrong=False, bad_length=0):
    """source, destination: 128-bit numbers, IPv4 as ::ffff:a.b.c.d. EtherType, bytes, the BTH's offset in them."""
    udp = struct.pack(">HHHH", 0xc000 | rng.getrandbits(14), 4791, len(transport) + 12 + bad_length, 0)
    if source >> 32 == 0xffff:
        header = ipv4(rng, source, destination, 17, len(transport) + 12)
        masked = header[:1] + b"\xff" + header[2:8] + b"\xff" + header[9:10] + b"\xff\xff" + header[12:]
        ethertype = 0x0800
    else:
        header, ethertype = ipv6(source, destination, 17, len(transport) + 12), 0x86dd
        masked = masked_ipv6(header)
    crc = icrc(b"\xff" * 8 + masked + udp[:6] + b"\xff\xff" + masked_transport(transport))
    return ethertype, header + udp + transport + spoil(crc, wrong), len(header) + 8


def ethernet(source, destination, tags, ethertype, payload):
    """tags: (TPID, VID) outermost first. Answers the frame and the payload's offset."""
    header = destination.to_bytes(6, "big") + source.to_bytes(6, "big")
    for tpid, vid in tags:
        header += struct.pack(">HH", tpid, 3 << 13 | vid)
    header += struct.pack(">H", ethertype)
    return header + payload, len(header)


def over_ip(rng, protocol, payload):
    """An outer Ethernet and IPv4 header between two addresses of the underlay."""
    header = ipv4(rng, 0xac100000 | rng.getrandbits(16), 0xac100000 | rng.getrandbits(16), protocol, len(payload))
    tags = [(0x8100, rng.randrange(1, 4095))] if rng.random() < 0.3 else []
    return ethernet(0x02ff00000001, 0x02ff00000002, tags, 0x0800, header + payload)[0]


def overlay(rng, kind, vni, frame):
    if kind == "vxlan":
        port, header = 4789, struct.pack(">BxxxI", 8, vni << 8)
    else:
        options = b"\x01\x02\x80\x01abcd" if rng.random() < 0.3 else b""
        port, header = 6081, struct.pack(">BBHI", len(options) // 4, 0, 0x6558, vni << 8) + options
    udp = struct.pack(">HHHH", 0xd000 | rng.getrandbits(8), port, 8 + len(header) + len(frame), 0)
    return over_ip(rng, 17, udp + header + frame)


def mirror(rng, kind, frame):
    if kind == "erspan2":
        gre = struct.pack(">HHI", 0x1000, 0x88be, rng.getrandbits(20))
        gre += struct.pack(">HHI", 0x1000 | rng.randrange(4096), rng.randrange(1024), 7)
    elif kind == "erspan3":
        gre = struct.pack(">HHI", 0x1000, 0x22eb, rng.getrandbits(20))
        gre += struct.pack(">HHIHH", 0x2000 | rng.randrange(4096), rng.randrange(1024), rng.getrandbits(32), 0, 0x8000)
    else:
        gre = struct.pack(">HH", 0, 0x6558)
    return over_ip(rng, 47, gre + frame)


def erf(ts, packet, ext, size=None):
    """One ERF record of type 21 with ext extension headers, before any cutting but that from `size` bytes."""
    fraction = ((ts % 10**9 << 32) + 5 * 10**8) // 10**9
    extensions = b"".join(bytes([(0x80 if i + 1 < ext else 0) | 16]) + bytes(7) for i in range(ext))
    header = struct.pack("<Q", ts // 10**9 << 32 | fraction)
    header += struct.pack(">BBHHH", 21 | (0x80 if ext else 0), 4, 16 + 8 * ext + len(packet), 0, size or len(packet))
    return header + extensions + packet


def erf_ethernet(ts, frame, size):
    """One ERF record of type 2 of a frame that was `size` bytes long without its FCS, which is counted."""
    fraction = ((ts % 10**9 << 32) + 5 * 10**8) // 10**9
    header = struct.pack("<Q", ts // 10**9 << 32 | fraction)
    return header + struct.pack(">BBHHHxx", 2, 4, 18 + len(frame), 0, size + 4) + frame


def pcap(path, linktype, frames):
    """frames: objects with ts (ns), record (bytes) and cap."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, linktype))
        for frame in frames:
            out.write(struct.pack("<IIII", frame.ts // 10**9, frame.ts % 10**9, frame.cap, len(frame.record)))
            out.write(frame.record[:frame.cap])
