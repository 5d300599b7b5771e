"""`fabtap nccl` of captures of NCCL frame by frame spoilt, and of connections whose numbers wrap, against their ground truth.

usage: nccl_spoilt.py PROGRAM [--rounds N] [--seed S] [--keep FOLDER] [--shared FOLDER] [--way WAY] [--capture NAME]

Frames are cut anywhere, shortened on the wire, IP fragments, or have other bytes under the ICRC that they had; they come twice, change
places, and have tags, of a priority alone or of a VLAN, at times or one way only; senders go back and send again. PSNs pass 2^24 in the
midst of what is seen, which then begins in the midst of a connection. Communication management names NCCL's queue pairs, as those
of others that had their numbers. As nccl_altered.py has it, what is told is true, and nothing is found.
"""

import collections
import random
import struct

import accounts
import alterations
import nccl_altered
import roce
import wire
from alterations import BTH, IP, UDP, US, is_roce, is_write

ENDED = {0x06: 70, 0x09: 58, 0x0a: 70, 0x0b: 74}  # where the headers of a frame end, by opcode
NO_ICRC = 4  # a byte of the BTH that it does not protect
SHARES = (0.02, 0.1)
PSNS = nccl_altered.PSNS
PRIORITY, VLAN = 0x6000, 77
KINDS = (
    "cut_anywhere", "cut_headers", "cut_headers+lossy", "middle+cut_headers", "shortened", "fragmented", "corrupted",
    "corrupted_beside", "middle+corrupted", "corrupted+sent_again", "copied", "swapped", "priorities", "priorities_one_way",
    "tagged_one_way", "tagged_copies", "wrapped", "middle+wrapped", "middle+wrapped+lossy", "middle+wrapped+sent_again",
    "middle+wrapped+over_infiniband", "wrapped+sliced_128", "named_by_cm")


def ends_of(record):
    """Who sends, to whom, to which queue pair."""
    frame = record.bytes
    return frame[26:30], frame[30:34], int.from_bytes(frame[BTH + 5:BTH + 8], "big")


def spoilt(record):
    """What is left of it is no packet of the truth."""
    return record._replace(number=0)


def is_whole(record):
    return is_roce(record) and len(record.bytes) == record.size


def some(change, chance, records, is_one=is_whole):
    """A share of the records is changed: `change` answers those that come instead."""
    share = chance.choice(SHARES)
    return [new for r in records for new in (change(r) if is_one(r) and chance.random() < share else [r])]


def cut(record, size):
    whole = len(record.bytes) <= size or size >= ENDED.get(record.bytes[BTH], BTH + 12)
    return (record if whole else spoilt(record))._replace(bytes=record.bytes[:size])


def cut_anywhere(chance, records):
    return some(lambda r: [cut(r, chance.randrange(IP + 6, 200))], chance, records, is_roce)


def cut_headers(chance, records):
    """In the midst of an address or an immediate; of one frame in ten."""
    return [cut(r, chance.randrange(BTH + 12, BTH + 32)) if is_roce(r) and chance.random() < 0.1 else r for r in records]


def shortened(chance, records):
    """By a switch, so that they are shorter than their headers say."""
    def change(record):
        size = chance.randrange(IP + 6, len(record.bytes))
        return [spoilt(record)._replace(bytes=record.bytes[:size], size=size)]
    return some(change, chance, records)


def fragment(record, first, body, more):
    frame = alterations.with_ip(record.bytes, 6, first >> 11 | more << 5)
    frame = alterations.with_ip(frame, 7, first >> 3 & 0xff)
    for at, byte in enumerate(struct.pack(">H", 20 + len(body)), 2):
        frame = alterations.with_ip(frame, at, byte)
    frame = frame[:UDP] + body
    return spoilt(record)._replace(bytes=frame, size=len(frame))


def fragmented(chance, records):
    def change(record):
        body = record.bytes[UDP:]
        at = chance.randrange(8, len(body), 8)
        return [fragment(record, 0, body[:at], True), fragment(record, at, body[at:], False)]
    return some(change, chance, records)


def with_other_bits(chance, record):
    frame = bytearray(record.bytes)
    at = chance.choice([at for at in range(BTH, min(alterations.icrc_at(record), BTH + 80)) if at != BTH + NO_ICRC])
    frame[at] ^= 1 << chance.randrange(8)
    return spoilt(record)._replace(bytes=bytes(frame))


def corrupted(chance, records):
    return some(lambda r: [with_other_bits(chance, r)], chance, records)


def corrupted_beside(chance, records):
    """The true one is next to it."""
    return some(lambda r: chance.sample([r, with_other_bits(chance, r)], 2), chance, records)


def copied(chance, records):
    later, share = chance.choice((0, 500, 3 * US, 30 * US)), chance.choice((0.3, 1))
    copies = [r._replace(ts_ns=r.ts_ns + later) for r in records if chance.random() < share]
    return sorted(records + copies, key=lambda r: (r.ts_ns, r.number))


def swapped(chance, records):
    """With the one behind."""
    records, at = list(records), 0
    while at + 1 < len(records):
        if chance.random() < 0.1:
            first, second = records[at:at + 2]
            records[at:at + 2] = second._replace(ts_ns=first.ts_ns), first._replace(ts_ns=second.ts_ns)
            at += 1
        at += 1
    return records


def sent_again(chance, records):
    """Go-back-N."""
    sent, before = [], collections.defaultdict(list)
    for record in records:
        sent.append(record)
        if is_write(record):
            before[ends_of(record)[1:]].append(record)
            if chance.random() < 0.01:
                sent += [r._replace(ts_ns=record.ts_ns) for r in before[ends_of(record)[1:]][-chance.randrange(1, 20):]]
    return sent


def tagged(record, tag):
    return alterations.wrapped(record, record.bytes[:12] + struct.pack(">HH", 0x8100, tag) + record.bytes[12:])


def priorities(chance, records):
    return [tagged(r, PRIORITY) if chance.random() < 0.5 else r for r in records]


def one_way(tag):
    return lambda chance, records: [tagged(r, tag) if r.bytes[6:12] == records[0].bytes[6:12] else r for r in records]


def tagged_copies(chance, records):
    """Of a port that tags and one that does not."""
    later = chance.choice((0, 500, 3 * US, 30 * US))
    return sorted(records + [tagged(r, VLAN)._replace(ts_ns=r.ts_ns + later) for r in records], key=lambda r: (r.ts_ns, r.number))


def psn_of(record):
    return int.from_bytes(record.bytes[BTH + 9:BTH + 12], "big")


def pairs_of(truth):
    """(host, queue pair) -> the one at its other end."""
    pairs = {}
    for connection in truth["connections"]:
        ends = zip(*(nccl_altered.ends_of(connection, side, roce.number) for side in ("sender", "receiver")))
        pairs.update(pair for one, other in ends for pair in ((one, other), (other, one)))
    return pairs


def wrapped(truth):
    """Each direction in a place of its own; without set-ups."""
    pairs = pairs_of(truth)

    def way(chance, records):
        records = [r for r in records if is_roce(r)]
        passed = collections.defaultdict(list)
        for record in filter(is_write, records):
            passed[ends_of(record)[1:]].append(psn_of(record))
        further = {end: PSNS - chance.randint(min(psns), max(psns)) for end, psns in passed.items()}
        return [moved(r, further.get(ends_of(r)[1:] if is_write(r) else pairs[ends_of(r)[1:]], 0)) for r in records]
    return way


def moved(record, further):
    psn = (psn_of(record) + further) % PSNS
    return alterations.with_icrc(record._replace(bytes=record.bytes[:BTH + 9] + psn.to_bytes(3, "big") + record.bytes[BTH + 12:]))


# --- communication management: IBA vol. 1, 12.6

REQUEST, REPLY, OTHER = 0x0010, 0x0013, 0x777
QPN_AT = {REQUEST: 32, REPLY: 12}  # of the sender, behind the MAD's header
GIDS_AT = 56  # of a REQ's primary path
MAD_HEADER, UD_SEND_ONLY, CM_QKEY = 24, 0x64, 0x80010000


def setup_message(like, ends, kind, qpn, ids):
    gids = [bytes(10) + b"\xff\xff" + end for end in ends]
    mad = struct.pack(">BBBBHHQHHIII", 1, 7, 2, 3, 0, 0, 7, kind, 0, 0, *ids)
    mad = mad.ljust(MAD_HEADER + QPN_AT[kind], b"\0") + qpn.to_bytes(3, "big")
    if kind == REQUEST:
        mad = mad.ljust(MAD_HEADER + GIDS_AT, b"\0") + b"".join(gids)
    above = struct.pack(">BBHII", UD_SEND_ONLY, 0, 0xffff, 1, 0) + struct.pack(">II", CM_QKEY, 1) + mad.ljust(256, b"\0")
    ethertype, packet, _ = wire.roce2(random.Random(qpn), *(int.from_bytes(gid, "big") for gid in gids), above)
    frame = like.bytes[:12] + struct.pack(">H", ethertype) + packet
    return spoilt(like)._replace(bytes=frame, size=len(frame))


def named_by_cm(chance, records):
    """A REQ of each queue pair that is written to, to a peer or to another host, and a REP: before, meanwhile or later."""
    others = []
    for host, qpn in sorted({ends_of(r)[1:] for r in records if is_write(r)}):
        like = chance.choice([r for r in records if is_write(r) and ends_of(r)[1:] == (host, qpn)])
        like = like._replace(ts_ns=chance.choice((records[0].ts_ns - 10**9, like.ts_ns, records[-1].ts_ns + 10**9)))
        peer = chance.choice((ends_of(like)[0], bytes((10, 61, 3, 99))))
        others += [setup_message(like, (host, peer), REQUEST, qpn, (qpn, 0)),
                   setup_message(like._replace(ts_ns=like.ts_ns + 1), (peer, host), REPLY, OTHER, (OTHER, qpn))]
    return alterations.in_order(records + others)


alterations.WAYS.update({way.__name__: way for way in (
    cut_anywhere, cut_headers, shortened, fragmented, corrupted, corrupted_beside, copied, swapped, sent_again, priorities,
    tagged_copies, named_by_cm)})
# of `wrapped` each truth has its own
alterations.WAYS.update(priorities_one_way=one_way(PRIORITY), tagged_one_way=one_way(VLAN), wrapped=alterations.without_set_up)


class Judge(nccl_altered.Judge):
    def judge(self, book, way, chance):
        alterations.WAYS["wrapped"] = wrapped(book.truth)
        super().judge(book, way, chance)

    def json(self, verb, *arguments):
        document = super().json(verb, *arguments)
        if verb == "nccl":
            for row in document["queue_pairs"]:
                if self.label.endswith("named_by_cm") and row["connection"] is not None and row["class"] != "nccl":
                    self.complain(row["address"], row["qpn"], "is of class", row["class"])
        return document


def judge_rounds(asked, folder):
    judge, books = Judge(asked.program, folder), nccl_altered.books_of(asked)
    kinds = [asked.way] if asked.way else KINDS
    for seed in range(asked.seed, asked.seed + asked.rounds):
        chance = random.Random("spoilt %d" % seed)
        nccl_altered.judge_round(judge, books[chance.choice(sorted(books))], kinds[seed % len(kinds)], seed)
    judge.sum_up()
    return judge


if __name__ == "__main__":
    parser = accounts.parser_of(__doc__, 2 * len(KINDS))
    parser.add_argument("--shared", help="folder of the reference captures")
    parser.add_argument("--way", type=nccl_altered.way_of, help="of those here and in alterations.py, or several with a + between")
    parser.add_argument("--capture", default="", help="part of its name")
    accounts.run(parser, judge_rounds)
