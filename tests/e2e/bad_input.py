"""Whatever the input, the answer is a sentence and an exit status: no crash, no hang, no half-written file."""

import fcntl
import gzip
import json
import os
import random
import re
import resource
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import termios
import time
from pathlib import Path

import harness
from harness import COMPLIANT, DATA, ENVIRONMENT, FAILED, NOT_EVIDENCED, VIOLATED, Run, WithFolder, fabtap, main, sound
from pcapfile import pcap_of, read_pcap

CAPTURE = DATA / "tenants" / "tenants-cotenancy.pcap"
MAP = DATA / "tenants" / "cotenancy-fine.map.json"
MEGABYTE = 1 << 20


def start(*arguments, **options):
    options = {"stdin": subprocess.DEVNULL, **options}
    return subprocess.Popen([harness.PROGRAM, *map(str, arguments)], env=ENVIRONMENT, stderr=subprocess.PIPE, **options)


def waits_for_more(process, size):
    """It has read `size` bytes of its standard input, a pipe, and catches signals."""
    caught = 0
    left = 1
    while left > 0 or not caught >> (signal.SIGINT - 1) & 1:
        time.sleep(0.01)
        left = struct.unpack("i", fcntl.ioctl(process.stdin, termios.FIONREAD, b"\0" * 4))[0] if size else 0
        status = Path("/proc/%d/status" % process.pid).read_text(encoding="ascii", errors="replace")
        caught = int(re.search(r"^SigCgt:\s*(\w+)", status, re.M).group(1), 16)


def peak_memory(*arguments):
    """The run and the most memory it held, in bytes."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen([harness.PROGRAM, *map(str, arguments)], env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=err)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        run = sound(Run(process.args, process.returncode, out.read(), err.read()))
    return run, used.ru_maxrss * 1024


class BadInput(WithFolder):
    def file(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def refused(self, run, *words):
        """Status 2, nothing on standard output, one line that names what is wrong."""
        self.assertEqual(run.status, FAILED, run)
        self.assertEqual(run.out, b"", run)
        self.one_line(run, *words)

    def one_line(self, run, *words):
        self.assertEqual(len(run.complaints()), 1, run)
        for word in words:
            self.assertIn(str(word), run.complaints()[0])


class BadCaptures(BadInput):
    def no_captures(self):
        noise = random.Random(1)
        yield "empty", b""
        yield "one byte", b"\xd4"
        yield "text", b"this is not a capture\n" * 40
        yield "half a magic number", b"\xd4\xc3\xb2"
        yield "unknown magic number", b"\xa1\xb2\xcd\x34" + bytes(60)
        yield "pcap of version 3", struct.pack("<IHHiIII", 0xA1B2C3D4, 3, 0, 0, 0, 65535, 1)
        yield "the map", MAP.read_bytes()
        yield "a program", Path(harness.PROGRAM).read_bytes()[:100000]
        for size in (16, 64, 1000, 5000):
            yield "%d random bytes" % size, b"\xff" + noise.randbytes(size)
        yield "an empty gzip", gzip.compress(b"")
        yield "text in gzip", gzip.compress(b"hello " * 100)
        yield "gzip in gzip", gzip.compress(gzip.compress(CAPTURE.read_bytes()))
        yield "gzip header only", gzip.compress(CAPTURE.read_bytes())[:10]
        yield "zstd header only", b"\x28\xb5\x2f\xfd"
        yield "zstd with a window of 2 GiB", b"\x28\xb5\x2f\xfd\x00\xa8" + bytes(100)

    def test_what_is_no_capture_is_refused_by_name(self):
        for what, data in self.no_captures():
            with self.subTest(what):
                path = self.file("input", data)
                self.refused(fabtap("decode", path), path)
                self.refused(fabtap("audit", "-m", MAP, path), path)

    def test_a_missing_file_and_a_directory_are_refused(self):
        for path in (self.folder / "missing.pcap", self.folder):
            self.refused(fabtap("decode", path), path)
            self.refused(fabtap("audit", "-m", MAP, path), path)
            self.refused(fabtap("audit", "-m", path, CAPTURE), path)

    def test_an_unreadable_file_is_refused(self):
        if os.geteuid() == 0:
            self.skipTest("root reads every file: the refusal of an unreadable one was not tried")
        path = self.file("secret.pcap", CAPTURE.read_bytes())
        path.chmod(0)
        self.refused(fabtap("decode", path), path)

    def cut_everywhere(self, source, step):
        data = source.read_bytes()
        whole = len(fabtap("decode", "--json", source).lines())
        for length in range(0, len(data), step):
            path = self.file("cut" + source.suffix, data[:length])
            run = fabtap("decode", "--json", path)
            with self.subTest("%s cut to %d bytes" % (source.name, length)):
                self.assertIn(run.status, (0, FAILED), run)
                self.assertLessEqual(len(run.lines()), whole)
                if run.status == FAILED:
                    self.one_line(run, path)
                else:
                    self.assertEqual(run.err, b"")

    def test_a_file_cut_at_any_length_is_read_up_to_there(self):
        self.cut_everywhere(DATA / "vectors" / "anchors_247.pcap", 1)
        self.cut_everywhere(DATA / "vectors" / "native.erf", 1)
        self.cut_everywhere(DATA / "vectors" / "multi.pcapng", 41)

    def test_changed_bytes_do_no_harm(self):
        noise = random.Random(2)
        for source in ("multi.pcapng", "erf.pcap", "native.erf", "encap_sflow.pcap", "usec_be.pcap"):
            data = (DATA / "vectors" / source).read_bytes()
            for _ in range(12):
                changed = bytearray(data)
                for _ in range(8):
                    changed[noise.randrange(len(changed))] = noise.randrange(256)
                run = fabtap("decode", "--json", self.file(source, changed))
                self.assertIn(run.status, (0, FAILED), run)
                run.lines()
                self.assertLessEqual(len(run.complaints()), 1, run)

    def test_a_record_length_is_never_believed(self):
        header, records = read_pcap(CAPTURE)
        huge = struct.pack("<IIII", 0, 0, 0xFFFFFFFF, 0xFFFFFFFF)
        path = self.file("huge.pcap", header + records[0] + huge + bytes(1000))
        run, memory = peak_memory("decode", "--json", path)
        self.assertEqual(run.status, FAILED)
        self.assertEqual(len(run.lines()), 1)
        self.one_line(run, path)
        _, usual = peak_memory("decode", "--json", CAPTURE)
        self.assertLess(memory, usual + 32 * MEGABYTE)

    def test_tunnels_nested_fifty_deep_are_a_malformed_packet(self):
        vxlan_frame, gre_frame = bytes(60), bytes(60)
        for _ in range(50):
            vxlan_frame = self.ethernet(self.ipv4(17, struct.pack(">HHHH", 50000, 4789, 16 + len(vxlan_frame), 0)
                                                  + b"\x08" + bytes(7) + vxlan_frame))
            gre_frame = self.ethernet(self.ipv4(47, struct.pack(">HH", 0, 0x6558) + gre_frame))
        tags = b"\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02" + b"\x81\x00\x00\x64" * 200 + b"\x08\x00"
        labels = b"\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02\x88\x47" + b"\x00\x01\x00\x40" * 200
        packets = fabtap("decode", "--json", self.file("deep.pcap", pcap_of([vxlan_frame, gre_frame, tags, labels]))).lines()
        self.assertEqual([packet["malformed"] for packet in packets],
                         ["tunnel_too_deep", "tunnel_too_deep", "vlan_too_deep", "mpls_too_deep"])

    @staticmethod
    def ethernet(payload):
        return b"\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02\x08\x00" + payload

    @staticmethod
    def ipv4(protocol, payload):
        return struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0,
                           bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])) + payload

    def test_any_bytes_as_packets_are_judged_without_an_error_line(self):
        noise = random.Random(3)
        for link_type in (1, 113, 197, 247, 276, 9999):
            frames = [noise.randbytes(noise.randrange(200)) for _ in range(400)]
            path = self.file("noise.pcap", pcap_of(frames, link_type))
            run = fabtap("decode", "-m", MAP, "--json", path)
            self.assertEqual((run.status, run.err), (0, b""), run)
            self.assertEqual(len({packet["frame"] for packet in run.lines()}), 400)
            run = fabtap("audit", "-m", MAP, "--json", path)
            self.assertEqual(run.err, b"")
            packets = sum(row["packets"] for row in run.json()["matrix"])
            self.assertEqual(packets + run.json()["coverage"]["duplicates"], 400)


class ManyCaptures(BadInput):
    """More captures than a shell lets a program open at once, as a ring of a day has, where the system allows them."""

    COUNT = 100

    def audit(self, most):
        def few_files():
            resource.setrlimit(resource.RLIMIT_NOFILE, (32, most))
        process = start("audit", "--json", "-m", MAP, *[CAPTURE] * self.COUNT, stdout=subprocess.PIPE,
                        preexec_fn=few_files)
        out, err = process.communicate(timeout=120)
        return sound(Run(process.args, process.returncode, out, err))

    def test_as_many_captures_are_merged_as_the_system_allows(self):
        run = self.audit(most=self.COUNT + 32)
        self.assertEqual(run.status, COMPLIANT, run)
        frames = len(read_pcap(CAPTURE)[1])
        self.assertEqual(run.json()["capture"]["frames"], self.COUNT * frames)

    def test_one_too_many_is_refused_by_name(self):
        self.refused(self.audit(most=32), CAPTURE.name, "Too many open files")


class Bombs(BadInput):
    def bounded(self, path, frames):
        """Read to the end, in memory that does not grow with what comes out."""
        _, usual = peak_memory("audit", "-m", MAP, "--json", CAPTURE)
        run, memory = peak_memory("audit", "-m", MAP, "--json", path)
        self.assertEqual(run.json()["capture"]["frames"], frames)
        self.assertLess(memory, usual + 64 * MEGABYTE)

    def big_capture(self):
        header, records = read_pcap(CAPTURE)
        return header, max(records, key=len), 200 * MEGABYTE

    def test_a_gzip_of_200_megabytes_is_read_in_bounded_memory(self):
        header, record, size = self.big_capture()
        path = self.folder / "bomb.pcap.gz"
        with gzip.open(path, "wb", compresslevel=1) as out:
            out.write(header)
            for _ in range(size // (len(record) * 1000)):
                out.write(record * 1000)
        self.bounded(path, size // (len(record) * 1000) * 1000)

    def test_a_zstd_of_200_megabytes_is_read_in_bounded_memory(self):
        if shutil.which("zstd") is None:
            self.skipTest("the program zstd is not installed: no zstd bomb could be made")
        header, record, size = self.big_capture()
        path = self.folder / "bomb.pcap.zst"
        with subprocess.Popen(["zstd", "-q", "-1", "-o", str(path)], stdin=subprocess.PIPE) as packer:
            packer.stdin.write(header)
            for _ in range(size // (len(record) * 1000)):
                packer.stdin.write(record * 1000)
        self.bounded(path, size // (len(record) * 1000) * 1000)


class Interrupted(BadInput):
    """Who stops a run over files gives it up; who stops what comes through a pipe wants the report of what came."""

    def setUp(self):
        super().setUp()
        self.capture = CAPTURE.read_bytes()
        self.half = len(self.capture) // 2

    def reading(self, *arguments):
        """A run that has read half of the capture from a pipe, and was interrupted."""
        process = start(*arguments, "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdin.write(self.capture[:self.half])
        process.stdin.flush()
        waits_for_more(process, self.half)
        process.send_signal(signal.SIGINT)
        return process

    def test_decode_says_after_how_many_frames_of_a_file_it_was_interrupted(self):
        header, records = read_pcap(CAPTURE)
        capture = self.file("large.pcap", header + max(records, key=len) * 50000)
        process = start("decode", capture, stdout=subprocess.PIPE)
        process.stdout.read(1)  # and nobody reads on: more lines than a pipe holds
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, FAILED)
        self.assertRegex(err.decode(), r"^fabtap: interrupted after \d+ frames: no line for the rest\n$")

    def test_what_a_pipe_still_brings_is_in_the_report(self):
        whole = fabtap("audit", "-m", MAP, "--json", "-", stdin=self.capture)
        for workers in ("1", "3"):
            process = self.reading("audit", "-m", MAP, "--json", "--workers", workers)
            out, err = process.communicate(self.capture[self.half:], timeout=120)
            self.assertEqual((process.returncode, out, err), (whole.status, whole.out, whole.err))

    def test_a_pipe_interrupted_before_it_brought_anything_is_read_as_well(self):
        process = start("flows", "--json", "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        waits_for_more(process, 0)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(self.capture, timeout=120)
        self.assertEqual((process.returncode, err), (COMPLIANT, b""))
        self.assertEqual(out, fabtap("flows", "--json", "-", stdin=self.capture).out)

    def test_a_writer_that_stays_keeps_nobody_waiting(self):
        for verb in (["audit", "-m", MAP, "--json"], ["decode"]):
            process = self.reading(*verb)
            process.wait(timeout=60)
            self.assertIn(process.returncode, (COMPLIANT, NOT_EVIDENCED))
            self.assertEqual(process.stderr.read(), b"")
            self.assertNotEqual(process.stdout.read(), b"")
            process.communicate()

    def test_the_second_interrupt_ends_at_once(self):
        process = self.reading("audit", "-m", MAP)
        time.sleep(0.2)  # two signals at a time are one
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT)
        process.communicate()

    def test_nothing_but_an_interrupt_is_no_capture(self):
        process = start("audit", "-m", MAP, "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        waits_for_more(process, 0)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
        self.assertEqual(process.returncode, FAILED)
        self.assertEqual(process.stderr.read(), b"fabtap: standard input: interrupted before a capture began\n")
        process.communicate()


class Terminals(BadInput):
    """What is no table fits the terminal."""

    def page(self, columns):
        ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        (self.folder / "c.pcap").write_bytes(CAPTURE.read_bytes()[:-1])
        (self.folder / "m.json").write_bytes(MAP.read_bytes())
        process = start("audit", "-m", "m.json", "c.pcap", stdout=theirs, cwd=self.folder)
        os.close(theirs)
        page = b""
        try:
            while chunk := os.read(ours, 65536):
                page += chunk
        except OSError:  # the other end was closed
            pass
        os.close(ours)
        process.communicate(timeout=60)
        text = re.sub(r"\x1b\[[0-9;]*[mK]", "", page.decode()).replace("\r", "")
        return [len(line) for line in text[:text.index("\nFINDINGS")].split("\n")]

    def test_a_narrow_one_has_shorter_lines_and_a_wide_one_the_usual_ones(self):
        for columns, fewest, most in ((40, 50, 60), (80, 70, 80), (200, 85, 100), (0, 85, 100)):
            longest = max(self.page(columns))
            self.assertTrue(fewest <= longest <= most, (columns, longest))


class BadOutputs(BadInput):
    def test_a_full_disk_is_an_error(self):
        for arguments in (["decode"], ["decode", "--json"], ["audit", "-m", MAP], ["audit", "-m", MAP, "--json"]):
            with open("/dev/full", "wb") as full:
                run = fabtap(*arguments, CAPTURE, stdout=full)
            self.assertEqual(run.status, FAILED, run)
            self.one_line(run)

    def test_verbs_of_maps_say_that_the_disk_is_full(self):
        for arguments in (["show", MAP], ["show", "--json", MAP], ["check", MAP], ["lint", MAP], ["convert", MAP]):
            with open("/dev/full", "wb") as full:
                run = fabtap("map", *arguments, stdout=full)
            self.assertEqual((run.status, run.complaints()), (FAILED, ["fabtap: standard output: No space left on device"]))

    def test_evidence_that_cannot_be_written_leaves_nothing_behind(self):
        capture, rules = DATA / "tenants" / "tenants-ib.pcap", DATA / "tenants" / "tenants-ib.map.json"

        def small_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        process = start("audit", "-m", rules, capture, "-w", self.folder / "evidence.pcapng", stdout=subprocess.PIPE,
                        preexec_fn=small_disk)
        out, err = process.communicate(timeout=120)
        run = sound(Run(process.args, process.returncode, out, err))
        self.assertEqual(run.status, FAILED, run)
        self.one_line(run, "evidence.pcapng")
        self.assertEqual(os.listdir(self.folder), [])
        self.assertIn(b"VIOLATED", run.out, "there is a report all the same")

    def test_a_complaint_stands_behind_what_was_printed_before(self):
        """Where both go to one place: not in the midst of a line of the document."""
        broken = DATA / "tenants" / "tenants-ib-broken.pcap"
        rules = DATA / "tenants" / "tenants-ib.map.json"
        for arguments in (("audit", "--json", "-m", rules), ("flows", "--json"), ("nccl", "--json")):
            command = [harness.PROGRAM, *map(str, arguments), str(broken)]
            done = subprocess.run(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=120, check=False)
            document, _, complaint = sound(Run(command, done.returncode, done.stdout, b"")).out.decode().rpartition("fabtap: ")
            self.assertIn("tenants-ib-broken.pcap: damaged at byte ", complaint)
            self.assertEqual(complaint.count("\n"), 1, complaint)
            self.assertTrue(document.endswith("}\n"), document[-80:])
            json.loads(document)

    def test_evidence_in_a_missing_folder_is_refused(self):
        target = self.folder / "nowhere" / "evidence.pcapng"
        run = fabtap("audit", "-m", MAP, CAPTURE, "-w", target)
        self.assertEqual(run.status, FAILED)
        self.one_line(run, target)

    def test_a_device_as_output_stays_a_device(self):
        node = self.folder / "full"
        try:
            os.mknod(node, stat.S_IFCHR | 0o666, os.makedev(1, 7))
            with open(node, "wb"):
                pass
        except OSError as error:
            self.skipTest("no device node could be made here (%s): a device as -w was not tried" % error)
        run = fabtap("audit", "-m", DATA / "tenants" / "tenants-ib.map.json", DATA / "tenants" / "tenants-ib.pcap", "-w", node)
        self.assertTrue(stat.S_ISCHR(node.stat().st_mode), "the device was replaced by a file")
        self.assertEqual(run.status, FAILED, run)

    def test_the_input_is_never_overwritten(self):
        copy = self.file("capture.pcap", CAPTURE.read_bytes())
        os.link(copy, self.folder / "hard.pcap")
        os.symlink(copy, self.folder / "soft.pcap")
        for target in ("capture.pcap", "hard.pcap", "soft.pcap"):
            run = fabtap("audit", "-m", MAP, copy, "-w", self.folder / target)
            self.assertEqual(run.status, FAILED, run)
            self.one_line(run, target)
            self.assertEqual(copy.read_bytes(), CAPTURE.read_bytes())
        rules = self.file("map.json", MAP.read_bytes())
        run = fabtap("audit", "-m", rules, CAPTURE, "-w", rules)
        self.assertEqual(run.status, FAILED, run)
        self.assertEqual(rules.read_bytes(), MAP.read_bytes())

    def test_a_closed_pipe_ends_the_program_quietly(self):
        big = self.file("big.pcap", self.repeated(20000))
        process = start("decode", "--json", big, stdout=subprocess.PIPE)
        process.stdout.read(1000)
        process.stdout.close()
        err = process.stderr.read()
        status = process.wait(timeout=60)
        process.stderr.close()
        self.assertIn(status, (-signal.SIGPIPE, 0, FAILED))
        self.assertLessEqual(len(err.splitlines()), 1, err)
        self.assertNotIn(b"Sanitizer", err)

    @staticmethod
    def repeated(count):
        header, records = read_pcap(CAPTURE)
        return header + b"".join(records[i % len(records)] for i in range(count))

    def changed_while_read(self, change):
        """Start reading a big file, hold the reader at a full pipe, change the file, read the rest."""
        path = self.file("changing.pcap", self.repeated(60000))
        process = start("decode", "--json", path, stdout=subprocess.PIPE)
        first = process.stdout.read(100)
        time.sleep(0.2)
        change(path)
        out = first + process.stdout.read()
        err = process.stderr.read()
        status = process.wait(timeout=120)
        process.stdout.close()
        process.stderr.close()
        return path, sound(Run(process.args, status, out, err))

    def test_a_file_that_shrinks_while_it_is_read_is_read_up_to_there(self):
        path, run = self.changed_while_read(lambda p: os.truncate(p, 2 * MEGABYTE + 12345))
        self.assertEqual(run.status, FAILED, run)
        self.one_line(run, path)
        self.assertGreater(len(run.lines()), 100)

    def test_a_file_that_shrinks_to_nothing_while_it_is_read_is_an_error(self):
        path, run = self.changed_while_read(lambda p: os.truncate(p, 0))
        self.assertEqual(run.status, FAILED, run)
        self.one_line(run, path)
        run.lines()

    def test_a_file_that_grows_while_it_is_read_does_no_harm(self):
        def grow(path):
            with open(path, "ab") as out:
                out.write(b"\xff" * 100000)
        path, run = self.changed_while_read(grow)
        self.assertIn(run.status, (0, FAILED), run)
        self.assertEqual(len(run.lines()), 60000)
        self.assertLessEqual(len(run.complaints()), 1)


class BadMaps(BadInput):
    def no_maps(self):
        noise = random.Random(4)
        text = MAP.read_text()
        document = json.loads(text)
        yield "text.json", b"{ this is no map"
        yield "list.json", b"[]"
        yield "nothing.json", b"{}"
        yield "deep.json", b"[" * 100000
        yield "deep-object.json", b'{"a":' * 100000
        yield "noise.json", b"{" + noise.randbytes(2000)
        yield "zeros.json", b"{" + bytes(1000)
        yield "twice.json", text.replace('"schema"', '"serial": 1, "serial": 2, "schema"', 1).encode()
        yield "unknown-key.json", text.replace('"schema"', '"scheme": 1, "schema"', 1).encode()
        yield "newer.json", text.replace("tapmap/1", "tapmap/2", 1).encode()
        yield "no-schema.json", json.dumps({k: v for k, v in document.items() if k != "schema"}).encode()
        yield "capture.json", CAPTURE.read_bytes()

    def test_what_is_no_map_is_refused_by_name(self):
        for name, data in self.no_maps():
            with self.subTest(name):
                path = self.file(name, data)
                self.refused(fabtap("audit", "-m", path, CAPTURE), path)
                self.assertEqual(fabtap("map", "check", path).status, FAILED)

    def test_a_map_cut_anywhere_is_refused(self):
        data = MAP.read_bytes().rstrip()
        for length in range(1, len(data), 23):
            path = self.file("cut.json", data[:length])
            self.refused(fabtap("decode", "-m", path, CAPTURE), path)

    def test_an_empty_map_is_what_opensm_makes_of_it(self):
        run = fabtap("audit", "-m", self.file("empty.conf", b""), "--json", CAPTURE)
        self.assertEqual(run.status, VIOLATED, run)
        finding = next(finding for finding in run.json()["findings"] if finding["rule"] == "map.fail-open")
        for verb in ("audit",), ("explain", finding["id"]):  # no line of it is to blame
            self.assertRegex(fabtap(*verb, "-m", self.folder / "empty.conf", CAPTURE).out.decode(), r"empty\.conf *\n", verb)

    def test_changed_bytes_in_a_partitions_file_do_no_harm(self):
        noise = random.Random(5)
        data = (DATA / "tenants" / "tenants-ib.partitions.conf").read_bytes()
        topology = (DATA / "tenants" / "ib-a" / "ibnetdiscover.txt").read_bytes()
        for turn in range(40):
            pieces = [bytearray(data), bytearray(topology)]
            for _ in range(5):
                piece = pieces[turn % 2]
                piece[noise.randrange(len(piece))] = noise.randrange(256)
            conf, net = self.file("partitions.conf", pieces[0]), self.file("ibnetdiscover.txt", pieces[1])
            run = fabtap("audit", "--map-format", "opensm", "-m", conf, "--topology", net, "--json",
                         DATA / "tenants" / "tenants-ib-lmc.pcap")
            if run.status == FAILED:
                self.one_line(run)
            else:
                self.assertIn(run.json()["verdict"], ("violated", "compliant", "not-evidenced"))

    def test_noise_as_topology_is_refused_by_name(self):
        conf = DATA / "tenants" / "tenants-ib.partitions.conf"
        for name, data in (("noise.txt", random.Random(6).randbytes(3000)), ("empty.txt", b""), ("map.txt", MAP.read_bytes())):
            path = self.file(name, data)
            self.refused(fabtap("audit", "-m", conf, "--topology", path, CAPTURE), path)


class BadOptions(BadInput):
    def test_wrong_options_are_refused_in_a_line_or_two(self):
        for arguments in (["nonsense"], ["--nonsense"], ["audit"], ["audit", CAPTURE], ["audit", "-m"], ["audit", "-m", MAP],
                          ["decode"], ["decode", "--nonsense", CAPTURE], ["decode", "-c", "many", CAPTURE],
                          ["decode", "-c", "-1", CAPTURE], ["decode", "-c", "99999999999999999999999", CAPTURE],
                          ["decode", "-T", "nonsense", CAPTURE], ["decode", "-T", "fields", "-e", "nonsense.field", CAPTURE],
                          ["audit", "-m", MAP, "-o", "nonsense", CAPTURE], ["explain"], ["map"], ["map", "nonsense", MAP],
                          ["audit", "-m", MAP, ""], ["audit", "-m", "", CAPTURE], ["decode", "A" * 100000],
                          ["decode", b"\xff\xfe.pcap"], ["audit", "--map-format", "nonsense", "-m", MAP, CAPTURE]):
            with self.subTest(str(arguments)[:80]):
                run = self.run_bytes(arguments)
                self.assertEqual(run.status, FAILED, run)
                self.assertEqual(run.out, b"")
                self.assertIn(len(run.complaints()), (1, 2), run)

    @staticmethod
    def run_bytes(arguments):
        command = [harness.PROGRAM, *[a if isinstance(a, bytes) else str(a) for a in arguments]]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=ENVIRONMENT, timeout=60, check=False)
        return sound(Run(command, done.returncode, done.stdout, done.stderr))

    def test_random_options_do_no_harm(self):
        noise = random.Random(7)
        self.file("map.json", MAP.read_bytes())
        self.file("capture.pcap", CAPTURE.read_bytes())
        words = ["audit", "decode", "explain", "map", "sources", "help", "-m", "map.json", "capture.pcap", "--json", "-o", "text", "-w",
                 "-c", "1", "-T", "fields", "-e", "frame.number", "--topology", "--key", "-r", "-", "--", "-h", "\x01\x02", "%s%n", ""]
        for _ in range(60):
            arguments = [noise.choice(words) for _ in range(noise.randrange(8))]
            command = [harness.PROGRAM, *arguments]
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=ENVIRONMENT, timeout=60,
                                  cwd=self.folder, check=False)
            sound(Run(command, done.returncode, done.stdout, done.stderr))


if __name__ == "__main__":
    main()
