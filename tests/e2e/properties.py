"""Truths about the whole program: cutting, merging, replaying, explaining, evidence."""

import gzip
import json

from harness import COMPLIANT, DATA, FAILED, VIOLATED, WithFolder, fabtap, main
import roce
from pcapfile import read_pcap, read_pcapng, write_pcap

TENANTS = DATA / "tenants"
CASES = [("tenants-ib", "tenants-ib.map.json"), ("tenants-segments", "tenants-segments.map.json"),
         ("tenants-moving", "tenants-moving.map.json"), ("tenants-pkey", "tenants-pkey.map.json")]
# these rules judge a connection's or flow's history, of which a part holds only a part
OF_HISTORY = ("pkey.changed-on-connection", "decode.")


def audit(map_name, *captures, more=()):
    return fabtap("audit", "-m", TENANTS / map_name, "--json", *more, *captures)


def findings(run):
    return {finding["id"]: finding for finding in run.json()["findings"]}


def without_sources(document):
    """A report without the names of what was read, and the frame times kept."""
    document = json.loads(json.dumps(document))
    del document["capture"]["sources"]
    return document


class Properties(WithFolder):
    maxDiff = 3000

    def split(self, name, belongs):
        """Two files: the records of a capture for which belongs(index, count) holds, and the others."""
        header, records = read_pcap(TENANTS / (name + ".pcap"))
        kept = [r for i, r in enumerate(records) if belongs(i, len(records))]
        others = [r for i, r in enumerate(records) if not belongs(i, len(records))]
        self.assertTrue(kept and others)
        return (write_pcap(self.folder / "first.pcap", header, kept), write_pcap(self.folder / "second.pcap", header, others))

    def each(self):
        for name, map_name in CASES:
            whole = audit(map_name, TENANTS / (name + ".pcap"))
            self.assertEqual(whole.status, VIOLATED, whole)
            self.assertTrue(findings(whole))
            yield name, map_name, whole

    def test_a_capture_cut_in_two_has_the_findings_of_the_whole(self):
        for name, map_name, whole in self.each():
            first, second = self.split(name, lambda i, n: i < n // 2)
            parts = [findings(audit(map_name, part)) for part in (first, second)]
            for identity, finding in findings(whole).items():
                if finding["rule"].startswith(OF_HISTORY) or not finding["packets"]:
                    continue
                found = [part[identity] for part in parts if identity in part]
                self.assertTrue(found, "%s %s is in neither part" % (name, finding["summary"]))
                self.assertEqual(sum(one["packets"] for one in found), finding["packets"])
                self.assertEqual(sum(one["bytes"] for one in found), finding["bytes"])
            self.assertFalse([identity for part in parts for identity in part if identity not in findings(whole)
                              and not part[identity]["rule"].startswith(OF_HISTORY)])

    def test_two_parts_read_together_are_the_whole(self):
        for name, map_name, whole in self.each():
            parts = self.split(name, lambda i, n: i < n // 3)
            self.assertEqual(without_sources(audit(map_name, *parts).json()), without_sources(whole.json()))

    def test_files_are_merged_by_time(self):
        for name, map_name, whole in self.each():
            parts = self.split(name, lambda i, n: i % 2 == 0)
            self.assertEqual(without_sources(audit(map_name, *parts).json()), without_sources(whole.json()))

    def test_a_replay_is_byte_identical(self):
        for name, map_name, whole in self.each():
            capture = TENANTS / (name + ".pcap")
            self.assertEqual(audit(map_name, capture).out, whole.out)
            text = fabtap("audit", "-m", TENANTS / map_name, capture)
            self.assertEqual(fabtap("audit", "-m", TENANTS / map_name, capture).out, text.out)

    def test_a_pipe_and_a_compressed_file_give_the_report_of_the_file(self):
        for name, map_name, whole in self.each():
            data = (TENANTS / (name + ".pcap")).read_bytes()
            piped = fabtap("audit", "-m", TENANTS / map_name, "--json", "-", stdin=data)
            packed = self.folder / "packed"
            packed.write_bytes(gzip.compress(data))
            for other in (piped, audit(map_name, packed)):
                self.assertEqual(without_sources(other.json()), without_sources(whole.json()))

    def test_explain_reproduces_every_finding(self):
        for name, map_name, whole in self.each():
            capture = TENANTS / (name + ".pcap")
            for identity, finding in findings(whole).items():
                run = fabtap("explain", identity, "-m", TENANTS / map_name, "--json", capture)
                explained = run.json()
                self.assertEqual({k: explained.get("finding", explained)[k] for k in finding}, finding)
                text = fabtap("explain", identity, "-m", TENANTS / map_name, capture).out.decode()
                for word in [identity, finding["rule"]] + [str(frame) for frame in finding["frames"][:1]]:
                    self.assertIn(word, text)

    def refuses_to_explain(self, word, reason, capture):
        run = fabtap("explain", word, "-m", TENANTS / CASES[0][1], capture)
        self.assertEqual(run.status, FAILED)
        self.assertEqual(len(run.complaints()), 1, run)
        self.assertIn("%s: %s" % (word, reason), run.complaints()[0])

    def test_explain_refuses_an_unknown_id(self):
        self.refuses_to_explain("0123456789abcdef", "no such finding", TENANTS / (CASES[0][0] + ".pcap"))

    def test_explain_lists_the_findings_that_an_id_cut_short_may_be_of(self):
        twins = (("10.9.14.186", "10.8.0.2"), ("10.9.27.10", "10.8.0.1"))  # of their SHA-256 the first 32 bits are alike
        frames = [(10**18 + n, roce.Half(*ends, 17).write(psn=n)) for n, ends in enumerate(twins)]
        capture = roce.capture(self.folder / "twins.pcap", frames)
        rules = self.folder / "map.json"
        rules.write_text(json.dumps(roce.EVERYBODY).replace("0.0.0.0/0", "10.8.0.0/24").replace("::/0", "fd00::/8"))
        found = [(f["id"], f["rule"]) for f in fabtap("audit", "-m", rules, "--json", capture).json()["findings"]
                 if f["id"].startswith("d53f8ee8")]
        self.assertEqual(len(found), 2)
        run = fabtap("explain", "D53F8EE8", "-m", rules, capture)
        self.assertEqual((run.status, run.out), (FAILED, b""))
        self.assertEqual(run.complaints(), ["fabtap: explain: d53f8ee8: ambiguous, the ids of 2 findings begin so:"
                                            + "".join(" %s (%s)" % one for one in found)])
        for identity, _ in found:
            self.assertEqual(fabtap("explain", identity[:12], "-m", rules, capture).status, COMPLIANT)

    def test_explain_refuses_what_can_be_no_id_before_it_reads_a_capture(self):
        for word in ("no-such-finding", "0123456", "0123456789abcdef0", "capture.pcap"):
            self.refuses_to_explain(word, "not the id of a finding", self.folder / "missing.pcap")

    def test_evidence_holds_the_frames_of_every_finding_under_its_id(self):
        for name, map_name, whole in self.each():
            evidence = self.folder / (name + ".pcapng")
            run = audit(map_name, TENANTS / (name + ".pcap"), more=("-w", evidence))
            self.assertEqual(run.status, whole.status)
            _, records = read_pcap(TENANTS / (name + ".pcap"))
            frames = {record[16:]: number for number, record in enumerate(records, 1)}
            expected = {(identity, number) for identity, finding in findings(whole).items() for number in finding["frames"]}
            identities = {identity for identity, _ in expected}
            kept = set()
            for frame, _, comments in read_pcapng(evidence):
                self.assertIn(frame, frames, "a frame that the capture does not have")
                words = set(" ".join(comments).replace(",", " ").split())
                self.assertTrue(words & identities, "no finding's id in %s" % comments)
                kept |= {(identity, frame) for identity in words & identities}
            wanted = {(identity, records[number - 1][16:]) for identity, number in expected}
            self.assertFalse(wanted - kept, "frames of findings that are not in the evidence")

    def test_evidence_audited_again_breaks_the_same_rules(self):
        for name, map_name, whole in self.each():
            evidence = self.folder / (name + ".pcapng")
            audit(map_name, TENANTS / (name + ".pcap"), more=("-w", evidence))
            again = findings(audit(map_name, evidence))
            wanted = {i for i, f in findings(whole).items() if f["frames"] and not f["rule"].startswith(OF_HISTORY)}
            self.assertFalse(wanted - set(again))

    def test_decode_marks_and_counts_are_independent_of_the_output_format(self):
        for name, map_name, _ in self.each():
            capture = TENANTS / (name + ".pcap")
            packets = fabtap("decode", "-m", TENANTS / map_name, "--json", capture).lines()
            fields = fabtap("decode", "-T", "fields", "-e", "frame.number", "-e", "infiniband.bth.p_key", capture).out.decode()
            rows = [line.split("\t") for line in fields.splitlines()]
            self.assertEqual([int(row[0]) for row in rows], [packet["frame"] for packet in packets])
            self.assertEqual([int(row[1], 0) if row[1] else None for row in rows], [packet["pkey"] for packet in packets])
            self.assertEqual(len(fabtap("decode", capture).out.splitlines()), len(packets))


if __name__ == "__main__":
    main()
