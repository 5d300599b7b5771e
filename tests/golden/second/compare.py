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
# two names of one header that no vector decides between
SYNONYMS = {"erspan2": "erspan", "erspan3": "erspan", "sflow5": "sflow", "sll2": "sll"}


def expected_keys(row):
    """What the vector says something about; missing alerts mean none."""
    keys = [key for key in row if key not in NOT_IN_VECTORS and not (key in UNCHECKED_IF_NULL and row[key] is None)]
    return set(keys) | {"alerts"}


def _reduced(key, value):
    if key == "alerts":
        return sorted(value or [])
    if key == "mad" and value:
        return {name: value.get(name) for name in MAD_KEYS}
    if key == "truncated":
        return SYNONYMS.get(value, value)
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


def _header_unread(row, key, ours, theirs):
    """Our dictionary stops at what GRE said; theirs goes on with zeros for a header nobody read."""
    if key not in ("mirror", "overlay") or not ours or not theirs or not set(ours) <= {"kind", "seq", "key"}:
        return False
    added = [value for name, value in theirs.items() if name not in ours]
    return all(theirs.get(name) == value for name, value in ours.items()) and set(added) <= {0, "ingress"}


def _mirrored_vcrc(row, key, ours, theirs):
    return "mirror1123" in row["encap"] and (key in ("vcrc", "vcrc_ok") and ours is None or theirs == "bad_vcrc")


# Differences that are seen, counted and printed, and do not fail the test.
OPEN_POINTS = {
    "the time of an ERF record whose extension headers were cut":
        lambda row, key, ours, theirs: key == "ts_ns" and row["truncated"] == "erf",
    "zeros for an ERSPAN header that was cut or refused": _header_unread,
    "a VCRC between a mirrored InfiniBand packet and the VCRC of its mirror": _mirrored_vcrc,
    "priorities of the VLAN tags in front of an Arista time stamp":
        lambda row, key, ours, theirs: key == "vlan_pcp" and "avsp" in row["encap"],
    "pad bytes that are not zero when the ICRC was cut":
        lambda row, key, ours, theirs:
            key == "alerts" and set(ours) - set(theirs) == {"pad_nonzero"} and row["truncated"] == "icrc",
    "sender of a cooked capture that states no six-byte address":
        lambda row, key, ours, theirs: key == "smac" and ours is None and row["encap"][:1] in (["sll"], ["sll2"]),
    "ERSPAN III with IP inside of which nothing was captured":
        lambda row, key, ours, theirs: key == "truncated" and row["encap"][-1:] == ["erspan3"] and theirs is None,
    "a trailer's time when the capture clock stands near 1970":
        lambda row, key, ours, theirs: key == "trailer" and row["ts_ns"] < 8 * 86400 * 10 ** 9 and theirs["ts_ns"] == 0,
}
