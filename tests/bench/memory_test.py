#!/usr/bin/env python3
"""Memory is bounded: in all at a million flows, per record, and over a day in which connections come and go.

usage: memory_test.py FABTAP BENCH_GENERATE BENCH_MEASURE SANITIZED
"""

import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import rows  # noqa: E402

SKIPPED = 77
FLOWS = 1000000
RUN = 4  # frames per half-connection that the generator sends in a row
DAY = 600000  # frames


class Programs:
    def __init__(self, fabtap, generate, measure, folder):
        self.fabtap, self.generate, self.measure = fabtap, generate, measure
        self.folder = pathlib.Path(folder)
        self.map = self.folder / "map.json"
        subprocess.run([generate, "map", "wide", self.map], check=True)

    def run(self, verb, frames, *traffic, options=()):
        """Peak memory in bytes, and the document, of a verb that reads generated frames from a pipe."""
        document = self.folder / "document"
        with subprocess.Popen([self.generate, "traffic", "wide", "-", "--frames", str(frames), "--payload", "64",
                               "--slice", "70", *map(str, traffic)], stdout=subprocess.PIPE) as made:
            measured = subprocess.run([self.measure, document, self.fabtap, verb, "-m", self.map, "--json", *options,
                                       "-"], stdin=made.stdout, stdout=subprocess.PIPE, text=True, check=True)
            made.stdout.close()
        peak_kib, status = map(int, measured.stdout.split()[3:])
        assert made.returncode == 0 and status == 0, f"{verb}: exit status {status}"
        return peak_kib * 1024, json.loads(document.read_text())


def a_million_flows(programs):
    traffic = ["--in-turn", "--flows", FLOWS]
    peak, report = programs.run("audit", RUN * FLOWS, *traffic)
    _, document = programs.run("flows", RUN * FLOWS, *traffic, options=["--top", "1"])
    table = document["table"]
    print(f"{peak / 1e6:.1f} MB at {table['used']} flows, {table['record_bytes']} bytes per record")
    assert report["capture"]["frames"] == RUN * FLOWS and report["verdict"] == "compliant", report["because"]
    # the last runs of the file are not answered any more
    assert table["used"] + table["evicted"] + table["expired"] >= 0.999 * FLOWS, table
    assert table["evicted"] == 0, table
    assert peak <= rows.TOTAL_BYTES, f"{peak} bytes, more than {rows.TOTAL_BYTES:.0f}"
    assert table["record_bytes"] <= rows.RECORD_BYTES, table


def a_day(programs):
    day = ["--day", DAY, "--flows", 1000]
    half, _ = programs.run("audit", DAY // 2, *day)
    whole, report = programs.run("audit", DAY, *day)
    print(f"{half / 1e6:.1f} MB after half a day, {whole / 1e6:.1f} MB after a day")
    assert report["capture"]["frames"] == DAY and report["verdict"] == "compliant", report["because"]
    assert whole <= rows.STEADY[0] * half, f"memory grew from {half} to {whole} bytes in the second half of a day"


def main():
    *programs, sanitized = sys.argv[1:]
    if sanitized in ("ON", "1", "TRUE"):
        print("SKIP: sanitizers keep books of their own: memory is measured in builds without them")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="fabtap-memory-") as folder:
        there = Programs(*programs, folder)
        a_million_flows(there)
        a_day(there)
    return 0


if __name__ == "__main__":
    sys.exit(main())
