"""Reliable connections simulated event by event, on a fabric that loses packets itself, with a tap in its middle.

IBA vol. 1, 9.7: a responder takes requests in order, answers them in order, and refuses what lies behind a gap once; a
requester goes back to what was refused, to the first response missing, or, after a time-out, to what nobody answered.
Independent of the program under test.
"""

import heapq
import struct

import streams

ACK, RNR, SEQUENCE_ERROR = 0x00, 0x25, 0x60  # syndromes
WRITE, SEND, READ, FETCH_ADD = "write", "send", "read", "add"
MTU, PATH_NS, GAP_NS, TIMEOUT_NS, NOT_READY_NS = 1024, 1000, 300, 20_000_000, 50_000
WINDOW, QUESTIONS = 64, 8  # PSNs, and READs and ATOMICs, that may wait for an answer
PARTS = {WRITE: (0x06, 0x07, 0x08, 0x0A), SEND: (0x00, 0x01, 0x02, 0x04), "response": (0x0D, 0x0E, 0x0F, 0x10)}


def opcode(kind, index, count):
    first, middle, last, only = PARTS[kind]
    return only if count == 1 else first if index == 0 else last if index == count - 1 else middle


class Fabric:
    """What happens when. Packets are lost before and behind the tap; `capture` has all that came to it.

    `ways_ns`: packets overtake each other by as much on their way to the tap; adapters put them in order again.
    """

    def __init__(self, rng, lost=0.0, not_ready=0.0, acknowledge=8, ways_ns=0):
        self.rng, self.lost, self.not_ready, self.acknowledge, self.ways_ns = rng, lost, not_ready, acknowledge, ways_ns
        self.now, self.capture, self.events, self.number = 1_700_000_000 * 10**9, [], [], 0

    def after(self, delay_ns, call, *arguments):
        self.number += 1
        heapq.heappush(self.events, (self.now + delay_ns, self.number, call, arguments))

    def run(self, until=None):
        while self.events and (until is None or self.events[0][0] <= until):
            at, _, call, arguments = heapq.heappop(self.events)
            self.now = max(self.now, at)
            call(*arguments)

    def carry(self, frame, receiver, packet):
        if self.rng.random() >= self.lost:
            delay_ns = PATH_NS + (self.rng.randrange(self.ways_ns) if self.ways_ns else 0)
            receiver.due = max(receiver.due + 1, self.now + delay_ns + PATH_NS)
            self.after(delay_ns, self.tap, frame, receiver, packet, receiver.due)

    def tap(self, frame, receiver, packet, due):
        frame.ts_ns = self.now
        self.capture.append(frame)
        if self.rng.random() >= self.lost:
            self.after(due - self.now, receiver.receive, *packet)


class End:
    """One queue pair: asks and answers. PSNs count from 0 here and from `side.psn` on the wire."""

    def __init__(self, fabric, side):
        self.fabric, self.side, self.peer, self.alive, self.sent = fabric, side, None, True, 0
        self.due = 0  # the newest packet for it
        self.messages, self.packets, self.questions, self.replies = [], [], [], []
        self.unanswered = self.next = 0  # the oldest request without an answer; the next to send
        self.busy = self.watching = False
        self.seen_gap, self.hold_until = None, 0
        self.expected = self.completed = self.owed = 0  # the peer's next request; its messages; packets to acknowledge
        self.refused = self.pardoned = self.soon = False

    # --- asking

    def post(self, kind, count):
        self.messages.append((kind, count))
        self.wake()

    def wake(self):
        if not self.busy and self.alive:
            self.busy = True
            self.fabric.after(max(GAP_NS, self.hold_until - self.fabric.now if not self.replies else 0), self.work)

    def work(self):
        """One packet: an answer, or else the next request."""
        self.busy = False
        if not self.alive:
            return
        if self.replies:
            self.emit(*self.replies.pop(0))
        elif self.fabric.now < self.hold_until or not self.may_ask():
            if self.fabric.now >= self.hold_until:
                return
        else:
            self.next = self.ask(self.next)
            self.watch()
        self.wake()

    def may_ask(self):
        room = len(self.packets) - self.unanswered < WINDOW and len(self.questions) < QUESTIONS
        if self.next == len(self.packets) and self.messages and room:
            kind, count = self.messages.pop(0)
            if kind in (READ, FETCH_ADD):
                self.questions.append((len(self.packets), count))
            self.packets += [(kind, index, count) for index in range(count)]
        return self.next < len(self.packets)

    def ask(self, psn):
        """Send the request that has this PSN; returns the PSN behind it."""
        kind, index, count = self.packets[psn]
        if kind == READ:
            self.emit(0x0C, psn, struct.pack(">QII", 0x1000 + index * MTU, 7, (count - index) * MTU))
            return psn + count - index
        if kind == FETCH_ADD:
            self.emit(0x14, psn, struct.pack(">QIQQ", 0x1000, 7, 1, 0))
            return psn + 1
        above = struct.pack(">QII", 0x1000, 7, count * MTU) if kind == WRITE and index == 0 else b""
        self.emit(opcode(kind, index, count), psn, above, MTU, index == count - 1)
        return psn + 1

    def emit(self, code, psn, above=b"", payload=0, ask=False):
        answers = code in (*PARTS["response"], streams.ACKNOWLEDGE, 0x12)
        start = self.peer.side.psn if answers else self.side.psn
        frame = self.side.frame(0, code, start + psn & 0xffffff, above, payload, ask)
        self.sent += 1
        frame.data = frame.data[:18] + struct.pack(">H", self.sent & 0xffff) + frame.data[20:]  # IP identification
        frame.end, frame.answers = self, answers
        self.fabric.carry(frame, self.peer, (code, psn, above, ask))

    def watch(self):
        if not self.watching:
            self.watching = True
            self.fabric.after(TIMEOUT_NS, self.time_out, self.unanswered)

    def time_out(self, before):
        self.watching = False
        if self.alive and self.unanswered < len(self.packets):
            if before == self.unanswered:
                self.next = self.unanswered
            self.watch()
            self.wake()

    def answered(self, until):
        """All before `until` is, unless a READ or ATOMIC lies before it: what it still lacks is asked for again, once."""
        open_questions = [max(start, self.unanswered) for start, count in self.questions if start + count > self.unanswered]
        reached = min([until, *open_questions])
        self.advance(reached)
        if reached < until and self.seen_gap != reached:
            self.seen_gap, self.next = reached, reached
        self.wake()
        return reached == until

    def advance(self, until):
        if until > self.unanswered:
            self.unanswered, self.seen_gap = until, None
            self.questions = [(start, count) for start, count in self.questions if start + count > until]
        self.next = max(self.next, self.unanswered)

    # --- answering

    def receive(self, code, psn, above, ask):
        if not self.alive:
            return
        if code == streams.ACKNOWLEDGE:
            self.hear(psn, above[0])
        elif code in (*PARTS["response"], 0x12):
            if psn >= self.unanswered and self.answered(psn):
                self.advance(psn + 1)
        elif psn == self.expected:
            self.serve(code, psn, above, ask)
        elif psn < self.expected:
            self.serve_again(code, psn, above)
        elif not self.refused:
            self.refuse(SEQUENCE_ERROR)

    def hear(self, psn, syndrome):
        if syndrome == ACK:
            self.answered(psn + 1)
        elif psn >= self.unanswered and self.answered(psn):
            self.next = psn
            self.hold_until = self.fabric.now + NOT_READY_NS if syndrome == RNR else 0

    def aeth(self, syndrome=ACK):
        return struct.pack(">I", syndrome << 24 | self.completed & 0xffffff)

    def reply(self, *packet):
        self.replies.append(packet)
        self.wake()

    def refuse(self, syndrome):
        self.refused, self.owed = True, 0
        self.reply(streams.ACKNOWLEDGE, self.expected, self.aeth(syndrome))

    def responses_to(self, above):
        """How many a READ with this RETH has."""
        return struct.unpack_from(">I", above, 12)[0] // MTU

    def respond(self, code, psn, above):
        if code == 0x14:
            self.reply(0x12, psn, self.aeth() + bytes(8))
            return
        count = self.responses_to(above)
        for index in range(count):
            part = opcode("response", index, count)
            self.reply(part, psn + index, b"" if part == 0x0E else self.aeth(), MTU)

    def serve(self, code, psn, above, ask):
        if code in (0x00, 0x04) and not self.pardoned and self.fabric.rng.random() < self.fabric.not_ready:
            self.pardoned = True
            self.refuse(RNR)
            return
        self.refused = self.pardoned = False
        self.expected += self.responses_to(above) if code == 0x0C else 1
        self.completed += code not in (0x00, 0x01, 0x06, 0x07)
        if code in (0x0C, 0x14):
            self.owed = 0
            self.respond(code, psn, above)
            return
        self.owed += 1
        if self.owed >= 4 * self.fabric.acknowledge:
            self.acknowledge()
        elif ask and not self.soon:
            self.soon = True
            self.fabric.after(3000, self.acknowledge)

    def serve_again(self, code, psn, above):
        if code in (0x0C, 0x14):
            self.respond(code, psn, above)
        else:
            self.owed = 1
            self.acknowledge()

    def acknowledge(self):
        self.soon = False
        if self.owed and self.alive:
            self.owed = 0
            self.reply(streams.ACKNOWLEDGE, self.expected - 1, self.aeth())


class Connection:
    """Two ends that send each other messages at random times; by `any_port` from source ports that say nothing."""

    def __init__(self, fabric, hosts=None, qps=None, psns=None, any_port=False):
        rng = fabric.rng
        hosts, qps = hosts or rng.sample(range(1, 9), 2), qps or rng.sample(range(0x100, 0x100000), 2)
        psns = psns or [rng.getrandbits(24) for _ in hosts]
        ports = [0xc000 | rng.getrandbits(14) if any_port else streams.source_port(qps) for _ in hosts]
        self.fabric = fabric
        self.ends = [End(fabric, streams.Side(hosts[i], hosts[1 - i], qps[1 - i], ports[i], psns[i])) for i in (0, 1)]
        self.ends[0].peer, self.ends[1].peer = self.ends[1], self.ends[0]

    def chat(self, messages, questions=0.2, longest=12):
        """Posts them; returns when the last one will be."""
        rng, delay = self.fabric.rng, 0
        for _ in range(messages):
            delay += int(rng.expovariate(1 / 100_000))
            kind = rng.choice((READ, READ, READ, FETCH_ADD) if rng.random() < questions else (WRITE, SEND))
            self.fabric.after(delay, rng.choice(self.ends).post, kind, 1 if kind == FETCH_ADD else rng.randint(1, longest))
        return self.fabric.now + delay

    def end(self):
        for end in self.ends:
            end.alive = False


class Datagrams:
    """UD from one host to another, at random times; nobody answers."""

    def __init__(self, fabric, packets, every_ns):
        self.fabric, self.due = fabric, 0
        self.side = streams.Side(*fabric.rng.sample(range(1, 9), 2), fabric.rng.randrange(0x100, 0x100000), 0xc123, 0)
        delay = 0.0
        for psn in range(packets):
            delay += fabric.rng.expovariate(1 / every_ns)
            fabric.after(int(delay), self.send, psn)

    def send(self, psn):
        self.fabric.carry(self.side.frame(0, 0x64, psn, struct.pack(">II", 0x11, self.side.dest_qp), 256), self, ())

    def receive(self):
        pass


class Unanswered(Datagrams):
    """UC, WRITEs of one packet: numbered, and nobody answers either."""

    def send(self, psn):
        reth = struct.pack(">QII", 0x1000, 7, 256)
        self.fabric.carry(self.side.frame(0, 0x2A, psn, reth, 256), self, ())
