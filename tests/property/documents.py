"""What `audit` must say of a whole capture, summed up from what each frame was found to be."""

import collections

from endpoints import Endpoint, owners

SEVERITIES = {
    "pkey.invalid": {"medium"}, "pkey.default-used": {"medium"}, "spoof.address-mismatch": {"critical"},
    "tenant.crossing": {"critical", "high"},
}
VERDICTS = {"compliant": 0, "violated": 1, "not-evidenced": 3}


def text_to_ns(text):
    """Of a time of day on the day of the captures."""
    hours, minutes, seconds = text[11:-1].split(":")
    whole, fraction = seconds.split(".")
    return ((int(hours) * 60 + int(minutes)) * 60 + int(whole)) * 10**9 + int(fraction)


def sums(lines, captured, key):
    total = collections.defaultdict(lambda: [0, 0])
    for line, frame in zip(lines, captured):
        for value in key(line, frame):
            total[value][0] += 1
            total[value][1] += frame.wire_bytes
    return {value: tuple(counts) for value, counts in total.items()}


def rows(document, part, *names):
    return {tuple(row[name] for name in names): (row["packets"], row["bytes"]) for row in document[part]}


def pkey_readable(frame):
    return frame.rdma and not frame.broken and frame.cap >= frame.pkey_at


def exceptions_used(lines):
    """By tenant pair; of a frame that is undecided one may say it or not."""
    used = {(line["from"], line["to"], line["exception"], bool(line.get("undecided"))) for line in lines
            if line.get("exception") and not line.get("rules")}
    return {entry[:3] for entry in used if not entry[3]}, {entry[:3] for entry in used}


def shared_leaves(declared, first, last):
    """(tenant, tenant, leaf) that stand on one leaf at some instant and must not."""
    instants = [2 * first, *(2 * time for time in declared.boundaries() if first < time <= last)]
    apart = {frozenset((one, other)) for one, others in declared.unfriendly.items() for other in others}
    found = set()
    for when in instants:
        for port in (port for port in declared.ports if port.leaf is not None):
            mine = owners(declared, Endpoint(port), None, when)
            for other in (other for other in declared.ports if other.leaf == port.leaf):
                others = owners(declared, Endpoint(other), None, when)
                # a port of both is storage that they share
                found |= {(*sorted(two), port.leaf) for two in apart
                          if len(two & mine) == len(two & others) == 1 and two <= mine | others}
    return found


def check(document, status, declared, captured, lines):
    """Complaints about an audit document; lines: what `decode` said of each frame."""
    wrong = []

    def same(what, got, expected):
        if got != expected:
            wrong.append("%s: %s, not %s" % (what, got, expected))
    same("exit status", status, VERDICTS[document["verdict"]])
    same("matrix", rows(document, "matrix", "from", "to"), sums(lines, captured, lambda l, f: [(l["from"], l["to"])]))
    same("pkeys", rows(document, "pkeys", "pkey"),
         sums(lines, captured, lambda l, f: [("0x%04x" % f.pkey,)] if pkey_readable(f) else []))
    named = {(row["from"], row["to"], name) for row in document["matrix"] for name in row["exceptions"]}
    surely, perhaps = exceptions_used(lines)
    if not surely <= named <= perhaps:
        wrong.append("exceptions: %s, not %s" % (sorted(named), sorted(surely)))
    found = collections.Counter()
    for finding in document["findings"]:
        found[finding["rule"]] += finding["packets"]
        if finding["severity"] not in SEVERITIES.get(finding["rule"], {finding["severity"]}):
            wrong.append("severity of %s: %s" % (finding["rule"], finding["severity"]))
        times = [captured[number - 1].ts for number in finding["frames"]]
        if times and len(times) == finding["packets"]:
            day = 10**9 * 86400
            same("times of " + finding["id"], (text_to_ns(finding["first_ts"]), text_to_ns(finding["last_ts"])),
                 (min(times) % day, max(times) % day))
    broken = collections.Counter(rule for line in lines for rule in line.get("rules", []) + line.get("notes", []))
    for rule in {*found, *broken}:
        if rule.startswith(("pkey.", "tenant.", "spoof.")) and rule not in ("tenant.cotenancy", "tenant.grace"):
            same("packets of " + rule, found[rule], broken[rule])
    grace = sum(bool(line.get("grace")) for line in lines)
    same("packets of tenant.grace", found["tenant.grace"], grace)
    leaves = {(*sorted(f["tenants"]), f["leaf"]) for f in document["findings"] if f["rule"] == "tenant.cotenancy"}
    if not declared.segments:  # which of several segments own a port is left open
        same("leaves", leaves, shared_leaves(declared, captured[0].ts, captured[-1].ts))
    violated = any(rule != "tenant.grace" for rule in broken) or bool(leaves)
    if violated:
        same("verdict", document["verdict"], "violated")
    elif document["verdict"] == "violated" and all(finding["severity"] == "info" for finding in document["findings"]):
        wrong.append("violated without a finding")
    return wrong
