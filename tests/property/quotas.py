"""The rule tenant.quota, and the most that each tenant sent within a second, against sums of what was sent.

usage: quotas.py PROGRAM [--rounds N] [--seed S] [--keep FOLDER]

Tenants that send in bursts, told by subnet, VLAN or VNI, and with the same addresses in the latter two; at random the
capture is several files, has a second copy of frames behind a router, has frames that come late, or without a time.
"""

import bisect
import json
import random
import struct
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "e2e"))

import accounts
import pcapfile
import roce

MS, SECOND = 10**6, 10**9
TENTH = SECOND // 10
START = 1_750_000_000 * SECOND
FOREVER = {"from": "2000-01-01T00:00:00Z", "to": None}
ROUTER = b"\x02\xff\0\0\0\1"


class Tenant:
    def __init__(self, number, told_by, first_psn):
        self.name, self.number, self.told_by = "t%02d" % number, number, told_by
        net = "10.%d.0." % (number if told_by == "subnet" else 0)
        self.hosts, self.subnet = (net + "1", net + "2"), net + "0/24"
        self.vlan, self.vni, self.quota = 100 + number, 7000 + number, None
        self.half = roce.Half(*self.hosts, 0x20)
        self.first_psn = first_psn
        self.sent = []  # (time, bytes) of the frames that can be judged

    def member(self):
        return {self.told_by: getattr(self, self.told_by)}

    def frame(self, psn, size, copied=False):
        """A WRITE; `copied`: as the router sends it on."""
        frame = self.half.write(self.first_psn + psn, size=size, ident=psn & 0xffff, ttl=63 if copied else 64, smac=ROUTER if copied else None)
        if self.told_by == "vlan":
            return frame[:12] + struct.pack(">HH", 0x8100, self.vlan) + frame[12:]
        return roce.vxlan(frame, self.vni) if self.told_by == "vni" else frame

    def fullest(self):
        """The most bytes in a second that begins at a tenth."""
        times, sums = [], [0]
        for ts_ns, size in sorted(self.sent):
            times.append(ts_ns)
            sums.append(sums[-1] + size)
        begins = {(ts_ns // TENTH - back) * TENTH for ts_ns in times for back in range(10)}
        return max((sums[bisect.bisect_left(times, begin + SECOND)] - sums[bisect.bisect_left(times, begin)] for begin in begins), default=0)

    def exceeds(self, size):
        return self.quota is not None and size * 8 / 1e9 > self.quota


class Load:
    def __init__(self, rng):
        self.rng, self.told_by = rng, rng.choice(("subnet", "vlan", "vni"))
        first_psn = rng.choice((lambda: 0, lambda psn=rng.getrandbits(24): psn, lambda: rng.getrandbits(24)))
        self.tenants = [Tenant(number, self.told_by, first_psn()) for number in range(1, 1 + rng.choice((2, 3, 3, 17)))]
        self.copied, self.files = rng.random() < 0.4, rng.choice((1, 1, 2, 3))
        self.late = self.files == 1 and not self.copied and rng.random() < 0.3
        self.untimed = rng.choice((0, 0, 0, 0.3, 1)) if self.files == 1 and not self.copied else 0
        self.start = START + rng.choice((0, rng.randrange(SECOND)))
        self.inputs = [[] for _ in range(self.files)]  # (time, frame, whether it has one)
        for ts_ns, tenant, psn in sorted((moment for tenant in self.tenants for moment in self.bursts(tenant)), key=lambda m: m[0]):
            self.send(ts_ns, tenant, psn)
        for frames in self.inputs:
            frames.sort(key=lambda frame: frame[0] + (rng.randrange(SECOND // 2) if self.late and rng.random() < 0.02 else 0))
        for tenant in self.tenants:
            most = tenant.fullest() * 8 / 1e9
            tenant.quota = rng.choice((None, most, most * rng.uniform(0.3, 1.7), most * 0.9999, max(0, most - 8e-9), 0))

    def bursts(self, tenant):
        times = []
        for _ in range(self.rng.randint(0 if tenant.number > 1 else 1, 3 if len(self.tenants) > 3 else 6)):
            begin, length = self.rng.randrange(4 * SECOND), self.rng.choice((MS, SECOND // 2, SECOND * 9 // 10, SECOND, 3 * SECOND))
            times += [self.start + begin + self.rng.randrange(length) for _ in range(self.rng.randint(20, 120))]
        return [(ts_ns, tenant, psn) for psn, ts_ns in enumerate(sorted(times))]

    def send(self, ts_ns, tenant, psn):
        size = self.rng.choice((0, 4, 256, 1000))
        frame, timed = tenant.frame(psn, size), self.rng.random() >= self.untimed
        if timed:
            tenant.sent.append((ts_ns, len(frame)))
        self.rng.choice(self.inputs).append((ts_ns, frame, timed))
        if self.copied:
            self.rng.choice(self.inputs).append((ts_ns + self.rng.randrange(500, MS // 2), tenant.frame(psn, size, True), True))

    def map(self):
        return {
            "schema": "tapmap/1", "map_id": "quotas", "serial": 1, "issued_at": "2020-01-01T00:00:00Z", "issuer": "tests",
            "fabric": {"kind": "roce"},
            "nodes": [] if self.told_by == "subnet" else [
                {"host": "h" + host, "ports": [{"mac": roce.mac(roce.number(host)).hex(":")}]} for host in self.tenants[0].hosts],
            "tenants": [{"name": tenant.name, "class": "customer", "options": {"quota_gbps": tenant.quota}} for tenant in self.tenants],
            "segments": [{"name": tenant.name, "tenant": tenant.name, "intervals": [{**FOREVER, "members": [tenant.member()]}]}
                         for tenant in self.tenants]}

    def write(self, folder):
        paths = []
        for number, frames in enumerate(self.inputs):
            path = roce.capture(folder / ("%d.pcap" % number), [frame[:2] for frame in frames])
            if self.untimed:
                path.write_bytes(pcapfile.pcapng_of(*pcapfile.read_pcap(path), lambda place, frames=frames: frames[place - 1][2]))
            paths.append(path)
        return paths


class Judge(accounts.Judge):
    def judge(self, load):
        (self.folder / "map.json").write_text(json.dumps(load.map()))
        arguments = ["-m", self.folder / "map.json", *load.write(self.folder)]
        document = self.json("audit", *arguments)
        self.judge_tenants(load.tenants, document)
        self.judge_verdict(load, document)
        self.judge_load(document, self.run("audit", *arguments))
        self.judge_others(load, document)
        copies = sum(len(tenant.sent) for tenant in load.tenants) if load.copied else 0
        self.equal("duplicates", document["coverage"]["duplicates"], copies)
        several = self.json("audit", "--workers", load.rng.choice((2, 3)), *arguments)
        self.equal("of workers", several, document)

    def judge_verdict(self, load, document):
        """Under a map that changes nothing is known of frames without a time."""
        exceeded = any(tenant.exceeds(tenant.fullest()) for tenant in load.tenants)
        timeless = any(not timed for frames in load.inputs for *_, timed in frames)
        self.equal("verdict", document["verdict"], "violated" if exceeded else "not-evidenced" if timeless else "compliant")

    def judge_others(self, load, document):
        """Equal addresses, queue pairs and PSNs of two tenants are nothing to tell of: nobody sent anything again."""
        rules = {row["rule"] for row in document["findings"]} - {"tenant.quota"}
        self.equal("rules", sorted(rules), [])
        if not load.late:
            again = {row["name"]: row["congestion"]["retransmitted"] for row in document["tenants"]}
            self.equal("again", again, dict.fromkeys(again, 0))

    def judge_tenants(self, tenants, document):
        told = {row["name"]: row for row in document["tenants"]}
        found = {row["summary"].split()[0]: row for row in document["findings"] if row["rule"] == "tenant.quota"}
        self.equal("tenants", sorted(told), [tenant.name for tenant in tenants])
        for tenant in tenants:
            self.rows += 1
            row, most = told[tenant.name], tenant.fullest()
            self.equal(tenant.name, (row["frames"], row["bytes"]), (len(tenant.sent), sum(size for _, size in tenant.sent)))
            if abs(row["peak_gbps"] - most * 8 / 1e9) > 1e-8 * row["peak_gbps"]:  # told with nine digits
                self.complain(tenant.name, "peak is", row["peak_gbps"], "and not", most * 8 / 1e9)
            exceeds = tenant.exceeds(most)
            self.equal("%s sent %d bytes, quota %s" % (tenant.name, most, tenant.quota), tenant.name in found, exceeds)
            if exceeds and tenant.name in found:
                self.equal(tenant.name + " within a second", found[tenant.name]["bytes"], most)


def judge_rounds(asked, folder):
    judge = Judge(asked.program, folder)
    for seed in range(asked.seed, asked.seed + asked.rounds):
        load = Load(random.Random(seed))
        judge.label = "seed %d, %d tenants told by %s, %d files%s%s%s" % (
            seed, len(load.tenants), load.told_by, load.files, ", copied" * load.copied, ", late" * load.late,
            ", %g without a time" % load.untimed if load.untimed else "")
        judge.judge(load)
    return judge


if __name__ == "__main__":
    accounts.run(accounts.parser_of(__doc__, 60), judge_rounds)
