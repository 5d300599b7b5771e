"""IPv4, IPv6, UDP and the GRH: what stands under a BTH."""

import ipaddress

from second import crc, transport, tunnels, sflow
from second.model import Carrier

ROCE, VXLAN, VXLAN_GPE, GENEVE, TZSP, SFLOW = 4791, (4789, 8472), 4790, 6081, 37008, 6343
UDP_HEADER, GRH_HEADER, IBA_TRANSPORT = 8, 40, 0x1B
WALKED, FRAGMENT = (0, 43, 60), 44
EXTENSIONS = 8


def address(data):
    return str(ipaddress.IPv4Address(data)) if len(data) == 4 else ipaddress.IPv6Address(data).exploded


def read_ip(packet, window, version):
    if version == 4:
        _read_ipv4(packet, window)
    else:
        _read_ipv6(packet, window)


def _read_ipv4(packet, window):
    packet.need(window, 20, "ipv4", "ip_short")
    header = (window.u8(0) & 15) * 4
    if window.u8(0) >> 4 != 4:
        packet.stop("ip_bad_version")
    if header < 20:
        packet.stop("ip_bad_ihl")
    total = window.u16(2)
    room = packet.room(window, total) if header <= total else None
    window = room or window
    if room and not window.captured(header):
        packet.cut("ipv4")
    packet.encap.append("ipv4")
    packet.values["ip"] = {
        "ver": 4, "src": address(window.step(12).bytes(4)), "dst": address(window.step(16).bytes(4)),
        "ttl": window.u8(8), "dscp": window.u8(1) >> 2, "ecn": window.u8(1) & 3, "id": window.u16(4)}
    if room is None:
        packet.stop("ip_bad_length")
    if crc.ones_sum(window.bytes(header)):
        packet.alerts.append("ip_bad_checksum")
    packet.ends_at(window.at + total)
    if window.u16(6) & 0x3FFF:
        packet.stop("ip_fragment")
    at = window.at
    carrier = Carrier(at, variant=[(at + 1, 255), (at + 8, 255), (at + 10, 255), (at + 11, 255)])
    carrier.checkable = header == 20
    carrier.options = header > 20
    _read_payload(packet, window.limited(total).step(header), window.u8(9), carrier)


def _read_ipv6(packet, window):
    packet.need(window, 40, "ipv6", "ip_short")
    if window.u8(0) >> 4 != 6:
        packet.stop("ip_bad_version")
    traffic_class = window.u16(0) >> 4 & 255
    packet.encap.append("ipv6")
    packet.values["ip"] = {
        "ver": 6, "src": address(window.step(8).bytes(16)), "dst": address(window.step(24).bytes(16)),
        "ttl": window.u8(7), "dscp": traffic_class >> 2, "ecn": traffic_class & 3,
        "flow_label": window.u32(0) & 0xFFFFF}
    window = packet.room(window, 40 + window.u16(4)) or packet.stop("ip_bad_length")
    packet.ends_at(window.at + 40 + window.u16(4))
    at = window.at
    variant = [(at, 0x0F)] + [(at + i, 255) for i in (1, 2, 3, 7)]
    carrier = Carrier(at, variant=variant)
    carrier.options = False
    body, following = window.limited(40 + window.u16(4)).step(40), window.u8(6)
    for count in range(EXTENSIONS + 1):
        if following == FRAGMENT:
            packet.stop("ip_fragment")
        if following not in WALKED:
            carrier.doubtful = count > 0
            return _read_payload(packet, body, following, carrier)
        if count == EXTENSIONS:
            packet.stop("ip_ext_too_deep")
        packet.need(body, 8, "ipv6", "ip_bad_length")
        size = 8 + 8 * body.u8(1)
        packet.need(body, size, "ipv6", "ip_bad_length")
        following, body = body.u8(0), body.step(size)
    return None


def _read_payload(packet, body, protocol, carrier):
    if protocol == 47 and not packet.raw:
        tunnels.read_gre(packet, body)
    elif protocol == 17:
        _read_udp(packet, body, carrier)


def _read_udp(packet, body, carrier):
    packet.need(body, UDP_HEADER, "udp", "udp_short")
    port, length, left = body.u16(2), body.u16(4), body.wire - body.at
    packet.encap.append("udp")
    packet.values["udp_sport"] = body.u16(0)
    if port == ROCE and not packet.raw:
        packet.transport = "roce2"
        if carrier.options:
            packet.bad("ip_options")
    if length < UDP_HEADER or length > left:
        packet.stop("udp_bad_length")
    if length < left:
        packet.stop("udp_length_mismatch")
    _check_udp(packet, body, length)
    inner = body.step(UDP_HEADER)
    if packet.raw:
        return
    if port == ROCE:
        carrier.variant += ((body.at + 6, 255), (body.at + 7, 255))
        transport.read(packet, inner, length - UDP_HEADER, carrier)
    elif port in VXLAN:
        tunnels.read_vxlan(packet, inner)
    elif port == VXLAN_GPE:
        tunnels.read_vxlan(packet, inner, generic=True)
    elif port == GENEVE:
        tunnels.read_geneve(packet, inner)
    elif port == TZSP:
        tunnels.read_tzsp(packet, inner)
    elif port == SFLOW:
        sflow.read(packet, inner)


def _check_udp(packet, body, length):
    ip, stored = packet.values["ip"], body.u16(6)
    if stored == 0:
        if ip["ver"] == 6:
            packet.alerts.append("udp6_zero_checksum")
        return
    if body.captured(length):
        ends = [ipaddress.ip_address(ip[key]).packed for key in ("src", "dst")]
        pseudo = b"".join(ends) + bytes([0, 17]) + length.to_bytes(2, "big")
        if crc.ones_sum(pseudo + body.bytes(length)):
            packet.alerts.append("udp_bad_checksum")


def read_grh(packet, window, native=False):
    """native: behind an LRH, not RoCEv1."""
    packet.need(window, GRH_HEADER, "grh", "grh_short")
    packet.encap.append("grh")
    if not native:
        packet.transport = "roce1"
    packet.values["grh"] = {
        "sgid": address(window.step(8).bytes(16)), "dgid": address(window.step(24).bytes(16)),
        "tclass": window.u16(0) >> 4 & 255, "flow_label": window.u32(0) & 0xFFFFF, "hop_limit": window.u8(7),
        "pay_len": window.u16(4), "next_hdr": window.u8(6), "ip_ver": window.u8(0) >> 4}
    if window.u8(0) >> 4 != 6:
        packet.stop("grh_bad_ipver")
    if window.u8(6) != IBA_TRANSPORT:
        packet.stop("grh_bad_nxthdr")
    total = window.u16(4)
    window = packet.room(window, GRH_HEADER + total) or packet.stop("grh_bad_paylen")
    packet.ends_at(window.at + GRH_HEADER + total)
    at = window.at
    covered = Carrier(at, variant=[(at, 0x0F)] + [(at + i, 255) for i in (1, 2, 3, 7)])
    body = window.limited(GRH_HEADER + total).step(GRH_HEADER)
    transport.read(packet, body, total, covered)
