"""Field by field against tshark 4.0, on every valid frame; its known defects are listed in tshark_diffs.jsonl.

tshark cannot read link type 247: such records are compared as ERF records of type 21.
"""

import ipaddress
import json
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import harness
from harness import DATA, ENVIRONMENT, fabtap, main

# our name (path in decode --json) -> tshark's
FIELDS = {
    "smac": "eth.src", "dmac": "eth.dst",
    "ip.src": "ip.src", "ip.dst": "ip.dst", "ip.ttl": "ip.ttl", "ip.dscp": "ip.dsfield.dscp", "ip.ecn": "ip.dsfield.ecn",
    "ip.id": "ip.id",
    "ip6.src": "ipv6.src", "ip6.dst": "ipv6.dst", "ip6.ttl": "ipv6.hlim", "ip6.dscp": "ipv6.tclass.dscp",
    "ip6.ecn": "ipv6.tclass.ecn", "ip6.flow_label": "ipv6.flow",
    "udp_sport": "udp.srcport",
    "grh.sgid": "infiniband.grh.sgid", "grh.dgid": "infiniband.grh.dgid", "grh.tclass": "infiniband.grh.tclass",
    "grh.flow_label": "infiniband.grh.flowlabel", "grh.hop_limit": "infiniband.grh.hoplmt",
    "grh.pay_len": "infiniband.grh.paylen", "grh.next_hdr": "infiniband.grh.nxthdr", "grh.ip_ver": "infiniband.grh.ipver",
    "lrh.vl": "infiniband.lrh.vl", "lrh.lver": "infiniband.lrh.lver", "lrh.sl": "infiniband.lrh.sl",
    "lrh.lnh": "infiniband.lrh.lnh", "lrh.dlid": "infiniband.lrh.dlid", "lrh.slid": "infiniband.lrh.slid",
    "lrh.pkt_len": "infiniband.lrh.pktlen",
    "opcode": "infiniband.bth.opcode", "se": "infiniband.bth.se", "m": "infiniband.bth.m", "pad": "infiniband.bth.padcnt",
    "tver": "infiniband.bth.tver", "pkey": "infiniband.bth.p_key", "dest_qp": "infiniband.bth.destqp",
    "ack_req": "infiniband.bth.a", "psn": "infiniband.bth.psn",
    "rdeth.eecn": "infiniband.rdeth.eecnxt",
    "deth.qkey": "infiniband.deth.q_key", "deth.src_qp": "infiniband.deth.srcqp",
    "reth.va": "infiniband.reth.va", "reth.rkey": "infiniband.reth.r_key", "reth.len": "infiniband.reth.dmalen",
    "atomiceth.va": "infiniband.reth.va", "atomiceth.rkey": "infiniband.reth.r_key",
    "atomiceth.swap_add": "infiniband.atomiceth.swapdt", "atomiceth.compare": "infiniband.atomiceth.cmpdt",
    "aeth.syndrome": "infiniband.aeth.syndrome", "aeth.msn": "infiniband.aeth.msn",
    "atomicack.orig": "infiniband.atomicacketh.origremdt", "immdt": "infiniband.immdt", "ieth.rkey": "infiniband.ieth",
    "icrc": "infiniband.invariant.crc", "vcrc": "infiniband.variant.crc",
    "link.op": "infiniband_link.op", "link.fctbs": "infiniband_link.fctbs", "link.fccl": "infiniband_link.fccl",
}
SHORT = {theirs: ours for ours, theirs in FIELDS.items()}
NOT_OURS = {"infiniband_link.op", "infiniband_link.fctbs", "infiniband_link.fccl"}  # no such names in decode -T fields
# names of tshark_diffs.jsonl that are not ours
DIFF_NAMES = {
    "rdeth": "rdeth.eecn", "ieth": "ieth.rkey", "atomicack": "atomicack.orig", "atomic.va": "atomiceth.va",
    "atomic.rkey": "atomiceth.rkey", "atomic.swap": "atomiceth.swap_add", "atomic.cmp": "atomiceth.compare",
}
# these claim arbitrary payloads, sometimes with an exception that hides the ICRC
PAYLOAD_GUESSERS = ["eth_over_ib", "fc_infiniband", "sdp_infiniband", "iser_infiniband", "lnet_ib", "rpcrdma_infiniband",
                    "smb_direct_infiniband", "smcr_infiniband"]
# headers that only one of the two may not show: the rest may belong to a wrapper
EXTENDED_HEADERS = ("rdeth", "deth", "reth", "atomiceth", "aeth", "atomicack", "immdt", "ieth", "lrh", "grh")
HEX_BYTES = {"immdt", "ieth.rkey"}
LINKTYPE_INFINIBAND = 247
NOT_PEELED = {"gre_8949_unknown", "ib_mirror_1123_unknown"}
ADDRESSES = {"ip.src", "ip.dst", "ip6.src", "ip6.dst", "grh.sgid", "grh.dgid"}


def number(value):
    if isinstance(value, bool):
        return int(value)
    return int(value, 16) if isinstance(value, str) else value


def value_of(packet, name):
    """What decode says of one field, as a comparable value, or None."""
    head, _, tail = name.partition(".")
    if head in ("ip", "ip6"):
        if not packet.get("ip") or packet["ip"]["ver"] != (6 if head == "ip6" else 4):
            return None
        head = "ip"
    value = packet.get(head)
    if value is not None and tail:
        value = value.get(tail)
    if value is None:
        return None
    if name in ("smac", "dmac"):
        return value.lower()
    return ipaddress.ip_address(value) if name in ADDRESSES else number(value)


def tshark_value(name, text):
    if text == "":
        return None
    if name in ("smac", "dmac"):
        return text.lower()
    if name in ADDRESSES:
        return ipaddress.ip_address(text)
    if name in HEX_BYTES:
        return int(text.replace(":", ""), 16)
    return int(text, 0)


def as_erf(capture, folder):
    """A copy with ERF records of type 21, if the file is a pcap of link type 247; else the file itself."""
    data = capture.read_bytes()
    little_endian = data[:4] in (bytes.fromhex("d4c3b2a1"), bytes.fromhex("4d3cb2a1"))
    if not little_endian or struct.unpack_from("<I", data, 20)[0] != LINKTYPE_INFINIBAND:
        return capture
    out = bytearray(data[:20] + struct.pack("<I", 197))
    at = 24
    while at + 16 <= len(data):
        seconds, fraction, captured, wire = struct.unpack_from("<IIII", data, at)
        header = struct.pack("<II", fraction, seconds) + struct.pack(">BBHHH", 21, 4, 16 + captured, 0, wire)
        out += struct.pack("<IIII", seconds, fraction, 16 + captured, 16 + wire) + header
        out += data[at + 16:at + 16 + captured]
        at += 16 + captured
    copy = folder / capture.name
    copy.write_bytes(out)
    return copy


def tshark(capture):
    """Frame number -> tshark's field name -> its text, the innermost where there are several."""
    columns = sorted(set(FIELDS.values())) + ["sll.src.eth"]
    command = ["tshark", "-n", "-r", str(capture), "-T", "fields", "-E", "separator=/t", "-E", "occurrence=l",
               "-o", "ip.defragment:FALSE", "-o", "ipv6.defragment:FALSE", "--disable-protocol", "infiniband.eoib",
               "--disable-protocol", "nvme-rdma"]
    for name in PAYLOAD_GUESSERS:
        command += ["--disable-heuristic", name]
    for column in ["frame.number"] + columns:
        command += ["-e", column]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, check=False)
    rows = {}
    for line in done.stdout.decode().splitlines():
        cells = line.split("\t")
        row = dict(zip(columns, cells[1:] + [""] * len(columns)))
        row["eth.src"] = row["eth.src"] or row["sll.src.eth"]
        rows[int(cells[0])] = row
    return rows


def comparable(packets, convertible=True):
    """Packets that are alone in their frame, whole and well-formed, RDMA, and of a link type that tshark reads."""
    alone = {}
    for packet in packets:
        alone.setdefault(packet["frame"], []).append(packet)
    for frame, found in alone.items():
        packet = found[0]
        if packet["linktype"] == LINKTYPE_INFINIBAND and not convertible:
            continue
        if len(found) == 1 and not packet["malformed"] and not packet["truncated"] and packet["transport"]:
            yield frame, packet


def known_defect(packet, name, theirs):
    """The classes of tshark_diffs.jsonl, for captures that the list does not name frame by frame."""
    if packet["opcode"] == 0x81 and name == "icrc" and theirs is None:
        return "cnp_unknown"
    if packet["transport"] == "roce1" and name == "icrc":
        return "roce1_icrc_at_frame_end"
    if "mad" in packet["encap"] and name in ("icrc", "vcrc") and theirs is None:
        return "mad_crc_lost"
    return None


def compare_packet(packet, theirs):
    """How many fields agree, and [(name, ours, theirs)] of those that do not."""
    agreed, different = 0, []
    ours = {name: value_of(packet, name) for name in FIELDS}
    theirs = {name: tshark_value(name, theirs[column]) for name, column in FIELDS.items()}
    seen = {FIELDS[name] for name, value in ours.items() if value is not None}
    for name, value in ours.items():
        if value is not None and value == theirs[name]:
            agreed += 1
        elif value is not None:
            different.append((name, value, theirs[name]))
        elif theirs[name] is not None and name.startswith(EXTENDED_HEADERS) and FIELDS[name] not in seen:
            different.append((name, None, theirs[name]))
    return agreed, different


class AgreementWithTshark(unittest.TestCase):
    def setUp(self):
        if shutil.which("tshark") is None:
            self.skipTest("tshark is not installed: nothing was compared with it")
        version = subprocess.run(["tshark", "--version"], stdout=subprocess.PIPE, check=True).stdout.decode().split("\n")[0]
        if " 4.0." not in version:
            self.skipTest("%s: the list of known differences is for tshark 4.0" % version)

    def compare(self, capture, listed):
        """Differences that nobody listed, and how many fields agreed."""
        packets = fabtap("decode", "--json", capture).lines()
        with tempfile.TemporaryDirectory() as folder:
            theirs = tshark(as_erf(capture, Path(folder)))
        agreed, differences = 0, []
        for frame, packet in comparable(packets, capture.suffix == ".pcap"):
            if (capture.name, frame) in listed:
                continue
            self.assertIn(frame, theirs, "tshark shows no such frame")
            same, different = compare_packet(packet, theirs[frame])
            agreed += same
            for name, ours, other in different:
                if (capture.name, frame, name) in listed or not listed and known_defect(packet, name, other):
                    continue
                differences.append("frame %d %s: ours %s, tshark %s" % (frame, name, ours, other))
        return agreed, differences

    def test_chosen_fields_are_printed_as_tshark_prints_them(self):
        columns = sorted(set(FIELDS.values()) - NOT_OURS)
        for capture in sorted((DATA / "captures").glob("*.pcap*")):
            packets = dict(comparable(fabtap("decode", "--json", capture).lines(), False))
            arguments = [word for column in columns for word in ("-e", column)]
            lines = fabtap("decode", "-T", "fields", "-e", "frame.number", *arguments, capture).out.decode().splitlines()
            theirs = tshark(capture) if packets else {}
            with self.subTest(capture=capture.name):
                for line in lines:
                    frame, *cells = line.split("\t")
                    row = dict(zip(columns, cells))
                    if int(frame) not in packets:
                        continue
                    for column, text in row.items():
                        if text and not known_defect(packets[int(frame)], SHORT[column], None):
                            self.assertEqual(text, theirs[int(frame)][column], "frame %s %s" % (frame, column))

    def folder_agrees(self, folder, listed):
        captures = sorted(path for path in folder.iterdir() if path.suffix in (".pcap", ".pcapng", ".erf"))
        self.assertTrue(captures, folder)
        total = 0
        for capture in captures:
            with self.subTest(capture=capture.name):
                agreed, differences = self.compare(capture, listed)
                total += agreed
                self.assertFalse(differences, "%d differences, first: %s" % (len(differences), differences[:8]))
        self.assertGreater(total, 10 * len(captures))

    @staticmethod
    def listed_differences():
        """Single fields, and whole frames of the mirrors that tshark does not peel: it shows the outer packet."""
        rows = [json.loads(line) for line in (DATA / "vectors" / "tshark_diffs.jsonl").read_text().splitlines()]
        fields = {(row["file"], row["frame"], DIFF_NAMES.get(row["field"], row["field"])) for row in rows}
        return fields | {(row["file"], row["frame"]) for row in rows if row["reason"] in NOT_PEELED}

    def test_every_valid_frame_of_the_vectors_agrees(self):
        self.folder_agrees(DATA / "vectors", self.listed_differences())

    def test_every_valid_frame_of_the_shipped_captures_agrees(self):
        self.folder_agrees(DATA / "captures", set())
        self.folder_agrees(DATA / "tenants", set())

    def test_every_valid_frame_of_all_reference_captures_agrees(self):
        folder = harness.shared()
        if folder is None:
            self.skipTest("the full reference captures are not here (FT_SHARED or ../shared): only the shipped ones were compared")
        for below in ("captures", "captures/ib-a", "captures/nccl"):
            self.folder_agrees(folder / below, set())


if __name__ == "__main__":
    main()
