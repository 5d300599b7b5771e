"""Random bytes, with just enough of a header to be let in."""

from second.frame import Frame

ETHERTYPES = (b"\x08\0", b"\x86\xdd", b"\x89\x15", b"\x81\0", b"\x88\x47", b"\xd2\x8b", b"\x88\x08", b"\x89\x49")
PORTS = (4791, 4789, 4790, 6081, 37008, 6343)
ETHERTYPE_AT = {1: 12, 113: 14, 276: 0}


def noise(rng, count, edges):
    for _ in range(count):
        linktype = rng.choice((1, 1, 113, 276, 197, 247))
        data = bytearray(rng.choice(edges) if rng.random() < 0.4 else byte for byte in rng.randbytes(rng.randrange(160)))
        if linktype in ETHERTYPE_AT:
            _put(data, ETHERTYPE_AT[linktype], rng.choice(ETHERTYPES))
        _ADMITTED.get(linktype, _cooked)(rng, data)
        cap = rng.randrange(len(data) + 1) if rng.random() < 0.2 else len(data)
        yield Frame(bytes(data[:cap]), len(data), linktype)


def _put(data, at, value):
    if len(data) >= at + len(value):
        data[at:at + len(value)] = value


def _cooked(_rng, _data):
    """An EtherType is enough."""


def _ethernet(rng, data):
    if data[12:14] != b"\x08\0":
        return
    _put(data, 14, rng.choice((b"\x45", b"\x45", b"\x46")))
    _put(data, 16, max(0, len(data) - 14).to_bytes(2, "big"))
    _put(data, 20, rng.choice((b"\0\0", b"\x40\0")))
    _put(data, 23, bytes([rng.choice((17, 17, 47, 47, 6))]))
    if data[23:24] == b"\x11":
        _put(data, 36, rng.choice(PORTS).to_bytes(2, "big"))
        _put(data, 38, max(0, len(data) - 34).to_bytes(2, "big"))


def _erf(rng, data):
    _put(data, 8, bytes([rng.choice((2, 21, 22, 23, 25, 0x95, 0x82))]))
    _put(data, 10, rng.choice((len(data), len(data) + 8, 16, 24)).to_bytes(2, "big"))


def _infiniband(rng, data):
    _put(data, 0, bytes([rng.randrange(16) << 4]))
    _put(data, 4, rng.choice((len(data) // 4, len(data) // 4, 6, 16)).to_bytes(2, "big"))


_ADMITTED = {1: _ethernet, 197: _erf, 247: _infiniband}
