"""Random frames over a map: whom they name, what they carry, when they pass, how much of them was captured."""

import wire
from endpoints import LINK_LOCAL, End
from maps import START, address_text, v4, v6

SPAN = 40 * 10**9
MANAGEMENT = (0x01, 0x81, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0f, 0x10, 0x21, 0x30, 0x4f, 0x50)
GROUPS_V6 = ("ff12:401b:8001::1", "ff0e::7", "ff15::9")
GROUPS_V4 = ("239.1.1.7", "224.0.0.9")
MULTICAST_QP = 0xffffff


class Frame:
    """A record and what its maker knows of it. Offsets are those of the record, at which a field is whole."""

    def __init__(self, ts):
        self.ts, self.record, self.cap, self.wire_bytes = ts, b"", 0, 0
        self.rdma, self.native, self.wrong_icrc, self.broken, self.group = True, False, False, False, False
        self.source = self.destination = self.mgid = self.vlan = self.vni = self.overlay = None
        self.tags = []
        self.pkey = self.dest_qp = self.opcode = 0
        self.qkey = self.management_class = None
        self.addresses_at = self.pkey_at = self.qp_at = self.qkey_at = self.class_at = self.known_at = 0
        self.lrh_at = 0  # native: its LIDs and VL
        self.whole_at = 0

    @property
    def service(self):
        return wire.TRANSPORT.get(self.opcode >> 5)

    def place(self, bth):
        """The BTH's offset gives those of all that follows it."""
        self.pkey_at, self.qp_at = bth + 4, bth + 8
        deth = bth + 12 + (4 if self.service == "RD" else 0)
        self.qkey_at, self.class_at = deth + 4, bth + 12 + 8 + 2


def random_time(rng, declared):
    times = declared.boundaries()
    grace = declared.grace_ms * 10**6
    choice = rng.random()
    if not times or choice < 0.3:
        return START + rng.randrange(SPAN)
    at = rng.choice(times)
    if choice < 0.55:
        at += rng.choice((-1, 0, 1))
    elif choice < 0.8:
        at += grace + rng.choice((-1, 0, 1))
    else:
        at += rng.randrange(-3 * 10**9, 6 * 10**9)
    return max(at, START - 3600 * 10**9)


def carried(rng, frame, declared):
    """Draw P_Key, QP, opcode and what stands above them; answers the transport bytes without the ICRC."""
    bases = [partition.base for partition in declared.partitions]
    base = rng.choice(bases + bases + [0x7fff, 0x7fff] if bases else [0x7fff])
    if rng.random() < 0.05:
        base = rng.choice((0, 0x0055, 0x7ffd))
    if declared.segments and not frame.native and rng.random() < 0.8:
        base = 0x7fff
    frame.pkey = base | (0x8000 if rng.random() < 0.75 else 0)
    opcodes = wire.legal_opcodes()
    frame.opcode = rng.choice(opcodes[rng.choice(("RC", "RC", "UC", "UD", "UD", "RD", "XRC", "CNP"))])
    frame.dest_qp = rng.randrange(2, MULTICAST_QP)
    kind = rng.random()
    if frame.destination.group:
        frame.opcode, frame.dest_qp = 0x64, MULTICAST_QP
    elif kind < 0.12:
        frame.opcode, frame.dest_qp, frame.management_class = 0x64, 1, rng.choice(MANAGEMENT)
    elif kind < 0.15:
        frame.opcode, frame.dest_qp, frame.management_class = 0x64, 0, rng.choice((0x01, 0x81))
    frame.qkey = 0x80010000 if frame.dest_qp < 2 else rng.choice((0x0b1b, 0x0b1b, 0x11111111, 0x0b1c))
    return transport(rng, frame)


def transport(rng, frame, sequence=None):
    """Packets of several sequences, 0 to 3, are so far apart that none looks lost between them."""
    above = wire.above_bth(rng, frame.opcode, frame.qkey, frame.management_class)
    psn = rng.getrandbits(24)
    if sequence is not None:
        psn = sequence << 22 | psn & 0x1fffff
    return wire.bth(frame.opcode, frame.pkey, frame.dest_qp, psn) + above


def finish(rng, frame, outer=0):
    """Cut some records short."""
    frame.cap = len(frame.record)
    if rng.random() < 0.25:
        near = rng.choice((frame.pkey_at, frame.qp_at, frame.qkey_at, frame.class_at, frame.whole_at, 64, 96, 128))
        frame.cap = min(frame.cap, max(outer, near + rng.choice((-4, -2, -1, 0, 0, 1, 2, 30))))
    return frame


# native InfiniBand

def native_end(rng, declared):
    """(LID, GUID, port) of a port, of a member that no port is, or of nobody."""
    kind = rng.random()
    if kind < 0.8:
        port = rng.choice(declared.ports)
        return rng.choice(port.lids()) if port.lid is not None else rng.randrange(2000, 2010), port.guid, port.gid
    if kind < 0.9:
        return 900 + rng.randrange(4), None, None
    return 3000 + rng.randrange(5), rng.choice((None, 0x0002c90300b00001 + rng.randrange(4))), None


def end_gid(rng, declared, guid, gid):
    prefix = rng.choice((LINK_LOCAL, declared.subnet_prefix, declared.subnet_prefix, declared.subnet_prefix))
    kind = rng.random()
    if kind < 0.1:
        others = [port for port in declared.ports if port.guid is not None]
        guid = rng.choice(others).guid if others else guid  # of somebody else
    elif kind < 0.15:
        guid = 0x0002c90300dd0000 + rng.randrange(9)  # an alias GUID
    elif kind < 0.22:
        prefix = 0x20010db900000000  # behind a router
    elif gid is not None and kind < 0.6:
        return gid
    return prefix << 64 | (guid if guid is not None else 0x0002c90300ee0001)


def native_frame(rng, declared, ts, link):
    frame = Frame(ts)
    frame.native = True
    source, destination = native_end(rng, declared), native_end(rng, declared)
    with_grh = rng.random() < 0.4 or source[0] >= 2000 and rng.random() < 0.8
    frame.source, frame.destination = End(lid=source[0]), End(lid=destination[0])
    if with_grh:
        frame.source.gid = end_gid(rng, declared, *source[1:])
        frame.destination.gid = end_gid(rng, declared, *destination[1:])
    if rng.random() < 0.1:
        frame.destination = End(lid=rng.randrange(0xc000, 0xffff), group=True)
        if with_grh:
            text = rng.choice(GROUPS_V6)
            frame.destination.gid, frame.mgid = v6(text), text
    return native_record(rng, frame, carried(rng, frame, declared), link)


def native_record(rng, frame, body, link):
    gids = (frame.source.gid, frame.destination.gid) if frame.source.gid is not None else None
    frame.wrong_icrc = rng.random() < 0.03
    frame.broken = rng.random() < 0.02
    packet, bth = wire.native(rng, frame.source.lid, frame.destination.lid, gids, body,
                              vl=15 if frame.dest_qp == 0 else rng.randrange(4), wrong=frame.wrong_icrc,
                              bad_vcrc=rng.random() < 0.03, bad_length=200 if frame.broken else 0)
    ext = rng.choice((0, 0, 1, 3)) if link == wire.LINK_ERF else 0
    outer = 16 + 8 * ext if link == wire.LINK_ERF else 0
    frame.record = wire.erf(frame.ts, packet, ext) if link == wire.LINK_ERF else packet
    frame.wire_bytes = len(packet)
    frame.known_at, frame.lrh_at, frame.addresses_at = outer + 2, outer + 8, outer + bth
    frame.whole_at = len(frame.record) - 2  # the VCRC says nothing here
    frame.place(outer + bth)
    return finish(rng, frame, outer)


# RoCE

def roce_end(rng, declared):
    """(IP, MAC) of a port, of an address in a prefix, of a bare member, or of nobody."""
    router = 0x02aa00000001
    kind = rng.random()
    if kind < 0.72:
        port = rng.choice([p for p in declared.ports if p.ip is not None or p.gid is not None or p.mac is not None]
                          or declared.ports)
        ip = port.gid if port.ip is None else port.ip
        if ip is not None and port.ip is not None and port.prefix < 128:
            ip += rng.randrange(16)
        ip = v4("172.31.9.%d" % rng.randrange(1, 9)) if ip is None else ip
        return ip, port.mac if port.mac is not None and rng.random() < 0.85 else router
    if kind < 0.84:
        return rng.choice((v4("10.%d.0.0" % rng.randrange(3)) + rng.randrange(1, 600),
                           v4("10.%d.1.0" % rng.randrange(3)) + rng.randrange(1, 40),
                           v6("2001:db8:%x::1" % rng.randrange(3)))), router
    if kind < 0.92:
        return v4("10.77.0.1") + rng.randrange(4), router
    return v4("192.0.2.1") + rng.randrange(9), rng.choice((router, 0x024e00770001 + rng.randrange(4)))


def roce_frame(rng, declared, ts):
    frame = Frame(ts)
    source, destination = roce_end(rng, declared), roce_end(rng, declared)
    if rng.random() < 0.05:
        source = source[0], roce_end(rng, declared)[1]
    frame.source, frame.destination = End(ip=source[0], mac=source[1]), End(ip=destination[0], mac=destination[1])
    first_version = rng.random() < 0.2
    if source[0] >> 32 != 0xffff or destination[0] >> 32 != 0xffff:
        family = 6
        for end in (frame.source, frame.destination):
            if end.ip >> 32 == 0xffff and not first_version:
                end.ip = v6("2001:db8:%x::10" % rng.randrange(3)) + rng.randrange(14)
    else:
        family = 4
    if rng.random() < 0.1:
        text = rng.choice(GROUPS_V6 if family == 6 else GROUPS_V4)
        address = v4(text) if family == 4 else v6(text)
        frame.destination = End(ip=address, mac=0x01005e000007, group=True)
        frame.mgid = address_text(address) if family == 6 else "::ffff:" + text
        first_version = first_version and family == 6
    random_path(rng, frame)
    return roce_record(rng, frame, carried(rng, frame, declared), first_version)


def random_path(rng, frame):
    """What a frame is wrapped in: its tags, and an overlay or None; drawn once for all frames of a connection."""
    frame.tags, frame.overlay = [], rng.choice(("vxlan", "geneve")) if rng.random() < 0.25 else None
    tags = frame.tags
    if rng.random() < 0.15:
        tags.append((0x8100, 0))
    if rng.random() < 0.6:
        tags.append((rng.choice((0x8100, 0x88a8)), rng.choice((101, 102, 103, 104, 777))))
        if rng.random() < 0.15:
            tags.append((0x8100, rng.choice((101, 102))))
    frame.vlan = next((vid for _, vid in tags if vid), None)
    frame.vni = rng.choice((10101, 10102, 10103, 10999)) if frame.overlay else None


def roce_record(rng, frame, body, first_version):
    frame.wrong_icrc = rng.random() < 0.03
    frame.broken = rng.random() < 0.02
    bad_length = 400 if frame.broken else 0
    if first_version:
        ethertype, packet, bth = wire.roce1(frame.source.ip, frame.destination.ip, body, frame.wrong_icrc, bad_length)
    else:
        ethertype, packet, bth = wire.roce2(rng, frame.source.ip, frame.destination.ip, body, frame.wrong_icrc,
                                            bad_length)
    record, payload = wire.ethernet(frame.source.mac, frame.destination.mac, frame.tags, ethertype, packet)
    inner = len(record)
    if frame.overlay:
        record = wire.overlay(rng, frame.overlay, frame.vni, record)
    if rng.random() < 0.15 and not frame.broken:  # a mirror may shorten: there it would be a cut
        record = wire.mirror(rng, rng.choice(("erspan2", "erspan3", "teb")), record)
    outer = len(record) - inner
    frame.record, frame.wire_bytes = record, len(record)
    frame.addresses_at = frame.known_at = outer + payload + bth
    frame.whole_at = len(record)
    frame.place(outer + payload + bth)
    return finish(rng, frame)


def other_frame(rng, ts):
    """Not RDMA, whole."""
    frame = Frame(ts)
    frame.rdma = False
    kind = rng.randrange(4)
    noise = rng.randbytes(46)
    if kind == 0:
        frame.record = wire.ethernet(1, 0xffffffffffff, [], 0x0806, noise)[0]
    elif kind == 1:
        frame.record = wire.ethernet(1, 2, [(0x8100, 101)], 0x0800,
                                     wire.ipv4(rng, v4("10.0.1.10"), v4("10.1.1.11"), 6, 46) + noise)[0]
    elif kind == 2:
        udp = b"\x12\xb7\x00\x35" + (46).to_bytes(2, "big") + bytes(2) + noise[8:]
        frame.record = wire.ethernet(1, 2, [], 0x0800, wire.ipv4(rng, v4("10.0.1.10"), v4("10.1.1.11"), 17, 46)
                                     + udp)[0]
    else:
        frame.record = wire.ethernet(1, 0x0180c2000001, [], 0x8808, b"\x00\x01" + noise)[0]
    frame.cap = frame.wire_bytes = len(frame.record)
    return frame


def connection(rng, declared, link):
    """A burst on one half-connection whose P_Key may change."""
    at = random_time(rng, declared)
    make = (lambda ts: native_frame(rng, declared, ts, link)) if link != wire.LINK_ETHERNET else (
        lambda ts: roce_frame(rng, declared, ts))
    model = make(at)
    if model.destination.group or model.dest_qp < 2:
        return [model]
    burst = []
    for step in range(rng.randrange(2, 5)):
        # two of them cut to the same bytes within a microsecond would be copies
        frame = Frame(at + step * 2000 + rng.randrange(900))
        frame.native, frame.source, frame.destination = model.native, model.source, model.destination
        frame.tags, frame.overlay, frame.vlan, frame.vni = model.tags, model.overlay, model.vlan, model.vni
        carried(rng, frame, declared)
        frame.dest_qp, frame.management_class = model.dest_qp, None
        frame.opcode = rng.choice((0x04, 0x04, 0x24, 0xa4, 0x44))
        body = transport(rng, frame, step)
        if model.native:
            burst.append(native_record(rng, frame, body, link))
        else:
            mixed = (model.source.ip >> 32 == 0xffff) != (model.destination.ip >> 32 == 0xffff)
            burst.append(roce_record(rng, frame, body, mixed))
    return burst
