"""libpcap on a mirror port that the test builds: what the hosts sent is what is captured, audited and counted."""

import json
import os
import shutil
import signal
import struct
import subprocess
import time
from pathlib import Path

import harness
from harness import COMPLIANT, DATA, FAILED, VIOLATED, fabtap, main
from mirror import ENVIRONMENT, Live, OnAMirror, frames_of, records_of

CAPTURES = DATA / "captures"
TENANTS = DATA / "tenants"
TAP = "pcap:tap0"
FLOOD = 60000


def packets(path):
    """[(bytes, original length, time in ns)] of a pcapng that the program wrote."""
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            high, low, captured, original = struct.unpack_from("<IIII", data, at + 12)
            found.append((data[at + 28:at + 28 + captured], original, high << 32 | low))
        at += length
    return found


def is_roce(frame):
    return frame[12:14] == b"\x08\x00" and frame[23] == 17 and frame[36:38] == b"\x12\xb7"


def ipv4(protocol, payload):
    header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0, 0x4000, 64, protocol, 0,
                         b"\x0a\0\0\1", b"\x0a\0\x09\x09")
    total = sum(struct.unpack(">10H", header))
    total = (total & 0xffff) + (total >> 16)
    return header[:10] + struct.pack(">H", ~(total + (total >> 16)) & 0xffff) + header[12:] + payload


def wrapped(kind, frame, sequence):
    """The frame as a switch mirrors it to a far tap: ERSPAN type II, GRE with the whole frame, VXLAN."""
    if kind == "erspan":
        outer = ipv4(47, struct.pack(">HHIII", 0x1000, 0x88be, sequence, 0x10000000 | 42, 0) + frame)
    elif kind == "gre":
        outer = ipv4(47, struct.pack(">HH", 0, 0x6558) + frame)
    else:
        outer = ipv4(17, struct.pack(">HHHHII", 49152, 4789, 16 + len(frame), 0, 0x08000000, 42 << 8) + frame)
    return b"\x02\0\0\0\0\x99\x02\0\0\0\0\x01\x08\0" + outer


def pcap(records):
    header = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)
    return header + b"".join(struct.pack("<IIII", int(seconds), int(seconds % 1 * 1e9), len(frame), len(frame)) + frame
                             for seconds, frame in records)


class Captured(OnAMirror):
    def captured(self, frames, *options, source=TAP):
        """What `capture` wrote of these frames, and its account."""
        path = self.folder / "captured.pcapng"
        with Live(self.mirror, "capture", "-i", source, "-w", path, "--json", *options) as live:
            self.mirror.replay(frames)
            run = live.stop()
        self.assertEqual(run.status, COMPLIANT, run)
        return packets(path), run.json()

    def refused(self, *words, source=TAP, options=(), prefix=()):
        run = self.run_in_tap("sources", "--test", source, *options, prefix=prefix)
        self.assertEqual(run.status, FAILED, run)
        self.assertEqual(len(run.complaints()), 1, run)
        for word in words:
            self.assertIn(word, run.complaints()[0])


class Frames(Captured):
    def test_every_frame_is_captured_as_it_was_sent(self):
        for name in ("rc-verbs-v4-mtu4096", "vlan-v4", "roce-v6", "rocev1-rc-verbs", "rdmacm-pkey8002"):
            with self.subTest(capture=name):
                frames = frames_of(CAPTURES / (name + ".pcap"))
                before = time.time_ns()
                found, account = self.captured(frames)
                after = time.time_ns()
                self.assertEqual([packet[0] for packet in found], frames)
                self.assertEqual([packet[1] for packet in found], [len(frame) for frame in frames])
                stamps = [packet[2] for packet in found]
                self.assertEqual(stamps, sorted(stamps))
                self.assertTrue(before <= stamps[0] and stamps[-1] <= after)
                self.assertTrue(any(stamp % 1000 for stamp in stamps), "no stamp is finer than a microsecond")
                self.assertEqual(account["coverage"]["lost_by"], [])
        self.assertEqual(self.mirror.sent_by_the_tap(), 0)

    def test_the_kernel_cuts_frames_and_vlan_tags_count(self):
        frames = frames_of(CAPTURES / "vlan-v4.pcap")
        found, _ = self.captured(frames, "-s", "64")
        self.assertEqual([packet[0] for packet in found], [frame[:64] for frame in frames])
        self.assertEqual([packet[1] for packet in found], [len(frame) for frame in frames])

    def test_a_filter_keeps_what_it_names(self):
        frames = frames_of(CAPTURES / "rc-verbs-v4-mtu1024.pcap")
        found, _ = self.captured(frames, "-f", "udp dst port 4791")
        self.assertEqual([packet[0] for packet in found], [frame for frame in frames if is_roce(frame)])
        self.assertTrue(0 < len(found) < len(frames))

    def test_all_interfaces_at_once_keep_vlan_tags(self):
        frames = frames_of(CAPTURES / "vlan-v4.pcap")
        found, account = self.captured(frames, source="pcap:any")
        self.assertEqual(account["capture"]["sources"][0]["linktypes"], [113])
        self.assertEqual([packet[0][14:] for packet in found], [frame[12:] for frame in frames])

    def test_two_taps_are_merged_by_time(self):
        self.mirror.link(self.mirror.switch, "mirror1", self.mirror.tap, "tap1")
        self.mirror.copy("pb", "mirror1")
        frames = frames_of(CAPTURES / "rc-verbs-v4-mtu1024.pcap")
        found, account = self.captured(frames, "-i", "pcap:tap1")
        self.assertEqual([packet[0] for packet in found], frames)
        counts = [source["frames"] for source in account["capture"]["sources"]]
        self.assertEqual(sum(counts), len(frames))
        self.assertTrue(min(counts) > 0)


class Audit(Captured):
    COUNTS = ("frames_seen", "duplicates", "judged", "connections", "lost_by")

    def audited_alike(self, policy, path, records, *options):
        """Live and from the file: the same findings, the same account. The document."""
        of_file = fabtap("audit", "-m", policy, "--json", path)
        with Live(self.mirror, "audit", "-i", TAP, "-m", policy, "--json", *options) as live:
            self.mirror.replay([frame for _, frame in records], [seconds for seconds, _ in records])
            run = live.stop()
        self.assertEqual(run.status, of_file.status, run)
        self.assertIn(run.status, (COMPLIANT, VIOLATED))
        found, wanted = run.json(), of_file.json()
        self.assertEqual(self.findings(found), self.findings(wanted))
        self.assertEqual(found["verdict"], wanted["verdict"])
        for count in self.COUNTS:
            self.assertEqual(found["coverage"].get(count), wanted["coverage"].get(count), count)
        self.assertEqual(found["capture"]["frames"], len(records))
        self.assertEqual(self.mirror.sent_by_the_tap(), 0)
        return found

    def test_a_live_audit_finds_what_an_audit_of_the_file_finds(self):
        for name, policy in (("tenants-segments", "tenants-segments"), ("tenants-segments-clean", "tenants-segments"),
                             ("tenants-pkey", "tenants-pkey")):
            with self.subTest(capture=name):
                path = TENANTS / (name + ".pcap")
                self.audited_alike(TENANTS / (policy + ".map.json"), path, records_of(path))

    def test_several_workers_share_a_live_source(self):
        path = TENANTS / "tenants-pkey.pcap"
        self.audited_alike(TENANTS / "tenants-pkey.map.json", path, records_of(path), "--workers", "2")

    def test_encapsulated_mirrors_are_audited_alike(self):
        policy = TENANTS / "tenants-pkey.map.json"
        plain = records_of(TENANTS / "tenants-pkey.pcap")
        rules = {finding["rule"] for finding in
                 fabtap("audit", "-m", policy, "--json", TENANTS / "tenants-pkey.pcap").json()["findings"]}
        for kind in ("erspan", "gre", "vxlan"):
            with self.subTest(mirror=kind):
                records = [(seconds, wrapped(kind, frame, i)) for i, (seconds, frame) in enumerate(plain)]
                path = self.folder / (kind + ".pcap")
                path.write_bytes(pcap(records))
                found = self.audited_alike(policy, path, records)
                self.assertLessEqual(rules, {finding["rule"] for finding in found["findings"]})

    @staticmethod
    def findings(document):
        return [(finding["rule"], finding["severity"], finding["summary"]) for finding in document["findings"]]


class Account(Captured):
    def test_frames_that_did_not_fit_are_counted(self):
        frame = frames_of(CAPTURES / "rc-verbs-v4-mtu1024.pcap")[12]
        with Live(self.mirror, "capture", "-i", TAP, "-w", self.folder / "x.pcapng", "--json", "--buffer", "1M") as live:
            live.signal(signal.SIGSTOP)
            arrived = self.mirror.counters(self.mirror.tap, "tap0")["rx"]["packets"]
            self.mirror.replay([frame] * FLOOD)
            arrived = self.mirror.counters(self.mirror.tap, "tap0")["rx"]["packets"] - arrived
            live.signal(signal.SIGCONT)
            run = live.stop()
        self.assertEqual(run.status, COMPLIANT, run)
        document = run.json()
        (row,) = document["coverage"]["lost_by"]
        self.assertEqual((row["method"], row["source"]), ("source-counter", TAP))
        seen = document["capture"]["frames"]
        self.assertTrue(0 < seen < arrived / 2, "nothing to count was lost")
        self.assertAlmostEqual(row["frames"], arrived - seen, delta=(arrived - seen) / 100)

    def test_a_trial_says_what_came(self):
        frames = frames_of(CAPTURES / "rc-verbs-v4-mtu1024.pcap")
        process = subprocess.Popen(self.mirror.command(harness.PROGRAM, "sources", "--test", TAP, "--json"),
                                   env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.5)
        self.mirror.replay(frames)
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, err), (0, b""))
        (trial,) = json.loads(out)["trials"]
        self.assertEqual(trial["frames"], len(frames))
        self.assertEqual(trial["bytes"], sum(map(len, frames)))
        self.assertEqual((trial["works"], trial["kind"], trial["interface"]), (True, "pcap", "tap0"))
        self.assertEqual((trial["transmit_queues"], trial["lost"], trial["time_stamps"]), (0, 0, "kernel"))
        self.assertTrue(trial["driver"].startswith("libpcap 1."))


class Wrong(Captured):
    def test_an_interface_that_is_taken_down_ends_the_run_with_what_was_seen(self):
        self.vanishes("set", "tap0", "down")

    def test_an_interface_that_is_deleted_ends_the_run_with_what_was_seen(self):
        self.vanishes("delete", "tap0")

    def vanishes(self, *how):
        frames = frames_of(CAPTURES / "rc-verbs-v4-mtu1024.pcap")
        path = self.folder / "vanished.pcapng"
        with Live(self.mirror, "capture", "-i", TAP, "-w", path) as live:
            self.mirror.replay(frames)
            self.mirror.ip(self.mirror.tap, "link", *how)
            run = live.end()
        self.assertEqual(run.status, FAILED, run)
        self.assertIn("%s: the device has vanished" % TAP, run.err.decode())
        self.assertEqual([packet[0] for packet in packets(path)], frames)

    def test_what_cannot_be_opened_is_said_in_one_line(self):
        self.refused("pcap:eth9: no such interface", source="pcap:eth9")
        self.refused("pcap:: name an interface", source="pcap:")
        self.refused("%s: bad filter: " % TAP, "syntax error", options=("-f", "udp prot 4791"))
        self.refused("not a live source", source="tap0")
        self.mirror.ip(self.mirror.tap, "link", "set", "tap0", "down")
        self.refused("%s: the interface is down" % TAP, "ip link set tap0 addrgenmode none arp off multicast off promisc on up")

    def test_without_rights_it_says_what_is_missing(self):
        if shutil.which("setpriv") is None:
            self.skipTest("setpriv (util-linux) is not installed: a run without rights was not tried")
        program = self.folder / "fabtap"
        shutil.copy(harness.PROGRAM, program)
        shutil.copytree(Path(harness.PROGRAM).parent / "drivers", self.folder / "drivers")
        os.chmod(self.folder, 0o755)
        run = subprocess.run(self.mirror.command("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                                                 program, "sources", "--test", TAP),
                             env=ENVIRONMENT, capture_output=True, timeout=30, check=False)
        self.assertEqual(run.returncode, FAILED)
        self.assertEqual(len(run.stderr.decode().splitlines()), 1, run.stderr)
        self.assertIn("%s: needs CAP_NET_RAW" % TAP, run.stderr.decode())

    def test_interfaces_are_listed(self):
        document = self.run_in_tap("sources", "--json").json()
        listed = {device["source"]: device for device in document["devices"]}
        self.assertTrue(listed[TAP]["usable"])
        self.assertFalse(listed["pcap:lo"]["usable"])
        self.assertIn("down", listed["pcap:lo"]["about"])


if __name__ == "__main__":
    main()
