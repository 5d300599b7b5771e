"""Where two rows about one packet differ, and what of it the formats leave open."""

from second.model import INNERMOST_KEYS, RESULT_KEYS

ALL_KEYS = RESULT_KEYS + INNERMOST_KEYS + (
    "encap", "transport", "malformed", "truncated", "alerts", "mirror", "overlay", "trailer", "avsp", "erf", "link",
    "macctrl", "vlan_pcp", "rwh_ethertype", "fcs_ok", "ambiguous", "mad", "sub", "ts_ns", "linktype", "caplen", "wirelen")
MAD_KEYS = ("base_version", "mgmt_class", "class_version", "method", "status", "class_specific", "tid", "attr_id",
            "attr_mod")
NOT_IN_VECTORS = ("file", "frame", "sub", "desc", "flow", "anchor_source", "interface", "section", "epb_dir", "ts_ns",
                  "linktype", "caplen", "wirelen")
# null in a vector: not looked at
UNCHECKED_IF_NULL = INNERMOST_KEYS + ("transport",)


def expected_keys(row):
    """What the vector says something about; missing alerts mean none."""
    keys = [key for key in row if key not in NOT_IN_VECTORS and not (key in UNCHECKED_IF_NULL and row[key] is None)]
    return set(keys) | {"alerts"}


def _reduced(key, value):
    if key == "alerts":
        return sorted(value or [])
    if key == "mad" and value:
        return {name: value.get(name) for name in MAD_KEYS}
    return value


def differences(ours, theirs, keys):
    """Triples (key, ours, theirs)."""
    found = []
    for key in keys:
        mine, other = _reduced(key, ours.get(key)), _reduced(key, theirs.get(key))
        if mine != other:
            found.append((key, mine, other))
    return found


def open_point(item, row, counts):
    """True if the difference is one that OPEN_POINTS allows; counts it."""
    for name, allows in OPEN_POINTS.items():
        if allows(row, *item):
            counts[name] += 1
            return True
    return False


# Differences that are seen, counted and printed, and do not fail the test.
OPEN_POINTS = {
    "the time of an ERF record whose extension headers were cut":
        lambda row, key, ours, theirs: key == "ts_ns" and row["truncated"] == "erf",
}
