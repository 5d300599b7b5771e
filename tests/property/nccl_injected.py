"""Frames forged into captures of NCCL, of which taps then lose frames or the beginning, or switches mark some: `nccl` and `audit` name no other frame.

usage: nccl_injected.py PROGRAM [--rounds N] [--seed S] [--keep FOLDER] [--shared FOLDER]

A write outside of what was asked for, one that nobody asked for, one of another sender, a clear-to-send that comes again: as
packets of their own in the sequence of their queue pair; and a write outside under a PSN that passed, as if it were sent
again. So are packets that are quicker than the sender's own of the next PSN, or of one of the five behind it: writes to where data is asked
for, and such as go on with a write, or end it; and a clear-to-send under the PSN of one long over, with another key than that had. How many are named is printed, and has a floor: near holes nothing is told (docs/nccl.md), and of what is left of a
capture of a few messages much is near a hole.
"""

import collections
import random
import struct
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "e2e"))

import accounts
import alterations
import nccl_altered
from nccl import BTH, IP, WRITE_MIDDLE, is_roce, retouched
from nccl_forged import Place, psn_of
from pcapfile import read_pcap, write_pcap
from roce import checksum

WRITE_LAST, WRITE_LAST_IMM = 0x08, 0x09
STRANGER = bytes((10, 66, 6, 6))
FAR = 1 << 30
LOST = 0.01
RULES = {"outside": {"nccl.write-outside", "nccl.write-unasked"}, "passed": {"nccl.write-outside", "nccl.write-unasked"},
         "unasked": {"nccl.write-unasked", "nccl.write-outside", "nccl.replay"},
         "stranger": {"nccl.second-writer"}, "replay": {"nccl.replay"}}
# what is quicker than the sender, of which so many are named at least, by either verb, where nothing is lost
QUICKER = {"quick": 0.8, "quick end": 0.7, "quick middle": 0, "quick last": 0.7, "ahead": 0.5}
RULES["old ask"] = {"nccl.contradiction"}
LONG_OVER, OLD_ASKS = 20, 0.9  # clear-to-sends since; so many are named at least, where nothing is lost
RULES.update(dict.fromkeys(QUICKER, {"nccl.write-unasked", "nccl.replay", "nccl.contradiction", "nccl.write-outside", "spoof.psn-conflict"}))
# so many of them are named at least, by either verb; "without": the set-up. Elsewhere "passed" does not count: what may be sent
# again is told with more reserve
FLOORS = {"whole": 0.9, "marked": 0.9, "infiniband": 0.9, "without": 0.8, "lossy": 0.8, "middle": 0.75}
LIKE_AUDITS = 0.75  # of the writes outside that audits name where frames are lost: these do not look at the middle of writes
# likewise of writes outside right behind the first message of a capture; so many rounds of each of one queue pair
EARLY, EARLY_ROUNDS = 0.6, 2
SEVERAL = 8  # rounds of each capture of several queue pairs, without its set-up; so many of these kinds are named by either verb
OF_SEVERAL = {"outside of several": 0.8, "passed of several": 0.5, "unasked of several": 0.8}
# another frame was named: (capture, way, seed)
CURED = (("ring4-2.27.7", "middle", 238), ("ring2small-2.21.5", "lossy", 770137))


class Book:
    def __init__(self, path):
        altered = nccl_altered.Book(path)
        self.name, self.truth = altered.name, altered.truth
        self.header, self.records = read_pcap(path.parent / (self.name + ".pcap"))
        self.several = any(len(connection["receiver_qpns"]) > 1 for connection in self.truth["connections"])
        self.messages = [m for m in self.truth["messages"] if m["n"] == 1 and m["wire"][0]["dmalen"] and m["cts_frame"]]


def forgeries(place, like):
    """kind -> (the frame, its PSN, the packets of whose sequence it is one; none: of its own)"""
    va, size = int(place.message["receive"]["addrs"][0], 16), place.message["receive"]["posted_sizes"][0]
    psn = place.next_psn(place.data, place.at)
    yield "outside", retouched(like, psn=psn, reth=(va + FAR, 64)), psn, place.data
    passed = [i for i in place.data if i <= place.at]
    if passed:
        yield "passed", retouched(like, psn=psn_of(place.records[passed[-min(3, len(passed))]]), reth=(va + FAR, 64)), None, ()
    yield "stranger", retouched(like, psn=7777, source=STRANGER, reth=(va, min(size, 64))), None, ()
    if not place.is_asked(va, min(size, 64)):
        yield "unasked", retouched(like, psn=psn, reth=(va, min(size, 64))), psn, place.data
    before = [i for i in place.asks if i <= place.at]
    if before:
        asked = place.records[before[-1]]
        va, key, length = struct.unpack_from(">QII", asked, 16 + 54)
        psn = place.next_psn(place.asks, place.at)
        payload = asked[16 + 70:16 + 70 + length]
        if len(payload) == length:
            yield "replay", retouched(asked, psn=psn, reth=(va, length), key=key, payload=payload), psn, place.asks


def reshaped(record, opcode, psn, extended, size=64):
    """A packet of `size` bytes of payload, as those of a write, with what is between its BTH and these; of no ICRC."""
    made = bytearray(retouched(record, psn=psn, reth=(0, size)))
    made[16 + BTH] = opcode
    shorter = 16 - len(extended)
    made[16 + BTH + 12:16 + BTH + 28] = extended
    for at, more in ((8, -shorter), (12, -shorter)):
        struct.pack_into("<I", made, at, struct.unpack_from("<I", made, at)[0] + more)
    for at in (16 + IP + 2, 16 + IP + 24):
        struct.pack_into(">H", made, at, struct.unpack_from(">H", made, at)[0] - shorter)
    made[16 + IP + 10:16 + IP + 12] = bytes(2)
    made[16 + IP + 10:16 + IP + 12] = struct.pack(">H", checksum(bytes(made[16 + IP:16 + IP + 20])))
    return bytes(made)


def quicker(place, like, ahead):
    """kind -> the frame: with the next PSN, or one so far behind it, and the sender's own comes."""
    va = int(place.message["receive"]["addrs"][0], 16)
    psn = place.next_psn(place.data, place.at)
    yield "quick", retouched(like, psn=psn, reth=(va, 64))
    yield "ahead", retouched(like, psn=psn + ahead, reth=(va, 64))
    yield "quick end", reshaped(like, WRITE_LAST_IMM, psn, struct.pack("<I", 64))
    yield "quick last", reshaped(like, WRITE_LAST, psn, b"")
    yield "quick middle", reshaped(like, WRITE_MIDDLE, psn, b"", 1024)


def old_asks(place):
    """A clear-to-send under the PSN of one long over, and in its place, that asks for data under another key."""
    before = [i for i in place.asks if i <= place.at]
    if len(before) <= LONG_OVER + 1:
        return
    asked = place.records[before[-1 - LONG_OVER]]
    va, key, length = struct.unpack_from(">QII", asked, 16 + 54)
    payload, at = asked[16 + 70:16 + 70 + length], {"B": 16, "C": 12, "D": 12}.get(place.family, 16)
    if len(payload) == length and length in (32, 64):
        changed = payload[:at] + bytes((payload[at] ^ 0x41,)) + payload[at + 1:]
        yield "old ask", retouched(asked, reth=(va, length), key=key, payload=changed)


def marked(header, records, chance):
    """The same with marks for congestion: what tells of a packet, but not of its connection."""
    changed = alterations.marked(chance, alterations.records_of(header, records))
    return [record[:16] + new.bytes for record, new in zip(records, changed)]


def is_other_of(finding, frame):
    """It names two, one of which is forged; routers show their addresses in different ways, so each has a finding of its own."""
    text = " ".join(finding["evidence"])
    return "frame %d " % frame in text and text.endswith("one of the two is forged")


class Judge(nccl_altered.Judge):
    def __init__(self, program, folder):
        super().__init__(program, folder)
        self.named, self.forged = collections.Counter(), collections.Counter()

    def judge(self, book, way, chance):
        """Behind the clear-to-send of a message, or behind its last packet. ICRCs of what follows in sequence are left as they are."""
        message = chance.choice(book.messages[len(book.messages) // 2:])
        at = (message["frames"][1] if way == "early" else chance.choice((message["cts_frame"], message["frames"][1]))) - 1
        place = Place(book.records, book.truth, message, at)
        like = book.records[message["wire"][0]["first_frame"] - 1]
        now = book.records[at][:8]
        quick = [(kind, now + forged[8:], None, ()) for kind, forged in quicker(place, like, 1 + at % 5)]
        old = [(kind, now + forged[8:], None, ()) for kind, forged in old_asks(place)]
        for kind, forged, psn, sequence in [*forgeries(place, like), *quick, *old]:
            if way == "early" and kind != "outside":
                continue
            records = place.with_frame(forged, psn, sequence)
            frame = at + 1
            kept = [i for i in range(len(records)) if way != "lossy" or i == frame or chance.random() >= LOST]
            if way == "middle":
                kept = kept[int(frame * chance.uniform(0.1, 0.6)):]
            if way == "early":
                kept = kept[message["cts_frame"] - 1:]
            if way == "without":
                kept = [i for i in kept if is_roce(records[i])]
            kept_records = [records[i] for i in kept]
            if way == "marked":
                kept_records = marked(book.header, kept_records, chance)
            number = kept.index(frame) + 1
            if way == "infiniband":
                path, number = self.on_infiniband(book.header, kept_records, number, chance)
            else:
                path = write_pcap(self.folder / "forged.pcap", book.header, kept_records)
            self.judge_findings(kind + " of several" if way == "without" and book.several else kind, way, path, number)

    def on_infiniband(self, header, records, number, chance):
        """The file, and which of its frames is the one with this number."""
        fabric = chance.choice(("over_infiniband", "infiniband_with_set_up", "infiniband_with_grh", "infiniband_routed"))
        altered = alterations.alter(fabric, chance, alterations.records_of(header, records))
        return self.erf(fabric, altered), 1 + [record.number for record in altered].index(number)

    def judge_findings(self, kind, way, path, frame):
        audit = self.json("audit", "--no-icrc", "-m", self.folder / "all.json", path)["findings"]
        verbs = {"nccl": self.json("nccl", "--no-icrc", "--messages", "0", path)["findings"],
                 "audit": [finding for finding in audit if finding["rule"].startswith("nccl.") or finding["rule"] == "spoof.psn-conflict"]}
        for verb, findings in verbs.items():
            self.rows += 1
            self.forged[kind, way, verb] += 1
            self.named[kind, way, verb] += any(f["rule"] in RULES[kind.removesuffix(" of several")] and frame in f["frames"] for f in findings)
            for finding in findings:
                if frame not in finding["frames"] and not is_other_of(finding, frame):
                    self.complain(kind, verb, "names", finding["rule"], finding["frames"], "and not", frame, finding["evidence"])

    def sum_up(self):
        self.label, sums = "in all", collections.defaultdict(lambda: [0, 0])
        for (kind, way, verb), count in sorted(self.forged.items()):
            named = self.named[kind, way, verb]
            print("%-19s %-10s %-6s %4d of %4d are named" % (kind, way, verb, named, count))
            quick = kind.removesuffix(" of several") in QUICKER
            if not quick and kind != "old ask" and (kind != "passed" or way == "without"):
                sums[way, verb][0] += named
                sums[way, verb][1] += count
            least = QUICKER[kind] if way in ("whole", "marked") and quick else OF_SEVERAL.get(kind, 0)
            if kind == "old ask" and way in ("whole", "marked"):
                least = OLD_ASKS
            if named < least * count:
                self.complain(kind, way, verb, named, "of", count, "are named")
            if way == "without" and "several" in kind and not quick and named != self.named[kind, way, "nccl"]:
                self.complain(kind, "are named", named, "times by audits, and", self.named[kind, way, "nccl"], "times by the other verb")
        told, audited = (self.named["outside", "lossy", verb] for verb in ("nccl", "audit"))
        if told < LIKE_AUDITS * audited:
            self.complain(told, "writes outside are named where frames are lost, and", audited, "by audits")
        for (way, verb), (named, count) in sums.items():
            if named < {**FLOORS, "early": EARLY}[way] * count:
                self.complain(way, verb, named, "of", count, "are named")


def judge_rounds(asked, folder):
    judge = Judge(asked.program, folder)
    books = [book for book in map(Book, nccl_altered.truths_of(asked)) if book.messages]
    rounds = [(random.Random("book %d" % seed).choice(books), sorted(FLOORS)[seed % len(FLOORS)], seed)
              for seed in range(asked.seed, asked.seed + asked.rounds)]
    rounds += [(book, "without", seed) for book in books if book.several for seed in range(asked.seed, asked.seed + SEVERAL)]
    rounds += [(book, "early", seed) for book in books if not book.several for seed in range(asked.seed, asked.seed + EARLY_ROUNDS)]
    rounds += [(book, way, seed) for name, way, seed in CURED for book in books if book.name == name]
    for book, way, seed in rounds:
        judge.label = "seed %d, %s %s" % (seed, book.name, way)
        judge.judge(book, way, random.Random(seed))
    judge.sum_up()
    return judge


if __name__ == "__main__":
    parser = accounts.parser_of(__doc__, 60)
    parser.add_argument("--shared", help="folder of the reference captures")
    accounts.run(parser, judge_rounds)
