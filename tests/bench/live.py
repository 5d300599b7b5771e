"""What a frame costs through a live source."""

import json
import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time

import measure
import rows
from rows import Row

FRAMES = 60000  # of the file that net_pcap plays again and again, each in a buffer of its own
TIMES = 16  # of the same in the file that it is compared with
FILE_HEADER, RECORD = 24, struct.Struct("<IIII")  # of pcap, with nanoseconds
STARTS = 101
SHORT_S, LONG_S = 2, 6  # the difference leaves out starting and ending


def watched(command, seconds):
    """What the command prints, ended by an interrupt after so long, the processor time it took, and its peak KiB."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=out,
                                   stderr=subprocess.DEVNULL)
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        _, _, usage = os.wait4(process.pid, 0)
        process.stdin.close()
        out.seek(0)
        return out.read().decode(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def per_frame(command, count):
    """Seconds of processor time per frame, and the peak in KiB; `count` finds the frames in what the command prints."""
    runs = [watched(command, seconds) for seconds in (SHORT_S, LONG_S)]
    frames = [count(printed) for printed, _, _ in runs]
    if None in frames or frames[1] <= frames[0]:
        raise measure.Failure(f"{command[0]} counted no frames")
    return (runs[1][1] - runs[0][1]) / (frames[1] - frames[0]), runs[1][2]


def of_report(printed):
    return json.loads(printed)["capture"]["frames"] if printed else None


def of_testpmd(printed):
    found = re.findall(r"RX-packets: (\d+)", printed)
    return int(found[-1]) if found else None


def start_rows(bench):
    """What a program that could open live sources costs those who do not: beside it, the program alone."""
    if not any((bench.build / "drivers").glob("*.so")):
        bench.skipped.append("this build has no live sources: what they cost at the start is not measured")
        return []
    alone = shutil.copy2(bench.fabtap, bench.folder / "alone")
    capture, policy = bench.make("traffic", "small", "--frames", 8), bench.make("map", "small")
    measured = []
    for case, arguments in (("--version", ["--version"]), ("audit of 8 frames", ["audit", "-m", policy, capture])):
        pair = bench.against([bench.fabtap, *arguments], [alone, *arguments], rounds=STARTS)
        measured.append(Row(f"start, {case}", "without drivers", pair.ours * 1e3, pair.reference * 1e3, "ms", pair.ratio,
                            rows.START, pair.ours_kib))
    return measured


def played(capture, times, path):
    """The capture as net_pcap plays it: again and again, while time goes on."""
    with open(capture, "rb") as made:
        header, records = made.read(FILE_HEADER), made.read()
    at, stamps = 0, []
    while at < len(records):
        seconds, nanoseconds, kept, _ = RECORD.unpack_from(records, at)
        stamps.append((at, seconds * 10**9 + nanoseconds))
        at += RECORD.size + kept
    each_ns = (stamps[-1][1] - stamps[0][1]) * len(stamps) // (len(stamps) - 1)
    with open(path, "wb") as out:
        out.write(header)
        for turn in range(times):
            again = bytearray(records)
            for place, ts_ns in stamps:
                struct.pack_into("<II", again, place, *divmod(ts_ns + turn * each_ns, 10**9))
            out.write(again)
    return path


def dpdk_rows(bench):
    """A live audit through DPDK against what receiving costs testpmd and auditing the same frames costs with a file."""
    if not (bench.build / "drivers/dpdk.so").is_file():
        bench.skipped.append("this build has no DPDK: the live audit is not measured")
        return []
    if not bench.tool("dpdk-testpmd", "the live audit is not compared with it"):
        return []
    slices = ["--flows", 1000, "--payload", 4096, "--slice", 128]
    capture = bench.make("traffic", "small", "--frames", FRAMES, *slices)
    whole = played(capture, TIMES, bench.folder / "played")
    policy = bench.make("map", "small")
    device = f"net_pcap0,rx_pcap={capture},infinite_rx=1"
    receive = ["dpdk-testpmd", "--no-huge", "-m", "1024", "--no-pci", "--file-prefix=bench", "--vdev", device,
               "-l", "0,1", "--", "--forward-mode=rxonly", "--total-num-mbufs=150000", "--stats-period=100"]
    audit = [bench.fabtap, "audit", "--json", "-m", policy, "-i", f"dpdk:{device}"]
    ratios, costs = [], []
    for _ in range(3):
        live, usage_kib = per_frame(audit, of_report)
        file = bench.run([bench.fabtap, "audit", "-m", policy, whole], clock="cpu").seconds / (TIMES * FRAMES)
        alone, _ = per_frame(receive, of_testpmd)
        ratios.append(live / (file + alone))
        costs.append((live, file + alone))
    ratio = sorted(ratios)[1]
    live, reference = costs[ratios.index(ratio)]
    return [Row("live audit, net_pcap", "file + testpmd", live * 1e9, reference * 1e9, "ns/frame", ratio,
                rows.LIVE, usage_kib)]
