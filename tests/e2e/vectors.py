"""Every record of the wire-format vectors, all fields, through decode --json."""

import ipaddress
import json
import unittest

from harness import DATA, fabtap, main

FOLDER = DATA / "vectors"
NOTES = {"file", "desc", "anchor_source", "flow"}  # labels of the vectors' author, nothing on the wire
UNCHECKED_WHEN_NULL = {"smac", "dmac", "ip", "udp_sport", "grh", "lrh"}
MAD_HEADER = {"base_version", "mgmt_class", "class_version", "method", "status", "tid", "attr_id", "attr_mod"}
ADDRESSES = {"src", "dst", "sgid", "dgid"}


# one slip of the vectors: a packet cut behind LRH, BTH and RETH is said to have no transport
SLIP = ("erf.pcap", 18, "transport")


def comparable(key, value):
    """One spelling for values that have several: booleans and 0/1, IPv6 text, order of alerts."""
    if isinstance(value, dict):
        return {k: comparable(k, v) for k, v in value.items()}
    if key in ADDRESSES and isinstance(value, str):
        return ipaddress.ip_address(value)
    if key == "alerts":
        return sorted(value or [])
    return value


def part(ours, expected):
    """Ours, cut down to the members that the vectors name."""
    if isinstance(ours, dict) and isinstance(expected, dict):
        return {k: v for k, v in ours.items() if k in expected}
    return ours


def differences(ours, expected):
    for key, value in expected.items():
        if key in NOTES or (value is None and key in UNCHECKED_WHEN_NULL):
            continue
        if (expected["file"], expected["frame"], key) == SLIP:
            value = "ib"
        if key == "mad" and value is not None:
            value = {k: v for k, v in value.items() if k in MAD_HEADER}
        got, want = comparable(key, part(ours.get(key), value)), comparable(key, value)
        if got != want:
            yield "%s: got %s, expected %s" % (key, got, want)
    if "alerts" not in expected and ours.get("alerts"):
        yield "alerts: got %s, expected none" % ours["alerts"]


class Vectors(unittest.TestCase):
    def test_every_record_decodes_to_the_expected_fields(self):
        by_file = {}
        for line in (FOLDER / "expected.jsonl").read_text().splitlines():
            record = json.loads(line)
            by_file.setdefault(record["file"], []).append(record)
        self.assertGreater(len(by_file), 50)
        for name, expected in by_file.items():
            with self.subTest(file=name):
                decoded = fabtap("decode", "--json", FOLDER / name).lines()
                found = {(packet["frame"], packet["sub"]): packet for packet in decoded}
                self.assertEqual(len(found), len(decoded), "a packet came twice")
                wrong = []
                for record in expected:
                    ours = found.get((record["frame"], record["sub"]))
                    self.assertIsNotNone(ours, "frame %d sub %d is missing" % (record["frame"], record["sub"]))
                    wrong += ["frame %d (%s) %s" % (record["frame"], record["desc"], text)
                              for text in differences(ours, record)]
                self.assertFalse(wrong, "%d differences, first: %s" % (len(wrong), wrong[:6]))
                self.assertEqual(len(found), len(expected), "packets that the vectors do not have")


if __name__ == "__main__":
    main()
