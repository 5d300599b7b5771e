"""Checksums: ICRC and FCS (CRC-32), VCRC and LPCRC (CRC-16, 0x100B reflected), Internet checksum."""

import struct
import zlib


def _table16():
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0xD008 if value & 1 else 0)
        table.append(value)
    return table


_TABLE16 = _table16()


def crc16(data):
    """VCRC and LPCRC as they lie on the wire: low byte first."""
    value = 0xFFFF
    for byte in data:
        value = (value >> 8) ^ _TABLE16[(value ^ byte) & 0xFF]
    return struct.pack("<H", value ^ 0xFFFF)


def crc32(data):
    """ICRC and Ethernet FCS as they lie on the wire: low byte first."""
    return struct.pack("<I", zlib.crc32(data) & 0xFFFFFFFF)


def ones_sum(data):
    """Internet checksum of data; 0 if a correct checksum is part of it."""
    if len(data) % 2:
        data = data + b"\0"
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def icrc(data, start, end, carrier):
    """ICRC over data[start:end] with the variant bytes of the carrier taken as ones."""
    covered = bytearray(data[start:end])
    for offset, mask in carrier.variant:
        covered[offset - start] |= mask
    return crc32(carrier.prefix + bytes(covered))
