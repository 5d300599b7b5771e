"""A mirror port, made of network namespaces: two hosts on a switch that copies their traffic to a tap interface."""

import ctypes
import functools
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import harness
from harness import WithFolder

CLONE_NEWNET = 0x40000000

# the search for leaks needs system calls that a live run has given up; unit tests search for them
ENVIRONMENT = {**harness.ENVIRONMENT, "ASAN_OPTIONS": "exitcode=99:detect_leaks=0"}

LIBC = ctypes.CDLL(None, use_errno=True)


def missing():
    """Why no mirror can be built here, or None."""
    if os.geteuid() != 0:
        return "building a mirror port needs root"
    for tool in ("ip", "tc"):
        if shutil.which(tool) is None:
            return "%s (iproute2) is not installed" % tool
    tried = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False)
    return None if tried.returncode == 0 else "network namespaces cannot be made here: %s" % tried.stderr.decode().strip()


@functools.cache
def left_out(kind):
    """What this build lacks to listen on sources of this kind, "pcap:" or "dpdk:", or None."""
    about = {device["source"]: device["about"] for device in harness.fabtap("sources", "--json").json()["devices"]}
    return about.get(kind)


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError("%s: %s" % (" ".join(map(str, command)), done.stderr.decode().strip()))
    return done.stdout


@contextmanager
def inside(namespace):
    """The calling thread is in the namespace; sockets opened there stay there."""
    with open("/proc/self/ns/net") as here, open("/run/netns/" + namespace) as there:
        if LIBC.setns(there.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
        try:
            yield
        finally:
            LIBC.setns(here.fileno(), CLONE_NEWNET)


class Mirror:
    """
    host a -- pa [switch] pb -- host b, and copies of what comes in at pa and pb, so of both directions once, go
    to mirror -- tap0 in the namespace `tap`. No interface says anything by itself.
    """

    def __init__(self):
        name = "ft%d" % os.getpid()
        self.a, self.b, self.switch, self.tap = (name + part for part in ("a", "b", "s", "t"))
        self.made, self.sockets = [], []
        try:
            self.build()
        except BaseException:
            self.close()
            raise

    def build(self):
        for namespace in (self.a, self.b, self.switch, self.tap):
            run("ip", "netns", "add", namespace)
            self.made.append(namespace)
            with inside(namespace):
                for where in ("all", "default"):
                    knob = Path("/proc/sys/net/ipv6/conf") / where / "disable_ipv6"
                    if knob.exists():
                        knob.write_text("1")
        self.link(self.switch, "pa", self.a, "eth0")
        self.link(self.switch, "pb", self.b, "eth0")
        self.link(self.switch, "mirror", self.tap, "tap0")
        self.ip(self.switch, "link", "add", "br0", "type", "bridge", "mcast_snooping", "0")
        for port in ("pa", "pb"):
            self.ip(self.switch, "link", "set", port, "master", "br0")
        self.up(self.switch, "br0")
        for port in ("pa", "pb"):
            self.copy(port, "mirror")
        self.sockets = [self.packet_socket(self.a, "eth0"), self.packet_socket(self.b, "eth0")]

    def close(self):
        for opened in self.sockets:
            opened.close()
        for namespace in self.made:
            subprocess.run(["ip", "netns", "delete", namespace], capture_output=True, check=False)

    def ip(self, namespace, *arguments):
        return run("ip", "-n", namespace, *arguments)

    def up(self, namespace, interface):
        self.ip(namespace, "link", "set", interface, "addrgenmode", "none", "arp", "off", "multicast", "off", "up")

    def link(self, here, interface, there, peer):
        self.ip(here, "link", "add", interface, "mtu", "9200", "type", "veth", "peer", "name", peer, "mtu", "9200",
                "netns", there)
        self.up(here, interface)
        self.up(there, peer)

    def copy(self, port, mirror):
        """What comes in at the port goes to that mirror port, and to no other."""
        run("tc", "-n", self.switch, "qdisc", "replace", "dev", port, "clsact")
        subprocess.run(["tc", "-n", self.switch, "filter", "del", "dev", port, "ingress"], capture_output=True,
                       check=False)
        run("tc", "-n", self.switch, "filter", "add", "dev", port, "ingress", "protocol", "all", "prio", "1",
            "u32", "match", "u32", "0", "0", "action", "mirred", "egress", "mirror", "dev", mirror)

    def packet_socket(self, namespace, interface):
        with inside(namespace):
            opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            opened.bind((interface, 0))
        return opened

    def counters(self, namespace, interface):
        (link,) = json.loads(self.ip(namespace, "-j", "-s", "link", "show", "dev", interface))
        return link["stats64"]

    def command(self, *words):
        """To run in the tap's namespace; the process is the command's own."""
        return ["ip", "netns", "exec", self.tap, *map(str, words)]

    def replay(self, frames, times=None):
        """Each frame from the host that its sender is (the first is a), at once or as far apart as they were."""
        first, start = frames[0][6:12], time.monotonic()
        for i, frame in enumerate(frames):
            if times is not None:
                time.sleep(max(0.0, start + times[i] - times[0] - time.monotonic()))
            self.sockets[0 if frame[6:12] == first else 1].send(frame)

    def sent_by_the_tap(self):
        """Frames that came back through the mirror port: there may be none."""
        return self.counters(self.switch, "mirror")["rx"]["packets"] + self.counters(self.tap, "tap0")["tx"]["packets"]


class Live:
    """A run of the program in the tap's namespace, from the moment on at which its sources receive."""

    SETTLE_S = 0.1  # what was said may be ahead of what was done

    def __init__(self, mirror, *arguments, settle=None):
        self.arguments = arguments
        self.process = subprocess.Popen(mirror.command(harness.PROGRAM, *arguments), env=ENVIRONMENT,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.said = b""
        while b"listening on " not in self.said:
            line = self.process.stderr.readline()
            if not line:
                break
            self.said += line
        time.sleep(self.SETTLE_S if settle is None else settle)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def signal(self, number):
        self.process.send_signal(number)

    def end(self, timeout=30):
        out, err = self.process.communicate(timeout=timeout)
        return harness.sound(harness.Run(self.arguments, self.process.returncode, out, self.said + err))

    def stop(self):
        self.signal(signal.SIGINT)
        return self.end()


class OnAMirror(WithFolder):
    """A mirror port and an empty folder for each test; skipped where there can be none, or the build lacks NEEDS."""

    NEEDS = "pcap:"

    def setUp(self):
        why = missing() or left_out(self.NEEDS)
        if why is not None:
            self.skipTest(why)
        super().setUp()
        self.mirror = Mirror()
        self.addCleanup(self.mirror.close)

    def run_in_tap(self, *arguments, prefix=()):
        command = self.mirror.command(*prefix, harness.PROGRAM, *arguments)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=ENVIRONMENT,
                              timeout=60, check=False)
        return harness.sound(harness.Run(arguments, done.returncode, done.stdout, done.stderr))


def records_of(path):
    """[(seconds, bytes)] of a little-endian Ethernet pcap of whole frames."""
    data, at, records = Path(path).read_bytes(), 24, []
    per_second = {0xA1B2C3D4: 1e6, 0xA1B23C4D: 1e9}[struct.unpack_from("<I", data)[0]]
    while at + 16 <= len(data):
        seconds, fraction, captured, original = struct.unpack_from("<IIII", data, at)
        assert captured == original, "%s holds cut frames" % path
        records.append((seconds + fraction / per_second, data[at + 16:at + 16 + captured]))
        at += 16 + captured
    return records


def frames_of(path):
    return [frame for _, frame in records_of(path)]
