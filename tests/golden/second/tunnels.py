"""GRE, ERSPAN, VXLAN, GENEVE, TZSP."""

from second import link, network

TEB, ERSPAN, ERSPAN3, MELLANOX, IPV4, IPV6 = 0x6558, 0x88BE, 0x22EB, 0x8949, 0x0800, 0x86DD
CHECKSUM, ROUTING, KEY, SEQUENCE = 0x8000, 0x4000, 0x2000, 0x1000
TZSP_TAGS = 255
NEXT_PROTOCOL, ETHERNET, IP_VERSIONS = 4, 3, {1: 4, 2: 6}     # VXLAN-GPE


def read_gre(packet, window):
    packet.want_tunnel()
    packet.need(window, 4, "gre", "gre_short")
    flags, protocol = window.u16(0), window.u16(2)
    if flags & 7:
        packet.stop("gre_bad_version")
    if flags & ROUTING:
        packet.stop("gre_routing")
    size = 4 + 4 * sum(bool(flags & bit) for bit in (CHECKSUM, KEY, SEQUENCE))
    packet.need(window, size, "gre", "gre_short")
    packet.encap.append("gre:%04x" % protocol)
    at = 8 if flags & CHECKSUM else 4
    key = window.u32(at) if flags & KEY else None
    sequence = window.u32(at + (4 if flags & KEY else 0)) if flags & SEQUENCE else None
    inner = window.step(size).unbounded()
    words = {name: value for name, value in (("key", key), ("seq", sequence)) if value is not None}
    if protocol == TEB:
        _read_bridged(packet, inner, words, flags)
    elif protocol == ERSPAN and not flags & SEQUENCE:
        packet.enter_tunnel("erspan1", kind="erspan1", **words)
        link.read_ethernet(packet, inner)
    elif protocol == ERSPAN:
        _read_erspan2(packet, inner, sequence)
    elif protocol == ERSPAN3:
        _read_erspan3(packet, inner, sequence)
    elif protocol == MELLANOX:
        packet.enter_tunnel(kind="mlnx8949", **words)
        packet.need(inner, 22, "mlnx8949", "mlnx8949_short")
        packet.encap.append("mlnx8949")
        link.read_ethernet(packet, inner.step(22))
    elif protocol in (IPV4, IPV6):
        packet.enter_tunnel(kind="gre_ip", **words)
        link.read_network(packet, inner, protocol)


def _read_bridged(packet, inner, words, flags):
    """Transparent Ethernet bridging; with a key and nothing else it is NVGRE."""
    if flags & KEY and not flags & (SEQUENCE | CHECKSUM):
        vsid = words["key"] >> 8
        packet.enter_tunnel("nvgre:%d" % vsid, kind="nvgre", vsid=vsid)
    else:
        names = [name for bit, name in ((KEY, "_key"), (SEQUENCE, "_seq"), (CHECKSUM, "_csum")) if flags & bit]
        packet.enter_tunnel(kind="gre_teb" + "".join(names), **words)
    link.read_ethernet(packet, inner)


def _common_erspan(window):
    return {"vlan": window.u16(0) & 0xFFF, "cos": window.u8(2) >> 5,
            "t": window.u8(2) >> 2 & 1, "session": window.u16(2) & 0x3FF}


def _read_erspan2(packet, window, sequence):
    packet.enter_tunnel(kind="erspan2", seq=sequence)
    packet.need(window, 8, "erspan2", "erspan_short")
    if window.u8(0) >> 4 != 1:
        packet.stop("erspan_bad_version")
    packet.encap.append("erspan2")
    packet.tunnels[-1].update(_common_erspan(window), en=window.u8(2) >> 3 & 3,
                              index=window.u32(4) & 0xFFFFF)
    link.read_ethernet(packet, window.step(8))


def _read_erspan3(packet, window, sequence):
    packet.enter_tunnel(kind="erspan3", seq=sequence)
    packet.need(window, 12, "erspan3", "erspan_short")
    if window.u8(0) >> 4 != 2:
        packet.stop("erspan_bad_version")
    last, fields = window.u16(10), packet.tunnels[-1]
    fields.update(_common_erspan(window), bso=window.u8(2) >> 3 & 3, ts=window.u32(4), sgt=window.u16(8),
                  p=last >> 15, ft=last >> 10 & 31, hw=last >> 4 & 63, direction="egress" if last & 8 else "ingress",
                  gra=last >> 1 & 3)
    size = 20 if last & 1 else 12
    packet.need(window, size, "erspan3", "erspan_short")
    packet.encap.append("erspan3")
    if last & 1:
        fields.update(platform_id=window.u8(12) >> 2, sub=[window.u32(12), window.u32(16)])
    inner = window.step(size)
    if fields["ft"] == 0:
        link.read_ethernet(packet, inner)
    elif fields["ft"] == 2:
        packet.need(inner, 1, "ipv4", "ip_short")
        network.read_ip(packet, inner, 6 if inner.u8(0) >> 4 == 6 else 4)


def read_vxlan(packet, window, generic=False):
    """generic: the protocol extension, which says what follows."""
    packet.want_tunnel()
    packet.need(window, 8, "vxlan", "vxlan_short")
    if not window.u8(0) & 8:
        packet.stop("vxlan_bad_flags")
    packet.enter_tunnel("vxlan:%d" % window.u24(4), kind="vxlan", vni=window.u24(4))
    following = window.u8(3) if generic and window.u8(0) & NEXT_PROTOCOL else ETHERNET
    if following == ETHERNET:
        link.read_ethernet(packet, window.step(8))
    elif following in IP_VERSIONS:
        network.read_ip(packet, window.step(8), IP_VERSIONS[following])


def read_geneve(packet, window):
    packet.want_tunnel()
    packet.need(window, 8, "geneve", "geneve_short")
    options = (window.u8(0) & 63) * 4
    if window.u8(0) >> 6:
        packet.stop("geneve_bad_version")
    packet.need(window, 8 + options, "geneve", "geneve_bad_optlen")
    packet.enter_tunnel("geneve:%d" % window.u24(4), kind="geneve", vni=window.u24(4), optlen=options)
    protocol, inner = window.u16(2), window.step(8 + options)
    if protocol == TEB:
        link.read_ethernet(packet, inner)
    elif protocol in (IPV4, IPV6):
        link.read_network(packet, inner, protocol)


def read_tzsp(packet, window):
    packet.want_tunnel()
    packet.need(window, 4, "tzsp", "tzsp_short")
    if window.u8(0) != 1:
        return
    kind, protocol = window.u8(1), window.u16(2)
    if kind in (4, 5):
        return
    inner = _skip_tags(packet, window.step(4))
    packet.enter_tunnel("tzsp", kind="tzsp")
    if protocol == 1:
        link.read_ethernet(packet, inner.unbounded())


def _skip_tags(packet, window):
    for _ in range(TZSP_TAGS):
        packet.need(window, 1, "tzsp", "tzsp_bad_tags")
        if window.u8(0) == 1:
            return window.step(1)
        size = 1
        if window.u8(0) != 0:
            packet.need(window, 2, "tzsp", "tzsp_bad_tags")
            size = 2 + window.u8(1)
        packet.need(window, size, "tzsp", "tzsp_bad_tags")
        window = window.step(size)
    return packet.stop("tzsp_bad_tags")
