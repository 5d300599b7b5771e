"""Traffic made to confuse whoever keeps state: changed packets and times, floods of queue pairs, reused ones, small
tables. The program says what it knows of it, in bounded memory, and never a word about an error."""

import json
import random
import struct

from bad_input import MEGABYTE, peak_memory
from harness import COMPLIANT, DATA, FAILED, NOT_EVIDENCED, WithFolder, fabtap, main
from pcapfile import read_pcap, write_pcap
from roce import EVERYBODY, Half, capture

SEED = 20261121
START, US, SECOND = 1_700_000_000 * 10**9, 10**3, 10**9
OPTIONS = ((), ("--flows", 1), ("--flows", 2), ("--flows", 16), ("--workers", 3), ("--workers", 64))
CHANGES = 60


class Hostile(WithFolder):
    def setUp(self):
        super().setUp()
        self.map = self.folder / "any.map.json"
        self.map.write_text(json.dumps(EVERYBODY))

    def audit(self, frames, *more):
        run = fabtap("audit", "-m", self.map, "--json", *more, capture(self.folder / "hostile.pcap", frames))
        return run, run.json()["coverage"]


class Changed(Hostile):
    @staticmethod
    def change_bytes(chance, record):
        frame = bytearray(record[16:])
        for _ in range(chance.choice((1, 1, 4)) if frame else 0):
            frame[chance.randrange(min(len(frame), 90))] = chance.choice((0, 1, 0x80, 0xff, chance.randrange(256)))
        return record[:16] + bytes(frame)

    @staticmethod
    def change_time(chance, record):
        seconds = chance.choice((0, 1, 0xffffffff, chance.getrandbits(32), struct.unpack_from("<I", record)[0] - 3))
        return struct.pack("<II", seconds, chance.choice((0, 999999, 0xffffffff))) + record[8:]

    def holds(self, document, frames):
        coverage = document["coverage"]
        self.assertEqual(document["capture"]["frames"], frames)
        self.assertEqual(coverage["frames_seen"] + coverage["duplicates"], frames)
        lost = coverage["frames_lost"]
        if lost["estimate"] is not None and lost["high"] is not None:
            self.assertTrue(lost["low"] <= lost["estimate"] <= lost["high"], lost)
        self.assertTrue(coverage["share_seen"] is None or 0 <= coverage["share_seen"] <= 1)
        if document["schema"] == "fabtap.audit/1":
            self.assertEqual(sum(row["packets"] for row in document["matrix"]), coverage["frames_seen"])
        else:
            self.assertLessEqual(len(document["flows"]), document["table"]["capacity"])
            self.assertLessEqual(sum(row["packets"] for row in document["flows"]), coverage["frames_seen"])

    def test_changed_packets_and_times_are_counted_like_others(self):
        chance = random.Random(SEED)
        captures = sorted((DATA / "captures").glob("*.pcap")) + sorted((DATA / "tenants").glob("*.pcap"))
        captures = [path for path in captures if not path.name.endswith("-broken.pcap")]
        for _ in range(CHANGES):
            path, options = chance.choice(captures), chance.choice(OPTIONS)
            header, records = read_pcap(path)
            change = chance.choice((self.change_bytes, self.change_time))
            changed = [change(chance, record) if chance.random() < 0.3 else record for record in records]
            file = write_pcap(self.folder / "changed.pcap", header, changed)
            for verb in ("audit", "flows"):
                with self.subTest(capture=path.name, change=change.__name__, verb=verb, options=options):
                    run = fabtap(verb, "-m", self.map, "--json", *options, file)
                    self.assertNotEqual(run.status, FAILED, run)
                    self.assertEqual(run.err, b"")
                    self.holds(run.json(), len(records))


class Connections(Hostile):
    def connections(self, count, messages, at_ns=START, first_psn=None):
        """RC between two hosts: WRITEs of all connections in turn, each answered 3 us later."""
        chance = random.Random(SEED + at_ns)
        halves = []
        for i in range(count):
            psn = chance.getrandbits(24) if first_psn is None else first_psn
            port = 0xc000 | chance.getrandbits(14)
            halves.append((Half("10.0.0.1", "10.0.0.2", 0x9000 + i, port, psn), Half("10.0.0.2", "10.0.0.1", 0x1000 + i, port)))
        frames = []
        for m in range(messages):
            for i, (asks, answers) in enumerate(halves):
                now_ns = at_ns + (m * count + i) * 10 * US
                frames += [(now_ns, asks.write()), (now_ns + 3 * US, answers.answer(asks.psn - 1, msn=m + 1))]
        return frames

    def is_complete(self, frames, connections=None):
        run, coverage = self.audit(frames)
        self.assertEqual(run.status, COMPLIANT, coverage)
        self.assertEqual((coverage["frames_lost"]["estimate"], coverage["lost_by"], coverage["duplicates"]), (0, [], 0))
        if connections is not None:
            self.assertEqual((coverage["connections"], coverage["one_sided"]), (connections, 0))

    def test_thousands_of_connections_of_two_hosts_are_told_apart(self):
        self.is_complete(self.connections(3000, 4), 3000)

    def test_the_psn_begins_anew(self):
        self.is_complete(self.connections(3, 400, first_psn=0xffff80), 3)

    def test_queue_pairs_are_used_again_without_a_set_up_in_view(self):
        for later in (2 * SECOND, 60 * SECOND, 600 * SECOND):
            self.is_complete(self.connections(5, 200) + self.connections(5, 200, START + later))

    def test_times_that_say_nothing_make_no_loss(self):
        frames = [frame for _, frame in self.connections(5, 200)]
        self.is_complete([(START, frame) for frame in frames], 5)
        self.is_complete([(START + (len(frames) - i) * US, frame) for i, frame in enumerate(frames)], 5)
        chance = random.Random(SEED)
        self.is_complete([(START + chance.randrange(SECOND), frame) for frame in frames], 5)

    def test_one_side_of_which_every_second_packet_is_missing_is_not_evidence(self):
        """Packets sprayed over two links, one of them mirrored: neither loss nor its absence can be proved."""
        asks = Half("10.0.0.1", "10.0.0.2", 0x22)
        run, coverage = self.audit([(START + i * US, asks.write(2 * i)) for i in range(10000)])
        self.assertEqual(run.status, NOT_EVIDENCED, coverage)
        self.assertGreaterEqual(coverage["frames_lost"]["high"], 9999)

    def test_a_table_that_is_too_small_changes_no_verdict_on_partitions(self):
        frames = self.connections(500, 4)
        _, whole = self.audit(frames)
        for flows in (1, 2, 16):
            run, coverage = self.audit(frames, "--flows", flows)
            self.assertEqual(run.json()["findings"], [])
            for counted in ("frames_seen", "judged", "undecided", "duplicates"):
                self.assertEqual(coverage[counted], whole[counted], (flows, counted))

    def test_a_table_that_is_too_small_does_not_hide_a_change_of_pkey(self):
        arguments = ("-m", DATA / "tenants" / "tenants-ib.map.json", "--json", DATA / "tenants" / "tenants-ib.pcap")
        rule = "pkey.changed-on-connection"
        whole = [f for f in fabtap("audit", *arguments).json()["findings"] if f["rule"] == rule]
        self.assertTrue(whole)
        for flows in (1, 2, 4, 8, 20, 64):
            small = fabtap("audit", "--flows", flows, *arguments).json()
            self.assertGreater(small["coverage"]["evicted"], 0)
            self.assertEqual([f for f in small["findings"] if f["rule"] == rule], whole, flows)

    def test_a_flood_of_queue_pairs_and_addresses_takes_no_more_memory_than_was_given(self):
        chance = random.Random(SEED)

        def flood(count):
            return [(START + i * US, Half("10.%d.%d.%d" % tuple(chance.randbytes(3)), "10.0.0.2", chance.getrandbits(24))
                     .write(chance.getrandbits(24))) for i in range(count)]

        few = capture(self.folder / "few.pcap", flood(2000))
        many = capture(self.folder / "many.pcap", flood(40000))
        for verb in ("audit", "flows"):
            arguments = (verb, "-m", self.map, "--json", "--flows", 1024)
            _, usual = peak_memory(*arguments, few)
            _, memory = peak_memory(*arguments, many)
            self.assertLess(memory, usual + 64 * MEGABYTE, verb)

    def test_random_psns_and_answers_are_no_reason_to_stop(self):
        chance = random.Random(SEED)
        asks, answers = Half("10.0.0.1", "10.0.0.2", 0x22), Half("10.0.0.2", "10.0.0.1", 0x11)
        for packet in (lambda: asks.write(chance.getrandbits(24)),
                       lambda: answers.answer(chance.getrandbits(24), chance.getrandbits(8), chance.getrandbits(24))):
            run, coverage = self.audit([(START + i * US, packet()) for i in range(5000)])
            self.assertEqual(run.err, b"")
            self.assertEqual(coverage["frames_seen"] + coverage["duplicates"], 5000)


if __name__ == "__main__":
    main()
