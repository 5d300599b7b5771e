"""BTHs and what follows them: most often legal, now and then not."""

from second import build
from second.opcodes import OPCODES, SIZES


def body(rng, opcode, size):
    """A BTH and what may follow it; most often the fields obey the rules."""
    known = OPCODES.get(opcode)
    pad = rng.choice((-size % 4, -size % 4, -size % 4, rng.randrange(4)))
    headers = bytearray(rng.randbytes(known.size if known else 0))
    if known and "reth" in known.headers:
        at = headers_before(known, "reth")
        length = rng.choice((size, size, size + 1, 0, 1 << 31, (1 << 31) + 1, 0xFFFFFFFF))
        headers[at + 12:at + 16] = length.to_bytes(4, "big")
    if known and "atomiceth" in known.headers and rng.random() < 0.7:
        headers[headers_before(known, "atomiceth") + 7] &= 0xF8
    qp = rng.choice((0x1234, 0x1234, 0x1234, 0, 1, 1, 0xFFFFFF))
    if known and "deth" in known.headers and qp == 1 and rng.random() < 0.7:
        at = headers_before(known, "deth")
        headers[at:at + 4] = bytes.fromhex("80010000")
    payload = bytes([rng.choice((1, 1, 1, 2))]) + rng.randbytes(size - 1) if size else b""
    fill = bytes(pad) if rng.random() < 0.8 else rng.randbytes(pad)
    front = build.bth(opcode, pad, rng.choice((0,) * 12 + (1, 15)), rng.choice((0xFFFF,) * 8 + (0x8001, 0x8000, 0)),
                      qp, flags=rng.choice((0x40, 0xC0, 0)), marks=rng.choice((0, 0, 0, 0x40, 0x80, 0x10)))
    keep = len(headers) if rng.random() < 0.93 else rng.randrange(len(headers) + 1)
    return front + bytes(headers[:keep]) + (payload + fill if keep == len(headers) else b"")


def headers_before(opcode, name):
    return sum(SIZES[header] for header in opcode.headers[:opcode.headers.index(name)])
