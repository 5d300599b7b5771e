"""Connections of InfiniBand that change to their alternate path and back, or have a GRH there: one sequence in two half-connections.

usage: moved_drill.py PROGRAM [--seed S]

A complete capture shows no loss; else the bounds hold the truth, and the estimate is near it, as of connections that stay where they
are. Nor is what is lost of others hidden that have the same queue pair numbers and PSNs between other ports.
"""

import argparse
import json
import random
import struct
import sys
import tempfile
from pathlib import Path

import streams
from loss_drill import audit, lose

MTU, MESSAGES, CONNECTIONS, PACKET_NS, ANSWER_NS, BEGAN_NS = 1024, 80, 16, 300, 10_000, 1_700_000_000 * 10**9
ALTERNATE = 0x80  # of both LIDs on the other path
STAYS = 7  # messages on one path, at most
LOSSES = ((0.01, 1), (0.1, 1), (0.1, 10))
WORLDS = {  # whether they change the LIDs, and have a GRH there; whether all have the same queue pairs and PSNs
    "one path": (False, False, False), "an alternate path": (True, False, False), "a GRH at times": (False, True, False),
    "an alternate path with a GRH": (True, True, False), "alike": (False, False, True)}
LIDS = [lid ^ other for lid in range(1, 2 * CONNECTIONS + 1) for other in (0, ALTERNATE)]
EVERYONE = {
    "schema": "tapmap/1", "map_id": "everyone", "serial": 1, "issued_at": "2020-01-01T00:00:00Z", "issuer": "drill",
    "fabric": {"kind": "infiniband"}, "exceptions": [], "segments": [], "tenants": [{"name": "all", "class": "customer"}],
    "nodes": [{"host": "h%d" % lid, "ports": [{"lid": lid}]} for lid in LIDS],
    "partitions": [{"pkey": "0x7fff", "tenant": "all", "intervals": [
        {"from": "2000-01-01T00:00:00Z", "to": None, "members": [{"lid": lid, "membership": "full"} for lid in LIDS]}]}]}


class Sender:
    """One end: its LID and the other's, and the other's queue pair."""

    def __init__(self, lids, dest_qp):
        self.lids, self.dest_qp, self.moved, self.with_grh = lids, dest_qp, False, False

    def gid(self, lid):
        return struct.pack(">QQ", 0xfe80 << 48, 0x0002c90300000000 | lid)

    def frame(self, now, opcode, psn, above=b"", payload=0, ask=False):
        bth = struct.pack(">BBHII", opcode, 0x40, 0xffff, self.dest_qp, psn & 0xffffff | ask << 31)
        size = len(bth) + len(above) + payload + 4
        source, destination = (lid ^ ALTERNATE if self.moved else lid for lid in self.lids)
        grh = struct.pack(">IHBB", 6 << 28, size, 0x1b, 64) + self.gid(self.lids[0]) + self.gid(self.lids[1])
        grh = grh if self.with_grh else b""
        lrh = struct.pack(">BBHHH", 0, 3 if grh else 2, destination, (8 + len(grh) + size) // 4, source)
        frame = streams.Frame(now, lrh + grh + bth + above, 8 + len(grh) + size + 2)
        frame.opcode = opcode
        return frame


def message(rng, asker, responder, now, psn, msn):
    """(frames, PSNs used): a SEND of some packets and its ACK, or a READ and its responses."""
    count, frames, aeth = rng.randint(1, 8), [], struct.pack(">I", msn)
    if rng.random() < 0.3:
        frames.append(asker.frame(now, 0x0c, psn, struct.pack(">QII", 0x1000, 7, count * MTU), 0, True))
        for index in range(count):
            code = 0x10 if count == 1 else 0x0d if index == 0 else 0x0f if index == count - 1 else 0x0e
            frames.append(responder.frame(now + ANSWER_NS + PACKET_NS * index, code, psn + index, b"" if code == 0x0e else aeth, MTU))
        return frames, count
    for index in range(count):
        last = index == count - 1
        code = (0x04 if count == 1 else 0x00) if index == 0 else 0x02 if last else 0x01
        frames.append(asker.frame(now + PACKET_NS * index, code, psn + index, b"", MTU, last))
    return frames + [responder.frame(frames[-1].ts_ns + ANSWER_NS, streams.ACKNOWLEDGE, psn + count - 1, aeth)], count


def world(rng, moves, with_grh, alike):
    frames = []
    for number in range(CONNECTIONS):
        lids, qps = (1 + 2 * number, 2 + 2 * number), (0x100, 0x101) if alike else (0x100 + 2 * number, 0x101 + 2 * number)
        ends = Sender(lids, qps[1]), Sender(lids[::-1], qps[0])
        psn, now, stays, away = 0 if alike else rng.getrandbits(24), BEGAN_NS + rng.randrange(50_000), 0, False
        for msn in range(1, MESSAGES + 1):
            if stays == 0:
                stays, away = rng.randint(1, STAYS), not away
            stays -= 1
            for end in ends:
                end.moved, end.with_grh = moves and away, with_grh and away
            more, count = message(rng, *ends, now, psn, msn)
            frames += more
            psn += count
            now = more[-1].ts_ns + rng.randrange(20_000)
    return streams.in_order(frames)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng, wrong, missed = random.Random(options.seed), [], []
    with tempfile.TemporaryDirectory() as folder:
        declared, path = Path(folder) / "map.json", Path(folder) / "drill.pcap"
        declared.write_text(json.dumps(EVERYONE))
        for name, habits in WORLDS.items():
            frames = world(rng, *habits)
            for share, burst in ((0, 1), *LOSSES):
                kept, gone = lose(rng, frames, share, burst)
                streams.write(path, kept, 247)
                reports = [audit(options.program, ("--workers", workers, "-m", str(declared)), path) for workers in ("1", "4")]
                lost, truth = reports[0]["coverage"]["frames_lost"], len(gone)
                words = "%s, %g lost in bursts of %d: %s of %d" % (name, share, burst, lost, truth)
                if reports[0] != reports[1]:
                    wrong.append(words + ", and something else of four workers")
                if abs(lost["estimate"] - truth) > 0.06 * truth + 4 * (truth * burst) ** 0.5:
                    wrong.append(words)
                if not lost["low"] <= truth <= lost["high"]:
                    missed.append(words)
    if len(missed) > 1:  # of 99 in 100
        wrong += ["bounds missed the truth:", *missed]
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
