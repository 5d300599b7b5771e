"""What `cmake --install` puts into a folder is all there, stays in that folder, and works wherever the folder goes."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CMAKE = BUILD = None  # set by main


def run(*command):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120, check=False)


class Installed(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.prefix = Path(self.temporary.name) / "here"
        done = run(CMAKE, "--install", BUILD, "--prefix", self.prefix)
        self.assertEqual(done.returncode, 0, done)
        self.put = re.findall(r"^-- (?:Installing|Up-to-date): (.*)$", done.stdout, re.M)

    def drivers(self):
        built = sorted(path.name for path in (BUILD / "drivers").glob("*.so"))
        if not built:
            self.skipTest("this build has no drivers of its own to load")
        return built

    def test_nothing_is_put_elsewhere(self):
        self.assertGreater(len(self.put), 2)
        for path in self.put:
            self.assertTrue(Path(path).is_relative_to(self.prefix), path)

    def test_manual_and_completion_are_there(self):
        for name in ("fabtap.1", "fabtap"):
            self.assertEqual(len([path for path in (self.prefix / "share").rglob(name) if path.is_file()]), 1, name)

    def test_its_drivers_are_found_also_after_a_move(self):
        built = self.drivers()
        self.assertEqual(sorted(path.name for path in self.prefix.rglob("*.so")), built)
        moved = self.prefix.rename(Path(self.temporary.name) / "there")
        link = Path(self.temporary.name) / "fabtap"
        link.symlink_to(moved / "bin" / "fabtap")
        for program in (moved / "bin" / "fabtap", link):
            for driver in built:
                # an address that no machine has: the driver itself says so
                done = run(program, "sources", "--test", driver.removesuffix(".so") + ":no-such-device")
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), done)
                self.assertNotIn("driver cannot be loaded", done.stderr)

    def test_drivers_that_are_missing_are_named(self):
        for path in self.prefix.rglob("*.so"):
            path.unlink()
        for driver in self.drivers():
            done = run(self.prefix / "bin" / "fabtap", "sources", "--test", driver.removesuffix(".so") + ":no-such-device")
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done)
            self.assertIn("neither drivers/%s nor " % driver, done.stderr)
            self.assertIn("/fabtap/drivers/%s by the program" % driver, done.stderr)


if __name__ == "__main__":
    CMAKE, BUILD = sys.argv[1], Path(sys.argv[2])
    os.environ["LC_ALL"] = "C.UTF-8"
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
