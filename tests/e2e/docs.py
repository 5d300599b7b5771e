"""What the documents show is what the program prints, and names what it has."""

import json
import re
import struct
import unittest

from harness import DATA, PROJECT, WithFolder, fabtap, main
from nccl import BTH, retouched
from nccl_tenants import RECEIVER, SENDER, declared
from pcapfile import read_pcap, write_pcap

TENANTS = DATA / "tenants"
DEMO = ("-m", "tests/data/tenants/tenants-ib.map.json", "tests/data/tenants/tenants-ib.pcap")


def blocks(path):
    """The fenced blocks of a document, as lists of lines."""
    return [block.strip("\n").split("\n") for block in re.findall(r"^```\n(.*?)^```$", path.read_text(), re.S | re.M)]


def printed(*arguments, cwd):
    return fabtap(*arguments, cwd=cwd).out.decode().split("\n")


def prose(path):
    """A page without its fenced blocks."""
    return re.sub(r"^```\n.*?^```$", "", path.read_text(), flags=re.S | re.M)


def anchors(path):
    """What its headings are called in links."""
    headings = re.findall(r"^#+ (.*)$", prose(path), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def keys_of(value):
    """All keys in a JSON document."""
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    return set().union(*map(keys_of, value)) if isinstance(value, list) else set()


class Pages(unittest.TestCase):
    PAGES = [PROJECT / "README.md", PROJECT / "CHANGELOG.md", *sorted((PROJECT / "docs").glob("*.md"))]

    def test_rows_of_tables_are_whole(self):
        for page in self.PAGES:
            for table in re.findall(r"(?:^ *\|.*\n)+", prose(page), re.M):
                rows = [re.split(r"(?<!\\)\|", re.sub(r"`[^`]*`", "", row.strip())) for row in table.splitlines()]
                self.assertEqual({len(row) for row in rows}, {len(rows[0])}, "%s: %s" % (page.name, table))
                self.assertEqual({(row[0], row[-1]) for row in rows}, {("", "")}, "%s: %s" % (page.name, table))

    def test_no_row_runs_into_the_next_line(self):
        for page in self.PAGES:
            self.assertIsNone(re.search(r"^ *\|.*\n *[^|\s]", prose(page), re.M), page.name)

    def test_links_lead_somewhere(self):
        for page in self.PAGES:
            for link in re.findall(r"\]\(([^)]+)\)", prose(page)):
                if re.match(r"https?:", link):
                    continue
                name, _, anchor = link.partition("#")
                target = page.parent / name if name else page
                self.assertTrue(target.exists(), "%s: %s" % (page.name, link))
                if anchor:
                    self.assertIn(anchor, anchors(target), page.name)

    def test_every_key_of_the_sample_maps_is_documented(self):
        page = (PROJECT / "docs" / "formats.md").read_text()
        table = page[page.index("* **`tapmap/1`**"):page.index("Intervals are half open")]
        maps = [*(DATA / "tenants").glob("*.map.json"), DATA / "partitions" / "tapmap" / "v01_three_tenants.json"]
        self.assertGreater(len(maps), 6)
        for path in maps:
            self.assertEqual(keys_of(json.loads(path.read_text())) - set(re.findall(r"`(\w+)(?:\[\])?`", table)), set(), path)


class Readme(unittest.TestCase):
    def test_the_sample_report_is_what_the_demo_prints(self):
        report = printed("audit", *DEMO, cwd=PROJECT)
        sample = [block for block in blocks(PROJECT / "README.md") if block[0].startswith("VERDICT")]
        self.assertEqual(len(sample), 1)
        self.assertEqual(sample[0], report[:len(sample[0])])

    def test_the_sample_finding_is_what_explain_prints(self):
        sample = [block for block in blocks(PROJECT / "README.md") if block[0].startswith("tenant.crossing")][0]
        identity = re.search(r"\b[0-9a-f]{16}\b", "\n".join(sample)).group()
        run = fabtap("explain", identity, "-m", "tenants-ib.map.json", "tenants-ib.pcap", cwd=TENANTS)
        self.assertEqual(sample, run.out.decode().rstrip("\n").split("\n"))

    def test_the_sample_frames_are_what_decode_prints(self):
        decoded = printed("decode", "-m", "tenants-ib.map.json", "tenants-ib.pcap", cwd=TENANTS)
        sample = [block for block in blocks(PROJECT / "README.md") if "RC_RDMA_WRITE_ONLY" in block[0]][0]
        start = int(sample[0].split()[0]) - 1
        self.assertEqual(sample, decoded[start:start + len(sample)])

    def test_the_sample_flows_are_what_flows_prints(self):
        listed = printed("flows", "-m", "tenants-ib.map.json", "--where", "tenant=red", "--where", "transport=RC",
                         "--sort", "bytes", "--top", "6", "tenants-ib.pcap", cwd=TENANTS)
        sample = [block for block in blocks(PROJECT / "README.md") if block[0].startswith("FLOWS")][0]
        start = listed.index(sample[0])
        self.assertEqual(sample, listed[start:start + len(sample)])

    def test_the_sample_of_nccl_is_what_nccl_prints(self):
        page = printed("nccl", "--messages", "3", "midstart-2.19.3.pcap", cwd=DATA / "nccl")
        sample = [block for block in blocks(PROJECT / "README.md") if block[0].startswith("NCCL ")][0]
        start = page.index(sample[0])
        self.assertEqual(sample, page[start:start + len(sample)])


class Formats(unittest.TestCase):
    PAGES = [(PROJECT / "docs" / name).read_text() for name in ("formats.md", "nccl.md", "passivity.md")]
    NAMED = {word for page in PAGES for code in re.findall(r"`([^`]*)`", page) for word in re.findall(r"\w+", code)}
    IB, MOVING = "tenants-ib.map.json", "tenants-moving.map.json"
    OPENSM = ("--topology", "ib-a/ibnetdiscover.txt", "tenants-ib.partitions.conf")
    COMMANDS = (
        ("audit", "-m", IB, "tenants-ib.pcap"), ("flows", "-m", IB, "tenants-ib.pcap"), ("sources",), ("sources", "tenants-ib.pcap"),
        ("capture", "-w", "/dev/null", "tenants-ib.pcap"), ("flows", "--nccl", DATA / "nccl" / "midstart-2.19.3.pcap"),
        ("nccl", "--keys", DATA / "nccl" / "dual-2.27.7.pcap"), ("map", "show", *OPENSM), ("map", "show", MOVING),
        ("map", "show", "tenants-segments.map.json"), ("map", "show", "tenants-ib.failopen.conf"),
        ("map", "check", "tenants-ib.failopen.conf"), ("map", "lint", IB), ("map", "diff", IB, MOVING),
        ("map", "ask", "--port", "gpu01", IB), ("map", "ask", "--pair", "gpu01", "gpu05", IB))

    def are_named(self, document, *arguments):
        values = ("opcodes", "ports", "flags", "old", "new")  # by name of what is counted, or as a map has it
        keys = keys_of({key: value for key, value in document.items() if key not in values})
        names = {key for key in keys if not re.match(r"0x|[A-Z]{2}_|CNP$", key)}
        self.assertEqual(names - self.NAMED, set(), arguments)

    def test_every_field_of_documents_is_named(self):
        for arguments in self.COMMANDS:
            self.are_named(fabtap(*arguments, "--json", cwd=TENANTS).json(), *arguments)

    def test_every_field_of_packets_is_named(self):
        captures = sorted((DATA / "vectors").glob("*.pcap*")) + [DATA / "capture" / "native.erf", DATA / "capture" / "multi.pcapng"]
        self.assertGreater(len(captures), 20)
        for capture in captures:
            for packet in fabtap("decode", "--json", capture).lines():
                self.are_named(packet, capture.name)
        for packet in fabtap("decode", "--json", "-m", self.IB, "tenants-ib.pcap", cwd=TENANTS).lines():
            self.are_named(packet, "with a map")


class Help(unittest.TestCase):
    def test_every_verb_tells_its_usage_either_way(self):
        verbs = re.findall(r"^  (\w+) ", fabtap("help").out.decode(), re.M)
        self.assertIn("probe", verbs)
        for verb in verbs:
            asked = fabtap("help", verb)
            self.assertTrue(asked.out.startswith(b"usage: fabtap " + verb.encode()), asked)
            for option in "--help", "-h":
                run = fabtap(verb, option)
                self.assertEqual((run.status, run.out, run.err), (0, asked.out, b""), run)


class Findings(unittest.TestCase):
    DOCUMENT = (PROJECT / "docs" / "findings.md").read_text()

    def test_every_rule_is_documented_with_its_severity(self):
        table = dict(re.findall(r"^\| \[`([\w.-]+)`\]\S+ \| (\w+)", self.DOCUMENT, re.M))
        sections = set(re.findall(r"^### `([\w.-]+)`", self.DOCUMENT, re.M))
        self.assertEqual(set(table), sections)
        seen = set()
        for path in sorted(TENANTS.glob("*.json")):
            truth = json.loads(path.read_text())
            if truth.get("schema") != "tenants-truth/1":
                continue
            document = fabtap("audit", *truth["audit_args"], "--json", truth["capture"], cwd=TENANTS).json()
            for finding in document["findings"]:
                seen.add(finding["rule"])
                if finding["rule"] != "tenant.crossing":
                    self.assertEqual(finding["severity"], table[finding["rule"]])
        self.assertGreater(len(seen), 14)
        self.assertFalse(seen - sections)

    def test_every_example_is_a_finding_of_the_capture_it_names(self):
        examples = re.findall(r"^> (.+)\n>\n> `(\S+)` with `(\S+?)`(?:, frames? (\d+))?", self.DOCUMENT, re.M)
        self.assertGreater(len(examples), 14)
        for summary, capture, rules in [example[:3] for example in examples]:
            truths = [json.loads(path.read_text()) for path in TENANTS.glob("tenants-*.json")]
            arguments = [t["audit_args"] for t in truths if t.get("capture") == capture and rules in t["audit_args"]]
            document = fabtap("audit", *arguments[0], "--json", capture, cwd=TENANTS).json()
            self.assertIn(summary, [finding["summary"] for finding in document["findings"]])


class NcclFindings(WithFolder):
    """The examples of NCCL's rules: shipped captures, with a frame put in."""

    # frames of midstart-2.19.3.pcap, of one connection; behind the last one it is known how long its FIFO is
    ASKED, ALSO_ASKED, WRITTEN, ASKED_NEXT, WRAPPED = 562, 563, 570, 574, 900

    def setUp(self):
        super().setUp()
        self.header, self.records = read_pcap(DATA / "nccl" / "midstart-2.19.3.pcap")

    def example(self, rule):
        section = Findings.DOCUMENT.split("### `%s`" % rule)[1].split("\n#")[0]
        return " ".join(re.findall(r"^> (.+)", section, re.M))

    def frame(self, number):
        return self.records[number - 1]

    def psn(self, number):
        return int.from_bytes(self.frame(number)[16 + BTH + 9:16 + BTH + 12], "big")

    def reth(self, number):
        return struct.unpack_from(">QII", self.frame(number), 16 + BTH + 12)

    def is_told(self, rule, behind, forged):
        path = write_pcap(self.folder / "forged.pcap", self.header, self.records[:behind] + [forged] + self.records[behind:])
        for verb, options in (("nccl", ()), ("audit", ("-m", self.map(SENDER, RECEIVER)))):
            found = [f for f in fabtap(verb, *options, "--json", path).json()["findings"] if f["rule"] == rule]
            self.assertEqual([f["frames"] for f in found], [[behind + 1]], verb)
            self.assertIn(self.example(rule), found[0]["evidence"])

    def map(self, *tenants, hosts=()):
        path = self.folder / "tenants.map.json"
        document = declared(*tenants)
        for node, host in zip(document["nodes"], hosts):
            node["host"] = host
        path.write_text(json.dumps(document))
        return path

    def test_writes_and_other_writers(self):
        va, asked = self.reth(self.WRITTEN)[0], self.reth(self.WRITTEN - 2)[0]
        outside = retouched(self.frame(self.WRITTEN - 2), psn=self.psn(self.WRITTEN - 2), reth=(asked + 65536 - 63, 64))
        self.is_told("nccl.write-outside", self.ALSO_ASKED, outside)
        ahead = retouched(self.frame(self.WRITTEN), psn=self.psn(self.WRITTEN) + 1073, reth=(va + (1 << 30), 64))
        self.is_told("nccl.write-unasked", self.WRITTEN, ahead)
        fifo = self.reth(self.ASKED_NEXT)[0]
        other = retouched(self.frame(self.ASKED), psn=7, source=bytes((10, 66, 6, 6)), reth=(fifo, 32))
        self.is_told("nccl.second-writer", self.WRAPPED, other)

    def test_clear_to_sends(self):
        entry = self.frame(self.ALSO_ASKED)[16 + BTH + 28:16 + BTH + 60]
        fifo, key, _ = self.reth(self.ALSO_ASKED)
        misplaced = entry[:24] + (231).to_bytes(8, "little")
        forged = retouched(self.frame(self.ALSO_ASKED), psn=self.psn(self.ALSO_ASKED) + 1, reth=(fifo + 512, 32), key=key, payload=misplaced)
        self.is_told("nccl.contradiction", self.ALSO_ASKED, forged)
        forged = retouched(self.frame(self.ALSO_ASKED), psn=self.psn(self.ALSO_ASKED) + 1, reth=(fifo, 32), key=key, payload=entry)
        self.is_told("nccl.replay", self.ALSO_ASKED, forged)

    def test_tenants(self):
        for rule in ("nccl.crosses-tenants", "nccl.foreign-setup"):
            path = self.map(SENDER, RECEIVER, hosts=("gpu1", "gpu1b", "gpu2", "gpu2b"))
            found = fabtap("nccl", "-m", path, "--json", DATA / "nccl" / "dual-2.27.7.pcap").json()["findings"]
            self.assertIn(self.example(rule), [f["summary"] for f in found if f["rule"] == rule])


class Manual(unittest.TestCase):
    def test_bytes_of_a_half_connection_are_those_that_it_takes(self):
        table = fabtap("flows", "--json", TENANTS / "tenants-ib.pcap").json()["table"]
        page = (PROJECT / "docs" / "fabtap.1").read_text()
        self.assertEqual(re.findall(r"\.Cm flows\nanother (\d+),", page), [str(table["detail_bytes"])])
        rows = (PROJECT / "docs" / "architecture.md").read_text()
        told = {what: int(size) for size, what in re.findall(r"^\| (\d+) \| ([^,:|]+)", rows, re.M)}
        self.assertEqual((told["the record"], told["opcodes"]), (table["record_bytes"], table["detail_bytes"]))

    def test_the_manual_page_names_every_verb_and_option(self):
        page = (PROJECT / "docs" / "fabtap.1").read_text()
        verbs = re.findall(r"^  (\w+)  ", fabtap("help").out.decode(), re.M)
        self.assertGreater(len(verbs), 4)
        for verb in verbs:
            self.assertRegex(page, r"\.It Cm %s\n" % verb)
            for option in re.findall(r"-(-[a-z-]+)", fabtap("help", verb).out.decode()):
                self.assertRegex(page, r"\.It Fl (\w , )?%s\b" % option, verb)


if __name__ == "__main__":
    main()
