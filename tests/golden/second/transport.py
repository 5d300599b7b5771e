"""From the BTH to the invariant CRC: fields, and the rules in their order."""

from second import crc, extended
from second.opcodes import EIGHT, FULL, NONE, OPCODES, SIZES, SOME

BTH, ICRC = 12, 4
MTUS = (256, 512, 1024, 2048, 4096)
MULTICAST_QP = 0xFFFFFF
QP1_QKEY = 0x80010000
RD = 2


class Lengths:
    """Sizes that follow from the length fields: total is BTH to ICRC inclusive."""

    def __init__(self, total, headers, pad):
        self.total, self.headers = total, headers
        self.fits = total >= BTH + headers + ICRC
        self.area = total - BTH - headers - ICRC
        self.payload = self.area - pad if self.fits and self.area >= pad else None


def read(packet, window, total, carrier):
    """window starts at the BTH; total is what the length field below says."""
    if total < BTH + ICRC:
        packet.stop("bth_short")
    if not window.captured(BTH):
        packet.cut("bth")
    _read_bth(packet, window)
    opcode = OPCODES.get(window.u8(0))
    _check_icrc(packet, window, total, carrier)
    if opcode is None:
        _undefined(packet, window, total)
    else:
        _defined(packet, window, Lengths(total, opcode.size, packet.values["pad"]), opcode)
    if packet.values["icrc_ok"] is False:
        packet.bad("bad_icrc")


def _read_bth(packet, window):
    flags, marks, opcode = window.u8(1), window.u8(4), OPCODES.get(window.u8(0))
    packet.encap.append("bth")
    packet.values.update(
        opcode=window.u8(0), opname=opcode.name if opcode else None, se=flags >> 7, m=flags >> 6 & 1,
        pad=flags >> 4 & 3, tver=flags & 15, pkey=window.u16(2), fecn=marks >> 7, becn=marks >> 6 & 1,
        dest_qp=window.u24(5), ack_req=window.u8(8) >> 7, psn=window.u24(9))
    if window.u8(0) >> 5 == RD:
        packet.extra["ambiguous"] = "rd_or_dc"
    if marks & 0x3F:
        packet.alerts.append("bth_reserved_bits")
    if opcode and opcode.name == "CNP" and not marks & 0x40:
        packet.alerts.append("cnp_without_becn")


def _check_icrc(packet, window, total, carrier):
    end = window.at + total
    if end > window.cap:
        return
    stored = window.data[end - ICRC:end]
    packet.values["icrc"] = "0x" + stored.hex()
    if carrier.checkable:
        carrier.variant += ((window.at + 4, 0xFF),)
        good = crc.icrc(window.data, carrier.start, end - ICRC, carrier) == stored
        packet.values["icrc_ok"] = None if carrier.doubtful and not good else good


def _undefined(packet, window, total):
    if packet.values["tver"]:
        packet.bad("bad_tver")
    if window.u8(0) >> 5 != RD:
        packet.bad("manufacturer_opcode" if window.u8(0) >= 0xC0 else "reserved_opcode")
    if packet.values["pkey"] & 0x7FFF == 0 and packet.values["dest_qp"] != 0:
        packet.bad("invalid_pkey")
    if total % 4:
        packet.bad("unaligned_length")
    _mark_payload_cut(packet, window, total, total - ICRC)


def _defined(packet, window, lengths, opcode):
    if lengths.fits:
        _read_extended(packet, window, opcode)
        packet.values["payload_len"] = lengths.payload
        _count_captured(packet, window, lengths)
    pad = packet.values["pad"] if lengths.payload is not None else 0
    _mark_payload_cut(packet, window, lengths.total, lengths.total - ICRC - pad)
    for rule in _broken(packet.values, window, lengths, opcode, packet.transport):
        packet.bad(rule)
    _read_mad(packet, window, lengths, opcode)
    _alert_pad(packet, window, lengths)


def _read_extended(packet, window, opcode):
    offset = BTH
    for header in opcode.headers:
        if not window.captured(offset + SIZES[header]):
            packet.truncated = header
            return
        fields = packet.values[header] = extended.READERS[header](window.step(offset))
        if header == "aeth" and extended.aeth_is_reserved(fields):
            packet.alerts.append("aeth_reserved")
        offset += SIZES[header]


def _count_captured(packet, window, lengths):
    if lengths.payload is not None:
        there = window.cap - window.at - BTH - lengths.headers
        packet.values["payload_captured"] = max(0, min(lengths.payload, there))


def _mark_payload_cut(packet, window, total, payload_end):
    """Every header is there, and the capture ends before the packet does."""
    if packet.truncated is None and not window.captured(total):
        packet.truncated = "icrc" if window.captured(payload_end) else "payload"


def _broken(values, window, lengths, opcode, transport):
    """Names of the rules broken, in the order of the rules."""
    if values["tver"]:
        yield "bad_tver"
    if values["pkey"] & 0x7FFF == 0 and values["dest_qp"] != 0:
        yield "invalid_pkey"
    if not lengths.fits:
        yield "exthdr_short"
        return
    if lengths.total % 4:
        yield "unaligned_length"
    if opcode.transport == "RD":
        return
    yield from _payload_rules(values, lengths, opcode)
    yield from _content_rules(values, lengths, opcode)
    if transport != "ib" and values["dest_qp"] == 0:
        yield "qp0_on_roce"
    if values["dest_qp"] == MULTICAST_QP and opcode.transport != "UD":
        yield "mcast_qp_not_ud"
    if opcode.transport == "UD" and values["dest_qp"] <= 1:
        yield from _mad_rules(values, window, lengths, opcode)


def _payload_rules(values, lengths, opcode):
    payload, pad = lengths.payload, values["pad"]
    if opcode.name == "CNP" and lengths.total != 32:
        yield "cnp_bad_length"
    if pad > lengths.area or pad and opcode.payload in (NONE, FULL, EIGHT):
        yield "bad_padcnt"
    if payload is None:
        return
    if opcode.payload == NONE and payload:
        yield "payload_not_allowed"
    if opcode.payload == EIGHT and payload != 8:
        yield "atomic_write_length"
    if payload > 4096:
        yield "payload_over_mtu"
    if opcode.payload == FULL and payload not in MTUS:
        yield "payload_not_mtu"
    if opcode.payload == SOME and payload == 0:
        yield "payload_zero_last"


def _content_rules(values, lengths, opcode):
    reth, atomic = values["reth"], values["atomiceth"]
    if reth and reth["len"] > 1 << 31:
        yield "reth_len_too_big"
    if reth and lengths.payload is not None:
        only, first = "RDMA_WRITE_ONLY" in opcode.name, opcode.name.endswith("RDMA_WRITE_FIRST")
        if only and reth["len"] != lengths.payload or first and reth["len"] <= lengths.payload:
            yield "reth_len_mismatch"
    if atomic and int(atomic["va"], 16) % 8:
        yield "atomic_unaligned"


def _mad_rules(values, window, lengths, opcode):
    if values["dest_qp"] == 1 and values["deth"] and values["deth"]["qkey"] != QP1_QKEY:
        yield "qp1_bad_qkey"
    if lengths.payload != 256:
        yield "mad_bad_length"
    elif window.captured(BTH + lengths.headers + 1) and window.u8(BTH + lengths.headers) != 1:
        yield "mad_bad_version"


def _read_mad(packet, window, lengths, opcode):
    at = BTH + lengths.headers
    if opcode.transport == "UD" and packet.values["dest_qp"] <= 1 and lengths.payload == 256:
        if window.captured(at + 1):
            packet.encap.append("mad")
        if window.captured(at + 24):
            packet.extra["mad"] = extended.mad(window.step(at))


def _alert_pad(packet, window, lengths):
    pad = packet.values["pad"]
    body = lengths.total - ICRC
    if pad and lengths.payload is not None and window.captured(body):
        if any(window.data[window.at + body - pad:window.at + body]):
            packet.pad_nonzero = True
