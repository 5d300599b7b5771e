"""Reports are the same whatever the seed of the hash tables, and however many workers share the work.

usage: seeds.py PROGRAM [--rounds N] [--seed S] [--keep FOLDER] [--shared FOLDER] [--capture NAME]

FT_FAKE_SEED_LIBRARY names the library that stands in for the system's random numbers. Captures of NCCL as taps, mirrors and fabrics alter
them, and thousands of queue pairs, more than any table of those that may be NCCL's holds.
"""

import os
import random
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "e2e"))

import accounts
import alterations
import nccl_altered
import nccl_many
from alterations import Record
from nccl_training_worlds import is_set_up

SEEDS = 0x9fb21c651e98df25, 0x1f0a3e5c77d9b842, 0xfedcba9876543210  # as the system would draw them: all bits matter
OTHERWISE = ((SEEDS[0], 2), (SEEDS[2], 3))  # (seed, workers)
VERBS = ("nccl", "--keys"), ("flows", "--nccl"), ("audit",)
CUT_SHORT = ("sliced_64", "sliced_128", "sliced_192", "without_set_up", "middle")
CROWDS = {  # without set-ups
    "all pairs of 40 hosts": lambda: nccl_many.pairs(1, 40, 2).frames,
    "a ring behind 3500 idle queue pairs": lambda: [*nccl_many.idle(3500), *nccl_many.ring(4, 6, 2).frames],
    "a ring behind 12000 idle queue pairs": lambda: [*nccl_many.idle(12000), *nccl_many.ring(4, 6, 2).frames],
}
CROWDED_WAYS = ("whole", "middle+over_infiniband")


def crowd(name):
    frames = [frame for frame in CROWDS[name]() if not is_set_up(frame)]
    return [Record(int(frame.ts), number, frame.bytes, frame.size) for number, frame in enumerate(frames, 1)]


class Judge(nccl_altered.Judge):
    def with_seed(self, seed, *arguments):
        environment = {**os.environ, "LD_PRELOAD": os.environ["FT_FAKE_SEED_LIBRARY"], "FAKE_SEED": str(seed)}
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, stdin=subprocess.DEVNULL, env=environment,
                              timeout=300, check=False)
        if done.returncode not in (0, 1, 3):
            sys.exit("%s: %s: status %d: %s" % (self.label, arguments[0], done.returncode, done.stderr.decode()))
        return done.stdout

    def judge_records(self, records, chance):
        paths = self.write(records, chance)
        for verb, *options in VERBS:
            options += ["--json", "-m", self.folder / "all.json"]
            told = self.with_seed(SEEDS[0], verb, *options, *paths)
            self.rows += 1
            for seed in SEEDS[1:]:
                if self.with_seed(seed, verb, *options, *paths) != told:
                    self.complain(verb, "tells something else with seed", seed)
            for seed, workers in OTHERWISE:
                if self.with_seed(seed, verb, *options, "--workers", workers, *paths) != told:
                    self.complain(verb, "tells something else with seed", seed, "and", workers, "workers")


def judge_rounds(asked, folder):
    judge, books = Judge(asked.program, folder), nccl_altered.books_of(asked)
    for seed in range(asked.seed, asked.seed + asked.rounds):
        chance = random.Random("seeds %d" % seed)
        book = books[chance.choice(sorted(books))]
        way = alterations.composed(chance) if chance.random() < 0.5 else chance.choice(CUT_SHORT)
        judge.label = "seed %d, %s %s" % (seed, book.name, way)
        judge.judge_records(alterations.alter(way, chance, book.records), chance)
    for name in CROWDS if not asked.capture else ():
        records = crowd(name)
        for way in CROWDED_WAYS:
            judge.label = "%s, %s" % (name, way)
            judge.judge_records(alterations.alter(way, random.Random(way), records), random.Random(way))
    return judge


if __name__ == "__main__":
    parser = accounts.parser_of(__doc__, 8)
    parser.add_argument("--shared", help="folder of the reference captures")
    parser.add_argument("--capture", default="", help="part of its name")
    if "FT_FAKE_SEED_LIBRARY" not in os.environ or b"__asan_" in Path(sys.argv[1]).read_bytes():
        print("SKIPPED: the seed cannot be stood in for (FT_FAKE_SEED_LIBRARY), or the program has sanitizers, which come first")
        sys.exit(77)
    accounts.run(parser, judge_rounds)
