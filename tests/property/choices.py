"""What `flows` lists by --where, --sort and --top, in which order, and what its text table says of it, against its document.

usage: choices.py PROGRAM [--rounds N] [--seed S] [--choices N] [--keep FOLDER]

The document without options is judged by accounts.py; which of its rows must be listed, and where, is read from
docs/formats.md here. Captures are those of accounts.py, with frames that violate the map, and shipped ones.
"""

import functools
import ipaddress
import json
import random
from collections import Counter
from pathlib import Path

import accounts
import page
import streams
from ledger import NATIVE

TENANTS = Path(__file__).resolve().parents[1] / "data" / "tenants"
SHIPPED = {"tenants-ib": (), "tenants-segments": (), "tenants-pkey": ()}
COUNTS = ("packets", "bytes", "payload_bytes", "retransmitted", "reordered", "duplicates", "fabric_lost", "mirror_lost", "gaps_open",
          "acks", "rnr_naks", "ce_marked", "cnps")
MESSAGES = ("send", "write", "read", "atomic")
WORST_FIRST = ("violated", "unknown", "allowed")


# --- docs/formats.md, a second time


def octets(address):
    if address.startswith("lid:"):
        return int(address[4:])
    number = ipaddress.ip_address(address)
    return int(number) if number.version == 6 else 0xffff << 32 | int(number)


def pkey_parts(row):
    return (None, None) if row["pkey"] is None else (int(row["pkey"], 16) & 0x7fff, int(row["pkey"], 16) >> 15)


def both(name):
    return lambda row: (row["src"][name], row["dst"][name])


PARTS = {
    "src": lambda row: [octets(row["src"]["address"])], "dst": lambda row: [octets(row["dst"]["address"])],
    "address": lambda row: [octets(row[end]["address"]) for end in ("src", "dst")],
    "tenant": both("tenant"), "host": both("host"), "qp": lambda row: [row["dest_qp"]], "pkey": pkey_parts,
    "messages": lambda row: [sum(row["messages"][kind] for kind in MESSAGES)], "naks": lambda row: [sum(row["naks"].values())],
    "verdict": lambda row: [WORST_FIRST.index(row["verdict"])], "rule": lambda row: row["rules"], "rules": lambda row: row["rules"],
    **{name: lambda row, name=name: [row[name]] for name in COUNTS + (
        "flow", "dest_qp", "vlan", "vni", "transport", "first_ts", "last_ts", "psn_first", "psn_last", "mtu", "connection")},
}
MOST_FIRST = COUNTS + ("messages", "naks")


def compare(one, other, descending):
    """Part by part; null, and what a shorter list has not, is last whatever the direction."""
    for index in range(max(len(one), len(other))):
        a, b = (list(parts[index:index + 1]) or [None] for parts in (one, other))
        if a == b:
            continue
        if a == [None] or b == [None]:
            return 1 if a == [None] else -1
        return -1 if (a < b) != descending else 1
    return 0


def ordered(rows, field):
    name, turned = field.lstrip("-"), field.startswith("-")
    descending = (name in MOST_FIRST) != turned
    return sorted(rows, key=functools.cmp_to_key(lambda a, b: compare(PARTS[name](a), PARTS[name](b), descending)))


def within(address, prefix):
    if address.startswith("lid:") or prefix.startswith("lid:"):
        return address == prefix
    net = ipaddress.ip_network(prefix)
    return ipaddress.ip_address(address).version == net.version and ipaddress.ip_address(address) in net


def named(rule, wanted):
    return rule.startswith(wanted[:-1]) if wanted.endswith(".*") else rule == wanted


MEETS = {
    "tenant": lambda row, value: value in [row[end]["tenant"] or "unknown" for end in ("src", "dst")],
    "host": lambda row, value: value in [row[end]["host"] or "unknown" for end in ("src", "dst")],
    "address": lambda row, value: any(within(row[end]["address"], value) for end in ("src", "dst")),
    "qp": lambda row, value: row["dest_qp"] == int(value, 0), "vlan": lambda row, value: (row["vlan"] or 0) == int(value, 0),
    "pkey": lambda row, value: row["pkey"] is not None and (int(row["pkey"], 16) ^ int(value, 0)) & 0x7fff == 0,
    "vni": lambda row, value: row["vni"] == int(value, 0), "transport": lambda row, value: row["transport"] == value,
    "verdict": lambda row, value: row["verdict"] == value,
    "rule": lambda row, value: any(named(rule, value) for rule in row["rules"]),
}


def value_of(rng, row, field):
    """A value that the row meets."""
    end = row[rng.choice(("src", "dst"))]
    number = rng.choice((str, hex))
    if field in ("tenant", "host"):
        return end[field] or "unknown"
    if field == "address":
        if end["address"].startswith("lid:") or rng.random() < 0.5:
            return end["address"]
        return str(ipaddress.ip_network((end["address"], rng.choice((8, 20, 24, 31))), strict=False))
    if field == "rule":
        rule = rng.choice(row["rules"] or ["tenant.crossing"])
        return rng.choice((rule, rule.split(".")[0] + ".*"))
    if field in ("verdict", "transport"):
        return row[field] or "RC"
    if field == "pkey":
        return row["pkey"] or "0xffff"
    return number(row["dest_qp"] if field == "qp" else row[field] or 0)


# --- choices


class Choice:
    def __init__(self, rng, rows):
        self.where = []
        for _ in range(rng.choice((0, 1, 1, 2))):
            field = rng.choice(sorted(MEETS))
            self.where.append((field, [value_of(rng, rng.choice(rows), field) for _ in range(rng.choice((1, 1, 2, 3)))]))
        self.sort = rng.choice((None, rng.choice(("", "-")) + rng.choice(sorted(PARTS)), rng.choice(("", "-")) + rng.choice(sorted(PARTS))))
        self.top = rng.choice((None, None, 1, 3, rng.randint(1, len(rows) + 2)))

    def options(self):
        where = [option for field, values in self.where for option in ("--where", "%s=%s" % (field, ",".join(values)))]
        return where + (["--sort=" + self.sort] if self.sort else []) + (["--top", self.top] if self.top else [])

    def listed(self, rows):
        taken = [row for row in rows if all(any(MEETS[field](row, value) for value in values) for field, values in self.where)]
        return (ordered(taken, self.sort) if self.sort else taken)[:self.top]


def name_of(end):
    return (end["host"] or end["address"]) + (" (%s)" % end["tenant"] if end["tenant"] else "")


def net_of(row):
    return (row["pkey"] or "-") + "".join(" %s %d" % (tag, row[tag]) for tag in ("vlan", "vni") if row[tag] is not None)


def wrong_cells(row, told):
    texts = {"flow": str(row["flow"]), "conn": "." if row["connection"] is None else str(row["connection"]), "source": name_of(row["src"]),
             "destination": name_of(row["dst"]), "QP": "0x%06x" % row["dest_qp"], "type": row["transport"] or "-", "P_Key": net_of(row),
             "verdict": " ".join([row["verdict"], ", ".join(row["rules"])]).strip()}
    numbers = {"frames": row["packets"], "messages": PARTS["messages"](row)[0], "again": row["retransmitted"], "lost": row["fabric_lost"],
               "unseen": row["mirror_lost"], "refused": PARTS["naks"](row)[0] + row["rnr_naks"], "marked": row["ce_marked"],
               "cnps": row["cnps"]}
    if set(told) != {*texts, *numbers, "bytes"}:
        return ["columns"]
    size = told["bytes"] if row["bytes"] else {"0 B": "."}.get(told["bytes"], "")
    return [name for name, text in texts.items() if told[name] != text] + \
        [name for name, number in numbers.items() if not page.says(told[name], number)] + \
        ([] if page.says(size, row["bytes"]) else ["bytes"])


class Judge(accounts.Judge):
    def __init__(self, program, folder, choices):
        super().__init__(program, folder)
        self.choices, self.tried = choices, Counter()

    def judge_choice(self, document, choice, capture):
        options, rows = choice.options(), choice.listed(document["flows"])
        said = " ".join(map(str, options))
        chosen = self.json("flows", *options, *capture)
        self.equal(said, [row["flow"] for row in chosen["flows"]], [row["flow"] for row in rows])
        if chosen["flows"] == rows:
            self.rows += len(rows)
        else:
            self.complain(said, "changes rows")
        connections = {row["connection"] for row in rows} - {None}
        self.equal(said + " connections", chosen["connections"],
                   [row for row in document["connections"] if row["connection"] in connections])
        self.judge_text(document, rows, said, self.run("flows", *options, *capture))

    def judge_text(self, document, rows, said, text):
        told = page.table_of(text, "flow")
        self.equal(said + " as text", [row.get("flow") for row in told], [str(row["flow"]) for row in rows])
        for row, cells in zip(rows, told):
            for name in wrong_cells(row, cells):
                self.complain(said, "flow", row["flow"], name, "is", cells.get(name, cells))
        shown, all_rows, pairs = len(rows), len(document["flows"]), len(document["connections"])
        title = "FLOWS     %s%d half-connection%s, %d connection%s" % (
            "%d of " % shown if shown < all_rows else "", all_rows, "s" * (all_rows != 1), pairs, "s" * (pairs != 1))
        if title not in text.splitlines():
            self.complain(said, "does not say", title)

    def judge_capture(self, rng, *capture):
        document = self.json("flows", *capture)
        for _ in range(self.choices):
            choice = Choice(rng, document["flows"])
            self.tried.update([choice.sort and choice.sort.lstrip("-")] + [field for field, _ in choice.where])
            self.judge_choice(document, choice, capture)


def astray(traffic):
    """Some of the frames once more, as another tenant's host would send them or with another P_Key: they violate the map."""
    rng, native = traffic.rng, traffic.site.family == NATIVE
    frames = []
    for end in rng.sample(traffic.ends, min(3, len(traffic.ends))):
        side = end.side
        source = rng.choice(traffic.site.hosts)
        pkey = rng.choice((side.pkey, 0x8777, 0x0000)) if native else side.pkey
        other = type(side)(side.family, source, side.destination, side.dest_qp, side.port, 0, pkey, side.vlan, side.vni)
        for psn in range(rng.randint(1, 3)):
            data, wire = other.frame(0x24, psn, b"", 64, False, False, psn)
            frames.append(traffic.frames[0].__class__(data, wire))
            frames[-1].ts_ns = traffic.frames[-1].ts_ns + (len(frames) << 20)
    return frames


def main():
    parser = accounts.parser_of(__doc__, 6)
    parser.add_argument("--choices", type=int, default=20, help="for each capture")

    def judge(asked, folder):
        judge = Judge(asked.program, folder, asked.choices)
        for seed in range(asked.seed, asked.seed + asked.rounds):
            traffic = accounts.Traffic(random.Random(seed))
            judge.label = "seed %d, %s told by %s" % (seed, traffic.site.family, traffic.site.told_by)
            streams.write(folder / "rows.pcap", traffic.frames + astray(traffic), 247 if traffic.site.family == NATIVE else 1)
            (folder / "map.json").write_text(json.dumps(traffic.site.map()))
            judge.judge_capture(traffic.rng, "-m", folder / "map.json", folder / "rows.pcap")
        for name in SHIPPED:
            judge.label = name
            judge.judge_capture(random.Random(asked.seed), "-m", TENANTS / (name + ".map.json"), TENANTS / (name + ".pcap"))
        return judge

    accounts.run(parser, judge)


if __name__ == "__main__":
    main()
