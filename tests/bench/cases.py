"""What is measured, and against what."""

import dataclasses
import json
import pathlib
import typing

import live
import recording
import rows
from measure import before, beyond, pair_of
from rows import Row, per_frame

FIELDS = ("infiniband.bth.p_key", "infiniband.bth.destqp", "infiniband.bth.psn")
FIELD_ARGUMENTS = ["-T", "fields"] + [argument for field in FIELDS for argument in ("-e", field)]
FOLLOWED_MORE = 8  # times as many rounds as of other cases: what following NCCL costs is little beside what runs differ
SLICES = ["--payload", 4096, "--slice", 128]


@dataclasses.dataclass
class Case:
    name: str
    about: str
    measure: typing.Callable  # Bench -> list of Row
    usual: bool = True


def fabtap(bench, verb, capture, site, *options):
    return [bench.fabtap, verb, "-m", bench.make("map", site), *map(str, options), capture]


def audit(bench, capture, site="small", *options):
    return fabtap(bench, "audit", capture, site, *options)


def audit_rows(case, frames, traffic, references, site="small", options=(), flows=1 << 20):
    """A function that audits one file in turn with each reference; `references` has the limits by name."""

    def measure(bench):
        capture = bench.make("traffic", site, "--frames", frames, *traffic)
        command = audit(bench, capture, site, *options)
        bench.check_audit(command, frames)
        loop = bench.bare_loop_native if site == "native" else bench.bare_loop
        others = {
            "bare loop": [loop, "--flows", flows, capture],
            "bare loop + CRC": [loop, "--crc", "--flows", flows, capture],
            "tcpdump": ["tcpdump", "-r", capture, "-w", "/dev/null"],
            "tshark 3 fields": ["tshark", "-n", "-r", capture, *FIELD_ARGUMENTS],
        }
        measured = []
        for name, limits in references.items():
            program = name.split()[0]
            if program in ("tcpdump", "tshark") and not bench.tool(program, f"{case} is not compared with it"):
                continue
            rounds = 1 if program == "tshark" else None  # a quarter of a minute; noise does not matter at 1 to 100
            measured.append(per_frame(case, name, bench.against(command, others[name], rounds), frames, limits))
        return measured

    return measure


def payload_rows(payload, frames):
    """With every ICRC of whole frames, then without."""
    traffic = ["--flows", 1000, "--payload", payload]
    limits = rows.BARE if payload < 256 else rows.BARE_CRC
    checked = audit_rows(f"{payload} B, ICRC, 1 k flows", frames, traffic,
                         {"bare loop + CRC": limits, "tcpdump": rows.TCPDUMP})
    unchecked = audit_rows(f"{payload} B, no ICRC, 1 k flows", frames, traffic,
                           {"bare loop": rows.TOLD, "tcpdump": rows.TCPDUMP}, options=["--no-icrc"])
    return lambda bench: checked(bench) + unchecked(bench)


def many_flows_rows(case, flows, frames, traffic, reference):
    return audit_rows(case, frames, ["--flows", flows, *traffic],
                      {reference: rows.BARE_MANY_FLOWS, "tcpdump": rows.TCPDUMP_MANY_FLOWS}, site="wide",
                      options=["--flows", max(flows, 1 << 20)], flows=max(flows, 1 << 20))


def loss_rows(bench):
    """A mirror that loses frames is one that has too many: a tap that is slower for it would lose more."""
    kept = 1000000
    traffic = ["--flows", 1000, *SLICES]
    enough = ["small", "--min-coverage", 0]
    complete = audit(bench, bench.make("traffic", "small", "--frames", kept, *traffic), *enough)
    measured = []
    for percent in (1, 10, 30):
        lossy = ["--frames", kept * 100 // (100 - percent), "--loss", percent / 100, *traffic]
        pair = bench.against(audit(bench, bench.make("traffic", "small", *lossy), *enough), complete)
        measured.append(per_frame(f"slices, 1 k flows, {percent} % lost", "complete", pair, kept, rows.TOLD))
    return measured


def violations_rows(bench):
    """By the map of another fabric every frame violates, or each is damaged, and a tap must keep up then, too."""
    measured = []
    for case, site, frames, flows in (("1 k flows", "small", 1000000, 1000), ("1 M flows", "wide", 4000000, 1000000)):
        capture = bench.make("traffic", site, "--frames", frames, "--flows", flows, *SLICES)
        declared, foreign = pathlib.Path(bench.make("map", site)), bench.folder / "foreign.map"
        foreign.write_text(declared.read_text().replace('"pkey": "0x0', '"pkey": "0x1'))
        command = [bench.fabtap, "audit", "-m", str(foreign), capture]
        pair = bench.against(command, audit(bench, capture, site), expected=1)
        measured.append(per_frame(f"slices, {case}, all violate", "none does", pair, frames, rows.TOLD))
    frames = 1000000
    whole = ["--frames", frames, "--flows", 1000, "--payload", 64]
    good, damaged = (bench.make("traffic", "small", *whole, *how) for how in ([], ["--damaged"]))
    pair = bench.against(audit(bench, damaged, "small"), audit(bench, good, "small"), expected=3)
    measured.append(per_frame("64 B, 1 k flows, every ICRC wrong", "none is", pair, frames, rows.TOLD))
    return measured


def mirrored_rows(bench):
    """As switches send frames on, in ERSPAN, against the same frames from a tap."""
    capture, sent = (bench.make("traffic", "small", "--frames", 1000000, "--flows", 1000, *SLICES, *how)
                     for how in ([], ["--mirrored"]))
    pair = bench.against(audit(bench, sent, "small"), audit(bench, capture, "small"))
    return [per_frame("slices, 1 k flows, in ERSPAN II", "from a tap", pair, 1000000, rows.TOLD)]


def overlay_rows(bench):
    """As they pass between the leaves of a fabric that is an overlay, in VXLAN, against the same frames in none."""
    capture, carried = (bench.make("traffic", "small", "--frames", 1000000, "--flows", 1000, *SLICES, *how)
                        for how in ([], ["--overlay"]))
    pair = bench.against(audit(bench, carried, "small"), audit(bench, capture, "small"))
    return [per_frame("slices, 1 k flows, in VXLAN", "in no overlay", pair, 1000000, rows.TOLD)]


def two_engines(bench):
    """Both on the wall clock: what two engines save is waiting, not work."""
    if not bench.knows("audit", "--workers"):
        return []
    measured = []
    for case, site, frames, traffic in (
            ("slices, 1 k flows", "small", 4000000, ["--flows", 1000, *SLICES]),
            ("slices, 1 M flows", "wide", 4000000, ["--flows", 1000000, *SLICES]),
            ("4096 B, ICRC, 1 k flows", "small", 500000, ["--flows", 1000, "--payload", 4096])):
        capture = bench.make("traffic", site, "--frames", frames, *traffic)
        one, two = (audit(bench, capture, site, "--workers", workers) for workers in (1, 2))
        bench.check_same(one, two)
        pair = bench.against(two, one, clock="wall")
        measured.append(per_frame(f"two engines, {case}", "one engine", pair, frames, rows.TWO_ENGINES))
    return measured


def following(bench, capture, site, frames):
    """Both commands: to be run in more rounds than usual, on the clock of the processor, whose noise is smaller."""
    with_nccl, without = audit(bench, capture, site), audit(bench, capture, site, "--no-nccl")
    bench.check_audit(with_nccl, frames)
    return with_nccl, without


def follow_row(bench, case, capture, site, frames, limits):
    """It takes a hundred runs of a tenth of a second each, of which one differs by a tenth from the next, to tell three percent."""
    more = 20 if frames <= 1000000 else FOLLOWED_MORE
    pair = bench.against(*following(bench, capture, site, frames), rounds=more * bench.rounds, clock="cpu")
    return per_frame(f"follow NCCL, {case}", "--no-nccl", pair, frames, limits)


def follow_rings_rows(bench, case, packets, options):
    """
    512 connections that come into view at once: per frame once each is known; with the time until then; and that alone, which a
    program needs besides to start, per connection.
    """
    few, many, connections, slices = 1000000, 8000000, 4 * 16 * 8, ["--slice", 128]
    captures = {count: bench.make("nccl", "small", "--frames", count, *slices, *options) for count in (few, many)}
    bench.check_rings(captures[few], connections, packets)
    commands = [following(bench, capture, "small", count) for count, capture in captures.items()]
    rounds = [[bench.once(*command, clock="cpu") for command in commands] for _ in range(FOLLOWED_MORE * bench.rounds)]
    known = [beyond(*both) for both in rounds]
    begun = pair_of([before(shorter, rest, few / (many - few)) for (shorter, _), rest in zip(rounds, known)])
    return [
        per_frame(f"follow NCCL, {case}", "--no-nccl", pair_of(known), many - few, rows.NCCL),
        per_frame(f"follow NCCL, {case}, from the start", "--no-nccl", pair_of([longer for _, longer in rounds]), many,
                  rows.NCCL),
        Row(f"follow NCCL, {case}, the start", "--no-nccl", begun.ours / connections * 1e6,
            begun.reference / connections * 1e6, "us/connection", begun.ours / begun.reference, rows.TOLD, begun.ours_kib),
    ]


def nccl_rows(bench):
    """Following NCCL against leaving it out: on its traffic in two protocols, with marks and over several queue pairs, and on
    traffic that has none of it."""
    if not bench.knows("audit", "--no-nccl"):
        return []
    frames = 1000000
    measured = []
    for case, packets, options in (("SIMPLE, 512 KiB", 128, []), ("LL, 32 KiB", 8, ["--ll"]),
                                   ("LL, 32 KiB, marked", 8, ["--ll", "--marked"]),
                                   ("SIMPLE, 4 queue pairs", 128, ["--queue-pairs", "4"]),
                                   ("LL, 4 queue pairs", 8, ["--ll", "--queue-pairs", "4"])):
        measured.extend(follow_rings_rows(bench, case, packets, options))
    for case, site, count, traffic in (("slices, 1 k flows", "small", frames, ["--flows", 1000, *SLICES]),
                                       ("64 B, 1 k flows", "small", frames, ["--flows", 1000, "--payload", 64]),
                                       ("slices, 1 M flows", "wide", 4 * frames, ["--flows", 1000000, *SLICES])):
        capture = bench.make("traffic", site, "--frames", count, *traffic)
        measured.append(follow_row(bench, case, capture, site, count, rows.NO_NCCL))
    return measured


def flows_rows(bench):
    if not bench.knows("flows", "--top"):
        return []
    frames = 4000000
    capture = bench.make("traffic", "wide", "--frames", frames, "--flows", 1000000, *SLICES)
    pair = bench.against(fabtap(bench, "flows", capture, "wide", "--top", 10), audit(bench, capture, "wide"))
    return [per_frame("flows, 1 M flows", "audit", pair, frames, rows.TOLD)]


def decode_rows(bench):
    frames = 1000000
    if not bench.tool("tshark", "decode is not compared with it"):
        return []
    capture = bench.make("traffic", "small", "--frames", frames, *SLICES)
    ours, theirs = bench.folder / "ours", bench.folder / "theirs"
    pair = bench.against([bench.fabtap, "decode", *FIELD_ARGUMENTS, capture],
                         ["tshark", "-n", "-r", capture, *FIELD_ARGUMENTS],
                         rounds=1, output=ours, reference_output=theirs)
    if ours.read_text().lower() != theirs.read_text().lower():
        bench.skipped.append("decode: its output differs from that of tshark; the ratio compares different work")
    return [per_frame("decode, 3 fields", "tshark 3 fields", pair, frames, rows.TSHARK_DECODE)]


def map_rows(bench):
    """Loading is what an audit of eight frames takes; time per frame is what is left without it."""
    frames, few = 4000000, 8
    commands = {}
    for site in ("big", "wide"):
        capture = bench.make("traffic", site, "--frames", frames, "--flows", 100000, *SLICES)
        commands[site] = [audit(bench, capture, site),
                          audit(bench, bench.make("traffic", site, "--frames", few), site)]
        bench.check_audit(commands[site][0], frames)
    loading = bench.against(commands["big"][1], [bench.parse_json, bench.make("map", "big")])
    loading_wide = bench.against(commands["wide"][1], [bench.parse_json, bench.make("map", "wide")])
    whole = bench.against(commands["big"][0], commands["wide"][0])
    big, wide = whole.ours - loading.ours, whole.reference - loading_wide.ours
    return [
        Row("load big map", "jansson", loading.ours * 1e3, loading.reference * 1e3, "ms", loading.ratio, rows.JANSSON,
            loading.ours_kib),
        Row("big map, loaded", "3 tenants", big / frames * 1e9, wide / frames * 1e9, "ns/frame", big / wide,
            rows.BIG_MAP, whole.ours_kib),
    ]


def file_memory_rows(bench):
    frames = 500000
    large, usual = (bench.run(audit(bench, bench.make("traffic", "small", "--frames", count, *SLICES))).peak_kib
                    for count in (4 * frames, frames))
    return [Row("peak memory, file x4", "file x1", large / 1024, usual / 1024, "MiB", large / usual, rows.STEADY,
                large)]


def flow_memory_rows(bench):
    """A million half-connections of four frames each, all in the table at the end."""
    flows = 1000000
    traffic = ["--in-turn", "--flows", flows, *SLICES]
    whole = audit(bench, bench.make("traffic", "wide", "--frames", 4 * flows, *traffic), "wide")
    few = audit(bench, bench.make("traffic", "wide", "--frames", 4000, *traffic), "wide")
    bench.check_audit(whole, 4 * flows)
    peak, least = bench.run(whole).peak_kib, bench.run(few).peak_kib
    each = (peak - least) * 1024 / flows
    measured = [
        Row("memory, 1 M flows", "limit", peak * 1024 / 1e6, rows.TOTAL_BYTES / 1e6, "MB",
            peak * 1024 / rows.TOTAL_BYTES, rows.TOTAL, peak),
        Row("memory per flow", "its record", each, rows.RECORD_BYTES, "bytes", each / rows.RECORD_BYTES, rows.TOLD,
            peak),
    ]
    if bench.knows("flows", "--top"):
        record = table_of(bench, few)["record_bytes"]
        measured.append(Row("flow record", "limit", record, rows.RECORD_BYTES, "bytes", record / rows.RECORD_BYTES,
                            rows.RECORD, peak))
    return measured


def table_of(bench, audit_command):
    """What `flows` says of its table after the same frames."""
    output = bench.folder / "flows"
    program, _, *rest = audit_command
    bench.run([program, "flows", "--json", "--top", 1, *rest], output)
    return json.loads(output.read_text())["table"]


def day_rows(bench):
    """24 hours in which connections come and go: the second half takes no more memory and time than the first."""
    frames = 4000000
    day = ["--day", frames, "--flows", 1000, *SLICES]
    whole, half = (audit(bench, bench.make("traffic", "small", "--frames", count, *day))
                   for count in (frames, frames // 2))
    bench.check_audit(whole, frames)
    pair = bench.against(whole, half)
    first, second = pair.reference, pair.ours - pair.reference
    half_kib = bench.run(half).peak_kib
    return [
        Row("a day's peak memory", "half a day", pair.ours_kib / 1024, half_kib / 1024, "MiB",
            pair.ours_kib / half_kib, rows.STEADY, pair.ours_kib),
        Row("a day's second half", "first half", second / frames * 2e9, first / frames * 2e9, "ns/frame",
            second / first, rows.TOLD, pair.ours_kib),
    ]


CASES = [
    Case("slices-1k", "1 M slices of 128 bytes, 1 thousand flows",
         audit_rows("slices, 1 k flows", 1000000, ["--flows", 1000, *SLICES],
                    {"bare loop": rows.BARE, "tcpdump": rows.TCPDUMP, "tshark 3 fields": rows.TSHARK})),
    Case("native-1k", "1 M slices of 128 bytes of native InfiniBand, 1 thousand flows",
         audit_rows("native slices, 1 k flows", 1000000, ["--flows", 1000, *SLICES],
                    {"bare loop": rows.TOLD, "tcpdump": rows.TOLD}, site="native")),
    Case("slices-1m", "10 M slices of 128 bytes in runs of four over 1 million flows: 1.3 GB on disk",
         many_flows_rows("slices, 1 M flows", 1000000, 10000000, SLICES, "bare loop")),
    Case("small-1k", "1 M whole frames of 64 bytes payload, with and without ICRC", payload_rows(64, 1000000)),
    Case("small-1m", "10 M whole frames of 64 bytes payload over 1 million flows, ICRC checked: 1.5 GB on disk",
         many_flows_rows("64 B, ICRC, 1 M flows", 1000000, 10000000, ["--payload", 64], "bare loop + CRC")),
    Case("mtu-1024", "whole frames of MTU 1024, with and without ICRC", payload_rows(1024, 500000)),
    Case("mtu-4096", "whole frames of MTU 4096, with and without ICRC", payload_rows(4096, 160000)),
    Case("loss", "slices of which a mirror lost some against a complete capture", loss_rows),
    Case("violations", "slices that all violate the map, and frames with wrong ICRCs, against the same as they should be", violations_rows),
    Case("mirrored", "slices in ERSPAN, as switches send them on, against the same from a tap", mirrored_rows),
    Case("overlay", "slices in VXLAN, as a fabric that is an overlay carries them, against the same in none", overlay_rows),
    Case("two-engines", "--workers 2 against --workers 1", two_engines),
    Case("nccl", "an audit that follows NCCL against one with --no-nccl, on its traffic and on other", nccl_rows),
    Case("flows", "the flows verb against audit, 1 million flows", flows_rows),
    Case("start", "starting with drivers of live sources beside the program and without", live.start_rows),
    Case("live", "a live audit through DPDK's net_pcap against testpmd and the audit of a file", live.dpdk_rows),
    Case("record", "capture to disk against tcpdump -w", recording.file_rows),
    Case("record-live", "the same of frames that arrive, and against dpdk-dumpcap: cost and loss", recording.live_rows),
    Case("decode", "decode to the fields that tshark is asked for", decode_rows),
    Case("map", "32 000 partitions and 100 000 nodes: loading, and time per frame", map_rows),
    Case("memory", "peak memory for a file and one of four times its size", file_memory_rows),
    Case("memory-1m", "memory for 1 million flows, in all and per flow", flow_memory_rows),
    Case("day", "a day of connections that come and go: the second half against the first", day_rows),
    Case("slices-10m", "24 M slices of 128 bytes over 10 million flows: 3.5 GB on disk",
         many_flows_rows("slices, 10 M flows", 10000000, 24000000, SLICES, "bare loop"), usual=False),
    Case("small-10m", "24 M whole frames of 64 bytes payload over 10 million flows: 3.6 GB on disk",
         many_flows_rows("64 B, ICRC, 10 M flows", 10000000, 24000000, ["--payload", 64], "bare loop + CRC"),
         usual=False),
]
NAMES = [case.name for case in CASES]
