"""Connections between two hosts that all begin at PSN 0, from source ports that say nothing: who belongs together?

usage: pairing.py PROGRAM [--rounds N] [--seed S]

Nothing but the PSNs of answers tells. Where each connection goes its own way nearly all are paired in time, and hardly any
pair is wrong, also where they move in step or as many halves are out of view in the one direction as in the other. As many
halves are said to lack their reverse as are out of view in one direction more than in the other.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import streams
import transport

LOST = (0.0, 0.002)  # by the fabric, on each half of the way
IN_STEP_NS = 3000  # between connections that send the same at a time
MOST_WRONG = 0.02  # to one that is right
DEST_QP = slice(47, 50)  # Ethernet, IPv4, UDP, five bytes of the BTH


def connect(fabric, count):
    """Connections, and the two queue pairs of each."""
    pairs = [(0x200 + i, 0x4000 + fabric.rng.randrange(100_000)) for i in range(count)]
    return [transport.Connection(fabric, hosts=[1, 2], qps=list(qps), psns=[0, 0], any_port=True) for qps in pairs], dict(pairs)


def in_step(fabric, connections, messages):
    """NCCL's channels do that: the same messages on all of them, at almost the same times."""
    delay = 0
    for _ in range(messages):
        delay += int(fabric.rng.expovariate(1 / 100_000))
        end, count = fabric.rng.randrange(2), fabric.rng.randint(1, 12)
        for connection in connections:
            fabric.after(delay + fabric.rng.randrange(IN_STEP_NS), connection.ends[end].post, transport.WRITE, count)


def hide(rng, frames, pairs, one_way, other_way):
    """Without all that is sent to one queue pair of so many connections each way."""
    chosen = rng.sample(sorted(pairs.items()), one_way + other_way)
    hidden = {there for there, _ in chosen[:one_way]} | {back for _, back in chosen[one_way:]}
    return [frame for frame in frames if int.from_bytes(frame.data[DEST_QP], "big") not in hidden]


class Judge:
    def __init__(self, program, folder):
        self.program, self.path, self.right, self.wrong, self.lonely = program, folder / "pairs.pcap", 0, 0, []

    def pair(self, frames, pairs, lonely=None):
        """How many connections are paired rightly; `lonely`: so many halves lack their reverse, if nothing else tells."""
        streams.write(self.path, frames)
        done = subprocess.run([self.program, "flows", "--json", str(self.path)], capture_output=True, timeout=300, check=True)
        document = json.loads(done.stdout)
        dest_qp = {row["flow"]: row["dest_qp"] for row in document["flows"]}
        told = [sorted(dest_qp[flow] for flow in row["flows"]) for row in document["connections"]]
        right = sum(pairs.get(qps[0]) == qps[1] for qps in told)
        self.right, self.wrong = self.right + right, self.wrong + len(told) - right
        coverage = document["coverage"]
        if lonely is not None and coverage["one_sided"] != lonely:
            self.lonely.append("%d of %d halves lack their reverse, not %d"
                               % (coverage["one_sided"], len(document["flows"]), lonely))
        return right


def each_its_own_way(judge, rng, lost):
    """Whether nearly all are paired."""
    fabric = transport.Fabric(rng, lost)
    connections, pairs = connect(fabric, 20)
    for connection in connections:
        connection.chat(800)
    fabric.run()
    found = judge.pair(fabric.capture, pairs)
    print("each its own way, %g lost by the fabric: %d of 20 paired" % (lost, found))
    return found >= 18


def halves_hidden(judge, rng, lost, moving):
    """Short ones, of which some are in view one way only."""
    fabric = transport.Fabric(rng, lost)
    connections, pairs = connect(fabric, rng.choice((4, 8, 16)))
    if moving == "in step":
        in_step(fabric, connections, 200)
    else:
        for connection in connections:
            connection.chat(200)
    fabric.run()
    for hidden in (0, 1, 2):
        found = judge.pair(hide(rng, fabric.capture, pairs, hidden, hidden), pairs)
        print("%s, %d of %d hidden each way: %d paired" % (moving, hidden, len(pairs), found))
    for one_way, other_way in ((0, 0), (1, 0), (0, 3), (len(pairs), 0)):
        judge.pair(hide(rng, fabric.capture, pairs, one_way, other_way), pairs, one_way + other_way)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    asked, good = parser.parse_args(), True
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(asked.program, Path(folder))
        for number, lost in ((number, lost) for number in range(asked.rounds) for lost in LOST):
            rng = random.Random("%d %d %s" % (asked.seed, number, lost))
            good &= each_its_own_way(judge, rng, lost)
            for moving in ("apart", "in step"):
                halves_hidden(judge, rng, lost, moving)
    print("%d pairs right, %d wrong" % (judge.right, judge.wrong))
    print("\n".join(judge.lonely))
    sys.exit(not good or bool(judge.lonely) or judge.wrong > MOST_WRONG * judge.right)


if __name__ == "__main__":
    main()
