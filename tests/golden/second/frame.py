"""One captured frame: link types, ERF, FCS, timestamp trailers."""

from second import crc, link
from second.model import Packet, Stop, Window

ETHERNET, SLL, ERF, INFINIBAND, SLL2 = 1, 113, 197, 247, 276
ERF_ETHERNET, ERF_INFINIBAND, ERF_LINK, ERF_IPV4, ERF_IPV6 = (2, 11, 16, 20), 21, 25, 22, 23
EXTENSIONS = 64
WEEK_NS = 7 * 86400 * 10 ** 9


class Frame:
    def __init__(self, data, wirelen, linktype, fcs=0, ts_ns=1700000693 * 10 ** 9):
        self.data, self.linktype, self.fcs, self.ts_ns = data, linktype, fcs, ts_ns
        self.stated = wirelen
        self.wirelen = max(wirelen, len(data))


def decode(frame):
    """Rows for the packets of a frame, in the form of expected.jsonl. Sets frame.ts_ns to the ERF time."""
    packet = Packet()
    window = Window(frame.data, 0, len(frame.data), frame.wirelen)
    try:
        _READERS[frame.linktype](packet, window, frame)
    except Stop:
        pass
    parts = getattr(packet, "parts", [])
    for part in parts:
        part.extra.update({"trailer": packet.extra["trailer"]} if "trailer" in packet.extra else {})
    whole = [packet] if packet.malformed or not parts else []
    return [part.result() for part in parts + whole]


def _read_ethernet(packet, window, frame):
    if frame.fcs:
        window = _check_fcs(packet, window, frame.fcs)
    _read_stamped(packet, window, frame)


def _read_stamped(packet, window, frame):
    """An Ethernet frame behind which a switch may have left its time."""
    try:
        link.read_ethernet(packet, window)
    finally:
        _find_trailer(packet, window, frame)


def _check_fcs(packet, window, size):
    packet.extra["fcs_ok"] = None
    body = max(0, window.wire - size)
    if size == 4 and window.captured(window.wire) and window.wire >= 4:
        packet.extra["fcs_ok"] = crc.crc32(window.bytes(body)) == window.step(body).bytes(4)
    return Window(window.data, 0, window.cap, body)


def _find_trailer(packet, window, frame):
    if packet.end is None or window.cap != window.wire:
        return
    for kind, start in (("metamako", 12), ("metamako", 16), ("exablaze", 16), ("exablaze", 20)):
        original_fcs = 4 if kind == "metamako" else 0
        if packet.end + original_fcs + start <= window.wire:
            stamp = _TRAILERS[kind](Window(window.data, window.wire - start, window.cap, window.wire))
            # a clock in the first second of 1970 was never set: zeros, not a time
            if stamp is not None and stamp >= 10 ** 9 and abs(stamp - frame.ts_ns) <= WEEK_NS:
                packet.extra["trailer"] = {"kind": kind, "ts_ns": stamp}
                return


def _metamako(window):
    return window.u32(0) * 10 ** 9 + window.u32(4) if window.u32(4) < 10 ** 9 else None


def _exablaze(window):
    fraction = window.u8(10) << 32 | window.u32(11)
    return window.u32(6) * 10 ** 9 + (fraction * 10 ** 9 >> 40)


_TRAILERS = {"metamako": _metamako, "exablaze": _exablaze}


def _read_erf(packet, window, frame):
    packet.need(window, 16, "erf", "erf_short")
    record = min(window.u16(10), window.wire)      # a pcap record bounds it
    if record < 16:
        packet.stop("erf_bad_rlen")
    container_ns, frame.ts_ns = frame.ts_ns, _erf_time(window)
    try:
        _read_record(packet, window, record, frame)
    finally:
        if not packet.encap and not packet.truncated:
            frame.ts_ns = container_ns


def _erf_time(window):
    """Little-endian 32.32 fixed point."""
    stamp = int.from_bytes(window.bytes(8), "little")
    return (stamp >> 32) * 10 ** 9 + (((stamp & 0xFFFFFFFF) * 10 ** 9 + (1 << 31)) >> 32)


def _read_record(packet, window, record, frame):
    extensions = _read_extensions(packet, window, record)
    kind = window.u8(8) & 0x7F
    header = 16 + 8 * len(extensions) + (2 if kind in ERF_ETHERNET else 0)
    if record < header:
        packet.stop("erf_bad_rlen")
    if not window.captured(header):
        packet.cut("erf")
    packet.encap.append("erf:%d" % kind)
    packet.extra["erf"] = {"type": kind, "flags": window.u8(9), "lctr": window.u16(12), "ext": extensions,
                           "wlen": window.u16(14)}
    cap = min(window.cap, record, header + window.u16(14))
    _read_erf_body(packet, Window(window.data, header, cap, header + window.u16(14)), kind, frame)


def _read_extensions(packet, window, record):
    found, at, more = [], 16, window.u8(8) & 0x80
    while more:
        if at + 8 > record or not window.on_wire(at + 8) or len(found) == EXTENSIONS:
            packet.stop("erf_ext_overrun")
        if not window.captured(at + 8):
            packet.cut("erf")
        found.append(window.u8(at) & 0x7F)
        more, at = window.u8(at) & 0x80, at + 8
    return found


def _read_erf_body(packet, window, kind, frame):
    if kind in ERF_ETHERNET:
        body = max(window.at, window.wire - 4)
        packet.extra["fcs_ok"] = None
        if window.cap == window.wire and window.wire - window.at >= 4:
            stored = window.data[body:body + 4]
            packet.extra["fcs_ok"] = crc.crc32(window.data[window.at:body]) == stored
        if window.wire - window.at >= 4 and not packet.extra["fcs_ok"]:
            packet.whole = window
        _read_stamped(packet, Window(window.data, window.at, window.cap, body), frame)
    elif kind == ERF_INFINIBAND:
        link.read_infiniband(packet, window)
    elif kind == ERF_LINK:
        _read_link_packet(packet, window)
    elif kind in (ERF_IPV4, ERF_IPV6):
        link.read_network(packet, window, link.IPV4 if kind == ERF_IPV4 else link.IPV6)


def _read_link_packet(packet, window):
    packet.transport = "ib_link"
    packet.need(window, 6, "link", "erf_bad_rlen")
    first, second = window.u16(0), window.u16(2)
    packet.extra["link"] = {
        "op": first >> 12, "fctbs": first & 0xFFF, "vl": second >> 12, "fccl": second & 0xFFF,
        "lpcrc_ok": crc.crc16(window.bytes(4)) == window.step(4).bytes(2)}
    if first >> 12 > 1:
        packet.alerts.append("link_op_reserved")


_READERS = {
    ETHERNET: _read_ethernet,
    SLL: lambda packet, window, frame: link.read_sll(packet, window),
    SLL2: lambda packet, window, frame: link.read_sll2(packet, window),
    INFINIBAND: lambda packet, window, frame: link.read_infiniband(packet, window),
    ERF: _read_erf,
}
