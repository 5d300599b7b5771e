"""Random maps and captures, judged by the program and by a second reading of the contract.

usage: verdict_oracle.py PROGRAM [--seeds FIRST COUNT] [--keep FOLDER]
"""

import argparse
import collections
import copy
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import documents
import frames as made
import wire
from maps import random_map
from opensm import random_fabric
from rules import Rules

CONTRACT = ("pkey.", "tenant.", "spoof.address-mismatch")
MANAGEMENT_CLASSES = (0x01, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x21, 0xff)
KINDS = ("ib", "roce", "segments", "mixed", "opensm")
LINKS = {"ib": (wire.LINK_INFINIBAND, wire.LINK_ERF), "opensm": (wire.LINK_INFINIBAND,), "roce": (wire.LINK_ETHERNET,),
         "segments": (wire.LINK_ETHERNET,), "mixed": (wire.LINK_INFINIBAND, wire.LINK_ETHERNET)}
FRAMES = 150  # of a capture
EXERCISED = ("pkey.invalid", "tenant.unknown-endpoint", "pkey.default-used", "pkey.undeclared",
             "pkey.sender-not-member", "pkey.receiver-not-member", "pkey.limited-to-limited",
             "pkey.membership-overclaimed", "tenant.wrong-segment", "tenant.crossing", "pkey.changed-on-connection",
             "spoof.address-mismatch", "tenant.outside-validity", "tenant.cotenancy", "grace", "undecided", "exception")
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "exitcode=99", "UBSAN_OPTIONS": "exitcode=99:print_stacktrace=1"}


class Expected:
    """least and most: the rules that must and that may be reported."""

    def __init__(self, least=(), most=(), undecided=False, grace=False, pairs=(("unknown", "unknown"),),
                 exception=None):
        self.least, self.most = set(least), set(most) | set(least)
        self.undecided, self.grace, self.pairs, self.exception = undecided, grace, pairs, exception


def readings(frame, declared):
    """The frame as it would be for every value of the fields that were cut off."""
    variants = [frame]

    def spread(test, field, values, always=False):
        if always or frame.cap < getattr(frame, field + "_at"):
            variants[:] = [other for old in variants
                           for other in ([with_field(old, name, value) for name, value in values] if test(old)
                                         else [old])]
    bases = [partition.base for partition in declared.partitions] + [0, 0x55, 0x7fff]
    spread(lambda f: True, "pkey", [("pkey", base | bit) for base in bases for bit in (0, 0x8000)],
           always=frame.cap < frame.qp_at and frame.pkey & 0x7fff == 0)  # pkey.invalid wants the QP as well
    spread(lambda f: True, "qp", [("dest_qp", 1), ("dest_qp", 2)])
    spread(lambda f: f.service == "UD", "qkey", [("qkey", 0x0b1b), ("qkey", 1)])
    spread(lambda f: f.dest_qp == 1, "class", [("management_class", value) for value in MANAGEMENT_CLASSES])
    return variants


def with_field(frame, attribute, value):
    other = copy.copy(frame)
    setattr(other, attribute, value)
    return other


def readable_pairs(rules, frame):
    """Of a frame that is not judged: by address where one may read it, else unknown."""
    pairs = {("unknown", "unknown")}
    for source_gid in {frame.source.gid, None}:
        for destination_gid in {frame.destination.gid, None}:
            other = copy.copy(frame)
            other.source, other.destination = copy.copy(frame.source), copy.copy(frame.destination)
            other.source.gid, other.destination.gid = source_gid, destination_gid
            pairs |= {rules.at(other, 2 * frame.ts).pair(), rules.smp_pair(other)}
    if frame.destination.group:  # its tenant is the partition's, and the P_Key may be out of reach
        pairs |= {(source, "unknown") for source, _ in pairs}
    return pairs


def expect_without_qp(rules, frame):
    """Addresses, perhaps the P_Key: what may be said, and that it is not all unless nothing else could be."""
    seen = copy.copy(rules)
    seen.first_base = dict(rules.first_base)
    judged = [seen.judge(reading) for reading in readings(frame, rules.declared)]
    managed = frame.native and frame.dest_qp == 0  # its VL is in the first byte
    most = set.union(*[broken for broken, _, _ in judged])
    # whether the map permits the frame at another time cannot be told either
    return Expected(most=most | ({"tenant.outside-validity"} if most else set()),
                    undecided=True if frame.cap < frame.pkey_at and not managed else None, grace=None,
                    pairs={state.pair() for _, _, state in judged} | {rules.smp_pair(frame), ("unknown", "unknown")})


def expect(rules, frame):
    if not frame.rdma:
        return Expected()
    if frame.cap < frame.addresses_at or frame.broken:
        managed = frame.native and frame.dest_qp == 0 and frame.cap >= frame.lrh_at and not frame.broken  # by its VL
        return Expected(undecided=not managed, pairs=readable_pairs(rules, frame))
    if frame.wrong_icrc and frame.cap >= frame.whole_at:
        return Expected(undecided=True)
    if frame.cap < frame.qp_at:
        return expect_without_qp(rules, frame)
    if frame.dest_qp == 0:
        return Expected(pairs={rules.smp_pair(frame)})
    judged = [rules.judge(reading) for reading in readings(frame, rules.declared)]
    sets = [broken for broken, _, _ in judged]
    graces = {grace for _, grace, _ in judged}
    least, most = set.intersection(*sets), set.union(*sets)
    exceptions = {state.exception for broken, grace, state in judged if not broken and not grace}
    # excused as far as it can be read: grace may be said beside undecided
    return Expected(least, most, undecided=least != most or len(graces) > 1,
                    grace=graces.pop() if len(graces) == 1 else None,
                    pairs={state.pair() for _, _, state in judged},
                    exception=exceptions.pop() if len(exceptions) == 1 else None)


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, env=ENVIRONMENT, check=False)
    if not 0 <= done.returncode <= 3 or b"runtime error" in done.stderr:
        sys.exit("%s\n%s" % (arguments, done.stderr.decode(errors="replace")))
    return done


def compare(expected, line):
    """Complaints about one line of `decode`."""
    got = {rule for rule in line.get("rules", []) if rule.startswith(CONTRACT) and rule != "tenant.grace"}
    complaints = []
    if not expected.least <= got <= expected.most:
        complaints.append("rules %s, not %s" % (sorted(got), sorted(expected.least)))
    if expected.undecided is not None and bool(line.get("undecided")) != expected.undecided:
        complaints.append("undecided %s" % line.get("undecided"))
    if expected.grace is not None and bool(line.get("grace")) != expected.grace:
        complaints.append("grace %s, not %s" % (line.get("grace"), expected.grace))
    if (line["from"], line["to"]) not in expected.pairs:
        complaints.append("pair %s>%s, not %s" % (line["from"], line["to"], sorted(expected.pairs)))
    if expected.undecided is False and not got and not expected.grace and line.get("exception") != expected.exception:
        complaints.append("exception %s, not %s" % (line.get("exception"), expected.exception))
    return complaints


def random_capture(rng, declared, link, count):
    captured = []
    while len(captured) < count:
        kind = rng.random()
        if kind < 0.05 and link == wire.LINK_ETHERNET:
            captured.append(made.other_frame(rng, made.random_time(rng, declared)))
        elif kind < 0.12:
            captured += made.connection(rng, declared, link)
        elif link == wire.LINK_ETHERNET:
            captured.append(made.roce_frame(rng, declared, made.random_time(rng, declared)))
        else:
            captured.append(made.native_frame(rng, declared, made.random_time(rng, declared), link))
    return sorted(captured, key=lambda frame: frame.ts)


class Tally:
    def __init__(self):
        self.maps = self.frames = self.captures = 0
        self.rules, self.verdicts, self.wrong = collections.Counter(), collections.Counter(), []


def check_capture(program, folder, label, map_arguments, declared, captured, link, tally):
    path = folder / (label + ".pcap")
    wire.pcap(path, link, captured)
    rules = Rules(declared)
    lines = [json.loads(line) for line in run(program, "decode", *map_arguments, "--json", path).stdout.splitlines()]
    if len(lines) != len(captured):
        tally.wrong.append("%s: %d lines for %d frames" % (label, len(lines), len(captured)))
        return
    tally.captures += 1
    clean = []
    for number, (frame, line) in enumerate(zip(captured, lines), 1):
        expected = expect(rules, frame)
        tally.frames += 1
        tally.rules.update(expected.least)
        tally.rules.update(["grace"] * bool(expected.grace) + ["undecided"] * bool(expected.undecided)
                           + ["exception"] * bool(expected.exception))
        if not expected.most and expected.undecided is False:
            clean.append(frame)
        for complaint in compare(expected, line):
            tally.wrong.append("%s frame %d: %s" % (label, number, complaint))
    check_document(program, label, map_arguments, path, declared, captured, lines, tally)
    alone = folder / (label + "-alone.pcap")
    check_without_violations(program, label, map_arguments, alone, declared, clean, link, tally)


def check_without_violations(program, label, map_arguments, path, declared, clean, link, tally):
    """The frames that break no rule, alone, and then none that is RDMA."""
    others = [made.other_frame(random.Random(number), clean[0].ts + number) for number in range(5)] if clean else []
    judged = any(frame.rdma and frame.dest_qp != 0 for frame in clean)  # subnet management is not
    alone = "compliant" if judged else "not-evidenced"
    for frames, linktype, verdict in (others, wire.LINK_ETHERNET, "not-evidenced"), (clean, link, alone):
        if not frames or documents.shared_leaves(declared, frames[0].ts, frames[-1].ts):
            continue
        wire.pcap(path, linktype, frames)
        done = run(program, "audit", *map_arguments, "--json", path)
        document = json.loads(done.stdout)
        tally.verdicts.update([document["verdict"]])
        findings = {finding["rule"] for finding in document["findings"] if finding["severity"] != "info"}
        by_leaf = declared.segments and findings == {"tenant.cotenancy"}
        if document["verdict"] != verdict and not by_leaf or done.returncode != documents.VERDICTS[document["verdict"]]:
            tally.wrong.append("%s without its violations: %s, status %d, %s" % (label, document["verdict"],
                                                                              done.returncode, sorted(findings)))


def check_document(program, label, map_arguments, path, declared, captured, lines, tally):
    done = run(program, "audit", *map_arguments, "--json", path)
    if done.returncode == 2:
        tally.wrong.append("%s: %s" % (label, done.stderr.decode()))
        return
    document = json.loads(done.stdout)
    tally.rules.update(finding["rule"] for finding in document["findings"] if finding["rule"] == "tenant.cotenancy")
    tally.verdicts.update([document["verdict"]])
    tally.wrong += ["%s audit: %s" % (label, complaint)
                    for complaint in documents.check(document, done.returncode, declared, captured, lines)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seeds", nargs=2, type=int, default=(1, 25), metavar=("FIRST", "COUNT"))
    parser.add_argument("--keep", help="folder for the maps and captures; else they are thrown away")
    arguments = parser.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(arguments.keep or scratch)
        folder.mkdir(exist_ok=True)
        for seed in range(arguments.seeds[0], sum(arguments.seeds)):
            rng = random.Random(seed)
            kind = KINDS[seed % len(KINDS)]
            declared = random_fabric(rng) if kind == "opensm" else random_map(rng, kind)
            map_arguments = declared.write(folder / ("seed%d.map.json" % seed))
            tally.maps += 1
            for link in LINKS[kind]:
                captured = random_capture(rng, declared, link, FRAMES)
                check_capture(arguments.program, folder, "seed%d-%d" % (seed, link), map_arguments, declared, captured,
                              link, tally)
    missing = [rule for rule in EXERCISED if not tally.rules[rule]]
    print("\n".join(tally.wrong[:100]))
    print("%d maps, %d captures, %d frames, %d differences" % (tally.maps, tally.captures, tally.frames,
                                                             len(tally.wrong)))
    print("frames per rule:", ", ".join("%s %d" % entry for entry in sorted(tally.rules.items())))
    print("verdicts:", ", ".join("%s %d" % entry for entry in sorted(tally.verdicts.items())))
    for rule in missing:
        print("never exercised: " + rule)
    sys.exit(1 if tally.wrong or missing else 0)


if __name__ == "__main__":
    main()
