"""`capture` keeps the frames that its options choose, and no others: held to what `decode` tells of each."""

import ipaddress
import json
import struct

import roce
from harness import COMPLIANT, DATA, FAILED, WithFolder, fabtap, main
from pcapfile import read_pcap, read_pcapng, write_pcap

TENANTS = DATA / "tenants"
CASES = (("tenants-ib.pcap", "tenants-ib.map.json"), ("tenants-segments.pcap", "tenants-segments.map.json"))


def addresses(packet):
    """Those that a frame is from and to: of InfiniBand with a global header LIDs and GIDs."""
    found = []
    for header, names in (("ip", ("src", "dst")), ("grh", ("sgid", "dgid")), ("lrh", ("slid", "dlid"))):
        if packet.get(header) is not None:
            found += [packet[header][name] for name in names]
    return found


def is_at(packet, wanted):
    if wanted.startswith("lid:"):
        return int(wanted[4:]) in addresses(packet)
    net = ipaddress.ip_network(wanted)
    ends = [ipaddress.ip_address(end) for end in addresses(packet) if isinstance(end, str)]
    return any(end in net for end in ends if end.version == net.version)


def breaks(packet, *rules):
    return any(rule == wanted or (wanted.endswith("*") and rule.startswith(wanted[:-1]))
               for rule in packet.get("rules", []) for wanted in rules)


class Chosen(WithFolder):
    def keeps(self, case, options, wanted):
        """What the options keep of a capture is what the predicate says of its packets; neither all nor nothing."""
        capture, rules = (TENANTS / name for name in case)
        target = self.folder / "kept.pcapng"
        packets = fabtap("decode", "--json", "-m", rules, capture).lines()
        run = fabtap("capture", "--json", "-m", rules, *options, "-w", target, capture)
        self.assertEqual(run.status, COMPLIANT, run)
        times = [packet["ts_ns"] for packet in packets if wanted(packet)]
        self.assertTrue(0 < len(times) < len(packets), options)
        self.assertEqual([packet["ts_ns"] for packet in fabtap("decode", "--json", target).lines()], times, options)
        self.assertEqual(run.json()["kept"], len(times))

    def test_by_lid_with_a_global_header_or_without(self):
        packets = fabtap("decode", "--json", TENANTS / CASES[0][0]).lines()
        self.assertTrue(any(packet.get("grh") is not None and is_at(packet, "lid:1") for packet in packets))
        for lid in ("lid:1", "lid:4", "lid:9"):
            self.keeps(CASES[0], ("--address", lid), lambda packet, lid=lid: is_at(packet, lid))
        self.keeps(CASES[0], ("--address", "lid:1", "--address", "lid:4"),
                   lambda packet: is_at(packet, "lid:1") and is_at(packet, "lid:4"))

    def test_by_address_and_prefix(self):
        self.keeps(CASES[0], ("--address", "ff00::/8"), lambda packet: is_at(packet, "ff00::/8"))
        self.keeps(CASES[1], ("--address", "10.10.1.11"), lambda packet: is_at(packet, "10.10.1.11"))
        self.keeps(CASES[1], ("--address", "10.10.1.0/24"), lambda packet: is_at(packet, "10.10.1.0/24"))
        self.keeps(CASES[1], ("--address", "10.10.1.11,10.20.0.0/16"),
                   lambda packet: is_at(packet, "10.10.1.11") or is_at(packet, "10.20.0.0/16"))

    def test_by_pkey_whatever_its_membership_bit(self):
        for text in ("0x8001", "0x0001", "1"):
            self.keeps(CASES[0], ("--pkey", text), lambda packet: packet.get("pkey", 0) & 0x7FFF == 1)

    def test_by_queue_pair(self):
        self.keeps(CASES[0], ("--qp", "1,0"), lambda packet: packet.get("dest_qp") in (0, 1))
        self.keeps(CASES[0], ("--qp", "0xffffff"), lambda packet: packet.get("dest_qp") == 0xFFFFFF)

    def kept(self, capture, *options):
        target = self.folder / "kept.pcapng"
        self.assertEqual(fabtap("capture", *options, "-w", target, capture).status, COMPLIANT)
        return [packet["ts_ns"] for packet in fabtap("decode", "--json", target).lines()]

    def test_of_frames_that_are_cut_behind_the_queue_pair_like_whole_ones(self):
        whole, cut = TENANTS / "tenants-segments.pcap", self.folder / "cut.pcap"
        header, records = read_pcap(whole)
        write_pcap(cut, header, [record[:8] + struct.pack("<I", min(100, len(record) - 16)) + record[12:16 + 100]
                                 for record in records])
        overlaid = [packet for packet in fabtap("decode", "--json", whole).lines() if "vxlan:10102" in packet["encap"]]
        self.assertTrue(all(packet["opname"] is None for packet in fabtap("decode", "--json", cut).lines()
                            if "vxlan:10102" in packet["encap"]), "the BTH of all of them is cut")
        for options in ("--pkey", "0x7fff"), ("--qp", ",".join(sorted({str(packet["dest_qp"]) for packet in overlaid}))):
            kept = self.kept(whole, *options)
            self.assertGreaterEqual(len(kept), len(overlaid))
            self.assertEqual(self.kept(cut, *options), kept, options)

    def test_a_list_may_be_long(self):
        many = ",".join("10.20.%d.%d" % (i // 250, i % 250) for i in range(2000))
        self.keeps(CASES[1], ("--address", many + ",10.10.1.11"), lambda packet: is_at(packet, "10.10.1.11"))

    def test_by_tenant_and_rule(self):
        for case in CASES:
            self.keeps(case, ("--tenant", "red"), lambda packet: "red" in (packet["from"], packet["to"]))
            self.keeps(case, ("--rule", "tenant.*"), lambda packet: breaks(packet, "tenant.*"))
            self.keeps(case, ("--rule", "tenant.crossing", "--tenant", "blue"),
                       lambda packet: breaks(packet, "tenant.crossing") and "blue" in (packet["from"], packet["to"]))
        self.keeps(CASES[0], ("--rule", "pkey.undeclared,pkey.invalid"),
                   lambda packet: breaks(packet, "pkey.undeclared", "pkey.invalid"))

    def test_a_comment_has_the_names_of_both_tenants_however_long(self):
        names = ["\u00e4" * 127 + letter for letter in "rb"]  # 255 bytes, the most that a map may have
        day = {"from": "2000-01-01T00:00:00Z", "to": None}
        rules = self.folder / "map.json"
        rules.write_text(json.dumps({**roce.EVERYBODY, "tenants": [{"name": name, "class": "customer"} for name in names],
                                     "segments": [{"name": "s%d" % i, "tenant": name, "intervals": [
                                         {**day, "members": [{"subnet": "10.0.%d.0/24" % i}]}]} for i, name in enumerate(names)]}))
        capture = roce.capture(self.folder / "crossing.pcap", [(10**18, roce.Half("10.0.0.1", "10.0.1.1", 17).write(psn=1))])
        target = self.folder / "kept.pcapng"
        self.assertEqual(fabtap("capture", "-m", rules, "-w", target, capture).status, COMPLIANT)
        (_, _, comments), = read_pcapng(target)
        self.assertEqual(comments, ["tenant.crossing (%s to %s)" % tuple(names)])

    def test_a_rule_by_which_no_frame_would_ever_be_kept_is_refused(self):
        capture, rules = [TENANTS / name for name in CASES[0]]
        kept = self.folder / "kept.pcapng"
        for rule in ("tenant.quota", "tenant.cotenancy", "map.fail-open", "map.*", "spoof.second-sender", "nccl.replay", "nccl.*"):
            run = fabtap("capture", "-m", rules, "--rule", rule, "-w", kept, capture)
            self.assertEqual((run.status, kept.exists()), (FAILED, False), rule)
            self.assertRegex(run.complaints()[0], r"--rule", rule)
            if not rule.startswith("nccl.") and rule != "spoof.second-sender":
                listed = fabtap("flows", "-m", rules, "--json", "--where", "rule=" + rule, capture).json()
                self.assertEqual(listed["flows"], [], rule)

    def test_what_needs_a_map_says_so(self):
        for options in (("--tenant", "red"), ("--rule", "tenant.*")):
            run = fabtap("capture", *options, "-w", self.folder / "kept.pcapng", TENANTS / CASES[0][0])
            self.assertEqual((run.status, len(run.complaints())), (FAILED, 1), run)
            self.assertFalse((self.folder / "kept.pcapng").exists())


if __name__ == "__main__":
    main()
