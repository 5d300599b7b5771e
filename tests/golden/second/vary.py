"""Variations of frames, each family from its own fixed seed."""

import random

from second import build, vary_noise, vary_stacks
from second.bodies import body
from second.frame import ERF, Frame

SEED = "fabtap "
SIZES = (0, 1, 3, 4, 7, 8, 9, 16, 20, 28, 32, 255, 256, 257, 300, 512, 1024, 4096, 4097, 4100)
EDGES = (0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 0x1B, 0x2F, 0x3B, 0x2B, 0x2C, 0x40, 0x45, 0x46, 0x60, 0x7F, 0x80, 0xFF)


def _variant(frame, data, wirelen=None):
    return Frame(bytes(data), len(data) if wirelen is None else wirelen, frame.linktype, frame.fcs, frame.ts_ns)


def cuts(frames, rng, per_frame):
    """Each frame captured only in part; the wire length stays."""
    for frame in frames:
        size = len(frame.data)
        headers = min(size, 200)
        places = list(range(headers)) + list(range(max(headers, size - 8), size))
        if per_frame < len(places):
            places = rng.sample(places, per_frame)
        for cap in places:
            yield _variant(frame, frame.data[:cap], frame.wirelen)


def shortened(frames, rng, per_frame):
    """Each frame shorter on the wire itself."""
    for frame in frames:
        for _ in range(per_frame):
            cap = rng.randrange(min(len(frame.data), 200) + 1)
            yield _variant(frame, frame.data[:cap], cap + rng.choice((0, 0, 0, 1, 4, 20)))


def mutated(frames, rng, per_frame):
    """One to three bytes of the first 160 changed, now and then cut or longer on the wire."""
    for frame in frames:
        for _ in range(per_frame):
            data = bytearray(frame.data)
            if not data:
                continue
            for _ in range(rng.choice((1, 1, 2, 3))):
                at = rng.randrange(min(len(data), rng.choice((40, 80, 160))))
                data[at] = rng.choice((rng.choice(EDGES), rng.randrange(256), data[at] ^ 1 << rng.randrange(8)))
            cap = rng.randrange(len(data)) if rng.random() < 0.1 else len(data)
            yield _variant(frame, data[:cap], max(0, frame.wirelen + rng.choice((0, 0, 0, 0, 3, 64, -5))))


def opcodes(rng, rounds):
    """Every opcode over every carrier, sizes around the edges of the rules."""
    for _ in range(rounds):
        for opcode in range(256):
            for carrier, (wrap, linktype) in build.CARRIERS.items():
                size = rng.choice(SIZES)
                data = bytearray(wrap(body(rng, opcode, size)))
                if rng.random() < 0.06:
                    data[-rng.randrange(1, 7)] ^= 0x55
                if rng.random() < 0.1:
                    data += rng.randbytes(rng.choice((1, 2, 4, 18)))
                cap = rng.randrange(len(data)) if rng.random() < 0.1 else len(data)
                yield Frame(bytes(data[:cap]), len(data), linktype)


def mads(rng, count):
    """UD packets to QP 0 and 1 with a payload around 256 bytes."""
    for _ in range(count):
        wrap, linktype = build.CARRIERS[rng.choice(list(build.CARRIERS))]
        opcode, size = rng.choice((0x64, 0x64, 0x64, 0x65)), rng.choice((256, 256, 256, 256, 255, 257, 252, 260, 24, 0))
        qp, qkey = rng.choice((0, 1, 1, 2)), rng.choice(("80010000",) * 3 + ("00000b1b",))
        deth = bytes.fromhex(qkey) + bytes.fromhex("00000001") + (bytes(4) if opcode == 0x65 else b"")
        payload = bytes([rng.choice((1, 1, 1, 0, 2))]) + rng.randbytes(255) + bytes(4)
        data = wrap(build.bth(opcode, -size % 4, qp=qp) + deth + payload[:size] + bytes(-size % 4))
        cap = rng.randrange(len(data)) if rng.random() < 0.3 else len(data)
        yield Frame(data[:cap], len(data), linktype)


def erf_records(rng, count):
    """ERF types, extension chains and lengths that do not fit."""
    for _ in range(count):
        kind = rng.choice((2, 11, 16, 20, 21, 21, 22, 23, 24, 25, 27, 28, 48, 1, 127))
        packet = body(rng, rng.choice((0x04, 0x0A, 0x11)), rng.choice((0, 4, 64)))
        data = _erf_payload(rng, kind, packet)
        chain = [rng.choice((3, 15, 16, 17)) for _ in range(rng.choice((0, 0, 0, 1, 2, 9, 63, 64, 65, 80)))]
        record = build.erf(data + bytes(rng.choice((0, 0, 3, 6))), kind, extensions=chain,
                           rlen=rng.choice((None,) * 6 + (0, 8, 15, 16, 20, 24, 40)),
                           wlen=rng.choice((len(data),) * 5 + (0, 3, 14, len(data) + 100)))
        cap = rng.randrange(len(record)) if rng.random() < 0.15 else len(record)
        yield Frame(record[:cap], len(record), ERF)


def _erf_payload(rng, kind, packet):
    if kind == 25:
        body = bytes([rng.randrange(256) & rng.choice((0x1F, 0xFF))]) + rng.randbytes(3)
        return (body + build.crc.crc16(body) + bytes(2))[:rng.choice((6, 6, 6, 8, 5, 3))]
    if kind in (22, 23):
        return build.CARRIERS["v4" if kind == 22 else "v6"][0](packet)[14:]
    if kind in (2, 11, 16, 20):
        frame = build.CARRIERS[rng.choice(("v4", "v6", "grh"))][0](packet)
        return frame + rng.choice((build.crc.crc32(frame),) * 4 + (bytes(4), b"", b"", bytes(1)))
    return build.CARRIERS[rng.choice(("ib", "ib_grh"))][0](packet)


def cooked(rng, count):
    for _ in range(count):
        version = rng.choice((1, 2))
        data = bytearray(build.cooked(vary_stacks.seed_frame(rng), version))
        if rng.random() < 0.5:
            data[rng.randrange(20)] = rng.choice(EDGES)
        if rng.random() < 0.2:
            at = 2 if version == 1 else 8
            data[at:at + 2] = rng.choice((770, 778, 803, 823, 824, 1, 772)).to_bytes(2, "big")
        cap = rng.randrange(len(data)) if rng.random() < 0.2 else len(data)
        yield Frame(bytes(data[:cap]), len(data), 113 if version == 1 else 276)


def checked_frames(rng, count):
    """Ethernet frames whose FCS is announced: right, wrong, cut, or of an odd length."""
    for _ in range(count):
        frame = vary_stacks.seed_frame(rng) + bytes(rng.choice((0, 0, 6, 18)))
        data = frame + (build.crc.crc32(frame) if rng.random() < 0.7 else rng.randbytes(4))
        cap = rng.randrange(len(data) + 1) if rng.random() < 0.4 else len(data)
        yield Frame(data[:cap], rng.choice((len(data), len(data), cap)), 1, 4)


def trailers(rng, count):
    """Time stamps behind the packet, near and far from the capture's clock, and bytes that are none."""
    day = 86400 * 10 ** 9
    for _ in range(count):
        clock = rng.choice((1700000693 * 10 ** 9, 1700000693 * 10 ** 9, 0, 5 * day))
        stamp = max(0, clock + rng.choice((0, 1, -1, 7, -7, 8, -8)) * day + rng.randrange(10 ** 9))
        frame = vary_stacks.seed_frame(rng)
        if rng.random() < 0.3:
            frame = rng.choice(build.TUNNELS + [build.mpls, build.vlan, build.avsp])(frame)
        padded = frame + bytes(rng.choice((0, 0, 6, 18)))
        tail = rng.choice((build.metamako, build.metamako, build.exablaze, _noise))(rng, stamp)
        data = padded + build.crc.crc32(padded) + tail + rng.choice((b"", rng.randbytes(4)))
        yield from _in_container(rng, data, clock)


def _in_container(rng, data, clock):
    kind = rng.choice(("plain", "plain", "fcs", "erf"))
    if kind != "plain":
        data += build.crc.crc32(data)
    if kind == "erf":
        data = build.erf(data, 2, ts_ns=clock)
    cap = rng.randrange(len(data)) if rng.random() < 0.1 else len(data)
    yield Frame(data[:cap], len(data), ERF if kind == "erf" else 1, 4 if kind == "fcs" else 0, clock)


def _noise(rng, _):
    return rng.randbytes(rng.randrange(24))


def families(frames, scale, seed=""):
    """Name and frames of each family; scale 1 is what the test runs."""
    def of(name):
        return random.Random(SEED + seed + name)

    yield "vectors", list(frames)
    yield "cuts", cuts(frames, of("cuts"), int(6 * scale))
    yield "shortened", shortened(frames, of("shortened"), int(2 * scale))
    yield "mutated", mutated(frames, of("mutated"), int(8 * scale))
    yield "opcodes", opcodes(of("opcodes"), max(1, int(2 * scale)))
    yield "mads", mads(of("mads"), int(300 * scale))
    yield "stacks", vary_stacks.stacks(of("stacks"), int(1500 * scale))
    yield "labels", vary_stacks.labels(of("labels"), int(800 * scale))
    yield "nudged", vary_stacks.nudged(frames, of("nudged"), int(2000 * scale))
    yield "headers", vary_stacks.headers(of("headers"), int(2000 * scale))
    yield "erf", erf_records(of("erf"), int(1000 * scale))
    yield "cooked", cooked(of("cooked"), int(500 * scale))
    yield "trailers", trailers(of("trailers"), int(600 * scale))
    yield "noise", vary_noise.noise(of("noise"), int(4000 * scale), EDGES)
    yield "fcs", checked_frames(of("fcs"), int(400 * scale))
