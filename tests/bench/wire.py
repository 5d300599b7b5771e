"""A wire to capture from, programs that write what comes to a file, and how many frames are in it."""

import contextlib
import json
import mmap
import os
import signal
import struct
import subprocess
import threading
import time
import typing

import measure

OFFERED = 1500000  # frames
PATIENCE_S = 60
SETTLE_S = 1  # from "listening" on, and after the last frame
SLICES = ["--flows", 1000, "--payload", 4096, "--slice", 128]
ENHANCED_PACKET = 6


def frames_in(path):
    """Of a pcap or pcapng, up to where it breaks off."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return 0
        with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
            return packet_blocks(data) if data[:4] == b"\x0a\x0d\x0d\x0a" else pcap_records(data)


def packet_blocks(data):
    at = count = 0
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("<II", data, at)
        at += length
        if length < 12 or at > len(data):
            break
        count += kind == ENHANCED_PACKET
    return count


def pcap_records(data):
    at, count = 24, 0
    while at + 16 <= len(data):
        at += 16 + struct.unpack_from("<I", data, at + 8)[0]
        count += at <= len(data)
    return count


class Recorded(typing.NamedTuple):
    offered: int
    kept: int
    cpu_s: float
    peak_kib: int

    @property
    def lost_percent(self):
        return 100 * (1 - self.kept / self.offered)


def begun(command, word=b"listening", environment=None):
    """A program that runs, once it has said the word on standard error."""
    process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, env={**os.environ, **(environment or {})})
    said = b""
    with impatient(process):
        while word not in said:
            line = process.stderr.readline()
            if not line:
                process.wait()
                raise measure.Failure(f"{' '.join(map(str, command))}: {said.decode().strip()}")
            said += line
    return process


@contextlib.contextmanager
def impatient(process):
    """What does not end in time is killed: then what is asked of it comes to an end, too."""
    timer = threading.Timer(PATIENCE_S, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def ended(process, number=signal.SIGINT):
    """Its processor time and its peak."""
    if number is not None:
        process.send_signal(number)
    with impatient(process):
        process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
    process.stderr.close()
    if os.WIFSIGNALED(status):
        raise measure.Failure(f"{process.args[0]} did not end")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


class Wire:
    """A pair of interfaces in namespaces of their own, of which one is listened to: nothing else is on it."""

    def __init__(self, bench):
        self.near, self.far = (f"ftbench{os.getpid()}{end}" for end in "nf")
        self.offer = bench.program("tests/bench/bench_offer")
        self.path = bench.folder / "kept"
        self.capture = bench.make("traffic", "small", "--frames", 60000, *SLICES)

    def __enter__(self):
        try:
            for namespace in (self.near, self.far):
                self.ip("netns", "add", namespace)
                self.ip("netns", "exec", namespace, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
            self.ip("-n", self.far, "link", "add", "far0", "type", "veth", "peer", "name", "tap0", "netns", self.near)
            for namespace, interface in ((self.far, "far0"), (self.near, "tap0")):
                self.ip("-n", namespace, "link", "set", interface, "arp", "off", "multicast", "off", "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error):
        for namespace in (self.near, self.far):
            subprocess.run(["ip", "netns", "delete", namespace], capture_output=True, check=False)

    @staticmethod
    def ip(*words):
        done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise measure.Failure(f"ip {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def arrived(self):
        return json.loads(self.ip("-n", self.near, "-j", "-s", "link", "show", "tap0"))[0]["stats64"]["rx"]["packets"]

    def inside(self):
        """What to put before a command that is to see tap0."""
        return ["ip", "netns", "exec", self.near]

    def recorded(self, command, per_second, *begin):
        """What a program that takes -w keeps of the frames that are offered to it; `begin` as begun() takes it."""
        process = begun([*self.inside(), *command, "-w", self.path], *begin)
        try:
            time.sleep(SETTLE_S)
            before = self.arrived()
            self.ip("netns", "exec", self.far, self.offer, "far0", self.capture, str(OFFERED), str(per_second))
            time.sleep(SETTLE_S)
            offered = self.arrived() - before
        except BaseException:
            process.kill()
            raise
        cpu_s, peak_kib = ended(process)
        recorded = Recorded(offered, frames_in(self.path), cpu_s, peak_kib)
        self.path.unlink()
        return recorded
