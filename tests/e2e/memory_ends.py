"""Each allocation of a run fails once: the run ends with one line, or as if nothing had been; it never crashes or tells half."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import harness
from harness import DATA, FAILED, main

TENANTS = DATA / "tenants"
TAPMAP = DATA / "partitions" / "tapmap" / "v01_three_tenants.json"
LIBRARY = os.environ.get("FT_FAKE_MEMORY_LIBRARY")
MOST = 1500  # allocations of the longest run tried, and more
STEP_FROM = 150  # the first ones, each a place of its own; from there on one in seven


def run(arguments, fails_at=0):
    environment = {**harness.ENVIRONMENT, "LD_PRELOAD": LIBRARY, "FAKE_MEMORY_FAILS_AT": str(fails_at)}
    return subprocess.run([harness.PROGRAM, *map(str, arguments)], capture_output=True, stdin=subprocess.DEVNULL,
                          env=environment, timeout=120, check=False)


class MemoryEnds(unittest.TestCase):
    def setUp(self):
        if b"__asan_" in Path(harness.PROGRAM).read_bytes():
            self.skipTest("the program has a sanitizer's allocator, which is not to be stood in for")

    def try_all(self, *arguments):
        whole, failed = run(arguments), 0
        for number in [*range(1, STEP_FROM), *range(STEP_FROM, MOST, 7)]:
            done = run(arguments, number)
            if (done.returncode, done.stdout, done.stderr) == (whole.returncode, whole.stdout, whole.stderr):
                continue
            failed += 1
            with self.subTest(arguments=[str(a) for a in arguments], number=number):
                self.assertEqual(done.returncode, FAILED, done.stderr)
                self.assertEqual(done.stdout, b"")
                self.assertIn("memory", done.stderr.decode().splitlines()[0])
        self.assertGreater(failed, 20)

    def test_an_audit_by_an_opensm_file(self):
        self.try_all("audit", "--json", "-m", TENANTS / "tenants-ib.partitions.conf", "--topology",
                     TENANTS / "ib-a" / "ibnetdiscover.txt", TENANTS / "tenants-ib-clean.pcap")

    def test_an_audit_by_a_tapmap_of_several_files(self):
        self.try_all("audit", "--json", "-m", TENANTS / "cotenancy-bad.map.json", TENANTS / "tenants-cotenancy.pcap",
                     TENANTS / "tenants-ib-clean.pcap")

    def test_flows(self):
        self.try_all("flows", "--json", TENANTS / "tenants-ib-clean.pcap")

    def test_maps(self):
        self.try_all("map", "check", TAPMAP)
        self.try_all("map", "show", "--json", TAPMAP)
        self.try_all("map", "diff", "--json", TAPMAP, TENANTS / "cotenancy-bad.map.json")

    def test_capture_leaves_no_half_of_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            for number in range(1, STEP_FROM):
                target = Path(folder, "%d.pcapng" % number)
                done = run(["capture", "-w", target, TENANTS / "tenants-ib-clean.pcap"], number)
                with self.subTest(number=number):
                    self.assertIn(done.returncode, (0, FAILED), done.stderr)
                    if done.returncode == 0:
                        self.assertEqual(harness.fabtap("decode", target).status, 0)
                    else:
                        self.assertRegex(done.stderr.decode(), "memory|cannot write")


if __name__ == "__main__":
    if LIBRARY is None:
        print("SKIPPED: the allocator that fails is not built (FT_FAKE_MEMORY_LIBRARY)")
        raise SystemExit(77)
    main()
