"""WRITEs and READs of connections whose requests go on while responses are due. Every second message is a READ."""

import random

import roce

START_NS, MTU = 1_700_000_000_000_000_000, 1024
RESPONSE_AFTER_NS = 12_000


class Connection:
    """`frames`: (time in ns, frame, whether the side that was asked sent it)."""

    def __init__(self, rng, number):
        there, back = "10.0.0.%d" % (number + 1), "10.0.1.%d" % (number + 1)
        self.rng, self.frames = rng, []
        self.asks = roce.Half(there, back, 0x2000 + number, port=0xc000 + number, psn=rng.randrange(1 << 24))
        self.answers = roce.Half(back, there, 0x100 + number, port=0xd000 + number)
        self.now = self.due = START_NS + rng.randrange(1_000_000)

    def ask(self, frame):
        self.now += self.rng.randrange(600, 1500)
        self.frames.append((self.now, frame, False))

    def answer(self, frame):
        self.due = max(self.due + 400, self.now + RESPONSE_AFTER_NS)
        self.frames.append((self.due, frame, True))

    def post(self, number):
        packets = self.rng.choice((1, 2, 3, 8, 20))
        psn, self.asks.psn = self.asks.psn, self.asks.psn + packets
        if number % 2:
            self.ask(self.asks.read(psn, 0x10000, packets * MTU))
            for i in range(packets):
                part = "only" if packets == 1 else "first" if i == 0 else "last" if i == packets - 1 else "middle"
                self.answer(self.answers.response(psn + i, part, bytes(MTU), ident=psn + i & 0xffff))
        else:
            for i in range(packets):
                self.ask(self.asks.write(psn + i, ask=i == packets - 1, ident=psn + i & 0xffff))
            self.answer(self.answers.answer(psn + packets - 1, ident=psn & 0xffff))


def connections(seed, count, messages):
    """The frames of all, by time."""
    rng, frames = random.Random(seed), []
    for number in range(count):
        connection = Connection(rng, number)
        for message in range(messages):
            connection.post(message)
        frames += connection.frames
    return sorted(frames, key=lambda frame: frame[0])
