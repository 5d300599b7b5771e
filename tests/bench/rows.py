"""What was measured, what the design allows, and the table of both."""

import dataclasses
import typing

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
TWO_ENGINES = (1 / 1.8, 1 / 1.95)
LIVE = (1.2, 1.05)
RECORD_TO_DISK = (1.0, None)
START = (1.05, 1.01)
STEADY = (1.1, 1.02)
NCCL = (1.15, None)  # what following it costs: on its traffic, and on other
NO_NCCL = (1.03, None)
RECORD_BYTES = 192
RECORD = (1.0, 128 / RECORD_BYTES)
TOTAL_BYTES = 256e6  # at 1 million flows
TOTAL = (1.0, None)
TOLD = (None, None)  # told, but the design sets no limit


@dataclasses.dataclass
class Row:
    case: str
    reference: str
    ours: float
    theirs: float
    unit: str
    ratio: float
    limits: tuple[typing.Optional[float], typing.Optional[float]]  # must, aim
    peak_kib: int


def per_frame(case, reference, pair, frames, limits):
    return Row(case, reference, pair.ours / frames * 1e9, pair.reference / frames * 1e9, "ns/frame", pair.ratio,
               limits, pair.ours_kib)


def in_words(ratio):
    if ratio is None:
        return "-"
    return f"1/{1 / ratio:.0f}" if ratio < 0.05 else f"{ratio:.2f}"


def mark(measured):
    must, aim = measured.limits
    if must is not None and measured.ratio > must:
        return "MISSED"
    if aim is not None and measured.ratio <= aim:
        return "aim"
    return "must" if must is not None else "-"


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
