"""Stacks of tunnels, tags and extension headers, to depths beyond every bound."""

import struct

from second import build
from second.bodies import body
from second.frame import Frame


def seed_frame(rng):
    wrap, _ = build.CARRIERS[rng.choice(("v4", "v6", "grh"))]
    size = rng.choice((0, 3, 4, 64, 256))
    return wrap(body(rng, rng.choice((0x00, 0x04, 0x0A, 0x11, 0x0C, 0x13, 0x64, 0x81)), size))


def stacks(rng, count):
    """Random stacks of tunnels and tags, to depths beyond every bound."""
    for _ in range(count):
        frame = seed_frame(rng)
        depth = rng.choice((1, 1, 2, 2, 3, 4, 5, 6, 50))
        for _ in range(depth):
            if rng.random() < 0.35:
                frame = _tagged(rng, frame)
            frame = rng.choice(build.TUNNELS)(frame)
            if rng.random() < 0.1 and len(frame) > 60:
                frame = frame[:rng.randrange(40, len(frame))]
        if len(frame) < 60000:
            data = bytearray(frame)
            if rng.random() < 0.2:
                data[rng.randrange(min(len(data), 300))] ^= 1 << rng.randrange(8)
            cap = rng.randrange(len(data)) if rng.random() < 0.2 else len(data)
            yield Frame(bytes(data[:cap]), len(data) + rng.choice((0, 0, 0, 8)), 1)


def _tagged(rng, frame):
    """VLAN tags, with at most one time stamp among them."""
    count = rng.choice((1, 1, 2, 7, 8, 9, 12))
    stamp = rng.choice((None, None, rng.randrange(count)))
    for place in range(count):
        frame = build.avsp(frame) if place == stamp else build.vlan(frame, rng.choice(build.TPIDS))
    return frame


def labels(rng, count):
    """MPLS stacks, IPv6 extension chains, IPv4 options, RWH, the Mellanox EtherType."""
    for _ in range(count):
        packet = body(rng, rng.choice((0x04, 0x0A, 0x11)), rng.choice((0, 4, 64)))
        kind = rng.randrange(5)
        if kind == 0:
            wrap = build.CARRIERS[rng.choice(("v4", "v4", "v6", "v6", "grh"))][0]
            frame = build.mpls(wrap(packet), rng.choice((1, 2, 7, 8, 9, 20)))
        elif kind == 1:
            frame = _extended_ipv6(rng, packet)
        elif kind == 2:
            frame = build.over_ipv4(packet, rng.randbytes(4 * rng.randrange(11)))
        elif kind == 3:
            frame = build.mellanox_ethertype(rng.choice((b"", b"", b"\x81\0\x60\x64")) + seed_frame(rng))
        else:
            frame = _raw(rng)
        wire = rng.randrange(len(frame)) if rng.random() < 0.1 else len(frame)
        cap = rng.randrange(wire + 1) if rng.random() < 0.2 else wire
        yield Frame(frame[:cap], wire, 247 if kind == 4 else 1)


def _extended_ipv6(rng, packet):
    chain, following = build.udp(packet + bytes(4)), 17
    for _ in range(rng.choice((1, 2, 7, 8, 9, 20))):
        words = rng.choice((0, 0, 1, 2))
        chain = bytes([following, words]) + bytes(6 + 8 * words) + chain
        following = rng.choice((0, 43, 60, 60, 60, 60, 44, 51)) if rng.random() < 0.15 else rng.choice((0, 43, 60))
    return build.ethernet(build.ipv6(chain, following), 0x86DD)


def _raw(rng):
    if rng.random() < 0.7:
        inner = build.CARRIERS[rng.choice(("ib", "ib_grh"))][0](body(rng, 0x04, 4))[:-2]
        mirrored = bytes(2) + rng.choice((b"\x11\x23", b"\x11\x23", b"\x08\x00")) + bytes(4) + inner
        rest = bytes(rng.choice((0, 0, 4)))
        whole = build.lrh(8 + len(mirrored) + len(rest), 0) + mirrored + rest
    else:
        raw = build.ipv6(build.udp(body(rng, 0x04, 4) + bytes(4)))
        whole = build.lrh(8 + len(raw), 1) + raw
    return whole + build.crc.crc16(whole)


def nudged(frames, rng, count):
    """Stacks and plain frames with one 16-bit word a little off: mostly lengths."""
    pool = [frame.data for frame in stacks(rng, count // 4 + 1)] + [frame.data for frame in frames if frame.linktype == 1]
    for _ in range(count):
        data = bytearray(rng.choice(pool))
        at = rng.randrange(12, max(13, min(len(data) - 1, rng.choice((40, 90, 200)))))
        word = int.from_bytes(data[at:at + 2], "big") + rng.choice((-20, -8, -4, -2, -1, 1, 2, 4, 8, 20, 256))
        data[at:at + 2] = (word & 0xFFFF).to_bytes(2, "big")
        cap = rng.randrange(len(data)) if rng.random() < 0.2 else len(data)
        yield Frame(bytes(data[:cap]), len(data), 1)


def headers(rng, count):
    """Tunnel headers with random flags, versions, counts and options."""
    makers = (_gre, _erspan3, _vxlan, _geneve, _tzsp, _sflow)
    for _ in range(count):
        data = rng.choice(makers)(rng, seed_frame(rng))
        cap = rng.randrange(len(data)) if rng.random() < 0.2 else len(data)
        yield Frame(data[:cap], len(data), 1)


def _over_udp(rng, payload, port):
    if rng.random() < 0.3:
        return build.ethernet(build.ipv6(build.udp(payload, port)), 0x86DD)
    return build.ethernet(build.ipv4(build.udp(payload, port)), 0x0800)


def _gre(rng, frame):
    protocol = rng.choice((0x6558, 0x6558, 0x88BE, 0x22EB, 0x8949, 0x0800, 0x86DD, 0x8847, 0x1234))
    flags = rng.choice((0, 0x1000, 0x2000, 0x3000, 0x8000, 0xA000, 0xB000, 0x9000, 0x4000, 1, 0x0800, rng.randrange(65536)))
    inner = frame[14:] if protocol in (0x0800, 0x86DD) else frame
    middle = {0x88BE: bytes.fromhex("1064a807000000ff"), 0x22EB: bytes.fromhex("2064a80700000001000a8000"),
              0x8949: bytes(22)}.get(protocol, b"")
    return build.gre(inner, protocol, flags, middle if flags & 0x1000 or protocol != 0x88BE else b"")


def _erspan3(rng, frame):
    first = rng.choice((0x20,) * 5 + (0x10, 0x30)) << 24 | rng.randrange(1 << 24)
    last = rng.choice((0x8000, 0x8001, 0x0000, 0x8800, 0x0800, rng.randrange(65536)))
    header = struct.pack("!IIHH", first, rng.randrange(1 << 32), 1, last) + (rng.randbytes(8) if last & 1 else b"")
    return build.gre(frame[14:] if last >> 10 & 31 == 2 else frame, 0x22EB, 0x1000, header)


def _vxlan(rng, frame):
    header = bytes([rng.choice((8, 8, 8, 0x0C, 0, 0xFF)), 0, 0, rng.choice((0, 1, 3, 3))]) + rng.randbytes(4)
    return _over_udp(rng, (header + frame)[:rng.choice((9999, 9999, 9999, 7, 8, 21))], rng.choice((4789, 8472, 4790)))


def _geneve(rng, frame):
    words = rng.choice((0, 0, 1, 2, 10, 63))
    stated = words if rng.random() < 0.8 else rng.randrange(64)
    protocol = rng.choice((0x6558, 0x6558, 0x0800, 0x86DD, 0x1234))
    header = struct.pack("!BBHI", rng.choice((0, 0, 0, 0, 0x40)) | stated, rng.choice((0, 0x80, 0x40)), protocol, 0x123400)
    inner = frame[14:] if protocol in (0x0800, 0x86DD) else frame
    return _over_udp(rng, header + rng.randbytes(4 * words) + inner, 6081)


def _tzsp(rng, frame):
    tags = b"".join(rng.choice((b"\0", b"\x29\x02\x01\xf4", b"\x28\x04\0\0\0\x01", bytes([60, 6]) + bytes(6)))
                    for _ in range(rng.choice((0, 1, 2, 5, 254, 255, 256, 300))))
    end = rng.choice((b"\x01", b"\x01", b"\x01", b"", b"\x29\xff"))
    header = bytes([rng.choice((1, 1, 1, 1, 0, 2)), rng.choice((0, 0, 0, 1, 4, 5, 9)), 0, rng.choice((1, 1, 1, 18))])
    return _over_udp(rng, header + tags + end + rng.choice((frame, frame, b"")), 37008)


def _sflow(rng, frame):
    samples = b"".join(_sample(rng, frame) for _ in range(rng.choice((0, 1, 2, 3, 64, 65))))
    samples = samples[:50000]
    count = samples.count(b"SMPL") + rng.choice((0, 0, 0, 0, 1, 5))
    agent = rng.choice((b"\0\0\0\x01" + bytes(4), b"\0\0\0\x02" + bytes(16), b"\0\0\0\x03" + bytes(4)))
    head = b"\0\0\0" + rng.choice(b"\x05\x05\x05\x05\x04").to_bytes(1, "big") + agent + bytes(12)
    return _over_udp(rng, head + struct.pack("!I", count) + samples, 6343)


def _sample(rng, frame):
    kind = rng.choice((1, 1, 1, 3, 3, 2, 4, 5, 0x1001))
    records = [_record(rng, frame) for _ in range(rng.choice((0, 1, 1, 2, 3, 66)))]
    count = len(records) + rng.choice((0, 0, 0, 0, 1))
    words = 8 if kind == 1 else 11
    fixed = b"SMPL" + struct.pack("!%dI" % (words - 2), *range(2, words)) + struct.pack("!I", count)
    sample = (fixed if kind in (1, 3) else b"SMPL") + b"".join(records)
    return struct.pack("!II", kind, len(sample) + rng.choice((0,) * 9 + (1, -4, 4, 400))) + sample


def _record(rng, frame):
    kept = frame[:rng.choice((0, 10, 14, 40, 64, 128, 9999))][:200]
    protocol = rng.choice((1, 1, 1, 1, 11, 12, 13, 18, 2))
    if protocol in (11, 12):
        kept = kept[14:]
    size = len(kept) + rng.choice((0,) * 9 + (1, 4, 1000))
    stripped = rng.choice((0, 4, 4, 4, 8))
    total = rng.choice((len(frame) + stripped,) * 6 + (len(kept), 3, 0, 1))
    raw = struct.pack("!4I", protocol, total, stripped, size) + kept + bytes(-len(kept) % 4)
    return struct.pack("!II", rng.choice((1, 1, 1, 1, 1001)), len(raw) + rng.choice((0,) * 15 + (-4, 4, 400))) + raw
