"""Builds of NCCL whose clear-to-sends are laid out as in no release: audits follow them and tell what `nccl` tells."""

import json
import random
import struct

from harness import DATA, WithFolder, fabtap, main, shared
from nccl import BTH, WRITE_ONLY, cut, is_roce, opcode, retouched
from nccl_forged import field, psn_of, with_psn
from pcapfile import read_pcap, write_pcap

CAPTURES = "nccl-emul-2rank", "nccl-emul-3rank-checkpoint", "nccl-emul-4rank-2qp-jumbo", "nccl-emul-long-snap160", "ecn-cnp-nccl-emul"
SEVERAL = "nccl-emul-4rank-2qp-jumbo",  # queue pairs of a connection: little is told of its data
ENTRY, FAR = 64, 1 << 30
FIRST, LAST = 0x06, 0x0b  # of RDMA writes, by opcode


def ends(record):
    return record[16 + 26:16 + 30], record[16 + 30:16 + 34]


def is_write(record):
    return is_roce(record) and FIRST <= opcode(record) <= LAST


def is_ask(record):
    return is_roce(record) and opcode(record) == WRITE_ONLY and field(record, BTH + 24, 4) == ENTRY


def name(address):
    return ".".join(map(str, address))


class OwnLayouts(WithFolder):
    def captures(self):
        """(name, header, records); the first one is here always."""
        folder = shared()
        yield ("snap128-nccl-emul", *read_pcap(DATA / "captures" / "snap128-nccl-emul.pcap"))
        for capture in CAPTURES if folder else ():
            yield (capture, *read_pcap(folder / "captures" / (capture + ".pcap")))

    def map_of(self, addresses):
        """Each of them is a tenant of its own; none: all are one."""
        members = {name(address): name(address) + "/32" for address in addresses} or {"all": "10.0.0.0/8"}
        path = self.folder / ("map%d.json" % len(members))
        path.write_text(json.dumps({
            "schema": "tapmap/1", "map_id": "own", "serial": 1, "issued_at": "2020-01-01T00:00:00Z", "issuer": "tests",
            "fabric": {"kind": "roce"}, "tenants": [{"name": tenant, "class": "customer"} for tenant in members],
            "nodes": [{"host": "h", "ports": [{"ip": "10.0.0.1"}]}],
            "segments": [{"name": tenant, "tenant": tenant, "intervals": [
                {"from": "2000-01-01T00:00:00Z", "to": None, "members": [{"subnet": subnet}]}]} for tenant, subnet in members.items()]}))
        return path

    def findings(self, verb, path, site, *options):
        document = fabtap(verb, "--no-icrc", "-m", site, "--json", *options, path).json()
        return [finding for finding in document["findings"] if finding["rule"].startswith("nccl.")]

    def written(self, header, records):
        return write_pcap(self.folder / "made.pcap", header, records)

    def spoilt(self, header, records, seed):
        """(in which way, the capture): nothing is wrong with what is left."""
        chance = random.Random(seed)
        yield "whole", self.written(header, records)
        yield "lost", self.written(header, [record for record in records if chance.random() >= 0.01])
        yield "middle", self.written(header, records[len(records) // 3:])
        yield "cut", self.written(header, [cut(record, 96) for record in records])
        first = [i for i, record in enumerate(records) if is_ask(record)][:2]
        yield "without the second", self.written(header, records[:first[1]] + records[first[1] + 1:])

    def test_who_talks_to_whom_across_tenants_is_named(self):
        """Who asks for data, and of whom, has a connection; others of its communicator may be named, too. Whatever the number of engines."""
        for capture, header, records in self.captures():
            asks = {frozenset(map(name, ends(record))) for record in records if is_ask(record)}
            self.assertGreater(len(asks), 0)
            apart, together = self.map_of({address for record in records if is_ask(record) for address in ends(record)}), self.map_of(())
            for way, path in self.spoilt(header, records, capture):
                for verb, options in (("nccl", ()), ("audit", ()), ("audit", ("--workers", 2))):
                    with self.subTest(capture=capture, way=way, verb=verb, options=options):
                        found = self.findings(verb, path, apart, *options)
                        self.assertEqual({finding["rule"] for finding in found}, {"nccl.crosses-tenants"})
                        self.assertGreaterEqual({frozenset(f[end]["tenant"] for end in ("src", "dst")) for f in found}, asks)
                        self.assertEqual(self.findings(verb, path, together, *options), [])

    def places(self, records):
        """(index, a write that began there or before, writes of its queue pair): at the beginning, in the midst and near the end."""
        sequences = {}
        for i, record in enumerate(records):
            if is_write(record):
                sequences.setdefault((*ends(record), field(record, BTH + 5, 3)), []).append(i)
        for which in sequences.values():
            if opcode(records[which[0]]) == FIRST:
                for at in (which[0], which[len(which) // 2], which[len(which) * 7 // 8]):
                    yield at, records[which[0]], which

    def test_writes_outside_of_what_was_asked_for(self):
        """As packets in the sequence of their queue pair, and as such that are quicker than the sender's own."""
        together = self.map_of(())
        for capture, header, records in self.captures():
            for at, like, which in self.places(records) if capture not in SEVERAL else ():
                va, _, _ = struct.unpack_from(">QII", like, 16 + BTH + 12)
                psn = psn_of(records[at]) + 1
                forged = retouched(like, psn=psn, reth=(va + FAR, 64))
                later = {i for i in which if i > at}
                shifted = [with_psn(record, psn_of(record) + 1) if i in later else record for i, record in enumerate(records)]
                for way, rest in (("in sequence", shifted), ("quicker", records)):
                    path = self.written(header, records[:at + 1] + [forged] + rest[at + 1:])
                    for verb in ("nccl", "audit"):
                        with self.subTest(capture=capture, way=way, verb=verb, frame=at + 2):
                            found = [(f["rule"], f["frames"]) for f in self.findings(verb, path, together)]
                            self.assertIn(found, ([("nccl.write-outside", [at + 2])], [("nccl.write-unasked", [at + 2])]))


if __name__ == "__main__":
    main()
