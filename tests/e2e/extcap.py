"""Wireshark's side of the sources: tshark lists fabtap's interfaces and captures from them on a mirror port."""

import json
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import harness
from harness import COMPLIANT, DATA, FAILED, WithFolder, fabtap, main
from live_pcap import Captured, is_roce, packets
from live_verbs import preloaded
from mirror import frames_of

CAPTURES = DATA / "captures"
TENANTS = DATA / "tenants"
TAP = "fabtap-pcap:tap0"
OPTION = "extcap.fabtap_pcap_tap0."  # as tshark calls the options of that interface
AT_ONCE_S = 0.25
STATISTICS = 5  # pcapng: the block with which a whole file ends


# the search for leaks needs system calls that the program has given up; unit tests search for them
ENVIRONMENT = {**harness.ENVIRONMENT, "ASAN_OPTIONS": "exitcode=99:detect_leaks=0"}


def settings(folder):
    """An environment in which Wireshark's settings and fabtap's link lie in the folder."""
    return {**ENVIRONMENT, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config")}


def need_tshark(test):
    if shutil.which("tshark") is None:
        test.skipTest("tshark is not installed")


def install(folder, **environment):
    done = subprocess.run([harness.PROGRAM, "sources", "--install-extcap"], env={**settings(folder), **environment},
                          timeout=60, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return harness.sound(harness.Run(["sources", "--install-extcap"], done.returncode, done.stdout, done.stderr))


def blocks(data):
    """Types of the blocks of a pcapng."""
    at, found = 0, []
    while at < len(data):
        found.append(int.from_bytes(data[at:at + 4], "little"))
        at += int.from_bytes(data[at + 4:at + 8], "little")
    return found


class Installed(WithFolder):
    def setUp(self):
        super().setUp()
        self.link = self.folder / "config" / "wireshark" / "extcap" / "fabtap"

    def test_the_program_is_linked_once(self):
        for word in ("now", "already"):
            run = install(self.folder)
            self.assertEqual((run.status, run.err), (COMPLIANT, b""), run)
            self.assertEqual(run.out.decode(), "%s links to %s %s\n" % (self.link, harness.PROGRAM, word))
            self.assertEqual(os.readlink(self.link), harness.PROGRAM)
        self.assertEqual([path.name for path in self.link.parent.iterdir()], ["fabtap"])

    def test_a_link_to_another_fabtap_is_replaced_and_nothing_else(self):
        self.link.parent.mkdir(parents=True)
        self.link.symlink_to("/opt/older/fabtap")
        self.assertEqual(install(self.folder).status, COMPLIANT)
        self.assertEqual(os.readlink(self.link), harness.PROGRAM)
        self.link.unlink()
        self.link.write_text("somebody's")
        self.refused()
        self.assertEqual(self.link.read_text(), "somebody's")
        self.link.unlink()
        self.link.symlink_to("/usr/bin/true")
        self.refused()
        self.assertEqual(os.readlink(self.link), "/usr/bin/true")

    def refused(self):
        run = install(self.folder)
        self.assertEqual((run.status, len(run.complaints())), (FAILED, 1), run)
        self.assertIn("%s is there already" % self.link, run.complaints()[0])

    def test_the_folder_is_the_one_that_tshark_names(self):
        named = self.folder / "lib" / "wireshark" / "extcap"
        tshark = self.folder / "bin" / "tshark"
        tshark.parent.mkdir()
        tshark.write_text("#!/bin/sh\n"
                          "[ \"$*\" = \"-G folders\" ] || exit 1\n"
                          "printf 'Personal configuration:\\t%s/config\\nPersonal Extcap path:\\t%s\\n'\n"
                          % (self.folder, named))
        tshark.chmod(0o755)
        self.assertEqual(install(self.folder, PATH=str(tshark.parent)).status, COMPLIANT)
        self.assertEqual(os.readlink(named / "fabtap"), harness.PROGRAM)
        self.assertFalse(self.link.exists())

    def test_without_tshark_the_environment_tells(self):
        for environment, link in (({}, self.link),
                                  ({"XDG_CONFIG_HOME": ""}, self.folder / ".config" / "wireshark" / "extcap" / "fabtap")):
            self.assertEqual(install(self.folder, PATH=str(self.folder), **environment).status, COMPLIANT)
            self.assertEqual(os.readlink(link), harness.PROGRAM)
        run = install(self.folder, PATH=str(self.folder), XDG_CONFIG_HOME="", HOME="")
        self.assertEqual((run.status, len(run.complaints())), (FAILED, 1), run)

    def test_tshark_lists_every_source_that_fabtap_lists(self):
        need_tshark(self)
        install(self.folder)
        done = subprocess.run(["tshark", "-D"], env=settings(self.folder), capture_output=True, timeout=60, check=True)
        listed = re.findall(r"^\d+\. (fabtap-\S+)", done.stdout.decode(), re.M)
        devices = [row["source"] for row in fabtap("sources", "--json").json()["devices"]]
        wanted = ["fabtap-" + name for name in devices if not name.endswith(":") and "=NAME" not in name]
        wanted += ["fabtap-dpdk"] * any("=NAME" in name for name in devices)
        self.assertEqual(sorted(listed), sorted(wanted))


class Answers(unittest.TestCase):
    """What Wireshark asks before a capture; nothing is opened for it."""

    def test_a_filter_is_checked_while_it_is_typed(self):
        for interface, expression, answer in (
                ("fabtap-pcap:lo", "udp port 4791", ""),
                ("fabtap-pcap:lo", "udp prot 4791", "pcap:lo: bad filter: "),
                ("fabtap-pcap:eth99", "vlan and udp", ""),
                ("fabtap-dpdk:0000:81:00.0", "udp", "dpdk:0000:81:00.0: takes no kernel filter"),
                ("fabtap-verbs:mlx5_0/1", "udp", "verbs:mlx5_0/1: takes no kernel filter")):
            with self.subTest(interface=interface, expression=expression):
                run = fabtap("--extcap-capture-filter", expression, "--extcap-interface", interface)
                self.assertEqual((run.status, run.err), (COMPLIANT, b""), run)
                lacks = b"this build has no" in run.out or b"cannot be loaded" in run.out
                if lacks:
                    self.skipTest(run.out.decode().strip())
                self.assertTrue(run.out.decode().startswith(answer) and bool(run.out) == bool(answer), run.out)

    def test_the_tenants_of_the_chosen_map_are_offered(self):
        policy = TENANTS / "tenants-segments.map.json"
        run = fabtap("--extcap-config", "--extcap-interface", "fabtap-pcap:lo", "--extcap-reload-option", "tenant", "--map",
                     policy)
        self.assertEqual((run.status, run.err), (COMPLIANT, b""), run)
        offered = re.findall(r"^value \{arg=\d+\}\{value=(.*?)\}", run.out.decode(), re.M)
        self.assertEqual(offered, [""] + [tenant["name"] for tenant in json.loads(policy.read_text())["tenants"]])

    def test_an_unknown_option_is_told_with_a_help_that_there_is(self):
        run = fabtap("--extcap-interfaces", "--bogus")
        self.assertEqual((run.status, run.complaints()),
                         (FAILED, ["fabtap: extcap: --bogus: no such option; see `fabtap help extcap`"]))
        run = fabtap("help", "extcap")
        self.assertEqual((run.status, run.err), (COMPLIANT, b""), run)
        self.assertIn(b"--extcap-interface NAME", run.out)

    def test_every_interface_has_options_and_a_link_type(self):
        names = re.findall(r"^interface \{value=(.*?)\}", fabtap("--extcap-interfaces", "--extcap-version=4.0").out.decode(),
                           re.M)
        for name in names:
            self.assertIn(b"{call=--map}", fabtap("--extcap-config", "--extcap-interface", name).out)
            self.assertTrue(fabtap("--extcap-dlts", "--extcap-interface", name).out.startswith(b"dlt {number="))


class Watched(Captured):
    """fabtap's interface in the hands of tshark."""

    def setUp(self):
        need_tshark(self)
        super().setUp()
        self.assertEqual(install(self.folder).status, COMPLIANT)
        self.path = self.folder / "seen.pcapng"

    def tshark(self, *options, interface=TAP):
        return subprocess.Popen(self.mirror.command("tshark", "-n", "-q", "-i", interface, "-w", self.path, *options),
                                env=settings(self.folder), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE)

    def seen(self, frames, *options, interface=TAP):
        """What tshark wrote of these frames."""
        process = self.tshark(*options, interface=interface)
        said = b""
        try:
            while b"Capture started" not in said:
                line = process.stderr.readline()
                self.assertTrue(line, "tshark ended: %s" % said.decode())
                said += line
            self.mirror.replay(frames)
            time.sleep(1.5)
            process.send_signal(signal.SIGINT)
            _, rest = process.communicate(timeout=30)
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()
        self.assertNotIn("rror", (said + rest).decode())
        return packets(self.path)

    def refused(self, *options, interface=TAP):
        """What is said of a capture that ends by itself, because it cannot be."""
        process = self.tshark(*options, interface=interface)
        try:
            _, said = process.communicate(timeout=30)
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()
        return said.decode()

    def fields(self, *names):
        wanted = [word for name in names for word in ("-e", name)]
        done = subprocess.run(["tshark", "-n", "-r", self.path, "-T", "fields", *wanted], env=settings(self.folder),
                              capture_output=True, timeout=60, check=True)
        return [line.split("\t") for line in done.stdout.decode().splitlines()]

    def test_frames_arrive_as_they_were_sent(self):
        frames = frames_of(CAPTURES / "rc-verbs-v4-mtu1024.pcap")
        self.assertEqual([packet[0] for packet in self.seen(frames)], frames)
        names = {tuple(row) for row in self.fields("frame.interface_name", "frame.interface_description")}
        ((name, description),) = names
        self.assertEqual(name, "pcap:tap0")
        self.assertTrue(description.startswith("libpcap 1."), description)
        self.assertEqual(self.mirror.sent_by_the_tap(), 0)

    def test_frames_are_cut_and_filtered_as_asked(self):
        frames = frames_of(CAPTURES / "rc-verbs-v4-mtu1024.pcap")
        found = self.seen(frames, "-f", "udp dst port 4791", "-o", OPTION + "snap:64")
        wanted = [frame for frame in frames if is_roce(frame)]
        self.assertEqual([packet[0] for packet in found], [frame[:64] for frame in wanted])
        self.assertEqual([packet[1] for packet in found], [len(frame) for frame in wanted])
        self.assertTrue(0 < len(wanted) < len(frames))

    def comments(self, *options):
        """Number of the frame -> its comment, of the tenants' traffic captured with the map."""
        policy = TENANTS / "tenants-segments.map.json"
        frames = frames_of(TENANTS / "tenants-segments.pcap")
        found = self.seen(frames, "-o", "%smap:%s" % (OPTION, policy), *options)
        rows = self.fields("frame.comment")
        self.assertEqual(len(rows), len(found))
        return [packet[0] for packet in found], [row[0] for row in rows], frames

    def test_what_violates_the_map_has_a_comment(self):
        truth = json.loads((TENANTS / "tenants-segments.json").read_text())
        found, comments, frames = self.comments()
        self.assertEqual(found, frames)
        open_ended = {row["frame"] for row in truth["either"]}
        wanted = {row["frame"]: row for row in truth["violating_frames"]}
        said = {number: text for number, text in enumerate(comments, 1) if text}
        self.assertEqual(set(said) - open_ended, set(wanted))
        for number, row in wanted.items():
            rules, tenants = re.fullmatch(r"([\w.,\s-]+) \((.+ to .+)\)", said[number]).groups()
            self.assertLessEqual(set(row["expected"]), set(rules.split(", ")))
            self.assertLessEqual(set(rules.split(", ")), set(row["rules"]))
        self.assertTrue(len(wanted) > 30)

    def test_only_violations_or_one_tenant_are_shown_if_asked(self):
        truth = json.loads((TENANTS / "tenants-segments.json").read_text())
        found, comments, frames = self.comments("-o", OPTION + "onlyviolations:true")
        violating = [frames[row["frame"] - 1] for row in truth["violating_frames"]]
        either = [frames[row["frame"] - 1] for row in truth["either"]]
        self.assertTrue(all(comments))
        self.assertEqual([frame for frame in found if frame not in either],
                         [frame for frame in violating if frame not in either])
        found, comments, frames = self.comments("-o", OPTION + "tenant:mgmt")
        wanted = sum(cell["packets"] for cell in truth["matrix"] if "mgmt" in (cell["from"], cell["to"]))
        self.assertTrue(0 < wanted < len(frames))
        self.assertEqual(len(found), wanted)

    def test_a_virtual_dpdk_device_is_named_as_an_option(self):
        if not any("=NAME" in row["source"] for row in fabtap("sources", "--json").json()["devices"]):
            self.skipTest("this build has no DPDK")
        option = "extcap.fabtap_dpdk."
        self.assertIn("no device given", self.refused(interface="fabtap-dpdk"))
        frames = frames_of(CAPTURES / "rc-verbs-v4-mtu1024.pcap")
        found = self.seen(frames, "-o", option + "device:net_af_packet0,iface=tap0", "-o", option + "allowtxqueue:true",
                          interface="fabtap-dpdk")
        self.assertEqual([packet[0] for packet in found], frames)

    def test_what_is_wrong_ends_the_capture_with_a_line(self):
        nowhere = self.folder / "nowhere.json"
        self.assertIn("%s: No such file" % nowhere, self.refused("-o", "%smap:%s" % (OPTION, nowhere)))
        self.assertIn("bad filter", self.refused("-f", "udp prot 4791"))
        self.assertIn("-s 5: not a number of bytes", self.refused("-o", OPTION + "snap:5"))
        self.assertIn("need a map", self.refused("-o", OPTION + "onlyviolations:true"))


    def test_two_sources_are_captured_together(self):
        self.mirror.link(self.mirror.switch, "mirror1", self.mirror.tap, "tap1")
        self.mirror.copy("pb", "mirror1")
        frames = frames_of(CAPTURES / "rc-verbs-v4-mtu1024.pcap")
        found = self.seen(frames, "-i", "fabtap-pcap:tap1")
        self.assertEqual(sorted(packet[0] for packet in found), sorted(frames))
        names = {row[0] for row in self.fields("frame.interface_name")}
        self.assertEqual(names, {"pcap:tap0", "pcap:tap1"})


class InfiniBand(unittest.TestCase):
    """Native InfiniBand, from a stand-in for an RDMA device."""

    def test_wireshark_decodes_it_from_the_lrh_on(self):
        need_tshark(self)
        if "FT_FAKE_VERBS_LIBRARY" not in os.environ:
            self.skipTest("no stand-in for RDMA devices: FT_FAKE_VERBS_LIBRARY is not set")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        folder = Path(folder.name)
        capture = TENANTS / "tenants-ib-clean.pcap"
        frames = frames_of(capture)
        program = folder / "config" / "wireshark" / "extcap" / "fabtap"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\nexec env LD_PRELOAD='%s' '%s' \"$@\"\n" % (preloaded(), harness.PROGRAM))
        program.chmod(0o755)
        environment = {**settings(folder), "FT_FAKE_VERBS": "frames=%s link=infiniband" % capture}
        done = subprocess.run(["tshark", "-n", "-i", "fabtap-verbs:mlx5_0/1", "-c", str(len(frames)), "-T", "fields",
                               "-e", "infiniband.lrh.slid", "-e", "infiniband.lrh.dlid", "-e", "frame.len"],
                              env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
        rows = [tuple(map(int, row.split("\t"))) for row in done.stdout.decode().splitlines()]
        wanted = [(int.from_bytes(frame[6:8], "big"), int.from_bytes(frame[2:4], "big"), len(frame))
                  for frame in frames]
        self.assertEqual(rows, wanted, done.stderr.decode())


class Fifo(Captured):
    """fabtap's side of a capture, with the test as the reader of the FIFO."""

    def setUp(self):
        super().setUp()
        self.fifo = self.folder / "fifo"
        os.mkfifo(self.fifo)
        self.frames = frames_of(CAPTURES / "rc-verbs-v4-mtu1024.pcap")

    def start(self, *options):
        self.process = subprocess.Popen(
            self.mirror.command(harness.PROGRAM, "--capture", "--extcap-interface", TAP, "--fifo", self.fifo, *options),
            env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.kill)
        reader = os.open(self.fifo, os.O_RDONLY)
        self.addCleanup(self.close, reader)
        return reader

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    @staticmethod
    def close(reader):
        try:
            os.close(reader)
        except OSError:
            pass

    def ended(self):
        out, err = self.process.communicate(timeout=20)
        self.assertEqual((out, err), (b"", b""))
        self.assertEqual(self.process.returncode, COMPLIANT)

    @staticmethod
    def read(reader, seconds):
        """What comes within that time; empty: nothing, or the end."""
        ready, _, _ = select.select([reader], [], [], seconds)
        return os.read(reader, 1 << 20) if ready else b""

    def test_the_file_begins_when_frames_are_received_and_each_is_there_at_once(self):
        reader = self.start()
        self.assertEqual(blocks(self.read(reader, 20)), [0x0a0d0d0a])
        for frame in self.frames[:3]:
            self.mirror.replay([frame])
            before = time.monotonic()
            self.assertIn(frame, self.read(reader, 5))
            self.assertLess(time.monotonic() - before, AT_ONCE_S)
            time.sleep(0.3)

    def test_a_frame_is_judged_and_there_at_once(self):
        reader = self.start("--map", TENANTS / "tenants-segments.map.json")
        self.assertEqual(blocks(self.read(reader, 20)), [0x0a0d0d0a])
        time.sleep(0.5)
        for frame in self.frames[:3]:
            self.mirror.replay([frame])
            before = time.monotonic()
            self.assertIn(frame, self.read(reader, 5))
            self.assertLess(time.monotonic() - before, AT_ONCE_S)
            time.sleep(0.3)

    def test_a_reader_that_leaves_ends_it_quietly(self):
        for options in ((), ("--map", TENANTS / "tenants-segments.map.json")):
            for busy in (False, True):
                with self.subTest(options=options, busy=busy):
                    reader = self.start(*options)
                    self.read(reader, 20)
                    self.close(reader)
                    if busy:
                        self.mirror.replay(self.frames)
                    self.ended()

    def test_a_reader_that_only_stays_holds_nothing_up(self):
        reader = self.start()
        self.read(reader, 20)
        self.mirror.replay(self.frames[:40] * 50)
        time.sleep(0.5)
        before = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.ended()
        self.assertLess(time.monotonic() - before, 10)

    def test_a_signal_ends_it_quietly_and_the_file_is_whole(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=number):
                reader = self.start()
                data = self.read(reader, 20)
                self.mirror.replay(self.frames)
                self.process.send_signal(number)
                while True:
                    more = self.read(reader, 20)
                    if not more:
                        break
                    data += more
                self.ended()
                self.assertEqual(blocks(data)[-1], STATISTICS)
                path = self.folder / "read.pcapng"
                path.write_bytes(data)
                self.assertEqual([packet[0] for packet in packets(path)], self.frames)
                self.close(reader)


if __name__ == "__main__":
    main()
