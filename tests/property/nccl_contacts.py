"""Who checks in with whose job and who watches it over RAS, of TCP as taps, slices and losses leave it: `nccl` and `audit` name each
such connection between tenants, or with somebody unknown, once, by a frame of its own; and no other.

usage: nccl_contacts.py PROGRAM [--rounds N] [--seed S] [--keep FOLDER]

Releases with and without a hello, magics of all jobs and of one; segments split, joined, repeated, overlapping, out of order, with
copies, in VLANs, over IPv6, sliced, and without what comes before the message that shows what the connection is.
"""

import collections
import json
import random
import struct
from typing import NamedTuple

import accounts
import wire

START_NS = 1_750_000_000 * 10**9
SOCKET_MAGIC, COMM_MAGIC = struct.pack("<Q", 0x564ab9f2fc4b9d6c), struct.pack("<Q", 0x0280028002800280)
BOOTSTRAP, RAS = struct.pack("<I", 1), struct.pack("<I", 5)
SYN, SYN_ACK, ACK, PUSH, FIN = 0x02, 0x12, 0x10, 0x18, 0x11
STAMPS = b"\1\1\x08\x0a" + bytes(8)
MSS, SHORT = 1448, 40
CLIENT, SERVER = 0, 1
CONNECTIONS = 12  # of a capture
KINDS = ("own 8", "own 23", "own 29", "common 8", "common 23", "bare 8", "ras")
# of the segments, in an order in which each may follow; of the frames
WHOLE = ("split", "joined", "overlapping", "repeated", "swapped")
HEADLESS = ("without_syns", "without_head", "without_syns without_head", "without_part", "without_syns swapped")
CLOTHES = ("", "", "vlan", "priority", "one_way", "copies", "vlan copies", "v6")
NETWORKS = {"red": 1, "blue": 2, None: 9}
PAIRS = (("red", "blue"), ("blue", "red"), ("red", None), (None, "blue"), ("red", "red"), ("blue", "blue"), (None, None))
SLICES = (128, 160)  # of frames over IPv4, with a tag


class Segment(NamedTuple):
    ts_ns: int
    side: int
    seq: int
    ack: int
    flags: int
    payload: bytes
    is_head: bool = False  # comes before the message that shows what the connection is


def sockaddr(address, port):
    if address >> 32 == 0xffff:
        return struct.pack("<H", 2) + struct.pack(">HI", port, address & 0xffffffff) + bytes(20)
    return struct.pack("<H", 10) + struct.pack(">HI", port, 0) + address.to_bytes(16, "big") + bytes(4)


def message(body):
    return struct.pack("<I", len(body)) + body


def check_in(minor, chance, address):
    listeners = [sockaddr(address, chance.randrange(30000, 60000)) for _ in range(2)]
    numbers = [chance.randrange(8), 8] + {8: [], 23: [0, 1], 29: [0, 1, 0]}[minor]
    return struct.pack("<%di" % len(numbers), *numbers) + b"".join(listeners) + bytes(0 if minor == 8 else 100)


def keep_alive(chance, ts_ns):
    return struct.pack("<II16siiQQQ", 3, 0, chance.randbytes(16), 5, 0, *divmod(ts_ns, 10**9), 0)


def writes(kind, chance, address, ts_ns):
    """[(side, bytes, is_head, ns until then)]: what is written at a time."""
    name, _, minor = kind.partition(" ")
    if name == "ras":
        greeting = message(struct.pack("<IIi", 1, 0, 22707) + sockaddr(address, 5000) + bytes(16))
        head = [(CLIENT, part, True, 5000) for part in (SOCKET_MAGIC, RAS, greeting)]
        return head + [(i % 2, message(keep_alive(chance, ts_ns + i * 10**9)), False, 10**9) for i in range(3)]
    body = check_in(int(minor), chance, address)
    hello = {"own": [chance.randbytes(8), BOOTSTRAP], "common": [COMM_MAGIC, BOOTSTRAP], "bare": []}[name]
    parts = chance.choice(([message(body)], [struct.pack("<I", len(body)), body]))
    return [(CLIENT, part, part is not parts[-1], 5000) for part in hello + parts]


class Connection:
    def __init__(self, kind, how, chance, ends, ports, ts_ns, numbers):
        self.kind, self.how, self.chance, self.ends, self.ports = kind, how.split(), chance, ends, ports
        self.numbers, self.segments, self.ts_ns = numbers, [], ts_ns
        for side, flags in ((CLIENT, SYN), (SERVER, SYN_ACK), (CLIENT, ACK)):
            self.send(side, flags)
        for side, written, is_head, later in writes(kind, chance, ends[CLIENT], ts_ns):
            self.ts_ns += later
            size = SHORT if "split" in self.how else MSS
            for at in range(0, len(written), size):
                self.send(side, PUSH, written[at:at + size], is_head)
                self.send(1 - side, ACK)
        if kind != "ras":
            self.send(CLIENT, FIN)
        for step in self.how:
            self.segments = getattr(self, step, lambda: self.segments)()

    def send(self, side, flags, payload=b"", is_head=False):
        self.ts_ns += 3000
        self.segments.append(Segment(self.ts_ns, side, self.numbers[side], self.numbers[1 - side] * (flags != SYN), flags, payload, is_head))
        self.numbers[side] = (self.numbers[side] + len(payload) + (flags in (SYN, SYN_ACK, FIN))) % 2**32

    def joined(self):
        """What one side writes in a row is one segment; but for RAS, nobody answers."""
        out = []
        for segment in self.segments:
            if out and segment.payload and out[-1].payload and out[-1].side == segment.side and segment.is_head >= out[-1].is_head:
                out[-1] = out[-1]._replace(payload=out[-1].payload + segment.payload)
            elif segment.payload or segment.flags != ACK or len(out) == 2:
                out.append(segment)
        return out

    def repeated(self):
        return [copy for s in self.segments for copy in (s, s._replace(ts_ns=s.ts_ns + 500))[:self.chance.choice((1, 2))]]

    def overlapping(self):
        """Behind a segment comes one that ends with it, and begins before it."""
        out, sent = [], {CLIENT: b"", SERVER: b""}
        for segment in self.segments:
            out.append(segment)
            sent[segment.side] += segment.payload
            if segment.payload and self.chance.random() < 0.5:
                more = min(len(sent[segment.side]), len(segment.payload) + self.chance.randrange(60))
                seq = segment.seq + len(segment.payload) - more
                out.append(segment._replace(ts_ns=segment.ts_ns + 500, seq=seq % 2**32, payload=sent[segment.side][-more:]))
        return out

    def swapped(self):
        """By some places."""
        order = sorted(range(len(self.segments)), key=lambda i: i + 3 * self.chance.random())
        return [self.segments[i]._replace(ts_ns=self.segments[at].ts_ns) for at, i in enumerate(order)]

    def without_syns(self):
        """Of one side, or both."""
        kept = self.chance.choice((None, SYN, SYN_ACK))
        return [s for s in self.segments if s.flags not in (SYN, SYN_ACK) or s.flags == kept]

    def without_head(self):
        return [s for s in self.segments if not s.is_head]

    def without_part(self):
        head = [s for s in self.segments if s.is_head]
        lost = self.chance.choice(head) if head else None
        return [s for s in self.segments if s is not lost]

    def frames(self, clothes, size):
        for segment in self.segments:
            turn = slice(None, None, -1 if segment.side else 1)
            tcp = struct.pack(">HHIIBBHHH", *self.ports[turn], segment.seq, segment.ack, 8 << 4, segment.flags, 65535, 0, 0)
            tcp += STAMPS + segment.payload
            ends = self.ends[turn]
            is_v4 = ends[0] >> 32 == 0xffff
            ip = wire.ipv4(self.chance, *ends, 6, len(tcp)) if is_v4 else wire.ipv6(*ends, 6, len(tcp))
            tag = 77 if "vlan" in clothes or ("one_way" in clothes and segment.side) else 0x6000 if "priority" in clothes else None
            tags = b"" if tag is None else struct.pack(">HH", 0x8100, tag)
            frame = bytes(12) + tags + struct.pack(">H", 0x0800 if is_v4 else 0x86dd) + ip + tcp
            yield segment.ts_ns, frame.ljust(60, b"\0"), size
            if "copies" in clothes:
                yield segment.ts_ns + 300, frame.ljust(60, b"\0"), size


def map_of_two():
    return {"schema": "tapmap/1", "map_id": "two", "serial": 1, "issued_at": "2020-01-01T00:00:00Z", "issuer": "tests",
            "fabric": {"kind": "roce"}, "tenants": [{"name": name, "class": "customer"} for name in ("red", "blue")],
            "nodes": [{"host": "h", "ports": [{"ip": "10.1.0.1"}]}],
            "segments": [{"name": name, "tenant": name, "intervals": [{"from": "2000-01-01T00:00:00Z", "to": None, "members": [
                {"subnet": "10.%d.0.0/16" % NETWORKS[name]}, {"subnet": "fd00:%d::/32" % NETWORKS[name]}]}]} for name in ("red", "blue")]}


def address(chance, tenant, is_v6):
    host = chance.randrange(1, 250)
    return 0xfd00 << 112 | NETWORKS[tenant] << 96 | host if is_v6 else 0xffff << 32 | 10 << 24 | NETWORKS[tenant] << 16 | host


class Judge(accounts.Judge):
    def __init__(self, program, folder):
        super().__init__(program, folder)
        (folder / "two.json").write_text(json.dumps(map_of_two()))

    def judge(self, chance):
        truth, frames, ts_ns = [], [], START_NS
        clothes = chance.choice(CLOTHES)
        size = chance.choice((None, *SLICES)) if clothes != "v6" else None
        for _ in range(CONNECTIONS):
            kind, pair = chance.choice(KINDS), chance.choice(PAIRS)
            hows = (*HEADLESS, "without_syns joined", "joined", "repeated", "swapped") if size else (
                *HEADLESS, *WHOLE, " ".join(sorted(chance.sample(WHOLE[:4], 2), key=WHOLE.index)) + " swapped")
            ends, ports = [address(chance, tenant, clothes == "v6") for tenant in pair], [chance.randrange(30000, 60000) for _ in pair]
            numbers = [chance.choice((chance.getrandbits(32), 2**32 - chance.randrange(1, 100))) for _ in pair]
            for again in range(1 if "one_way" in clothes else chance.choice((1, 1, 2))):  # by another job
                how = chance.choice(hows) if again == 0 else ""
                truth.append((pair, "%s, %s" % (kind, how)))
                connection = Connection(kind, how, chance, ends, ports, ts_ns, [(number + (again << 30)) % 2**32 for number in numbers])
                frames += [(ts, frame, cut, len(truth) - 1) for ts, frame, cut in connection.frames(clothes.split(), size)]
                ts_ns = connection.ts_ns + 10**9
            ts_ns += chance.randrange(10**7)
        frames.sort(key=lambda frame: frame[0])
        header = struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, 1)
        path = self.folder / "contacts.pcap"
        path.write_bytes(header + b"".join(
            struct.pack("<IIII", *divmod(ts, 10**9), len(frame[:cut]), len(frame)) + frame[:cut] for ts, frame, cut, _ in frames))
        for verb in ("nccl", "audit"):
            document = self.json(verb, "-m", self.folder / "two.json", path)
            self.read("%s, %s, %s" % (verb, clothes, size), truth, [number for *_, number in frames], document["findings"])

    def read(self, what, truth, owners, findings):
        told = collections.defaultdict(list)
        for finding in findings:
            if finding["rule"].startswith("nccl."):
                for frame in finding["frames"]:
                    told[owners[frame - 1]].append((finding["rule"], finding["src"]["tenant"], finding["dst"]["tenant"]))
        for number, (pair, how) in enumerate(truth):
            self.rows += 1
            self.equal("%s, %s" % (what, how), told[number], [("nccl.foreign-setup", *pair)] if pair[0] != pair[1] else [])


def judge_rounds(asked, folder):
    judge = Judge(asked.program, folder)
    for seed in range(asked.seed, asked.seed + asked.rounds):
        judge.label = "seed %d" % seed
        judge.judge(random.Random(seed))
    return judge


if __name__ == "__main__":
    accounts.run(accounts.parser_of(__doc__, 40), judge_rounds)
