"""Multi-tenant captures whose verdicts are known by construction: decode -m and audit against every truth."""

import collections
import functools
import json
import re
import tempfile
import unittest
from pathlib import Path

from harness import COMPLIANT, DATA, FAILED, NOT_EVIDENCED, VIOLATED, fabtap, main
from pcapfile import pcapng_of, read_pcap, write_pcap

FOLDER = DATA / "tenants"


def truths():
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        truth = json.loads(path.read_text())
        if truth.get("schema") == "tenants-truth/1":
            found.append((path.stem, truth))
    return found


TRUTHS = truths()


def for_every_truth(check):
    @functools.wraps(check)
    def run(self):
        for name, truth in TRUTHS:
            with self.subTest(truth=name):
                check(self, truth)
    return run


@functools.cache
def remembered(*arguments):
    return fabtap(*arguments, cwd=FOLDER)


def decode(truth):
    return remembered("decode", *truth["audit_args"], "--json", truth["capture"])


def audit(truth):
    return remembered("audit", *truth["audit_args"], "--json", truth["capture"])


def marks(run):
    """Frame number -> set of the rules its packets break, grace left out: it is no violation."""
    found = collections.defaultdict(set)
    for packet in run.lines():
        found[packet["frame"]].update(rule for rule in packet.get("rules") or [] if rule != "tenant.grace")
    return found


def acceptable(rule, allowed):
    """spoof.* in a truth stands for any rule of that family."""
    return rule in allowed or rule.startswith("spoof.") and any(a.startswith("spoof.") for a in allowed)


class Tenants(unittest.TestCase):
    maxDiff = 4000

    def test_the_truths_are_there(self):
        self.assertEqual(len(TRUTHS), 28)

    @for_every_truth
    def test_every_violating_frame_is_marked_with_its_rules(self, truth):
        found = marks(decode(truth))
        for row in truth["violating_frames"]:
            rules = found[row["frame"]]
            unexpected = [rule for rule in rules if not acceptable(rule, row["rules"])]
            missing = [rule for rule in row["expected"] if not acceptable(rule, rules)]
            self.assertFalse(unexpected or missing, "frame %d (%s): got %s, expected %s"
                             % (row["frame"], row.get("kind"), sorted(rules), row["expected"]))

    @for_every_truth
    def test_no_other_frame_is_marked(self, truth):
        violating = {row["frame"] for row in truth["violating_frames"]}
        either = {row["frame"]: row["rules"] for row in truth["either"]}
        for frame, rules in marks(decode(truth)).items():
            if frame in violating:
                continue
            surplus = [rule for rule in rules if not acceptable(rule, either.get(frame, []))]
            self.assertFalse(surplus, "frame %d must not be marked" % frame)

    @for_every_truth
    def test_every_frame_is_there_and_numbered_from_one(self, truth):
        frames = [packet["frame"] for packet in decode(truth).lines()]
        self.assertEqual(sorted(set(frames)), list(range(1, truth["frames"] + 1)))

    @for_every_truth
    def test_undecided_frames_are_the_ones_that_cannot_be_judged(self, truth):
        if "undecided_frames" not in truth:
            return
        open_ended = {row["frame"] for row in truth["violating_frames"] + truth["either"]}
        undecided = {packet["frame"] for packet in decode(truth).lines() if packet.get("undecided")}
        self.assertEqual(undecided - open_ended, set(truth["undecided_frames"]) - open_ended)

    @for_every_truth
    def test_the_verdict_and_the_exit_status_are_honest(self, truth):
        run = audit(truth)
        self.assertIn(run.json()["verdict"], truth["verdicts_accepted"], run)
        self.assertIn(run.status, truth["exit_accepted"], run)

    @for_every_truth
    def test_every_byte_is_in_exactly_one_tenant_pair(self, truth):
        document = audit(truth).json()
        duplicates = document["coverage"]["duplicates"] or 0
        packets = sum(row["packets"] for row in document["matrix"])
        pairs = [(row["from"], row["to"]) for row in document["matrix"]]
        self.assertEqual(len(pairs), len(set(pairs)))
        self.assertEqual(packets + duplicates, truth["frames"])
        self.assertEqual(document["capture"]["frames"], truth["frames"])
        self.assertEqual(document["capture"]["bytes"], truth["bytes"])
        if duplicates == 0:
            self.assertEqual(sum(row["bytes"] for row in document["matrix"]), truth["bytes"])

    @for_every_truth
    def test_the_tenant_matrix_is_the_truth(self, truth):
        if truth["matrix"] is None or truth.get("matrix_scored") == "sums":
            return
        document = audit(truth).json()
        expected = truth["matrix"]
        if document["coverage"]["duplicates"]:
            expected = truth["matrix_without_duplicates"]
        self.assertEqual({(r["from"], r["to"]): (r["packets"], r["bytes"]) for r in document["matrix"]},
                         {(r["from"], r["to"]): (r["packets"], r["bytes"]) for r in expected})

    @for_every_truth
    def test_packets_per_pkey_are_the_truth(self, truth):
        document = audit(truth).json()
        if document["coverage"]["duplicates"]:
            return
        self.assertEqual({row["pkey"]: row["packets"] for row in document["pkeys"]}, truth["pkeys"])

    @for_every_truth
    def test_permitted_crossings_name_their_exception(self, truth):
        named = {one for row in audit(truth).json()["matrix"] for one in row["exceptions"]}
        self.assertEqual(named, set(truth["exceptions_named"]))

    @for_every_truth
    def test_findings_about_the_map_are_reported(self, truth):
        findings = audit(truth).json()["findings"]
        for wanted in truth.get("findings_required", []):
            text = [json.dumps(f) for f in findings if f["rule"] == wanted["rule"]]
            self.assertTrue(text, wanted)
            for word in wanted.get("tenants", []) + [wanted.get("leaf", wanted["rule"])]:
                self.assertTrue(any(word in t for t in text), "%s does not name %s" % (text, word))
            for finding in findings:
                if finding["rule"] == wanted["rule"]:
                    self.assertEqual(finding["frames"], [])

    @for_every_truth
    def test_findings_hold_the_frames_that_decode_marks_and_no_other(self, truth):
        found = marks(decode(truth))
        per_rule = collections.Counter(rule for rules in found.values() for rule in rules)
        document = audit(truth).json()
        if document["coverage"]["duplicates"]:
            return
        counted = collections.Counter()
        for finding in document["findings"]:
            if finding["rule"].startswith(("decode.", "coverage.", "map.")) or not finding["frames"] \
                    or finding["rule"] == "tenant.grace":
                continue
            counted[finding["rule"]] += finding["packets"]
            for frame in finding["frames"]:
                self.assertIn(finding["rule"], found[frame], finding["id"])
        self.assertEqual(counted, per_rule)

    @for_every_truth
    def test_the_same_input_gives_the_same_bytes(self, truth):
        again = fabtap(*audit(truth).arguments[1:], cwd=FOLDER)
        self.assertEqual(audit(truth).out, again.out)

    def test_a_capture_that_ends_inside_a_record_is_judged_up_to_there(self):
        damaged = [truth for _, truth in TRUTHS if "damage" in truth]
        self.assertEqual(len(damaged), 2)
        for truth in damaged:
            run = audit(truth)
            self.assertEqual(run.status, FAILED)
            self.assertEqual(len(run.complaints()), 1, run)
            self.assertIn(truth["capture"], run.complaints()[0])
            self.assertEqual(run.json()["capture"]["frames"], truth["frames"])


class LongNames(unittest.TestCase):
    def test_no_name_is_so_long_that_two_findings_become_one(self):
        """A name has up to 255 bytes, and a finding two of them; its id stands for P_Key, VLAN and leaf as well."""
        for name, audited in (("tenants-ib", "tenants-ib"), ("cotenancy-bad", "tenants-cotenancy")):
            text = (FOLDER / (name + ".map.json")).read_text()
            known = re.findall(r'"(gpu\d+|red|green|blue|leaf\d)"', text)
            self.assertGreater(len(set(known)), 4)
            for word in set(known):
                text = text.replace('"%s"' % word, '"%s"' % word.rjust(255, "x"))
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "long.map.json"
                path.write_text(text)
                long, short = [fabtap("audit", "-m", rules, "--json", audited + ".pcap", cwd=FOLDER).json()["findings"]
                               for rules in (path, name + ".map.json")]
            self.assertEqual(len({finding["id"] for finding in long}), len(short))
            self.assertEqual(sorted((row["rule"], row["packets"]) for row in long),
                             sorted((row["rule"], row["packets"]) for row in short))


class Damaged(unittest.TestCase):
    def test_one_frame_in_five_hundred_is_told_and_takes_no_verdict(self):
        """Undecided, since its ICRC is wrong; 99 in 100 decided are enough."""
        truth = dict(TRUTHS)["tenants-segments-clean"]
        header, records = read_pcap(FOLDER / truth["capture"])
        records[100] = records[100][:-1] + bytes([records[100][-1] ^ 0xFF])
        with tempfile.TemporaryDirectory() as folder:
            path = write_pcap(Path(folder) / "damaged.pcap", header, records)
            run = fabtap("audit", *truth["audit_args"], "--json", path, cwd=FOLDER)
        document = run.json()
        self.assertEqual((run.status, document["verdict"]), (COMPLIANT, "compliant"))
        self.assertEqual(document["coverage"]["undecided"], 1)
        self.assertIn("1 could not be judged", document["because"])
        self.assertGreater(document["coverage"]["could_hide"]["packets_per_million"], 0)
        self.assertEqual([finding["rule"] for finding in document["findings"]], ["decode.bad-icrc"])


class Untimed(unittest.TestCase):
    """Frames without a time stamp, under maps that change: nobody knows what was in force."""

    NAMES = ("tenants-ib", "tenants-ib-clean", "tenants-moving", "tenants-pkey", "tenants-segments")

    def for_every_way(self, check):
        for name in self.NAMES:
            truth = dict(TRUTHS)[name]
            header, records = read_pcap(FOLDER / truth["capture"])
            half = len(records) // 2
            ways = {"none": lambda number: False, "odd": lambda number: number % 2 == 1, "early": lambda number: number <= half}
            for way, timed in ways.items():
                with self.subTest(truth=name, timed=way), tempfile.TemporaryDirectory() as folder:
                    path = Path(folder) / "untimed.pcapng"
                    path.write_bytes(pcapng_of(header, records, timed))
                    check(truth, path, timed)

    def run_verb(self, verb, truth, path, *more):
        return fabtap(verb, *truth["audit_args"], "--json", *more, path, cwd=FOLDER)

    def test_only_frames_with_a_time_break_rules(self):
        def check(truth, path, timed):
            found = marks(self.run_verb("decode", truth, path))
            expected = {row["frame"]: set(row["expected"]) for row in truth["violating_frames"] if timed(row["frame"])}
            self.assertEqual({frame: rules for frame, rules in found.items() if rules}, expected)

        self.for_every_way(check)

    def test_those_without_are_counted_and_keep_the_verdict_from_compliant(self):
        def check(truth, path, timed):
            undecided = sum(packet.get("undecided") == "no_timestamp" for packet in
                            self.run_verb("decode", truth, path).lines())
            run = self.run_verb("audit", truth, path)
            document = run.json()
            self.assertGreater(undecided, 0)
            self.assertEqual(document["coverage"]["undecided"], undecided)
            self.assertFalse(document["coverage"]["enough"])
            self.assertGreater(document["coverage"]["could_hide"]["packets_per_million"], 0)
            broken = any(timed(row["frame"]) for row in truth["violating_frames"])
            self.assertEqual(run.status, VIOLATED if broken else NOT_EVIDENCED)
            self.assertEqual(self.run_verb("audit", truth, path, "--workers", "3").out, run.out)

        self.for_every_way(check)

    def test_a_compliant_verdict_says_that_an_input_broke_off(self):
        truth = dict(TRUTHS)["tenants-ib-clean"]
        path = FOLDER / truth["capture"]
        with tempfile.TemporaryDirectory() as folder:
            cut = Path(folder) / "cut.pcap"
            cut.write_bytes(path.read_bytes()[:-1])
            for inputs, says in (([path], "declared map"), ([cut], "declared map; the input broke off before the end"),
                                 ([path, cut], "declared map; 1 of 2 inputs broke off before the end")):
                run = fabtap("audit", *truth["audit_args"], "--json", *inputs, cwd=FOLDER)
                document = run.json()
                self.assertEqual(document["verdict"], "compliant")
                self.assertEqual(run.status, FAILED if cut in inputs else COMPLIANT)
                self.assertTrue(document["because"].endswith(says), document["because"])

    def test_a_map_that_never_changes_needs_no_time(self):
        truth = dict(TRUTHS)["tenants-ib-opensm"]
        path = FOLDER / truth["capture"]
        with tempfile.TemporaryDirectory() as folder:
            untimed = Path(folder) / "untimed.pcapng"
            untimed.write_bytes(pcapng_of(*read_pcap(path), lambda number: False))
            found, usual = (marks(self.run_verb("decode", truth, one)) for one in (untimed, path))
            self.assertEqual(found, usual)
            self.assertEqual(self.run_verb("audit", truth, untimed).status, VIOLATED)


if __name__ == "__main__":
    main()
