"""What a finding about NCCL names is in the evidence that an audit writes: also frames that had gone by when it was found."""

import json
import struct
import time

import nccl_made
from harness import WithFolder, fabtap, main
from nccl import BTH, retouched
from pcapfile import read_pcap, read_pcapng

SEEDS = range(12)
TWINS = (502, 504, 509, 518, 523, 525, 528, 531, 537, 538)
FROM = (12, 26)  # of a frame over IPv4: EtherType, addresses


def tenants(hosts, exceptions=()):
    """Who has which hosts of a made world; hosts of nobody else are the customer `rest`'s."""
    names = sorted(set(hosts))
    return {
        "schema": "tapmap/1", "map_id": "evidence", "serial": 1, "issued_at": "2020-01-01T00:00:00Z", "issuer": "tests",
        "fabric": {"kind": "roce"}, "tenants": [{"name": n, "class": "shared" if n == "store" else "customer"} for n in names],
        "nodes": [{"host": "h%d" % i, "ports": [{"ip": "10.0.%d.%d" % (device, i + 1)} for device in range(2)]}
                  for i in range(len(hosts))],
        "segments": [{"name": n, "tenant": n, "intervals": [{"from": "1970-01-01T00:00:00Z", "to": None, "members": [
            {"subnet": "10.0.%d.%d/32" % (device, i + 1)} for i, host in enumerate(hosts) if host == n for device in range(2)]}]}
            for n in names],
        "exceptions": list(exceptions),
    }


def stamp(record):
    """When a captured frame passed, as reports say it."""
    seconds, ns = struct.unpack_from("<II", record)
    return "%s.%09dZ" % (time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)), ns)


STORE = [{"id": "store", "kind": "shared-service", "to_tenant": "store"}]


class Evidence(WithFolder):
    def audit(self, frames, document):
        """Findings about NCCL, the records of the capture, and what was written for each finding."""
        path, evidence = self.folder / "made.pcap", self.folder / "evidence.pcapng"
        (self.folder / "map.json").write_text(json.dumps(document))
        if isinstance(frames, list):
            nccl_made.write(path, frames)
        run = fabtap("audit", "-m", self.folder / "map.json", "-w", evidence, "--json", path)
        self.assertTrue(run.out, run)
        told = run.json()
        alone = fabtap("audit", "-m", self.folder / "map.json", "--json", path).json()
        self.assertEqual(told["findings"], alone["findings"])
        written = {}
        for frame, _, comments in read_pcapng(evidence):
            for comment in comments:
                written.setdefault(comment, []).append(frame)
        return [f for f in told["findings"] if f["rule"].startswith("nccl.")], read_pcap(path)[1], written

    def holds(self, findings, records, written):
        for finding in findings:
            kept = sorted(written.get("%s %s" % (finding["id"], finding["rule"]), []))
            named = sorted(records[number - 1][16:] for number in finding["frames"])
            self.assertEqual(len(kept), len(named), finding)
            for frame in kept:
                self.assertTrue(any(whole[:len(frame)] == frame for whole in named), finding)
                self.assertGreaterEqual(len(frame), 60)

    def test_members_that_are_no_neighbours(self):
        """Red, store, green, store: the frames are of connections that lead from red to green."""
        for seed in SEEDS:
            for setup in (True, False):
                frames = nccl_made.World(seed, setup=setup, hosts=4).frames
                with self.subTest(seed=seed, setup=setup):
                    findings, records, written = self.audit(frames, tenants(["red", "store", "green", "store"], STORE))
                    crossing = [f for f in findings if f["rule"] == "nccl.crosses-tenants"]
                    self.assertEqual([{f[end]["tenant"] for end in ("src", "dst")} for f in crossing], [{"red", "green"}])
                    self.holds(findings, records, written)
                    ways = {frames[number - 1].connection for number in crossing[0]["frames"]}
                    # connection i goes from host i to the next: either way round, two lead from host 0 to host 2
                    self.assertIn(ways, ({0, 1}, {2, 3}))

    def test_a_long_way(self):
        """Of many connections on the way frames of those next to both ends are shown."""
        hosts = ["red"] + ["store"] * 19 + ["green"] + ["store"] * 19
        frames = nccl_made.World(3, hosts=len(hosts), sets=1).frames
        findings, records, written = self.audit(frames, tenants(hosts, STORE))
        self.assertEqual([f["rule"] for f in findings], ["nccl.crosses-tenants"])
        self.holds(findings, records, written)
        self.assertEqual(len(findings[0]["frames"]), 32)
        ways = {frames[number - 1].connection for number in findings[0]["frames"]}
        self.assertIn(ways, (set(range(8)) | set(range(12, 20)), set(range(20, 28)) | set(range(32, 40))))

    def test_neighbours_met_in_the_middle(self):
        for seed in SEEDS:
            frames = nccl_made.World(seed, setup=False).frames
            hosts = sorted({frame.bytes[29] for frame in frames})
            with self.subTest(seed=seed):
                findings, records, written = self.audit(frames, tenants(["red", "green", "blue"][:len(hosts)]))
                self.assertIn("nccl.crosses-tenants", [f["rule"] for f in findings])
                self.holds(findings, records, written)

    def test_both_of_two_writes_with_one_psn(self):
        """The first one passed as what was expected: also of messages of several requests, and before an empty one."""
        for seed in TWINS:
            frames = nccl_made.World(seed, sets=1, hosts=2).frames
            at = [i for i, f in enumerate(frames) if f.connection == 0 and f.role == "data" and f.bytes[BTH] in (0x06, 0x0a, 0x0b)]
            at = at[len(at) * 2 // 3]
            frame = frames[at]
            va = struct.unpack_from(">Q", frame.bytes, BTH + 12)[0]
            record = struct.pack("<IIII", 0, 0, len(frame.bytes), frame.size) + frame.bytes
            forged = retouched(record, reth=(va, 64))[16:]
            among = frames[:at] + [nccl_made.Frame(frame.ts - 1500, len(forged), forged)] + frames[at:]
            with self.subTest(seed=seed):
                findings, records, written = self.audit(among, tenants(["red", "red"]))
                self.assertEqual([(f["rule"], f["frames"]) for f in findings], [("nccl.replay", [at + 1, at + 2])])
                self.assertEqual((findings[0]["first_ts"], findings[0]["last_ts"]), tuple(stamp(records[i]) for i in (at, at + 1)))
                self.holds(findings, records, written)

    def test_writes_that_are_judged_later(self):
        """Out of sequence, or before what might have asked for it: that nobody did shows behind it."""
        found = 0
        for seed in SEEDS:
            world = nccl_made.World(seed, sets=1, hosts=2)
            frames = world.frames
            at = [i for i, f in enumerate(frames) if f.connection == 0 and f.role == "data" and f.bytes[BTH] in (0x06, 0x0a, 0x0b)]
            at = at[len(at) * 2 // 3]
            for ahead in (0, 1000):
                record = struct.pack("<IIII", 0, 0, len(frames[at].bytes), frames[at].size) + frames[at].bytes
                psn = int.from_bytes(frames[at].bytes[BTH + 9:BTH + 12], "big") + ahead
                forged = retouched(record, psn=psn, reth=(0x123456780000, 64))[16:]
                spoilt = frames[:at] + [nccl_made.Frame(frames[at].ts - 1, len(forged), forged)] + frames[at:]
                with self.subTest(seed=seed, ahead=ahead):
                    findings, records, written = self.audit(spoilt, tenants(["red", "red"]))
                    found += len(findings)
                    self.holds(findings, records, written)
        self.assertGreater(found, len(SEEDS))


if __name__ == "__main__":
    main()
