"""pcapng as far as the vectors need it."""

import struct

from second.frame import Frame

SECTION, INTERFACE, PACKET, SIMPLE, ENHANCED = 0x0A0D0D0A, 1, 2, 3, 6
TSRESOL, TSOFFSET, FCSLEN, FLAGS = 9, 14, 13, 2


class _Interface:
    def __init__(self, order, body):
        self.linktype, _, self.snaplen = struct.unpack(order + "HHI", body[:8])
        options = _options(order, body[8:])
        resolution = options.get(TSRESOL, b"\x06")[0]
        self.units = 2 ** (resolution & 127) if resolution & 128 else 10 ** resolution
        self.offset = struct.unpack(order + "q", options.get(TSOFFSET, b"\0" * 8))[0]
        self.fcs = options.get(FCSLEN, b"\0")[0]

    def frame(self, data, wirelen, ticks, flags=0):
        stamp = self.offset * 10 ** 9 + ticks * 10 ** 9 // self.units
        return Frame(data, wirelen, self.linktype, flags >> 5 & 15 or self.fcs, stamp)


def _options(order, data):
    found, at = {}, 0
    while at + 4 <= len(data):
        code, size = struct.unpack(order + "HH", data[at:at + 4])
        if code == 0:
            break
        found[code] = data[at + 4:at + 4 + size]
        at += 4 + (size + 3) // 4 * 4
    return found


def _enhanced(order, body, interfaces):
    which, high, low, size, wirelen = struct.unpack(order + "5I", body[:20])
    flags = struct.unpack(order + "I", _options(order, body[20 + (size + 3) // 4 * 4:]).get(FLAGS, b"\0" * 4))[0]
    return interfaces[which].frame(body[20:20 + size], wirelen, high << 32 | low, flags)


def _obsolete(order, body, interfaces):
    which, _, high, low, size, wirelen = struct.unpack(order + "HH4I", body[:20])
    return interfaces[which].frame(body[20:20 + size], wirelen, high << 32 | low)


def _simple(order, body, interfaces):
    wirelen = struct.unpack(order + "I", body[:4])[0]
    size = min(wirelen, interfaces[0].snaplen or wirelen)
    frame = interfaces[0].frame(body[4:4 + size], wirelen, 0)
    frame.ts_ns = None
    return frame


_PACKETS = {ENHANCED: _enhanced, PACKET: _obsolete, SIMPLE: _simple}


def read(data):
    """The frames of all sections."""
    at, order, interfaces = 0, "<", []
    while at + 12 <= len(data):
        if struct.unpack("<I", data[at:at + 4])[0] == SECTION:
            order = "<" if data[at + 8:at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            interfaces = []
        kind, size = struct.unpack(order + "II", data[at:at + 8])
        body = data[at + 8:at + size - 4]
        if kind == INTERFACE:
            interfaces.append(_Interface(order, body))
        elif kind in _PACKETS and (kind == SIMPLE or struct.unpack(order + ("H" if kind == PACKET else "I"),
                                                                  body[:2 if kind == PACKET else 4])[0] < len(interfaces)):
            yield _PACKETS[kind](order, body, interfaces)
        at += size
