#!/usr/bin/env python3
"""The generated traffic is what reliable connections may send, NCCL's rings among them; what it says it lost is missing.

usage: traffic_test.py BENCH_GENERATE
"""

import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

FRAMES = 30000
PSN = 1 << 24
IP, UDP, LRH = 14, 34, 8  # where, where, how long
WRITES = {0x06: "first", 0x07: "middle", 0x08: "last", 0x0a: "only"}
READ_REQUEST, ACKNOWLEDGE = 0x0c, 0x11
FIRST_QP = 256
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


def lengths(path):
    """How long each frame was, whatever is kept of it."""
    file = path.read_bytes()
    at = 24
    while at < len(file):
        captured, original = struct.unpack_from("<2I", file, at + 8)
        yield original
        at += 16 + captured


def is_native(path):
    return path.read_bytes()[20:24] == struct.pack("<I", 247)


def parts(frame, native):
    """Whose it is, its IP identification, and what there is of it from the BTH on."""
    if native:
        return (frame[6:8], frame[2:4]), None, frame[LRH:]
    return (frame[26:30], frame[30:34]), int.from_bytes(frame[18:20], "big"), frame[UDP + 8:]


class Half:
    """One direction: what it asked for, and what of it waits for an answer."""

    def __init__(self):
        self.next_psn = self.ip_id = None
        self.message = self.answer = None  # part that went last, inside one
        self.completed = self.frames = 0
        self.asked_at = None  # frame of the newest request
        self.reads = []  # [next PSN of the response, PSN behind it, MSN]

    def request(self, packet, payload):
        opcode, psn = packet[0], int.from_bytes(packet[9:12], "big")
        span = 1
        assert self.next_psn in (None, psn), f"PSN {psn} instead of {self.next_psn}"
        if opcode == READ_REQUEST:
            assert self.message is None, "a READ inside a message"
            span = -(-int.from_bytes(packet[24:28], "big") // payload)
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
        opcode, psn = packet[0], int.from_bytes(packet[9:12], "big")
        msn = int.from_bytes(packet[13:16], "big")
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
    frames, before, native = 0, (0, 0), is_native(path)
    for seconds, nanoseconds, frame in records(path):
        ends, ip_id, packet = parts(frame, native)
        flow = int.from_bytes(packet[5:8], "big")
        half = halves.setdefault((ends, flow), Half())
        peer = halves.setdefault((ends[::-1], flow ^ 1), Half())
        half.frames += 1
        if not native:
            assert half.ip_id in (None, ip_id), "an IP identification was left out"
            half.ip_id = (ip_id + 1) % 65536
        assert (seconds, nanoseconds) >= before
        before = seconds, nanoseconds
        if packet[0] == ACKNOWLEDGE or packet[0] in READ_RESPONSES:
            peer.answered(half, packet)
            longest = max(longest, frames - peer.asked_at)
        else:
            half.request(packet, payload)
            half.asked_at = frames
        frames += 1
    return frames, halves, longest


def legal(generate, folder):
    for site, payload, options in (
            ("small", 1024, ["--flows", 100]), ("small", 64, ["--flows", 100]), ("small", 4096, ["--slice", 128]),
            ("small", 1024, ["--flows", 4000]), ("small", 64, ["--in-turn", "--flows", 2000]),
            ("small", 1024, ["--day", FRAMES, "--flows", 100]),
            ("native", 1024, ["--flows", 100]), ("native", 4096, ["--slice", 128])):
        path = folder / "legal.pcap"
        subprocess.run([generate, "traffic", site, path, "--frames", str(FRAMES), "--payload", str(payload),
                        *map(str, options)], check=True)
        frames, halves, longest = check(path, payload)
        silent = sum(half.frames == 0 for half in halves.values())
        print(f"{site}, payload {payload}, {' '.join(map(str, options))}: {frames} frames, {len(halves)} halves, {silent} silent")
        assert frames == FRAMES
        if "--day" in options:
            assert longest <= 32, "an answer that no sender would have waited for"
        else:
            assert silent <= 64, "runs that nobody answered"


def masked(frame, native):
    """What an ICRC covers, with ones where fields change on the way (IBA vol. 1, 7.8.1 and annex A17)."""
    covered = bytearray(frame if native else b"\xff" * 8 + frame[IP:])
    if native:
        covered[0] |= 0xf0  # VL
    for at in [LRH + 4] if native else [8 + 1, 8 + 8, 8 + 10, 8 + 11, 28 + 6, 28 + 7, 36 + 4]:
        covered[at] = 0xff  # BTH; TOS, TTL and checksums of IP and UDP
    return covered[:-4]


def checksums(generate, folder):
    for site in ("small", "native"):
        for payload in (64, 1024):
            path = folder / "whole.pcap"
            subprocess.run([generate, "traffic", site, path, "--frames", "2000", "--payload", str(payload)], check=True)
            native = is_native(path)
            assert native == (site == "native")
            for _, _, frame in records(path):
                length = int.from_bytes(frame[4:6] if native else frame[16:18], "big")
                assert len(frame) == (4 * length if native else IP + length)
                assert frame[-4:] == struct.pack("<I", zlib.crc32(masked(frame, native))), "a wrong ICRC"


def damage(generate, folder):
    """Nothing but the ICRC of each frame is another one."""
    def make(*options):
        path = folder / "damaged.pcap"
        subprocess.run([generate, "traffic", "small", path, "--frames", "2000", "--payload", "64", *options], check=True)
        return [record[2] for record in records(path)]

    good, damaged = make(), make("--damaged")
    assert len(good) == len(damaged) == 2000
    for one, other in zip(good, damaged):
        assert one[:-4] == other[:-4] and one[-4:] != other[-4:]


def mirrored(generate, folder):
    """Of each frame the first bytes, numbered, in a tunnel whose lengths and checksum are right."""
    def make(*options):
        path = folder / "mirrored.pcap"
        subprocess.run([generate, "traffic", "small", path, "--frames", "2000", *options], check=True)
        return [record[2] for record in records(path)]

    for slice_ in (0, 128):
        cut = ["--slice", str(slice_)] if slice_ else []
        plain, sent = make(*cut), make("--mirrored", *cut)
        assert len(plain) == len(sent) == 2000
        for number, (one, other) in enumerate(zip(plain, sent)):
            assert other[50:] == one
            words = struct.unpack(">10H", other[14:34])
            assert words[1] == len(other) - 14 and sum(words) % 0xffff == 0
            assert other[34:42] == struct.pack(">HHI", 0x1000, 0x88be, number)


def overlay(generate, folder):
    """Each frame in VXLAN, whose lengths and checksum are right, and a network for each partition; a slice keeps as much of it."""
    def make(*options):
        path = folder / "overlay.pcap"
        subprocess.run([generate, "traffic", "small", path, "--frames", "2000", *options], check=True)
        return list(zip(lengths(path), (record[2] for record in records(path))))

    for slice_ in (0, 128):
        cut = ["--slice", str(slice_)] if slice_ else []
        plain, carried = make(*cut), make("--overlay", *cut)
        assert len(plain) == len(carried) == 2000
        networks = set()
        for (length, one), (other_length, other) in zip(plain, carried):
            assert other[50:] == one and other_length == length + 50
            words = struct.unpack(">10H", other[14:34])
            assert words[1] == other_length - 14 and sum(words) % 0xffff == 0
            assert other[23] == 17 and other[34:36] == one[34:36]
            assert other[36:46] == struct.pack(">HHHI", 4789, other_length - 34, 0, 0x08000000) and other[49] == 0
            networks.add((other[46:49], one[44:46]))
        assert len(networks) == len({network for network, _ in networks}) == len({pkey for _, pkey in networks}) > 1


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


class Connection:
    """NCCL's: clear-to-sends of family E one way, the writes that they ask for the other (nccl-wire, sections 2 and 3.1)."""

    SLOTS, STRIDE, ENTRY = 256, 512, 64

    def __init__(self, count, split):
        self.asked, self.fifo = [], None  # (address, size, key) of each clear-to-send
        self.count, self.split = count, split  # of queue pairs
        self.sent, self.packets = [0] * count, [0] * count  # of each: whole messages; packets of the one under way

    def ask(self, packet):
        va, length = struct.unpack_from(">Q4xI", packet, 12)
        addr, size, key, requests, number = struct.unpack_from("<QQI12xI4xQ", packet, 28)
        k = len(self.asked)
        self.fifo = self.fifo or va
        assert length == self.ENTRY and va == self.fifo + k % self.SLOTS * self.STRIDE, "not in its slot"
        assert requests == 1 and number == k + 1, f"number {number} instead of {k + 1}"
        self.asked.append((addr, size, key))

    def send(self, packet, at, message):
        """Queue pairs take turns, or each has the part of a message that its number says (section 2.4)."""
        part, k = message, self.sent[at] * self.count + at
        if self.split:
            part, k = message // self.count, self.sent[at]
        opcode, last, own = packet[0], part // 4096 - 1, self.packets[at]
        assert k < len(self.asked), "data that nobody asked for yet"
        if last == 0:
            assert opcode == 0x0b, f"{opcode:#x} as the only packet"
        else:
            assert opcode == {0: 0x06, last: 0x09}.get(own, 0x07), f"{opcode:#x} as packet {own}"
        if own == 0:
            addr, size, key = self.asked[k]
            addr += at * part if self.split else 0
            assert struct.unpack_from(">QII", packet, 12) == (addr, key, part) and message <= size
        self.packets[at] += 1
        if opcode in (0x09, 0x0b):
            behind = 12 + (16 if opcode == 0x0b else 0)
            assert int.from_bytes(packet[behind:behind + 4], "little") == message, "another length as immediate"
            self.packets[at], self.sent[at] = 0, self.sent[at] + 1


def check_rings(generate, path, message, options, count, split):
    subprocess.run([generate, "nccl", "small", path, "--frames", str(FRAMES), "--slice", "128", "--rings", "1",
                    "--ranks", "4", "--channels", "2", *options], check=True)
    connections, psns, frames = {}, {}, 0
    for _, _, frame in records(path):
        _, _, packet = parts(frame, native=False)
        qp, psn = (int.from_bytes(packet[at:at + 3], "big") for at in (5, 9))
        frames += 1
        if packet[0] == ACKNOWLEDGE:
            assert psn + 1 == psns[qp ^ 1], "an ACK of something else"
            continue
        assert psn == psns.get(qp, 0), f"PSN {psn} instead of {psns.get(qp, 0)}"
        psns[qp] = psn + 1
        number, at = divmod((qp - FIRST_QP) // 2, count)
        connection = connections.setdefault(number, Connection(count, split))
        if packet[0] == 0x0a:
            assert at == 0, "a clear-to-send on another queue pair than the first"
            connection.ask(packet)
        else:
            connection.send(packet, at, message)
    sent = [connection.sent for connection in connections.values()]
    print(f"messages of {message} bytes {options}: {frames} frames, {sum(map(sum, sent))} messages on {len(sent)} connections")
    assert frames == FRAMES and len(sent) == 4 * 2 and min(map(min, sent)) > 0


def rings(generate, folder):
    path = folder / "rings.pcap"
    for message, protocol in ((512 << 10, []), (32 << 10, ["--ll"])):
        check_rings(generate, path, message, protocol, 1, False)
        check_rings(generate, path, message, [*protocol, "--queue-pairs", "4"], 4, False)
        check_rings(generate, path, message, [*protocol, "--queue-pairs", "8", "--split"], 8, True)


def main():
    with tempfile.TemporaryDirectory(prefix="fabtap-traffic-") as folder:
        legal(sys.argv[1], pathlib.Path(folder))
        checksums(sys.argv[1], pathlib.Path(folder))
        damage(sys.argv[1], pathlib.Path(folder))
        mirrored(sys.argv[1], pathlib.Path(folder))
        overlay(sys.argv[1], pathlib.Path(folder))
        losses(sys.argv[1], pathlib.Path(folder))
        rings(sys.argv[1], pathlib.Path(folder))


if __name__ == "__main__":
    main()
