"""Capture files, read as far as the vectors need and written as pcap."""

import struct

from second import pcapng
from second.frame import ERF, Frame

FCS_PRESENT = 0x04000000


def _pcap(data):
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    nano = data[:4] in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d")
    network = struct.unpack(order + "I", data[20:24])[0]
    fcs = (network >> 28) * 2 if network & FCS_PRESENT else 0
    at = 24
    while at + 16 <= len(data):
        seconds, fraction, size, wirelen = struct.unpack(order + "4I", data[at:at + 16])
        stamp = seconds * 10 ** 9 + fraction * (1 if nano else 1000)
        yield Frame(data[at + 16:at + 16 + size], wirelen, network & 0xFFFF, fcs, stamp)
        at += 16 + size


def _erf(data):
    at = 0
    while at + 16 <= len(data):
        size = struct.unpack("!H", data[at + 10:at + 12])[0]
        yield Frame(data[at:at + size], size, ERF)
        at += size


def read(path):
    """The frames of a pcap, pcapng or ERF file."""
    data = path.read_bytes()
    readers = {".erf": _erf, ".pcapng": pcapng.read}
    return list(readers.get(path.suffix, _pcap)(data))


def write(path, frames):
    """Nanosecond pcap of frames that share link type and FCS length."""
    network = frames[0].linktype
    if frames[0].fcs:
        network |= FCS_PRESENT | frames[0].fcs // 2 << 28
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, network))
        for frame in frames:
            seconds, rest = divmod(frame.ts_ns, 10 ** 9)
            out.write(struct.pack("<4I", seconds, rest, len(frame.data), frame.stated))
            out.write(frame.data)
