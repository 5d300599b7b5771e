"""Tables of the text reports, read back; cells stand two blanks or more apart."""

import re

FACTORS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
           "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def cells_of(line):
    return re.split(r" {2,}", line.strip())


def table_of(text, head):
    """Rows, {head of the column: cell}, of the table whose first column has this head; it ends with a blank line or a sentence."""
    lines = iter(text.splitlines())
    heads = next((cells_of(line) for line in lines if cells_of(line)[0] == head), None)
    rows = []
    for line in lines if heads else ():
        cells = cells_of(line)
        if len(cells) == 1:
            break
        rows.append(dict(zip(heads, cells)) if len(cells) == len(heads) else {"odd line": line})
    return rows


def says(cell, value):
    """Does the cell say this number? `.`: 0, `?`: None; what has a unit is rounded to its last digit, three being there."""
    if value is None or value == 0:
        return cell == ("?" if value is None else ".")
    match = re.fullmatch(r"(\d+(?:\.(\d+))?)(?: ?([a-zA-Z]+))?", cell)
    if match is None or (match[3] or "") not in FACTORS:
        return False
    factor = FACTORS[match[3] or ""]
    if factor == 1:
        return match[1] == str(value)
    step = factor / 10 ** len(match[2] or "")
    return abs(float(match[1]) * factor - value) <= 0.5001 * step and len(match[1].replace(".", "")) == 3


def says_rate(cell, gbps, none):
    """A rate to four significant digits, without an exponent; `none` for None."""
    if gbps is None:
        return cell == none
    if not re.fullmatch(r"\d+(\.\d*[1-9])?", cell):
        return False
    return gbps == float(cell) if gbps == 0 else abs(float(cell) / gbps - 1) <= 0.0005001
