"""What is measured, against what, and how fast it must be."""

import dataclasses
import typing

FIELDS = ("infiniband.bth.p_key", "infiniband.bth.destqp", "infiniband.bth.psn")
FIELD_ARGUMENTS = ["-T", "fields"] + [argument for field in FIELDS for argument in ("-e", field)]

# Largest ratio that the design allows, and the one aimed at.
BARE = (2.5, 2.0)
BARE_MANY_FLOWS = (1.0, 0.6)
BARE_CRC = (2.0, 1.5)
TCPDUMP = (1.0, 0.5)
TCPDUMP_MANY_FLOWS = (1.3, 0.9)
TSHARK = (1 / 100, 1 / 300)
TSHARK_DECODE = (1 / 50, 1 / 100)
BIG_MAP = (1.1, 1.02)
JANSSON = (2.0, 1.2)
MEMORY = (1.1, 1.02)


@dataclasses.dataclass
class Row:
    case: str
    reference: str
    ours: float
    theirs: float
    unit: str
    ratio: float
    limits: tuple[float, float]  # must, aim
    peak_kib: int


@dataclasses.dataclass
class Case:
    name: str
    about: str
    measure: typing.Callable  # Bench -> list of Row
    usual: bool = True


def audit(bench, capture, site="small", flows=None):
    return [bench.fabtap, "audit", "-m", bench.make("map", site), *(["--flows", str(flows)] if flows else []), capture]


def row(case, reference, pair, frames, limits):
    return Row(case, reference, pair.ours / frames * 1e9, pair.reference / frames * 1e9, "ns/frame", pair.ratio,
               limits, pair.ours_kib)


def audit_rows(case, frames, traffic, references, site="small", flows=None):
    """A function that audits one file in turn with each reference; `references` has the limits by name."""

    def measure(bench):
        capture = bench.make("traffic", site, "--frames", frames, *traffic)
        command = audit(bench, capture, site, flows)
        bench.check_audit(command, frames)
        others = {
            "bare loop": [bench.bare_loop, "--flows", str(flows or 1 << 20), capture],
            "bare loop + CRC": [bench.bare_loop, "--crc", "--flows", str(flows or 1 << 20), capture],
            "tcpdump": ["tcpdump", "-r", capture, "-w", "/dev/null"],
            "tshark 3 fields": ["tshark", "-n", "-r", capture, *FIELD_ARGUMENTS],
        }
        rows = []
        for name, limits in references.items():
            program = name.split()[0]
            if program in ("tcpdump", "tshark") and not bench.tool(program, f"{case} is not compared with it"):
                continue
            rounds = 1 if program == "tshark" else None  # a quarter of a minute; noise does not matter at 1 to 100
            rows.append(row(case, name, bench.against(command, others[name], rounds), frames, limits))
        return rows

    return measure


def decode_rows(bench):
    frames = 1000000
    if not bench.tool("tshark", "decode is not compared with it"):
        return []
    capture = bench.make("traffic", "small", "--frames", frames, "--payload", 4096, "--slice", 128)
    ours, theirs = bench.folder / "ours", bench.folder / "theirs"
    pair = bench.against([bench.fabtap, "decode", *FIELD_ARGUMENTS, capture],
                         ["tshark", "-n", "-r", capture, *FIELD_ARGUMENTS],
                         rounds=1, output=ours, reference_output=theirs)
    if ours.read_text().lower() != theirs.read_text().lower():
        bench.skipped.append("decode: its output differs from that of tshark; the ratio compares different work")
    return [row("decode, 3 fields", "tshark 3 fields", pair, frames, TSHARK_DECODE)]


def map_rows(bench):
    """Loading is what an audit of eight frames takes; time per frame is what is left without it."""
    frames, few = 4000000, 8
    traffic = ["--flows", 100000, "--payload", 4096, "--slice", 128]
    commands = {}
    for site in ("big", "wide"):
        capture = bench.make("traffic", site, "--frames", frames, *traffic)
        commands[site] = [audit(bench, capture, site),
                          audit(bench, bench.make("traffic", site, "--frames", few), site)]
        bench.check_audit(commands[site][0], frames)
    loading = bench.against(commands["big"][1], [bench.parse_json, bench.make("map", "big")])
    loading_wide = bench.against(commands["wide"][1], [bench.parse_json, bench.make("map", "wide")])
    whole = bench.against(commands["big"][0], commands["wide"][0])
    big, wide = whole.ours - loading.ours, whole.reference - loading_wide.ours
    return [
        Row("load big map", "jansson", loading.ours * 1e3, loading.reference * 1e3, "ms", loading.ratio, JANSSON,
            loading.ours_kib),
        Row("big map, loaded", "3 tenants", big / frames * 1e9, wide / frames * 1e9, "ns/frame", big / wide, BIG_MAP,
            whole.ours_kib),
    ]


def memory_rows(bench):
    frames = 500000
    traffic = ["--payload", 4096, "--slice", 128]
    commands = [audit(bench, bench.make("traffic", "small", "--frames", count, *traffic))
                for count in (4 * frames, frames)]
    large, usual = (bench.run(command).peak_kib for command in commands)
    return [Row("peak memory, file x4", "file x1", large / 1024, usual / 1024, "MiB", large / usual, MEMORY, large)]


SLICES = ["--payload", 4096, "--slice", 128]
CASES = [
    Case("slices-1k", "1 M slices of 128 bytes, 1 thousand flows",
         audit_rows("slices, 1 k flows", 1000000, ["--flows", 1000, *SLICES],
                    {"bare loop": BARE, "tcpdump": TCPDUMP, "tshark 3 fields": TSHARK})),
    Case("slices-1m", "4 M slices of 128 bytes in runs of four over 1 million flows",
         audit_rows("slices, 1 M flows", 4000000, ["--flows", 1000000, *SLICES],
                    {"bare loop": BARE_MANY_FLOWS, "tcpdump": TCPDUMP_MANY_FLOWS}, site="wide")),
    Case("small-1k", "1 M whole frames of 64 bytes payload, ICRC checked",
         audit_rows("64 B, ICRC, 1 k flows", 1000000, ["--flows", 1000, "--payload", 64],
                    {"bare loop + CRC": BARE, "tcpdump": TCPDUMP})),
    Case("small-1m", "4 M whole frames of 64 bytes payload over 1 million flows, ICRC checked",
         audit_rows("64 B, ICRC, 1 M flows", 4000000, ["--flows", 1000000, "--payload", 64],
                    {"bare loop + CRC": BARE_MANY_FLOWS, "tcpdump": TCPDUMP_MANY_FLOWS}, site="wide")),
    Case("mtu-1024", "whole frames of MTU 1024, ICRC checked",
         audit_rows("MTU 1024, ICRC", 500000, ["--flows", 1000, "--payload", 1024],
                    {"bare loop + CRC": BARE_CRC, "tcpdump": TCPDUMP})),
    Case("mtu-4096", "whole frames of MTU 4096, ICRC checked",
         audit_rows("MTU 4096, ICRC", 160000, ["--flows", 1000, "--payload", 4096],
                    {"bare loop + CRC": BARE_CRC, "tcpdump": TCPDUMP})),
    Case("decode", "decode to the fields that tshark is asked for", decode_rows),
    Case("map", "32 000 partitions and 100 000 nodes: loading, and time per frame", map_rows),
    Case("memory", "peak memory for a file and one of four times its size", memory_rows),
    Case("slices-10m", "24 M slices of 128 bytes over 10 million flows: 3.5 GB on disk",
         audit_rows("slices, 10 M flows", 24000000, ["--flows", 10000000, *SLICES],
                    {"bare loop": BARE_MANY_FLOWS, "tcpdump": TCPDUMP_MANY_FLOWS}, site="wide", flows=10000000), usual=False),
]
NAMES = [case.name for case in CASES]


def in_words(ratio):
    return f"1/{1 / ratio:.0f}" if ratio < 0.05 else f"{ratio:.2f}"


def mark(measured):
    must, aim = measured.limits
    if measured.ratio > must:
        return "MISSED"
    return "aim" if measured.ratio <= aim else "must"


def table(rows):
    """Columns: what, against what, both figures, their ratio, its limits, the one reached, our peak memory."""
    lines = [("case", "reference", "ours", "reference", "unit", "ratio", "must", "aim", "reached", "peak MiB")]
    for measured in rows:
        lines.append((
            measured.case, measured.reference, f"{measured.ours:.1f}", f"{measured.theirs:.1f}", measured.unit,
            in_words(measured.ratio), *map(in_words, measured.limits), mark(measured), f"{measured.peak_kib / 1024:.1f}",
        ))
    widths = [max(map(len, column)) for column in zip(*lines)]
    left = (0, 1, 4, 8)
    return "\n".join(
        "  ".join(cell.ljust(width) if i in left else cell.rjust(width)
                  for i, (cell, width) in enumerate(zip(line, widths))).rstrip()
        for line in lines
    )
