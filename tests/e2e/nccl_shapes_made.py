"""NCCL jobs in shapes that nccl_made has not: on native InfiniBand, with global headers or without, between IPv6 addresses, hosts that
have different numbers of devices, LL128 lines beside the other protocols, and processes that send for others of their host."""

import random
import struct
import sys
from pathlib import Path

import nccl_made
from roce import LINKTYPE_INFINIBAND, mac

sys.path.append(str(Path(__file__).resolve().parents[1] / "property"))

import wire

ROCE4, ROCE6, LIDS, GLOBAL = "RoCE over IPv4", "RoCE over IPv6", "InfiniBand", "InfiniBand with global headers"
NETS = ROCE4, ROCE6, LIDS, GLOBAL
INFINIBAND = LIDS, GLOBAL
HEADERS = {ROCE4: 70, ROCE6: 90, LIDS: 36, GLOBAL: 76}  # bytes in front of the payload of an RDMA write
DATA_OF_LL128 = 1920  # bytes in a unit of 2048: section 6.2
OFFERED = {"LL": 65536, "LL128": 614400, "SIMPLE": 1048576}


def lid(address):
    """Of a host's device: its addresses are 10.0.device.host."""
    return address[2] << 8 | address[3]


def gid(net, address):
    if net == ROCE4:
        return bytes(10) + b"\xff\xff" + address
    return bytes.fromhex("20010db8" if net == ROCE6 else "fe800000") + bytes(8) + address


def transport(opcode, qpn, psn, above, length, payload):
    pad = -length % 4
    head = struct.pack(">BBHII", opcode, 0x40 | pad << 4, 0xffff, qpn, psn & 0xffffff)
    return head + above + payload.ljust(length, b"\x5a") + bytes(pad)


def over_ipv6(ends, port, packet):
    udp = struct.pack(">HHHH", port, 4791, 8 + len(packet) + 4, 0)
    ip = struct.pack(">IHBB", 6 << 28, len(udp) + len(packet) + 4, 17, 64) + b"".join(gid(ROCE6, end) for end in ends)
    icrc = wire.icrc(b"\xff" * 8 + wire.masked_ipv6(ip) + udp[:6] + b"\xff\xff" + wire.masked_transport(packet))
    return mac(ends[1]) + mac(ends[0]) + b"\x86\xdd" + ip + udp + packet + icrc


def over_infiniband(ends, packet, has_grh):
    gids = [int.from_bytes(gid(GLOBAL, end), "big") for end in ends] if has_grh else None
    return wire.native(random.Random(0), *map(lid, ends), gids, packet)[0]


class Shape(nccl_made.World):
    """A ring of hosts; their numbers of devices take turns. `proxied`: each process sends for so many ranks, 1: for itself alone."""

    NS_PER_BYTE = 0.05

    def __init__(self, seed, net=ROCE4, release=None, devices=(1, 1), sets=1, styles=("SIMPLE",), proxied=1, setup=True):
        chance = self.chance = random.Random(seed)
        self.release = release or chance.choice(list(nccl_made.RELEASES))
        self.layout, self.net, self.setup, self.slice_bytes = nccl_made.RELEASES[self.release], net, setup, None
        minor = self.release[0]
        self.sets = sets if minor >= 10 else 1
        self.devices = max(devices)
        self.split = minor < 18 or chance.random() < 0.5
        self.adaptive = 6 <= minor <= 15 or (minor > 15 and net in INFINIBAND)
        self.numbered = self.several = False
        self.mtu, self.messages, self.styles, self.proxied = chance.choice([1024, 4096]), 24, styles, proxied
        self.skew, self.tap_skew, self.style = chance.choice([0, 1e3, 2e4]), 0, "mixed"  # no more are asked for than there are buffers
        self.used, self.frames, self.sent = {}, [], {}
        hosts = [[bytes((10, 0, device, host + 1)) for device in range(devices[host % 2])] for host in range(2)]
        self.connections = [nccl_made.Connection(self, i, host, hosts[1 - i], i) for i, host in enumerate(hosts)]
        ts = 1e9
        for connection in self.connections:
            connection.step = 0
            ts = self.set_up(connection, ts) if setup else ts
        for connection in self.connections:
            self.run(connection, ts + chance.randrange(1000000))
        self.frames.sort(key=lambda frame: frame.ts)

    def metadata(self, connection, is_sender):
        """As it is on this network, and with the devices of this side."""
        size, host = self.layout.metadata, connection.sender if is_sender else connection.receiver
        body, link = bytearray(super().metadata(connection, is_sender)), 1 if self.net in INFINIBAND else 2
        lids = [lid(address) if self.net in INFINIBAND else 0 for address in host]
        if size <= 2600:
            struct.pack_into("<I", body, 0, lids[0])
            at = {48: 16, 552: 520, 2600: 2568}[size]
            body[at:at + 16] = gid(self.net, host[0])
            if size != 48 and self.release[0] >= 12:
                body[5] = link
            return bytes(body)
        devices, _, _, count = nccl_made.PLACES[size]
        for i, address in enumerate(host):
            struct.pack_into("<I", body, devices + 56 * i, lids[i])
            struct.pack_into("<B3x16s", body, devices + 56 * i + 12, link, gid(self.net, address))
        for i in range(len(connection.ports)):
            struct.pack_into("<i", body, 24 * i + 20, i % len(host))
        struct.pack_into("<i", body, count, len(host))
        return bytes(body)

    # sections 5, 6 and 7.5
    def tags(self, connection):
        return [connection.rank * 8 + i for i in range(self.proxied)] if self.proxied > 1 else [connection.rank]

    def one_request(self, connection, style):
        chance, step = self.chance, connection.step
        connection.step += 2 if style == "SIMPLE" else 1
        if style == "LL":
            return connection.buffer + step % 8 * 0x10000, 16 * chance.choice([1, 8, 125, 512])
        if style == "LL128":
            return connection.buffer + 0x80000 + step % 8 * 0x96000, 2048 * -(-chance.choice([1, 1921, 20000]) // DATA_OF_LL128)
        return connection.buffer + 0x530000 + step % 8 * 0x80000, chance.choice([32768, 20000, 4])

    def plan(self, connection):
        for k in range(self.messages):
            style = self.styles[k // 4 % len(self.styles)]
            connection.step += -connection.step % 4 if style == "SIMPLE" and k % 4 == 0 else 0
            flag = connection.step + 1
            va, length = self.one_request(connection, style)
            connection.tag = self.chance.choice(self.tags(connection))
            self.sent[connection.number, k] = style, connection.tag, length
            connection.payload = self.payload(style, length, flag)
            yield [(va, OFFERED[style], length)]

    def payload(self, style, length, flag):
        if style == "SIMPLE":
            return self.chance.randbytes(length)
        if style == "LL":
            return b"".join(self.chance.randbytes(4) + struct.pack("<I", flag) for _ in range(length // 8))
        return b"".join(self.chance.randbytes(120) + struct.pack("<Q", flag) for _ in range(length // 128))

    def entries(self, connection, k, requests):
        rank, connection.rank = connection.rank, connection.tag
        yield from super().entries(connection, k, requests)
        connection.rank = rank

    # sections 2.4 and 3
    def writes(self, connection, k, requests):
        (va, _, _), = requests
        keys, connection.keys = connection.keys, [connection.keys[i % len(connection.receiver)] for i in range(self.devices)]
        lanes = super().writes(connection, k, requests)
        connection.keys = keys
        return {lane: [(at, key, length, immediate, connection.payload[at - va:at - va + length] if length else b"")
                       for at, key, length, immediate, _ in writes] for lane, writes in lanes.items()}

    def emit(self, ts, ends, port, opcode, qpn, psn, above=b"", length=0, payload=b"", told=()):
        packet = transport(opcode, qpn, psn, above, length, payload)
        if self.net in INFINIBAND:
            frame = over_infiniband(ends, packet, self.net == GLOBAL)
        elif self.net == ROCE6:
            frame = over_ipv6(ends, port, packet)
        else:
            frame = nccl_made.roce_frame(ends, port, opcode, qpn, psn, above, length, payload, slice_bytes=1 << 16)[1]
        self.frames.append(nccl_made.Frame(ts, len(frame), frame, *told))

    def ask(self, connection, k, requests, ts):
        lane = k % len(connection.receiver)
        there = connection.receiver[lane], connection.sender[lane % len(connection.sender)]
        entries = b"".join(self.entries(connection, k, requests))
        slot = connection.fifo + k % self.layout.slots * self.layout.stride
        above = struct.pack(">QII", slot, connection.fifo_keys[lane % len(connection.sender)], len(entries))
        self.emit(ts, there, connection.ports[lane], 0x0a, connection.sender_qpns[lane], connection.cts_psn[lane], above, len(entries),
                  entries, told=(connection.number, k, "cts", lane))
        connection.cts_psn[lane] += 1
        self.emit(ts + 4000, there[::-1], connection.ports[lane], 0x11, connection.receiver_qpns[lane], connection.cts_psn[lane] - 1,
                  struct.pack(">I", 0x1f000000 | connection.cts_psn[lane]))

    def ends(self, connection, lane):
        return connection.sender[lane % len(connection.sender)], connection.receiver[lane % len(connection.receiver)]


def is_native(frame):
    """Set-ups pass over Ethernet all the same, between MACs that begin with 2; native packets with their virtual lane, 0."""
    return frame.bytes[0] == 0


def write(path, frames):
    """A pcapng: of an Ethernet port, and of an InfiniBand port."""
    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    in_ns = struct.pack("<HHBxxx", 9, 1, 9) + bytes(4)
    blocks = [block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))]
    blocks += [block(1, struct.pack("<HHI", link, 0, 262144) + in_ns) for link in (1, LINKTYPE_INFINIBAND)]
    for frame in frames:
        ts = int(frame.ts)
        blocks.append(block(6, struct.pack("<IIIII", is_native(frame), ts >> 32, ts & 0xffffffff, len(frame.bytes), frame.size) + frame.bytes))
    path.write_bytes(b"".join(blocks))
    return path
