"""Queue pairs that are set up again and again, of which frames are lost: no finding that the complete capture does not have.

usage: anew_drill.py PROGRAM [--rounds N] [--seed S]

Each life begins at a PSN of its own, a seventh of a second after the one before. What began it may be lost, or all that one
side sent, so that its first sign is an answer from nowhere.
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

import transport
from loss_drill import Judge, lose
from streams import pack

CONNECTIONS, LIVES, MESSAGES = 10, 10, 6
SILENCE_NS = 143_000_000
LOSSES = ((0.1, 1), (0.3, 1), (0.3, 8), (0.85, 4))  # share, frames in a row
ONE_SIDE = 0.3


def lives(rng):
    fabric = transport.Fabric(random.Random(rng.random()))
    pairs = [(rng.sample(range(1, 9), 2), rng.sample(range(0x100, 0x100000), 2)) for _ in range(CONNECTIONS)]
    for _ in range(LIVES):
        life = [transport.Connection(fabric, hosts, qps) for hosts, qps in pairs]
        for connection in life:
            connection.chat(MESSAGES, longest=6)
        fabric.run()
        for connection in life:
            connection.end()
        fabric.now += SILENCE_NS
    return fabric.capture


def of_one_side(rng, frames):
    """Half of the frames go up by their addresses: of those some are lost."""
    return [frame for frame in frames if frame.data[26:30] < frame.data[30:34] or rng.random() >= ONE_SIDE]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(options.program, Path(folder))
        for seed in range(options.seed, options.seed + options.rounds):
            rng = random.Random(seed)
            frames = lives(rng)
            pack(frames)
            known = {finding["id"] for finding in judge.report(frames)["findings"]}
            drills = [("%g in runs of %d" % loss, lose(rng, frames, *loss)[0]) for loss in LOSSES]
            for how, kept in (*drills, ("one side", of_one_side(rng, frames))):
                invented = [finding["rule"] for finding in judge.report(kept)["findings"] if finding["id"] not in known]
                if invented:
                    wrong += 1
                    print("seed %d, %s: %s" % (seed, how, sorted(invented)))
    sys.exit("%d drills with findings that the complete capture does not have" % wrong if wrong else 0)


if __name__ == "__main__":
    main()
