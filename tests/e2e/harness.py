"""What the end-to-end tests share: running the built program, reference data, loud skips."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
DATA = PROJECT / "tests" / "data"
PROGRAM = None  # set by main()

COMPLIANT, VIOLATED, FAILED, NOT_EVIDENCED = 0, 1, 2, 3

# a sanitizer's report must not look like one of the program's own exit statuses
ENVIRONMENT = {
    **os.environ,
    "ASAN_OPTIONS": "exitcode=99",
    "LSAN_OPTIONS": "exitcode=99",
    "UBSAN_OPTIONS": "exitcode=99:print_stacktrace=1",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}


class Run:
    """One finished run of the program."""

    def __init__(self, arguments, status, out, err):
        self.arguments = arguments
        self.status = status
        self.out = out
        self.err = err

    def __str__(self):
        return "%s\n  status %d\n  stderr: %s" % (
            " ".join(str(a) for a in self.arguments), self.status, self.err.decode(errors="replace")[-2000:])

    def json(self):
        return json.loads(self.out)

    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]

    def complaints(self):
        return self.err.decode(errors="replace").splitlines()


def sound(run):
    """A run that neither crashed nor made a sanitizer speak."""
    assert 0 <= run.status <= 3, "crash or unknown exit status: %s" % run
    assert b"Sanitizer" not in run.err and b"runtime error" not in run.err, str(run)
    return run


def fabtap(*arguments, cwd=None, stdin=None, timeout=120, stdout=subprocess.PIPE):
    command = [PROGRAM, *[str(a) for a in arguments]]
    done = subprocess.run(command, cwd=cwd, input=stdin, stdin=subprocess.DEVNULL if stdin is None else None,
                          stdout=stdout, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=timeout, check=False)
    return sound(Run(command, done.returncode, done.stdout or b"", done.stderr))


def shared():
    """The folder with the full reference data, or None: it is not part of the project."""
    folder = Path(os.environ.get("FT_SHARED", PROJECT.parent / "shared"))
    return folder if (folder / "captures").is_dir() else None


class WithFolder(unittest.TestCase):
    """Tests that write files: into self.folder, which each has of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class ReferenceCaptures:
    """Tests of folder_is_reproduced(folder), over the shipped captures and over all there are."""

    FOLDERS = ["captures"]

    def test_the_shipped_captures_are_reproduced(self):
        self.folder_is_reproduced(DATA / "captures")

    def test_all_reference_captures_are_reproduced(self):
        folder = shared()
        if folder is None:
            self.skipTest("the full reference captures are not here (FT_SHARED or ../shared): only the shipped ones were tried")
        for name in self.FOLDERS:
            self.folder_is_reproduced(folder / name)


def main():
    """PROGRAM [unittest's own arguments]; exit status 77 when every test was skipped."""
    global PROGRAM
    if len(sys.argv) < 2:
        sys.exit("usage: %s PROGRAM" % sys.argv[0])
    PROGRAM = str(Path(sys.argv.pop(1)).resolve())
    program = unittest.main(module="__main__", exit=False, verbosity=2)
    result = program.result
    for test, reason in result.skipped:
        print("SKIP: %s: %s" % (test, reason), flush=True)
    if not result.wasSuccessful():
        sys.exit(1)
    if result.testsRun == len(result.skipped):
        sys.exit(77)
