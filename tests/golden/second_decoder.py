#!/usr/bin/env python3
"""Compares `fabtap decode --json` with a second decoder, field by field.

The second decoder (second/) was written from the format descriptions and shares no code with fabtap.
It is held against the published vectors first; then both read thousands of variations of them and of
frames built from their headers up: cut, shortened, changed, nested, mislabelled. Seeds are fixed.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from second import capture, compare, frame, vary

SHOWN = 12


class Tally:
    """What was compared, and where the two differ."""

    def __init__(self):
        self.rows = collections.Counter()
        self.kinds = collections.Counter()
        self.open_points = collections.Counter()
        self.faults = []

    def count(self, family, row):
        self.rows[family] += 1
        if family == "vectors":
            return
        self.kinds.update((key, row[key]) for key in ("malformed", "truncated") if row[key])
        self.kinds.update(("alert", alert) for alert in row["alerts"])

    def fault(self, text):
        self.faults.append(text)


def read_expected(vectors):
    expected = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(vectors / "expected.jsonl", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            expected[row["file"]][row["frame"]].append(row)
    return expected


def check_vectors(vectors, expected, tally):
    """The second decoder has to say what the vectors say, else it judges nothing."""
    for name in sorted(expected):
        for number, sample in enumerate(capture.read(vectors / name), 1):
            rows, wanted = frame.decode(sample), expected[name][number]
            if len(rows) != len(wanted):
                tally.fault("%s frame %d: second decoder gives %d packets, not %d" % (name, number, len(rows), len(wanted)))
            for row, want in zip(rows, wanted):
                found = compare.differences(row, want, compare.expected_keys(want))
                if found or want["ts_ns"] != sample.ts_ns:
                    tally.fault("%s frame %d: second decoder differs from the vector: %s" % (name, number, found))


def run_fabtap(fabtap, path, tally):
    done = subprocess.run([fabtap, "decode", "--json", str(path)], capture_output=True, text=True, check=False)
    if done.returncode or done.stderr:
        tally.fault("fabtap: exit status %d: %s" % (done.returncode, done.stderr[:400]))
    rows = collections.defaultdict(list)
    for line in done.stdout.splitlines():
        row = json.loads(line)
        rows[row["frame"]].append(row)
    return rows


def check_family(fabtap, folder, family, samples, tally):
    groups = collections.defaultdict(list)
    for sample in samples:
        groups[sample.linktype, sample.fcs].append(sample)
    for (linktype, fcs), group in groups.items():
        path = folder / ("%s-%d-%d.pcap" % (family, linktype, fcs))
        capture.write(path, group)
        theirs = run_fabtap(fabtap, path, tally)
        for number, sample in enumerate(group, 1):
            check_frame(family, sample, theirs[number], tally)


def check_frame(family, sample, theirs, tally):
    ours = frame.decode(sample)
    if len(ours) != len(theirs):
        tally.fault(reproducer(family, sample, [("packets", len(ours), len(theirs))]))
        return
    for index, (row, other) in enumerate(zip(ours, theirs)):
        row.update(sub=index, ts_ns=sample.ts_ns, linktype=sample.linktype, caplen=len(sample.data), wirelen=sample.wirelen)
        found = compare.differences(row, other, compare.ALL_KEYS)
        left = [item for item in found if not compare.open_point(item, row, tally.open_points)]
        if left:
            tally.fault(reproducer(family, sample, left))
        else:
            tally.count(family, row)


def reproducer(family, sample, found):
    lines = ["%s: link type %d, FCS %d, captured %d of %d, time %d" % (
        family, sample.linktype, sample.fcs, len(sample.data), sample.wirelen, sample.ts_ns), "  " + sample.data.hex()]
    return "\n".join(lines + ["  %s: second decoder %r, fabtap %r" % item for item in found])


def check_coverage(expected, tally):
    """Every kind the vectors know must have been met, alike, in a variation."""
    for rows in expected.values():
        for row in (row for group in rows.values() for row in group):
            wanted = [(key, row[key]) for key in ("malformed", "truncated") if row[key]]
            wanted += [("alert", alert) for alert in row.get("alerts") or []]
            for kind in wanted:
                if not tally.kinds[kind]:
                    tally.kinds[kind] += 1
                    tally.fault("never exercised: %s %s" % kind)


def report(tally):
    print("compared %d packets: %s" % (sum(tally.rows.values()), dict(tally.rows)))
    for key in ("malformed", "truncated", "alert"):
        kinds = sorted((name, count) for (which, name), count in tally.kinds.items() if which == key)
        print("%s, %d kinds: %s" % (key, len(kinds), " ".join("%s=%d" % kind for kind in kinds)))
    for name, count in sorted(tally.open_points.items()):
        print("open point, not judged %d times: %s" % (count, name))
    for fault in tally.faults[:SHOWN]:
        print(fault, file=sys.stderr)
    if tally.faults:
        print("%d differences" % len(tally.faults), file=sys.stderr)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("fabtap", help="the program")
    options.add_argument("vectors", type=pathlib.Path, help="folder with expected.jsonl and its captures")
    options.add_argument("--scale", type=float, default=1, help="how many variations (1: the test's)")
    options.add_argument("--seed", default="", help="another word gives other variations")
    given = options.parse_args()

    tally, expected = Tally(), read_expected(given.vectors)
    check_vectors(given.vectors, expected, tally)
    samples = [sample for name in sorted(expected) for sample in capture.read(given.vectors / name)
               if sample.ts_ns is not None]
    with tempfile.TemporaryDirectory() as folder:
        for family, variations in vary.families(samples, given.scale, given.seed):
            check_family(given.fabtap, pathlib.Path(folder), family, variations, tally)
    check_coverage(expected, tally)
    report(tally)
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
