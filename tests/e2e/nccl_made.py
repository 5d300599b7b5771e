"""Healthy traffic of NCCL's InfiniBand transport, made by its wire format: set-ups, clear-to-sends and data of releases 2.7 to
2.30 over one to eight queue pairs, that take turns or share messages, with empty messages and several requests at a time."""

import functools
import random
import struct
import zlib
from typing import NamedTuple

from roce import checksum, mac


class Release(NamedTuple):
    family: str
    metadata: int      # bytes
    devices: int       # bytes of the list of devices; 0: none
    hello: bool
    big: bool          # byte order of immediates
    slots: int
    entry: int         # bytes
    stride: int
    most_devices: int


RELEASES = {
    (7, 8): Release("A", 48, 0, False, False, 128, 24, 24, 1),
    (9, 9): Release("B", 48, 0, False, False, 8, 32, 32, 1),
    (11, 4): Release("B", 552, 0, False, False, 8, 32, 32, 1),
    (12, 12): Release("C", 552, 0, False, False, 64, 32, 256, 1),
    (14, 3): Release("C", 552, 0, False, False, 64, 32, 256, 1),
    (17, 1): Release("C", 552, 0, True, False, 64, 32, 256, 1),
    (18, 5): Release("C", 552, 0, True, False, 64, 32, 256, 1),
    (19, 3): Release("C", 2600, 0, True, False, 256, 32, 256, 1),
    (21, 5): Release("D", 3336, 0, True, False, 256, 64, 512, 2),
    (24, 3): Release("E", 3576, 20, True, False, 256, 64, 512, 2),
    (26, 2): Release("E", 3584, 20, True, False, 256, 64, 512, 2),
    (28, 9): Release("E", 3648, 20, True, False, 256, 64, 512, 2),
    (29, 2): Release("E", 3648, 20, True, True, 256, 64, 512, 2),
    (29, 7): Release("E", 3744, 20, True, True, 256, 64, 512, 2),
    (30, 7): Release("F", 4576, 37, True, True, 256, 64, 512, 2),
}
# metadata from 2.20 on: where the devices, the name, the address and the number of devices are
PLACES = {3336: (3072, 3184, 3320, 3328), 3576: (3072, 3296, 3560, 3568), 3584: (3072, 3296, 3560, 3568),
          3648: (3072, 3296, 3624, 3632), 3744: (3168, 3392, 3720, 3728), 4576: (3456, 3904, 4552, 4560)}
MTU = {1024: 3, 2048: 4, 4096: 5}
SOCKET_MAGIC = bytes.fromhex("6c9d4bfcf2b94a56")
STYLES = ["simple", "ll", "p2p", "tiny", "registered"]
ROOM = {"simple": 4, "mixed": 4}  # messages asked for ahead: no more than there are buffers


BTH, UDP, RETH, PCAP_RECORD = struct.Struct(">BBHII"), struct.Struct(">HHHH"), struct.Struct(">QII"), struct.Struct("<IIII")


class Frame(NamedTuple):
    ts: float
    size: int      # on the wire
    bytes: bytes
    connection: object = None  # of RDMA writes: number of the connection ..
    k: int = 0                 # .. of the message ..
    role: str = ""             # .. cts or data ..
    lane: int = 0              # .. and the queue pair


def source_port(a, b):
    value = a * b
    value ^= value >> 20
    value ^= value >> 40
    return 0xC000 | (value & 0x3fff) ^ (value >> 14 & 0x3f)


@functools.lru_cache(4096)
def ip_header(source, destination, protocol, size, ident=0):
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + size, ident, 0x4000, 64, protocol, 0) + source + destination
    return ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]


@functools.lru_cache(4096)
def ethernet(source, destination):
    return mac(destination) + mac(source) + b"\x08\x00"


def tcp_frame(source, destination, ports, seq, ack, flags, payload):
    tcp = struct.pack(">HHIIBBHHH", *ports, seq & 0xffffffff, ack & 0xffffffff, 0x50, flags, 65535, 0, 0) + payload
    pseudo = source + destination + struct.pack(">BBH", 0, 6, len(tcp)) + tcp + bytes(len(tcp) % 2)
    tcp = tcp[:16] + struct.pack(">H", checksum(pseudo)) + tcp[18:]
    return ethernet(source, destination) + ip_header(source, destination, 6, len(tcp)) + tcp


def roce_frame(ends, port, opcode, qpn, psn, above=b"", length=0, payload=b"", ask=False, slice_bytes=700):
    """(bytes on the wire, what is captured of them)"""
    source, destination = ends
    pad = -length % 4
    head = BTH.pack(opcode, 0x40 | pad << 4, 0xffff, qpn, ask << 31 | psn & 0xffffff) + above
    size = 8 + len(head) + length + pad + 4
    ip, udp = ip_header(source, destination, 17, size), UDP.pack(port, 4791, size, 0)
    wire = 34 + size
    if wire > slice_bytes:
        body = (head + payload.ljust(min(length, slice_bytes), b"\x5a"))[:slice_bytes - 42]
    else:
        body = head + payload.ljust(length + pad, b"\0")
        masked = ip[:1] + b"\xff" + ip[2:8] + b"\xff" + ip[9:10] + b"\xff\xff" + ip[12:] + udp[:6] + b"\xff\xff"
        body += struct.pack("<I", zlib.crc32(b"\xff" * 8 + masked + body[:4] + b"\xff" + body[5:]))
    return wire, ethernet(source, destination) + ip + udp + body


class Connection:
    """From one host to another."""

    def __init__(self, world, number, sender, receiver, rank):
        chance = world.chance
        self.number, self.sender, self.receiver, self.rank = number, sender, receiver, rank
        count = world.sets * world.devices
        self.sender_qpns = [world.qpn(sender) for _ in range(count)]
        self.receiver_qpns = [world.qpn(receiver) for _ in range(count)]
        self.fifo = (chance.getrandbits(30) << 12 | 0x7f0000000000) + 0x100
        self.sizes = (chance.getrandbits(30) << 12 | 0x7f0000000000) + 0x258
        self.buffer = chance.getrandbits(25) << 21 | 0x7e0000000000
        self.fifo_keys, self.sizes_keys, self.keys = ([chance.getrandbits(31) | 1 for _ in range(world.devices)] for _ in range(3))
        self.data_psn, self.data_msn, self.cts_psn = [0] * count, [0] * count, [0] * count
        self.position, self.requests, self.style = 0, 0, None
        self.tcp_ports = None  # drawn, if it is set up without
        self.ports = [source_port(*pair) for pair in zip(self.sender_qpns, self.receiver_qpns)]


class World:
    """A ring of hosts; `frames` in the order in which they pass. What is not told is drawn by the seed."""

    NS_PER_BYTE = 0.3

    def __init__(self, seed, setup=True, slice_bytes=700, sets=None, hosts=None):
        chance = self.chance = random.Random(seed)
        self.release = chance.choice(list(RELEASES))
        self.layout, self.slice_bytes, self.setup = RELEASES[self.release], slice_bytes, setup
        minor = self.release[0]
        self.sets = sets or (chance.randrange(1, 9) if minor >= 10 else 1)
        self.devices = chance.choice([1, 1, 2]) if self.layout.most_devices == 2 and self.sets <= 4 else 1
        self.split = minor < 18 or chance.random() < 0.5
        self.adaptive = 6 <= minor <= 15 or (minor > 15 and chance.random() < 0.2)
        self.numbered = self.release >= (29, 7) and chance.random() < 0.2
        self.mtu = chance.choice(list(MTU))
        self.messages, self.empty = chance.choice([20, 60]), chance.choice([0, 0.1, 0.5, 0.9])
        self.several = minor >= 12 and chance.random() < 0.25
        self.skew, self.tap_skew = chance.choice([0, 1e3, 2e4, 1e5]), chance.choice([0, 0, 5e3])
        self.style, self.starts_empty = chance.choice(STYLES + ["mixed"]), chance.random() < 0.5
        self.used, self.frames = {}, []
        hosts = [[bytes((10, 0, device, host + 1)) for device in range(self.devices)] for host in range(hosts or chance.choice([2, 3]))]
        self.connections = [Connection(self, i, host, hosts[(i + 1) % len(hosts)], i) for i, host in enumerate(hosts)]
        ts = 1e9
        for connection in self.connections:
            ts = self.set_up(connection, ts) if setup else ts
        for connection in self.connections:
            self.run(connection, ts + chance.randrange(1000000))
        self.frames.sort(key=lambda frame: frame.ts)

    def qpn(self, host):
        self.used[host[0]] = self.used.get(host[0], self.chance.randrange(17, 4000)) + self.chance.choice([1, 1, 2, 5])
        return self.used[host[0]]

    # set-up over TCP: sections 2.1 and 2.2
    def metadata(self, connection, is_sender):
        qpns, host = (connection.sender_qpns, connection.sender) if is_sender else (connection.receiver_qpns, connection.receiver)
        address, keys = ((connection.fifo, connection.fifo_keys) if is_sender else (connection.sizes, connection.sizes_keys))
        size, mtu = self.layout.metadata, MTU[self.mtu]
        body, gids = bytearray(size), [bytes(10) + b"\xff\xff" + address for address in host]
        if size == 48:
            struct.pack_into("<IB3xI4x16sIIQ", body, 0, 0, 1, qpns[0], gids[0], mtu, keys[0], address)
        elif size <= 2600:
            at = {552: 520, 2600: 2568}[size]
            struct.pack_into("<IBB2x%dI" % len(qpns), body, 0, 0, 1, 2 if self.release[0] >= 12 else 0, *qpns)
            struct.pack_into("<16sIIQ", body, at, gids[0], mtu, keys[0], address)
        else:
            devices, name, at, count = PLACES[size]
            for i, qpn in enumerate(qpns):
                struct.pack_into("<IIIIii", body, 24 * i, qpn, 0x15b3, 0, 1, 1, i % self.devices)
            for i, gid in enumerate(gids):
                struct.pack_into("<IB3xIB3x16sI", body, devices + 56 * i, 0, 1, mtu, 2, gid, keys[i])
            body[name:name + 6] = b"mlx5_0"
            struct.pack_into("<Q", body, at, address)
            struct.pack_into("<i", body, count, self.devices)
        return bytes(body)

    def device_list(self, count):
        return struct.pack("<%di" % (1 + count), count, *range(count)).ljust(self.layout.devices, b"\0")

    def tcp_ends(self, connection):
        return connection.sender[0], connection.receiver[0]

    def set_up(self, connection, ts):
        ends = self.tcp_ends(connection)
        ports = connection.tcp_ports = connection.tcp_ports or [self.chance.randrange(32768, 60000) for _ in range(2)]
        sent = [self.chance.getrandbits(32), self.chance.getrandbits(32)]

        def segment(side, flags, payload=b""):
            nonlocal ts
            ts += 5000
            turn = slice(None, None, -1 if side else 1)
            frame = tcp_frame(*ends[turn], ports[turn], sent[side], sent[1 - side], flags, payload)
            sent[side] += len(payload) + (flags >> 1 & 1)
            self.frames.append(Frame(ts, len(frame), frame))

        def send(side, payload):
            for at in range(0, len(payload), 1448):
                segment(side, 0x18, payload[at:at + 1448])

        for side, flags in ((0, 0x02), (1, 0x12), (0, 0x10)):
            segment(side, flags)
        if self.layout.hello:
            send(0, SOCKET_MAGIC)
            send(0, struct.pack("<I", 4))
        if self.layout.devices:
            send(0, self.device_list(len(connection.sender)))
            send(1, self.device_list(len(connection.receiver)))
        send(0, self.metadata(connection, True))
        send(1, self.metadata(connection, False))
        send(0, struct.pack("<i", 1))
        return ts + 10000

    # what is sent: [(address, offered, length), ..] of each message, sections 5 and 6
    def several_requests(self, connection):
        count, first = self.chance.choice([2, 2, 3, 8]), connection.requests
        connection.requests += count
        for i in range(count):
            offered = self.chance.choice([128, 4096, 8192])
            length = 0 if self.chance.random() < 0.2 else self.chance.randrange(offered + 1)
            yield connection.buffer + (1 << 32) + (first + i) % 128 * 131072, offered, length

    def one_request(self, connection, style):
        chance, position, is_empty = self.chance, connection.position, self.chance.random() < self.empty
        connection.position += 1
        if style == "simple":  # chunks in two slices, the second of which is often empty
            length = chance.choice([8, 8192, 32768]) if is_empty else 32768
            return connection.buffer + 0x530000 + position % 4 * 0x100000, 1048576, 0 if is_empty and position % 2 else length
        if style == "ll":
            return connection.buffer + position % 8 * 0x10000, 65536, 16 * chance.choice([1, 2, 64, 500, 1024])
        if style == "p2p":
            return connection.buffer + position % 16 * 131072, 131072, 0 if is_empty else chance.choice([3000, 20000, 131072])
        offered = chance.choice([8, 128, 256]) if style == "tiny" else 50000
        return connection.buffer + position * 50176, offered, 0 if is_empty else chance.randrange(1, offered + 1)

    def plan(self, connection):
        for k in range(self.messages):
            if self.style == "mixed" and k % 16 == 0:
                connection.style = self.chance.choice(STYLES)
            if self.several and self.chance.random() < 0.5:
                yield list(self.several_requests(connection))
                continue
            va, offered, length = self.one_request(connection, connection.style or self.style)
            yield [(va, offered, 0 if k == 0 and self.starts_empty else length)]

    # section 3.1
    def entries(self, connection, k, requests):
        family, count, keys = self.layout.family, len(requests), connection.keys
        for va, offered, _ in requests:
            if family in "AB":
                entry = struct.pack("<QiIII", va, offered, k, keys[0], 1)
            elif family == "C":
                entry = struct.pack("<QiIIiQ", va, offered, keys[0], count, connection.rank, k + 1)
            elif family == "D":
                entry = struct.pack("<QiIIIi4xQ", va, offered, *(keys + [0])[:2], count, connection.rank, k + 1)
            else:
                room = 4 if family == "E" else 8
                entry = struct.pack("<QQ%dIIiQ" % room, va, offered, *(keys + [0] * 8)[:room], count, connection.rank, k + 1)
            yield entry.ljust(self.layout.entry, b"\0")

    def immediate(self, number):
        return number if self.layout.big else int.from_bytes(struct.pack("<I", number), "big")

    def part(self, length, parts):
        each = -(-length // parts)
        return max(8, each) if self.release[0] <= 11 else 128 * -(-each // 128)

    def end_of_several(self, connection, k, requests, device):
        lengths, minor = [length for _, _, length in requests], self.release[0]
        if minor <= 19:
            filled = sum((length != 0) << (8 * r if minor == 12 else r) for r, length in enumerate(lengths[:4 if minor == 12 else 8]))
            return 0, 0, 0, self.immediate(filled), b""
        immediate = 0 if minor <= 28 else k if self.numbered else lengths[0]
        stride = 160 if self.release >= (29, 7) else 32
        sizes = struct.pack("<%di" % len(lengths), *lengths)
        return connection.sizes + k % 256 * stride, connection.sizes_keys[device], len(sizes), immediate, sizes

    def writes(self, connection, k, requests):
        """lane -> [(address, key, length, immediate or None, payload), ..]: sections 2.4, 3.2 and 3.3"""
        count = self.sets * self.devices
        parts, reached, lanes = count if self.split else self.devices, [0] * len(requests), {}
        for i in range(parts):
            lane, writes = (k * parts + i) % count, []
            key = connection.keys[lane % self.devices]
            for r, (va, _, length) in enumerate(requests):
                part = self.part(length, parts)
                own = max(0, min(part, length - reached[r]))
                immediate = k if self.numbered else self.immediate(length)
                is_apart = len(requests) > 1 or (self.adaptive and length > 8192)
                writes.append((va + reached[r], key, own, None if is_apart else immediate, b""))
                if is_apart and len(requests) == 1:
                    writes.append((*((va, key) if self.release[0] <= 11 else (0, 0)), 0, immediate, b""))
                reached[r] += own if self.release >= (29, 7) else part
            if len(requests) > 1:
                writes.append(self.end_of_several(connection, k, requests, lane % self.devices))
            lanes[lane] = writes
        return lanes

    def packets(self, write):
        """(opcode, extended headers, bytes, payload) of a write"""
        va, key, length, immediate, payload = write
        count = max(1, -(-length // self.mtu))
        for i in range(count):
            is_last = i == count - 1
            opcode = (0x0a if is_last else 0x06) if i == 0 else 0x08 if is_last else 0x07
            above = RETH.pack(va, key, length) if i == 0 else b""
            if is_last and immediate is not None:
                opcode, above = opcode + 1, above + struct.pack(">I", immediate)
            yield opcode, above, min(self.mtu, length - i * self.mtu), payload[i * self.mtu:(i + 1) * self.mtu]

    def emit(self, ts, ends, port, *packet, told=(), **how):
        self.frames.append(Frame(ts, *roce_frame(ends, port, *packet, slice_bytes=self.slice_bytes, **how), *told))

    def ask(self, connection, k, requests, ts):
        device, entries = k % self.devices, b"".join(self.entries(connection, k, requests))
        there, back = [(a[device], b[device]) for a, b in ((connection.receiver, connection.sender), (connection.sender, connection.receiver))]
        slot = connection.fifo + k % self.layout.slots * self.layout.stride
        for i, packet in enumerate(self.packets((slot, connection.fifo_keys[device], len(entries), None, entries))):
            self.emit(ts + i, there, connection.ports[device], packet[0], connection.sender_qpns[device], connection.cts_psn[device],
                      *packet[1:], told=(connection.number, k, "cts", device))
            connection.cts_psn[device] += 1
        self.emit(ts + 4000, back, connection.ports[device], 0x11, connection.receiver_qpns[device], connection.cts_psn[device] - 1,
                  struct.pack(">I", 0x1f000000 | connection.cts_psn[device]))

    def ends(self, connection, lane):
        device = lane % self.devices
        return connection.sender[device], connection.receiver[device]

    def answer(self, connection, k, lane, writes, ts):
        ends = self.ends(connection, lane)
        for write in writes:
            for opcode, above, length, payload in self.packets(write):
                ts += 50 + self.NS_PER_BYTE * length
                self.emit(ts, ends, connection.ports[lane], opcode, connection.receiver_qpns[lane], connection.data_psn[lane], above,
                          length, payload, told=(connection.number, k, "data", lane))
                connection.data_psn[lane] += 1
            connection.data_msn[lane] += 1
        self.emit(ts + 3000, ends[::-1], connection.ports[lane], 0x11, connection.sender_qpns[lane], connection.data_psn[lane] - 1,
                  struct.pack(">I", 0x1f000000 | connection.data_msn[lane]))
        return ts

    def run(self, connection, ts):
        """Queue pairs each in their own time; none gets data that was not asked for by then."""
        chance, depth = self.chance, min(ROOM.get(self.style, 8), self.chance.choice([1, 2, 4, 8]))
        free, late = [ts] * len(connection.ports), [chance.uniform(0, self.tap_skew) for _ in connection.ports]
        asked, done = ts, []
        for k, requests in enumerate(self.plan(connection)):
            ready = done[k - depth] if k >= depth else ts
            asked = max(asked + chance.uniform(200, 2000), ready + chance.uniform(0, 3000))
            self.ask(connection, k, requests, asked)
            for lane, writes in self.writes(connection, k, requests).items():
                begin = max(free[lane], asked + 5000 + late[lane]) + chance.uniform(0, self.skew)
                free[lane] = self.answer(connection, k, lane, writes, begin)
            done.append(max(free) + 3000)


class Successor(World):
    """Another job on the queue pairs of one that has ended: PSNs begin anew, memory and messages are its own."""

    def __init__(self, before, seed):
        vars(self).update(vars(before))
        chance = self.chance = random.Random(-seed - 1)
        self.style, self.messages = chance.choice(STYLES + ["mixed"]), chance.choice([20, 60])
        self.frames, self.connections = [], []
        ts = max(frame.ts for frame in before.frames) + 1e7
        for old in before.connections:
            new = Connection(self, old.number, old.sender, old.receiver, old.rank)
            new.sender_qpns, new.receiver_qpns, new.ports = old.sender_qpns, old.receiver_qpns, old.ports
            self.connections.append(new)
            self.run(new, ts + chance.randrange(1000000))
        self.frames.sort(key=lambda frame: frame.ts)


def write(path, frames):
    """A pcap of what is captured."""
    records = [struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, 1)]
    for frame in frames:
        records += [PCAP_RECORD.pack(*divmod(int(frame.ts), 10**9), len(frame.bytes), frame.size), frame.bytes]
    path.write_bytes(b"".join(records))
    return path
