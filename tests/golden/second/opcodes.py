"""Opcodes: names, headers after the BTH, payload rule."""

NONE, FULL, SOME, ANY, EIGHT = "none", "full", "some", "any", "eight"
SIZES = {"rdeth": 4, "deth": 8, "xrceth": 4, "reth": 16, "atomiceth": 28, "aeth": 4, "atomicack": 8, "immdt": 4,
         "ieth": 4, "feth": 4}

# low five bits: name, headers in RC, payload rule, transports that have it
_OPERATIONS = {
    0x00: ("SEND_FIRST", "", FULL, "RC UC RD XRC"),
    0x01: ("SEND_MIDDLE", "", FULL, "RC UC RD XRC"),
    0x02: ("SEND_LAST", "", SOME, "RC UC RD XRC"),
    0x03: ("SEND_LAST_IMM", "immdt", SOME, "RC UC RD XRC"),
    0x04: ("SEND_ONLY", "", ANY, "RC UC RD UD XRC"),
    0x05: ("SEND_ONLY_IMM", "immdt", ANY, "RC UC RD UD XRC"),
    0x06: ("RDMA_WRITE_FIRST", "reth", FULL, "RC UC RD XRC"),
    0x07: ("RDMA_WRITE_MIDDLE", "", FULL, "RC UC RD XRC"),
    0x08: ("RDMA_WRITE_LAST", "", SOME, "RC UC RD XRC"),
    0x09: ("RDMA_WRITE_LAST_IMM", "immdt", SOME, "RC UC RD XRC"),
    0x0A: ("RDMA_WRITE_ONLY", "reth", ANY, "RC UC RD XRC"),
    0x0B: ("RDMA_WRITE_ONLY_IMM", "reth immdt", ANY, "RC UC RD XRC"),
    0x0C: ("RDMA_READ_REQUEST", "reth", NONE, "RC RD XRC"),
    0x0D: ("RDMA_READ_RESPONSE_FIRST", "aeth", FULL, "RC RD XRC"),
    0x0E: ("RDMA_READ_RESPONSE_MIDDLE", "", FULL, "RC RD XRC"),
    0x0F: ("RDMA_READ_RESPONSE_LAST", "aeth", SOME, "RC RD XRC"),
    0x10: ("RDMA_READ_RESPONSE_ONLY", "aeth", ANY, "RC RD XRC"),
    0x11: ("ACKNOWLEDGE", "aeth", NONE, "RC RD XRC"),
    0x12: ("ATOMIC_ACKNOWLEDGE", "aeth atomicack", NONE, "RC RD XRC"),
    0x13: ("COMPARE_SWAP", "atomiceth", NONE, "RC RD XRC"),
    0x14: ("FETCH_ADD", "atomiceth", NONE, "RC RD XRC"),
    0x15: ("RESYNC", "", NONE, "RD"),
    0x16: ("SEND_LAST_INV", "ieth", SOME, "RC XRC"),
    0x17: ("SEND_ONLY_INV", "ieth", ANY, "RC XRC"),
    0x1C: ("FLUSH", "feth reth", NONE, "RC RD XRC"),
    0x1D: ("ATOMIC_WRITE", "reth", EIGHT, "RC XRC"),
}
_TRANSPORTS = {0: "RC", 1: "UC", 2: "RD", 3: "UD", 5: "XRC"}
_RESPONSES = range(0x0D, 0x13)


class Opcode:
    def __init__(self, name, transport, headers, payload):
        self.name, self.transport, self.headers, self.payload = name, transport, headers, payload
        self.size = sum(SIZES[header] for header in headers)


def _first_headers(transport, operation):
    if transport == "RD":
        return ["rdeth"] if operation in _RESPONSES or operation == 0x1C else ["rdeth", "deth"]
    if transport == "UD":
        return ["deth"]
    return ["xrceth"] if transport == "XRC" and operation not in _RESPONSES else []


def _all():
    table = {0x81: Opcode("CNP", "CNP", [], ANY)}
    for prefix, transport in _TRANSPORTS.items():
        for operation, (name, headers, payload, having) in _OPERATIONS.items():
            if transport in having.split():
                table[prefix << 5 | operation] = Opcode(
                    transport + "_" + name, transport, _first_headers(transport, operation) + headers.split(), payload)
    return table


OPCODES = _all()
