"""What `flows` and the congestion account count, against books that the simulated hosts keep themselves.

usage: accounts.py PROGRAM [--rounds N] [--seed S] [--keep FOLDER]

Of each capture: every row and connection of `flows`, for one worker and for more, and with every frame twice; and what
`audit` counts of each tenant, in its document and in the table LOAD of its text.
"""

import argparse
import bisect
import json
import math
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import ledger
import page
import streams
from ledger import NATIVE, RC, READ, ROCE1, ROCE2_V4, ROCE2_V6, SEND, SWAP, UC, UD, WRITE, XRC
from transport import FETCH_ADD

US, MS, SECOND = 10**3, 10**6, 10**9
LINK_GBPS = 100
EXACT_SIZES = 8
LOAD_ROWS = 15
HALF_OF_ONE = 0.5  # a value that lies at the quantile itself may count on either side
UNMET = 5  # answers that may pass before PSNs tell which halves belong together: they are not timed
LONGEST_RTT = 2**32 - 1
ALWAYS = {"from": "2000-01-01T00:00:00Z", "to": None}


# --- a site


class Site:
    """Tenants, their hosts and the map that declares them."""

    def __init__(self, rng):
        self.rng = rng
        self.family = rng.choice((ROCE2_V4, ROCE2_V4, ROCE2_V6, ROCE1, NATIVE))
        self.told_by = rng.choice(("address", "address", "vlan", "vni")) if self.family != NATIVE else "address"
        names = ("red", "blue", "store") if self.told_by == "address" else ("red", "blue")
        own = self.told_by == "address"
        self.tenants = [ledger.Tenant(name, number, vlan=100 + number if self.told_by == "vlan" else None,
                                      vni=7000 + number if self.told_by == "vni" else None, addressed=own)
                        for number, name in enumerate(names, 1)]
        self.hosts = []
        for tenant in self.tenants:
            for place in range(1, 4):
                number = 16 * tenant.number + place
                self.hosts.append(ledger.Host(tenant, number, number if own else place))

    def ends(self):
        """Two hosts that may talk."""
        one = self.rng.choice(self.hosts)
        return one, self.rng.choice([host for host in self.hosts if host is not one and (
            host.tenant is one.tenant or "store" in (host.tenant.name, one.tenant.name))])

    def pkey(self, source, destination):
        if self.family != NATIVE:
            return 0xffff
        if source.tenant is destination.tenant:
            return 0x8000 | source.tenant.number
        return 0x8003 if source.tenant.name == "store" else 0x0003

    def members(self, tenant):
        if self.told_by != "address":
            return [{self.told_by: getattr(tenant, self.told_by)}]
        return [{"subnet": "10.0.%d.0/24" % tenant.number}, {"subnet": "fd00::%x/120" % (tenant.number << 8)}]

    def map(self):
        document = {
            "schema": "tapmap/1", "map_id": "books", "serial": 1, "issued_at": "2020-01-01T00:00:00Z", "issuer": "tests",
            "fabric": {"kind": "infiniband" if self.family == NATIVE else "roce"},
            "nodes": [{"host": "h%d" % host.number, "ports": [self.port(host)]} for host in self.hosts],
            "tenants": [{"name": tenant.name, "class": "shared" if tenant.name == "store" else "customer"}
                        for tenant in self.tenants],
            "exceptions": [{"id": "storage", "kind": "shared-service", "to_tenant": "store"}] if len(self.tenants) == 3 else [],
        }
        if self.family == NATIVE:
            document["partitions"] = [
                {"pkey": "0x%04x" % tenant.number, "tenant": tenant.name,
                 "intervals": [{**ALWAYS, "members": [{"lid": host.number, "membership": membership}
                                                      for host in self.hosts
                                                      for membership in self.membership(tenant, host)]}]}
                for tenant in self.tenants]
        else:
            document["segments"] = [{"name": tenant.name, "tenant": tenant.name,
                                     "intervals": [{**ALWAYS, "members": self.members(tenant)}]} for tenant in self.tenants]
        return document

    @staticmethod
    def membership(tenant, host):
        if host.tenant is tenant:
            return ["full"]
        return ["limited"] if tenant.name == "store" else []

    def port(self, host):
        if self.family == NATIVE:
            return {"lid": host.number}
        if self.told_by != "address":
            return {"mac": host.mac.hex(":")}
        if self.family == ROCE2_V4:
            return {"mac": host.mac.hex(":"), "ip": host.text(ROCE2_V4)}
        return {"mac": host.mac.hex(":"), "ip": host.text(ROCE2_V6)}


# --- traffic


class Traffic:
    """A capture, and the books of all halves in it."""

    may_find = ()  # rules

    def __init__(self, rng):
        self.rng, self.site = rng, Site(rng)
        numbered = self.site.family == ROCE2_V4  # by IP identifications: else what is sent again soon looks like a copy
        self.lost = rng.choice((0.0, 0.005, 0.02))
        ways_ns = 0 if self.lost or not numbered else rng.choice((0, 1000, 4000))
        not_ready = 0.0 if ways_ns else rng.choice((0.0, 0.0, 0.2))  # what is late after a refusal may be sent again
        self.fabric = ledger.Fabric(
            rng, marks=rng.choice((0.0, 0.03, 0.1)), slowly=1 if numbered else 4000, lost=self.lost, not_ready=not_ready,
            ways_ns=ways_ns, acknowledge=rng.choice((1, 2, 8, 50)))
        self.mtu = rng.choice((256, 1024, 4096))
        self.ends, self.pairs, self.pauses = [], [], []
        qps = rng.sample(range(0x100, 0x100000), 60)
        for _ in range(rng.randint(2, 7)):
            self.connect(qps.pop(), qps.pop(), rng.choice((RC, RC, RC, XRC)))
        for service in (UC, UD):
            if rng.random() < 0.4:
                self.blind(qps.pop(), service)
        self.fabric.run()
        self.pause()
        self.frames = sorted(self.fabric.capture + self.pauses, key=lambda frame: frame.ts_ns)
        self.books = [end.books for end in self.ends if end.books.times]

    def side(self, source, destination, dest_qp, port, vlan):
        site = self.site
        side = ledger.Side(site.family, source, destination, dest_qp, port, self.rng.getrandbits(24), site.pkey(source, destination),
                           vlan, source.tenant.vni)
        if side.is_joined_by_port() and self.rng.random() < 0.5:
            side.psn = 0xfffff0  # two that begin there and move alike are not told apart by their PSNs
        return side

    def vlan(self, source):
        if self.site.family == NATIVE:
            return None
        return source.tenant.vlan or self.rng.choice((None, None, 5, 6))

    def connect(self, one, other, service):
        rng, hosts = self.rng, self.site.ends()
        vlan, port = self.vlan(hosts[0]), streams.source_port((one, other))
        sides = [self.side(*hosts, other, port, vlan), self.side(*hosts[::-1], one, port, vlan)]
        pair = [ledger.End(self.fabric, side, service, self.mtu) for side in sides]
        pair[0].peer, pair[1].peer = pair[1], pair[0]
        self.ends += pair
        self.pairs.append(pair)
        delay, few = 0, rng.random() < 0.5
        if self.lost or self.fabric.ways_ns:  # how long a message is, of which not all is seen in order, is known once one passed
            for end in pair:
                self.fabric.after(0, end.post, WRITE, 2 * self.mtu)
        usual = [self.size() for _ in range(rng.randint(1, 5))]
        for _ in range(rng.randint(8, 60)):
            delay += int(rng.expovariate(1 / 100_000))
            kind = rng.choice((WRITE, WRITE, SEND, SEND, READ, FETCH_ADD, SWAP))
            size = 8 if kind in (FETCH_ADD, SWAP) else rng.choice(usual) if few else self.size()
            self.fabric.after(delay, rng.choice(pair).post, kind, size)

    def size(self):
        rng = self.rng
        return rng.choice((0, 1, 8, self.mtu, self.mtu + 1, rng.randint(0, self.mtu), rng.randint(0, 12 * self.mtu)))

    def blind(self, dest_qp, service):
        hosts = self.site.ends()
        end = ledger.Blind(self.fabric, self.side(*hosts, dest_qp, 0xc321, self.vlan(hosts[0])), service, self.mtu)
        self.ends.append(end)
        delay = 0
        for _ in range(self.rng.randint(5, 40)):
            delay += int(self.rng.expovariate(1 / 100_000))
            kind = SEND if service == UD else self.rng.choice((SEND, WRITE))
            self.fabric.after(delay, end.post, kind, self.rng.randint(1, self.mtu) if service == UD else self.size())

    def pause(self):
        """Pause and PFC frames of some hosts, and how long each priority was held up (IEEE 802.3 annexes 31B and 31D)."""
        rng, self.paused = self.rng, Counter()
        if self.site.family == NATIVE or self.site.told_by != "address" or rng.random() < 0.4:
            return
        for host in rng.sample(self.site.hosts, 3):
            told, at, plain = [], self.fabric.start, rng.random() < 0.2
            for _ in range(rng.randint(1, 12)):
                at += rng.randint(2 * US, 400 * US)
                some = {priority: rng.choice((0, 0, 1000, rng.randint(1, 0xffff)))
                        for priority in rng.sample(range(8), rng.choice((1, 1, 2, 8)))}
                quanta = {priority: some[min(some)] for priority in range(8)} if plain else some
                told.append((at, quanta))
                data, wire_bytes = pause_frame(host.mac, some[min(some)] if plain else quanta)
                frame = ledger.Frame(data, wire_bytes)
                frame.ts_ns = at
                self.pauses.append(frame)
            self.paused[host.tenant.name] += held_up(told)


def pause_frame(mac, quanta):
    if isinstance(quanta, int):
        body = b"\0\x01" + quanta.to_bytes(2, "big")
    else:
        body = b"\x01\x01" + sum(1 << priority for priority in quanta).to_bytes(2, "big")
        body += b"".join(quanta.get(priority, 0xdead).to_bytes(2, "big") for priority in range(8))
    return (b"\x01\x80\xc2\0\0\x01" + mac + b"\x88\x08" + body).ljust(60, b"\0"), 60


def held_up(told):
    """ns in which at least one priority may not be sent; a frame speaks of the priorities that it enables alone."""
    spans = []
    for priority in range(8):
        said = [(at, quanta[priority]) for at, quanta in told if priority in quanta]
        for (at, count), following in zip(said, said[1:] + [(None, 0)]):
            end = at + int(count * 512 / LINK_GBPS)
            spans.append((at, end if following[0] is None else min(end, following[0])))
    total, reached = 0, 0
    for begin, end in sorted(spans):
        total += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return total


# --- what must be there


def quantile(values, share):
    values = sorted(values)
    return next(value for value in values if bisect.bisect_right(values, value) >= share * len(values))


def is_quantile(told, values, share, exactly, off_by=HALF_OF_ONE):
    """`off_by`: values that may be missing on one side of it."""
    if told is None:
        return False
    if len(set(values)) <= EXACT_SIZES and exactly:
        return told == quantile(values, share)
    low, high = min(values), max(values)
    octaves = math.log2((high + 1) / (low + 1))
    off = 2 ** (0.25 if octaves < 6 else 0.5 if octaves < 12 else 1)
    about = [quantile(values, min(1, max(0, share + by / len(values)))) + 1 for by in (-off_by, off_by)]
    return low <= told <= high and about[0] / off <= told + 1 <= about[1] * off


def stamp(ts_ns):
    import datetime
    whole = datetime.datetime.fromtimestamp(ts_ns // SECOND, datetime.timezone.utc)
    return whole.strftime("%Y-%m-%dT%H:%M:%S") + ".%09dZ" % (ts_ns % SECOND)


def expected_row(books, family, mapped):
    side, sizes = books.side, books.known_sizes()
    end = lambda host: {"address": host.text(family), "host": None, "tenant": host.tenant.name if mapped else None}
    return {
        "src": end(side.source), "dst": end(side.destination), "dest_qp": side.dest_qp, "vlan": side.vlan,
        "vni": side.vni, "pkey": "0x%04x" % side.pkey, "transport": ledger.SERVICES[books.service],
        "first_ts": stamp(books.times[0]), "last_ts": stamp(books.times[-1]), "packets": len(books.times), "bytes": books.bytes,
        "payload_bytes": books.payload, "opcodes": dict(books.opcodes),
        "messages": {**{kind: len(done) for kind, done in books.sizes.items()},
                     "min": min(sizes, default=None), "max": max(sizes, default=None)},
        "retransmitted": books.again, "fabric_lost": books.fabric_lost, "reordered": books.reordered, "mirror_lost": 0, "gaps_open": 0,
        "acks": books.acks, "naks": dict(books.naks), "rnr_naks": books.rnr_naks, "cnps": books.cnps, "ce_marked": books.ce_marked,
        "psn_first": books.psns[0], "psn_last": books.psns[-1],
    }


def told_row(row, mapped):
    """The same members of a row of the document."""
    told = {name: row[name] for name in (
        "dest_qp", "vlan", "vni", "pkey", "transport", "first_ts", "last_ts", "packets", "bytes", "payload_bytes", "opcodes",
        "retransmitted", "fabric_lost", "reordered", "mirror_lost", "gaps_open", "acks", "rnr_naks", "cnps", "ce_marked",
        "psn_first", "psn_last")}
    told["naks"] = {name: count for name, count in row["naks"].items() if count}
    told["messages"] = {name: row["messages"][name] for name in ("send", "write", "read", "atomic")}
    sizes = row["messages"]["sizes"]
    told["messages"].update({"min": sizes["min"], "max": sizes["max"]} if sizes else {"min": None, "max": None})
    for name in ("src", "dst"):
        told[name] = {**row[name], "host": None}
    return told


def key_of(row):
    return row["src"]["address"], row["dst"]["address"], row["dest_qp"], row["vlan"], row["vni"]


class Judge:
    def __init__(self, program, folder):
        self.program, self.folder, self.wrong, self.label, self.rows = program, folder, [], "", 0

    def complain(self, *words):
        self.wrong.append("%s: %s" % (self.label, " ".join(str(word) for word in words)))

    def equal(self, name, told, truth):
        if told == truth:
            return
        if isinstance(truth, dict) and isinstance(told, dict):
            for part in sorted(set(told) | set(truth)):
                self.equal("%s.%s" % (name, part), told.get(part), truth.get(part))
        else:
            self.complain(name, "is", told, "and not", truth)

    def run(self, verb, *arguments):
        done = subprocess.run([self.program, verb, *map(str, arguments)], capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=300, check=False)
        if done.returncode not in (0, 1, 3):
            sys.exit("%s: %s: status %d: %s" % (self.label, verb, done.returncode, done.stderr.decode()))
        return done.stdout.decode()

    def json(self, verb, *arguments):
        return json.loads(self.run(verb, "--json", *arguments))

    # --- flows

    def judge_flows(self, traffic, document, copies, mapped):
        told = {key_of(row): row for row in document["flows"]}
        truth = {}
        for books in traffic.books:
            row = expected_row(books, traffic.site.family, mapped)
            truth[key_of(row)] = row, books
        if sorted(map(str, told)) != sorted(map(str, truth)):
            self.complain("rows are", sorted(map(str, told)), "and not", sorted(map(str, truth)))
            return
        for key, (row, books) in truth.items():
            self.rows += 1
            name = "%s>%s %#x" % key[:3]
            self.equal(name, told_row(told[key], mapped), row)
            self.equal(name + " duplicates", told[key]["duplicates"], len(books.times) if copies else 0)
            sizes = books.known_sizes()
            if sizes and told[key]["messages"]["sizes"] and not is_quantile(told[key]["messages"]["sizes"]["p50"], sizes, 0.5, True):
                self.complain(name, "p50 of sizes is", told[key]["messages"]["sizes"]["p50"], "and not", quantile(sizes, 0.5), sorted(sizes))
        self.judge_connections(traffic, document)

    def judge_connections(self, traffic, document):
        of_flow = {row["flow"]: key_of(row)[:3] for row in document["flows"]}
        told = {frozenset(of_flow[flow] for flow in row["flows"]): row for row in document["connections"]}
        for pair in traffic.pairs:
            books = [end.books for end in pair]
            keys = frozenset((b.side.source.text(traffic.site.family), b.side.destination.text(traffic.site.family), b.side.dest_qp)
                             for b in books if b.times)
            if len(keys) != 2:
                continue
            if keys not in told:
                self.complain("no connection", keys)
                continue
            rtts, row = [min(rtt, LONGEST_RTT) for b in books for rtt in b.rtts], told[keys]["rtt_ns"]
            off_by = HALF_OF_ONE if traffic.site.family in (ROCE2_V4, ROCE2_V6) else UNMET
            if (row is None) != (not rtts) or row is not None and (
                    row["min"] != min(rtts) or not is_quantile(row["p50"], rtts, 0.5, False, off_by)
                    or not is_quantile(row["p99"], rtts, 0.99, False, off_by)):
                self.complain("rtt", row, "and not", rtts and (min(rtts), quantile(rtts, 0.5), quantile(rtts, 0.99)), len(rtts))

    # --- audit

    def judge_tenants(self, traffic, document):
        told = {row["name"]: row for row in document["tenants"]}
        for tenant in traffic.site.tenants:
            sent = [books for books in traffic.books if books.side.source.tenant is tenant]
            row, name = told[tenant.name], tenant.name
            self.equal(name, {part: row[part] for part in ("frames", "bytes")},
                       {"frames": sum(len(books.times) for books in sent), "bytes": sum(books.bytes for books in sent)})
            self.equal(name + ".congestion", row["congestion"], {
                "ce_marked": sum(books.ce_marked for books in sent), "cnps_caused": traffic.fabric.caused[tenant],
                "cnps_received": traffic.fabric.told[tenant], "pause_ns": traffic.paused[tenant.name],
                "rnr_naks": sum(books.rnr_naks for books in sent), "retransmitted": sum(books.again for books in sent)})

    def judge_load(self, document, text):
        """The table LOAD, if there is anything to tell: the noisiest neighbour first, then who sent most at once."""
        told = page.table_of(text, "tenant")
        rows = sorted(document["tenants"], key=lambda row: (-row["congestion"]["cnps_caused"], -(row["peak_gbps"] or -1), row["name"]))
        if not any(row["quota_gbps"] is not None or any(row["congestion"].values()) for row in rows):
            rows = []
        shown = rows[:LOAD_ROWS]
        self.equal("tenants of LOAD", [cells.get("tenant") for cells in told], [row["name"] for row in shown])
        self.equal("LOAD says that there are more", "and %d more; --json has them all" % (len(rows) - LOAD_ROWS) in text,
                   len(rows) > LOAD_ROWS)
        for row, cells in zip(shown, told):
            congestion = row["congestion"]
            counts = {"marked": "ce_marked", "caused": "cnps_caused", "told": "cnps_received", "paused": "pause_ns",
                      "not ready": "rnr_naks", "again": "retransmitted"}
            wrong = [name for name, field in counts.items() if not page.says(cells.get(name, ""), congestion[field])]
            wrong += [name for name, gbps, none in (("peak", row["peak_gbps"], "?"), ("quota", row["quota_gbps"], "."))
                      if not page.says_rate(cells.get(name, ""), gbps, none)]
            for name in wrong:
                self.complain("LOAD", row["name"], name, "is", cells.get(name, cells), row)

    def expect_nothing(self, traffic, document):
        """Nobody did wrong."""
        for finding in document["findings"]:
            if finding["severity"] != "info" and finding["rule"] not in traffic.may_find:
                self.complain(finding["summary"], finding["evidence"])

    # ---

    def judge(self, traffic):
        capture, twice, site = self.folder / "books.pcap", self.folder / "twice.pcap", traffic.site
        link = 247 if site.family == NATIVE else 1
        streams.write(capture, traffic.frames, link)
        copies = []
        for frame in traffic.frames:
            copies.append(ledger.Frame(frame.data, frame.wire))
            copies[-1].ts_ns = frame.ts_ns + 150
        streams.write(twice, sorted(traffic.frames + copies, key=lambda frame: frame.ts_ns), link)
        (self.folder / "map.json").write_text(json.dumps(site.map()))
        mapped = ("-m", self.folder / "map.json")
        document = self.json("flows", *mapped, capture)
        self.judge_flows(traffic, document, False, True)
        workers = ("--workers", traffic.rng.choice((2, 3)))
        self.equal("flows of workers", self.json("flows", *mapped, *workers, capture)["flows"], document["flows"])
        audit = self.json("audit", *mapped, "--link-gbps", LINK_GBPS, capture)
        self.judge_tenants(traffic, audit)
        self.judge_load(audit, self.run("audit", *mapped, "--link-gbps", LINK_GBPS, capture))
        self.expect_nothing(traffic, audit)
        self.equal("tenants of workers", self.json("audit", *mapped, "--link-gbps", LINK_GBPS, *workers, capture)["tenants"], audit["tenants"])
        label, self.label = self.label, self.label + ", twice"
        self.judge_flows(traffic, self.json("flows", *workers, twice), True, False)
        audit = self.json("audit", *mapped, "--link-gbps", LINK_GBPS, twice)
        self.judge_tenants(traffic, audit)
        self.expect_nothing(traffic, audit)
        self.label = label


def parser_of(description, rounds):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="where the captures of the last round stay")
    return parser


def run(parser, judge_rounds):
    """`judge_rounds`: of what was asked for and a folder, a judge who has seen all rounds."""
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        judge = judge_rounds(asked, asked.keep or Path(scratch))
    print("seeds %d to %d: %d rows judged, %d wrong" % (asked.seed, asked.seed + asked.rounds - 1, judge.rows, len(judge.wrong)))
    print("\n".join(judge.wrong))
    sys.exit(1 if judge.wrong or judge.rows == 0 else 0)


def judge_rounds(asked, folder, make=Traffic):
    judge = Judge(asked.program, folder)
    for seed in range(asked.seed, asked.seed + asked.rounds):
        traffic = make(random.Random(seed))
        judge.label = "seed %d, %s told by %s, %g lost" % (seed, traffic.site.family, traffic.site.told_by, 2 * traffic.lost)
        judge.judge(traffic)
    return judge


if __name__ == "__main__":
    run(parser_of(__doc__, 30), judge_rounds)
