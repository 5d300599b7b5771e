"""Made jobs of NCCL of which nothing can be read, as if payload were encrypted: what is told is true, with the set-up and without."""

import random
import struct

import nccl_made
from harness import WithFolder, fabtap, main
from nccl import BTH, EXTENDED
from nccl_healthy import apart, bursts, lossy, middle, whole

OPCODE, IP_LENGTH, IP, ICRC_LEN, PROTOCOL, TCP = 42, 16, 14, 4, 23, 6
# (way, least share of messages told as complete with one queue pair, with several)
WAYS = ((whole, 0.85, 0.75), (middle, 0.3, 0.15), (apart, 0.85, 0.5), (lossy, 0.7, 0.2), (bursts, 0.5, 0.25))
# (way, least share of messages told as complete, and of connections found with their queue pairs)
SEVERAL = ((whole, 0.9, 0.95), (middle, 0.2, 0.3), (apart, 0.6, 0.8), (lossy, 0.2, 0.45), (bursts, 0.25, 0.6))
# (seed, way) where numbers are easily one off: long messages, of two requests, that were not seen; ends that were lost;
# queue pairs that appear late
MISCOUNTED = ((104, middle), (123, middle), (123, bursts), (175, lossy), (12, lossy), (310, lossy), (391, apart))
SEEDS = range(60)


def unread(frame, chance):
    """Random bytes behind the transport headers of RDMA."""
    data = frame.bytes
    if data[PROTOCOL] == TCP:
        return frame
    begin = BTH + 12 + EXTENDED.get(data[OPCODE], 0)
    end = min(IP + struct.unpack_from(">H", data, IP_LENGTH)[0] - ICRC_LEN, len(data))
    if begin >= end:
        return frame
    return frame._replace(bytes=data[:begin] + chance.randbytes(end - begin) + data[end:])


def ends(addresses, qpns):
    return ".".join(map(str, addresses[0])), frozenset(qpns)


class Unread(WithFolder):
    def document(self, way, world, seed):
        """(what is told of a job in which there is no finding, its frames)"""
        chance = random.Random(seed)
        frames = [unread(frame, chance) for frame in way(world.frames, random.Random(seed))]
        path = nccl_made.write(self.folder / "made.pcap", frames)
        document = fabtap("nccl", "--json", "--no-icrc", path).json()
        self.assertEqual(document["findings"], [])
        return document, frames

    def messages(self, way, world, seed):
        """(those told as complete, of them those whose frames are of another one, connections found) of a job."""
        document, frames = self.document(way, world, seed)
        told = [m for m in document["messages"] if m["completed"]]
        wrong = [m for m in told if {frames[m["first_frame"] - 1].k, frames[m["last_frame"] - 1].k} != {m["k"]}]
        true = {ends(c.sender, c.receiver_qpns) for c in world.connections}
        found = {(c["sender"]["addresses"][0], frozenset(c["receiver"]["qpns"])) for c in document["connections"]}
        return len(told), len(wrong), len(true & found)

    def test_messages_have_their_frames_and_numbers(self):
        """Of jobs with one request at a time, whose immediates are lengths."""
        worlds = [(seed, nccl_made.World(seed, setup=False)) for seed in SEEDS]
        worlds = [(seed, world) for seed, world in worlds if not world.several and not world.numbered]
        for way, alone, several in WAYS:
            for least, jobs in ((alone, [w for w in worlds if w[1].sets * w[1].devices == 1]),
                                (several, [w for w in worlds if w[1].sets * w[1].devices > 1])):
                sent = sum(world.messages * len(world.connections) for _, world in jobs)
                counts = [self.messages(way, world, seed) for seed, world in jobs]
                with self.subTest(way=way.__name__, least=least):
                    self.assertGreater(sum(told for told, _, _ in counts), least * sent)
                    self.assertEqual(sum(wrong for _, wrong, _ in counts), 0)

    def test_with_the_set_up_no_data_is_left_out_or_has_a_wrong_number(self):
        """Which queue pairs take turns, the set-up does not tell: until lengths do, data is of no message that is known."""
        worlds = [(seed, nccl_made.World(seed)) for seed in SEEDS]
        worlds = [(seed, world) for seed, world in worlds if world.sets > 1]
        sent = sum(world.messages * len(world.connections) for _, world in worlds)
        complete = 0
        for seed, world in worlds:
            for way in (whole, apart):
                document, frames = self.document(way, world, seed)
                told = [m for m in document["messages"] if m["k"] is not None and m["first_frame"] is not None]
                wrong = [m for m in told if {frames[m["first_frame"] - 1].k, frames[m["last_frame"] - 1].k} != {m["k"]}]
                complete += sum(m["completed"] for m in told)
                with self.subTest(seed=seed, way=way.__name__):
                    self.assertEqual(sum(m["packets"] for m in document["messages"]), sum(f.role == "data" for f in frames))
                    self.assertEqual(wrong, [])
        self.assertGreater(complete, 0.85 * 2 * sent)

    def test_numbers_are_right_or_not_told(self):
        for seed, way in MISCOUNTED:
            with self.subTest(seed=seed, way=way.__name__):
                _, wrong, _ = self.messages(way, nccl_made.World(seed, setup=False), seed)
                self.assertEqual(wrong, 0)

    def test_several_requests_at_a_time(self):
        """What was asked for by one clear-to-send is told apart by the writes that answer it: as many as it has entries."""
        worlds = [(seed, nccl_made.World(seed, setup=False)) for seed in SEEDS]
        worlds = [(seed, world) for seed, world in worlds if world.several and not world.numbered]
        sent = sum(world.messages * len(world.connections) for _, world in worlds)
        connections = sum(len(world.connections) for _, world in worlds)
        for way, least, least_found in SEVERAL:
            counts = [self.messages(way, world, seed) for seed, world in worlds]
            with self.subTest(way=way.__name__):
                self.assertGreater(sum(told for told, _, _ in counts), least * sent)
                self.assertEqual(sum(wrong for _, wrong, _ in counts), 0)
                self.assertGreater(sum(found for _, _, found in counts), least_found * connections)


if __name__ == "__main__":
    main()
