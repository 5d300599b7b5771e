"""The rules of the contract, written down a second time: which of them a frame breaks, and since when."""

from endpoints import Directory, End, Endpoint, decide, owners

DEFAULT = 0x7fff
IPOIB_QKEY = 0x0b1b
CONNECTED = ("RC", "UC", "RD", "XRC")
REPLACED_OUTSIDE = {"pkey.sender-not-member", "pkey.receiver-not-member", "tenant.unknown-endpoint",
                    "tenant.wrong-segment"}
CLASSES = {"sm": {0x01, 0x81}, "sa": {0x03}, "pm": {0x04}, "bm": {0x05}, "dm": {0x06}, "cm": {0x07},
           "snmp": {0x08}, "cc": {0x21}, "vendor": set(range(0x09, 0x10)) | set(range(0x30, 0x50))}


def single(tenants):
    return next(iter(tenants)) if len(tenants) == 1 else "unknown"


class State:
    """What the map says of one frame at one instant."""

    def __init__(self, rules, source, destination, exception):
        self.rules, self.source, self.destination, self.exception = rules, source, destination, exception

    def pair(self):
        return single(self.source), single(self.destination)

    def clean(self):
        return not self.rules


def in_classes(exception, frame):
    if "classes" not in exception:
        return True
    return frame.dest_qp == 1 and any(frame.management_class in CLASSES[name] for name in exception["classes"])


def covers(exception, base):
    return "pkey" not in exception or int(exception["pkey"], 16) == base


class Rules:
    def __init__(self, declared):
        self.declared = declared
        self.directory = Directory(declared)
        self.first_base = {}
        points = [2 * time for time in declared.boundaries()]
        self.instants = sorted({near for point in points for near in (point - 1, point)})

    # section 4
    def ladder(self, frame, when, source, destination, sets):
        base, declared = frame.pkey & 0x7fff, self.declared
        partition = next((p for p in declared.partitions if p.base == base), None)
        if base == 0:
            return "pkey.invalid"
        if source is None or destination is None and not frame.destination.group:
            return "tenant.unknown-endpoint"
        if base == DEFAULT and self.default_used(frame, partition, sets):
            return "pkey.default-used"
        if partition is None:
            return None if base == DEFAULT and frame.dest_qp == 1 else "pkey.undeclared"
        members = partition.members(when)
        mine = decide(members, source, declared.last_rule_wins)
        other = None if frame.destination.group else decide(members, destination, declared.last_rule_wins)
        if mine is None:
            return "pkey.sender-not-member"
        if other is None and not frame.destination.group:
            return "pkey.receiver-not-member"
        if mine == "limited" and other == "limited":
            return "pkey.limited-to-limited"
        if mine == "limited" and frame.pkey & 0x8000:
            return "pkey.membership-overclaimed"
        return None

    def ipoib(self, frame):
        partition = next((p for p in self.declared.partitions if p.base == DEFAULT), None)
        return bool(partition and partition.ipoib and frame.service == "UD" and frame.qkey == IPOIB_QKEY)

    def default_used(self, frame, partition, sets):
        management = [e for e in self.declared.exceptions if e["kind"] == "management" and covers(e, DEFAULT)]
        if frame.dest_qp == 1:
            return bool(management) and not any(in_classes(e, frame) for e in management)
        ends = sets[:1] if frame.destination.group else sets
        customer = any(self.declared.classes[tenant] == "customer" for tenants in ends for tenant in tenants)
        return customer and not self.ipoib(frame) and not any("classes" not in e for e in management)

    # section 6
    def permits(self, exception, frame, source, destination):
        if exception["kind"] == "multicast":
            return (frame.destination.group and frame.mgid == exception["mgid"]
                    and bool(source & set(exception["tenants"])))
        if not covers(exception, frame.pkey & 0x7fff) or not in_classes(exception, frame):
            return False
        def between(one, other):
            return (("from_tenants" not in exception or bool(one & set(exception["from_tenants"])))
                    and ("to_tenant" not in exception or exception["to_tenant"] in other))
        direction = exception.get("direction", "both")
        return (direction in ("both", "to") and between(source, destination)
                or direction in ("both", "from") and between(destination, source))

    def crossing(self, frame, source, destination, default_ladder):
        """(rule or None, id of the exception that permits it or None)."""
        if not source or not destination or source & destination:
            return None, None
        if frame.pkey & 0x7fff == DEFAULT and (frame.dest_qp == 1 or default_ladder and self.ipoib(frame)
                                               and frame.dest_qp >= 2):
            return None, None
        for exception in self.declared.exceptions:
            if self.permits(exception, frame, source, destination):
                return None, exception["id"]
        return "tenant.crossing", None

    def by_partition(self, frame):
        base = frame.pkey & 0x7fff
        return (frame.native or not self.declared.segments
                or base != DEFAULT and bool(self.declared.partitions))

    def at(self, frame, when):
        declared, rules = self.declared, set()
        base, group = frame.pkey & 0x7fff, frame.destination.group
        find = self.directory.find
        source, destination = find(frame.source), None if group else find(frame.destination)
        by_segment = not frame.native and bool(declared.segments)
        if by_segment:
            source_set, source_home = self.directory.segment_tenants(frame.source, frame.vlan, frame.vni, when)
            destination_set, destination_home = self.directory.segment_tenants(frame.destination, frame.vlan,
                                                                               frame.vni, when)
            if group:
                destination_set = source_set if source_home else set()
            # an address that a segment holds is declared, whatever else names it
            source = source or Endpoint(ip=frame.source.ip, mac=frame.source.mac)
            destination = destination or (None if group else Endpoint(ip=frame.destination.ip,
                                                                      mac=frame.destination.mac))
            if base == 0:
                rules.add("pkey.invalid")
            elif not source_set or not group and not destination_set:
                rules.add("tenant.unknown-endpoint")
            elif not source_home and (group or not destination_home):
                rules.add("tenant.wrong-segment")
        else:
            source_set = owners(declared, source, base, when)
            destination_set = ({p.tenant for p in declared.partitions if p.base == base} if group
                               else owners(declared, destination, base, when))
        if self.by_partition(frame) and not (by_segment and rules & {"pkey.invalid", "tenant.unknown-endpoint"}):
            rules.add(self.ladder(frame, when, source, destination, (source_set, destination_set)))
        crossing, exception = self.crossing(frame, source_set, destination_set, not by_segment)
        rules.add(crossing)
        return State(rules - {None}, source_set, destination_set, exception)

    def always(self, frame):
        """The rules that no change of the map undoes."""
        rules = set()
        if self.directory.mismatched(frame.source, True) or self.directory.mismatched(frame.destination, False):
            rules.add("spoof.address-mismatch")
        if frame.service in CONNECTED and frame.dest_qp >= 2:
            connection = (frame.source.key(), frame.destination.key(), frame.dest_qp)
            first = self.first_base.setdefault(connection, frame.pkey & 0x7fff)
            if self.by_partition(frame) and first != frame.pkey & 0x7fff:
                rules.add("pkey.changed-on-connection")
        return rules

    def judge(self, frame):
        """(rules, grace, State now) of a frame whose every field is known."""
        when = 2 * frame.ts
        now, always = self.at(frame, when), self.always(frame)
        broken = now.rules | always
        if not broken:
            return set(), False, now
        if not always:
            since = when - 2 * self.declared.grace_ms * 10**6
            if any(since < instant <= when and self.at(frame, instant).clean() for instant in self.instants):
                return set(), True, now
            if broken & REPLACED_OUTSIDE or broken == {"tenant.crossing"}:
                permitted = (self.at(frame, instant) for instant in self.instants)
                if any(state.clean() and state.source and state.destination for state in permitted):
                    broken = broken - REPLACED_OUTSIDE | {"tenant.outside-validity"}
        return broken, False, now

    def smp_pair(self, frame):
        """An SMP's P_Key means nothing: its tenants are those of its LIDs, not narrowed."""
        if not frame.native and self.declared.segments:
            return self.at(frame, 2 * frame.ts).pair()
        ends = [end if not frame.native else End(lid=end.lid, group=end.group)
                for end in (frame.source, frame.destination)]
        by_lid = [None if end.group else self.directory.find(end) for end in ends]
        return tuple(single(owners(self.declared, endpoint, None, 2 * frame.ts)) for endpoint in by_lid)
