"""Frames forged into captures of NCCL, each named by its number, in the document and in an audit, and no other frame blamed;
and captures that a mirror, a switch or a network spoilt, in which nothing is wrong."""

import collections
import json
import random
import struct

import nccl
from harness import fabtap, main, shared
from nccl import BTH, cut, document, is_roce, retouched
from pcapfile import read_pcap
from roce import checksum, number

PSN = 1 << 24


def field(record, at, size):
    return int.from_bytes(record[16 + at:16 + at + size], "big")


def psn_of(record):
    return field(record, BTH + 9, 3)


def with_psn(record, psn):
    """Of a captured packet; one of an RDMA write without its ICRC is left as short as it is."""
    return record[:16 + BTH + 9] + (psn % PSN).to_bytes(3, "big") + record[16 + BTH + 12:]


class Place:
    """A moment in a capture: behind record `at`, on the first queue pair of a connection."""

    def __init__(self, records, truth, message, at):
        self.records, self.truth, self.message, self.at = records, truth, message, at
        self.connection = next(c for c in truth["connections"] if c["connection"] == message["connection"])
        self.family = truth["cts_family"]
        lane = message["wire"][0]["qp_index"]
        device = self.connection.get("receiver_qp_device", [0] * 128)[lane]
        receiver, sender = self.connection["receiver_addresses"][device], self.connection["sender_addresses"][device]
        self.data = self.writes(receiver, self.connection["receiver_qpns"][lane])
        self.asks = self.writes(sender, self.connection["sender_qpns"][lane])
        # what will be asked for counts too: a write before its clear-to-send may have overtaken it
        ahead = [m for m in truth["messages"] + truth["receives_without_data"]
                 if m["connection"] == message["connection"] and at + 1 < m.get("frames", [0, 1 << 60])[1]]
        self.ranges = [(int(a, 16), s) for m in ahead if "receive" in m for a, s in
                       zip(m["receive"]["addrs"], m["receive"]["posted_sizes"])]

    def writes(self, address, qpn):
        address = number(address)
        return [i for i, r in enumerate(self.records) if is_roce(r) and 6 <= r[16 + BTH] <= 0x0b and
                r[16 + 30:16 + 34] == address and field(r, BTH + 5, 3) == qpn]

    def next_psn(self, which, last):
        psn = 0
        for i in which:
            if i <= last and (psn_of(self.records[i]) + 1 - psn) % PSN < PSN // 2:
                psn = psn_of(self.records[i]) + 1
        return psn % PSN

    def is_asked(self, va, length):
        return any(a <= va and va + length <= a + size for a, size in self.ranges)

    def with_frame(self, forged, psn=None, which=()):
        """`psn`: the forged frame has this place in the sequence of `which`, and what follows comes one later."""
        rest = self.records[self.at + 1:]
        if psn is not None:
            later = {i for i in which if i > self.at}
            rest = [with_psn(r, psn_of(r) + 1) if i in later and (psn_of(r) - psn) % PSN < PSN // 2 else r
                    for i, r in enumerate(rest, self.at + 1)]
        return self.records[:self.at + 1] + [forged] + rest


class WithForged(nccl.WithTruths):
    """With a map in which all may talk to all."""

    def findings(self, verb, path, *options):
        if verb == "nccl":
            return document(path, options=["--messages", "0", *options])["findings"]
        found = fabtap("audit", "-m", self.folder / "all.map.json", "--json", *options, path).json()["findings"]
        return [finding for finding in found if finding["rule"].startswith("nccl.")]

    def named(self, name, capture, header, records, frame, verbs=("nccl", "audit"), options=()):
        path = self.write("forged", header, records)
        for verb in verbs:
            blamed = [(f["rule"], f["frames"]) for f in self.findings(verb, path, *options)]
            with self.subTest(capture=capture.name, verb=verb, forged=name, frame=frame):
                self.assertTrue(blamed)
                self.assertTrue(all(frames == [frame] for _, frames in blamed), blamed)

    def setUp(self):
        super().setUp()
        (self.folder / "all.map.json").write_text(json.dumps({
            "schema": "tapmap/1", "map_id": "all", "serial": 1, "issued_at": "2020-01-01T00:00:00Z", "issuer": "tests",
            "fabric": {"kind": "roce"}, "tenants": [{"name": "one", "class": "customer"}],
            "nodes": [{"host": "h", "ports": [{"ip": "10.0.0.1"}]}], "segments": [{"name": "one", "tenant": "one", "intervals": [
                {"from": "2000-01-01T00:00:00Z", "to": None, "members": [{"subnet": "10.0.0.0/8"}]}]}]}))

    def blamed(self, header, records):
        """By either verb; ICRCs are left as they were."""
        path = self.write("forged", header, records)
        found = [document(path, options=["--messages", "0", "--no-icrc"])["findings"],
                 fabtap("audit", "--no-icrc", "-m", self.folder / "all.map.json", "--json", path).json()["findings"]]
        return [{frame for f in findings if f["rule"].startswith("nccl.") for frame in f["frames"]} for findings in found]


class Forged(WithForged):
    def places(self):
        """A message of each capture in which nothing was lost: when it was asked for, and when it was there."""
        for capture, truth in self.each():
            if any(c.get("retransmitted_packets_seen") for c in truth["connections"]):
                continue
            header, records = read_pcap(capture)
            singles = [m for m in truth["messages"] if m["n"] == 1 and m["wire"][0]["dmalen"] and m["cts_frame"]]
            for message in random.Random(7).sample(singles[3:], min(1, len(singles[3:]))):
                for at in (message["cts_frame"] - 1, message["frames"][1] - 1):
                    yield capture, header, Place(records, truth, message, at)

    def test_writes_outside_what_was_asked_for(self):
        for capture, header, place in self.places():
            like = place.records[next(i for i in place.data if place.records[i][16 + BTH] in (0x06, 0x0a, 0x0b))]
            va, size = int(place.message["receive"]["addrs"][0], 16), place.message["receive"]["posted_sizes"][0]
            psn, far = place.next_psn(place.data, place.at), place.next_psn(place.data, len(place.records)) + 1000
            for name, to in (("above", va + size), ("below", va - 64), ("above by a byte", va + size - 63),
                             ("below by a byte", va - 1), ("far away", va + (1 << 30))):
                if not place.is_asked(to, 64):
                    forged = retouched(like, psn=psn, reth=(to, 64))
                    self.named(name, capture, header, place.with_frame(forged), place.at + 2)
                    self.named(name + ", in sequence", capture, header, place.with_frame(forged, psn, place.data), place.at + 2)
                    forged = retouched(like, psn=far, reth=(to, 64))
                if not place.is_asked(to, 64) and place.data[-1] > place.at:
                    self.named(name + ", far ahead", capture, header, place.with_frame(forged), place.at + 2)
            if place.data[-1] > place.at:
                forged = retouched(like, psn=far, reth=(va, min(size, 64)))
                self.named("where it was asked for, far ahead", capture, header, place.with_frame(forged), place.at + 2)
            forged = retouched(like, psn=psn, reth=(va, 64), key=0x66666666)
            self.named("other key", capture, header, place.with_frame(forged), place.at + 2)

    def test_writes_to_nowhere_without_a_set_up(self):
        """How several queue pairs share the messages is a guess then; what no clear-to-send asked for is told whichever it is."""
        told = collections.Counter()
        for capture, header, place in self.places():
            like = place.records[next(i for i in place.data if place.records[i][16 + BTH] in (0x06, 0x0a, 0x0b))]
            to = int(place.message["receive"]["addrs"][0], 16) + (1 << 30)
            forged = retouched(like, psn=place.next_psn(place.data, place.at), reth=(to, 64))
            records = place.with_frame(forged, place.next_psn(place.data, place.at), place.data)
            frame = sum(map(is_roce, records[:place.at + 2]))
            path = self.write("forged", header, list(filter(is_roce, records)))
            for verb in ("nccl", "audit"):
                with self.subTest(capture=capture.name, verb=verb, frame=frame):
                    blamed = [(f["rule"], f["frames"]) for f in self.findings(verb, path)]
                    self.assertIn(blamed, ([], [("nccl.write-outside", [frame])], [("nccl.write-unasked", [frame])]))
                    told[len(place.connection["receiver_qpns"]) > 1, bool(blamed)] += 1
        for several in (False, True):
            self.assertGreater(told[several, True], told[several, False], told)

    def clear_to_sends(self, place, like):
        """(name, address, key, payload): none of them is the next one."""
        va, key, length = struct.unpack_from(">QII", like, 16 + BTH + 12)
        entry = like[16 + BTH + 28:16 + BTH + 28 + length]
        fifo = place.connection["cts_fifo_at_sender"]
        at, size = {"B": (12, 4), "C": (24, 8), "D": (32, 8), "E": (40, 8), "F": (56, 8)}[place.family]
        index, first = int.from_bytes(entry[at:at + size], "little"), 0 if place.family == "B" else 1

        def slot(i):
            return int(fifo["addr"], 16) + (i - first) % fifo["slots"] * fifo["slot_stride_bytes"]

        def numbered(i):
            return entry[:at] + i.to_bytes(size, "little") + entry[at + size:]

        yield "in the wrong slot", slot(index + 2), key, numbered(index + 1)
        yield "with a wrong number", slot(index + 1), key, numbered(index + 6)
        yield "ahead of others", slot(index + 6), key, numbered(index + 6)
        yield "with another key", slot(index + 1), key ^ 0x10101, numbered(index + 1)
        yield "of no family", slot(index + 1), key, b"\xa5" * length
        yield "again", va, key, entry

    def test_clear_to_sends(self):
        for capture, header, place in self.places():
            before = [i for i in place.asks if i <= place.at]
            if len(before) < 3 or place.message["n"] != 1 or len(place.connection["sender_qpns"]) != 1:
                continue
            like = place.records[before[-1]]
            if field(like, BTH + 24, 4) != {"B": 32, "C": 32}.get(place.family, 64):
                continue
            psn = place.next_psn(place.asks, place.at)
            for name, va, key, payload in self.clear_to_sends(place, like):
                forged = retouched(like, psn=psn, reth=(va, len(payload)), key=key, payload=payload)
                self.named("clear-to-send " + name, capture, header, place.with_frame(forged), place.at + 2)
                self.named("clear-to-send %s, in sequence" % name, capture, header,
                           place.with_frame(forged, psn, place.asks), place.at + 2)

    def test_clear_to_sends_that_changed_places(self):
        """Their PSNs in order: no transport sends so. The connection is followed on behind them."""
        for capture, header, place in self.places():
            mine = [i for i in place.asks if field(place.records[i], BTH + 24, 4) in (32, 64)]
            ahead = [i for i in mine if i > place.at]
            if len(mine) - len(ahead) < 3 or len(ahead) < 6 or len(place.connection["sender_qpns"]) != 1:
                continue
            sent = sum(c["counts"]["cts"] for c in document(capture, options=["--messages", "0"])["connections"])
            for count in (2, 3):
                whole = [place.records[i] for i in ahead[:count]]
                records = list(place.records)
                for at, (like, other) in zip(ahead, zip(whole, whole[1:] + whole[:1])):
                    va, key, length = struct.unpack_from(">QII", other, 16 + BTH + 12)
                    records[at] = retouched(like, psn=psn_of(like), reth=(va, length), key=key,
                                            payload=other[16 + BTH + 28:][:length])
                path = self.write("moved", header, records)
                # where data passed before its clear-to-send, audits look at too few acknowledgments to count without a set-up
                for verb in ("nccl", "audit") if "first_message_k_in_capture" not in place.connection else ("nccl",):
                    blamed = {frame for finding in self.findings(verb, path) for frame in finding["frames"]}
                    with self.subTest(capture=capture.name, verb=verb, frames=[at + 1 for at in ahead[:count]]):
                        self.assertLessEqual(blamed, {at + 1 for at in ahead[:count]})
                        self.assertTrue(blamed)
                followed = [c["counts"]["cts"] for c in document(path, options=["--messages", "0"])["connections"]]
                with self.subTest(capture=capture.name, clear_to_sends=followed):
                    self.assertGreaterEqual(sum(followed), sent - count)

    def test_clear_to_sends_out_of_their_sequence(self):
        """Under the PSN of an older one, whose copy they are not, and farther away than transport can be; the connection goes on."""
        for capture, header, place in self.places():
            before = [i for i in place.asks if i <= place.at]
            if len(before) < 3 or place.asks[-1] == before[-1] or len(place.connection["sender_qpns"]) != 1:
                continue
            like = place.records[before[-1]]
            if field(like, BTH + 24, 4) != {"B": 32, "C": 32}.get(place.family, 64):
                continue
            for name, va, key, payload in self.clear_to_sends(place, like):
                for verb, way, psn in (("audit", "old", psn_of(place.records[before[-2]])), ("nccl", "far", psn_of(like) + (1 << 20))):
                    forged = retouched(like, psn=psn, reth=(va, len(payload)), key=key, payload=payload)
                    self.named("%s clear-to-send %s" % (way, name), capture, header, place.with_frame(forged), place.at + 2, (verb,))

    def test_another_key_under_the_psn_of_a_clear_to_send(self):
        """Where it was put, and all else, as it was."""
        at = {"B": 16, "C": 12, "D": 12}
        for capture, header, place in self.places():
            before = [i for i in place.asks if i <= place.at]
            like = place.records[before[-1]] if before else None
            if like is None or field(like, BTH + 24, 4) != {"B": 32, "C": 32}.get(place.family, 64):
                continue
            payload = bytearray(like[16 + BTH + 28:][:field(like, BTH + 24, 4)])
            payload[at.get(place.family, 16)] ^= 0x41
            forged = retouched(like, payload=bytes(payload), reth=(field(like, BTH + 12, 8), len(payload)))
            self.named("another key", capture, header, place.with_frame(forged), place.at + 2)

    def test_another_address_in_front_of_a_clear_to_send(self):
        """Under its PSN: the data goes by the true one, which comes second."""
        tried = 0
        for capture, header, place in self.places():
            answered = {m["cts_frame"] - 1 for m in place.truth["messages"] if m["n"] == 1 and m["cts_frame"] and m["wire"][0]["dmalen"]}
            before, ahead = [[i for i in place.asks if (i > place.at) == later] for later in (False, True)]
            if len(before) < 3 or not ahead or ahead[0] not in answered or len(place.connection["sender_qpns"]) != 1:
                continue
            like, place.at = place.records[ahead[0]], ahead[0] - 1
            payload = like[16 + BTH + 28:][:field(like, BTH + 24, 4)]
            other = (int.from_bytes(payload[:8], "little") + (1 << 30)).to_bytes(8, "little") + payload[8:]
            forged = retouched(like, reth=(field(like, BTH + 12, 8), len(payload)), payload=other)
            self.named("in front", capture, header, place.with_frame(forged), place.at + 2)
            tried += 1
        self.assertGreater(tried, 3)

    def test_another_address_under_the_psn_of_a_clear_to_send_of_its_own_layout(self):
        """Of a build whose entries are no release's: the one that the data does not go by is named, and no data."""
        folder = shared()
        if folder is None:
            self.skipTest("the reference captures are not here (FT_SHARED or ../shared)")
        header, records = read_pcap(folder / "captures" / "nccl-emul-2rank.pcap")
        asks = [i for i, r in enumerate(records) if is_roce(r) and r[16 + BTH] == nccl.WRITE_ONLY and field(r, BTH + 24, 4) == 64]
        self.assertEqual(len(asks), 64)
        for at in asks[24::8]:
            like = records[at]
            payload = like[16 + BTH + 28:][:64]
            other = (int.from_bytes(payload[:8], "little") + (1 << 20)).to_bytes(8, "little") + payload[8:]
            forged = retouched(like, psn=psn_of(like), reth=(field(like, BTH + 12, 8), 64), payload=other)
            for name, behind in (("behind", at + 1), ("before", at)):
                self.named(name, folder / "captures" / "nccl-emul-2rank.pcap", header,
                           records[:behind] + [forged] + records[behind:], behind + 1)

    def test_the_first_clear_to_send_again(self):
        """Behind its set-up, before there is a second one."""
        for capture, truth in self.each():
            message = truth["messages"][0]
            if message["k"] != 0 or truth["snaplen"] < 9000 or any(c["retransmitted_packets_seen"] for c in truth["connections"]):
                continue
            header, records = read_pcap(capture)
            place = Place(records, truth, message, message["cts_frame"] - 1)
            like, psn = records[place.at], place.next_psn(place.asks, place.at)
            va, key, length = struct.unpack_from(">QII", like, 16 + BTH + 12)
            forged = retouched(like, psn=psn, reth=(va, length), key=key, payload=like[16 + BTH + 28:][:length])
            self.named("first again", capture, header, place.with_frame(forged, psn, place.asks), place.at + 2)

    def test_an_end_of_nothing(self):
        """An empty write with an immediate behind the end of a message: it is named, and not what comes in its place."""
        for capture, header, place in self.places():
            like = place.records[place.message["wire"][0]["first_frame"] - 1]
            psn = place.next_psn(place.data, place.at)
            if len(place.connection["receiver_qpns"]) != 1:
                continue
            body = retouched(like, psn=psn, reth=(0, 0), key=0)[16 + BTH:-4]
            made = nccl.WRITE_ONLY_IMM.to_bytes(1, "big") + body[1:] + struct.pack("<I", 0x1234)
            front = bytearray(like[16:16 + BTH])
            struct.pack_into(">H", front, 16, 20 + 8 + len(made) + 4)
            struct.pack_into(">H", front, 38, 8 + len(made) + 4)
            front[24:26] = bytes(2)
            front[24:26] = struct.pack(">H", checksum(bytes(front[14:34])))
            frame = bytes(front) + made + bytes(4)  # whatever ICRC
            forged = like[:8] + struct.pack("<II", len(frame), len(frame)) + frame
            for name, records in (("an end", place.with_frame(forged)), ("an end, in sequence", place.with_frame(forged, psn, place.data))):
                path = self.write("forged", header, records)
                with self.subTest(capture=capture.name, forged=name, frame=place.at + 2):
                    found = document(path, options=["--messages", "0", "--no-icrc"])["findings"]
                    self.assertEqual([(f["rule"], f["frames"]) for f in found], [("nccl.contradiction", [place.at + 2])])

    def test_an_immediate_of_the_first_messages(self):
        """No length: the frame is named once others were right, and none of the sender's."""
        tried = 0
        for capture, truth in self.each():
            if any(len(c["sender_qpns"]) != 1 or c.get("retransmitted_packets_seen") for c in truth["connections"]):
                continue
            header, records = read_pcap(capture)
            mine = [m for m in truth["messages"] if m["connection"] == truth["connections"][0]["connection"]]
            for message in [m for m in mine[:3] if m["n"] == 1 and m["cts_frame"] and m["wire"][0]["dmalen"] > 64]:
                at, size = message["frames"][1] - 1, message["wire"][0]["dmalen"]
                last = records[at]
                if message["wire"][-1]["last_opcode"] != "0x09" or len(mine) < 8:
                    continue
                order = ">" if message["wire"][-1]["imm_wire_bytes"] == "%08x" % size else "<"
                wrong = last[:16 + BTH + 12] + struct.pack(order + "I", size - 64) + last[16 + BTH + 16:]
                self.named("immediate", capture, header, records[:at] + [wrong] + records[at + 1:], at + 1, options=["--no-icrc"])
                tried += 1
        self.assertGreater(tried, 3)

    def test_an_early_immediate_in_the_other_byte_order(self):
        """The first or the second that tells: those behind it are right, and are not named."""
        tried = 0
        for capture, truth in self.each():
            header, records = read_pcap(capture)
            told = [m for m in truth["messages"] if m["connection"] == 0 and m["n"] == 1 and len(m["wire"]) == 1 and
                    m["wire"][0]["dmalen"] and "imm_wire_bytes" in m["wire"][0]]
            told = [m for m in told if bytes.fromhex(m["wire"][0]["imm_wire_bytes"]) != bytes.fromhex(m["wire"][0]["imm_wire_bytes"])[::-1]]
            if len(told) < 6 or any(c.get("retransmitted_packets_seen") for c in truth["connections"]):
                continue
            clean = document(capture, options=["--messages", "0"])["connections"]
            for message in told[:2]:
                at = message["wire"][0]["last_frame"] - 1
                begin = 16 + BTH + 12 + (16 if records[at][16 + BTH] == nccl.WRITE_ONLY_IMM else 0)
                forged = records[at][:begin] + records[at][begin:begin + 4][::-1] + records[at][begin + 4:]
                path = self.write("reversed", header, records[:at] + [forged] + records[at + 1:])
                with self.subTest(capture=capture.name, frame=at + 1):
                    found = document(path, options=["--messages", "0", "--no-icrc"])
                    self.assertEqual([(f["rule"], f["frames"]) for f in found["findings"] if f["frames"] != [at + 1]], [])
                    self.assertEqual([c["imm"]["order"] for c in found["connections"]], [c["imm"]["order"] for c in clean])
                tried += 1
        self.assertGreater(tried, 7)

    def test_other_writers(self):
        for capture, header, place in self.places():
            if place.at + 1 != place.message["cts_frame"]:
                continue
            like = place.records[place.message["wire"][0]["first_frame"] - 1]
            forged = retouched(like, psn=7, source=bytes((10, 66, 6, 6)), reth=(int(place.message["wire"][0]["va"], 16), 4))
            self.named("another address", capture, header, place.with_frame(forged), place.at + 2)
            forged = retouched(like, psn=7, qpn=0x4321, reth=(int(place.message["wire"][0]["va"], 16), 4))
            self.named("another queue pair", capture, header, place.with_frame(forged), place.at + 2)
            if "first_message_k_in_capture" in place.connection:
                continue
            forged = retouched(place.records[place.at], psn=7, source=bytes((10, 66, 6, 6)))
            self.named("another address, to the FIFO", capture, header, place.with_frame(forged), place.at + 2)

    def test_another_address_to_a_queue_pair(self):
        """To nothing that was asked for: named once the connection has gone on."""
        for capture, header, place in self.places():
            like = place.records[place.message["wire"][0]["first_frame"] - 1]
            forged = retouched(like, psn=7, source=bytes((10, 66, 6, 6)), reth=(0x1000, 64), key=7)
            records = place.with_frame(forged)
            if place.data[-1] > place.at:
                self.named("another address, to nothing", capture, header, records, place.at + 2)

    def test_a_copy_of_a_clear_to_send_before_its_connection_is_known(self):
        """Without a set-up two of them show one; another address has sent a copy of the first by then."""
        told = collections.Counter()
        for capture, truth in self.each():
            header, records = read_pcap(capture)
            records = list(filter(is_roce, records))
            first = next(i for i, r in enumerate(records) if r[16 + BTH] == nccl.WRITE_ONLY and field(r, BTH + 24, 4) in (32, 64))
            payload = records[first][16 + BTH + 28:][:field(records[first], BTH + 24, 4)]
            forged = retouched(records[first], source=bytes((10, 66, 6, 6)), reth=(field(records[first], BTH + 12, 8), len(payload)),
                               payload=payload)
            path = self.write("forged", header, records[:first + 1] + [forged] + records[first + 1:])
            with self.subTest(capture=capture.name, frame=first + 2):
                blamed = [(f["rule"], f["frames"]) for f in self.findings("nccl", path)]
                self.assertIn(blamed, ([], [("nccl.second-writer", [first + 2])]))
                told[bool(blamed)] += 1
        self.assertGreaterEqual(told[True], 0.9 * told.total(), told)

    def test_another_writer_to_a_fifo_that_is_still_learnt(self):
        """Its slots are 256 of NCCL 2.19 as soon as they are no 64, without a wrap."""
        for capture, truth in self.each():
            if truth["connections"][0].get("first_message_k_in_capture", 255) > 190:
                continue
            header, records = read_pcap(capture)
            for message in truth["messages"]:
                if message["k"] in (195, 235) and message["connection"] == 0:
                    at = message["cts_frame"] - 1
                    forged = retouched(records[at], psn=7, source=bytes((10, 66, 6, 6)))
                    self.named("at message %d" % message["k"], capture, header, records[:at + 1] + [forged] + records[at + 1:], at + 2)


def lossy(records, chance):
    return [r for r in records if chance.random() >= 0.03]


def bursts(records, chance):
    left, kept = 0, []
    for record in records:
        if left == 0 and chance.random() < 0.002:
            left = chance.randrange(1, 40)
        left -= left > 0
        if left == 0:
            kept.append(record)
    return kept


def twice(records, chance):
    return [r for record in records for r in (record, record)]


def out_of_order(records, chance):
    order = sorted(range(len(records)), key=lambda i: i + 4 * chance.random())
    return [records[i][:8] + records[j][8:] for i, j in enumerate(order)]


def sent_again(records, chance):
    """Go-back-N, as where packets are lost behind the tap."""
    sent, seen = [], collections.defaultdict(list)
    for record in records:
        sent.append(record)
        if is_roce(record) and 6 <= record[16 + BTH] <= 0x0b:
            flow = seen[record[16 + 30:16 + 34], record[16 + BTH + 5:16 + BTH + 8]]
            flow.append(record)
            if chance.random() < 0.01:
                sent += [record[:8] + r[8:] for r in flow[-chance.randrange(1, 30):]]
    return sent


def lengthened(record, front, frame):
    captured, original = struct.unpack_from("<II", record, 8)
    return record[:8] + struct.pack("<II", captured + front, original + front) + frame


def tagged(records, chance):
    return [lengthened(r, 4, r[16:28] + b"\x81\0\0\x65" + r[28:]) for r in records]


def mirrored(records, chance):
    """In GRE, ERSPAN type II."""
    copies = []
    for sequence, record in enumerate(records):
        original = struct.unpack_from("<I", record, 12)[0]
        outer = struct.pack(">BBHHHBBH", 0x45, 0, 36 + original, 0, 0, 64, 47, 0) + bytes((192, 0, 2, 1, 192, 0, 2, 2))
        outer = outer[:10] + struct.pack(">H", checksum(outer)) + outer[12:]
        head = bytes(12) + b"\x08\0" + outer + struct.pack(">HHIHHI", 0x1000, 0x88be, sequence, 0x1000, 1, 0)
        copies.append(lengthened(record, len(head), head + record[16:]))
    return copies


def slices(size):
    return lambda records, chance: [cut(record, size) for record in records]


class Spoilt(nccl.WithTruths):
    """What happens to captures, and to packets on their way, is no finding."""

    WAYS = {"lossy": lossy, "bursts": bursts, "twice": twice, "out of order": out_of_order, "sent again": sent_again,
            "tagged": tagged, "mirrored": mirrored, "96 bytes": slices(96), "64 bytes": slices(64)}

    def test_nothing_is_wrong(self):
        for capture, _ in self.each():
            header, records = read_pcap(capture)
            for name, way in self.WAYS.items():
                path = self.write("spoilt", header, way(records, random.Random(1)))
                with self.subTest(capture=capture.name, way=name):
                    self.assertEqual([(f["rule"], f["frames"]) for f in document(path)["findings"]], [])

    def test_a_loss_that_took_the_last_clear_to_send(self):
        """32 frames in a row, of the last message of several connections."""
        folder = shared()
        if folder is None:
            self.skipTest("the reference captures are not here (FT_SHARED or ../shared)")
        header, records = read_pcap(folder / "captures" / "nccl-emul-4rank-ar-oldfifo.pcap")
        told = fabtap("nccl", "--json", self.write("lost", header, records[:2200] + records[2232:])).json()
        self.assertEqual(told["findings"], [])


if __name__ == "__main__":
    main()
