"""Set-ups of NCCL forged into captures: replayed from elsewhere in mid-job, and with another queue pair's number in them. What is
forged into the connection behind a replay is named as ever; and a wrong number has no true frame named.

usage: nccl_deceived.py PROGRAM [--rounds N] [--seed S] [--keep FOLDER] [--shared FOLDER]
"""

import collections
import random
import struct
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "e2e"))

import accounts
import nccl_altered
from nccl import IP, retouched
from nccl_forged import Place
from nccl_injected import FAR, RULES, Book
from pcapfile import write_pcap
from roce import checksum, number

TCP, PORTS = 6, 34  # protocol; where the ports are
ELSEWHERE, PORT = bytes((10, 66, 6, 6)), 50123
NAMED = 0.7  # of what is forged behind a replay: near holes, and in a capture's last messages, nothing is told


def set_up_of(book, connection):
    """(record, whether the connecting side sent it) of its TCP connection"""
    ends = [(number(address), port) for address, port in connection["metadata_tcp"].values()]
    for at, record in enumerate(book.records):
        frame = record[16:]
        if frame[12:14] != b"\x08\x00" or frame[23] != TCP:
            continue
        ports = struct.unpack_from(">HH", frame, PORTS)
        pair = [(frame[26:30], ports[0]), (frame[30:34], ports[1])]
        if pair in (ends, ends[::-1]):
            yield at, pair == ends


def from_elsewhere(record, connects, how):
    """The connecting side has another port, another address, or both."""
    frame = bytearray(record[16:])
    if "port" in how:
        struct.pack_into(">H", frame, PORTS if connects else PORTS + 2, PORT)
    if "address" in how:
        at = 26 if connects else 30
        frame[at:at + 4] = ELSEWHERE
        frame[IP + 10:IP + 12] = bytes(2)
        frame[IP + 10:IP + 12] = struct.pack(">H", checksum(bytes(frame[IP:IP + 20])))
    return record[:16] + bytes(frame)


def renumbered(record, qpn):
    at = record.find(struct.pack("<I", qpn), 16 + PORTS)
    return record if at < 0 else record[:at] + struct.pack("<I", qpn + 0x1234) + record[at + 4:]


class Judge(nccl_altered.Judge):
    def __init__(self, program, folder):
        super().__init__(program, folder)
        self.named, self.forged = collections.Counter(), collections.Counter()

    def findings(self, book, records):
        """By verb."""
        path = write_pcap(self.folder / "deceived.pcap", book.header, records)
        audit = self.json("audit", "--no-icrc", "-m", self.folder / "all.json", path)["findings"]
        self.rows += 2
        return {"nccl": self.json("nccl", "--no-icrc", "--messages", "0", path)["findings"],
                "audit": [finding for finding in audit if finding["rule"].startswith("nccl.")]}

    def judge_replay(self, book, how, chance):
        """The set-up behind one message, and a write outside in a later one."""
        message = chance.choice(book.messages[len(book.messages) // 2:])
        before = [m for m in book.messages if m["connection"] == message["connection"] and m["frames"][1] < message["cts_frame"]]
        at = message["cts_frame"] - 1
        place = Place(book.records, book.truth, message, at)
        if not before:
            return
        behind = chance.choice(before)["frames"][1]
        again = [book.records[behind - 1][:8] + from_elsewhere(book.records[i], connects, how)[8:]
                 for i, connects in set_up_of(book, place.connection)]
        like, psn = book.records[message["wire"][0]["first_frame"] - 1], place.next_psn(place.data, at)
        forged = retouched(book.records[at][:8] + like[8:], psn=psn, reth=(int(message["receive"]["addrs"][0], 16) + FAR, 64))
        records = place.with_frame(forged, psn, place.data)
        frame = at + 2 + len(again)
        for verb, findings in self.findings(book, records[:behind] + again + records[behind:]).items():
            self.forged[how, verb] += 1
            self.named[how, verb] += any(f["rule"] in RULES["outside"] and frame in f["frames"] for f in findings)
            for finding in findings:
                if finding["frames"] != [frame]:
                    self.complain("replayed from another", how, verb, "names", finding["rule"], finding["frames"], "and not", frame)

    def judge_number(self, book, side, chance):
        """No frame is forged but those of the set-up."""
        connection = chance.choice(book.truth["connections"])
        records = list(book.records)
        for at, connects in set_up_of(book, connection):
            if connects == (side == "sender"):
                records[at] = renumbered(records[at], connection[side + "_qpns"][0])
        for verb, findings in self.findings(book, records).items():
            for finding in findings:
                self.complain("another number of the", side, verb, "names", finding["rule"], finding["frames"], finding["evidence"])

    def sum_up(self):
        self.label = "in all"
        if not self.forged:
            self.complain("no set-up was replayed")
        for (how, verb), count in sorted(self.forged.items()):
            print("behind a set-up from another %-12s %-6s %3d of %3d are named" % (how, verb, self.named[how, verb], count))
            if self.named[how, verb] < NAMED * count:
                self.complain("behind a set-up from another", how, verb, self.named[how, verb], "of", count, "are named")


def judge_rounds(asked, folder):
    judge = Judge(asked.program, folder)
    books = [book for book in map(Book, nccl_altered.truths_of(asked))
             if book.messages and all("metadata_tcp" in c for c in book.truth["connections"])]
    for seed in range(asked.seed, asked.seed + asked.rounds):
        for book in books:
            chance = random.Random("%d %s" % (seed, book.name))
            how = ("port", "address", "port, address")[seed % 3]
            judge.label = "seed %d, %s" % (seed, book.name)
            judge.judge_replay(book, how, chance)
            judge.judge_number(book, ("receiver", "sender")[seed % 2], chance)
    judge.sum_up()
    return judge


if __name__ == "__main__":
    parser = accounts.parser_of(__doc__, 4)
    parser.add_argument("--shared", help="folder of the reference captures")
    accounts.run(parser, judge_rounds)
