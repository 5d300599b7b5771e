"""The flow table: fabtap.flows/1 field by field against captures whose flows a separate program counted, and the
options that choose, order and cut it. Names of opcodes and counts of the truth files are not ours."""

import collections
import ipaddress
import json
import random
import unittest

import pipelined
import roce
from captures import by_number
from harness import DATA, FAILED, NOT_EVIDENCED, VIOLATED, ReferenceCaptures, WithFolder, fabtap, main
from pcapfile import read_pcap, write_pcap

TENANTS = DATA / "tenants"
DEMO = ("-m", "tenants-ib.map.json", "tenants-ib.pcap")

COUNT, NUMBER, TEXT, TIME, HEX = "count", "number", "text", "time", "hex"
END = {"address": TEXT, "host": (TEXT, None), "tenant": (TEXT, None)}
FLOW = {
    "flow": COUNT, "src": END, "dst": END, "dest_qp": COUNT, "pkey": (HEX, None), "vlan": (COUNT, None), "vni": (COUNT, None),
    "transport": (TEXT, None), "first_ts": (TIME, None), "last_ts": (TIME, None), "packets": COUNT, "bytes": COUNT,
    "payload_bytes": COUNT, "opcodes": dict, "messages": {
        "send": COUNT, "write": COUNT, "read": COUNT, "atomic": COUNT,
        "sizes": {"min": (COUNT, None), "p50": (COUNT, None), "max": (COUNT, None)}},
    "retransmitted": COUNT, "reordered": COUNT, "duplicates": COUNT, "fabric_lost": COUNT, "mirror_lost": COUNT,
    "gaps_open": COUNT, "acks": COUNT, "naks": dict, "rnr_naks": COUNT, "ce_marked": COUNT, "cnps": COUNT,
    "psn_first": (COUNT, None), "psn_last": (COUNT, None), "mtu": (COUNT, None), "verdict": (TEXT, None),
    "rules": (list, None), "connection": (COUNT, None),
}
CONNECTION = {"connection": COUNT, "flows": list, "paired_by": TEXT, "certainty": NUMBER,
              "rtt_ns": ({"min": COUNT, "p50": COUNT, "p99": COUNT}, None)}
TABLE = {"capacity": COUNT, "used": COUNT, "evicted": COUNT, "expired": COUNT, "record_bytes": COUNT, "detail_bytes": COUNT}
NAKS = {"psn_sequence_error", "invalid_request", "remote_access_error", "remote_operational_error", "invalid_rd_request"}
PAIRED_BY = {"cm", "nccl", "transport", "source-port", "ud-source-qp"}

# opname of the wire-format vectors -> number
SERVICES = {"RC": 0x00, "UC": 0x20, "RD": 0x40, "UD": 0x60, "XRC": 0xA0}
OPERATIONS = {
    "SEND_FIRST": 0, "SEND_MIDDLE": 1, "SEND_LAST": 2, "SEND_LAST_IMM": 3, "SEND_ONLY": 4, "SEND_ONLY_IMM": 5,
    "RDMA_WRITE_FIRST": 6, "RDMA_WRITE_MIDDLE": 7, "RDMA_WRITE_LAST": 8, "RDMA_WRITE_LAST_IMM": 9,
    "RDMA_WRITE_ONLY": 10, "RDMA_WRITE_ONLY_IMM": 11, "RDMA_READ_REQUEST": 12, "RDMA_READ_RESPONSE_FIRST": 13,
    "RDMA_READ_RESPONSE_MIDDLE": 14, "RDMA_READ_RESPONSE_LAST": 15, "RDMA_READ_RESPONSE_ONLY": 16, "ACKNOWLEDGE": 17,
    "ATOMIC_ACKNOWLEDGE": 18, "COMPARE_SWAP": 19, "FETCH_ADD": 20, "SEND_LAST_INV": 22, "SEND_ONLY_INV": 23,
}


def number_of(name):
    if name == "CNP":
        return 0x81
    if name.startswith("0x"):
        return int(name, 16)
    service, operation = name.split("_", 1)
    return SERVICES[service] | OPERATIONS[operation]


def flows_of(*arguments, cwd=TENANTS):
    return fabtap("flows", "--json", *arguments, cwd=cwd).json()


class Schema(unittest.TestCase):
    """Every field of the format is there, and nothing has another type."""

    def check(self, value, wanted, where):
        if isinstance(wanted, tuple):
            if value is None:
                return
            wanted = wanted[0]
        if isinstance(wanted, dict):
            self.assertEqual(set(value), set(wanted), where)
            for name, inner in wanted.items():
                self.check(value[name], inner, where + "." + name)
        elif wanted in (dict, list):
            self.assertIsInstance(value, wanted, where)
        elif wanted == COUNT:
            self.assertTrue(type(value) is int and value >= 0, "%s: %r" % (where, value))
        elif wanted == NUMBER:
            self.assertIsInstance(value, (int, float), where)
        elif wanted == TIME:
            self.assertRegex(value, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$", where)
        elif wanted == HEX:
            self.assertRegex(value, r"^0x[0-9a-f]{4}$", where)
        else:
            self.assertIsInstance(value, str, where)

    def document_holds(self, document, map_given):
        self.assertEqual(document["schema"], "fabtap.flows/1")
        for name in ("tool", "capture", "coverage"):
            self.assertIn(name, document)
        self.check(document["table"], TABLE, "table")
        self.assertLessEqual(document["table"]["record_bytes"], 192)
        for flow in document["flows"]:
            self.check(flow, FLOW, "flow %s" % flow.get("flow"))
            self.flow_holds(flow, map_given)
        for connection in document["connections"]:
            self.check(connection, CONNECTION, "connection")
        self.connections_hold(document)

    def flow_holds(self, flow, map_given):
        self.assertTrue(set(flow["naks"]) <= NAKS)
        self.assertIn(flow["transport"], ("RC", "UC", "UD", "RD", "XRC", "CNP", None))
        self.assertEqual(flow["verdict"] is not None, map_given)
        self.assertEqual(flow["rules"] is not None, map_given)
        self.assertLessEqual(sum(flow["opcodes"].values()), flow["packets"])
        self.assertLessEqual(flow["first_ts"] or "", flow["last_ts"] or "")
        sizes = [flow["messages"]["sizes"][which] for which in ("min", "p50", "max")]
        completed = sum(flow["messages"][kind] for kind in ("send", "write", "read", "atomic"))
        self.assertEqual(completed == 0, None in sizes)
        if completed > 0:
            self.assertEqual(sizes, sorted(sizes))

    def connections_hold(self, document):
        flows = {flow["flow"]: flow for flow in document["flows"]}
        for connection in document["connections"]:
            a, b = connection["flows"]
            self.assertLess(a, b)
            self.assertIn(connection["paired_by"], PAIRED_BY)
            self.assertTrue(0 < connection["certainty"] <= 1)
            if a in flows and b in flows:
                self.assertEqual({flows[a]["connection"], flows[b]["connection"]}, {connection["connection"]})
                self.assertEqual(flows[a]["src"]["address"], flows[b]["dst"]["address"])
                self.assertEqual(flows[a]["dst"]["address"], flows[b]["src"]["address"])
        named = {connection["connection"] for connection in document["connections"]}
        self.assertEqual({flow["connection"] for flow in document["flows"]} - {None}, named)

    def test_captures_without_a_map(self):
        for capture in sorted((DATA / "captures").glob("*.pcap*")):
            with self.subTest(capture=capture.name):
                self.document_holds(flows_of(capture), False)

    def test_captures_with_a_map(self):
        self.document_holds(flows_of(*DEMO), True)
        self.document_holds(flows_of("-m", "tenants-segments.map.json", "tenants-segments.pcap"), True)


class Counted:
    """All rows of one half-connection, whatever their P_Keys and VLANs."""

    def __init__(self, rows):
        self.rows = rows
        self.packets = sum(row["packets"] for row in rows)
        self.duplicates = sum(row["duplicates"] for row in rows)
        self.bytes = sum(row["bytes"] for row in rows)
        self.opcodes = collections.Counter()
        for row in rows:
            for name, count in row["opcodes"].items():
                self.opcodes[number_of(name)] += count


class Truth(ReferenceCaptures, unittest.TestCase):
    maxDiff = 4000

    def folder_is_reproduced(self, folder):
        tried = 0
        for path in sorted(folder.glob("*.json")):
            truth = json.loads(path.read_text())
            counted = truth.get("counted_by_pcaplib") or truth.get("inner_counted_by_pcaplib")
            if not counted:
                continue
            with self.subTest(capture=truth["capture"]):
                self.capture_is_reproduced(folder / truth["capture"], counted, "encapsulation" in truth)
                tried += 1
        self.assertGreater(tried, 0)

    def capture_is_reproduced(self, capture, truth, mirrored):
        document = flows_of(capture)
        rows = collections.defaultdict(list)
        # what only happens to go to RoCE's port has opcodes that nobody defined; some of it is too short to be RDMA
        for row in document["flows"]:
            if not all(name.startswith("0x") for name in row["opcodes"]):
                rows[(row["src"]["address"], row["dst"]["address"], row["dest_qp"])].append(row)
        expected = {(flow["src"], flow["dst"], flow["dest_qp"]): flow for flow in truth["flows"]
                    if not all("_0x" in name for name in flow["opcodes"])}
        self.assertEqual(set(rows), set(expected))
        for key, flow in expected.items():
            with self.subTest(flow=key):
                self.flow_is_reproduced(Counted(rows[key]), flow, mirrored)
        if truth["icrc"]["bad"] == 0 and not any(row["duplicates"] for row in document["flows"]):
            self.naks_are_reproduced(document["flows"], truth["aeth"])
        first_seen = [(row["first_ts"], row["flow"]) for row in document["flows"]]
        self.assertEqual(first_seen, sorted(first_seen))

    def naks_are_reproduced(self, rows, aeth):
        seen = collections.Counter()
        for row in rows:
            for kind, count in row["naks"].items():
                seen["NAK " + kind.replace("_", " ").replace("psn", "PSN")] += count
        self.assertEqual(dict(seen), {name: count for name, count in aeth.items() if name.startswith("NAK ")})
        self.assertEqual(sum(row["rnr_naks"] for row in rows),
                         sum(count for name, count in aeth.items() if name.startswith("RNR_NAK")))

    def flow_is_reproduced(self, counted, truth, mirrored):
        self.assertEqual(counted.packets + counted.duplicates, truth["packets"])
        if counted.duplicates == 0:
            self.assertEqual(dict(counted.opcodes), by_number(truth["opcodes"]))
        elif counted.duplicates == counted.packets:  # every frame was mirrored twice
            self.assertEqual({op: 2 * n for op, n in counted.opcodes.items()}, by_number(truth["opcodes"]))
            self.assertEqual(2 * counted.bytes, truth["bytes_on_wire"])
        if counted.duplicates == 0 and not mirrored:  # a mirror's wrapper is part of our wire length
            self.assertEqual(counted.bytes, truth["bytes_on_wire"])
        if len(counted.rows) == 1:
            row = counted.rows[0]
            self.assertEqual((row["psn_first"], row["psn_last"]), (truth["first_psn"], truth["last_psn"]))
            self.assertIn(row["pkey"], truth["pkeys"])


class Messages(ReferenceCaptures, unittest.TestCase):
    """What the program that made the traffic says it sent: operations, sizes, path MTU."""

    KINDS = {"send": "send", "sendimm": "send", "sendinv": "send", "write": "write", "writeimm": "write",
             "read": "read", "cas": "atomic", "fadd": "atomic"}

    def folder_is_reproduced(self, folder):
        tried = 0
        for path in sorted(folder.glob("*.json")):
            truth = json.loads(path.read_text())
            clients = [role for command in truth.get("commands", []) if isinstance(command.get("reported"), list)
                       for role in command["reported"] if "operations" in role]
            # operations that were to fail are not told as such, only that they failed
            clients = [role for role in clients if "bad_rkey_result" not in role
                       and all(op["completed"] == op["count"] for op in role["operations"])]
            if not clients:
                continue
            rows = flows_of(folder / truth["capture"])["flows"]
            for role in clients:
                with self.subTest(capture=truth["capture"], qp=role["peer_qpn"]):
                    self.messages_agree(rows, role)
                    tried += 1
        self.assertGreater(tried, 0)

    def messages_agree(self, rows, role):
        ends = [str(getattr(address, "ipv4_mapped", None) or address)
                for address in map(ipaddress.ip_address, (role["gid"], role["peer_gid"]))]
        row, = [row for row in rows if row["dest_qp"] == role["peer_qpn"] and
                [row["src"]["address"], row["dst"]["address"]] == ends]
        self.assertEqual(row["transport"], role["qp_type"])
        sent, sizes = collections.Counter(), []
        for operation in role["operations"]:
            sent[self.KINDS[operation["op"]]] += operation["count"]
            sizes += operation["count"] * [operation["size"]]
        messages = dict(row["messages"])
        seen = messages.pop("sizes")
        self.assertEqual(messages, {kind: sent[kind] for kind in messages})
        sizes.sort()
        self.assertEqual((seen["min"], seen["max"]), (sizes[0], sizes[-1]))
        if len(set(sizes)) <= 8:
            self.assertEqual(seen["p50"], sizes[(len(sizes) + 1) // 2 - 1])
        if row["mtu"] is not None:
            self.assertEqual(row["mtu"], role["path_mtu"])
        elif role["qp_type"] != "UD":
            self.assertLessEqual(sizes[-1], role["path_mtu"])


class PathMtu(WithFolder):
    def test_packets_of_either_direction_show_it(self):
        """Of 1024 bytes in all of them, by their First and Middle packets; the answers have none."""
        for capture in ("captures/rnr-nak-v4.pcap", "captures/snap128-nccl-emul.pcap", "nccl/dual-2.27.7.pcap"):
            document = flows_of(DATA / capture)
            mtus = {row["flow"]: row["mtu"] for row in document["flows"]}
            told = {tuple(mtus[flow] for flow in row["flows"]) for row in document["connections"]}
            with self.subTest(capture=capture):
                self.assertIn((1024, 1024), told)
                self.assertLessEqual(told, {(1024, 1024), (None, None)})


class Properties(WithFolder):
    maxDiff = 4000
    CAPTURES = [TENANTS / "tenants-ib.pcap", TENANTS / "tenants-segments.pcap"] + [
        DATA / "captures" / name for name in ("rc-verbs-v4-mtu1024.pcap", "roce-v6.pcap", "rnr-nak-v4.pcap", "ud-uc-v4.pcap")]

    def test_two_parts_read_together_are_the_whole(self):
        for capture in self.CAPTURES:
            with self.subTest(capture=capture.name):
                header, records = read_pcap(capture)
                third = len(records) // 3
                parts = [write_pcap(self.folder / "1.pcap", header, records[:third]),
                         write_pcap(self.folder / "2.pcap", header, records[third:])]
                whole, together = flows_of(capture), flows_of(*parts)
                del whole["capture"]["sources"], together["capture"]["sources"]
                self.assertEqual(together, whole)

    def test_every_frame_mirrored_twice_changes_nothing_but_the_duplicates(self):
        for capture in self.CAPTURES:
            with self.subTest(capture=capture.name):
                header, records = read_pcap(capture)
                twice = write_pcap(self.folder / "twice.pcap", header, [r for record in records for r in (record, record)])
                whole, doubled = flows_of(capture), flows_of(twice)
                for row in doubled["flows"]:
                    self.assertEqual(row["duplicates"], row["packets"])
                    row["duplicates"] = 0
                self.assertEqual(doubled["flows"], whole["flows"])
                self.assertEqual(doubled["connections"], whole["connections"])

    def test_copies_tagged_elsewhere_make_no_rows(self):
        there, back = roce.Half("10.0.0.1", "10.0.0.2", 0x22), roce.Half("10.0.0.2", "10.0.0.1", 0x11)
        frames = [pair for i in range(20) for pair in ((1000 * i, there.write(ident=i)), (1000 * i + 500, back.answer(i, msn=i + 1, ident=i)))]
        tagged = [(ts_ns + 100, frame[:12] + b"\x81\0\0\x09" + frame[12:]) for ts_ns, frame in frames]
        whole = flows_of(roce.capture(self.folder / "whole.pcap", frames))
        self.assertEqual([row["packets"] for row in whole["flows"]], [20, 20])
        for several in ((), ("-m", DATA / "tenants" / "tenants-segments.map.json")):
            whole = flows_of(*several, self.folder / "whole.pcap")
            doubled = flows_of(*several, roce.capture(self.folder / "tagged.pcap", sorted(frames + tagged)))
            for row in doubled["flows"]:
                self.assertEqual(row["duplicates"], 20)
                row["duplicates"] = 0
            self.assertEqual(doubled["flows"], whole["flows"])
            self.assertEqual(doubled["table"], whole["table"])

    def test_nor_do_those_of_datagrams_to_the_management_queue_pairs(self):
        there = roce.Half("10.0.0.1", "10.0.0.2", 1)
        deth = bytes.fromhex("8001000000000001")
        frames = [(1000 * i, there.packet(0x64, i, deth, bytes([i]) * 256, ident=i)) for i in range(20)]
        tagged = [(ts_ns + 100, frame[:12] + b"\x81\0\0\x09" + frame[12:]) for ts_ns, frame in frames]
        row, = flows_of(roce.capture(self.folder / "tagged.pcap", sorted(frames + tagged)))["flows"]
        self.assertEqual((row["packets"], row["duplicates"], row["vlan"]), (20, 20, None))

    def test_gaps_stay_open_that_were_given_up_long_before_the_end(self):
        there = roce.Half("10.0.0.1", "10.0.0.2", 0x22)
        lost = {7, 50, 51, 52, 1190}
        frames = [(100_000 * psn, there.packet(0x24, psn, b"", bytes(64), ident=psn)) for psn in range(1200) if psn not in lost]
        document = flows_of(roce.capture(self.folder / "uc.pcap", frames))
        row, = document["flows"]
        self.assertEqual((row["transport"], row["gaps_open"], row["mirror_lost"]), ("UC", len(lost), 0))

    def test_reads_count_that_were_answered_before_both_halves_were_known(self):
        for seed in range(4):
            for connections in 1, 8:
                with self.subTest(seed=seed, connections=connections):
                    frames = [(ts_ns, frame) for ts_ns, frame, _ in pipelined.connections(seed, connections, 40)]
                    document = flows_of(roce.capture(self.folder / "reads.pcap", frames))
                    counts = sorted(row["messages"]["read"] for row in document["flows"])
                    self.assertEqual(counts, [0] * connections + [20] * connections)

    def test_of_more_queue_pairs_set_up_anew_at_once_than_can_be_doubted_none_sent_again(self):
        pairs = [(roce.Half("10.0.0.1", "10.0.0.2", 0x2000 + i, port=0xc000 + i), roce.Half("10.0.0.2", "10.0.0.1", 0x1000 + i, port=0xc000 + i))
                 for i in range(300)]
        frames = []
        for begin, count in ((0, 40), (900_000_000, 3)):  # of a life, its WRITEs: all of the last before the first answer
            asked = [(begin + 1_000_000 * n + 1_000 * i, there.write(5_000 * i + n, ident=n))
                     for i, (there, _) in enumerate(pairs) for n in range(count)]
            frames += asked + [(ts_ns + (500 if begin == 0 else 50_000_000), pairs[i][1].answer(5_000 * i + n, msn=n + 1, ident=n))
                               for (ts_ns, _), (i, n) in zip(asked, ((i, n) for i in range(300) for n in range(count)))]
        rows = flows_of(roce.capture(self.folder / "anew.pcap", sorted(frames)))["flows"]
        writers = [row for row in rows if row["messages"]["write"]]
        self.assertEqual([row["packets"] for row in writers], [43] * 300)
        self.assertEqual([row["messages"]["write"] for row in writers], [43] * 300)
        self.assertEqual([row["retransmitted"] for row in rows], [0] * 600)

    def test_a_life_far_behind_one_of_which_a_response_was_lost_sends_nothing_again(self):
        there, back = roce.Half("10.0.0.1", "10.0.0.2", 0x22), roce.Half("10.0.0.2", "10.0.0.1", 0x11)
        last = [there.write(100_000 + n, ident=n) for n in range(40)] + [there.read(100_040, 0x7f0000000000, 2048)]
        answers = [back.answer(100_000 + n, msn=n + 1, ident=n) for n in range(40)]
        answers += [back.response(100_040, "first", bytes(1024))]  # and the other half of it is lost
        last += [there.write(100_042, ident=42)]
        answers += [back.answer(100_042, msn=42, ident=42)]
        anew = [there.write(60_000 + n, ident=n) for n in range(40)]
        first = [back.answer(60_000 + n, msn=n + 1, ident=n) for n in range(40)]
        frames = [frame for pair in [*zip(last, answers), *zip(anew, first)] for frame in pair]
        times = [10**18 + 10_000 * i + (10**9 if i >= 2 * len(last) else 0) for i in range(len(frames))]
        rows = flows_of(roce.capture(self.folder / "behind.pcap", list(zip(times, frames))))["flows"]
        self.assertEqual([row["retransmitted"] for row in rows], [0, 0])
        self.assertEqual([row["messages"]["write"] for row in rows], [81, 0])

    def without(self, capture, dropped):
        """The capture as a mirror shows it that loses the frames with these numbers."""
        header, records = read_pcap(capture)
        return write_pcap(self.folder / "lossy.pcap", header,
                          [record for number, record in enumerate(records, 1) if number not in dropped])

    def test_frames_the_mirror_lost_are_counted_with_the_flow_that_lost_them(self):
        capture = DATA / "captures" / "rc-verbs-v4-mtu4096.pcap"
        middles = collections.defaultdict(list)
        for packet in fabtap("decode", "--json", capture).lines():
            if packet["opname"] and packet["opname"].endswith("_MIDDLE"):
                middles[(packet["ip"]["src"], packet["ip"]["dst"], packet["dest_qp"])].append(packet["frame"])
        self.assertGreater(len(middles), 2)
        # a FIRST and a LAST stand around each of them, so none can be missed
        dropped = {key: frames[1::2] for key, frames in middles.items()}
        document = flows_of(self.without(capture, {frame for frames in dropped.values() for frame in frames}))
        whole = {row["dest_qp"]: row for row in flows_of(capture)["flows"]}
        for row in document["flows"]:
            key = row["src"]["address"], row["dst"]["address"], row["dest_qp"]
            self.assertEqual(row["mirror_lost"], len(dropped.get(key, [])), key)
            self.assertEqual(row["packets"] + row["mirror_lost"], whole[row["dest_qp"]]["packets"])
            self.assertEqual(row["messages"], whole[row["dest_qp"]]["messages"])
            for quiet in ("retransmitted", "fabric_lost", "reordered", "gaps_open"):
                self.assertEqual(row[quiet], 0, (key, quiet))

    def test_a_response_that_may_yet_come_is_missing_from_the_half_that_responds(self):
        there, back = roce.Half("10.0.0.1", "10.0.0.2", 0x22), roce.Half("10.0.0.2", "10.0.0.1", 0x11)
        frames = [frame for n in range(100) for frame in (there.write(n, ident=n), back.answer(n, msn=n + 1, ident=n))]
        frames += [there.read(100, 0x7f0000000000, 3 * 1024), back.response(100, "first", bytes(1024))]
        frames += [back.response(102, "last", bytes(1024))]  # and 101 is not here, less than a millisecond before the end
        rows = flows_of(roce.capture(self.folder / "late.pcap", [(10**18 + 10_000 * i, frame) for i, frame in enumerate(frames)]))
        self.assertEqual([(row["dest_qp"], row["gaps_open"], row["mirror_lost"]) for row in rows["flows"]],
                         [(0x22, 0, 0), (0x11, 1, 0)])

    def test_what_the_rows_lost_is_what_the_coverage_says(self):
        for capture in self.CAPTURES[2:]:
            for share in (3, 10, 30):
                with self.subTest(capture=capture.name, one_of=share):
                    chance = random.Random(share)
                    document = flows_of(self.without(capture, {n for n in range(5000) if chance.randrange(share) == 0}))
                    counted = sum(loss["frames"] for loss in document["coverage"]["lost_by"])
                    self.assertEqual(sum(row["mirror_lost"] for row in document["flows"]), counted)

    def test_the_document_is_the_same_for_every_number_of_workers(self):
        for arguments in [DEMO] + [(capture,) for capture in self.CAPTURES]:
            one = fabtap("flows", "--json", *arguments, cwd=TENANTS).out
            for workers in ("2", "3", "7"):
                with self.subTest(capture=arguments[-1], workers=workers):
                    self.assertEqual(fabtap("flows", "--json", "--workers", workers, *arguments, cwd=TENANTS).out, one)


class Choosing(unittest.TestCase):
    ALL = None

    @classmethod
    def setUpClass(cls):
        cls.ALL = flows_of(*DEMO)["flows"]

    def ids(self, *arguments):
        return [row["flow"] for row in flows_of(*arguments, *DEMO)["flows"]]

    def expected(self, meets):
        return [row["flow"] for row in self.ALL if meets(row)]

    def test_where(self):
        for expression, meets in {
                "tenant=red": lambda row: "red" in (row["src"]["tenant"], row["dst"]["tenant"]),
                "tenant=red,blue": lambda row: {"red", "blue"} & {row["src"]["tenant"], row["dst"]["tenant"]},
                "tenant=unknown": lambda row: None in (row["src"]["tenant"], row["dst"]["tenant"]),
                "host=gpu01": lambda row: "gpu01" in (row["src"]["host"], row["dst"]["host"]),
                "address=lid:1": lambda row: "lid:1" in (row["src"]["address"], row["dst"]["address"]),
                "qp=1": lambda row: row["dest_qp"] == 1,
                "qp=0x028141": lambda row: row["dest_qp"] == 0x028141,
                "pkey=0x8001": lambda row: row["pkey"] in ("0x8001", "0x0001"),
                "rule=tenant.crossing": lambda row: "tenant.crossing" in row["rules"],
                "rule=pkey.*": lambda row: any(rule.startswith("pkey.") for rule in row["rules"]),
                "verdict=violated": lambda row: row["verdict"] == "violated",
                "transport=UD": lambda row: row["transport"] == "UD",
                "vlan=0": lambda row: row["vlan"] is None,
        }.items():
            with self.subTest(where=expression):
                ids = self.expected(meets)
                self.assertTrue(ids)
                self.assertEqual(self.ids("--where", expression), ids)

    def test_several_where_are_anded(self):
        both = self.expected(lambda row: "red" in (row["src"]["tenant"], row["dst"]["tenant"]) and row["dest_qp"] == 1)
        self.assertTrue(both)
        self.assertEqual(self.ids("--where", "tenant=red", "--where", "qp=1"), both)

    def test_sort_and_top(self):
        by_bytes = [row["flow"] for row in sorted(self.ALL, key=lambda row: -row["bytes"])]
        self.assertEqual(self.ids("--sort", "bytes"), by_bytes)
        self.assertEqual(self.ids("--sort", "bytes", "--top", "5"), by_bytes[:5])
        self.assertEqual(self.ids("--top", "5"), [1, 2, 3, 4, 5])
        by_qp = [row["flow"] for row in sorted(self.ALL, key=lambda row: row["dest_qp"])]
        self.assertEqual(self.ids("--sort", "qp"), by_qp)
        least = [row["flow"] for row in sorted(self.ALL, key=lambda row: row["packets"])]
        self.assertEqual(self.ids("--sort", "-packets"), least)

    def test_text_lists_the_same_rows(self):
        options = ("--where", "tenant=red", "--sort", "bytes", "--top", "7")
        text = fabtap("flows", *options, *DEMO, cwd=TENANTS).out.decode()
        lines = text[text.index("  flow  conn"):].splitlines()[1:8]
        self.assertEqual([int(line.split()[0]) for line in lines], self.ids(*options))
        self.assertNotIn("\033", text)

    def test_connections_are_those_of_the_flows_listed(self):
        everything = {c["connection"]: c for c in flows_of(*DEMO)["connections"]}
        document = flows_of("--where", "host=gpu01", *DEMO)
        named = {row["connection"] for row in document["flows"]} - {None}
        self.assertEqual(document["connections"], [everything[c] for c in sorted(named)])
        self.assertLess(len(named), len(everything))

    def test_the_sum_of_the_rows_is_what_the_matrix_of_the_audit_says(self):
        violated = {(row["src"]["tenant"], row["dst"]["tenant"]) for row in self.ALL if row["verdict"] == "violated"}
        matrix = fabtap("audit", "--json", *DEMO, cwd=TENANTS).json()["matrix"]
        named = {(row["from"], row["to"]) for row in matrix if row["verdict"] == "violated"}
        self.assertEqual({(a or "unknown", b or "unknown") for a, b in violated}, named)


class Named(WithFolder):
    def test_a_tenant_with_a_comma_in_its_name_is_chosen(self):
        document = json.loads((TENANTS / "tenants-ib.map.json").read_text())
        renamed = json.loads(json.dumps(document).replace('"red"', '"blue, \\\\ red"'))
        (self.folder / "map.json").write_text(json.dumps(renamed))
        rows = flows_of("--where", "tenant=red", *DEMO)["flows"]
        for expression in (r"tenant=blue\, \\ red", r"tenant=unknown,blue\, \\ red"):
            told = flows_of("--where", expression, "-m", self.folder / "map.json", DEMO[-1])["flows"]
            told = [row for row in told if "blue, \\ red" in (row["src"]["tenant"], row["dst"]["tenant"])]
            self.assertEqual([row["flow"] for row in told], [row["flow"] for row in rows])
        self.assertTrue(rows)


class Sampled(WithFolder):
    """One packet in ten, by sFlow: nothing follows from PSNs, and nine in ten are not here."""

    RATE, SAMPLES = 10, 40
    MAP = {
        "schema": "tapmap/1", "map_id": "two", "serial": 1, "issued_at": "2020-01-01T00:00:00Z", "issuer": "tests",
        "fabric": {"kind": "roce"}, "nodes": [], "tenants": [{"name": name, "class": "customer"} for name in ("red", "blue")],
        "segments": [{"name": name, "tenant": name, "intervals": [
            {"from": "2000-01-01T00:00:00Z", "to": None, "members": [{"subnet": subnet}]}]}
            for name, subnet in (("red", "10.0.0.0/24"), ("blue", "10.0.1.0/24"))],
    }

    def setUp(self):
        super().setUp()
        (self.folder / "two.map.json").write_text(json.dumps(self.MAP))

    def run_on(self, verb, datagrams):
        path = roce.capture(self.folder / "sampled.pcap", datagrams)
        return fabtap(verb, "--json", "-m", self.folder / "two.map.json", path)

    def test_packets_are_counted_and_not_followed(self):
        asks = roce.Half("10.0.0.1", "10.0.0.2", 0x22)
        frames = [asks.write(psn=self.RATE * i, size=200, ident=i) for i in range(self.SAMPLES)]
        datagrams = [(10**18 + 10**6 * i, roce.sflow(frames[2 * i:2 * i + 2], self.RATE)) for i in range(self.SAMPLES // 2)]
        row, = self.run_on("flows", datagrams).json()["flows"]
        self.assertEqual((row["packets"], row["bytes"]), (self.SAMPLES, sum(map(len, frames))))
        for nothing in ("mirror_lost", "gaps_open", "retransmitted", "reordered", "fabric_lost"):
            self.assertEqual(row[nothing], 0)
        run = self.run_on("audit", datagrams)
        coverage = run.json()["coverage"]
        unseen = self.SAMPLES * (self.RATE - 1)
        self.assertEqual(run.status, NOT_EVIDENCED)
        self.assertEqual([(loss["method"], loss["frames"]) for loss in coverage["lost_by"]], [("sampling", unseen)])
        self.assertEqual(coverage["frames_lost"]["estimate"], unseen)
        self.assertAlmostEqual(coverage["share_seen"], 1 / self.RATE)

    def test_what_a_later_sample_of_a_datagram_violates_is_in_the_matrix(self):
        at_home, astray = roce.Half("10.0.0.1", "10.0.0.2", 0x22).write(), roce.Half("10.0.0.1", "10.0.1.1", 0x33).write()
        run = self.run_on("audit", [(10**18, roce.sflow([at_home, astray], self.RATE))])
        matrix = {(row["from"], row["to"]): row for row in run.json()["matrix"]}
        self.assertEqual(run.status, VIOLATED)
        self.assertEqual(set(matrix), {("red", "red"), ("red", "blue")})
        self.assertEqual([(matrix["red", to]["packets"], matrix["red", to]["verdict"]) for to in ("red", "blue")],
                         [(1, "allowed"), (0, "violated")])


class Refusing(unittest.TestCase):
    def test_what_cannot_be_done_is_said_in_one_line(self):
        for arguments in (
                ["--where", "colour=red", *DEMO], ["--where", "tenant", *DEMO], ["--where", "tenant=rde", *DEMO],
                ["--where", "rule=pkey.nonsense", *DEMO], ["--where", "tenant=red,qp=1", *DEMO], ["--where", "qp=x", *DEMO],
                ["--where", "tenant=red", "tenants-ib.pcap"], ["--sort", "colour", *DEMO],
                ["--sort", "bytes", "--sort", "qp", *DEMO], ["--top", "0", *DEMO], ["--top", "-1", *DEMO],
                ["--top", "1", "--top", "2", *DEMO], ["-o", "html", *DEMO], ["-o", "text", "--json", *DEMO], ["-w", "x", *DEMO],
                ["--workers", "0", *DEMO], ["--flows", "0", *DEMO], ["no-such-file.pcap"], []):
            with self.subTest(arguments=arguments):
                run = fabtap("flows", *arguments, cwd=TENANTS)
                self.assertEqual(run.status, FAILED, run)
                self.assertEqual(len(run.complaints()), 1, run)
                self.assertEqual(run.out, b"")

    def test_a_full_table_says_so(self):
        document = flows_of("--flows", "8", *DEMO)
        self.assertEqual(document["table"]["capacity"], 8)
        self.assertGreater(document["table"]["evicted"], 0)
        self.assertLessEqual(len(document["flows"]), 8)
        self.assertIn("INCOMPLETE", fabtap("flows", "--flows", "8", *DEMO, cwd=TENANTS).out.decode())


if __name__ == "__main__":
    main()
