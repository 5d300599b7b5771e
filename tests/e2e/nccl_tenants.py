"""A communicator across tenants, and its set-up over TCP: found with the map that forbids it, and not with others."""

import collections
import json
import random
import struct
import sys
import unittest
from pathlib import Path

from harness import COMPLIANT, DATA, VIOLATED, WithFolder, fabtap, main, shared
from pcapfile import LITTLE_NSEC, read_pcap, read_pcapng, write_pcap

sys.path.append(str(Path(__file__).resolve().parents[1] / "property"))

import alterations

CAPTURE = DATA / "nccl" / "dual-2.27.7.pcap"  # 10.61.3.11 and 10.61.4.11 send to 10.61.3.12 and 10.61.4.12
SENDER, RECEIVER = ["10.61.3.11", "10.61.4.11"], ["10.61.3.12", "10.61.4.12"]


def declared(red, blue, exceptions=()):
    """Who has which addresses."""
    return {
        "schema": "tapmap/1", "map_id": "tenants", "serial": 1, "issued_at": "2020-01-01T00:00:00Z", "issuer": "tests",
        "fabric": {"kind": "roce"}, "tenants": [{"name": "red", "class": "customer"}, {"name": "blue", "class": "shared"}],
        "nodes": [{"host": "h" + ip.replace(".", "-"), "ports": [{"ip": ip}]} for ip in red + blue],
        "segments": [{"name": name, "tenant": name, "intervals": [
            {"from": "2000-01-01T00:00:00Z", "to": None, "members": [{"subnet": ip + "/32"} for ip in ips]}]}
            for name, ips in (("red", red), ("blue", blue)) if ips],
        "exceptions": list(exceptions),
    }


def on_infiniband(red, blue):
    """Who has which LIDs, each in a partition of its own."""
    return {
        "schema": "tapmap/1", "map_id": "tenants", "serial": 1, "issued_at": "2020-01-01T00:00:00Z", "issuer": "tests",
        "fabric": {"kind": "infiniband"}, "tenants": [{"name": name, "class": "customer"} for name in ("red", "blue")],
        "nodes": [{"host": "h%d" % lid, "ports": [{"lid": lid}]} for lid in red + blue],
        "partitions": [{"pkey": pkey, "tenant": name, "intervals": [
            {"from": "2000-01-01T00:00:00Z", "to": None, "members": [{"lid": lid, "membership": "full"} for lid in lids]}]}
            for name, pkey, lids in (("red", "0x0001", red), ("blue", "0x0002", blue))],
    }


class Tenants(WithFolder):
    def setUp(self):
        super().setUp()
        self.map = self.folder / "tenants.map.json"

    def run_with(self, verb, *how):
        self.map.write_text(json.dumps(declared(*how)))
        return fabtap(verb, "-m", self.map, "--json", CAPTURE)

    def rules(self, verb, *how):
        found = {}
        for finding in self.run_with(verb, *how).json()["findings"]:
            if finding["rule"].startswith("nccl."):
                found.setdefault(finding["rule"], []).append((finding["src"]["tenant"], finding["dst"]["tenant"]))
        return found

    def test_one_tenant_may_do_as_it_likes(self):
        for verb in ("audit", "nccl"):
            self.assertEqual(self.rules(verb, SENDER + RECEIVER, []), {})
        self.assertEqual(self.run_with("audit", SENDER + RECEIVER, []).status, COMPLIANT)

    def test_two_tenants_are_named(self):
        for verb in ("audit", "nccl"):
            found = self.rules(verb, SENDER, RECEIVER)
            self.assertEqual(set(found), {"nccl.crosses-tenants", "nccl.foreign-setup"})
            self.assertEqual({pair for pairs in found.values() for pair in pairs}, {("red", "blue")})
        self.assertEqual(self.run_with("audit", SENDER, RECEIVER).status, VIOLATED)

    def test_half_connections_of_the_connection_are_marked(self):
        """Both halves, in each direction; with the map of one tenant none."""
        for how, wanted in (((SENDER, RECEIVER), True), ((SENDER + RECEIVER, []), False)):
            self.map.write_text(json.dumps(declared(*how)))
            rows = fabtap("flows", "--nccl", "-m", self.map, "--json", CAPTURE).json()["flows"]
            self.assertEqual({row["nccl"]["role"] for row in rows}, {"data", "cts"})
            for row in rows:
                self.assertEqual("nccl.crosses-tenants" in row["rules"], wanted)
            chosen = fabtap("flows", "--nccl", "-m", self.map, "--json", "--where", "rule=nccl.crosses-tenants", CAPTURE).json()
            self.assertEqual(chosen["flows"], rows if wanted else [])

    def test_what_an_audit_found_is_explained(self):
        for finding in self.run_with("audit", SENDER, RECEIVER).json()["findings"]:
            for identity in finding["id"], finding["id"].upper():
                told = fabtap("explain", identity, "-m", self.map, "--json", CAPTURE).json()
                self.assertEqual((told["finding"]["rule"], told["finding"]["frames"]), (finding["rule"], finding["frames"]))

    def test_the_frames_of_a_finding_are_its_evidence(self):
        """Of rules about NCCL as of all others, with the finding's id; the bytes are those of the capture."""
        evidence = self.map.parent / "evidence.pcapng"
        self.map.write_text(json.dumps(declared(SENDER, RECEIVER)))
        document = fabtap("audit", "-m", self.map, "-w", evidence, "--json", CAPTURE).json()
        _, records = read_pcap(CAPTURE)
        kept = collections.defaultdict(list)
        for frame, _, comments in read_pcapng(evidence):
            for comment in comments:
                kept[comment].append(frame)
        expected = {"%s %s" % (finding["id"], finding["rule"]): [records[number - 1][16:] for number in finding["frames"]]
                    for finding in document["findings"]}
        self.assertEqual(kept, expected)
        self.assertTrue(any(name.endswith(" nccl.crosses-tenants") for name in kept))

    def test_a_set_up_with_an_undeclared_end_is_named(self):
        """One end is a tenant's, and nobody knows the other."""
        for red in (SENDER, RECEIVER):
            for verb in ("audit", "nccl"):
                found = [row for row in self.run_with(verb, red, []).json()["findings"] if row["rule"].startswith("nccl.")]
                self.assertEqual({row["rule"] for row in found}, {"nccl.foreign-setup"})
                for row in found:
                    self.assertEqual({row[end]["tenant"] for end in ("src", "dst")}, {"red", None})
                    self.assertIn("the map does not declare", row["evidence"][-1])

    def test_where_neither_end_is_declared_nothing_is_told(self):
        for verb in ("audit", "nccl"):
            self.assertEqual(self.rules(verb, ["10.9.9.9"], []), {})

    @unittest.skipUnless(shared(), "no reference captures here")
    def test_members_that_are_no_neighbours_are_named(self):
        """A ring of red, store, blue, store: each may talk to its neighbours, and red's data reaches blue."""
        ring = ["10.61.3.%d" % host for host in (11, 12, 13, 14)]
        document = declared(ring[:1], ring[1::2], [{"id": "store", "kind": "shared-service", "to_tenant": "blue"}])
        document["tenants"].append({"name": "green", "class": "customer"})
        document["segments"].append({"name": "green", "tenant": "green", "intervals": [
            {"from": "2000-01-01T00:00:00Z", "to": None, "members": [{"subnet": ring[2] + "/32"}]}]})
        self.map.write_text(json.dumps(document))
        for verb in ("audit", "nccl"):
            findings = fabtap(verb, "-m", self.map, "--json", shared() / "captures" / "nccl" / "ring4-2.27.7.pcap").json()["findings"]
            self.assertEqual([finding["rule"] for finding in findings], ["nccl.crosses-tenants"])
            self.assertEqual({findings[0][end]["tenant"] for end in ("src", "dst")}, {"red", "green"})
        del document["exceptions"][:]  # then each may talk to none, and only who does is named
        self.map.write_text(json.dumps(document))
        findings = fabtap("nccl", "-m", self.map, "--json", shared() / "captures" / "nccl" / "ring4-2.27.7.pcap").json()["findings"]
        pairs = [(row["src"]["tenant"], row["dst"]["tenant"]) for row in findings if row["rule"] == "nccl.crosses-tenants"]
        self.assertEqual(sorted(pairs), [("blue", "green"), ("blue", "red"), ("green", "blue"), ("red", "blue"), ("red", "green")])

    def test_an_exception_permits_it(self):
        shared = [{"id": "both", "kind": "shared-service", "to_tenant": "blue"}]
        for verb in ("audit", "nccl"):
            self.assertEqual(self.rules(verb, SENDER, RECEIVER, shared), {})

    def test_on_infiniband_ports_are_who_their_lids_say(self):
        """Set-ups are on another network, and name LIDs; packets have global headers or not."""
        records = alterations.records_of(*read_pcap(CAPTURE))
        sender, receiver = ([int.from_bytes(bytes(map(int, ip.split(".")))[2:], "big") for ip in ips] for ips in (SENDER, RECEIVER))
        for way in ("over_infiniband", "infiniband_with_set_up", "infiniband_with_grh"):
            altered = alterations.alter(way, random.Random(way), records)
            captures = [self.of_link(link, altered) for link in sorted({record.link for record in altered})]
            for verb in ("audit", "nccl"):
                for how, pairs in (((sender, receiver), {("red", "blue")}), ((sender + receiver, []), set())):
                    self.map.write_text(json.dumps(on_infiniband(*how)))
                    findings = fabtap(verb, "-m", self.map, "--json", *captures).json()["findings"]
                    self.assertEqual({(f["src"]["tenant"], f["dst"]["tenant"]) for f in findings if f["rule"].startswith("nccl.")},
                                     pairs, (way, verb))

    def of_link(self, link, records):
        header = struct.pack("<IHHiIII", LITTLE_NSEC, 2, 4, 0, 0, 262144, link)
        return write_pcap(self.folder / ("%d.pcap" % link), header, [
            struct.pack("<IIII", *divmod(r.ts_ns, 10**9), len(r.bytes), r.size) + r.bytes for r in records if r.link == link])


if __name__ == "__main__":
    main()
