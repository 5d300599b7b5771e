"""libibverbs without a device: the program as it is, with a stand-in for RDMA devices preloaded (tests/fake/verbs)."""

import json
import os
import re
import subprocess
from pathlib import Path

import harness
from harness import COMPLIANT, DATA, FAILED, VIOLATED, WithFolder, fabtap, main
from live_pcap import packets
from mirror import frames_of

CAPTURES = DATA / "captures"
TENANTS = DATA / "tenants"
PORT = "verbs:mlx5_0/1"


def preloaded():
    """What LD_PRELOAD has to name: the stand-in, behind the sanitizer's library if the program has one."""
    linked = subprocess.run(["ldd", harness.PROGRAM], capture_output=True, check=True).stdout.decode()
    sanitizer = re.findall(r"(/\S*lib[a]san\S*)", linked)
    return " ".join([*sanitizer[:1], os.environ["FT_FAKE_VERBS_LIBRARY"]])


class WithDevices(WithFolder):
    def run_with(self, words, *arguments):
        """The devices behave as FT_FAKE_VERBS says; see fake_verbs.h."""
        # the search for leaks needs system calls that the program has given up; unit tests search for them
        environment = {**harness.ENVIRONMENT, "LD_PRELOAD": preloaded(), "ASAN_OPTIONS": "exitcode=99:detect_leaks=0",
                       "FT_FAKE_VERBS": "account=%s %s" % (self.folder / "account", words)}
        command = [harness.PROGRAM, *map(str, arguments)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=environment, timeout=60,
                              check=False)
        return harness.sound(harness.Run(command, done.returncode, done.stdout, done.stderr))

    def happened(self):
        return json.loads((self.folder / "account").read_text())


class Frames(WithDevices):
    def test_every_frame_is_captured_as_it_was_sent(self):
        for name in ("rc-verbs-v4-mtu4096", "vlan-v4", "roce-v6", "rocev1-rc-verbs", "rdmacm-pkey8002"):
            for words in ("burst=7", "burst=64 stamps=0", "burst=1 rate=100000"):
                with self.subTest(capture=name, words=words):
                    frames = frames_of(CAPTURES / (name + ".pcap"))
                    path = self.folder / "captured.pcapng"
                    run = self.run_with("frames=%s %s" % (CAPTURES / (name + ".pcap"), words), "capture", "-i", PORT,
                                        "-w", path, "-c", len(frames), "--json")
                    self.assertEqual(run.status, COMPLIANT, run)
                    found = packets(path)
                    self.assertEqual([packet[0] for packet in found], frames)
                    stamps = [packet[2] for packet in found]
                    self.assertEqual(stamps, sorted(stamps))
                    self.assertEqual(run.json()["coverage"]["lost_by"], [])
                    self.assertEqual(run.json()["capture"]["sources"][0]["kind"], "verbs")

    def test_frames_are_cut_before_they_reach_the_program(self):
        frames = frames_of(CAPTURES / "rc-verbs-v4-mtu4096.pcap")
        path = self.folder / "captured.pcapng"
        self.run_with("frames=%s" % (CAPTURES / "rc-verbs-v4-mtu4096.pcap"), "capture", "-i", PORT, "-w", path, "-s", 96,
                      "-c", len(frames))
        found = packets(path)
        self.assertEqual([packet[0] for packet in found], [frame[:96] for frame in frames])
        self.assertEqual([packet[1] for packet in found], [len(frame) for frame in frames])


class Audit(WithDevices):
    def test_a_live_audit_finds_what_an_audit_of_the_file_finds(self):
        for name, policy, link in (("tenants-segments", "tenants-segments", "ethernet"),
                                   ("tenants-pkey", "tenants-pkey", "ethernet"),
                                   ("tenants-ib-clean", "tenants-ib", "infiniband")):
            with self.subTest(capture=name):
                policy, capture = TENANTS / (policy + ".map.json"), TENANTS / (name + ".pcap")
                of_file = fabtap("audit", "-m", policy, "--json", capture).json()
                run = self.run_with("frames=%s link=%s" % (capture, link), "audit", "-i", PORT, "-m", policy, "--json",
                                    "-c", of_file["coverage"]["frames_seen"])
                found = run.json()
                self.assertEqual(self.findings(found), self.findings(of_file))
                self.assertEqual(found["verdict"], of_file["verdict"])
                self.assertIn(run.status, (COMPLIANT, VIOLATED))

    @staticmethod
    def findings(document):
        return [(finding["rule"], finding["severity"], finding["summary"]) for finding in document["findings"]]


class Account(WithDevices):
    CAPTURE = TENANTS / "tenants-segments-clean.pcap"

    def test_frames_lost_are_those_that_the_device_counts(self):
        flood = "burst=20000 repeat=1000 drop=1"
        for words in (flood, flood + " discard=9", flood + " link=infiniband counters=no-discards",
                      "burst=64 repeat=50 discard=9"):
            with self.subTest(words=words):
                run = self.run_with("frames=%s %s" % (self.CAPTURE, words), "capture", "-i", PORT,
                                    "-w", self.folder / "x.pcapng", "--json", "--duration", 2)
                (row,) = run.json()["coverage"]["lost_by"]
                self.assertEqual((row["method"], row["source"]), ("source-counter", PORT))
                self.assertEqual(row["frames"], self.happened()["dropped"])
                self.assertEqual(run.json()["capture"]["frames"], self.happened()["frames"])
                self.assertGreater(row["frames"], 1000)

    def test_losses_that_nobody_counts_are_not_none(self):
        # nor are those while a queue pair stood still
        for words in ("counters=none", "counters=no-discards", "burst=1 at=20:prot", "burst=1 at=20:qp-fatal stamps=0"):
            with self.subTest(words=words):
                run = self.run_with("frames=%s %s" % (self.CAPTURE, words), "capture", "-i", PORT,
                                    "-w", self.folder / "x.pcapng", "--json", "--duration", 1)
                (row,) = run.json()["coverage"]["lost_by"]
                self.assertEqual((row["method"], row["source"], row["frames"]), ("source-counter", PORT, None))
                self.assertGreaterEqual(run.json()["capture"]["frames"], len(frames_of(self.CAPTURE)) - 1)


class Wrong(WithDevices):
    CAPTURE = CAPTURES / "rc-verbs-v4-mtu1024.pcap"

    def test_a_device_that_vanishes_ends_the_run_with_what_was_seen(self):
        for how in ("fatal", "vanish", "cq-overrun"):
            with self.subTest(how=how):
                path = self.folder / "vanished.pcapng"
                run = self.run_with("frames=%s burst=1 at=20:%s" % (self.CAPTURE, how), "capture", "-i", PORT, "-w", path)
                self.assertEqual(run.status, FAILED, run)
                self.assertIn("%s: the device has vanished" % PORT, run.err.decode())
                self.assertEqual([packet[0] for packet in packets(path)], frames_of(self.CAPTURE)[:20])

    def test_what_cannot_be_had_is_said_in_one_line(self):
        for words, said in (("list=ENOSYS", "no RDMA devices: the kernel has no RDMA support"),
                            ("devices=mlx5_1:1", "no such RDMA device; there are: mlx5_1"),
                            ("open=EACCES", "cannot open /dev/infiniband/uverbs0: Permission denied"),
                            ("qp=EPERM", "needs CAP_NET_RAW"),
                            ("flow=EOPNOTSUPP", "sniffer flow refused"),
                            ("register=ENOMEM", "--buffer")):
            with self.subTest(words=words):
                run = self.run_with(words, "sources", "--test", PORT)
                self.assertEqual(run.status, FAILED, run)
                self.assertEqual(len(run.complaints()), 1, run)
                self.assertIn(PORT, run.complaints()[0])
                self.assertIn(said, run.complaints()[0])

    def test_this_machine_without_such_devices_says_so(self):
        if any(Path("/sys/class/infiniband").glob("*")):
            self.skipTest("this machine has RDMA devices: a machine without was not tried")
        run = fabtap("sources", "--test", PORT)
        self.assertEqual(run.status, FAILED, run)
        self.assertEqual(len(run.complaints()), 1, run)
        self.assertIn("RDMA devices", run.complaints()[0])


class Trial(WithDevices):
    def test_a_trial_says_what_came(self):
        frames = frames_of(CAPTURES / "rc-verbs-v4-mtu1024.pcap")
        run = self.run_with("frames=%s" % (CAPTURES / "rc-verbs-v4-mtu1024.pcap"), "sources", "--test", PORT, "--json")
        self.assertEqual(run.status, COMPLIANT, run)
        (trial,) = run.json()["trials"]
        self.assertEqual((trial["frames"], trial["bytes"]), (len(frames), sum(map(len, frames))))
        self.assertEqual((trial["works"], trial["kind"], trial["interface"]), (True, "verbs", "fake0"))
        self.assertEqual((trial["transmit_queues"], trial["lost"], trial["time_stamps"]), (0, 0, "adapter"))
        self.assertLess(trial["clock_error_ns"], 1000000)
        self.assertIn("P_Key 0x8001", trial["identities"])
        self.assertIn("GID 1 ::ffff:10.0.0.1, RoCE v2", trial["identities"])

    def test_a_trial_says_what_went_wrong_meanwhile(self):
        run = self.run_with("frames=%s burst=1 at=20:prot" % (CAPTURES / "rc-verbs-v4-mtu1024.pcap"), "sources", "--test",
                            PORT)
        self.assertEqual(run.status, COMPLIANT, run)
        self.assertIn("the queue pair stopped on an error", run.out.decode())

    def test_ports_are_listed(self):
        run = self.run_with("devices=mlx5_0:1,mlx5_1:2", "sources", "--json")
        listed = {device["source"]: device for device in run.json()["devices"]}
        for source in (PORT, "verbs:mlx5_1/1", "verbs:mlx5_1/2"):
            self.assertTrue(listed[source]["usable"])
            self.assertEqual(listed[source]["about"], "Ethernet, active, 400 Gbit/s")


if __name__ == "__main__":
    main()
