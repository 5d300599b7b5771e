"""decode -T fields: our names against the vectors and the tenants' truths, Wireshark's names against tshark itself."""

import collections
import ipaddress
import json
import shutil
import subprocess
import unittest

from harness import DATA, ENVIRONMENT, fabtap, main
from tenants import TRUTHS, acceptable

VECTORS, CAPTURES, TENANTS = DATA / "vectors", DATA / "captures", DATA / "tenants"
# where the vectors keep what has a short name
PATHS = {"src": "ip.src", "dst": "ip.dst", "ttl": "ip.ttl", "dscp": "ip.dscp", "ecn": "ip.ecn",
         "slid": "lrh.slid", "dlid": "lrh.dlid", "sl": "lrh.sl", "vl": "lrh.vl"}
# null in the vectors where a packet broke, whatever of these was read before
UNCHECKED_WHEN_NULL = {"smac", "dmac", "udp_sport", *PATHS}
CRC = "infiniband.invariant.crc"
SEVERAL = {"vlan.id", "vlan.priority"}  # of all tags; some others tshark prints twice


def listed():
    """(our names, Wireshark's), but for those that tell of NCCL (nccl_frames.py)."""
    names = [line.split()[0] for line in fabtap("decode", "--list-fields").out.decode().splitlines() if line.strip()]
    wiresharks = names.index("frame.number")
    return [name for name in names[:wiresharks] if not name.startswith("nccl.")], names[wiresharks:]


def printed(names, *arguments):
    """A dictionary for each packet."""
    options = [word for name in names for word in ("-e", name)]
    lines = fabtap("decode", "-T", "fields", *options, *arguments).out.decode().splitlines()
    return [dict(zip(names, line.split("\t"), strict=True)) for line in lines]


def expected_text(record, name):
    """What a vector says of a field, as decode prints it; None: nothing."""
    value = record
    for part in PATHS.get(name, name).split("."):
        if value is None:
            break
        if part not in value:
            return None
        value = value[part]
    if value is None:
        return None if name in UNCHECKED_WHEN_NULL else ""
    if name in ("src", "dst"):
        return str(ipaddress.ip_address(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(value) if isinstance(value, list) else str(value)


class OurNames(unittest.TestCase):
    def test_they_print_what_the_vectors_say(self):
        names, by_file, compared = listed()[0], collections.defaultdict(list), collections.Counter()
        for line in (VECTORS / "expected.jsonl").read_text().splitlines():
            record = json.loads(line)
            by_file[record["file"]].append(record)
        for file, records in by_file.items():
            rows = printed(names, VECTORS / file)
            self.assertEqual(len(rows), len(records), file)
            for record, row in zip(records, rows):
                for name in names:
                    expected = expected_text(record, name)
                    if expected is None or self.is_known(record, row, name, expected):
                        continue
                    self.assertEqual(row[name], expected, "%s, frame %d: %s" % (file, record["frame"], name))
                    compared[name] += expected != ""
        self.assertGreater(len([name for name in compared if compared[name]]), 50)

    def is_known(self, record, row, name, expected):
        """One slip of the vectors, and where they say less than we do."""
        if name == "payload_captured" and expected == "0":
            return row[name] == ""
        if name == "aeth.kind" and expected == "nak":
            return row[name] != "" and row[name] not in ("ack", "rnr_nak")
        return (record["file"], record["frame"], name) == ("erf.pcap", 18, "transport")

    def test_verdicts_are_those_of_the_truths(self):
        names = ["frame", "sub", "rules", "undecided", "input", "tunnels"]
        for name, truth in TRUTHS:
            arguments = [TENANTS / word if (TENANTS / word).is_file() else word for word in truth["audit_args"]]
            with self.subTest(truth=name):
                rows = printed(names, *arguments, TENANTS / truth["capture"])
                self.assertEqual({row["input"] for row in rows}, {str(TENANTS / truth["capture"])})
                rules = collections.defaultdict(set)
                for row in rows:
                    rules[int(row["frame"])].update(filter(None, row["rules"].split(",")))
                for violating in truth["violating_frames"]:
                    for rule in violating["expected"]:
                        self.assertTrue(acceptable(rule, rules[violating["frame"]]), (violating, rules[violating["frame"]]))
                undecided = {int(row["frame"]) for row in rows if row["undecided"]}
                self.assertLessEqual(set(truth.get("undecided_frames", [])), undecided)


class WiresharksNames(unittest.TestCase):
    def setUp(self):
        if shutil.which("tshark") is None:
            self.skipTest("tshark is not installed: nothing was compared with it")

    def theirs(self, capture, names):
        command = ["tshark", "-n", "-r", capture, "-T", "fields", *[word for name in names for word in ("-e", name)]]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRONMENT, check=True)
        return [dict(zip(names, line.split("\t"), strict=True)) for line in done.stdout.decode().splitlines()]

    def test_they_print_what_tshark_prints(self):
        names = listed()[1]
        # tshark reads no link type 247, and prints the outer headers of mirrors where the inner packet has none of the kind
        captures = [path for path in sorted(CAPTURES.glob("*.pcap*")) if not path.name.startswith(("mads", "mirror"))]
        self.assertGreater(len(captures), 10)
        for capture in captures:
            ours, theirs = printed([*names, "truncated"], capture), self.theirs(capture, names)
            self.assertEqual(len(ours), len(theirs), capture)
            for mine, other in zip(ours, theirs):
                for name in names:
                    expected = other[name] if name in SEVERAL else other[name].split(",")[-1]
                    if name == CRC and (mine["truncated"] or expected == ""):
                        continue  # of cut frames tshark takes the last bytes there are, of some payloads and MADs none
                    self.assertEqual(mine[name], expected, "%s, frame %s: %s" % (capture.name, mine["frame.number"], name))


if __name__ == "__main__":
    main()
