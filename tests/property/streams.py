"""Captures to lose frames from: read, joined end to end, or made up. Independent of the program under test."""

import struct

ROCE_PORT = 4791
LITTLE_USEC, LITTLE_NSEC = 0xA1B2C3D4, 0xA1B23C4D
ACKNOWLEDGE, CNP = 0x11, 0x81
CONNECTED = (0, 1, 5)  # RC, UC, XRC: the high three bits of the opcode


class Frame:
    """One record: `opcode` is None if it is not RDMA."""

    def __init__(self, ts_ns, data, wire):
        self.ts_ns, self.data, self.wire = ts_ns, data, wire
        self.opcode = opcode_of(data)
        self.end, self.answers = None, False  # who sent it, of simulated connections, and whether as an answer

    def in_sequence(self):
        """Whether its loss leaves a gap in a sequence of PSNs."""
        return self.opcode is not None and self.opcode >> 5 in CONNECTED and self.opcode & 0x1f != ACKNOWLEDGE


def opcode_of(data):
    kind, at = data[12:14], 14
    while kind == b"\x81\x00":
        kind, at = data[at + 2:at + 4], at + 4
    if kind == b"\x08\x00" and len(data) > at + 20 and data[at + 9] == 17:
        at += 4 * (data[at] & 15)
    elif kind == b"\x86\xdd" and len(data) > at + 40 and data[at + 6] == 17:
        at += 40
    else:
        return None
    is_roce = len(data) >= at + 20 and struct.unpack_from(">H", data, at + 2)[0] == ROCE_PORT
    return data[at + 8] if is_roce else None


def read(path):
    data = path.read_bytes()
    magic = struct.unpack_from("<I", data)[0]
    assert magic in (LITTLE_USEC, LITTLE_NSEC), path
    unit, at, frames = 1 if magic == LITTLE_NSEC else 1000, 24, []
    while at + 16 <= len(data):
        seconds, fraction, captured, wire = struct.unpack_from("<IIII", data, at)
        frames.append(Frame(10**9 * seconds + unit * fraction, data[at + 16:at + 16 + captured], wire))
        at += 16 + captured
    return frames


def joined(paths):
    """The captures one after the other, ten minutes apart: connections of one are over in the next."""
    frames = []
    for path in paths:
        more = read(path)
        shift = frames[-1].ts_ns + 600 * 10**9 - more[0].ts_ns if frames else 0
        for frame in more:
            frame.ts_ns += shift
        frames += more
    return frames


def link_type(path):
    return struct.unpack_from("<I", path.read_bytes(), 20)[0]


def record(frame):
    return struct.pack("<IIII", *divmod(frame.ts_ns, 10**9), len(frame.data), frame.wire) + frame.data


def pack(frames):
    """Of frames that stay as they are and are written often."""
    for frame in frames:
        frame.packed = record(frame)


def in_order(frames):
    """As a tap sees them; packed."""
    frames.sort(key=lambda frame: frame.ts_ns)
    pack(frames)
    return frames


def write(path, frames, link=1):
    header = struct.pack("<IHHiIII", LITTLE_NSEC, 2, 4, 0, 0, 262144, link)
    path.write_bytes(header + b"".join([getattr(frame, "packed", None) or record(frame) for frame in frames]))


def source_port(qps):
    """As drivers derive it from both queue pairs: the same in either direction."""
    label = qps[0] * qps[1]
    label ^= label >> 20
    label = (label ^ label >> 40) & 0xfffff
    return (label & 0x3fff) ^ (label >> 14) | 0xc000


class Side:
    """What one end of a connection sends: its address, the peer's, and the peer's queue pair."""

    def __init__(self, source, destination, dest_qp, port, psn):
        self.ethernet = struct.pack(">6s6sH", b"\x02\0\0\0\0" + bytes([destination]), b"\x02\0\0\0\0" + bytes([source]), 0x0800)
        self.addresses = bytes([10, 0, 0, source, 10, 0, 0, destination])
        self.dest_qp, self.port, self.psn = dest_qp, port, psn

    def frame(self, ts_ns, opcode, psn, above=b"", payload=0, ask=False):
        """Cut behind the headers, as a mirror with short slices would: the ICRC stays unknown."""
        size = 20 + 8 + 12 + len(above) + payload + 4
        ip = struct.pack(">BBHHHBBH", 0x45, 0x02, size, 0, 0x4000, 64, 17, 0) + self.addresses
        udp = struct.pack(">HHHH", self.port, ROCE_PORT, size - 20, 0)
        bth = struct.pack(">BBHII", opcode, 0x40, 0xffff, self.dest_qp, psn & 0xffffff | ask << 31)
        return Frame(ts_ns, self.ethernet + ip + udp + bth + above, 14 + size)


class Connection:
    """RC between two hosts; each side sends WRITEs and SENDs, and now and then READs."""

    MTU = 1024

    def __init__(self, rng):
        ends = rng.sample(range(1, 9), 2)
        qps = rng.sample(range(0x1000, 0x100000), 2)
        self.sides = [Side(ends[i], ends[1 - i], qps[1 - i], source_port(qps), rng.getrandbits(24)) for i in (0, 1)]
        self.msn = [0, 0]

    def message(self, rng, longest):
        """(frame makers in order): a request and its answer."""
        asker = rng.randrange(2)
        side, other = self.sides[asker], self.sides[1 - asker]
        count = rng.randint(1, longest)
        self.msn[asker] = self.msn[asker] + 1 & 0xffffff
        start, side.psn = side.psn, side.psn + count & 0xffffff
        reth = struct.pack(">QII", 0x7f0000000000, 0x1234, count * self.MTU)
        aeth = struct.pack(">I", self.msn[asker])
        if rng.random() < 0.1:
            yield lambda ts: side.frame(ts, 0x0c, start, reth)
            for i in range(count):
                opcode = 0x10 if count == 1 else 0x0d if i == 0 else 0x0f if i == count - 1 else 0x0e
                headers = b"" if opcode == 0x0e else aeth
                yield lambda ts, o=opcode, p=start + i, h=headers: other.frame(ts, o, p, h, self.MTU)
            return
        for i in range(count):
            opcode = 0x0a if count == 1 else 0x06 if i == 0 else 0x08 if i == count - 1 else 0x07
            headers, last = reth if i == 0 else b"", i == count - 1
            yield lambda ts, o=opcode, p=start + i, h=headers, a=last: side.frame(ts, o, p, h, self.MTU, a)
        yield lambda ts: other.frame(ts, ACKNOWLEDGE, start + count - 1, aeth)


def made_up(rng, frames, connections, longest):
    """A capture of so many frames: messages of up to `longest` packets on connections that take turns."""
    pool = [Connection(rng) for _ in range(connections)]
    running = [iter(()) for _ in pool]
    capture, ts_ns = [], 1_700_000_000 * 10**9
    while len(capture) < frames:
        chosen = rng.randrange(connections)
        for _ in range(rng.randint(1, 6)):
            make = next(running[chosen], None)
            if make is None:
                running[chosen] = pool[chosen].message(rng, longest)
                make = next(running[chosen])
            ts_ns += rng.randint(200, 2000)
            capture.append(make(ts_ns))
    return capture
