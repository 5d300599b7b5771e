"""Making inputs, running programs in turn, and taking medians."""

import collections
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import typing

REMEMBERED = 16  # messages of a connection, by the follower of NCCL


class Failure(Exception):
    """The bench could not do it; says why."""


class Run(typing.NamedTuple):
    seconds: float
    peak_kib: int


class Pair(typing.NamedTuple):
    """Two programs that ran in turn on the same input."""

    ours: float  # seconds, median
    reference: float
    ratio: float  # median of the rounds' ratios
    ours_kib: int


def pair_of(rounds):
    """Of rounds that are two runs each, ours and the reference's."""
    return Pair(
        statistics.median(mine.seconds for mine, _ in rounds),
        statistics.median(other.seconds for _, other in rounds),
        statistics.median(mine.seconds / other.seconds for mine, other in rounds),
        max(mine.peak_kib for mine, _ in rounds),
    )


def beyond(few, more):
    """What the runs of one round took longer on a longer input: where nothing of it is begun any more."""
    return tuple(Run(longer.seconds - shorter.seconds, longer.peak_kib) for shorter, longer in zip(few, more))


def before(few, beyond_them, share):
    """What the runs took longer for a shorter input than they do for this share of what lies beyond it: until all is begun."""
    return tuple(Run(shorter.seconds - share * rest.seconds, shorter.peak_kib) for shorter, rest in zip(few, beyond_them))


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown processor"


class Bench:
    def __init__(self, build, folder, rounds, clock):
        self.build, self.folder, self.rounds, self.clock = build, folder, rounds, clock
        self.skipped = []
        self.fabtap = self.program("fabtap")
        self.bare_loop = self.program("tests/bench/bench_bare_loop")
        self.bare_loop_native = self.program("tests/bench/bench_bare_loop_native")
        self.parse_json = self.program("tests/bench/bench_parse_json")
        self.generate = self.program("tests/bench/bench_generate")
        self.measure = self.program("tests/bench/bench_measure")

    def program(self, name):
        path = self.build / name
        if not path.is_file():
            raise Failure(f"{path} is missing: build the whole project first")
        return str(path)

    def tool(self, name, left_out):
        """A program of the system, or None and a loud line in the end."""
        if shutil.which(name) is None:
            self.skipped.append(f"{name} is not installed: {left_out}")
            return None
        return name

    def knows(self, verb, option):
        """Whether this build has an option of a verb; a loud line in the end if not."""
        done = subprocess.run([self.fabtap, "help", verb], text=True, capture_output=True)
        if option in done.stdout:
            return True
        self.skipped.append(f"fabtap {verb} has no {option}: what needs it is not measured")
        return False

    def progress(self, name, work):
        if sys.stderr.isatty():
            print(f"\r\033[K{name} ...", end="", file=sys.stderr, flush=True)
        try:
            return work(self)
        finally:
            if sys.stderr.isatty():
                print("\r\033[K", end="", file=sys.stderr, flush=True)
            for path in self.folder.iterdir():
                path.unlink()

    # inputs

    def make(self, *arguments):
        """A file made by bench_generate, on disk and in the page cache."""
        kind, site, *options = map(str, arguments)
        path = self.folder / f"{kind}-{'-'.join([site] + options).replace('--', '')}"
        if not path.exists():
            subprocess.run([self.generate, kind, site, path, *options], check=True)
            with open(path, "rb") as made:
                os.fsync(made.fileno())
                while made.read(1 << 20):
                    pass
        return str(path)

    # runs

    def run(self, command, output=os.devnull, clock=None, expected=0):
        done = subprocess.run([self.measure, str(output), *map(str, command)], text=True, capture_output=True)
        try:
            wall, user, system, peak, status = map(int, done.stdout.split())
        except ValueError:
            raise Failure(f"{' '.join(command)}: {done.stderr.strip()}") from None
        if status != expected:
            raise Failure(f"{' '.join(map(str, command))}: exit status {status}: {done.stderr.strip()}")
        return Run((wall if (clock or self.clock) == "wall" else user + system) / 1e9, peak)

    def against(self, ours, reference, rounds=None, clock=None, expected=0, **files):
        """
        Our command, which ends with the status expected, and a reference, in turn. `output` and `reference_output` take what
        they print.
        """
        return pair_of([self.once(ours, reference, clock, expected, **files) for _ in range(rounds or self.rounds)])

    def once(self, ours, reference, clock=None, expected=0, **files):
        """One round of that: both runs."""
        return (self.run(ours, files.get("output", os.devnull), clock=clock, expected=expected),
                self.run(reference, files.get("reference_output", os.devnull), clock=clock))

    def report(self, command):
        output = self.folder / "report"
        self.run([*command, "--json"], output)
        return json.loads(output.read_text())

    def check_audit(self, command, frames):
        """A fast wrong answer is no answer: every frame counted, none lost, and none of them a finding."""
        report = self.report(command)
        lost = report["coverage"]["frames_lost"]["estimate"]
        if (report["capture"]["frames"] != frames or report["verdict"] != "compliant" or report["findings"]
                or lost or report["coverage"]["share_seen"] != 1):
            raise Failure(f"{' '.join(map(str, command))}: {report['verdict']} after {report['capture']['frames']} of "
                          f"{frames} frames, {lost} of them lost: {report['because']}")

    def check_rings(self, capture, connections, packets):
        """
        What bench_generate made is followed as what it is: all connections, and messages up to the last of each queue pair. Of a
        thousand one may lack its number, among the first of its connection, where no ACK of data has shown the order yet.
        """
        report = self.report([self.fabtap, "nccl", capture])
        written = [(message, (message["connection"], message["qps"][0]["qp_index"]))
                   for message in report["messages"] if message["first_frame"] is not None]
        last = {lane: message for message, lane in written}
        begun = collections.Counter()  # messages of each connection
        unplaced, odd = [], []
        for message, lane in sorted(written, key=lambda row: row[0]["first_frame"]):
            begun[message["connection"]] += 1
            early = message["k"] is None and begun[message["connection"]] <= REMEMBERED
            if early:
                unplaced.append(message)
            if message is not last[lane] and not ((message["completed"] or early) and message["packets"] == packets):
                odd.append(message)
        if len(report["connections"]) != connections or odd or len(unplaced) > len(written) / 1000 or report["findings"]:
            raise Failure(f"{capture}: {len(report['connections'])} connections of NCCL instead of {connections}, "
                          f"{len(odd)} messages with parts missing, {len(unplaced)} without a number, "
                          f"{len(report['findings'])} findings")

    def check_same(self, command, other):
        """Both write the same document."""
        if self.report(command) != self.report(other):
            raise Failure(f"{' '.join(map(str, command))} and {' '.join(map(str, other))} report different things")
