"""`fabtap nccl` of captures of NCCL as taps, mirrors, switches and fabrics alter them, against their ground truth altered likewise.

usage: nccl_altered.py PROGRAM [--rounds N] [--seed S] [--keep FOLDER] [--shared FOLDER] [--way WAY] [--capture NAME] [--untold]

One alteration at a time, and several one after the other. What is told is true, or null: connections, FIFOs, families, ranks,
clear-to-sends, requests, frames and parts of messages. What is said to be complete is so, packet by packet; nothing is found, in
an audit neither; and several workers tell the same.
"""

import collections
import ipaddress
import json
import os
import random
import struct
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "e2e"))

import accounts
import alterations
import pcapfile
import roce
import wire
from alterations import BTH

PROJECT = Path(__file__).resolve().parents[2]
PROTOCOLS = {"simple": ("SIMPLE", "unknown"), "ll": ("LL", "unknown"), "ll128": ("LL128", "unknown")}
PSNS = 1 << 24
BY_LID = {"over_infiniband", "infiniband_with_set_up", "infiniband_with_grh"}
# Of the messages that are in the capture to the last packet, so many are said to be complete.
ALL = {"whole", "without_set_up", "twice", "marked", "vxlan", "geneve", "gre", "erspan2", "erspan3", "in_vlan", "over_ipv6",
       "over_infiniband", "infiniband_with_set_up", "infiniband_with_grh", "infiniband_routed", "sliced_128", "sliced_160", "sliced_192"}
MOST, ENOUGH = 0.5, 300  # where packets are lost, late or out of order; once there were so many
SEVERAL = "several"
# no addresses, or nothing shows which message data is of
FEW = {"sliced_64", "overtaking", "two_ports", "two_ports_lossy", SEVERAL}
ASTRAY = 0.005  # of messages that are not said to be complete: data of another one, where a buffer was offered anew
OVER = 0.005  # of connections, that have more messages or bytes than were sent: parts of one, behind holes
# once wrong: (way, capture, seed)
CURED = (
    ("lossy", "ar-2.30.7", 5),
    ("twice_lossy", "ar-2.30.7", 27),
    ("lossy_data", "ar-2.30.7", 660073),
    ("lossy", "ring4-2.27.7", 68),
    ("jittered+without_set_up", "multirecv-2.30.7", 187),
    ("jittered+sliced_128", "multirecv-2.19.3", 30560),
    ("jittered+lossy+over_infiniband", "dual-2.27.7", 21632),
    ("two_ports+lossy_data+sliced_128", "dual-2.27.7", 20247),
    ("without_set_up+twice+over_infiniband", "midstart-2.19.3", 22399),
    ("middle+over_infiniband", "loss-ring2-2.21.5", 20585),
    ("middle+jittered", "loss-ring2-2.21.5", 21546),
    ("middle+over_infiniband", "qps2split0-2.19.3", 30682),
    ("middle_with_set_up+over_infiniband", "qps2split0-2.19.3", 30236),
    ("twice_lossy+without_set_up", "multirecv-2.30.7", 5057),
    ("middle_with_set_up+two_ports+lossy_data+over_infiniband", "multirecv-2.12.12", 111),
    ("middle_with_set_up+twice+lossy_data+over_infiniband", "ring2small-2.21.5", 40458),
    ("middle_with_set_up+jittered+over_infiniband", "loss-ring2-2.21.5", 880516),
    ("middle_with_set_up+twice+lossy+over_infiniband", "qps2split0-2.19.3", 880141),
    ("jittered_lossy", "ring4-2.27.7", 195),
    ("jittered_lossy", "ring4-2.27.7", 1126),
    ("middle_with_set_up+jittered+lossy_data+over_infiniband", "ring4-2.27.7", 950492),
    ("middle_with_set_up+lossy", "multirecv-2.19.3", 1860),
    ("lossy_data", "multirecv-q2-2.21.5", 384),
    ("without_set_up+two_ports+lossy_data", "midstart-2.19.3", 7108),
    ("lossy_data+over_infiniband", "loss-ring2-2.21.5", 920043),
    ("without_set_up+lossy+sliced_128", "multirecv-2.30.7", 960021),
    ("without_set_up+overtaking+lossy", "multirecv-2.30.7", 970000),
    ("encrypted", "qps2split0-2.19.3", 1018),
    ("encrypted", "multirecv-q2-2.21.5", 1),
    ("encrypted", "ring2-ll-2.19.3", 1019),
    ("middle_with_set_up+encrypted", "ring2-ll-2.19.3", 2032),
    ("lossy_data+encrypted", "qps2split1-2.27.7", 2025),
    ("lossy", "ring2small-2.21.5", 168),
)
# likewise: more messages or bytes were told than sent
COUNTED_TWICE = (("lossy", "qps2split1-2.27.7", 10), ("lossy", "multirecv-2.30.7", 48), ("lossy", "multirecv-q2-2.21.5", 20))


def packet_of(record):
    """What every copy of a write's packet has in common, and no other packet."""
    frame = record.bytes
    return frame[26:34], frame[BTH + 5:BTH + 8], frame[BTH + 9:BTH + 12]


class Part:
    """What one queue pair carries of a message."""

    def __init__(self):
        self.packets, self.bytes, self.imm = [], 0, None


class Message:
    def __init__(self, truth, records):
        self.where = truth["connection"], truth["k"]
        self.n = truth["n"] if "n" in truth else len(truth["posted_sizes"])
        self.cts = packet_of(records[truth["cts_frame"] - 1]) if truth["cts_frame"] else None
        self.parts = collections.defaultdict(Part)
        for write in truth.get("wire", []):
            self.add(write, records)
        self.packets = [packet for part in self.parts.values() for packet in part.packets]
        self.imm = next((part.imm for part in self.parts.values() if part.imm), None)
        sends, posted = truth.get("sends", []), truth.get("receive", truth)
        self.written = [None] * self.n
        for send in sends:
            self.written[send.get("index_in_group", 0)] = send["size"]
        self.protocols = PROTOCOLS.get(sends[0].get("payload") if sends else None)
        self.offered, self.tags = posted["posted_sizes"], posted.get("tags")
        self.addresses = [int(address, 16) for address in posted["addrs"]] if "addrs" in posted else None

    def add(self, write, records):
        addresses, qpn, psn = packet_of(records[write["first_frame"] - 1])
        first, part = int.from_bytes(psn, "big"), self.parts[write["qp_index"]]
        part.packets += [(addresses, qpn, ((first + i) % PSNS).to_bytes(3, "big")) for i in range(write["packets"])]
        is_array = self.n > 1 and "imm_wire_bytes" in write
        part.bytes += 0 if is_array else write["dmalen"]
        part.imm = write.get("imm_wire_bytes", part.imm)


class Book:
    """A capture and what is true of it."""

    def __init__(self, path):
        self.name = path.name.replace(".truth.json", "")
        self.truth = json.loads(path.read_text())
        self.records = alterations.records_of(*pcapfile.read_pcap(path.parent / (self.name + ".pcap")))
        self.packets = {r.number: packet_of(r) for r in self.records if alterations.is_write(r)}
        self.connections = {c["connection"]: c for c in self.truth["connections"]}
        self.begins_later = any("first_message_k_in_capture" in c for c in self.connections.values())
        messages = [Message(truth, self.records) for truth in self.truth["messages"] + self.truth["receives_without_data"]]
        self.messages = {message.where: message for message in messages}
        self.owner = {packet: message.where for message in messages for packet in message.packets}
        self.knows_tags = self.truth["cts_family"] not in "AB"


def ends_of(connection, side, rename):
    """[(address, queue pair)] of the truth."""
    devices = connection.get(side + "_qp_device", [0] * len(connection[side + "_qpns"]))
    return [(rename(connection[side + "_addresses"][d]), qpn) for d, qpn in zip(devices, connection[side + "_qpns"])]


def told_ends(row, side):
    return [(told_address(row[side]["addresses"][d]), qpn) for d, qpn in zip(row[side]["qp_device"], row[side]["qpns"])]


def told_address(text):
    """A port within a subnet by its LID, whether the set-up named it, or packets with global headers did."""
    return "lid:%d" % alterations.lid_of(ipaddress.IPv6Address(text).packed[-4:]) if text.startswith("fe80") else text


def release(text):
    return tuple(map(int, text.split(".")))


class Reading:
    """What a document tells of an altered capture."""

    def __init__(self, judge, book, records, way):
        self.judge, self.book, self.ways = judge, book, way.split("+")
        self.seen = {}  # packet -> frame that showed it first
        self.packets = [book.packets.get(record.number) for record in records]
        for frame, packet in enumerate(self.packets, 1):
            if packet is not None:
                self.seen.setdefault(packet, frame)
        self.cut = any(step.startswith(("sliced", "cut")) for step in self.ways)
        self.ids, self.lanes = {}, {}
        self.whole = self.complete = self.partial = self.astray = 0

    def complain(self, *words):
        self.judge.complain(*words)

    def may_be(self, what, told, truth):
        if told is not None and told != truth:
            self.complain(what, "is", told, "and not", truth)

    def owner(self, frame):
        return self.book.owner.get(self.packets[frame - 1])

    def rename(self, address):
        if "over_ipv6" in self.ways:
            return "fd00::%x:%x" % struct.unpack(">HH", roce.number(address))
        if "infiniband_routed" in self.ways:
            return str(ipaddress.IPv6Address(alterations.routed_gid(roce.number(address))))
        return "lid:%d" % alterations.lid_of(roce.number(address)) if BY_LID.intersection(self.ways) else address

    def read(self, document):
        for finding in document["findings"]:
            self.complain("finds", finding["rule"], finding["frames"], finding["evidence"])
        for row in document["connections"]:
            self.read_connection(row)
        rows = collections.defaultdict(list)
        for row in document["messages"]:
            if row["connection"] in self.ids:
                self.judge.rows += 1
                rows[self.ids[row["connection"]], row["k"]].append(row)
                self.read_message(row)
        for where, message in self.book.messages.items():
            if len(rows[where]) > 1:
                self.complain("message", where, "is told", len(rows[where]), "times")
            if message.packets and all(packet in self.seen for packet in message.packets):
                self.count_whole(where, rows[where])

    def count_whole(self, where, rows):
        done = any(row["completed"] for row in rows)
        self.whole += 1
        self.complete += done
        if not done:
            self.judge.untold.append("%s: %s %s" % (self.judge.label, where, rows))

    # --- connections

    def read_connection(self, row):
        told = list(zip(told_ends(row, "sender"), told_ends(row, "receiver")))
        for number, true in self.book.connections.items():
            pairs = list(zip(ends_of(true, "sender", self.rename), ends_of(true, "receiver", self.rename)))
            if any(a in (x for x, _ in pairs) and b[1] in (None, *(y[1] for x, y in pairs if x == a)) for a, b in told):
                break
        else:
            self.complain("no such connection", row)
            return
        if number in self.ids.values():
            self.complain("connection", number, "is told twice")
        self.ids[row["connection"]] = number
        lanes = self.lanes[row["connection"]] = [next((i for i, (x, y) in enumerate(pairs) if a in (x, (x[0], None)) and
                                                      b in (y, (y[0], None))), None) for a, b in told]
        if None in lanes or row["found_by"] == "metadata" and lanes != list(range(len(pairs)))[:len(lanes)]:
            self.complain("connection", number, "pairs", told, "and not", pairs)
        self.read_fields("connection %d" % number, row, true)

    def read_fields(self, what, row, true):
        self.may_be(what + " family", row["family"]["name"], self.book.truth["cts_family"])
        first, last = row["family"]["versions"] or (None, None)
        version = release(self.book.truth["nccl_version"])
        if first and release(first) > version or last and release(last) < version:
            self.complain(what, "is of", first, "to", last)
        fifo, sizes = row["cts_fifo"] or {}, row["sizes_array"]
        for field in ("addr", "slots", "entries_per_slot", "entry_bytes", "slot_stride_bytes"):
            self.may_be(what + " " + field, fifo.get(field), true["cts_fifo_at_sender"][field])
        if sizes:
            self.may_be(what + " array of sizes", int(sizes["addr"], 16), int(true["multi_receive_sizes_at_receiver"]["addr"], 16))
        for side in ("sender", "receiver"):
            self.may_be("%s rank of %s" % (what, side), row[side]["rank"], true[side + "_rank"])
        self.may_be(what + " channel", row["channel"], true["channel"])
        for side in ("connecting_side", "listening_side"):
            self.may_be(what + side, row["metadata_tcp"] and row["metadata_tcp"][side], true["metadata_tcp"][side])
        asked = sum(m.cts in self.seen for (number, _), m in self.book.messages.items() if number == true["connection"])
        if row["counts"]["cts"] > asked:
            self.complain(what, "has", row["counts"]["cts"], "clear-to-sends and not", asked)
        self.judge.connections += 1
        if not self.book.begins_later:
            self.read_sums(what, row["counts"], true["connection"])

    def read_sums(self, what, told, connection):
        """No more than was sent of messages of which something was seen."""
        seen = [m for (number, _), m in self.book.messages.items()
                if number == connection and any(packet in self.seen for packet in m.packets)]
        truth = len(seen), sum(size for m in seen for size in m.written)
        if told["messages"] > truth[0] or told["payload_bytes"] > truth[1]:
            self.judge.over.append("%s: %s has %s and not %s" % (self.judge.label, what, told, truth))

    # --- messages

    def read_message(self, row):
        number, frames = self.ids[row["connection"]], (row["first_frame"], row["last_frame"])
        where = (number, row["k"]) if row["k"] is not None else frames[0] and self.owner(frames[0])
        message = self.book.messages.get(where)
        what = "message %s%s" % (where, "" if row["k"] is not None else " without a number")
        if message is None:
            if not self.book.begins_later and (row["cts_frame"] or row["completed"]):
                self.complain("no such message", row)
            return
        self.may_be(what + " cts_frame", row["cts_frame"], self.seen.get(message.cts))
        if row["cts_frame"]:
            self.read_requests(what, row, message)
        if frames[0] is None:
            return
        self.partial += not row["completed"]
        if {self.owner(frame) for frame in frames} == {where}:
            self.read_data(what, row, message)
        elif row["completed"]:
            self.complain(what, "is complete with frames of", *map(self.owner, frames))
        elif row["k"] is not None:
            self.astray += 1
            self.judge.strays.append("%s: %s has frames of %s: %s" % (self.judge.label, what, list(map(self.owner, frames)), row))

    def read_requests(self, what, row, message):
        if row["n"] != message.n and not (self.cut and row["n"] < message.n):
            self.complain(what, "has", row["n"], "requests and not", message.n)
            return
        for i, request in enumerate(row["requests"]):
            self.may_be(what + " offered_size", request["offered_size"], message.offered[i])
            self.may_be(what + " tag", request["tag"], message.tags[i] if message.tags and self.book.knows_tags else None)
            if message.addresses:
                self.may_be(what + " va", request["va"] and int(request["va"], 16), message.addresses[i])

    def read_data(self, what, row, message):
        self.may_be(what + " imm", row["imm"], message.imm)
        if message.protocols and row["protocol"] not in message.protocols:
            self.complain(what, "is", row["protocol"], "and not", message.protocols)
        for part in row["qps"]:
            lane = self.lanes[row["connection"]][part["qp_index"]]
            true = message.parts.get(lane, Part())
            told, truth = (part["packets"], part["bytes"]), (len(true.packets), true.bytes)
            if told != truth if row["completed"] else told[0] > truth[0] or (told[1] or 0) > truth[1]:
                self.complain(what, "has part", told, "on queue pair", lane, "and not", truth)
        if row["cts_frame"]:
            for request, written in zip(row["requests"], message.written):
                if (request["written_bytes"] or 0) > written:
                    self.complain(what, "has", request["written_bytes"], "bytes written and not", written)
        if row["completed"]:
            self.read_complete(what, row, message)

    def read_complete(self, what, row, message):
        missing = [packet for packet in message.packets if packet not in self.seen]
        if missing:
            self.complain(what, "is complete without", len(missing), "packets")
            return
        frames = [self.seen[packet] for packet in message.packets]
        truth = min(frames), max(frames), len(frames)
        told = row["first_frame"], row["last_frame"], row["packets"]
        if told != truth:
            self.complain(what, "has frames", told, "and not", truth)
        if not self.cut and (row["cts_frame"] or message.n == 1):
            self.read_written(what, [request["written_bytes"] for request in row["requests"]], message.written)

    def read_written(self, what, told, written):
        """Of several requests that cannot be read it may not be known which one was written to."""
        if "encrypted" in self.ways:
            told = [own if size is None else size for size, own in zip(told, written)]
        self.may_be(what + " written", told, written)


class Judge(accounts.Judge):
    def __init__(self, program, folder):
        super().__init__(program, folder)
        self.whole, self.complete = collections.Counter(), collections.Counter()
        self.partial, self.untold, self.strays = 0, [], []
        self.connections, self.over = 0, []
        (folder / "all.json").write_text(json.dumps(roce.EVERYBODY))

    def judge(self, book, way, chance):
        records = alterations.alter(way, chance, book.records)
        paths = self.write(records, chance)
        document = self.json("nccl", "--keys", *paths)
        reading = Reading(self, book, records, way)
        reading.read(document)
        self.equal("of workers", self.json("nccl", "--keys", "--workers", chance.choice((2, 3)), *paths), document)
        for finding in self.json("audit", "-m", self.folder / "all.json", *paths)["findings"]:
            if finding["rule"].startswith("nccl."):
                self.complain("an audit finds", finding["rule"], finding["frames"], finding["evidence"])
        kind = SEVERAL if "+" in way else way
        self.whole[kind] += reading.whole
        self.complete[kind] += reading.complete
        if way != "overtaking":
            self.partial += reading.partial

    def write(self, records, chance):
        """A file of each port, and of each link type."""
        ports = sorted({(record.port, record.link) for record in records})
        return [chance.choice((self.pcap, self.pcapng, self.erf))("%d-%d" % port, [r for r in records if (r.port, r.link) == port])
                for port in ports]

    def pcap(self, port, records):
        path = self.folder / ("%s.pcap" % port)
        header = struct.pack("<IHHiIII", pcapfile.LITTLE_NSEC, 2, 4, 0, 0, 262144, records[0].link)
        return pcapfile.write_pcap(path, header, [
            struct.pack("<IIII", *divmod(r.ts_ns, 10**9), len(r.bytes), r.size) + r.bytes for r in records])

    def pcapng(self, port, records):
        path = self.folder / ("%s.pcapng" % port)
        path.write_bytes(pcapfile.pcapng_of(*pcapfile.read_pcap(self.pcap(port, records)), lambda number: True))
        return path

    def erf(self, port, records):
        path = self.folder / ("%s.erf" % port)
        path.write_bytes(b"".join(
            wire.erf_ethernet(r.ts_ns, r.bytes, r.size) if r.link == 1 else wire.erf(r.ts_ns, r.bytes, 0, r.size) for r in records))
        return path

    def sum_up(self):
        self.label = "in all"
        for way, whole in sorted(self.whole.items()):
            complete = self.complete[way]
            print("%-20s %6d of %6d whole messages are said to be complete" % (way, complete, whole))
            least = whole if way in ALL else MOST * whole if way not in FEW and whole >= ENOUGH else 0
            if complete < least:
                self.complain(way, complete, "of", whole, "messages are told")
        astray = [stray for stray in self.strays if "overtaking" not in stray]
        if len(astray) > ASTRAY * max(self.partial, 1 / ASTRAY):
            self.complain(len(astray), "of", self.partial, "messages have frames of others:", *astray[:3])
        if len(self.over) > OVER * max(self.connections, 1 / OVER):
            self.complain(len(self.over), "of", self.connections, "connections have more than was sent:", *self.over[:3])


def truths_of(asked):
    """Paths of the ground truths."""
    folder = Path(asked.shared or os.environ.get("FT_SHARED", PROJECT.parent / "shared")) / "captures" / "nccl"
    if not folder.is_dir():
        print("SKIPPED: %s is not there; FT_SHARED names the folder of the reference captures: the shipped ones alone" % folder)
        folder = PROJECT / "tests" / "data" / "nccl"
    return sorted(folder.glob("*.truth.json"))


def books_of(asked):
    books = {book.name: book for book in map(Book, truths_of(asked)) if asked.capture in book.name}
    return books or sys.exit("nccl_altered.py: no such capture: %s" % asked.capture)


def way_of(text):
    """Of the command line; one line if it is none."""
    unknown = [step for step in text.split("+") if step not in alterations.WAYS]
    if unknown:
        sys.exit("nccl_altered.py: no such way: %s; there are %s" % (", ".join(unknown), ", ".join(sorted(alterations.WAYS))))
    return text


def judge_round(judge, book, way, seed):
    judge.label = "seed %d, %s %s" % (seed, book.name, way)
    judge.judge(book, way, random.Random(seed))


def judge_rounds(asked, folder):
    judge, books = Judge(asked.program, folder), books_of(asked)
    ways = [asked.way] if asked.way else sorted(alterations.WAYS)
    for seed in range(asked.seed, asked.seed + asked.rounds):
        book = books[random.Random("book %d" % seed).choice(sorted(books))]
        judge_round(judge, book, ways[seed % len(ways)], seed)
        if not asked.way:
            judge_round(judge, book, alterations.composed(random.Random("ways %d" % seed)), seed)
    judge.sum_up()
    for way, name, seed in CURED:
        if name in books and not asked.way:
            strays = len(judge.strays)
            judge_round(judge, books[name], way, seed)
            judge.equal("data of others", judge.strays[strays:], [])
    for way, name, seed in COUNTED_TWICE:
        if name in books and not asked.way:
            over = len(judge.over)
            judge_round(judge, books[name], way, seed)
            judge.equal("more than was sent", judge.over[over:], [])
    if asked.untold:
        print("\n".join(judge.untold + judge.strays))
    return judge


if __name__ == "__main__":
    parser = accounts.parser_of(__doc__, 230)
    parser.add_argument("--shared", help="folder of the reference captures")
    parser.add_argument("--way", type=way_of, help="of alterations.py, or several with a + between")
    parser.add_argument("--capture", default="", help="part of its name")
    parser.add_argument("--untold", action="store_true", help="name whole messages that are not said to be complete, and data astray")
    accounts.run(parser, judge_rounds)
