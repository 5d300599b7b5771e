"""Whom an address means: endpoints, their membership and their tenants, as the contract words it."""

LINK_LOCAL = 0xfe80 << 48
ANY, DECLARED, MAC, PREFIX, EXPLICIT = 0, 1, 2, 3, 1000  # a prefix of n bits ranks PREFIX + n


class End:
    """One end of a frame as its headers have it; what a frame has not is None."""

    def __init__(self, lid=None, gid=None, ip=None, mac=None, group=False):
        self.lid, self.gid, self.ip, self.mac, self.group = lid, gid, ip, mac, group

    def key(self):
        return (self.lid, self.gid if self.lid is None else None, self.ip)


class Endpoint:
    """port is None for an address that only members or prefixes declare."""

    def __init__(self, port=None, lid=None, guid=None, gid=None, ip=None, mac=None):
        self.port, self.lid, self.guid, self.gid, self.ip, self.mac = port, lid, guid, gid, ip, mac

    def rank(self, member):
        """How specifically a member lists this endpoint; None: not at all."""
        port, value = self.port, member.value
        if member.kind == "all":
            return DECLARED
        if member.kind == "host":
            return EXPLICIT if port and port.host == value else None
        if member.kind == "lid":
            return EXPLICIT if self.lid == value or port and value in port.lids() else None
        if member.kind == "subnet":
            held = (inside(self.ip, *value) or inside(self.gid, *value)
                    or port and (port.prefix >= value[1] and inside(port.ip, *value) or inside(port.gid, *value)))
            return PREFIX + value[1] if held else None
        if member.kind in ("gid", "ip"):
            mine = [self.gid, self.ip, port.gid if port else None,
                    port.ip if port and port.prefix == 128 else None]
        else:
            mine = [getattr(self, member.kind), getattr(port, member.kind) if port else None]
        return EXPLICIT if value in [x for x in mine if x is not None] else None


def inside(address, network, bits):
    return address is not None and address >> (128 - bits) == network >> (128 - bits)


def first(candidates):
    return next(iter(candidates), None)


class Directory:
    """Every address that a map declares: ports, and members that name an address."""

    def __init__(self, declared):
        self.declared = declared
        members = {(member.kind, member.value) for entry in declared.partitions + declared.segments
                   for interval in entry.intervals for member in interval.members}
        self.members, self.subnets = members, [value for kind, value in members if kind == "subnet"]
        self.known, self.tenants = {}, {}

    def listed(self, kind, value):
        return (kind, value) in self.members

    def port(self, test):
        return first(port for port in self.declared.ports if test(port))

    def by_gid(self, gid):
        """A GID in full, else the GUID in its low half."""
        guid = gid & 0xffffffffffffffff
        port = self.port(lambda p: p.gid == gid) or self.port(lambda p: p.guid == guid)
        if port or self.listed("gid", gid) or self.listed("guid", guid):
            return Endpoint(port, guid=guid, gid=gid)
        return None

    def remote(self, end):
        return end.gid is not None and end.gid >> 64 not in (LINK_LOCAL, self.declared.subnet_prefix)

    def native(self, end):
        """The endpoint, or None if it is not declared."""
        if self.remote(end):  # a port with a LID is one of this fabric, and cannot be behind a router
            found = self.by_gid(end.gid)
            local = found and found.port and found.port.lid is not None and found.port.gid != end.gid
            return None if local else found
        port = self.port(lambda p: end.lid in p.lids())
        if port or self.listed("lid", end.lid):
            return Endpoint(port, lid=end.lid)
        return self.by_gid(end.gid) if end.gid is not None else None

    def by_ip(self, ip):
        port = self.port(lambda p: p.gid == ip or p.ip == ip and p.prefix == 128)
        if port or self.listed("ip", ip) or self.listed("gid", ip):
            return Endpoint(port, ip=ip)
        prefixes = [(p.prefix, p) for p in self.declared.ports if p.ip is not None and inside(ip, p.ip, p.prefix)]
        prefixes += [(bits, None) for network, bits in self.subnets if inside(ip, network, bits)]
        if not prefixes:
            return None
        return Endpoint(max(prefixes, key=lambda entry: (entry[0], entry[1] is not None))[1], ip=ip)

    def by_mac(self, mac):
        port = self.port(lambda p: p.mac == mac)
        return Endpoint(port, mac=mac) if port or self.listed("mac", mac) else None

    def ethernet(self, end):
        return self.by_ip(end.ip) or self.by_mac(end.mac)

    def find(self, end):
        """The endpoint of an end, worked out once."""
        key = (end.lid, end.gid, end.ip, end.mac)
        if key not in self.known:
            self.known[key] = self.native(end) if end.lid is not None else self.ethernet(end)
        return self.known[key]

    def segment_tenants(self, end, vlan, vni, when):
        key = (end.ip, end.mac, vlan, vni, when)
        if key not in self.tenants:
            self.tenants[key] = segment_tenants(self, end, vlan, vni, when)
        return self.tenants[key]

    def mismatched(self, end, source):
        """spoof.address-mismatch at one end; a destination's MAC proves nothing."""
        if end.group:
            return False
        if end.lid is not None:
            if end.gid is None or self.remote(end):
                return False
            by_lid, by_gid = self.port(lambda p: end.lid in p.lids()), self.by_gid(end.gid)
            return bool(by_lid and by_gid and by_gid.port and by_lid is not by_gid.port)
        if not source:
            return False
        by_ip, by_mac = self.by_ip(end.ip), self.by_mac(end.mac)
        return bool(by_ip and by_mac and by_ip.port and by_mac.port and by_ip.port.host != by_mac.port.host)


def decide(members, endpoint, last_rule_wins):
    """The membership that a list of members gives an endpoint: None, full, limited or both."""
    listed = [(endpoint.rank(member), member.membership) for member in members]
    listed = [entry for entry in listed if entry[0] is not None]
    if not listed:
        return None
    if last_rule_wins:
        return listed[-1][1]
    best = {membership for rank, membership in listed if rank == max(entry[0] for entry in listed)}
    return next(membership for membership in ("full", "both", "limited") if membership in best)


def owners(declared, endpoint, base, when):
    """Tenants of an endpoint in the partitions in force, narrowed to the one whose partition the frame names."""
    if endpoint is None:
        return set()
    found = {"customer": set(), "shared": set(), "management": set()}
    for partition in declared.partitions:
        explicit = [member for member in partition.members(when) if member.kind != "all"]
        membership = decide(explicit, endpoint, declared.last_rule_wins)
        kind = declared.classes[partition.tenant]
        if membership in ("full", "both") or membership and kind == "customer":
            found[kind].add(partition.tenant)
    mine = found["customer"] or found["shared"] or found["management"]
    narrowed = {partition.tenant for partition in declared.partitions if partition.base == base} & mine
    return narrowed or mine


TAGS = ("vlan", "vni")


def segment_rank(declared, members, end, known):
    """How specifically a segment's addresses hold an end, addresses before MACs; None: not. known: it is declared."""
    addresses = [member for member in members if member.kind not in TAGS]
    if not addresses:
        return ANY
    ranks = []
    for member in addresses:
        if member.kind == "all":
            ranks.append(DECLARED)
        elif member.kind in ("ip", "gid") and member.value == end.ip:
            ranks.append(EXPLICIT)
        elif member.kind == "subnet" and inside(end.ip, *member.value):
            ranks.append(PREFIX + member.value[1])
        elif member.kind == "mac" and member.value == end.mac:
            ranks.append(MAC)
        elif member.kind == "host":
            for port in (port for port in declared.ports if port.host == member.value):
                if end.ip is not None and (port.gid == end.ip or port.ip == end.ip and port.prefix == 128):
                    ranks.append(EXPLICIT)
                elif port.ip is not None and inside(end.ip, port.ip, port.prefix):
                    ranks.append(PREFIX + port.prefix)
                elif port.mac is not None and port.mac == end.mac:
                    ranks.append(MAC)
    return max(ranks, default=None)


def tags_fit(members, vlan, vni):
    tags = [member for member in members if member.kind in TAGS]
    if not tags:
        return True
    kind, value = ("vni", vni) if vni is not None else ("vlan", vlan)
    return any(member.kind == kind and member.value == value for member in tags)


def segment_tenants(directory, end, vlan, vni, when):
    """(tenants, at home)."""
    declared, known = directory.declared, directory.find(end) is not None
    here, elsewhere = [], []
    for segment in declared.segments:
        members = segment.members(when)
        if not members:
            continue
        rank = segment_rank(declared, members, end, known)
        if rank is None:
            continue
        if tags_fit(members, vlan, vni):
            here.append((rank, segment.tenant))
        if any(member.kind not in TAGS for member in members):
            elsewhere.append((rank, segment.tenant))
    best = here or elsewhere
    return {tenant for rank, tenant in best if rank == max(best)[0]}, bool(here)
