"""Queue pairs that are set up again and again: what `flows` and the congestion account count, against the hosts' books.

usage: lives.py PROGRAM [--rounds N] [--seed S] [--keep FOLDER]

No set-up is in view. A life begins where the one before it did, or behind where that ended, or far from it, after a silence
that a time-out may last as well; it may end in an error that the responder tells. Of what the fabric loses much is sent
again after a time-out, acknowledged before or not.
"""

import accounts
import ledger
import streams
from ledger import RC, READ, ROCE2_V4, SEND, UC, WRITE
from transport import FETCH_ADD

MS = 10**6
SILENCES_MS = (120, 150, 900, 5_000, 25_000, 40_000)  # from what a queue pair needs to what no time-out takes
TIMEOUT_MS = 300
NEAR = 1 << 16  # PSNs by which a sequence may go back
SETTLED = 100  # PSNs: more than may wait for an answer, so that the first answer of the next life is behind
FATAL = (0x61, 0x62, 0x63)


class End(ledger.End):
    """`errors`: how likely a request fails for good, once both sides have used some PSNs."""

    errors, failed = 0.0, False

    def serve(self, code, psn, above, ask):
        if min(self.expected, self.peer.expected) > SETTLED and self.fabric.rng.random() < self.errors:
            self.failed = True
            self.reply(ledger.ACKNOWLEDGE, psn, self.aeth(self.fabric.rng.choice(FATAL)))
            return
        super().serve(code, psn, above, ask)

    def receive(self, code, psn, above, ask, marked=False):
        if not self.failed:
            super().receive(code, psn, above, ask, marked)

    def may_ask(self):
        return not self.failed and super().may_ask()

    def hear(self, psn, syndrome):
        if syndrome in FATAL:
            self.failed = True
        else:
            super().hear(psn, syndrome)

    def time_out(self, before):
        if not self.failed:
            super().time_out(before)


class Traffic(accounts.Traffic):
    """A capture of some connections, each of several lives."""

    may_find = ("spoof.access-errors",)

    def __init__(self, rng):
        self.rng, self.site = rng, accounts.Site(rng)
        numbered = self.site.family == ROCE2_V4
        self.lost = rng.choice((0.0, 0.0, 0.005, 0.02))
        self.fabric = ledger.Fabric(rng, slowly=1 if numbered else 4000, lost=self.lost, acknowledge=rng.choice((1, 2, 8)),
                                    not_ready=rng.choice((0.0, 0.2)))
        self.fabric.timeout_ns = TIMEOUT_MS * MS // self.fabric.slowly
        self.mtu, self.paused = 1024, accounts.Counter()
        qps = rng.sample(range(0x100, 0x100000), 12)
        lives = rng.randint(2, 5)
        plans = [self.connection(qps.pop(), qps.pop()) for _ in range(rng.randint(1, 3))] + [self.unreliable(qps.pop())]
        self.pairs, blind = [plan[0] for plan in plans[:-1]], plans[-1][0]
        for _ in range(lives):
            for ends, begin in plans:
                begin(ends)
            self.fabric.run()
            self.fabric.now += rng.choice(SILENCES_MS) * MS // self.fabric.slowly
        self.frames = sorted(self.fabric.capture, key=lambda frame: frame.ts_ns)
        self.books = [end.books for pair in self.pairs for end in pair] + [end.books for end in blind]

    def next_psn(self, end):
        """Of the life after this one."""
        rng, used = self.rng, end.side.psn + max(len(getattr(end, "packets", ())), end.sent)
        return rng.choice((end.side.psn, end.side.psn, used - rng.randint(2 * SETTLED, NEAR - 1), used + (1 << 23))) & 0xffffff

    def again(self, end, **more):
        """The same end, set up anew."""
        side = end.side
        anew = ledger.Side(side.family, side.source, side.destination, side.dest_qp, side.port, self.next_psn(end), side.pkey,
                           side.vlan, side.vni)
        made = type(end)(self.fabric, anew, end.service, self.mtu)
        made.books = end.books
        made.books.begin()
        return made

    def connection(self, one, other):
        hosts = self.site.ends()
        vlan, port = self.vlan(hosts[0]), streams.source_port((one, other))
        sides = [self.side(*hosts, other, port, vlan), self.side(*hosts[::-1], one, port, vlan)]
        return [End(self.fabric, side, RC, self.mtu) for side in sides], self.live

    def live(self, pair):
        rng = self.rng
        if pair[0].sent:
            pair[:] = [self.again(end) for end in pair]
        pair[0].peer, pair[1].peer = pair[1], pair[0]
        delay, errors = 0, rng.choice((0.0, 0.02)) if not self.lost else 0.0
        for end in pair:
            end.errors = errors
            self.fabric.after(0, end.post, WRITE, 2 * self.mtu)
        for _ in range(60):
            delay += int(rng.expovariate(1 / 20_000))
            kind = rng.choice((WRITE, WRITE, SEND, SEND, READ, FETCH_ADD))
            size = 8 if kind == FETCH_ADD else rng.randint(1, 12 * self.mtu)
            self.fabric.after(delay, rng.choice(pair).post, kind, size)

    def unreliable(self, dest_qp):
        hosts = self.site.ends()
        return [ledger.Blind(self.fabric, self.side(*hosts, dest_qp, 0xc321, self.vlan(hosts[0])), UC, self.mtu)], self.send

    def send(self, ends):
        if ends[0].sent:
            ends[:] = [self.again(ends[0])]
        for _ in range(self.rng.randint(20, 40)):
            self.fabric.after(self.rng.randrange(MS), ends[0].post, self.rng.choice((SEND, WRITE)), self.rng.randint(1, 4 * self.mtu))


if __name__ == "__main__":
    accounts.run(accounts.parser_of(__doc__, 20), lambda asked, folder: accounts.judge_rounds(asked, folder, Traffic))
