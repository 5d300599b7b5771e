"""Ways in which taps, mirrors, switches and fabrics alter a capture of RoCEv2 over IPv4: what is lost, cut, copied, late or wrapped.
Each takes chance and records, and answers records; of each record, `number` says which one of the capture it was."""

import struct
from typing import NamedTuple

import set_ups
import wire
from loss_drill import lose

EXTENDED = {0x06: 16, 0x09: 4, 0x0a: 16, 0x0b: 20, 0x11: 4}  # bytes between BTH and payload, by opcode
US, MS = 10**3, 10**6
IP, UDP, BTH = 14, 34, 42  # offsets: no tag, no options
LOST = (0.001, 0.01, 0.05)
BURSTS = (1, 1, 10, 50)  # frames lost in a row, on average
MISSED = (0.1, 0.3, 0.6)
SLICES = (64, 96, 128, 160, 192)
INFINIBAND = 247  # LINKTYPE_INFINIBAND


class Record(NamedTuple):
    ts_ns: int
    number: int  # of the record that it was or is a copy of
    bytes: bytes
    size: int    # on the wire
    port: int = 0
    link: int = 1


def records_of(header, records):
    """Of what pcapfile.read_pcap() answers."""
    unit = 1 if struct.unpack_from("<I", header)[0] == 0xA1B23C4D else 1000
    answer = []
    for number, record in enumerate(records, 1):
        seconds, fraction, _, size = struct.unpack_from("<IIII", record)
        answer.append(Record(10**9 * seconds + unit * fraction, number, record[16:], size))
    return answer


def is_roce(record):
    frame = record.bytes
    return len(frame) >= BTH + 12 and frame[12:14] == b"\x08\x00" and frame[23] == 17 and frame[36:38] == b"\x12\xb7"


def is_write(record):
    return is_roce(record) and 6 <= record.bytes[BTH] <= 0x0b


def in_order(records):
    return sorted(records, key=lambda record: record.ts_ns)


# --- seen in part


def whole(chance, records):
    return records


def lossy(chance, records):
    return lose(chance, records, chance.choice(LOST), chance.choice(BURSTS))[0]


def lossy_data(chance, records):
    """The set-ups were seen."""
    kept = {r.number for r in lossy(chance, [r for r in records if is_roce(r)])}
    return [r for r in records if r.number in kept or not is_roce(r)]


def middle(chance, records):
    first = chance.choice(MISSED) + chance.uniform(-0.05, 0.05)
    return records[int(len(records) * first):]


def middle_with_set_up(chance, records):
    left = {r.number for r in middle(chance, records)}
    return [r for r in records if r.number in left or not is_roce(r)]


def sliced(size):
    return lambda chance, records: [r._replace(bytes=r.bytes[:size]) for r in records]


def without_set_up(chance, records):
    return [r for r in records if is_roce(r)]


# --- seen twice, or in another order


def with_ip(frame, at, value):
    """One byte of the IPv4 header is another, and the header's checksum mended."""
    ip = bytearray(frame[IP:IP + 20])
    ip[at] = value
    ip[10:12] = b"\0\0"
    ip[10:12] = struct.pack(">H", wire.ones_complement(bytes(ip)))
    return frame[:IP] + bytes(ip) + frame[IP + 20:]


def routed(record, chance):
    """As it leaves the router: other MAC addresses, one hop less."""
    frame = record.bytes
    if frame[12:14] != b"\x08\x00":
        return record
    return record._replace(bytes=b"\x02\xff\0\0\0\2\x02\xff\0\0\0\1" + with_ip(frame, 8, frame[22] - 1)[12:])


def twice(chance, records):
    later = chance.choice((0, 500, 3 * US, 30 * US))
    copies = [routed(r, chance)._replace(ts_ns=r.ts_ns + later) for r in records]
    return sorted(records + copies, key=lambda r: (r.ts_ns, r.number))


def twice_lossy(chance, records):
    return lossy(chance, twice(chance, records))


def overtaking(chance, records):
    """By some places, those of one half-connection too."""
    places = chance.choice((2, 4, 16))
    order = sorted(range(len(records)), key=lambda i: i + places * chance.random())
    return [records[i]._replace(ts_ns=records[at].ts_ns) for at, i in enumerate(order)]


def jittered(chance, records):
    """Paths of one half-connection differ by some microseconds."""
    most = chance.choice((2 * US, 10 * US, 50 * US))
    return in_order([r._replace(ts_ns=r.ts_ns + chance.randrange(most)) if is_write(r) else r for r in records])


def jittered_lossy(chance, records):
    return lossy(chance, jittered(chance, records))


def two_ports_lossy(chance, records):
    return lossy(chance, two_ports(chance, records))


def two_ports(chance, records):
    """What each host sends is in a file of its own, whose clock is off."""
    off = chance.choice((-MS, -100 * US, -5 * US, 5 * US, 100 * US, MS))
    first = records[0].bytes[6:12]
    return in_order([r if r.bytes[6:12] == first else r._replace(ts_ns=r.ts_ns + off, port=1) for r in records])


# --- touched on the way


def marked(chance, records):
    """Some or all by a switch, for congestion."""
    share = chance.choice((0.05, 0.5, 1))
    return [r._replace(bytes=with_ip(r.bytes, 1, r.bytes[15] | 3)) if is_roce(r) and chance.random() < share else r
            for r in records]


def marked_lossy(chance, records):
    return lossy(chance, marked(chance, records))


def encrypted(chance, records):
    """Payload of RDMA cannot be read; set-ups over TCP can."""
    return [with_payload(r, chance.randbytes) if is_roce(r) else r for r in records]


def with_payload(record, random_bytes):
    """Other bytes behind the transport headers, and the ICRC of these where it was captured."""
    frame, end = record.bytes, icrc_at(record)
    begin = BTH + 12 + EXTENDED.get(frame[BTH], 0)
    captured = min(end, len(frame))
    if captured <= begin:
        return record
    return with_icrc(record._replace(bytes=frame[:begin] + random_bytes(captured - begin) + frame[captured:]))


def icrc_at(record):
    return UDP + struct.unpack_from(">H", record.bytes, UDP + 4)[0] - 4


def with_icrc(record):
    """As its other bytes demand, if it was captured."""
    frame, end = record.bytes, icrc_at(record)
    if len(frame) < end + 4:
        return record
    ip, udp = frame[IP:UDP], frame[UDP:UDP + 6]
    masked = b"\xff" * 8 + ip[:1] + b"\xff" + ip[2:8] + b"\xff" + ip[9:10] + b"\xff\xff" + ip[12:] + udp + b"\xff\xff"
    return record._replace(bytes=frame[:end] + wire.icrc(masked + wire.masked_transport(frame[BTH:end])) + frame[end + 4:])


# --- wrapped


def tunnelled(wrap, kind, *how):
    """Length fields are those of the whole frame, also where it was cut before."""
    def way(chance, records):
        frames = [wrap(chance, kind, *how, r.bytes.ljust(r.size, b"\0")) for r in records]
        return [wrapped(r, frame[:len(frame) - (r.size - len(r.bytes))]) for r, frame in zip(records, frames)]
    return way


def wrapped(record, frame):
    return record._replace(bytes=frame, size=record.size + len(frame) - len(record.bytes))


def in_vlan(chance, records):
    return [wrapped(r, r.bytes[:12] + b"\x81\x00\x60\x4d" + r.bytes[12:]) for r in records]


def mapped(address):
    return bytes(10) + b"\xff\xff" + address


def over_ipv6(chance, records):
    """RDMA between addresses fd00::a.b.c.d, which the set-ups name; TCP as it was."""
    addresses = {r.bytes[at:at + 4] for r in records if is_roce(r) for at in (26, 30)}
    return [to_ipv6(r, addresses) for r in records]


def ipv6_of(address):
    return b"\xfd" + bytes(11) + address


def to_ipv6(record, addresses):
    frame = record.bytes
    if not is_roce(record):
        for address in addresses:
            frame = frame.replace(mapped(address), ipv6_of(address))
        return record._replace(bytes=frame)
    length = struct.unpack_from(">H", frame, UDP + 4)[0]
    ip = struct.pack(">IHBB", 0x60000000 | frame[15] << 20, length, 17, frame[22]) + ipv6_of(frame[26:30]) + ipv6_of(frame[30:34])
    udp = frame[UDP:UDP + 6] + b"\0\0"
    body = frame[BTH:UDP + length]
    if len(frame) >= UDP + length:
        masked = b"\xff" * 8 + wire.masked_ipv6(ip) + udp[:6] + b"\xff\xff" + wire.masked_transport(body[:-4])
        body = body[:-4] + wire.icrc(masked)
    return wrapped(record, frame[:12] + b"\x86\xdd" + ip + udp + body)


def over_infiniband(chance, records):
    """Native, within a subnet; the set-ups go over another network."""
    return [to_native(chance, r) for r in records if is_roce(r)]


def infiniband_with_set_up(chance, records):
    """The same, and the set-ups name the ports."""
    return [to_native(chance, r) if is_roce(r) else r for r in set_ups.on_infiniband(records, lid_of, local_gid)]


def infiniband_with_grh(chance, records):
    """The same, and packets have global headers, as virtual ports demand."""
    return [to_native(chance, r, lid_of, local_gid) if is_roce(r) else r
            for r in set_ups.on_infiniband(records, lid_of, local_gid)]


def infiniband_routed(chance, records):
    """From one subnet to another: the LIDs of packets are routers', those of set-ups are not."""
    return [to_native(chance, r, lambda end: 7 + end[0], routed_gid) if is_roce(r) else r
            for r in set_ups.on_infiniband(records, lid_of, routed_gid)]


def lid_of(address):
    return int.from_bytes(address[2:], "big")


def local_gid(address):
    return bytes.fromhex("fe80000000000000") + guid_of(address)


def guid_of(address):
    return bytes.fromhex("0002c900") + address


def routed_gid(address):
    """In a subnet of its own, by the last byte."""
    return bytes.fromhex("fec00000000000") + address[3:] + guid_of(address)


def to_native(chance, record, lid_of=lid_of, gid_of=None):
    """As long as it was, and cut as it was."""
    frame, length = record.bytes.ljust(record.size, b"\0"), struct.unpack_from(">H", record.bytes, UDP + 4)[0]
    ends = frame[26:30], frame[30:34]
    gids = [int.from_bytes(gid_of(end), "big") for end in ends] if gid_of else None
    packet, _ = wire.native(chance, *map(lid_of, ends), gids, frame[BTH:UDP + length - 4])
    captured = len(packet) - (record.size - len(record.bytes))
    return record._replace(bytes=packet[:captured], size=len(packet), link=INFINIBAND)


WAYS = {way.__name__: way for way in (
    whole, lossy, lossy_data, middle, middle_with_set_up, without_set_up, twice, twice_lossy, overtaking, jittered,
    jittered_lossy, two_ports, two_ports_lossy, marked, marked_lossy, encrypted,
    in_vlan, over_ipv6, over_infiniband, infiniband_with_set_up, infiniband_with_grh,
    infiniband_routed)}
WAYS.update({kind: tunnelled(wire.overlay, kind, 77) for kind in ("vxlan", "geneve")})
WAYS.update({kind: tunnelled(wire.mirror, kind) for kind in ("gre", "erspan2", "erspan3")})
WAYS.update({"sliced_%d" % size: sliced(size) for size in SLICES})


# --- several of them, one after the other

STEPS = (("without_set_up", "middle", "middle_with_set_up"), ("twice", "jittered", "two_ports"), ("lossy", "lossy_data"),
         ("over_infiniband", "sliced_128"))


def composed(chance):
    """The name of a way: two of those above or more."""
    steps = chance.sample(STEPS, chance.randint(2, len(STEPS)))
    return "+".join(chance.choice(step) for step in STEPS if step in steps)


def alter(name, chance, records):
    for way in name.split("+"):
        records = WAYS[way](chance, records)
    return records
