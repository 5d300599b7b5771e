"""Ethernet with its tags, Linux cooked captures, InfiniBand links."""

from second import crc, network, transport
from second.model import Carrier

VLANS = {0x8100: "vlan", 0x88A8: "qinq", 0x9100: "qinq9100", 0x9200: "qinq9200"}
MPLS, AVSP, MAC_CONTROL, MELLANOX, ROCE1 = (0x8847, 0x8848), 0xD28B, 0x8808, 0x8949, 0x8915
IPV4, IPV6 = 0x0800, 0x86DD
AVSP_WIDE, AVSP_NARROW = (0x0010, 0x0110), (0x0020, 0x0120)
BOUND = 8
NOT_ROCE_ARPHRD = (770, 778, 803, 823, 824)
MIRROR1123 = 0x1123


def mac(data):
    return ":".join("%02x" % byte for byte in data)


def read_ethernet(packet, window):
    packet.need(window, 14, "eth", "eth_short")
    packet.encap.append("eth")
    packet.values.update(dmac=mac(window.bytes(6)), smac=mac(window.step(6).bytes(6)))
    read_network(packet, window.step(14), window.u16(12))


def read_network(packet, window, ethertype):
    """What an EtherType announces, window being behind it."""
    ethertype, window = _read_tags(packet, window, ethertype)
    if ethertype == AVSP:
        ethertype, window = _read_avsp(packet, window)
        ethertype, window = _read_tags(packet, window, ethertype)
    if ethertype == IPV4 or ethertype == IPV6:
        network.read_ip(packet, window, 4 if ethertype == IPV4 else 6)
    elif ethertype == ROCE1:
        network.read_grh(packet, window)
    elif ethertype in MPLS:
        _read_mpls(packet, window)
    elif ethertype == MAC_CONTROL:
        _read_mac_control(packet, window)
    elif ethertype == MELLANOX:
        _read_mellanox(packet, window)


def _read_tags(packet, window, ethertype):
    pcps = packet.extra.get("vlan_pcp", [])
    while ethertype in VLANS:
        if len(pcps) == BOUND:
            packet.stop("vlan_too_deep")
        packet.need(window, 4, "vlan", "eth_short")
        packet.encap.append("%s:%d" % (VLANS[ethertype], window.u16(0) & 0xFFF))
        pcps.append(window.u8(0) >> 5)
        packet.extra["vlan_pcp"] = pcps
        ethertype, window = window.u16(2), window.step(4)
    return ethertype, window


def _read_mpls(packet, window):
    for _ in range(BOUND):
        packet.need(window, 4, "mpls", "eth_short")
        packet.encap.append("mpls:%d" % (window.u32(0) >> 12))
        bottom, window = window.u8(2) & 1, window.step(4)
        if bottom:
            return _read_bare_ip(packet, window)
    return packet.stop("mpls_too_deep")


def _read_bare_ip(packet, window):
    """IP announced by its first four bits."""
    packet.need(window, 1, "mpls", "ip_short")
    if window.u8(0) >> 4 in (4, 6):
        network.read_ip(packet, window, window.u8(0) >> 4)


def _read_avsp(packet, window):
    """Arista's time stamp; returns the real EtherType, None if the header is of an unknown kind."""
    packet.need(window, 4, "avsp", "eth_short")
    subtype, version = window.u16(0), window.u16(2)
    if subtype != 1 or version not in AVSP_WIDE + AVSP_NARROW:
        return None, window
    wide = 4 if version in AVSP_WIDE else 2
    packet.need(window, 4 + wide + 6, "avsp", "eth_short")
    seconds = window.u32(4) if wide == 4 else window.u16(4)
    packet.encap.append("avsp")
    packet.extra["avsp"] = {"version": version, "sec": seconds, "ns": window.u32(4 + wide)}
    return window.u16(8 + wide), window.step(4 + wide + 6)


def _read_mac_control(packet, window):
    packet.need(window, 2, "macctrl", "eth_short")
    opcode = window.u16(0)
    size = {1: 4, 0x0101: 20}.get(opcode, 2)
    packet.need(window, size, "macctrl", "eth_short")
    packet.encap.append("macctrl")
    fields = {"opcode": opcode, "quanta": []}
    if opcode == 1:
        fields["quanta"] = [window.u16(2)]
    elif opcode == 0x0101:
        fields.update(enable=window.u16(2), quanta=[window.u16(4 + 2 * i) for i in range(8)])
    packet.extra["macctrl"] = fields


def _read_mellanox(packet, window):
    """A mirror's own addresses and perhaps its tag in front of the original frame."""
    packet.want_tunnel()
    window = window.unbounded()
    tag = 4 if window.captured(2) and window.u16(0) == 0x8100 else 0
    packet.enter_tunnel(kind="mlnx8949")
    packet.need(window, tag, "mlnx8949", "eth_short")
    packet.encap.append("mlnx8949")
    read_ethernet(packet, window.step(tag))


def read_sll(packet, window):
    packet.need(window, 16, "sll", "eth_short")
    packet.encap.append("sll")
    _read_cooked(packet, window.step(16), window.u16(14), window.u16(2), window.u16(4), window.step(6))


def read_sll2(packet, window):
    packet.need(window, 20, "sll2", "eth_short")
    packet.encap.append("sll2")
    _read_cooked(packet, window.step(20), window.u16(0), window.u16(8), window.u8(11), window.step(12))


def _read_cooked(packet, inner, protocol, hardware, length, sender):
    if length == 6:
        packet.values["smac"] = mac(sender.bytes(6))
    if hardware not in NOT_ROCE_ARPHRD:
        read_network(packet, inner, protocol)


def read_infiniband(packet, window):
    packet.need(window, 8, "lrh", "lrh_short")
    packet.encap.append("lrh")
    packet.transport = "ib"
    following = window.u8(1) & 3
    packet.values["lrh"] = {
        "vl": window.u8(0) >> 4, "lver": window.u8(0) & 15, "sl": window.u8(1) >> 4, "lnh": following,
        "dlid": window.u16(2), "slid": window.u16(6), "pkt_len": window.u16(4) & 0x7FF}
    if window.u8(0) & 15:
        packet.stop("lrh_bad_lver")
    size = (window.u16(4) & 0x7FF) * 4
    if size < {0: 12, 1: 48, 2: 24, 3: 64}[following] or not window.on_wire(size):
        packet.stop("lrh_bad_pktlen")
    body = window.limited(size).step(8)
    if following == 0:
        _read_raw(packet, body)
    elif following == 1:
        packet.raw = True
        network.read_ip(packet, body, 6)
    else:
        _read_iba(packet, window, body, following == 3)
    if "mirror1123" not in packet.encap:
        _read_vcrc(packet, window, size)


def _read_raw(packet, body):
    packet.need(body, 4, "rwh", "rwh_short")
    packet.encap.append("rwh")
    packet.extra["rwh_ethertype"] = body.u16(2)
    if body.u16(2) == MIRROR1123:
        packet.want_tunnel()
        packet.need(body, 8, "mirror1123", "mirror1123_short")
        del packet.extra["rwh_ethertype"]
        packet.enter_tunnel("mirror1123", kind="mirror1123")
        read_infiniband(packet, body.step(8))


def _read_iba(packet, window, body, has_grh):
    if has_grh:
        network.read_grh(packet, body, native=True)
    else:
        lrh = Carrier(window.at, prefix=b"", variant=[(window.at, 0xF0)])
        transport.read(packet, body, body.wire - body.at, lrh)


def _read_vcrc(packet, window, size):
    if packet.truncated or window.wire is not None and not window.on_wire(size + 2):
        return
    if not window.captured(size + 2):
        if window.wire is not None:
            packet.truncated = "vcrc"
        return
    stored = window.step(size).bytes(2)
    packet.values.update(vcrc="0x" + stored.hex(), vcrc_ok=crc.crc16(window.bytes(size)) == stored)
    if packet.values["icrc_ok"] and not packet.values["vcrc_ok"]:
        packet.bad("bad_vcrc")
