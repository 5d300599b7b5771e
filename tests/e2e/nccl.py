"""NCCL followed through captures: everything that their ground truth says, also where frames are cut, lost or missing at the
start; and forged writes found, each by its own frame."""

import itertools
import json
import random
import struct
import zlib

from harness import DATA, VIOLATED, WithFolder, fabtap, main, shared
from nccl_truth import compare
from pcapfile import read_pcap, write_pcap
from roce import checksum

WRITE_FIRST, WRITE_MIDDLE, WRITE_ONLY, WRITE_ONLY_IMM = 0x06, 0x07, 0x0a, 0x0b
IP, BTH = 14, 42  # offsets in frames of the truths: no tag, no options
CUT = [192, 160, 128]
HEADERS = 74  # bytes up to the immediate, and nothing behind it
OUTSIDE = {"nccl.write-outside", "nccl.write-unasked"}  # with no clear-to-send open that it could answer it is unasked


def document(*captures, options=()):
    return fabtap("nccl", "--json", *options, *captures).json()


def cut(record, size):
    seconds, fraction, captured, original = struct.unpack_from("<IIII", record)
    captured = min(captured, size)
    return struct.pack("<IIII", seconds, fraction, captured, original) + record[16:16 + captured]


def is_roce(record):
    frame = record[16:]
    return len(frame) > BTH + 12 and frame[12:14] == b"\x08\x00" and frame[23] == 17 and frame[36:38] == b"\x12\xb7"


def opcode(record):
    return record[16 + BTH] if is_roce(record) else None


def retouched(record, source=None, psn=None, reth=None, key=None, payload=None, qpn=None):
    """A WRITE Only made of a write with a RETH: other source, PSN, (address, length), destination queue pair."""
    frame = bytearray(record[16:])
    frame[BTH] = WRITE_ONLY
    va, rkey, length = struct.unpack_from(">QII", frame, BTH + 12)
    va, length = reth or (va, min(length, 1024))
    body = bytes(frame[BTH:BTH + 12]) + struct.pack(">QII", va, rkey if key is None else key, length) + (payload or b"X" * length)
    body = body[:1] + bytes([body[1] & 0xcf]) + body[2:]
    if psn is not None:
        body = body[:8] + struct.pack(">I", psn & 0xffffff | 0x80000000) + body[12:]
    if qpn is not None:
        body = body[:5] + qpn.to_bytes(3, "big") + body[8:]
    ip = bytearray(frame[IP:IP + 20])
    size = 20 + 8 + len(body) + 4
    struct.pack_into(">H", ip, 2, size)
    struct.pack_into(">H", ip, 10, 0)
    if source is not None:
        ip[12:16] = source
        frame[6:12] = b"\x02\x66" + source
    struct.pack_into(">H", ip, 10, checksum(bytes(ip)))
    udp = bytes(frame[34:38]) + struct.pack(">HH", size - 20, 0)
    ip = bytes(ip)
    masked = ip[:1] + b"\xff" + ip[2:8] + b"\xff" + ip[9:10] + b"\xff\xff" + ip[12:] + udp[:6] + b"\xff\xff"
    icrc = zlib.crc32(b"\xff" * 8 + masked + body[:4] + b"\xff" + body[5:])
    made = bytes(frame[:IP]) + ip + udp + body + struct.pack("<I", icrc)
    return record[:8] + struct.pack("<II", len(made), len(made)) + made


EXTENDED = {WRITE_FIRST: 16, 0x09: 4, WRITE_ONLY: 16, WRITE_ONLY_IMM: 20, 0x11: 4}  # bytes between BTH and payload


def encrypted(record, random_bytes):
    """What lies behind the transport headers is nothing that can be read."""
    at = 16 + BTH + 12 + EXTENDED.get(opcode(record), 0)
    return record[:at] + random_bytes(max(len(record) - at - 4, 0)) + record[max(at, len(record) - 4):]


def sizes_of(message):
    """What was sent for each request, in their order."""
    return [send["size"] for send in sorted(message["sends"], key=lambda send: send.get("index_in_group", 0))]


class WithTruths(WithFolder):
    maxDiff = None

    def write(self, name, header, records):
        return write_pcap(self.folder / (name + ".pcap"), header, records)

    def folders(self):
        yield DATA / "nccl"
        folder = shared()
        if folder is None:
            self.skipTest("the reference captures of NCCL are not here (FT_SHARED or ../shared): only the shipped ones were tried")
        yield folder / "captures" / "nccl"

    def each(self):
        """(capture, its truth)"""
        for folder in self.folders():
            for path in sorted(folder.glob("*.truth.json")):
                yield path.parent / path.name.replace(".truth.json", ".pcap"), json.loads(path.read_text())


class Truths(WithTruths):
    def test_all_that_the_truths_say(self):
        for capture, truth in self.each():
            with self.subTest(capture=capture.name):
                self.assertEqual(compare(document(capture, options=["--keys"]), truth), [])

    def unread(self):
        """(name, document, truth with frames as they are there) without what set-ups and payload tell: encrypted, and cut off."""
        chance = random.Random(5)
        for capture, truth in self.each():
            header, records = read_pcap(capture)
            kept = [number for number, record in enumerate(records, 1) if is_roce(record)]
            place = {number: at for at, number in enumerate(kept, 1)}
            path = self.write("unread", header, [encrypted(records[number - 1], chance.randbytes) for number in kept])
            yield capture.name, document(path, options=["--no-icrc"]), truth, place
            path = self.write("short", header, [cut(records[number - 1], HEADERS) for number in kept])
            yield capture.name + " cut", document(path), truth, place

    def test_payload_that_is_encrypted(self):
        """By lengths and timing alone: every connection, and every message whose number is told with what asked for it."""
        for name, told, truth, place in self.unread():
            with self.subTest(capture=name):
                self.assertEqual(sorted(c["sender"]["qpns"] for c in told["connections"]),
                                 sorted(c["sender_qpns"] for c in truth["connections"]))
                self.assertEqual(told["findings"], [])
                self.assertEqual(sum(c["counts"]["messages"] for c in told["connections"]), len(truth["messages"]))
                rows = self.answered(told, truth)
                true = {(m["connection"], m["k"]): (place.get(m["cts_frame"]), *map(place.get, m["frames"]), sizes_of(m))
                        for m in truth["messages"]}
                self.assertEqual({key: row for key, row in rows.items() if true[key] != row}, {})
                began_later = "first_message_k_in_capture" in truth["connections"][0]
                self.assertGreaterEqual(len(rows), 0.95 * len(true) if began_later else len(true))

    def answered(self, told, truth):
        """By connection and number: clear-to-send, frames and length."""
        senders = {(c["sender_addresses"][0], c["sender_qpns"][0]): c["connection"] for c in truth["connections"]}
        ids = {c["connection"]: senders[c["sender"]["addresses"][0], c["sender"]["qpns"][0]] for c in told["connections"]}
        return {(ids[m["connection"]], m["k"]): (m["cts_frame"], m["first_frame"], m["last_frame"],
                                                  [r["written_bytes"] for r in m["requests"]])
                for m in told["messages"] if m["first_frame"] is not None and m["k"] is not None}

    def test_a_mirror_by_opcode_with_headers_alone(self):
        """Nor what is in the midst of messages: lengths and immediates show every connection all the same."""
        for capture, truth in self.each():
            header, records = read_pcap(capture)
            kept = [number for number, record in enumerate(records, 1) if is_roce(record) and opcode(record) != WRITE_MIDDLE]
            place = {number: at for at, number in enumerate(kept, 1)}
            told = document(self.write("ends", header, [cut(records[number - 1], HEADERS) for number in kept]))
            with self.subTest(capture=capture.name):
                self.assertEqual(sorted(c["sender"]["qpns"] for c in told["connections"]),
                                 sorted(c["sender_qpns"] for c in truth["connections"]))
                self.assertEqual(told["findings"], [])
                true = {(m["connection"], m["k"]): [place.get(frame) for frame in (m["cts_frame"], *m["frames"])]
                        for m in truth["messages"]}
                rows = self.answered(told, truth)
                wrong = [(key, row) for key, row in rows.items()
                         if any(of != at and at is not None for of, at in zip(row, true[key]))]  # None: its frame is left out
                self.assertEqual(wrong, [])
                self.assertGreaterEqual(len(rows), 0.95 * len(true))

    def test_encrypted_lines_are_no_simple_data(self):
        for name, told, _, _ in self.unread():
            if "-ll" in name:
                self.assertEqual({m["protocol"] for m in told["messages"] if m["first_frame"] is not None}, {"unknown"})

    def test_several_workers_find_the_same(self):
        for capture, _ in self.each():
            with self.subTest(capture=capture.name):
                self.assertEqual(document(capture, options=["--workers", "3"]), document(capture))

    def test_frames_cut_short(self):
        """Of the set-up over TCP the beginnings are there; 128 bytes lose the last of a clear-to-send of 64 bytes."""
        for capture, truth in self.each():
            header, records = read_pcap(capture)
            for size in CUT:
                short = self.write("cut", header, [cut(record, size) for record in records])
                told = document(short)
                with self.subTest(capture=capture.name, size=size):
                    self.agrees(told, truth)
                    self.assertEqual(len(told["connections"]), len(truth["connections"]))
                    self.set_ups_agree(told, truth)

    def test_set_ups_in_96_bytes(self):
        """The list of devices of 2.30 is cut, which 128 bytes leave."""
        for capture, truth in self.each():
            header, records = read_pcap(capture)
            told = document(self.write("cut", header, [cut(record, 96) for record in records]), options=["--messages", "0"])
            with self.subTest(capture=capture.name):
                self.set_ups_agree(told, truth)
                for one in told["connections"]:
                    self.assertEqual(one["family"]["name"], truth["cts_family"])
                    if one["qps_per_connection"] == 1:
                        self.assertIsNone(one["split_data_on_qps"])

    def set_ups_agree(self, told, truth):
        """All that were captured are told, and the number of slots that no clear-to-send may show."""
        began_later = "first_message_k_in_capture" in truth["connections"][0]
        true = {(c["sender_addresses"][0], c["sender_qpns"][0]): c for c in truth["connections"]}
        starts = {(*t["client"], *t["server"]): t["first_frame"] for t in truth.get("tcp", [])}
        for one in told["connections"]:
            mine, tcp = true[one["sender"]["addresses"][0], one["sender"]["qpns"][0]], one["metadata_tcp"]
            self.assertEqual(tcp is None, began_later)
            self.assertEqual(one["found_by"], "cts" if began_later else "metadata")
            if tcp is not None:
                self.assertEqual((tcp["connecting_side"], tcp["listening_side"]),
                                 (mine["metadata_tcp"]["connecting_side"], mine["metadata_tcp"]["listening_side"]))
                self.assertEqual(tcp["frames"][0], starts[(*tcp["connecting_side"], *tcp["listening_side"])])
                self.assertEqual(one["cts_fifo"]["slots"], mine["cts_fifo_at_sender"]["slots"])

    def agrees(self, told, truth, least=1.0):
        """What is said to be complete is true; `least` of the messages are."""
        def place(addresses, *qpns):
            return (addresses[0], *map(tuple, qpns))

        places = {place(c["sender_addresses"], c["sender_qpns"], c["receiver_qpns"]): c for c in truth["connections"]}
        ids = {}
        for one in told["connections"]:
            true = places.get(place(one["sender"]["addresses"], one["sender"]["qpns"], one["receiver"]["qpns"]))
            self.assertIsNotNone(true, "a connection that there is not: %r" % (one["sender"],))
            self.assertEqual(one["receiver"]["addresses"], true["receiver_addresses"])
            if one["family"]["name"] is not None:
                self.assertEqual(one["family"]["name"], truth["cts_family"])
            ids[one["connection"]] = true["connection"]
        rows = {(m["connection"], m["k"]): m for m in truth["messages"]}
        right = 0
        for row in told["messages"]:
            true = rows.get((ids[row["connection"]], row["k"]))
            if true is None or not row["completed"]:
                continue
            written = [None] * true["n"]
            for send in true["sends"]:
                written[send.get("index_in_group", 0)] = send["size"]
            self.assertEqual([r["written_bytes"] for r in row["requests"]], written, row)
            self.assertEqual(row["packets"], sum(w["packets"] for w in true["wire"]), row)
            right += 1
        self.assertGreaterEqual(right, least * len(rows))
        self.assertEqual(told["findings"], [])

    def test_one_frame_in_a_hundred_lost(self):
        for capture, truth in self.each():
            header, records = read_pcap(capture)
            for seed in range(3):
                chance = random.Random(seed)
                kept = [record for record in records if chance.random() >= 0.01]
                with self.subTest(capture=capture.name, seed=seed):
                    told = document(self.write("lossy", header, kept))
                    self.assertEqual([(f["rule"], f["frames"]) for f in told["findings"]], [])
                    self.agrees(told, truth, least=0.25)
                    self.adds_up(told)

    def adds_up(self, told):
        """Bytes of a connection are those of its messages, and of a message those of its queue pairs, as far as they are known."""
        for row in told["connections"]:
            mine = [m for m in told["messages"] if m["connection"] == row["connection"]]
            written = [sum(r["written_bytes"] or 0 for r in m["requests"]) for m in mine]
            self.assertEqual(row["counts"]["payload_bytes"], sum(written))
            for message, total in zip(mine, written):
                parts = [part["bytes"] for part in message["qps"]]
                if parts and None not in parts and len(parts) == len(row["sender"]["qpns"]):
                    self.assertEqual(sum(parts), total, message)

    def test_a_queue_pair_out_of_step_is_no_fault(self):
        """Frames lost of queue pairs that take turns: one that missed a message shows it only when its turn comes again."""
        folder = shared()
        if folder is None:
            self.skipTest("the reference captures of NCCL are not here (FT_SHARED or ../shared)")
        header, records = read_pcap(folder / "captures" / "nccl" / "qps2split0-2.19.3.pcap")
        for lost in ([21, 35, 53, 146, 174, 209, 255, 261, 365, 388, 539],
                     [31, 42, 58, 113, 116, 191, 193, 257, 318, 390, 400, 425, 458, 487],
                     [22, 65, 174, 181, 264, 373, 435, 506, 550]):
            kept = [record for number, record in enumerate(records, 1) if number not in lost]
            with self.subTest(lost=lost):
                told = document(self.write("turns", header, kept))
                self.assertEqual([(f["rule"], f["frames"]) for f in told["findings"]], [])

    def test_what_nobody_saw_but_acknowledgments_tell_is_no_fault(self):
        """The last clear-to-send is lost in a burst with what the first queue pair brought; the second one's part is there."""
        folder = shared()
        if folder is None:
            self.skipTest("the reference captures of NCCL are not here (FT_SHARED or ../shared)")
        header, records = read_pcap(folder / "captures" / "nccl" / "multirecv-q2-2.21.5.pcap")
        told = document(self.write("burst", header, records[:177] + records[186:]))
        self.assertEqual([(f["rule"], f["frames"]) for f in told["findings"]], [])

    def test_each_row_has_a_frame(self):
        """The first packets of a message are lost, whose end may be another empty message's."""
        folder = shared()
        if folder is None:
            self.skipTest("the reference captures of NCCL are not here (FT_SHARED or ../shared)")
        header, records = read_pcap(folder / "captures" / "nccl" / "single-2.10.3.pcap")
        rows = document(self.write("burst", header, records[:177] + records[186:]))["messages"]
        self.assertGreater(len(rows), 5)
        self.assertEqual([row for row in rows if row["cts_frame"] is row["first_frame"] is None], [])

    def test_a_start_in_the_middle(self):
        for capture, truth in self.each():
            header, records = read_pcap(capture)
            for share in (0.2, 0.5):
                skipped = int(len(records) * share)
                rest = [m for m in truth["messages"] if m["frames"][0] > skipped]
                told = document(self.write("middle", header, records[skipped:]))
                with self.subTest(capture=capture.name, skipped=skipped):
                    self.assertEqual([(f["rule"], f["frames"]) for f in told["findings"]], [])
                    if len(rest) > 8:
                        self.agrees(told, {**truth, "messages": rest}, least=0.9)

    def test_no_message_is_complete_that_lacks_requests(self):
        """Where the capture begins in the middle, before several requests sent together are known to belong together."""
        for capture, truth in self.each():
            header, records = read_pcap(capture)
            sizes = {m["k"]: sorted((s.get("index_in_group", 0), s["size"]) for s in m["sends"]) for m in truth["messages"]}
            if all(m["n"] == 1 for m in truth["messages"]):
                continue
            for skipped in range(2, 100, 4):
                told = document(self.write("middle", header, records[skipped:]))
                whole = {m["k"]: list(enumerate(r["written_bytes"] for r in m["requests"]))
                         for m in told["messages"] if m["completed"] and m["cts_frame"]}
                with self.subTest(capture=capture.name, skipped=skipped):
                    self.assertEqual(whole, {k: sizes[k] for k in whole})

    def test_several_requests_from_the_middle(self):
        """Each start is tried. Of what began before, the array of sizes tells how many requests there were."""
        for capture, truth in self.each():
            if all(m["n"] == 1 for m in truth["messages"]):
                continue
            header, records = read_pcap(capture)
            true = {m["k"]: (m["n"], m["frames"], sizes_of(m)) for m in truth["messages"]}
            by_array = "multi_receive_sizes_at_receiver" in truth["connections"][0]
            for skipped in range(8, min(len(records) - 60, 200), 3):
                told = document(self.write("middle", header, records[skipped:]))
                rows = {m["k"]: (m["n"], [m["first_frame"] + skipped, m["last_frame"] + skipped],
                                 [r["written_bytes"] for r in m["requests"]], m["completed"])
                        for m in told["messages"] if m["first_frame"] is not None and m["k"] is not None}
                with self.subTest(capture=capture.name, skipped=skipped):
                    self.assertEqual(told["findings"], [])
                    self.assertEqual({k: row[:3] for k, row in rows.items() if row[3]}, {k: true[k] for k in rows if rows[k][3]})
                    for k, (count, frames, lengths, completed) in rows.items():
                        self.assertEqual(frames[1], true[k][1][1])
                        if by_array or count > 1:
                            self.assertEqual((count, lengths), (true[k][0], true[k][2]))
                        else:
                            self.assertLessEqual(set(lengths), {None, *true[k][2]})  # what was seen of it


class Forged(WithTruths):
    """Writes added to a healthy capture."""

    def each(self):
        """Not where packets were lost: near holes nothing is told."""
        for capture, truth in super().each():
            if not any(c.get("retransmitted_packets_seen", {}).get("data") for c in truth["connections"]):
                yield capture, truth

    def data_writes(self, records, truth):
        """Indices of first packets of data writes of one request, beyond the first few messages."""
        frames = [m["wire"][0]["first_frame"] for m in truth["messages"] if m["n"] == 1 and m["wire"][0]["dmalen"] > 0]
        return [frame - 1 for frame in frames[2:]]

    def next_psn(self, records, at, last):
        """Behind all that the half-connection of record `at` sends up to record `last`."""
        mine = records[at][16:]
        psn = 0
        for record in records[:last + 1]:
            if is_roce(record) and record[16 + 26:16 + 34] == mine[26:34] and record[16 + BTH + 5:16 + BTH + 8] == mine[BTH + 5:BTH + 8]:
                psn = struct.unpack_from(">I", record, 16 + BTH + 8)[0] & 0xffffff
        return psn + 1

    def found(self, name, capture, records, header, at, forged, rules):
        """The forged record behind record `at` is blamed, and it alone."""
        number = at + 2
        path = self.write(name, header, records[:at + 1] + [forged] + records[at + 1:])
        findings = document(path)["findings"]
        blamed = [(f["rule"], f["frames"]) for f in findings]
        with self.subTest(capture=capture.name, forged=name, frame=number):
            self.assertTrue(any(rule in rules and frames == [number] for rule, frames in blamed), blamed)
            self.assertTrue(all(frames == [number] for _, frames in blamed), blamed)

    def forgeries(self, records, at):
        """(name, record, rules that name it)"""
        va, _, length = struct.unpack_from(">QII", records[at], 16 + BTH + 12)
        psn = self.next_psn(records, at, at)
        stranger = bytes((10, 66, 6, 6))
        yield "outside", retouched(records[at], psn=psn, reth=(va + (1 << 30), 64)), OUTSIDE
        yield "other key", retouched(records[at], psn=psn, key=0x66666666), OUTSIDE
        far = self.next_psn(records, at, len(records) - 1)
        yield "outside, far ahead", retouched(records[at], psn=far, reth=(va + (1 << 30), 64)), OUTSIDE
        yield "stranger", retouched(records[at], psn=psn + 7777, source=stranger), {"nccl.second-writer"}

    def flows(self, capture, *options):
        return fabtap("flows", "--nccl", "--json", *options, capture, timeout=600).json()["flows"]

    def marks(self, path, forged, mapped):
        """The half-connection of the forged record has the rules that name it; no other one has any."""
        source, target = (".".join(map(str, forged[16 + i:20 + i])) for i in (26, 30))
        where = source, target, int.from_bytes(forged[16 + BTH + 5:16 + BTH + 8], "big")
        told = {f["rule"] for f in document(path)["findings"]}
        marked = [row for row in self.flows(path) if row["rules"]]
        self.assertEqual([(r["src"]["address"], r["dst"]["address"], r["dest_qp"]) for r in marked], [where])
        self.assertEqual((set(marked[0]["rules"]), marked[0]["verdict"]), (told, None))
        self.assertEqual(self.flows(path, "--where", "rule=nccl.*"), marked)
        judged = next(row for row in self.flows(path, *mapped) if row["flow"] == marked[0]["flow"])
        self.assertLessEqual(told, set(judged["rules"]))
        self.assertEqual(judged["verdict"], "violated")

    def test_half_connections_are_marked(self):
        """With a map it is a violation."""
        for capture, truth in self.each():
            header, records = read_pcap(capture)
            writes, mapped = self.data_writes(records, truth), ("-m", self.map_of(truth))
            for at in writes[len(writes) // 2:][:1]:
                for name, forged, _ in self.forgeries(records, at):
                    with self.subTest(capture=capture.name, forged=name):
                        path = self.write(name, header, records[:at + 1] + [forged] + records[at + 1:])
                        self.marks(path, forged, mapped)

    def test_each_forged_write_is_found(self):
        for capture, truth in self.each():
            header, records = read_pcap(capture)
            writes = self.data_writes(records, truth)
            for at in writes[len(writes) // 2:][:1]:
                for name, forged, rules in self.forgeries(records, at):
                    self.found(name, capture, records, header, at, forged, rules)
                # behind all else, on a queue pair that goes on where it was
                last = len(records) - 1
                again = retouched(records[at], psn=self.next_psn(records, at, last))
                self.found("unasked", capture, records, header, last, again,
                           {"nccl.write-unasked", "nccl.write-outside", "nccl.replay"})

    def audited(self, truth, header, records, *more):
        """Rules and frames of the findings."""
        path = self.write("audited", header, records)
        run = fabtap("audit", "-m", self.map_of(truth), "--json", *more, path)
        self.assertEqual(run.status, VIOLATED)
        return [(f["rule"], f["frames"]) for f in run.json()["findings"]]

    def test_an_audit_finds_them_too(self):
        """However little passes behind them that is not as expected: a stretch of time begins every tenth of a second."""
        for capture, truth in self.each():
            header, records = read_pcap(capture)
            writes = self.data_writes(records, truth)
            for at in writes[len(writes) // 2:][:1]:
                va, _, _ = struct.unpack_from(">QII", records[at], 16 + BTH + 12)
                forged = retouched(records[at], psn=self.next_psn(records, at, at), reth=(va + (1 << 30), 64))
                among = records[:at + 1] + [forged] + records[at + 1:]
                for name, told in (("as it was", among), ("at once", self.at_once(among))):
                    with self.subTest(capture=capture.name, time=name):
                        found = self.audited(truth, header, told)
                        self.assertTrue(any(f[0] in OUTSIDE and f[1] == [at + 2] for f in found), found)

    @staticmethod
    def at_once(records):
        """A nanosecond or microsecond, as the capture has it, from one to the next."""
        return [struct.pack("<II", 1_700_000_000, i) + record[8:] for i, record in enumerate(records)]

    def test_an_audit_finds_a_stranger_whoever_has_its_frames(self):
        """The writer is known to be of the tenant, and its queue pair has nothing to do with NCCL."""
        for capture, truth in self.each():
            header, records = read_pcap(capture)
            for at, last in itertools.product(self.data_writes(records, truth)[-1:], (201, 202, 203)):
                source = bytes([10, 66, 0, last])
                harmless = retouched(records[at], psn=1, source=source, qpn=0xabcdef)
                forged = retouched(records[at], psn=7777, source=source)
                among = [harmless] + records[:at + 1] + [forged] + records[at + 1:]
                with self.subTest(capture=capture.name, last=last):
                    found = self.audited(truth, header, among)
                    self.assertIn(("nccl.second-writer", [at + 3]), found)
                    self.assertEqual(self.audited(truth, header, among, "--workers", 3), found)

    def map_of(self, truth):
        """One tenant that has all addresses."""
        ips = sorted({ip for c in truth["connections"] for ip in c["sender_addresses"] + c["receiver_addresses"]})
        path = self.folder / "one.map.json"
        path.write_text(json.dumps({
            "schema": "tapmap/1", "map_id": "one", "serial": 1, "issued_at": "2020-01-01T00:00:00Z", "issuer": "tests",
            "fabric": {"kind": "roce"}, "tenants": [{"name": "one", "class": "customer"}],
            "nodes": [{"host": "h%d" % i, "ports": [{"ip": ip}]} for i, ip in enumerate(ips)],
            "segments": [{"name": "one", "tenant": "one", "intervals": [
                {"from": "2000-01-01T00:00:00Z", "to": None, "members": [{"subnet": "10.0.0.0/8"}]}]}]}))
        return path


if __name__ == "__main__":
    main()
