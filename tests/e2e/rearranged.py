"""The same frames in another way: cut into files, unrelated ones in another order, all of them twice, shared by several
engines. What is reported must be what is reported of the capture as it was."""

import json
import random
import struct
import tempfile
import unittest
from pathlib import Path

from harness import DATA, fabtap, main, shared
from pcapfile import LITTLE_NSEC, LITTLE_USEC, read_pcap
from roce import EVERYBODY

SEED = 20261121
US, MS, SECOND = 10**3, 10**6, 10**9
LATER = (0, 5 * US, 30 * US)  # of the second copy
ENGINES = (2, 7)
CUTS = 3
# records are cut short of what they claim, so a record's place in the file changes what is read
DAMAGED = ("tenants-ib-broken", "tenants-segments-broken")
# frames cut before their PSN are copies only if others of the same direction are (docs/copies.md, Limits)
CUT_BEFORE_PSN = ("tenants-ib-erf-cut64", "tenants-segments-cut64", "tenants-segments-clean-cut64", "tenants-segments-cut96")


def load(path):
    """(header, [(time in ns, lengths and bytes of the frame)])."""
    header, records = read_pcap(path)
    unit = 1 if struct.unpack_from("<I", header)[0] == LITTLE_NSEC else 1000
    assert struct.unpack_from("<I", header)[0] in (LITTLE_NSEC, LITTLE_USEC)
    times = [struct.unpack_from("<II", record) for record in records]
    frames = [(10**9 * s + unit * f, record[8:]) for (s, f), record in zip(times, records)]
    return struct.pack("<I", LITTLE_NSEC) + header[4:], frames


def save(path, header, frames):
    path.write_bytes(header + b"".join(struct.pack("<II", *divmod(ts_ns, 10**9)) + frame for ts_ns, frame in frames))
    return path


def ends(frame):
    """The two addresses, in either order; of an Ethernet frame as load() has it."""
    frame, at = frame[8:], 12
    while frame[at:at + 2] == b"\x81\x00":
        at += 4
    kind = frame[at:at + 2]
    if kind == b"\x08\x00":
        return frozenset((frame[at + 14:at + 18], frame[at + 18:at + 22]))
    if kind == b"\x86\xdd":
        return frozenset((frame[at + 10:at + 26], frame[at + 26:at + 42]))
    return frozenset((frame[:6], frame[6:12]))


def nameless(document):
    """Without the names of the inputs."""
    document = json.loads(json.dumps(document))
    del document["capture"]["sources"]
    for row in document["coverage"]["lost_by"] + document["coverage"]["time_gaps"]:
        row["source"] = None
    return document


class Rearranged(unittest.TestCase):
    maxDiff = 3000

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        everyone = cls.folder / "everyone.json"
        everyone.write_text(json.dumps(EVERYBODY))
        cls.cases = list(cls.declared(DATA / "tenants"))
        folders = [DATA / "captures"] + ([shared() / "captures", shared() / "captures" / "nccl"] if shared() else [])
        found = {path.name: path for folder in folders for path in sorted(folder.glob("*.pcap"))}
        cls.cases += [(path.stem, path, ("-m", everyone)) for name, path in sorted(found.items())
                      if not name.startswith(("tenants-", "mads"))]

    @staticmethod
    def declared(folder):
        """The captures of tenants, each with its map."""
        for truth in sorted(folder.glob("*.json")):
            known = json.loads(truth.read_text())
            if known.get("schema") == "tenants-truth/1" and "capture" in known:
                arguments = [folder / word if (folder / word).exists() else word for word in known["audit_args"]]
                yield truth.stem, folder / known["capture"], tuple(arguments)

    def each(self):
        for name, path, arguments in self.cases:
            header, frames = load(path)
            yield name, header, frames, arguments

    def audit(self, arguments, *captures):
        return nameless(fabtap("audit", *arguments, "--json", *captures).json())

    def whole(self, header, frames, arguments):
        return self.audit(arguments, save(self.folder / "whole.pcap", header, frames))

    def test_a_capture_cut_anywhere_and_read_together_is_the_whole(self):
        chance = random.Random(SEED)
        for name, header, frames, arguments in self.each():
            whole = self.whole(header, frames, arguments)
            for cut in {1, len(frames) - 1, *(chance.randrange(1, len(frames)) for _ in range(CUTS))}:
                parts = (save(self.folder / "1.pcap", header, frames[:cut]), save(self.folder / "2.pcap", header, frames[cut:]))
                self.assertEqual(self.audit(arguments, *parts), whole, "%s cut at %d" % (name, cut))

    def test_the_number_of_engines_changes_nothing(self):
        for name, header, frames, arguments in self.each():
            capture = save(self.folder / "whole.pcap", header, frames)

            def outputs(engines):
                evidence = self.folder / "evidence.pcapng"
                report = fabtap("audit", *arguments, "--json", "--workers", engines, "-w", evidence, capture)
                text = fabtap("audit", *arguments, "--workers", engines, capture)
                return report.out, text.out, evidence.read_bytes()

            one = outputs(1)
            for engines in ENGINES:
                for what, alone, several in zip(("JSON", "text", "evidence"), one, outputs(engines)):
                    self.assertTrue(alone == several, "%s of %s with %d engines" % (what, name, engines))

    def test_what_passed_twice_is_counted_once(self):
        for name, header, frames, arguments in self.each():
            if name in DAMAGED:
                continue
            whole = self.whole(header, frames, arguments)
            for later in LATER:
                if later > 0 and name in CUT_BEFORE_PSN:
                    continue
                twice = [(ts_ns + delay, i, frame) for i, (ts_ns, frame) in enumerate(frames) for delay in (0, later)]
                capture = save(self.folder / "twice.pcap", header, [(ts_ns, frame) for ts_ns, _, frame in sorted(twice)])
                with self.subTest(capture=name, later=later):
                    self.is_the_same_but_for_copies(self.audit(arguments, capture), whole, len(frames))

    def is_the_same_but_for_copies(self, doubled, whole, frames):
        self.assertEqual(doubled["coverage"]["duplicates"], frames + whole["coverage"]["duplicates"])
        for block in ("verdict", "tenants", "matrix", "pkeys"):
            self.assertEqual(doubled[block], whole[block])
        for field in ("id", "rule", "severity", "certainty", "summary", "first_ts", "packets", "bytes", "dest_qps", "map_ref"):
            self.assertEqual([one[field] for one in doubled["findings"]], [one[field] for one in whole["findings"]], field)
        for counted in ("frames_seen", "lost_by", "truncated", "undecided", "undecodable", "connections", "one_sided",
                        "time_gaps", "clock_steps", "enough", "judged", "never_judged", "not_rdma"):
            self.assertEqual(doubled["coverage"][counted], whole["coverage"][counted], counted)

    def test_pairs_of_hosts_do_not_depend_on_each_other(self):
        chance = random.Random(SEED)
        tried = 0
        for name, header, frames, arguments in self.each():
            pairs = {}
            if struct.unpack_from("<I", header, 20)[0] != 1 or name in DAMAGED or name.startswith(("mirror", "tenants-moving")):
                continue
            for frame in frames:
                pairs.setdefault(ends(frame[1]), []).append(frame)
            if len(pairs) < 2:
                continue
            shifts = {pair: chance.randrange(-300 * MS, 300 * MS) for pair in pairs}
            moved = sorted((ts_ns + shifts[pair], i, frame)
                           for pair, own in pairs.items() for i, (ts_ns, frame) in enumerate(own))
            capture = save(self.folder / "moved.pcap", header, [(ts_ns, frame) for ts_ns, _, frame in moved])
            self.assertEqual(self.timeless(self.audit(arguments, capture)),
                             self.timeless(self.whole(header, frames, arguments)), name)
            tried += 1
        self.assertGreater(tried, 3)

    def test_captures_one_after_the_other_lose_nothing(self):
        """Queue pairs that return 30 seconds or 10 minutes later are others, also where a set-up named them before."""
        if shared() is None:
            self.skipTest("the full reference captures are not here (FT_SHARED or ../shared)")
        everyone = ("-m", self.folder / "everyone.json")
        complete = {name: load(path) for name, path, arguments in self.cases
                    if arguments == everyone and not name.startswith(("loss1pct", "nccl-emul-long"))}
        chance = random.Random(SEED)
        chosen = [("nvme-rdma", "nccl-emul-2rank")] + [chance.sample(sorted(complete), 2) for _ in range(20)]
        for first, second in chosen:
            for gap in (30 * SECOND, 600 * SECOND):
                header, frames = complete[first]
                shift = frames[-1][0] + gap - complete[second][1][0][0]
                later = [(ts_ns + shift, frame) for ts_ns, frame in complete[second][1]]
                with self.subTest(first=first, second=second, gap=gap):
                    coverage = self.whole(header, frames + later, everyone)["coverage"]
                    self.assertIn(coverage["frames_lost"]["estimate"], (0, None))
                    self.assertEqual(coverage["lost_by"], [])

    def timeless(self, document):
        """Without what is about when, and which of the frames; and without what is inferred from frames near by."""
        for finding in document["findings"]:
            for about_time in ("frames", "first_ts", "last_ts", "evidence"):
                del finding[about_time]
            finding["dest_qps"] = sorted(finding["dest_qps"])
        for tenant in document["tenants"]:
            del tenant["peak_gbps"]
        for inferred in ("frames_lost", "share_seen", "could_hide", "time_gaps"):
            del document["coverage"][inferred]
        del document["capture"]
        return document


if __name__ == "__main__":
    main()
