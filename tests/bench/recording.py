"""Frames to the disk: what a frame costs on its way, and how many of the same load are in the file."""

import os
import pathlib
import statistics
import tempfile

import dumpcap
import rows
from rows import Row
from wire import SLICES, Wire, begun, ended, frames_in

ROUNDS = 3  # of what takes seconds to start
FLAT_OUT_S = 4  # dpdk-dumpcap takes whole seconds


def file_rows(bench):
    """Frames to pcapng, from a file: what capturing to disk costs beside receiving."""
    if not bench.tool("tcpdump", "capture is not compared with it"):
        return []
    frames = 1000000
    capture = bench.make("traffic", "small", "--frames", frames, *SLICES)
    pair = bench.against([bench.fabtap, "capture", "-w", bench.folder / "ours", capture],
                         ["tcpdump", "-r", capture, "-w", bench.folder / "theirs"], clock="cpu")
    return [rows.per_frame("capture, 128-byte slices", "tcpdump -w", pair, frames, rows.RECORD_TO_DISK)]


def medians(rounds):
    """Of (ours, theirs) of each round: both medians, and that of the ratios."""
    return (statistics.median(ours for ours, _ in rounds), statistics.median(theirs for _, theirs in rounds),
            statistics.median(ours / theirs for ours, theirs in rounds))


def kept_row(case, reference, rounds):
    """More frames in the file are better; what is told is how many are missing."""
    ours, theirs = (statistics.median(recorded.lost_percent for recorded in side) for side in zip(*rounds))
    ratio = statistics.median((them.kept / them.offered) / (we.kept / we.offered) for we, them in rounds)
    return Row(case, reference, ours, theirs, "% lost", ratio, rows.RECORD_TO_DISK, max(we.peak_kib for we, _ in rounds))


def cost_row(case, reference, rounds, limits):
    ours, theirs, ratio = medians([(we.cpu_s / we.kept, them.cpu_s / them.kept) for we, them in rounds])
    return Row(case, reference, ours * 1e9, theirs * 1e9, "ns/frame", ratio, limits,
               max(we.peak_kib for we, _ in rounds))


def libpcap_rows(bench):
    """The same frames at the same pace, with receive buffers of the same size."""
    if not bench.tool("tcpdump", "live capture is not compared with it"):
        return []
    ours = [bench.fabtap, "capture", "-i", "pcap:tap0"]
    theirs = ["tcpdump", "-i", "tap0", "-s", "0", "-B", "65536", "-Z", "root"]
    measured = []
    with Wire(bench) as wire:
        # at a pace that leaves both idle it is mostly waking up that costs
        for pace, per_second, limits in (("400 k/s", 400000, rows.TOLD), ("flat out", 0, rows.RECORD_TO_DISK)):
            rounds = [[wire.recorded(command, per_second) for command in (ours, theirs)]
                      for _ in range(bench.rounds)]
            measured.append(cost_row(f"capture, veth, {pace}", "tcpdump -w", rounds, limits))
            measured.append(kept_row(f"capture, veth, {pace}", "tcpdump -w", rounds))
    return measured


def packet_socket_rows(bench, folder):
    """Through DPDK's packet sockets: both poll, so that only what is in the file can be compared."""
    device = "net_af_packet0,iface=tap0"
    measured = []
    with Wire(bench) as wire:
        for pace, per_second in (("100 k/s", 100000), ("flat out", 0)):
            rounds = []
            for _ in range(ROUNDS):
                we = wire.recorded([bench.fabtap, "capture", "-i", f"dpdk:{device}"], per_second)
                with dumpcap.testpmd(wire.inside(), device, folder):
                    rounds.append((we, wire.recorded(dumpcap.command("net_af_packet0"), per_second, dumpcap.READY,
                                                     dumpcap.environment())))
            measured.append(kept_row(f"capture, net_af_packet, {pace}", "dpdk-dumpcap", rounds))
    return measured


def replay_row(bench, folder):
    """As many frames as come: net_pcap plays a file for ever. Seconds on the wall for each that is in the file."""
    path, rounds, peak_kib = bench.folder / "kept", [], 0
    with tempfile.TemporaryDirectory(dir="/tmp") as short:  # net_pcap hands dpdk-dumpcap 63 bytes of its arguments
        capture = pathlib.Path(short) / "t"
        capture.symlink_to(pathlib.Path(bench.make("traffic", "small", "--frames", 60000, *SLICES)).absolute())
        device = f"net_pcap0,rx_pcap={capture},infinite_rx=1"
        for _ in range(ROUNDS):
            ours = begun([bench.fabtap, "capture", "-i", f"dpdk:{device}", "-w", path, "--duration", FLAT_OUT_S])
            peak_kib = max(peak_kib, ended(ours, None)[1])
            each_s = FLAT_OUT_S / frames_in(path)
            path.unlink()
            with dumpcap.testpmd([], device, folder):
                theirs = [*dumpcap.command("net_pcap0"), "-w", path, "-a", f"duration:{FLAT_OUT_S}"]
                ended(begun(theirs, dumpcap.READY, dumpcap.environment()), None)
            rounds.append((each_s, FLAT_OUT_S / frames_in(path)))
            path.unlink()
    ours, theirs, ratio = medians(rounds)
    return Row("capture, net_pcap, flat out", "dpdk-dumpcap", ours * 1e9, theirs * 1e9, "ns/frame", ratio,
               rows.RECORD_TO_DISK, peak_kib)


def dpdk_rows(bench):
    if not (bench.build / "drivers/dpdk.so").is_file():
        bench.skipped.append("this build has no DPDK: capture through it is not measured")
        return []
    if not all(bench.tool(tool, "capture is not compared with it") for tool in ("dpdk-testpmd", "dpdk-dumpcap")):
        return []
    with dumpcap.huge_pages(bench) as folder:
        return [replay_row(bench, folder), *packet_socket_rows(bench, folder)]


def live_rows(bench):
    """Frames that arrive, to the disk."""
    if os.geteuid() != 0:
        bench.skipped.append("live capture is not measured: a wire and huge pages are only made for root")
        return []
    return libpcap_rows(bench) + dpdk_rows(bench)
