"""Captures with ground truth: opcode, flow and P_Key counts, ICRC verdicts and AETH syndromes from decode --json.

The counts of the truth files come from a separate program and from tshark.
"""

import collections
import ipaddress
import json
import unittest

from harness import ReferenceCaptures, fabtap, main
from pcapfile import read_pcap

SERVICES = {"RC": 0x00, "UC": 0x20, "RD": 0x40, "UD": 0x60, "XRC": 0xA0}
OPERATIONS = [
    "SEND_FIRST", "SEND_MIDDLE", "SEND_LAST", "SEND_LAST_IMM", "SEND_ONLY", "SEND_ONLY_IMM",
    "WRITE_FIRST", "WRITE_MIDDLE", "WRITE_LAST", "WRITE_LAST_IMM", "WRITE_ONLY", "WRITE_ONLY_IMM",
    "READ_REQUEST", "READ_RESP_FIRST", "READ_RESP_MIDDLE", "READ_RESP_LAST", "READ_RESP_ONLY",
    "ACK", "ATOMIC_ACK", "CMP_SWAP", "FETCH_ADD", None, "SEND_LAST_INV", "SEND_ONLY_INV",
]
NAKS = ["PSN sequence error", "invalid request", "remote access error", "remote operational error", "invalid RD request"]


def opcode_number(name):
    """The truth's own names: RC_ACK, UD_0x18, CNP."""
    if name == "CNP":
        return 0x81
    service, operation = name.split("_", 1)
    low = int(operation, 16) if operation.startswith("0x") else OPERATIONS.index(operation)
    return SERVICES[service] | low


def syndrome_name(syndrome):
    kind, value = syndrome >> 5 & 3, syndrome & 31
    if kind == 0:
        return "ACK"
    if kind == 1:
        return "RNR_NAK timer %d" % value
    return "NAK %s" % NAKS[value] if kind == 3 and value < len(NAKS) else "reserved"


def by_number(opcodes):
    return {opcode_number(name): count for name, count in opcodes.items()}


def addresses(packet):
    if packet.get("ip"):
        pair = packet["ip"]["src"], packet["ip"]["dst"]
    elif packet.get("grh"):
        pair = packet["grh"]["sgid"], packet["grh"]["dgid"]
    else:
        return packet["lrh"]["slid"], packet["lrh"]["dlid"]
    return tuple(str(ipaddress.ip_address(address)) for address in pair)


def with_tiny_datagrams(packets, capture):
    """
    The truth counts datagrams to port 4791 that hold 12 to 15 bytes: a BTH without room for an ICRC, which
    decode calls bth_short and does not read. Their BTH is read here, from the file.
    """
    for packet in packets:
        if packet["malformed"] == "bth_short" and 42 + 12 <= packet["caplen"] < 42 + 16 and packet["encap"][-1] == "udp":
            bth = read_pcap(capture)[1][packet["frame"] - 1][16 + 42:]
            packet = {**packet, "opcode": bth[0], "pkey": int.from_bytes(bth[2:4], "big"), "aeth": None, "icrc_ok": False,
                      "dest_qp": int.from_bytes(bth[5:8], "big"), "psn": int.from_bytes(bth[9:12], "big")}
        yield packet


class Flow:
    def __init__(self):
        self.packets = self.bytes = 0
        self.first_psn = self.last_psn = None
        self.pkeys, self.ports, self.opcodes = set(), set(), collections.Counter()

    def add(self, packet):
        self.packets += 1
        self.bytes += packet["wirelen"]
        if self.first_psn is None:
            self.first_psn = packet["psn"]
        self.last_psn = packet["psn"]
        self.pkeys.add("0x%04x" % packet["pkey"])
        self.ports.add(packet["udp_sport"])
        self.opcodes[packet["opcode"]] += 1


class Counted:
    """What decode --json says of a whole capture, in the terms of the truth files."""

    def __init__(self, packets):
        self.opcodes, self.pkeys, self.aeth = collections.Counter(), collections.Counter(), collections.Counter()
        self.icrc, self.vlans = collections.Counter(), collections.Counter()
        self.flows = collections.defaultdict(Flow)
        self.frames = set()
        self.roce = 0
        for packet in packets:
            self.frames.add(packet["frame"])
            if packet["opcode"] is not None:
                self.add(packet)

    def add(self, packet):
        self.roce += 1
        self.opcodes[packet["opcode"]] += 1
        self.pkeys["0x%04x" % packet["pkey"]] += 1
        self.icrc[{True: "good", False: "bad", None: "not_checkable_truncated"}[packet["icrc_ok"]]] += 1
        if packet["aeth"]:
            self.aeth[syndrome_name(packet["aeth"]["syndrome"])] += 1
        for layer in packet["encap"]:
            if layer.startswith("vlan:"):
                self.vlans[layer[5:]] += 1
        self.flows[(*addresses(packet), packet["dest_qp"])].add(packet)


class Captures(ReferenceCaptures, unittest.TestCase):
    FOLDERS = ["captures", "captures/ib-a"]
    maxDiff = 4000

    def folder_is_reproduced(self, folder):
        truths = sorted(path for path in folder.glob("*.json") if "capture" in json.loads(path.read_text()))
        self.assertTrue(truths, folder)
        for path in truths:
            truth = json.loads(path.read_text())
            with self.subTest(capture=truth["capture"]):
                packets = fabtap("decode", "--json", folder / truth["capture"]).lines()
                counted = Counted(with_tiny_datagrams(packets, folder / truth["capture"]))
                frames = truth.get("packets", truth.get("frames"))
                self.assertEqual(counted.frames, set(range(1, frames + 1)))
                self.opcodes_agree_with_tshark(counted, truth)
                self.cut = "cut" in path.stem or "snap" in path.stem
                own = truth.get("counted_by_pcaplib")
                inner = truth.get("inner_counted_by_pcaplib")
                if own or inner:
                    self.counts_agree(counted, own or inner, mirrored=inner is not None and truth["encapsulation"])

    def opcodes_agree_with_tshark(self, counted, truth):
        if truth["linktype"] not in (1, 197) or "tshark" not in truth:
            return
        expected = {int(op): n for op, n in truth["tshark"]["opcode_counts"].items() if op.isdecimal()}
        self.assertEqual(dict(counted.opcodes), expected)

    def counts_agree(self, counted, truth, mirrored):
        self.assertEqual(counted.roce, truth["roce_packets"])
        self.assertEqual(dict(counted.opcodes), by_number(truth["opcodes"]))
        self.assertEqual(dict(counted.pkeys), truth["pkeys"])
        self.assertEqual(dict(counted.aeth), truth["aeth"])
        self.icrc_verdicts_agree(counted.icrc, truth["icrc"])
        self.assertEqual(dict(counted.vlans), truth["roce_vlans"])
        expected = {(flow["src"], flow["dst"], flow["dest_qp"]): flow for flow in truth["flows"]}
        self.assertEqual(set(counted.flows), set(expected))
        for key, flow in counted.flows.items():
            self.flow_agrees(flow, expected[key], mirrored)

    def icrc_verdicts_agree(self, counted, truth):
        """A derived capture's truth counts its source's frames, before they were cut."""
        self.assertEqual(counted["bad"], truth["bad"])
        self.assertGreaterEqual(counted["not_checkable_truncated"], truth["not_checkable_truncated"])
        self.assertEqual(sum(counted.values()), sum(truth.values()))
        if not self.cut:
            self.assertEqual(counted["good"], truth["good"])

    def flow_agrees(self, flow, expected, mirrored):
        self.assertEqual(flow.packets, expected["packets"])
        self.assertEqual((flow.first_psn, flow.last_psn), (expected["first_psn"], expected["last_psn"]))
        self.assertEqual(sorted(flow.pkeys), sorted(expected["pkeys"]))
        self.assertEqual(sorted(flow.ports), sorted(expected["udp_sports"]))
        self.assertEqual(dict(flow.opcodes), by_number(expected["opcodes"]))
        if not mirrored:  # a mirror's wrapper is part of our wire length
            self.assertEqual(flow.bytes, expected["bytes_on_wire"])


if __name__ == "__main__":
    main()
