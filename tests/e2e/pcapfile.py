"""Reading and writing capture files independently of the program under test."""

import struct

LITTLE_USEC = 0xA1B2C3D4
LITTLE_NSEC = 0xA1B23C4D


def read_pcap(path):
    """(header, [record, ...]) of a little-endian pcap, every record with its own 16-byte header."""
    data = path.read_bytes()
    magic = struct.unpack_from("<I", data)[0]
    assert magic in (LITTLE_USEC, LITTLE_NSEC), path
    records, at = [], 24
    while at + 16 <= len(data):
        captured = struct.unpack_from("<I", data, at + 8)[0]
        records.append(data[at:at + 16 + captured])
        at += 16 + captured
    return data[:24], records


def write_pcap(path, header, records):
    path.write_bytes(header + b"".join(records))
    return path


def pcap_of(frames, link_type=1):
    """A pcap with these frames, a microsecond apart."""
    header = struct.pack("<IHHiIII", LITTLE_USEC, 2, 4, 0, 0, 262144, link_type)
    return header + b"".join(struct.pack("<IIII", 1700000000, i % 1000000, len(f), len(f)) + f for i, f in enumerate(frames))


def _block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def pcapng_of(header, records, timed):
    """The frames of read_pcap() as pcapng; those for whose number (from 1) `timed` is false have no time stamp."""
    digits = 9 if struct.unpack_from("<I", header)[0] == LITTLE_NSEC else 6
    link_type = struct.unpack_from("<I", header, 20)[0]
    blocks = [_block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)),
              _block(1, struct.pack("<HHIHHB3xHH", link_type, 0, 0, 9, 1, digits, 0, 0))]
    for number, record in enumerate(records, 1):
        seconds, fraction, captured, original = struct.unpack_from("<IIII", record)
        if timed(number):
            time = seconds * 10 ** digits + fraction
            head = struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, captured, original)
            blocks.append(_block(6, head + record[16:]))
        else:
            blocks.append(_block(3, struct.pack("<I", original) + record[16:]))
    return b"".join(blocks)


def interface_statistics(dropped):
    """An interface statistics block of the first interface: so many frames it could not take (isb_ifdrop)."""
    return _block(5, struct.pack("<III", 0, 0, 0) + struct.pack("<HHQHH", 5, 8, dropped, 0, 0))


def _options(body, at, end, order):
    found = []
    while at + 4 <= end:
        code, length = struct.unpack_from(order + "HH", body, at)
        if code == 0:
            break
        found.append((code, body[at + 4:at + 4 + length]))
        at += 4 + (length + 3 & ~3)
    return found


def read_pcapng(path):
    """[(frame bytes, time in ns or ticks, [comment, ...])] of the enhanced packet blocks."""
    data, at, order, packets = path.read_bytes(), 0, "<", []
    while at + 12 <= len(data):
        if data[at:at + 4] == b"\x0a\x0d\x0d\x0a":
            order = "<" if data[at + 8:at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
        kind, length = struct.unpack_from(order + "II", data, at)
        assert length >= 12 and length % 4 == 0 and at + length <= len(data), "block at %d" % at
        assert struct.unpack_from(order + "I", data, at + length - 4)[0] == length, "block at %d" % at
        if kind == 6:
            high, low, captured = struct.unpack_from(order + "III", data, at + 12)
            body = at + 28
            options = _options(data, body + (captured + 3 & ~3), at + length - 4, order)
            comments = [value.decode() for code, value in options if code == 1]
            packets.append((data[body:body + captured], high << 32 | low, comments))
        at += length
    assert at == len(data), "bytes after the last block"
    return packets
