#!/usr/bin/env python3
"""The generated traffic is what reliable connections may send, and what it says it lost is what is missing.

usage: traffic_test.py BENCH_GENERATE
"""

import pathlib
import struct
import subprocess
import sys
import tempfile

FRAMES = 30000
PSN = 1 << 24
BTH = 14 + 20 + 8
WRITES = {0x06: "first", 0x07: "middle", 0x08: "last", 0x0a: "only"}
READ_REQUEST, ACKNOWLEDGE = 0x0c, 0x11
READ_RESPONSES = {0x0d: "first", 0x0e: "middle", 0x0f: "last", 0x10: "only"}
AFTER = {None: ("first", "only"), "first": ("middle", "last"), "middle": ("middle", "last")}


def records(path):
    """(seconds, nanoseconds, bytes) of a nanosecond pcap file."""
    file = path.read_bytes()
    at = 24
    while at < len(file):
        seconds, nanoseconds, captured, _ = struct.unpack_from("<4I", file, at)
        yield seconds, nanoseconds, file[at + 16:at + 16 + captured]
        at += 16 + captured


class Half:
    """One direction: what it asked for, and what of it waits for an answer."""

    def __init__(self):
        self.next_psn = self.ip_id = None
        self.message = self.answer = None  # part that went last, inside one
        self.completed = 0
        self.asked_at = None  # frame of the newest request
        self.reads = []  # [next PSN of the response, PSN behind it, MSN]

    def request(self, packet, payload):
        opcode, psn = packet[BTH], int.from_bytes(packet[BTH + 9:BTH + 12], "big")
        span = 1
        assert self.next_psn in (None, psn), f"PSN {psn} instead of {self.next_psn}"
        if opcode == READ_REQUEST:
            assert self.message is None, "a READ inside a message"
            span = -(-int.from_bytes(packet[BTH + 24:BTH + 28], "big") // payload)
        else:
            part = WRITES[opcode]
            assert part in AFTER[self.message], f"{part} after {self.message}"
            self.message = part if part in ("first", "middle") else None
        self.next_psn = (psn + span) % PSN
        if self.message is None:
            self.completed += 1
        if opcode == READ_REQUEST:
            self.reads.append([psn, self.next_psn, self.completed])

    def answered(self, peer, packet):
        opcode, psn = packet[BTH], int.from_bytes(packet[BTH + 9:BTH + 12], "big")
        msn = int.from_bytes(packet[BTH + 13:BTH + 16], "big")
        if opcode == ACKNOWLEDGE:
            assert not self.reads, "acknowledged before a READ was answered"
            assert psn == (self.next_psn - 1) % PSN and msn == self.completed, "an ACK of something else"
            return
        part = READ_RESPONSES[opcode]
        assert part in AFTER[peer.answer], f"READ response {part} after {peer.answer}"
        peer.answer = part if part in ("first", "middle") else None
        assert self.reads and psn == self.reads[0][0], "a READ response that nobody asked for"
        assert part == "middle" or msn == self.reads[0][2], "a READ response with another MSN"
        self.reads[0][0] = (psn + 1) % PSN
        if peer.answer is None:
            reached, end, _ = self.reads.pop(0)
            assert reached == end, "a READ response of another length"


def check(path, payload):
    halves, longest = {}, 0
    frames, before = 0, (0, 0)
    for seconds, nanoseconds, packet in records(path):
        flow = int.from_bytes(packet[BTH + 5:BTH + 8], "big")
        ends = packet[26:30], packet[30:34]
        half = halves.setdefault((ends, flow), Half())
        peer = halves.setdefault((ends[::-1], flow ^ 1), Half())
        ip_id = int.from_bytes(packet[18:20], "big")
        assert half.ip_id in (None, ip_id), "an IP identification was left out"
        half.ip_id = (ip_id + 1) % 65536
        assert (seconds, nanoseconds) >= before
        before = seconds, nanoseconds
        if packet[BTH] == ACKNOWLEDGE or packet[BTH] in READ_RESPONSES:
            peer.answered(half, packet)
            longest = max(longest, frames - peer.asked_at)
        else:
            half.request(packet, payload)
            half.asked_at = frames
        frames += 1
    return frames, halves, longest


def legal(generate, folder):
    for payload, options in ((1024, ["--flows", 100]), (64, ["--flows", 100]), (4096, ["--slice", 128]),
                             (1024, ["--flows", 4000]), (64, ["--in-turn", "--flows", 2000]),
                             (1024, ["--day", FRAMES, "--flows", 100])):
        path = folder / "legal.pcap"
        subprocess.run([generate, "traffic", "small", path, "--frames", str(FRAMES), "--payload", str(payload),
                        *map(str, options)], check=True)
        frames, halves, longest = check(path, payload)
        silent = sum(half.ip_id is None for half in halves.values())
        print(f"payload {payload}, {' '.join(map(str, options))}: {frames} frames, {len(halves)} halves, {silent} silent")
        assert frames == FRAMES
        if "--day" in options:
            assert longest <= 32, "an answer that no sender would have waited for"
        else:
            assert silent <= 64, "runs that nobody answered"


def losses(generate, folder):
    def make(*options):
        path = folder / "lossy.pcap"
        done = subprocess.run([generate, "traffic", "small", path, "--frames", str(FRAMES), "--payload", "64", *options],
                              check=True, text=True, stdout=subprocess.PIPE)
        return list(records(path)), done.stdout

    whole, said = make()
    assert said == ""
    for loss, burst in ((0.001, 1), (0.1, 1), (0.3, 1), (0.1, 20)):
        kept, said = make("--loss", str(loss), "--burst", str(burst))
        lost = len(whole) - len(kept)
        assert said == f"{lost} of {FRAMES} RDMA frames lost\n", said
        assert set(kept) <= set(whole) and kept == sorted(kept, key=lambda record: record[:2])
        # six standard deviations, of bursts
        assert abs(lost - loss * FRAMES) <= 6 * (loss * FRAMES * burst) ** 0.5, f"{lost} for {loss} in {burst}s"
        print(f"loss {loss} in bursts of {burst}: {lost} of {FRAMES}")


def main():
    with tempfile.TemporaryDirectory(prefix="fabtap-traffic-") as folder:
        legal(sys.argv[1], pathlib.Path(folder))
        losses(sys.argv[1], pathlib.Path(folder))


if __name__ == "__main__":
    main()
