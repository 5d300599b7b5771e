"""What `probe passive` claims of a tap interface that the test builds, and who was heard through it meanwhile."""

import hashlib
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import harness
import live_verbs
from harness import COMPLIANT, DATA, FAILED, NOT_EVIDENCED, VIOLATED, WithFolder, fabtap, main
from mirror import ENVIRONMENT, Mirror, OnAMirror, frames_of, inside, left_out, missing

FRAMES = DATA / "captures" / "rc-verbs-v4-mtu1024.pcap"
FRAME = bytes.fromhex("020000000009 020000000007 8915") + bytes(50)


class Probing:
    """A run of `probe passive` in the tap's namespace, from when its source receives."""

    def __init__(self, mirror, source, *options):
        self.arguments = ("probe", "passive", source, *options)
        self.process = subprocess.Popen(mirror.command(harness.PROGRAM, *self.arguments), env=harness.ENVIRONMENT,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.said = b""
        while b"listening on " not in self.said:
            line = self.process.stderr.readline()
            if not line:
                break
            self.said += line

    def end(self):
        out, err = self.process.communicate(timeout=60)
        return harness.sound(harness.Run(self.arguments, self.process.returncode, out, self.said + err))


class Probed(OnAMirror):
    def probe(self, source, *options, meanwhile=lambda: None):
        run = Probing(self.mirror, source, *options)
        meanwhile()
        return run.end()

    def claim(self, source, *options, meanwhile=lambda: None, status=COMPLIANT):
        """The record of a run that ended with that status, one line of JSON."""
        run = self.probe(source, *options, meanwhile=meanwhile)
        self.assertEqual(run.status, status, run)
        self.assertEqual(run.out.count(b"\n"), 1)
        return run.json()

    def sent(self):
        return self.mirror.sent_by_the_tap()

    def somebody_sends(self):
        with inside(self.mirror.tap):
            other = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            other.bind(("tap0", 0))
        other.send(FRAME)
        other.close()


class Claims(Probed):
    def test_a_quiet_interface_is_consistent_while_traffic_arrives(self):
        frames = frames_of(FRAMES)
        record = self.claim("pcap:tap0", "--for", "1", meanwhile=lambda: self.mirror.replay(frames))
        self.assertEqual(record["verdict"], "consistent")
        self.assertEqual(record["reasons"], ["no-witness", "no-phy-counters"])
        self.assertEqual(record["source"]["frames"], len(frames))
        self.assertEqual(record["tx"]["netdev"], [0, 0])
        self.assertIsNone(record["tx"]["phy_packets"])
        self.assertIsNone(record["port"]["pci"])
        self.assertEqual(record["port"]["driver"], "veth")
        self.assertTrue(1e9 <= record["source"]["duration_ns"] < 2e9)
        self.assertEqual(self.sent(), 0)

    def test_the_receiving_process_has_no_rights(self):
        process = self.claim("pcap:tap0", "--for", "0.2")["process"]
        fds = process.pop("fds")
        self.assertEqual(process, {"caps": "0", "caps_bounding": "0", "no_new_privs": 1, "seccomp": 2, "nb_tx_queues": 0})
        self.assertEqual(fds["packet"], 1)
        self.assertFalse({"xdp", "udp", "tcp", "netlink", "raw"} & set(fds), fds)

    def test_the_record_names_the_machine_and_the_program(self):
        record = self.claim("pcap:tap0", "--for", "0.2")
        sha256 = lambda path: hashlib.sha256(Path(path).read_bytes()).hexdigest()
        self.assertEqual(record["binary"]["content_hash"], sha256(harness.PROGRAM))
        self.assertEqual(record["binary"]["path_hash"], hashlib.sha256(harness.PROGRAM.encode()).hexdigest())
        self.assertEqual(record["host"]["cmdline_hash"], sha256("/proc/cmdline"))
        self.assertEqual(record["host"]["kernel"], os.uname().release)
        self.assertEqual(record["boot_id"], Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        self.assertEqual((record["type"], record["seq"], record["prev"]), ("passivity", None, None))

    def test_the_filter_is_tried_on_this_kernel_and_not_on_the_tap(self):
        self.assertEqual(self.claim("pcap:tap0", "--for", "0.2")["self_test"],
                         {"tried_send": "in a network namespace of its own", "bypass_blocked": True})
        self.assertEqual(self.mirror.counters(self.mirror.tap, "lo")["tx"]["packets"], 0)
        self.assertEqual(self.sent(), 0)

    def test_settings_are_those_of_the_interface(self):
        settings = {row["name"]: row for row in self.claim("pcap:tap0", "--for", "0.2")["settings"]}
        for name, current in (("ipv4_addresses", "none"), ("disable_ipv6", "1"), ("addr_gen_mode", "none"), ("arp", "off"),
                              ("multicast", "off"), ("promiscuous", "on")):
            self.assertEqual((settings[name]["current"], settings[name]["ok"]), (current, True))
        self.assertIsNone(settings["pause_tx"]["ok"])

    def test_whoever_sends_on_the_interface_it_is_violated(self):
        record = self.claim("pcap:tap0", "--for", "0.5", meanwhile=self.somebody_sends, status=VIOLATED)
        self.assertEqual(record["verdict"], "violated")
        self.assertEqual(record["reasons"][:2], ["moved:netdev.tx_packets", "moved:netdev.tx_bytes"])
        self.assertEqual(record["tx"]["netdev"], [0, 1])

    def test_a_word_does_not_outweigh_a_counter(self):
        record = self.claim("pcap:tap0", "--for", "0.5", "--one-way", "ops", "--switch-rx", "7:7",
                            meanwhile=self.somebody_sends, status=VIOLATED)
        self.assertEqual(record["port"]["oneway_claim"]["by"], "ops")
        self.assertEqual(record["switch"]["rx_packets"], [7, 7])

    def test_frames_of_the_kernel_itself_count(self):
        """IPv6 that is on sends by itself when the interface comes up."""
        def speak():
            self.mirror.ip(self.mirror.tap, "link", "set", "tap0", "multicast", "on", "addrgenmode", "eui64")
            with inside(self.mirror.tap):
                Path("/proc/sys/net/ipv6/conf/tap0/disable_ipv6").write_text("0")
            time.sleep(1.5)
        if not Path("/proc/sys/net/ipv6").exists():
            self.skipTest("this kernel has no IPv6")
        record = self.claim("pcap:tap0", "--for", "2", meanwhile=speak, status=VIOLATED)
        self.assertGreater(record["tx"]["netdev"][1], 0)
        self.assertGreater(self.sent(), 0)

    def test_names_of_any_bytes_are_told(self):
        odd = os.fsdecode(b"t\xffp")
        self.mirror.ip(self.mirror.tap, "link", "set", "tap0", "name", odd)
        record = self.claim("pcap:" + odd, "--for", "0.2", "--one-way", os.fsdecode(b"J\xfcrg"))
        self.assertEqual((record["source"]["address"], record["port"]["interface"]), ("pcap:t?p", "t?p"))
        self.assertEqual(record["port"]["oneway_claim"]["by"], "J?rg")

    def test_an_interrupt_ends_the_time_early(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            probing = Probing(self.mirror, "pcap:tap0", "--for", "50")
            time.sleep(0.3)
            probing.process.send_signal(number)
            run = probing.end()
            self.assertEqual((run.status, run.json()["verdict"]), (COMPLIANT, "consistent"), run)
            self.assertLess(run.json()["source"]["duration_ns"], 5e9)

    def needs_dpdk(self):
        why = left_out("dpdk:")
        if why is not None:
            self.skipTest(why)

    def test_dpdk_over_packet_sockets_is_consistent(self):
        self.needs_dpdk()
        record = self.claim("dpdk:net_af_packet0,iface=tap0", "--for", "0.5")
        self.assertEqual((record["verdict"], record["process"]["nb_tx_queues"]), ("consistent", 0))
        self.assertEqual(self.sent(), 0)

    def test_a_transmit_queue_needs_consent_and_is_told(self):
        self.needs_dpdk()
        for namespace, interface in ((self.mirror.tap, "tap0"), (self.mirror.switch, "mirror")):
            self.mirror.ip(namespace, "link", "set", interface, "mtu", "1500")
        self.refused("dpdk:net_af_xdp0,iface=tap0", "--allow-tx-queue")
        record = self.claim("dpdk:net_af_xdp0,iface=tap0", "--for", "0.5", "--allow-tx-queue")
        self.assertEqual((record["verdict"], record["process"]["nb_tx_queues"]), ("consistent", 1))
        self.assertIn("transmit-queue", record["reasons"])
        self.assertEqual(record["process"]["fds"]["xdp"], 1)
        self.assertEqual(self.sent(), 0)

    def test_an_interface_that_vanishes_is_not_proved(self):
        record = self.claim("pcap:tap0", "--for", "20", status=NOT_EVIDENCED,
                            meanwhile=lambda: self.mirror.ip(self.mirror.tap, "link", "delete", "tap0"))
        self.assertIn("unreadable:netdev.tx_packets", record["reasons"])
        self.assertIn("source-ended", record["reasons"])
        self.assertEqual(record["tx"]["netdev"], [0, None])

    def test_all_interfaces_at_once_are_not_proved(self):
        record = self.claim("pcap:any", "--for", "0.2", status=NOT_EVIDENCED)
        self.assertIn("unreadable:netdev.tx_packets", record["reasons"])

    def refused(self, source, *words):
        run = self.probe(source, "--for", "0.2")
        self.assertEqual(run.status, FAILED, run)
        self.assertEqual((run.out, len(run.complaints())), (b"", 1), run)
        for word in words:
            self.assertIn(word, run.complaints()[0])

    def test_an_interface_that_is_not_there_is_one_line(self):
        self.refused("pcap:tap9", "pcap:tap9", "no such interface")


class SavedMachines(Probed):
    """Counters of a network card that is not here, saved in a folder, beside a source that is."""

    def setUp(self):
        super().setUp()
        self.root = self.folder / "machine"
        shutil.copytree(DATA / "machines" / "mlx5", self.root)

    def statistics(self, old, new):
        path = self.root / "ethtool" / "tap0" / "statistics"
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new))

    def test_counters_of_the_port_and_a_witness_are_proof(self):
        options = ("--for", "0.3", "--root", self.root)
        self.assertEqual(self.claim("pcap:tap0", *options)["verdict"], "consistent")
        for witness in (("--one-way", "ops"), ("--switch-rx", "5:5")):
            record = self.claim("pcap:tap0", *options, *witness)
            self.assertEqual(record["verdict"], "proved")
            self.assertEqual(record["tx"]["phy_packets"], [15, 15])

    def test_nobody_is_no_witness(self):
        for nobody in ("", " ", "\t\n"):
            run = self.probe("pcap:tap0", "--for", "0.3", "--root", self.root, "--one-way", nobody)
            self.assertEqual((run.status, run.out), (FAILED, b""), run)
            self.assertIn("--one-way", run.complaints()[0])

    def written_outside(self, *numbers):
        """A file that somebody writes anew every 0.3 s, with the next number, in the end the last one for ever."""
        path, left, stop = self.root / "switch-rx", list(numbers), threading.Event()

        def write():
            while not stop.wait(0.3):
                path.with_suffix(".new").write_text("%d\n" % (left.pop(0) if len(left) > 1 else left[0]))
                path.with_suffix(".new").rename(path)
        path.write_text("%d\n" % numbers[0])
        thread = threading.Thread(target=write)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(stop.set)
        return path

    def test_a_switch_that_counts_on_its_own_is_a_witness(self):
        path = self.written_outside(41)
        record = self.claim("pcap:tap0", "--for", "0.5", "--root", self.root, "--switch-rx", path)
        self.assertEqual((record["verdict"], record["switch"]["rx_packets"], record["switch"]["by"]),
                         ("proved", [41, 41], str(path)))

    def test_what_only_the_switch_saw_counts(self):
        path = self.written_outside(41, 41, 42)
        record = self.claim("pcap:tap0", "--for", "1.5", "--root", self.root, "--switch-rx", path, status=VIOLATED)
        self.assertEqual((record["reasons"], record["switch"]["rx_packets"]), (["moved:switch.rx_packets"], [41, 42]))

    def test_a_number_from_before_the_end_is_no_witness(self):
        path = self.root / "switch-rx"
        path.write_text("41\n")
        probing = Probing(self.mirror, "pcap:tap0", "--for", "0.5", "--root", self.root, "--switch-rx", path)
        time.sleep(2)
        self.assertIsNone(probing.process.poll(), "it did not wait for the file")
        probing.process.send_signal(signal.SIGINT)
        run = probing.end()
        self.assertEqual((run.status, run.json()["reasons"]), (NOT_EVIDENCED, ["unreadable:switch.rx_packets"]), run)

    def test_what_the_firmware_sends_is_seen(self):
        record = self.claim("pcap:tap0", "--for", "1", "--root", self.root, "--one-way", "ops", status=VIOLATED,
                            meanwhile=lambda: self.statistics("tx_packets_phy: 15", "tx_packets_phy: 16"))
        self.assertEqual(record["reasons"], ["moved:ethtool.tx_packets_phy"])

    def test_a_reset_is_not_proof(self):
        record = self.claim("pcap:tap0", "--for", "1", "--root", self.root, "--one-way", "ops", status=NOT_EVIDENCED,
                            meanwhile=lambda: self.statistics("tx_packets_phy: 15", "tx_packets_phy: 0"))
        self.assertEqual(record["reasons"], ["decreased:ethtool.tx_packets_phy"])


class RdmaPorts(live_verbs.WithDevices):
    """InfiniBand ports count for themselves; here their counters are in a folder, and the device is a stand-in."""

    def setUp(self):
        if "FT_FAKE_VERBS_LIBRARY" not in os.environ:
            self.skipTest("no stand-in for RDMA devices (FT_FAKE_VERBS_LIBRARY)")
        super().setUp()
        self.counters = self.folder / "sys/class/infiniband/mlx5_0/ports/1/counters"

    def claim(self, *options, status):
        run = self.run_with("frames=%s link=infiniband" % (DATA / "captures" / "mads.pcap"), "probe", "passive",
                            live_verbs.PORT, "--for", "0.3", *options)
        self.assertEqual(run.status, status, run)
        return run.json()

    def test_without_counters_nothing_is_proved(self):
        record = self.claim("--one-way", "ops", "--root", self.folder, status=NOT_EVIDENCED)
        self.assertEqual(record["reasons"], ["unreadable:infiniband.port_xmit_packets", "unreadable:infiniband.port_xmit_data"])

    def test_an_infiniband_port_is_known_by_its_own_counters(self):
        self.counters.mkdir(parents=True)
        for name in ("port_xmit_packets", "port_xmit_data"):
            (self.counters / name).write_text("1200\n")
        record = self.claim("--root", self.folder, status=COMPLIANT)
        self.assertEqual((record["verdict"], record["tx"]["infiniband"]), ("consistent", [1200, 1200]))
        self.assertEqual((record["process"]["caps"], record["process"]["seccomp"]), ("0", 2))
        self.assertEqual(self.claim("--root", self.folder, "--one-way", "ops", status=COMPLIANT)["verdict"], "proved")


class Warnings(Probed):
    def warnings(self, *arguments):
        command = self.mirror.command(harness.PROGRAM, *arguments)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=ENVIRONMENT,
                              timeout=60, check=False)
        run = harness.sound(harness.Run(arguments, done.returncode, done.stdout, done.stderr))
        return [line for line in run.complaints() if " interface " in line]

    def test_every_verb_warns_of_an_interface_that_speaks_and_says_what_to_do(self):
        live = ("-i", "pcap:tap0", "--duration", "0.1")
        policy = ("-m", DATA / "tenants" / "tenants-segments.map.json")
        verbs = (("audit", *live, *policy), ("flows", *live), ("decode", *live), ("capture", *live, "-w", "/dev/null"),
                 ("probe", "passive", "pcap:tap0", "--for", "0.1"), ("sources", "--test", "pcap:tap0", "--duration", "0.1"))
        for arguments in verbs:
            self.assertEqual(self.warnings(*arguments), [], arguments)
        self.mirror.ip(self.mirror.tap, "address", "add", "192.0.2.1/24", "dev", "tap0")
        self.mirror.ip(self.mirror.tap, "link", "set", "tap0", "arp", "on")
        for arguments in verbs:
            (warning,) = self.warnings(*arguments)
            self.assertTrue(warning.startswith("fabtap: pcap:tap0: interface tap0 "), warning)
            for words in ("192.0.2.1", "ARP is on", "`ip -4 address flush dev tap0; ip link set tap0 arp off`"):
                self.assertIn(words, warning)

    def test_what_a_warning_says_to_do_silences_it(self):
        self.mirror.ip(self.mirror.tap, "link", "set", "tap0", "arp", "on", "multicast", "on")
        self.mirror.ip(self.mirror.tap, "address", "add", "192.0.2.1/24", "dev", "tap0")
        with inside(self.mirror.tap):
            Path("/proc/sys/net/ipv6/conf/tap0/disable_ipv6").write_text("0")
        if shutil.which("sysctl") is None:
            self.skipTest("sysctl is not installed")
        arguments = ("probe", "passive", "pcap:tap0", "--for", "0.1")
        (warning,) = self.warnings(*arguments)
        commands = warning[warning.index("`") + 1:warning.rindex("`")]
        self.assertIn("sysctl", commands)
        subprocess.run(self.mirror.command("sh", "-c", commands), check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(self.warnings(*arguments), [])


class CommandLine(WithFolder):
    def test_bad_command_lines_are_one_line(self):
        for arguments in ((), ("silence",), ("passive",), ("passive", "pcap:a", "pcap:b"), ("passive", "x.pcap"),
                          ("passive", "pcap:a", "--for", "never"), ("passive", "pcap:a", "--switch-rx", "5"),
                          ("passive", "pcap:a", "--switch-rx", "/nowhere"), ("passive", "pcap:a", "--switch-rx", "/dev/null"),
                          ("passive", "pcap:a", "--root", "/nowhere"), ("passive", "pcap:a", "--bogus")):
            run = fabtap("probe", *arguments)
            self.assertEqual((run.status, run.out, len(run.complaints())), (FAILED, b"", 1), run)
            self.assertNotIn("-i", run.err.decode(), "it was not given")
        self.assertIn("fabtap probe passive SOURCE", fabtap("probe").err.decode())

    def test_a_user_with_the_capabilities_of_the_program_gets_the_same_record(self):
        """Set on the file, they make the process one that others of the same user may not look into."""
        why = missing() or left_out("pcap:") or next((tool + " is not installed" for tool in ("setcap", "setpriv") if not shutil.which(tool)), None)
        if why is not None:
            self.skipTest(why)
        mirror = Mirror()
        self.addCleanup(mirror.close)
        self.folder.chmod(0o755)
        program = shutil.copy2(harness.PROGRAM, self.folder)
        if (Path(harness.PROGRAM).parent / "drivers").is_dir():
            shutil.copytree(Path(harness.PROGRAM).parent / "drivers", self.folder / "drivers")
        subprocess.run(["setcap", "cap_net_raw,cap_net_admin+ep", program], check=True)
        done = subprocess.run(mirror.command("setpriv", "--reuid", "65534", "--clear-groups", "--inh-caps=-all", program,
                                             "probe", "passive", "pcap:tap0", "--for", "0.2"),
                              capture_output=True, env=ENVIRONMENT, check=False, timeout=60)
        record = harness.sound(harness.Run(program, done.returncode, done.stdout, done.stderr)).json()
        self.assertEqual((record["verdict"], record["process"]["caps"]), ("consistent", "0"), done.stderr)
        self.assertEqual(record["process"]["fds"]["packet"], 1)
        self.assertIsNone(record["self_test"], "no namespace can be made with these capabilities")

    def test_an_ordinary_user_is_told_what_is_missing(self):
        if shutil.which("setpriv") is None:
            self.skipTest("setpriv (util-linux) is not installed")
        done = subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all",
                               harness.PROGRAM, "probe", "passive", "pcap:lo", "--for", "0.1"], capture_output=True,
                              env=harness.ENVIRONMENT, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (FAILED, b""), done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)


if __name__ == "__main__":
    main()
