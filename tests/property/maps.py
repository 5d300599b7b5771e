"""Random tapmap/1 maps: tenants, ports, partitions, segments, intervals and exceptions."""

import ipaddress
import json

START = 1795168800 * 10**9  # 2026-11-20T10:00:00Z
MILLISECOND = 10**6
PREFIXES = (0xfe80000000000000, 0xfe80000000000000, 0xfec0000000001234)
CLASSES = ("sm", "sa", "pm", "bm", "dm", "cm", "snmp", "cc", "vendor")


def timestamp(ns):
    seconds, fraction = divmod(ns, 10**9)
    day, second = divmod(seconds - 1795132800, 86400)  # 2026-11-20T00:00:00Z
    text = "2026-11-%02dT%02d:%02d:%02d" % (20 + day, second // 3600, second // 60 % 60, second % 60)
    return text + (".%09d" % fraction).rstrip("0").rstrip(".") + "Z"


def mac_text(mac):
    return ":".join("%02x" % byte for byte in mac.to_bytes(6, "big"))


def address_text(address):
    return str(ipaddress.IPv6Address(address).ipv4_mapped or ipaddress.IPv6Address(address))


def v4(text):
    return 0xffff << 32 | int(ipaddress.IPv4Address(text))


def v6(text):
    return int(ipaddress.IPv6Address(text))



class Port:
    """One port of nodes[]; what it does not have is None. prefix: bits that count of ip, 128 for an address."""

    def __init__(self, host, **has):
        self.host = host
        self.guid = self.lid = self.gid = self.ip = self.mac = self.leaf = None
        self.lmc, self.prefix = 0, 128
        self.__dict__.update(has)

    def lids(self):
        return range(self.lid, self.lid + (1 << self.lmc)) if self.lid is not None else range(0)

    def document(self):
        port = {}
        if self.guid is not None:
            port["guid"] = "0x%016x" % self.guid
        if self.lid is not None:
            port["lid"] = self.lid
            if self.lmc:
                port["lmc"] = self.lmc
        if self.gid is not None:
            port["gid"] = address_text(self.gid)
        if self.ip is not None:
            port["ip"] = prefix_text(self.ip, self.prefix)
        if self.mac is not None:
            port["mac"] = mac_text(self.mac)
        if self.leaf is not None:
            port["leaf"], port["leaf_port"] = self.leaf, 1
        return port


def prefix_text(address, bits):
    if bits == 128:
        return address_text(address)
    return "%s/%d" % (address_text(address), bits - 96 if address >> 32 == 0xffff else bits)


class Member:
    """kind and value; membership is None in segments. A subnet's value is (address, bits of 128)."""

    def __init__(self, kind, value, membership=None):
        self.kind, self.value, self.membership = kind, value, membership

    def document(self):
        write = {"guid": lambda v: "0x%016x" % v, "gid": address_text, "ip": address_text, "mac": mac_text,
                 "subnet": lambda v: prefix_text(*v)}.get(self.kind, lambda v: v)
        member = {self.kind: write(self.value)}
        if self.membership is not None:
            member["membership"] = self.membership
        return member


class Interval:
    def __init__(self, start, end, members):
        self.start, self.end, self.members = start, end, members

    def document(self):
        return {"from": timestamp(self.start), "to": None if self.end is None else timestamp(self.end),
                "members": [member.document() for member in self.members]}


class Partition:
    """base for a partition, name for a segment; the other is None."""

    def __init__(self, tenant, intervals, base=None, name=None, ipoib=False):
        self.tenant, self.intervals, self.base, self.name, self.ipoib = tenant, intervals, base, name, ipoib

    def members(self, twice_ns):
        """At an instant given in half nanoseconds, so that there is one between any two."""
        for interval in self.intervals:
            if 2 * interval.start <= twice_ns and (interval.end is None or twice_ns < 2 * interval.end):
                return interval.members
        return []

    def document(self):
        entry = {"tenant": self.tenant, "intervals": [interval.document() for interval in self.intervals]}
        if self.base is None:
            return {"name": self.name, **entry}
        return {"pkey": "0x%04x" % self.base, "ipoib": self.ipoib, **entry}


class Map:
    def __init__(self):
        self.ports, self.partitions, self.segments, self.exceptions = [], [], [], []
        self.classes, self.unfriendly = {}, {}
        self.grace_ms, self.kind = 0, "infiniband"
        self.subnet_prefix = PREFIXES[0]
        self.last_rule_wins = False

    def boundaries(self):
        times = {start for entry in self.partitions + self.segments for interval in entry.intervals
                 for start in (interval.start, interval.end) if start is not None}
        return sorted(times)

    def document(self):
        hosts = {}
        for port in self.ports:
            hosts.setdefault(port.host, []).append(port.document())
        tenants = [{"name": name, "class": kind, "options": {"no_leaf_sharing_with": self.unfriendly.get(name, [])}}
                   for name, kind in self.classes.items()]
        document = {"schema": "tapmap/1", "map_id": "random", "serial": 1, "issued_at": "2026-11-20T00:00:00Z",
                    "issuer": "oracle", "fabric": {"kind": self.kind}, "tenants": tenants,
                    "nodes": [{"host": host, "ports": ports} for host, ports in hosts.items()],
                    "exceptions": self.exceptions, "grace_ms": self.grace_ms}
        if self.kind == "infiniband":
            document["fabric"]["subnet_prefix"] = "0x%016x" % self.subnet_prefix
        if self.partitions:
            document["partitions"] = [partition.document() for partition in self.partitions]
        if self.segments:
            document["segments"] = [segment.document() for segment in self.segments]
        return document

    def write(self, path):
        path.write_text(json.dumps(self.document(), indent=1))
        return ["-m", path]


def random_ports(rng, declared, with_ib, with_roce):
    """Hosts with one to three ports; every GUID, LID, GID and MAC once."""
    ports, lid = [], 4
    for number in range(rng.randrange(6, 11)):
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            index = len(ports)
            has = {}
            if with_ib:
                lmc = rng.choice((0, 0, 0, 1, 2))
                lid = -(-lid // (1 << lmc)) << lmc
                form = rng.random()
                if form < 0.9:
                    has.update(lid=lid, lmc=lmc)
                    lid += 1 << lmc
                if form > 0.12:
                    has["guid"] = 0x0002c90300a00011 + (index << 4)
                if rng.random() < 0.1 and not with_roce:
                    has["gid"] = (0xfec0 << 112) + 0x5500 + index
            if with_roce:
                form = rng.random()
                if form < 0.55:
                    has["ip"] = v4("10.%d.1.10" % (index % 3)) + index
                elif form < 0.7:
                    has["ip"] = v6("2001:db8:%x::10" % (index % 3)) + index
                elif form < 0.8:
                    has.update(ip=v4("10.%d.%d.16" % (index % 3, 100 + index)), prefix=96 + 28)
                elif form < 0.87:
                    has["gid"] = v6("2001:db8:%x::9910" % (index % 3)) + index
                if form > 0.95 or rng.random() < 0.8 or not has:
                    has["mac"] = 0x024e00000010 + index
            has["leaf"] = rng.choice((None, "leaf1", "leaf2", "leaf3"))
            ports.append(Port("node%02d" % number, **has))
    declared.ports = ports


def random_address_member(rng, declared, with_ib, with_roce):
    kinds = ["host"] * 6
    if with_ib:
        kinds += ["guid", "guid", "lid", "gid"]
    if with_roce:
        kinds += ["ip", "ip", "subnet", "subnet", "mac"]
    kind, port = rng.choice(kinds), rng.choice(declared.ports)
    bare = rng.random() < 0.35
    value = {"host": port.host, "guid": port.guid, "lid": port.lid, "gid": port.gid, "mac": port.mac,
             "ip": port.ip if port.prefix == 128 else None, "subnet": None}[kind]
    if kind == "lid" and value is not None:
        value = rng.choice(port.lids())
    if kind == "subnet":
        value = rng.choice([(v4("10.%d.0.0" % net), 96 + 16) for net in range(3)]
                           + [(v4("10.%d.1.0" % net), 96 + rng.choice((24, 27, 28))) for net in range(3)]
                           + [(v6("2001:db8:%x::" % net), rng.choice((48, 64))) for net in range(3)])
    elif value is None or bare and kind != "host":
        number = rng.randrange(4)
        value = {"host": port.host, "guid": 0x0002c90300b00001 + number, "lid": 900 + number,
                 "gid": (0xfec0 << 112) + 0x7700 + number, "ip": v4("10.77.0.1") + number,
                 "mac": 0x024e00770001 + number}[kind]
    return kind, value


def random_intervals(rng, members):
    if rng.random() < 0.45:
        return [Interval(START - 3600 * 10**9, None, members())]
    intervals, at = [], START + rng.randrange(0, 8000) * MILLISECOND
    for _ in range(rng.randrange(1, 4)):
        end = at + rng.randrange(500, 12000) * MILLISECOND
        intervals.append(Interval(at, end, members()))
        at = end + rng.choice((0, 0, 300, 3000)) * MILLISECOND
    if rng.random() < 0.4:
        intervals[-1].end = None
    return intervals


def partition_members(rng, declared, with_ib, with_roce, default):
    members, seen = [], set()
    if rng.random() < (0.85 if default else 0.15):
        members.append(Member("all", True, rng.choice(("limited", "limited", "full", "both"))))
    for _ in range(rng.randrange(1, 8)):
        kind, value = random_address_member(rng, declared, with_ib, with_roce)
        if (kind, value) not in seen:
            seen.add((kind, value))
            members.append(Member(kind, value, rng.choice(("full", "full", "limited", "both"))))
    return members


def segment_members(rng, declared):
    members, seen = [], set()
    for kind, choices, share in (("vlan", (101, 102, 103, 104), 0.65), ("vni", (10101, 10102, 10103), 0.5)):
        for value in rng.sample(choices, rng.choice((1, 1, 2))):
            if rng.random() < share:
                members.append(Member(kind, value))
    if rng.random() < 0.1 and members:
        return members + ([Member("all", True)] if rng.random() < 0.5 else [])
    for _ in range(rng.randrange(2, 8)):
        kind, value = random_address_member(rng, declared, False, True)
        if (kind, value) not in seen:
            seen.add((kind, value))
            members.append(Member(kind, value))
    return members


def random_exception(rng, number, tenants, bases):
    kind = rng.choice(("shared-service", "shared-service", "management", "management", "multicast"))
    exception = {"id": "ex-%d" % number, "kind": kind}
    if kind == "multicast":
        exception["mgid"] = rng.choice(("ff12:401b:8001::1", "ff0e::7", "::ffff:239.1.1.7"))
        exception["tenants"] = rng.sample(tenants, rng.randrange(1, len(tenants)))
        return exception
    shared = kind == "shared-service"
    if rng.random() < 0.7:
        exception["from_tenants"] = rng.sample(tenants, rng.randrange(1, 4))
    if shared or rng.random() < 0.5:
        exception["to_tenant"] = rng.choice(tenants)
    if rng.random() < 0.5 and bases:
        exception["pkey"] = "0x%04x" % rng.choice(bases + ([] if shared else [0x7fff] * 4))
    if "to_tenant" in exception and rng.random() < 0.5:
        exception["direction"] = rng.choice(("both", "to", "from"))
    if not shared and rng.random() < 0.5:
        exception["classes"] = rng.sample(CLASSES, rng.randrange(1, 4))
    return exception


def random_map(rng, kind):
    """kind: ib, roce (partitions), segments, mixed."""
    declared = Map()
    with_ib, with_roce = kind in ("ib", "mixed"), kind != "ib"
    declared.kind = "infiniband" if with_ib else "roce"
    tenants = ["red", "blue", "green", "storage", "mgmt"]
    declared.classes = dict(zip(tenants, ("customer", "customer", "customer", "shared", "management")))
    declared.grace_ms = rng.choice((0, 500, 2000, 5000))
    declared.subnet_prefix = rng.choice(PREFIXES)
    random_ports(rng, declared, with_ib, with_roce)
    bases = []
    if kind != "segments":
        bases = rng.sample((0x0001, 0x0002, 0x0003, 0x0101, 0x0200, 0x7ffe), rng.randrange(2, 6))
        for base in bases + ([0x7fff] if rng.random() < 0.75 else []):
            def members(base=base):
                return partition_members(rng, declared, with_ib, with_roce, base == 0x7fff)
            tenant = rng.choice(("mgmt", "mgmt", "mgmt", "storage")) if base == 0x7fff else rng.choice(tenants)
            declared.partitions.append(Partition(tenant, random_intervals(rng, members), base,
                                                 ipoib=rng.random() < 0.6))
    if kind in ("segments", "mixed"):
        for number in range(rng.randrange(3, 7)):
            declared.segments.append(Partition(
                rng.choice(tenants), random_intervals(rng, lambda: segment_members(rng, declared)),
                name="segment%d" % number))
    declared.exceptions = [random_exception(rng, number, tenants, bases) for number in range(rng.randrange(0, 4))]
    if rng.random() < 0.4:
        apart = rng.sample(tenants[:3], 2)
        declared.unfriendly = {apart[0]: [apart[1]]}
    return declared
