"""Connections of tenants that keep books of what passes the tap: what `fabtap flows` and the congestion account must say.

The books are kept from what the ends do (transport.py) and from what the contract says of it, never from frames. Packets are
cut behind their headers, as a mirror with short slices would: ICRCs stay unknown.
"""

import struct
from collections import Counter

import streams
import transport
import wire
from transport import READ, SEND, WRITE

ROCE2_V4, ROCE2_V6, ROCE1, NATIVE = "RoCEv2 IPv4", "RoCEv2 IPv6", "RoCEv1", "InfiniBand"
RC, XRC, UC, UD = 0x00, 0xa0, 0x20, 0x60
ACKNOWLEDGE, CNP = 0x11, 0x81
CNP_EVERY_NS = 5000
EARLY = 4  # PSNs of a half-connection
UNMET = 16  # likewise, where no source port tells which halves belong together: until PSNs do
SWAP = "swap"
NAKS = {0x60: "psn_sequence_error", 0x61: "invalid_request", 0x62: "remote_access_error", 0x63: "remote_operational_error",
        0x64: "invalid_rd_request"}
# the last packet of a message: First and Middle have one form each
TAILS = {SEND: {"": (0x02, 0x04, b""), "_IMMEDIATE": (0x03, 0x05, wire.IMMEDIATE), "_INVALIDATE": (0x16, 0x17, b"KEY4")},
         WRITE: {"": (0x08, 0x0a, b""), "_IMMEDIATE": (0x09, 0x0b, wire.IMMEDIATE)}}
NAMES = {0x00: "SEND_FIRST", 0x01: "SEND_MIDDLE", 0x02: "SEND_LAST", 0x03: "SEND_LAST_IMM", 0x04: "SEND_ONLY",
         0x05: "SEND_ONLY_IMM", 0x06: "RDMA_WRITE_FIRST", 0x07: "RDMA_WRITE_MIDDLE", 0x08: "RDMA_WRITE_LAST",
         0x09: "RDMA_WRITE_LAST_IMM", 0x0a: "RDMA_WRITE_ONLY", 0x0b: "RDMA_WRITE_ONLY_IMM",
         0x0c: "RDMA_READ_REQUEST", 0x0d: "RDMA_READ_RESPONSE_FIRST", 0x0e: "RDMA_READ_RESPONSE_MIDDLE",
         0x0f: "RDMA_READ_RESPONSE_LAST", 0x10: "RDMA_READ_RESPONSE_ONLY", 0x11: "ACKNOWLEDGE", 0x12: "ATOMIC_ACKNOWLEDGE",
         0x13: "COMPARE_SWAP", 0x14: "FETCH_ADD", 0x16: "SEND_LAST_INV", 0x17: "SEND_ONLY_INV"}
SERVICES = {RC: "RC", XRC: "XRC", UC: "UC", UD: "UD"}
RESPONSES = (0x0d, 0x0e, 0x0f, 0x10, 0x12)
LAST_RESPONSES = (0x0f, 0x10, 0x12)
MESSAGE_ENDS = {code: kind for kind, tails in TAILS.items() for last, only, _ in tails.values() for code in (last, only)}


class Host:
    """A port of a tenant; `number` is unique among all that one capture shows."""

    def __init__(self, tenant, number, address=None):
        self.tenant, self.number = tenant, number
        self.address = number if address is None else address  # two tenants may use the same one
        self.mac = b"\x02\0\0\0" + number.to_bytes(2, "big")

    def ip(self, version):
        low = self.tenant.number << 8 | self.address if self.tenant.addressed else self.address
        return (0xffff << 32 | 10 << 24 | low) if version == 4 else (0xfd00 << 112 | low)

    def text(self, family):
        if family == NATIVE:
            return "lid:%d" % self.number
        low = self.ip(6) & 0xffff
        return "10.0.%d.%d" % (low >> 8, low & 255) if family == ROCE2_V4 else "fd00::%x" % low


class Tenant:
    """`vlan`, `vni`: what it is told by; `addressed`: its addresses are its own."""

    def __init__(self, name, number, vlan=None, vni=None, addressed=True):
        self.name, self.number, self.vlan, self.vni, self.addressed = name, number, vlan, vni, addressed


class Side:
    """What one end sends: streams.Side in every family, with tags and marks."""

    def __init__(self, family, source, destination, dest_qp, port, psn, pkey=0xffff, vlan=None, vni=None):
        self.family, self.source, self.destination = family, source, destination
        self.dest_qp, self.port, self.psn, self.pkey, self.vlan, self.vni = dest_qp, port, psn, pkey, vlan, vni

    def frame(self, opcode, psn, above, payload, ask, marked, ident):
        pad = -payload % 4
        bth = struct.pack(">BBHII", opcode, 0x40 | pad << 4, self.pkey, self.dest_qp | (opcode == CNP) << 30,
                          psn & 0xffffff | ask << 31)
        size = 12 + len(above) + payload + pad + 4
        if marked and self.family in (NATIVE, ROCE1):
            bth = bth[:4] + bytes([bth[4] | 0x80]) + bth[5:]  # FECN: there is no IP header
        if self.family == NATIVE:
            lrh = struct.pack(">BBHHH", 0, 2, self.destination.number, (8 + size) // 4, self.source.number)
            return lrh + bth + above, 8 + size + 2
        header, kind = self.network(size, marked, ident)
        tags = [(0x8100, self.vlan)] if self.vlan else []
        frame, _ = wire.ethernet(int.from_bytes(self.source.mac, "big"), int.from_bytes(self.destination.mac, "big"), tags, kind,
                                 header + bth + above)
        return (frame, len(frame) + size - 12 - len(above)) if self.vni is None else self.tunnel(frame, size - 12 - len(above))

    def is_joined_by_port(self):
        return self.family in (ROCE2_V4, ROCE2_V6)

    def network(self, size, marked, ident):
        udp, ecn = struct.pack(">HHHH", self.port, streams.ROCE_PORT, 8 + size, 0), 3 if marked else 2
        if self.family == ROCE2_V4:
            ends = [struct.pack(">I", end.ip(4) & 0xffffffff) for end in (self.source, self.destination)]
            ip = struct.pack(">BBHHHBBH", 0x45, ecn, 28 + size, ident & 0xffff, 0x4000, 64, 17, 0) + b"".join(ends)
            return ip[:10] + struct.pack(">H", wire.ones_complement(ip)) + ip[12:] + udp, 0x0800
        ends = self.source.ip(6).to_bytes(16, "big") + self.destination.ip(6).to_bytes(16, "big")
        if self.family == ROCE2_V6:
            return struct.pack(">IHBB", 6 << 28 | ecn << 20, 8 + size, 17, 64) + ends + udp, 0x86dd
        return struct.pack(">IHBB", 6 << 28, size, 0x1b, 64) + ends, 0x8915

    def tunnel(self, frame, unseen):
        """VXLAN between two switches."""
        size = 20 + 8 + 8 + len(frame) + unseen
        ip = struct.pack(">BBHHHBBHII", 0x45, 2, size, 0, 0x4000, 64, 17, 0, 0xac100001, 0xac100002)
        ip = ip[:10] + struct.pack(">H", wire.ones_complement(ip)) + ip[12:]
        udp = struct.pack(">HHHHII", 0xd00d, 4789, size - 20, 0, 0x08000000, self.vni << 8)
        whole, _ = wire.ethernet(0x02ff00000001, 0x02ff00000002, [], 0x0800, ip + udp + frame)
        return whole, 14 + size


class Books:
    """Of a half-connection: what one end sends to the other's queue pair."""

    def __init__(self, side, service):
        self.side, self.service = side, service
        self.times, self.psns, self.opcodes, self.naks = [], [], Counter(), Counter()
        self.bytes = self.payload = self.acks = self.rnr_naks = self.ce_marked = self.cnps = 0
        self.again = self.fabric_lost = self.reordered = 0
        self.sizes = {"send": [], "write": [], "read": [], "atomic": []}
        self.rtts = []  # of its requests
        self.begin()

    def begin(self):
        """A queue pair that is set up: PSNs and messages are counted anew."""
        self.asked, self.next = set(), None  # PSNs of requests that passed, and the one behind the newest
        self.responded, self.answered = set(), None  # likewise of responses; the newest PSN answered for
        self.ended, self.timed = set(), None

    def packet(self, ts_ns, wire_bytes, name, psn, payload, marked):
        self.times.append(ts_ns)
        self.psns.append(psn)
        self.opcodes[name] += 1
        self.bytes += wire_bytes
        self.payload += payload
        self.ce_marked += marked

    def request(self, ts_ns, psn, count, timed, once):
        """One that uses `count` PSNs; `timed`: it asks for an answer; `once`: it was not sent before."""
        if self.next is None:
            self.first = psn
        if self.next is None or psn >= self.next:
            if timed and self.timed is None:
                self.timed = (psn, ts_ns)
            self.next = psn + count
        else:
            self.again += psn in self.asked
            self.fabric_lost += psn not in self.asked and not once
            self.reordered += psn not in self.asked and once
            if self.timed is not None and psn <= self.timed[0]:
                self.timed = None
        self.asked.update(range(psn, psn + count))

    def response(self, psn, once):
        overtaken = self.answered is not None and psn <= self.answered
        self.again += psn in self.responded
        self.fabric_lost += psn not in self.responded and overtaken and not once
        self.reordered += psn not in self.responded and overtaken and once
        self.responded.add(psn)

    def answers(self, asker, ts_ns, psn, delivered, refused):
        """`asker`: the books of the half that asked; all up to `delivered` was."""
        self.answered = delivered if self.answered is None else max(self.answered, delivered)
        if not refused and asker.timed is not None and psn >= asker.timed[0]:
            asker.rtts.append(ts_ns - asker.timed[1])
            asker.timed = None

    def complete(self, kind, size, psn, count):
        """A message of so many packets, the first time that its end passes; its size is None if it cannot be told."""
        if psn not in self.ended:
            self.ended.add(psn)
            self.sizes[kind].append(None if kind in ("send", "write") and self.is_blurred(kind, psn, count) else size)

    def known_sizes(self):
        return [size for sizes in self.sizes.values() for size in sizes if size is not None]

    def is_blurred(self, kind, psn, count):
        """Two neighbours are missing that may be the end of a message and the beginning of this one."""
        begin = psn - count + 1
        if kind == "write" and begin in self.asked:
            return False  # its RETH has the length
        pairs = ((at, at + 1) for at in range(max(begin - 1, self.first), psn - 1))
        return any(one not in self.asked and two not in self.asked for one, two in pairs)


class Frame:
    def __init__(self, data, wire_bytes, note=None, early=False):
        self.data, self.wire, self.note, self.early, self.ts_ns = data, wire_bytes, note, early, 0


class Fabric(transport.Fabric):
    """`marks`: the share of packets that meet congestion; `slowly`: times are so many times as long at the tap, but time-outs."""

    def __init__(self, rng, marks=0.0, slowly=1, **habits):
        super().__init__(rng, **habits)
        self.marks, self.slowly, self.start = marks, slowly, self.now
        self.timeout_ns = transport.TIMEOUT_NS if slowly == 1 else transport.TIMEOUT_NS // 100
        self.last_marked, self.caused, self.told = {}, Counter(), Counter()

    def carry(self, frame, receiver, packet):
        """What a half sends first is not lost on its way to the tap, nor late: that it was sent before would not be known."""
        habits = self.lost, self.ways_ns
        if frame.early:
            self.lost = self.ways_ns = 0
        super().carry(frame, receiver, packet)
        self.lost, self.ways_ns = habits

    def tap(self, frame, receiver, packet, due):
        super().tap(frame, receiver, packet, due)
        frame.ts_ns = self.start + (self.now - self.start) * self.slowly
        frame.note(frame)

    def see_mark(self, sender, receiver):
        self.last_marked[receiver] = sender.tenant

    def see_cnp(self, sender, told):
        self.told[told.tenant] += 1
        self.caused[self.last_marked.get(sender, told.tenant)] += 1


class End(transport.End):
    def __init__(self, fabric, side, service, mtu):
        super().__init__(fabric, side)
        self.service, self.mtu, self.books = service, mtu, Books(side, service)
        self.emitted = set()
        self.bodies = {}  # first PSN: (kind, size, tail)
        self.told_ns = self.asked_ns = -CNP_EVERY_NS

    def watch(self):
        if not self.watching:
            self.watching = True
            self.fabric.after(max(1, self.asked_ns + self.fabric.timeout_ns - self.fabric.now), self.time_out, self.unanswered)

    def time_out(self, before):
        """Counted from the newest request."""
        if self.fabric.now - self.asked_ns < self.fabric.timeout_ns:
            before = None
        else:
            self.asked_ns = self.fabric.now
        super().time_out(before)

    def packets_of(self, size):
        return max(1, -(-size // self.mtu))

    def may_ask(self):
        room = len(self.packets) - self.unanswered < transport.WINDOW and len(self.questions) < transport.QUESTIONS
        if self.next == len(self.packets) and self.messages and room:
            kind, size = self.messages.pop(0)
            tails = TAILS.get(kind)
            count = self.packets_of(size)
            self.bodies[len(self.packets)] = (kind, size, self.fabric.rng.choice(sorted(tails)) if tails else None)
            if tails is None:
                self.questions.append((len(self.packets), count))
            self.packets += [(kind, index, count) for index in range(count)]
        return self.next < len(self.packets)

    def ask(self, psn):
        _, index, count = self.packets[psn]
        kind, size, tail = self.bodies[psn - index]
        self.asked_ns = self.fabric.now
        if kind == READ:
            self.emit(0x0c, psn, struct.pack(">QII", 0x1000 + index * self.mtu, 7, size - index * self.mtu), ask=True)
            return psn + count - index
        if kind in (transport.FETCH_ADD, SWAP):
            self.emit(0x14 if kind == transport.FETCH_ADD else 0x13, psn, struct.pack(">QIQQ", 0x1000, 7, 1, 0), ask=True)
            return psn + 1
        last, only, more = TAILS[kind][tail]
        ends = index == count - 1
        code = only if count == 1 else last if ends else transport.PARTS[kind][0 if index == 0 else 1]
        above = struct.pack(">QII", 0x1000, 7, size) if kind == WRITE and index == 0 else b""
        self.emit(code, psn, above + (more if ends else b""), size - index * self.mtu if ends else self.mtu,
                  ends or self.fabric.rng.random() < 0.1)
        return psn + 1

    def emit(self, code, psn, above=b"", payload=0, ask=False):
        answers = code in RESPONSES or code == ACKNOWLEDGE
        start = self.peer.side.psn if answers else self.side.psn
        marked = code != CNP and self.fabric.rng.random() < self.fabric.marks
        xrceth = bytes(4) if self.service == XRC and not answers and code != CNP else b""
        self.sent += 1
        once = (answers, psn) not in self.emitted
        self.emitted.add((answers, psn))
        number = 0 if code == CNP else start + psn & 0xffffff
        opcode = code if code == CNP else self.service | code
        data, wire_bytes = self.side.frame(opcode, number, xrceth + above, payload, ask, marked, self.sent)
        facts = (code, psn, above, payload, ask, once)

        def note(frame):
            self.note(frame, marked, number, *facts)
        early = EARLY if self.side.is_joined_by_port() else UNMET
        self.fabric.carry(Frame(data, wire_bytes, note, psn < early), self.peer, (code, psn, above, ask, marked))

    # --- the books

    def note(self, frame, marked, number, code, psn, above, payload, ask, once):
        books, asker = self.books, self.peer.books
        name = "CNP" if code == CNP else "%s_%s" % (SERVICES[self.service], NAMES[code])
        books.packet(frame.ts_ns, frame.wire, name, number, payload, marked)
        if marked:
            self.fabric.see_mark(self.side.source, self.side.destination)
        if code == CNP:
            books.cnps += 1
            self.fabric.see_cnp(self.side.source, self.side.destination)
        elif code == ACKNOWLEDGE:
            refused = above[0] == 0x60 or above[0] >> 5 == 1
            books.acks += above[0] >> 5 == 0
            books.rnr_naks += above[0] >> 5 == 1
            if above[0] in NAKS:
                books.naks[NAKS[above[0]]] += 1
            books.answers(asker, frame.ts_ns, psn, psn - refused, refused)
        elif code in RESPONSES:
            books.response(psn, once)
            books.answers(asker, frame.ts_ns, psn, psn, False)
            if code in LAST_RESPONSES:
                self.peer.note_end(psn)
        else:
            kind, index, count = self.packets[psn]
            books.request(frame.ts_ns, psn, count - index if kind == READ else 1, ask, once)
            if code in MESSAGE_ENDS:
                self.note_end(psn)

    def note_end(self, psn):
        _, index, count = self.packets[psn]
        kind, size, _ = self.bodies[psn - index]
        names = {SEND: "send", WRITE: "write", READ: "read"}
        self.books.complete(names.get(kind, "atomic"), size, psn, count)

    # --- answering

    def receive(self, code, psn, above, ask, marked=False):
        if marked and self.fabric.now - self.told_ns >= CNP_EVERY_NS and self.fabric.rng.random() < 0.7:
            self.told_ns = self.fabric.now
            self.fabric.after(300, self.emit, CNP, 0, b"", 16)
        if code == CNP:
            return
        if code == 0x13:
            code = 0x14
        super().receive(code, psn, above, ask)

    def respond(self, code, psn, above):
        if code == 0x14:
            self.reply(0x12, psn, self.aeth() + bytes(8))
            return
        size, count = struct.unpack_from(">I", above, 12)[0], self.responses_to(above)
        for index in range(count):
            part = transport.opcode("response", index, count)
            self.reply(part, psn + index, b"" if part == 0x0e else self.aeth(), min(self.mtu, size - index * self.mtu))

    def responses_to(self, above):
        return self.packets_of(struct.unpack_from(">I", above, 12)[0])


class Blind:
    """UC or UD: nobody answers, and here nothing is lost."""

    def __init__(self, fabric, side, service, mtu):
        self.fabric, self.side, self.service, self.mtu, self.books = fabric, side, service, mtu, Books(side, service)
        self.sent, self.due, self.deth = 0, 0, struct.pack(">II", 0x11, fabric.rng.randrange(2, 0x1000))

    def post(self, kind, size):
        count = 1 if self.service == UD else max(1, -(-size // self.mtu))
        for index in range(count):
            last, only, more = TAILS[kind][""]
            ends = index == count - 1
            code = only if count == 1 else last if ends else transport.PARTS[kind][0 if index == 0 else 1]
            above = self.deth if self.service == UD else b""
            if kind == WRITE and index == 0:
                above = struct.pack(">QII", 0x1000, 7, size)
            self.emit(code, above + more, size - index * self.mtu if ends else self.mtu)
        self.books.sizes[kind].append(size)

    def emit(self, code, above, payload):
        marked, psn = self.fabric.rng.random() < self.fabric.marks, self.side.psn + self.sent & 0xffffff
        self.sent += 1
        data, wire_bytes = self.side.frame(self.service | code, psn, above, payload, False, marked, self.sent)

        def note(frame):
            self.books.packet(frame.ts_ns, frame.wire, "%s_%s" % (SERVICES[self.service], NAMES[code]), psn, payload, marked)
            if marked:
                self.fabric.see_mark(self.side.source, self.side.destination)
        self.due = max(self.due + 1, self.fabric.now + transport.PATH_NS)
        self.fabric.after(self.due - self.fabric.now, self.fabric.tap, Frame(data, wire_bytes, note), self, (), self.due)

    def receive(self):
        pass
