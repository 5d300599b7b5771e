"""Forged packets in the midst of a healthy connection: each is found, and blamed is no other; also where the mirror
loses one frame in a hundred, and where it shows all of them twice."""

import json
import random
import struct

from harness import COMPLIANT, VIOLATED, WithFolder, fabtap, main
from roce import EVERYBODY, LINKTYPE_INFINIBAND, NAK_ACCESS, READ_REQUEST, WRITE_ONLY, Half, capture, mac, native, number

START, US, MS = 1_700_000_000 * 10**9, 10**3, 10**6
CLIENT, SERVER, STRANGER = "10.0.0.1", "10.0.0.2", "10.0.0.3"
REQUESTS, FIRST_PSN = 200, 16_777_100  # the PSNs begin anew at 16 777 216
POSITIONS = (10, 60, 115, 116, 117, 198)  # of the forged packet: early, about the wrap, last
BUFFER = 0x7f0000600000
UC = 0x20  # in an opcode
FOREIGN = {"ttl": 128, "smac": mac(number("9.9.9.9")), "ident": 7}


INFINIBAND = {
    "schema": "tapmap/1", "map_id": "ib", "serial": 1, "issued_at": "2020-01-01T00:00:00Z", "issuer": "tests",
    "fabric": {"kind": "infiniband"}, "tenants": [{"name": "all", "class": "management"}],
    "nodes": [{"host": host, "ports": [{"lid": lid} for lid in lids]}
              for host, lids in (("client", (1, 4)), ("server", (2,)), ("stranger", (3,)))],
    "partitions": [{"pkey": "0x7fff", "tenant": "all", "intervals": [
        {"from": "2000-01-01T00:00:00Z", "to": None, "members": [{"all": True, "membership": "full"}]}]}],
}


def reth(address, rkey):
    return struct.pack(">QII", address, rkey, 64)


class Injected(WithFolder):
    def setUp(self):
        super().setUp()
        self.map = self.folder / "any.map.json"
        self.map.write_text(json.dumps(EVERYBODY))
        self.request, self.answer = Half(CLIENT, SERVER, 0x22), Half(SERVER, CLIENT, 0x11)

    def healthy(self):
        """WRITEs 10 us apart, each answered 4 us later."""
        for i in range(REQUESTS):
            yield START + i * 10 * US, self.request.write(psn=FIRST_PSN + i, ident=500 + i)
            yield START + i * 10 * US + 4 * US, self.answer.answer(FIRST_PSN + i, msn=i + 1, ident=900 + i)

    def audit(self, frames, *more):
        run = fabtap("audit", "-m", self.map, "--json", *more, capture(self.folder / "injected.pcap", frames))
        return run, {finding["rule"]: finding for finding in run.json()["findings"]}

    def ways(self, forged):
        """(how, frames in order): as it was, one in a hundred lost, all twice."""
        chance = random.Random(1)
        evil = {frame for _, frame in forged}
        frames = sorted([*self.healthy(), *forged])
        yield "complete", frames
        yield "1 % lost", [pair for pair in frames if pair[1] in evil or chance.random() >= 0.01]
        yield "twice", [(ts_ns, frame) for ts_ns, frame in frames for _ in range(2)]

    def found(self, rule, forged, blamed=None, severity="medium"):
        """The rule holds of forged packets, and nothing that makes a report violated of any other."""
        evil = {frame for _, frame in blamed or forged}
        for how, frames in self.ways(forged):
            run, findings = self.audit(frames)
            guilty = {n for n, (_, frame) in enumerate(frames, 1) if frame in evil}
            with self.subTest(rule=rule, how=how, forged=sorted(guilty)):
                self.assertEqual(run.status, VIOLATED)
                self.assertIn(rule, findings)
                self.assertEqual(findings[rule]["severity"], severity)
                self.assertTrue(findings[rule]["frames"])
                for finding in findings.values():
                    if finding["severity"] != "info":
                        self.assertLessEqual(set(finding["frames"]), guilty, finding["rule"])

    def test_the_healthy_connection_has_no_finding(self):
        for how, frames in self.ways([]):
            run, findings = self.audit(frames)
            self.assertEqual(findings, {}, how)
            if how != "1 % lost":
                self.assertEqual(run.status, COMPLIANT, how)

    def forged(self, i, after_ns, **how):
        """A WRITE to another place under the PSN of request i."""
        packet = self.request.packet(WRITE_ONLY, FIRST_PSN + i, reth(0x666000, 0x1234), b"E" * 64, ask=True, **how)
        return [(START + i * 10 * US + after_ns, packet)]

    def test_a_stolen_psn_behind_the_true_packet(self):
        for i in POSITIONS:
            for after_ns in (1 * US, 7 * US):
                self.found("spoof.psn-conflict", self.forged(i, after_ns, **FOREIGN), severity="high")

    def test_a_stolen_psn_before_the_true_packet(self):
        for i in POSITIONS:
            self.found("spoof.sender-changed", self.forged(i, -2 * US, **FOREIGN))

    def test_a_stolen_psn_from_the_same_machine(self):
        """Nothing tells it from the true one, whichever comes first: both are named."""
        for i in POSITIONS:
            own = (START + i * 10 * US, self.request.write(psn=FIRST_PSN + i, ident=500 + i))
            for after_ns in (-1 * US, 1 * US):
                forged = self.forged(i, after_ns, ident=500 + i)
                self.found("spoof.psn-conflict", forged, blamed=[own, *forged])
                frames = sorted([*self.healthy(), *forged])
                _, findings = self.audit(frames)
                self.assertEqual(findings["spoof.psn-conflict"]["frames"], sorted(frames.index(pair) + 1 for pair in (own, *forged)))

    def test_a_stolen_psn_by_another_machine_that_is_quick(self):
        """By itself it may have come on another path; but then the true request behind it is not blamed."""
        for i in POSITIONS:
            forged = self.forged(i, -1 * US, ttl=63, port=0xd777, ident=500 + i)
            self.found("spoof.psn-conflict", forged, severity="high")

    def test_another_payload_on_an_unreliable_connection(self):
        """Which sends nothing again: where the reliable one has a note, one of the two is forged, whichever came first."""
        chance = random.Random(1)
        for opcode, rule in ((UC | WRITE_ONLY, "spoof.psn-conflict"), (WRITE_ONLY, "spoof.payload-changed")):
            def write(i, content=b"T"):
                return self.request.packet(opcode, FIRST_PSN + i, reth(BUFFER + 64 * i, 0x1234), content * 64, ident=500 + i)
            own = [(START + i * 10 * US, write(i)) for i in range(REQUESTS)]
            for lost in (0, 0.1):
                seen = [pair for pair in own if chance.random() >= lost]
                _, findings = self.audit([pair for pair in seen for _ in range(2)])
                self.assertEqual(findings, {})
                for i in POSITIONS:
                    for after_ns in (-US, US, 7 * US):
                        forged = (START + i * 10 * US + after_ns, write(i, b"E"))
                        frames = sorted({*seen, own[i], forged})
                        run, findings = self.audit(frames)
                        named = sorted((frames.index(forged) + 1, frames.index(own[i]) + 1))
                        self.assertEqual({name: finding["frames"] for name, finding in findings.items()},
                                         {rule: named if opcode != WRITE_ONLY else named[1:]}, (opcode, i, after_ns))
                        self.assertEqual(run.status == VIOLATED, opcode != WRITE_ONLY)

    def reading(self, asked_again):
        """READs of eight packets 20 us apart; of the last but three, some answers are lost and asked for again, in parts."""
        reads, packets, mtu = 40, 8, 256
        for i in range(reads):
            psn, at_ns = FIRST_PSN + i * packets, START + i * 20 * US
            yield at_ns, self.request.read(psn, BUFFER + i * 0x1000, packets * mtu)
            for k in range(packets):
                part = "first" if k == 0 else "last" if k == packets - 1 else "middle"
                yield at_ns + (5 + k) * US, self.answer.response(psn + k, part, bytes([i]) * mtu)
        psn, at_ns = FIRST_PSN + (reads - 1) * packets, START + reads * 20 * US
        for k, (first, count) in enumerate(asked_again):
            request = self.request.read(psn + first, BUFFER + (reads - 1) * 0x1000 + first * mtu, count * mtu)
            yield at_ns + k * 20 * US, request
            for n in range(count):
                part = "only" if count == 1 else "first" if n == 0 else "last" if n == count - 1 else "middle"
                yield at_ns + (k * 20 + 5 + n) * US, self.answer.response(psn + first + n, part, bytes([reads - 1]) * mtu)

    def test_a_read_that_is_asked_again_in_part(self):
        for parts in ([(0, 1)], [(0, 3), (5, 2)], [(2, 1), (2, 6)], [(5, 3), (0, 8)], [(3, 2), (3, 1), (0, 2)]):
            _, findings = self.audit(sorted(self.reading(parts)))
            self.assertEqual(findings, {}, parts)

    def test_a_read_of_another_place_under_its_psn(self):
        frames = sorted(self.reading([]))
        psn, at_ns = FIRST_PSN + 39 * 8, START + 39 * 20 * US + 2 * US
        for address, size in ((0x666000, 256), (BUFFER + 39 * 0x1000, 9 * 256)):
            forged = at_ns, self.request.read(psn, address, size)
            run, findings = self.audit(sorted([*frames, forged]))
            self.assertEqual(run.status, VIOLATED)
            self.assertEqual(len(findings["spoof.psn-conflict"]["frames"]), 2)

    def life(self, begin_ns, first_psn, ahead, requests=40):
        """WRITEs 10 us apart on queue pairs used anew; the first `ahead` are sent before the first is answered."""
        for i in range(requests):
            yield begin_ns + max(0, i - ahead) * 10 * US + i * 100, self.request.write(psn=first_psn + i, ident=5000 + i)
            yield begin_ns + i * 10 * US + 4 * US, self.answer.answer(first_psn + i, msn=i + 1, ident=9000 + i)

    def test_queue_pairs_that_are_used_anew(self):
        end_ns = START + REQUESTS * 10 * US
        for pause_ns in (US, MS, 30 * MS, 99 * MS):
            for ahead in (0, 1, 2, 3, 7):
                for first_psn in (100, 5_000_000, 12_345_678):
                    again = self.life(end_ns + pause_ns, first_psn, ahead)
                    _, findings = self.audit(sorted([*self.healthy(), *again]))
                    self.assertEqual(findings, {}, (pause_ns, ahead, first_psn))

    def test_for_few_requests_only(self):
        end_ns = START + REQUESTS * 10 * US
        for offset in (-4_000_000, -1_000_000, -70_000, 70_000, 1_000_000, 8_000_000):
            for requests in (1, 2, 3):
                again = self.life(end_ns + MS, (FIRST_PSN + offset) % (1 << 24), 0, requests)
                _, findings = self.audit(sorted([*self.healthy(), *again]))
                self.assertEqual(findings, {}, (offset, requests))

    def test_and_used_anew_again(self):
        lives = [(20 * k * MS, 5_000_011 * k % (1 << 24)) for k in range(1, 30)]
        again = [pair for begin_ns, psn in lives for pair in self.life(START + begin_ns, psn, 2)]
        _, findings = self.audit(sorted([*self.healthy(), *again]))
        self.assertEqual(findings, {})

    def far(self, numbers, answered, after=115):
        """READs far from the sequence in the midst of the connection, (offset, ns after); the peer may answer them."""
        frames, evil = [], []
        for k, offset in enumerate(numbers):
            at_ns, psn = START + (after + k) * 10 * US + 5 * US, (FIRST_PSN + offset) % (1 << 24)
            evil.append((at_ns, self.request.read(psn, 0x666000 + k, 64)))
            if answered:
                frames.append((at_ns + 2 * US, self.answer.response(psn, "only", bytes(64))))
        return frames, evil

    def test_a_psn_far_away(self):
        blind = [300_000 + 99_991 * k for k in range(40)]
        for numbers in ([-1_000_000], [70_000], [8_000_000], [-500_000, -499_999], blind):
            for answered in (False, True):
                for after in (20, 115):
                    answers, evil = self.far(numbers, answered, after)
                    frames = sorted([*self.healthy(), *answers, *evil])
                    forged = [n for n, pair in enumerate(frames, 1) if pair in evil]
                    _, findings = self.audit(frames)
                    self.assertIn("spoof.psn-window", findings, (numbers, answered))
                    window = findings["spoof.psn-window"]
                    self.assertEqual(window["frames"], forged[:32], (numbers, answered))
                    self.assertIn("frame %d:" % forged[0], " ".join(window["evidence"]))

    def stranger(self, offsets, at=100, source=STRANGER, dest_qp=0x22, opcode=WRITE_ONLY):
        """WRITEs from another host, between those of the connection: at so many PSNs from where it is."""
        other = Half(source, SERVER, dest_qp, 0xd777)
        for k, offset in enumerate(offsets):
            psn = (FIRST_PSN + at + k + offset) % (1 << 24)
            yield START + (at + k) * 10 * US + 6 * US, other.packet(opcode, psn, reth(0x666000, 0x1234), b"E" * 64, ask=True, ident=77 + k)

    def test_a_second_host_on_the_queue_pair_of_a_connection(self):
        for offsets in ([0], [1], [0, 0, 0], [-3, 5, 900], [30_000, -30_000]):
            forged = list(self.stranger(offsets))
            frames = sorted([*self.healthy(), *forged])
            first = min(n for n, pair in enumerate(frames, 1) if pair in forged)
            for workers in (1, 4):
                path = capture(self.folder / "second.pcap", frames)
                run = fabtap("audit", "-m", self.map, "--json", "--workers", workers, path)
                findings = {finding["rule"]: finding for finding in run.json()["findings"]}
                self.assertEqual(run.status, VIOLATED)
                self.assertEqual(set(findings), {"spoof.second-sender"})
                evidence = fabtap("audit", "-m", self.map, "--workers", workers, "-w", self.folder / "evidence.pcapng", path)
                self.assertEqual(evidence.status, VIOLATED)
                named = dict(enumerate((frame for _, frame in frames), 1))[first]
                kept = (self.folder / "evidence.pcapng").read_bytes()
                self.assertEqual(kept.count(named), 1)
                self.assertEqual(kept.count(b" spoof.second-sender"), 1)
                finding = findings["spoof.second-sender"]
                self.assertEqual((finding["severity"], finding["packets"], finding["frames"]), ("medium", len(offsets), [first]))
                self.assertEqual((finding["src"]["address"], finding["dst"]["address"], finding["dest_qps"]), (STRANGER, SERVER, [0x22]))
                self.assertIn("frame %d: " % first, finding["evidence"][-1])
                self.assertIn(CLIENT, finding["evidence"][-1])

    def test_a_second_port_on_the_queue_pair_of_a_connection_of_infiniband(self):
        (self.folder / "ib.json").write_text(json.dumps(INFINIBAND))
        frames = sorted([*self.healthy(), *self.stranger([0, 0, 0])])
        path = capture(self.folder / "ib.pcap", [(ts_ns, native(frame)) for ts_ns, frame in frames], LINKTYPE_INFINIBAND)
        for workers in (1, 4):
            run = fabtap("audit", "-m", self.folder / "ib.json", "--json", "--workers", workers, path)
            found = [finding for finding in run.json()["findings"] if finding["rule"].startswith("spoof.")]
            self.assertEqual([finding["rule"] for finding in found], ["spoof.second-sender"], run)
            self.assertEqual((found[0]["src"]["address"], found[0]["src"]["host"]), ("lid:3", "stranger"))
            self.assertEqual((found[0]["dst"]["address"], found[0]["dst"]["host"]), ("lid:2", "server"))
            self.assertEqual((found[0]["packets"], found[0]["dest_qps"]), (3, [0x22]))
            self.assertIn("lid:1", found[0]["evidence"][-1])

    def test_a_path_that_has_migrated_to_another_port_is_a_note(self):
        """IBA vol. 1, 17.2.8: for some requests the client uses its other port, whose answers are not in view."""
        (self.folder / "ib.json").write_text(json.dumps(INFINIBAND))
        for source, severity in (("10.0.0.4", "info"), (STRANGER, "medium")):
            frames = sorted([*self.healthy(), *self.stranger([0, 0, 0], source=source)])
            path = capture(self.folder / "ib.pcap", [(ts_ns, native(frame)) for ts_ns, frame in frames], LINKTYPE_INFINIBAND)
            run = fabtap("audit", "-m", self.folder / "ib.json", "--json", path)
            found = [(finding["rule"], finding["severity"]) for finding in run.json()["findings"]]
            self.assertEqual(found, [("spoof.second-sender", severity)])
            self.assertEqual(run.status, COMPLIANT if severity == "info" else VIOLATED)

    def test_what_an_earlier_peer_sends_again_is_a_note(self):
        again = [(at_ns, frame) for k in range(3) for at_ns, frame in self.stranger([7_000_000 - 20 * k], at=60 + 20 * k)]
        run, findings = self.audit(sorted([*self.healthy(), *again]))
        self.assertEqual(run.status, COMPLIANT)
        self.assertEqual({rule: finding["severity"] for rule, finding in findings.items()}, {"spoof.second-sender": "info"})

    def test_no_second_sender_where_two_are_legal(self):
        """A queue pair that goes to another peer, one of XRC or UD, another queue pair, one side alone, another VLAN."""
        healthy = list(self.healthy())
        taken, back = Half(STRANGER, SERVER, 0x22, 0xd777), Half(SERVER, STRANGER, 0x99, 0xd777)
        end_ns = START + REQUESTS * 10 * US + MS
        moved = [pair for i in range(40) for pair in ((end_ns + i * 10 * US, taken.write(psn=FIRST_PSN + REQUESTS + i)),
                                                     (end_ns + i * 10 * US + 4 * US, back.answer(FIRST_PSN + REQUESTS + i, msn=i + 1)))]
        requests = [pair for pair in healthy if pair[1][26:30] == number(CLIENT)]
        tagged = [(ts_ns, frame[:12] + b"\x81\0\0\x09" + frame[12:]) for ts_ns, frame in self.stranger([0, 0, 0])]
        for legal in (healthy + moved, healthy + moved[::2], healthy + list(self.stranger([0, 1], opcode=0xa0 | WRITE_ONLY)),
                      healthy + list(self.stranger([0, 1], opcode=0x64)), healthy + list(self.stranger([0, 1], dest_qp=0x23)),
                      requests + list(self.stranger([0, 1])), healthy + tagged):
            _, findings = self.audit(sorted(legal))
            self.assertNotIn("spoof.second-sender", findings)

    def test_a_queue_pair_that_its_first_peer_has_again(self):
        """Three jobs, the second with another peer whose answers are not in view; in the first the peer may send, or answer alone."""
        taken = Half(STRANGER, SERVER, 0x22, 0xd777)
        sends = Half(SERVER, CLIENT, 0x11), Half(CLIENT, SERVER, 0x22)
        answers_alone = [pair for i in range(40) for pair in ((START + i * 10 * US, sends[0].write(psn=i, ident=100 + i)),
                                                             (START + i * 10 * US + 4 * US, sends[1].answer(i, msn=i + 1, ident=300 + i)))]
        for pause in (200 * MS, 5000 * MS):
            between = [(START + pause + i * 10 * US, taken.write(psn=i, ident=700 + i)) for i in range(12)]
            again = list(self.life(START + 2 * pause, 0, 2))
            for first in (answers_alone, list(self.life(START, 0, 2))):
                _, findings = self.audit(sorted([*first, *between, *again]))
                self.assertNotIn("spoof.second-sender", {rule for rule, row in findings.items() if row["severity"] != "info"})

    def test_one_connection_seen_under_two_addresses(self):
        """Its requests pass again behind what translates the client's address; the answers do not."""
        outside = Half("10.9.9.9", SERVER, 0x22)
        frames = sorted(self.healthy())
        behind = [(ts_ns + 3 * US, outside.write(psn=FIRST_PSN + i, ident=500 + i))
                  for i, (ts_ns, _) in enumerate(pair for pair in frames if pair[1][26:30] == number(CLIENT))]
        for part in (behind, behind[100:]):
            run, findings = self.audit(sorted([*frames, *part]))
            self.assertEqual({f["severity"] for f in findings.values()} - {"info"}, set())

    def test_a_refusal_from_elsewhere(self):
        for i in POSITIONS:
            packet = self.answer.answer(FIRST_PSN + i, NAK_ACCESS, msn=i + 1, **FOREIGN)
            self.found("spoof.sender-changed", [(START + i * 10 * US + 2 * US, packet)])

    def test_guesses_of_keys(self):
        for begin_us in (50, 1150):
            for queue_pairs in (1, 4):  # one that is guessed on again and again, or one each
                probes, refusals = [], []
                for k in range(4):
                    qp = k % queue_pairs
                    asked, refused = Half(STRANGER, SERVER, 0x300 + qp, 0xd000 + qp), Half(SERVER, STRANGER, 0x400 + qp, 0xd000 + qp)
                    at_ns = START + begin_us * US + k * 50 * US
                    probes.append((at_ns, asked.packet(READ_REQUEST, 5000 + k, reth(0x1000, 0x101 * k), ask=True)))
                    refusals.append((at_ns + 5 * US, refused.answer(5000 + k, NAK_ACCESS)))
                self.found("spoof.access-errors", probes + refusals, blamed=refusals)

    def test_guesses_of_keys_one_a_minute(self):
        """Each on a connection of its own: told from the twelfth on. None if more than five minutes lie between them."""
        for minutes in (1, 4, 6):
            frames, refusals = list(self.healthy()), []
            for k in range(20):
                asked, refused = Half(STRANGER, SERVER, 0x300 + k, 0xd000 + k), Half(SERVER, STRANGER, 0x400 + k, 0xd000 + k)
                at_ns = START + 50 * US + 60 * 1000 * MS * minutes * k
                refusals.append((at_ns + 5 * US, refused.answer(5000 + k, NAK_ACCESS)))
                frames += [(at_ns, asked.packet(READ_REQUEST, 5000 + k, reth(0x1000, 0x101 * k), ask=True)), refusals[-1]]
            frames.sort()
            told = [n for n, pair in enumerate(frames, 1) if pair in refusals[11:]] if minutes <= 5 else None
            for workers in (1, 3):
                _, findings = self.audit(frames, "--workers", workers)
                found = {rule: (finding["severity"], finding["frames"]) for rule, finding in findings.items()}
                self.assertEqual(found, {"spoof.access-errors": ("medium", told)} if told else {}, minutes)

    def test_one_refusal_is_no_guessing(self):
        asked, refused = Half(STRANGER, SERVER, 0x300), Half(SERVER, STRANGER, 0x400)
        frames = [(START, asked.packet(READ_REQUEST, 5000, reth(0x1000, 1), ask=True)), (START + 5 * US, refused.answer(5000, NAK_ACCESS))]
        _, findings = self.audit(sorted([*self.healthy(), *frames]))
        self.assertEqual(findings, {})

    def test_a_search_for_queue_pairs(self):
        """Of a host that answers others of its peer's queue pairs."""
        talk, back = Half(STRANGER, SERVER, 0x55, 0xc777), Half(SERVER, STRANGER, 0x66, 0xc777)
        ordinary = [pair for i in range(20) for pair in
                    ((START + i * 5 * MS, talk.write(psn=i)), (START + i * 5 * MS + 4 * US, back.answer(i, msn=i + 1)))]
        search = [(START + MS + k * 500 * US, Half(STRANGER, SERVER, 0x300 + 3 * k, 0xd000).write(psn=99991 * k)) for k in range(120)]
        self.found("spoof.qp-scan", ordinary + search, blamed=search)

    def a_start(self, idle=0):
        """Of a job, one direction of it: each connection waits for its first answer, which is not in view, and goes on."""
        chance, frames = random.Random(1), []
        for k in range(2000):
            half = Half(STRANGER, SERVER, 0x1000 + k, 0xc000 + k, psn=chance.randrange(1 << 23))
            at_ns = START + chance.randrange(200 * MS)
            for _ in range(1 if chance.random() < idle else 4):
                frames.append((at_ns, half.write(ident=chance.randrange(1 << 16))))
                at_ns += chance.randrange(15 * MS, 400 * MS)
        return frames

    def test_a_start_of_which_one_direction_is_in_view_is_no_search(self):
        """Nor if a tenth of it is not used further. But a search beside it is one, and if it is all that there is."""
        search = [(START + k * MS // 2, Half(STRANGER, SERVER, 0x9000 + 3 * k, 0xd000).write(psn=99991 * k)) for k in range(700)]
        for frames, severity in ((self.a_start(), "info"), (self.a_start(idle=0.1), "info"), (search, "medium"),
                                 (self.a_start() + search, "medium")):
            for workers in (1, 3):
                run, findings = self.audit(sorted(frames), "--workers", workers)
                found = findings["spoof.qp-scan"]
                self.assertEqual((found["severity"], found["violation"]), (severity, severity != "info"))
                self.assertEqual(run.status == VIOLATED, severity != "info")
                violating = sum(pair["violating"] for pair in run.json()["matrix"])
                self.assertEqual(violating, 0 if severity == "info" else found["packets"])
                self.assertEqual("a start looks like that" in " ".join(found["evidence"]), severity == "info")

    def test_a_start_is_no_search_though_its_answers_are_lost_or_late(self):
        """While the mirror shows nothing of the server, or the server is slow; the connections go on later. A search beside it is one."""
        chance, talk, reply = random.Random(2), Half(STRANGER, SERVER, 0x55, 0xc777), Half(SERVER, STRANGER, 0x66, 0xc777)
        ordinary = [pair for i in range(60) for pair in ((START + i * 20 * MS, talk.write(psn=i)),
                                                         (START + i * 20 * MS + 4 * US, reply.answer(i, msn=i + 1)))]
        halves = [(Half(STRANGER, SERVER, 0x1000 + k, 0xc000 + k), Half(SERVER, STRANGER, 0x2000 + k, 0xc000 + k),
                   chance.randrange(1 << 23), START + 300 * MS + chance.randrange(300 * MS)) for k in range(300)]
        search = [(START + 310 * MS + k * MS, Half(STRANGER, SERVER, 0x9000 + 3 * k, 0xd000).write(psn=99991 * k)) for k in range(100)]
        for begin_ns, end_ns, answer_ns in ((290 * MS, 610 * MS, 4 * US), (0, 0, 40 * MS)):
            def is_shown(at_ns):
                return not START + begin_ns <= at_ns < START + end_ns
            start = [pair for there, back, psn, at_ns in halves for n in range(2) for pair in (
                (at_ns + 900 * n * MS, there.write(psn=psn + n)),
                (at_ns + 900 * n * MS + answer_ns, back.answer(psn + n, msn=n + 1)))]
            sent = {number(SERVER): is_shown, number(STRANGER): lambda at_ns: True}
            seen = [(at_ns, frame) for at_ns, frame in [*ordinary, *start] if sent[frame[26:30]](at_ns)]
            for evil, severity in (([], "info"), (search, "medium")):
                for workers in (1, 3):
                    run, findings = self.audit(sorted([*seen, *evil]), "--workers", workers)
                    self.assertEqual({rule: found["severity"] for rule, found in findings.items()}, {"spoof.qp-scan": severity})
                    self.assertEqual(run.status == VIOLATED, evil != [])
                    violating = sum(pair["violating"] for pair in run.json()["matrix"])
                    self.assertEqual(violating, findings["spoof.qp-scan"]["packets"] if evil else 0)

    def test_a_start_in_two_partitions_is_no_search_in_either(self):
        """Two findings between the same ends: what is used further counts for both."""
        halves = [Half(STRANGER, SERVER, first + k, psn=77 * k, pkey=pkey) for first, pkey in ((0x1000, 0xffff), (0x8000, 0x8001))
                  for k in range(600)]
        frames = [(START + i * MS // 2, half.write()) for i, half in enumerate(halves)]
        frames += [(START + 1000 * MS + (k * len(halves) + i) * 5 * US, half.write()) for k in range(9) for i, half in enumerate(halves)]
        run, _ = self.audit(sorted(frames))
        found = [(finding["pkey"], finding["severity"]) for finding in run.json()["findings"] if finding["rule"] == "spoof.qp-scan"]
        self.assertEqual(sorted(found), [("0x8001", "info"), ("0xffff", "info")])


if __name__ == "__main__":
    main()
