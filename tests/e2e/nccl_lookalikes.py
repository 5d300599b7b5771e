"""Protocols of others over RDMA WRITE that look like NCCL's: rings of small writes, answered by writes with immediate. Made from what
is public of each. None is taken for NCCL: no class, no connection, no finding."""

import random
import struct

import nccl_made
from harness import WithFolder, fabtap, main

SEEDS = range(6)
WRITE_FIRST, WRITE_ONLY, ACK, SEND_ONLY, FETCH_ADD = 0x06, 0x0a, 0x11, 0x04, 0x14
CLIENT, SERVER = 0, 1


class Pair:
    """Two ends of one reliable connection, each with memory of its own."""

    def __init__(self, chance):
        self.chance, self.frames, self.ts = chance, [], 1e9
        self.qpns = [chance.randrange(100, 9000) for _ in range(2)]
        self.psns, self.msns = chance.choice(([0, 0], [chance.getrandbits(24) for _ in range(2)])), [0, 0]
        self.memory = [(chance.getrandbits(27) << 12 | 0x7f0000000000, chance.getrandbits(31) | 1) for _ in range(4)]
        self.slice_bytes, self.mtu = chance.choice((700, 700, 128, 64)), chance.choice((1024, 4096))

    def emit(self, side, opcode, psn, above=b"", length=0, payload=b""):
        self.ts += self.chance.uniform(300, 3000)
        ends = [bytes((10, 9, 0, 1 + end)) for end in (side, 1 - side)]
        port = nccl_made.source_port(*self.qpns)
        self.frames.append(nccl_made.Frame(self.ts, *nccl_made.roce_frame(
            ends, port, opcode, self.qpns[1 - side], psn, above, length, payload, slice_bytes=self.slice_bytes)))

    def request(self, side, opcode, above, length=0, payload=b"", last=True):
        self.emit(side, opcode, self.psns[side], above, length, payload)
        self.psns[side] = self.psns[side] + 1 & 0xffffff
        if last:
            self.msns[side] += 1
            self.emit(1 - side, ACK, self.psns[side] - 1 & 0xffffff, struct.pack(">I", 0x1f000000 | self.msns[side]))

    def write(self, side, memory, offset, payload, immediate=None, length=None):
        length, (address, key) = len(payload) if length is None else length, self.memory[memory]
        count = max(1, -(-length // self.mtu))
        for i in range(count):
            last = i == count - 1
            opcode = (WRITE_ONLY if last else WRITE_FIRST) if i == 0 else 0x08 if last else 0x07
            above = struct.pack(">QII", address + offset, key, length) if i == 0 else b""
            if last and immediate is not None:
                opcode, above = opcode + 1, above + struct.pack(">I", immediate & 0xffffffff)
            self.request(side, opcode, above, min(self.mtu, length - i * self.mtu), payload[i * self.mtu:(i + 1) * self.mtu], last)

    def length(self):
        return self.chance.choice((64, 512, 1000, 4096, 65536, self.chance.randrange(1, 20000)))


def mailbox(pair, count):
    """Requests in a ring of slots; answers to buffers in turn, with the length, the slot or an id as immediate."""
    chance, entry, slots, means = pair.chance, pair.chance.choice((24, 32, 64)), pair.chance.choice((8, 64, 128, 256)), pair.chance.randrange(3)
    stride, apart = pair.chance.choice((entry, 8 * entry)), pair.chance.choice((4096, 0x10000, 0x80000))
    for i in range(count):
        pair.write(CLIENT, 0, i % slots * stride, struct.pack("<QII", i, chance.getrandbits(16), 7).ljust(entry, b"\0"))
        length = pair.length()
        pair.write(SERVER, 1, i % 8 * apart, b"", (length, i % slots, chance.getrandbits(32))[means], length)


def rendezvous(pair, count):
    """A queue of descriptors: where data may go, how much, with which key; the data, and its length."""
    entry, slots, big = pair.chance.choice((24, 32, 48, 64)), pair.chance.choice((16, 32, 50, 512)), pair.chance.random() < 0.5
    (address, key), stride = pair.memory[1], pair.chance.choice((entry, 64, 128))
    for i in range(count):
        pair.write(CLIENT, 0, i % slots * stride, struct.pack("<QII", address + i % 8 * 65536, 65536, key).ljust(entry, b"\0"))
        length = pair.length()
        pair.write(SERVER, 1, i % 8 * 65536, b"", length if big else int.from_bytes(struct.pack("<I", length), "big"), length)


def descriptors_with_room(pair, count):
    """Likewise, in slots as far apart as NCCL's, but without a number."""
    entry, (address, key) = pair.chance.choice((32, 64)), pair.memory[1]
    pair.slice_bytes = 700
    for i in range(count):
        pair.write(CLIENT, 0, i % 64 * 8 * entry, struct.pack("<QII", address + i % 8 * 65536, 65536, key).ljust(entry, b"\0"))
        length = pair.length()
        pair.write(SERVER, 1, i % 8 * 65536, b"", length, length)


def descriptors_cut(pair, count):
    """Likewise, in slices that end before the place where a number would be."""
    descriptors_with_room(pair, count)
    pair.frames = [frame._replace(bytes=frame.bytes[:96]) for frame in pair.frames]


def short_descriptors(pair, count):
    """Addresses, sizes of 64 bits, keys and a flag, in a ring of as many and as long slots as NCCL's first releases had."""
    address, key = pair.memory[1]
    pair.slice_bytes = 700
    for i in range(count):
        pair.write(CLIENT, 0, i % 128 * 24, struct.pack("<QQII", address + i % 8 * 65536, 65536, key, 1))
        length = pair.length()
        pair.write(SERVER, 1, i % 8 * 65536, b"", pair.chance.choice((i, length)), length)


def transfer_agent(pair, count):
    """Descriptors, data of one to some sizes, and an empty write without address whose immediate is the length."""
    address, key = pair.memory[1]
    for i in range(count):
        length = pair.chance.choice((4096, 16384, 32768))
        pair.write(CLIENT, 0, i % 64 * 64, struct.pack("<QQIII", address + i % 8 * 0x80000, 0, length, key, i).ljust(64, b"\0"))
        pair.write(SERVER, 1, i % 8 * 0x80000, b"", length=length)
        pair.request(SERVER, WRITE_ONLY + 1, bytes(16) + struct.pack(">I", length))


def message_rings(pair, count):
    """FaRM: messages of some cache lines in a ring each way, and heads that come back now and then."""
    heads = [0, 0]
    for i in range(count):
        for side in (CLIENT, SERVER):
            lines = pair.chance.choice((64, 64, 64, 128, 320))
            pair.write(side, side, heads[side], struct.pack("<II", lines, i).ljust(lines, b"\7"))
            heads[side] = (heads[side] + lines) % (1 << 16)
            if i % 8 == 7:
                pair.write(side, 2 + side, 0, struct.pack("<Q", heads[1 - side]))


def key_value(pair, count):
    """HERD, Pilaf: keys to slots of the client's, values back."""
    slots, entry, tells = pair.chance.choice((8, 32, 64)), pair.chance.choice((32, 64)), pair.chance.random() < 0.5
    for i in range(count):
        pair.write(CLIENT, 0, i % slots * entry, pair.chance.randbytes(16).ljust(entry, b"\1"))
        pair.write(SERVER, 1, i % slots * 1024, b"v" * pair.chance.choice((32, 100, 1000)), i % slots if tells else None)


def replicated_log(pair, count):
    """Entries in a ring, and how far the other has got."""
    entry, slots, tells = pair.chance.choice((24, 32, 64)), pair.chance.choice((64, 256, 4096)), pair.chance.random() < 0.5
    for i in range(count):
        pair.write(CLIENT, 0, i % slots * entry, struct.pack("<QQ", i + 1, pair.chance.getrandbits(60)).ljust(entry, b"e"))
        pair.write(SERVER, 1, 0, struct.pack("<Q", i + 1), i + 1 if tells else None)


def symmetric_heap(pair, count):
    """NVSHMEM, DeepEP: puts anywhere, then a signal, by a write or an addition."""
    for i in range(count):
        side = pair.chance.randrange(2)
        pair.write(side, 0, pair.chance.randrange(1 << 16) * 64, b"", length=pair.length())
        if pair.chance.random() < 0.7:
            pair.write(side, 1, i % 64 * 8, struct.pack("<Q", i))
        else:
            pair.request(side, FETCH_ADD, struct.pack(">QIQQ", pair.memory[1][0] + i % 64 * 8, pair.memory[1][1], 1, 0))


def notified(pair, count):
    """GASPI: data, and a notification of four bytes."""
    for i in range(count):
        pair.write(i & 1, 0, i % 8 * 0x10000, b"", length=pair.length())
        pair.write(i & 1, 1, i % 256 * 4, struct.pack("<I", i + 1))


def fast_path(pair, count):
    """MVAPICH: packets of MPI in rings of buffers both ways, and rendezvous by write."""
    address, key = pair.memory[2]
    for i in range(count):
        pair.write(CLIENT, 0, i % 32 * 16384, struct.pack("<BBHIQ", 9, 0, i, 48, i).ljust(64, b"\1"))
        pair.write(SERVER, 1, i % 32 * 16384, struct.pack("<BBHIQII", 10, 0, i, 48, address + i % 8 * 65536, key, 65536).ljust(64, b"\1"))
        pair.write(CLIENT, 2, i % 8 * 65536, b"", length=pair.length())


def byte_stream(pair, count):
    """rsockets: the immediate of each write is its length; room comes with another kind of immediate."""
    heads = [0, 0]
    for i in range(count):
        for side in (CLIENT, SERVER):
            length = pair.length()
            heads[side] = heads[side] if heads[side] + length <= 1 << 17 else 0
            pair.write(side, side, heads[side], b"", length, length)
            heads[side] += length
        if i % 4 == 3:
            pair.write(SERVER, 3, i // 4 % 2 * 16, struct.pack("<QII", pair.memory[0][0], pair.memory[0][1], 1 << 17), 1 << 29 | 4)


def storage(pair, count):
    """SMB Direct, iSER, NFS, o2iblnd: SENDs, and data by write."""
    for i in range(count):
        pair.request(CLIENT, SEND_ONLY, b"", 64, struct.pack("<IHB", i, 1, 0xd2).ljust(64, b"\0"))
        pair.write(SERVER, 0, i % 16 * 65536, b"", length=pair.length())
        pair.request(SERVER, SEND_ONLY, b"", 16, struct.pack("<IHB", i, 1, 0xd3).ljust(16, b"\0"))


PROTOCOLS = (mailbox, rendezvous, descriptors_with_room, descriptors_cut, short_descriptors, transfer_agent, message_rings, key_value, replicated_log, symmetric_heap, notified,
             fast_path, byte_stream, storage)


class Lookalikes(WithFolder):
    def test_none_is_taken_for_nccl(self):
        for protocol in PROTOCOLS:
            for seed in SEEDS:
                chance = random.Random("%s %d" % (protocol.__name__, seed))
                pair = Pair(chance)
                protocol(pair, chance.choice((30, 100)))
                first = len(pair.frames) // 3 if chance.random() < 0.3 else 0
                told = fabtap("nccl", "--json", "--no-icrc", nccl_made.write(self.folder / "other.pcap", pair.frames[first:])).json()
                classes = {row["class"] for row in told["queue_pairs"]}
                with self.subTest(protocol=protocol.__name__, seed=seed, slice_bytes=pair.slice_bytes):
                    self.assertFalse(classes & {"nccl", "gin"})
                    self.assertEqual((told["connections"], told["messages"], told["findings"]), ([], [], []))


if __name__ == "__main__":
    main()
