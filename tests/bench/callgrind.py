"""Instructions per frame, counted by valgrind: the same on every run, however busy the machine."""

import collections
import pathlib
import re
import subprocess

import cases
import measure

FEW, MANY = 20000, 60000  # the cost of start-up is in both
KNOWN_FLOWS = 400  # few: that of the first frame of each flow, too
NEW_FLOWS = 1000000  # many: almost every run of four frames is the first of its flow

# Source file (or shared object, where no debug information names one) to part of the path of a frame.
PARTS = [
    (r"/capture/", "source"),
    (r"/decode/(icrc|crc32|crc32_fold)\.c|mmintrin\.h|libisal", "ICRC"),
    (r"/decode/", "decode"),
    (r"/analyzer/(observe|observe_other|frame_key)\.c", "observe"),
    (r"/analyzer/flow/table\.c|/flow/(table|hash)\.h", "flow table"),
    (r"/analyzer/flow/copies\.c|/flow/copies\.h", "copies"),
    (r"/analyzer/flow/detail\.c|/flow/detail\.h", "details"),
    (r"/analyzer/flow/loss|/flow/loss\.h", "loss"),
    (r"/analyzer/flow/", "transport"),
    (r"/analyzer/suspects", "suspects"),
    (r"/analyzer/silences", "silences"),
    (r"/analyzer/(judge|connections|control/connection_setup)\.|/analyzer/partition/", "judge"),
    (r"/analyzer/(account|account_findings|tally|totals|peaks|congestion|findings|subject|mirror_sequence)\.", "account"),
    (r"/analyzer/(engine|worker|crew|block|item)", "engine"),
    (r"/analyzer/", "rest of the analyzer"),
]
POSITION = re.compile(r"^(?:[+-]?\d+|\*|0x[0-9a-f]+)(?: |$)")


def part_of(file, library):
    for pattern, part in PARTS:
        if re.search(pattern, file):
            return part
    for pattern, part in PARTS:
        if file.startswith("?") and re.search(pattern, library):
            return part
    return "fabtap" if library.endswith("/fabtap") else "C library"


def read(path):
    """Own cost by (file, function, library) of a callgrind.out file."""
    names = {"ob": {}, "fl": {}, "fn": {}}
    current = {"ob": "?", "fl": "?", "fn": "?"}
    costs = collections.Counter()
    called = False
    for line in path.read_text().splitlines():
        key, equals, value = line.partition("=")
        if equals and key in ("ob", "fl", "fi", "fe", "fn", "cob", "cfi", "cfl", "cfn"):
            table = names[key[-2:] if key[-2:] in names else "fl"]
            number, _, name = value.partition(" ")
            if name:
                table[number] = name
            if not key.startswith("c"):
                current[key if key in current else "fl"] = table.get(number, "?")
        elif key == "calls":
            called = True
        elif POSITION.match(line):
            if not called:
                costs[current["fl"], current["fn"], current["ob"]] += int(line.split()[1])
            called = False
    return costs


def count(bench, site, traffic, frames):
    capture = bench.make("traffic", site, "--frames", frames, *traffic)
    output = bench.folder / f"callgrind-{frames}"
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}", *cases.audit(bench, capture, site)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise measure.Failure(f"valgrind: exit status {done.returncode}: {done.stderr.strip()}")
    return read(output)


def per_frame(bench, site, *traffic):
    costs = count(bench, site, traffic, MANY)
    costs.subtract(count(bench, site, traffic, FEW))
    return {where: cost / (MANY - FEW) for where, cost in costs.items() if cost > 0}


def print_parts(title, costs):
    parts, functions = collections.Counter(), collections.Counter()
    for (file, function, library), cost in costs.items():
        parts[part_of(file, library)] += cost
        functions[function, pathlib.PurePath(file).name] += cost
    print(f"{title}: {sum(parts.values()):.0f} instructions per frame")
    for part, cost in parts.most_common():
        print(f"  {cost:7.1f}  {part}")
    print("  of which")
    for (function, file), cost in functions.most_common(16):
        print(f"  {cost:7.1f}  {function} ({file})")


def report(bench):
    if bench.tool("valgrind", "instructions are not counted") is None:
        raise measure.Failure("valgrind is not installed")
    costs = per_frame(bench, "small", "--flows", KNOWN_FLOWS, *cases.SLICES)
    if not any("/decode/" in file for file, _, _ in costs):
        print("NOTE: fabtap has no debug information (-g): only functions can be told apart")
    print_parts("slices of 128 bytes", costs)
    print_parts("native slices of 128 bytes", per_frame(bench, "native", "--flows", KNOWN_FLOWS, *cases.SLICES))
    print_parts("64 bytes payload, ICRC", per_frame(bench, "small", "--flows", KNOWN_FLOWS, "--payload", 64))
    print_parts("slices, one frame in four the first of its flow",
                per_frame(bench, "wide", "--flows", NEW_FLOWS, *cases.SLICES))
    return 0
