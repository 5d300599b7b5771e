"""NAKs by kind: connections that end with one, and come again on the same queue pairs, against counts of what was sent.

usage: refusals.py PROGRAM [--rounds N] [--seed S] [--keep FOLDER]

Nothing is lost and nothing is out of order, so `flows` may say nothing of either, and `audit` has nothing to report.
"""

import json
import random
import sys
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "e2e"))

import accounts
import roce
from ledger import NAKS

US, MS, SECOND = 10**3, 10**6, 10**9
ASKER, ANSWERER = "10.1.0.1", "10.1.0.2"
FATAL = (0x61, 0x62, 0x63)
QUIET = ("mirror_lost", "gaps_open", "fabric_lost", "reordered")


class Refused:
    def __init__(self, rng):
        self.rng, self.now, self.frames, self.sent = rng, SECOND * 1_700_000_000, [], 0
        self.naks, self.counts = Counter(), Counter()
        for far in rng.sample(range(128), rng.randint(1, 4)):  # those that begin nearer are in lives.py
            self.live(far << 17 | rng.getrandbits(12))
            self.now += rng.choice((200 * MS, SECOND, 20 * SECOND))

    def pass_by(self, delay, frame, **how):
        self.now += delay
        self.sent += 1
        self.frames.append((self.now, frame(ident=self.sent & 0xffff, **how)))

    def live(self, first):
        """WRITEs, each answered, some only after their receiver was ready; the last ones may be refused for good."""
        rng, asks, answers = self.rng, roce.Half(ASKER, ANSWERER, 0x22), roce.Half(ANSWERER, ASKER, 0x11)
        count = rng.randint(20, 60)
        for msn in range(count):
            psn = first + msn
            self.pass_by(5 * US, asks.write, psn=psn)
            for _ in range(rng.randint(1, 4) if rng.random() < 0.1 else 0):
                self.pass_by(5 * US, answers.answer, psn=psn, syndrome=roce.RNR_NAK, msn=msn)
                self.pass_by(200 * US, asks.write, psn=psn)
                self.counts.update(("rnr_naks", "retransmitted"))
            self.pass_by(2 * US, answers.answer, psn=psn, msn=msn + 1)
            self.counts["acks"] += 1
        syndrome = rng.choice((*FATAL, None))
        if syndrome == 0x62 and self.naks[NAKS[0x62]] == 2:  # a third one would be spoof.access-errors
            syndrome = 0x61
        if syndrome is None:
            return
        for ahead in range(rng.randint(1, 5)):
            self.pass_by(US, asks.write, psn=first + count + ahead)
        self.pass_by(3 * US, answers.answer, psn=first + count, syndrome=syndrome, msn=count)
        self.naks[NAKS[syndrome]] += 1


class Judge(accounts.Judge):
    def judge(self, refused):
        path = roce.capture(self.folder / "refused.pcap", refused.frames)
        document = self.json("flows", path)
        self.equal("of workers", self.json("flows", "--workers", 2, path)["flows"], document["flows"])
        rows = {row["src"]["address"]: row for row in document["flows"]}
        asked, answered = rows[ASKER], rows[ANSWERER]
        self.rows += len(document["flows"])
        self.equal("naks", answered["naks"], dict(refused.naks))
        for row, name in ((answered, "acks"), (answered, "rnr_naks"), (asked, "retransmitted")):
            self.equal(name, row[name], refused.counts[name])
        for row in document["flows"]:
            self.equal("what did not happen", {name: row[name] for name in QUIET}, dict.fromkeys(QUIET, 0))
        (self.folder / "map.json").write_text(json.dumps(roce.EVERYBODY))
        audit = self.json("audit", "-m", self.folder / "map.json", path)
        self.equal("verdict", audit["verdict"], "compliant")
        self.equal("violations", [row["summary"] for row in audit["findings"] if row["violation"]], [])


def judge_rounds(asked, folder):
    judge = Judge(asked.program, folder)
    for seed in range(asked.seed, asked.seed + asked.rounds):
        judge.label = "seed %d" % seed
        judge.judge(Refused(random.Random(seed)))
    return judge


if __name__ == "__main__":
    accounts.run(accounts.parser_of(__doc__, 20), judge_rounds)
