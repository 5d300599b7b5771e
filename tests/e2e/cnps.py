"""CNPs that nobody can have had a reason for; and those that receivers send for marked packets, of which the mirror may show
neither the marks nor the packets, lose some, or show some twice."""

import json
import random
import struct

from harness import COMPLIANT, NOT_EVIDENCED, VIOLATED, WithFolder, fabtap, main
from roce import EVERYBODY, LINKTYPE_INFINIBAND, Half, capture, mac, native, number
from injected import INFINIBAND, MS, START, US

RULE = "spoof.cnp-unsolicited"
CLIENT, SERVER, STRANGER = "10.0.0.1", "10.0.0.2", "10.0.0.3"
FIRST_PSN = 16_777_100
MTU = 1024
ONE_HOST = dict(EVERYBODY, nodes=[{"host": "server", "ports": [{"ip": SERVER}, {"ip": STRANGER}]}])


class Cnps(WithFolder):
    def setUp(self):
        super().setUp()
        self.map = self.folder / "any.map.json"
        self.map.write_text(json.dumps(EVERYBODY))
        self.request, self.answer = Half(CLIENT, SERVER, 0x22), Half(SERVER, CLIENT, 0x11)

    def audit(self, frames, *more, link_type=1, map_file=None, cut=None):
        """`cut`: bytes that the mirror keeps of each frame."""
        path = capture(self.folder / "cnps.pcap", frames, link_type)
        if cut is not None:
            records = [struct.pack("<IIII", *divmod(at, 10**9), min(cut, len(f)), len(f)) + f[:cut] for at, f in frames]
            path.write_bytes(path.read_bytes()[:24] + b"".join(records))
        run = fabtap("audit", "-m", map_file or self.map, "--json", *more, path)
        found = [finding for finding in run.json()["findings"] if finding["rule"].startswith("spoof.")]
        return run, found

    def writes(self, count, apart_ns, cnps_each=0, begin_ns=START):
        """WRITEs, each answered; the receiver may send CNPs for each, of marks that were made behind the mirror."""
        for i in range(count):
            at_ns = begin_ns + i * apart_ns
            yield at_ns, self.request.write(psn=FIRST_PSN + i, ident=i & 0xffff)
            yield at_ns + 4 * US, self.answer.answer(FIRST_PSN + i, msn=i + 1, ident=900 + i & 0xffff)
            for k in range(cnps_each):
                yield at_ns + 5 * US + k * 4 * US, self.answer.cnp()

    def reads(self, count, packets, apart_ns, shown=("first", "middle", "last")):
        """READs of so many packets; who asked sends a CNP for each packet of an answer, also those that are not shown."""
        for i in range(count):
            psn, at_ns = FIRST_PSN + i * packets, START + i * apart_ns
            yield at_ns, self.request.read(psn, 0x7f0000600000 + i * 0x100000, packets * MTU)
            for k in range(packets):
                part = "first" if k == 0 else "last" if k == packets - 1 else "middle"
                if part in shown:
                    yield at_ns + (5 + 5 * k) * US, self.answer.response(psn + k, part, bytes(MTU))
                yield at_ns + (9 + 5 * k) * US, self.request.cnp()

    def long_writes(self, count, packets):
        """Of many packets each, of which the mirror shows the first and the last."""
        at_ns, opcodes = START, {0: 0x06, packets - 1: 0x08}
        for i in range(count):
            first = FIRST_PSN + i * packets
            for k in range(packets):
                reth = struct.pack(">QII", 0x7f0000600000, 0x1234, packets * MTU) if k == 0 else b""
                if k in opcodes:
                    yield at_ns, self.request.packet(opcodes[k], first + k, reth, bytes(MTU), ask=k != 0)
                yield at_ns + 3 * US, self.answer.cnp()
                at_ns += 5 * US
            yield at_ns, self.answer.answer(first + packets - 1, msn=i + 1)
            at_ns += 5 * US

    def healthy(self):
        yield "a CNP for each packet", list(self.writes(600, 20 * US, cnps_each=1))
        yield "of a sender that was slowed down", list(self.writes(300, 1 * MS, cnps_each=1))
        yield "of answers to READs", list(self.reads(8, 100, 700 * US))
        yield "of packets that the mirror leaves out", list(self.long_writes(30, 60))
        yield "of answers that the mirror leaves out", list(self.reads(8, 300, 2 * MS, shown=("first", "last")))

    def test_what_a_receiver_sends_has_no_finding(self):
        chance = random.Random(1)
        for name, frames in self.healthy():
            frames.sort()
            cnp = bytes([0x81])
            ways = [("complete", frames), ("30 % lost, and the beginning", [f for f in frames[len(frames) // 3:] if chance.random() >= 0.3])]
            ways += [("twice", [(at + shift, frame) for at, frame in frames for shift in (0, 300)])]
            ways += [("hardly any data", [(at, f) for at, f in frames if f[42:43] == cnp or f[42:43] == b"\x11" or chance.random() < 0.05])]
            ways += [("none of the data for 7 ms", [(at, f) for at, f in frames if f[26:30] != number(CLIENT) or not 2700 * US <= at - START < 10 * MS])]
            ways += [("half a millisecond of data and answers left out, now and then",
                      [(at, f) for at, f in frames if f[42:43] == cnp or (at - START) // (MS // 2) % 3])]
            for how, shown in ways:
                run, found = self.audit(shown)
                self.assertEqual([finding for finding in found if finding["rule"] == RULE], [], (name, how))
                self.assertIn(run.status, (COMPLIANT, NOT_EVIDENCED), (name, how))

    def test_nor_where_lengths_are_cut_off(self):
        """Behind the BTH: when who answers a READ asks, too, nobody knows how many answers were left out before."""
        frames = list(self.reads(8, 300, 150 * MS, shown=("first", "last")))
        for i in range(8):
            at_ns = START + i * 150 * MS + MS
            frames += [(at_ns, self.answer.write(psn=70 + i)), (at_ns + 4 * US, self.request.answer(70 + i, msn=i + 1))]
        _, found = self.audit(sorted(frames), cut=56)
        self.assertEqual(found, [])

    def stranger(self, count=20, source=STRANGER, dest_qp=0x11, begin_us=500):
        other = Half(source, CLIENT, dest_qp, 0xd777)
        return [(START + (begin_us + 60 * k) * US, other.cnp(ident=700 + k)) for k in range(count)]

    def test_a_stranger_that_slows_a_connection_down(self):
        chance = random.Random(2)
        forged = self.stranger(60)
        complete = sorted([*self.writes(1000, 10 * US), *forged])
        lossy = [pair for pair in complete if chance.random() >= 0.3]
        twice = [(at + shift, frame) for at, frame in complete for shift in (0, 300)]
        answers = [pair for pair in complete if pair[1][26:30] != number(CLIENT)]
        for frames, cnps in ((complete, 60), (lossy, sum(pair in forged for pair in lossy)), (twice, 60)):
            for workers in (1, 4):
                first = min(n for n, pair in enumerate(frames, 1) if pair in forged)
                evidence = self.folder / "evidence.pcapng"
                run, found = self.audit(frames, "--workers", workers, "-w", evidence)
                self.assertEqual(run.status, VIOLATED)
                self.assertEqual([(f["rule"], f["severity"], f["packets"], f["frames"]) for f in found],
                                 [(RULE, "medium", cnps, [first])])
                self.assertEqual((found[0]["src"]["address"], found[0]["dst"]["address"], found[0]["dest_qps"]),
                                 (STRANGER, CLIENT, [0x11]))
                self.assertIn("the first of %d CNPs" % cnps, found[0]["evidence"][-1])
                self.assertIn(SERVER, found[0]["evidence"][-1])
                self.assertEqual(evidence.read_bytes().count(frames[first - 1][1]), 1)
        self.assertEqual(self.audit(answers)[1], [])  # that it is a connection does not show

    def test_a_stranger_on_infiniband(self):
        (self.folder / "ib.json").write_text(json.dumps(INFINIBAND))
        frames = [(at, native(frame)) for at, frame in sorted([*self.writes(200, 10 * US), *self.stranger(20, begin_us=500)])]
        _, found = self.audit(frames, link_type=LINKTYPE_INFINIBAND, map_file=self.folder / "ib.json")
        self.assertEqual([(f["rule"], f["src"]["host"], f["dst"]["host"]) for f in found], [(RULE, "stranger", "client")])
        self.assertIn("lid:2", found[0]["evidence"][-1])

    def test_no_stranger(self):
        """Few, to another queue pair, before or after the connection, and in another VLAN."""
        writes = list(self.writes(300, 10 * US))
        tagged = [(at, frame[:12] + b"\x81\0\0\x09" + frame[12:]) for at, frame in self.stranger()]
        for others in (self.stranger(15), self.stranger(dest_qp=0x12), self.stranger(begin_us=-5000), self.stranger(begin_us=3100),
                       self.stranger(dest_qp=1), tagged):
            self.assertEqual(self.audit(sorted([*writes, *others]))[1], [])

    def test_another_port_of_the_peer_is_a_note(self):
        (self.folder / "host.json").write_text(json.dumps(ONE_HOST))
        frames = sorted([*self.writes(300, 10 * US), *self.stranger()])
        run, found = self.audit(frames, map_file=self.folder / "host.json")
        self.assertEqual([(f["rule"], f["severity"], f["violation"]) for f in found], [(RULE, "info", False)])
        self.assertEqual(run.status, COMPLIANT)

    def flood(self, apart_us=20, **how):
        """In the peer's name, on a connection that sends a packet each millisecond."""
        cnps = [(START + 100 * MS + k * apart_us * US, self.answer.cnp(**how)) for k in range(1000)]
        return cnps, sorted([*self.writes(300, 1 * MS), *cnps])

    def test_more_cnps_than_packets(self):
        foreign, routed = {"smac": mac(number("9.9.9.9"))}, {"smac": mac(number("9.9.9.9")), "ttl": 63}
        for how, severity in (({}, "info"), (foreign, "medium"), (routed, "info")):
            cnps, frames = self.flood(**how)
            evidence = self.folder / "evidence.pcapng"
            run, found = self.audit(frames, "-w", evidence)
            self.assertEqual([(f["rule"], f["severity"]) for f in found], [(RULE, severity)])
            self.assertEqual(run.status, COMPLIANT if severity == "info" else VIOLATED)
            self.assertEqual(found[0]["src"]["address"], SERVER)
            self.assertGreater(found[0]["packets"], 800)
            named = frames[found[0]["frames"][0] - 1]
            self.assertIn(named, cnps)
            self.assertEqual(evidence.read_bytes().count(named[1]), 1)
            self.assertIn(("%s %s" % (found[0]["id"], RULE)).encode(), evidence.read_bytes())
            self.assertEqual("instead of" in found[0]["evidence"][-1], how is foreign)

    def test_not_many_more_is_none(self):
        _, frames = self.flood(apart_us=300)
        self.assertEqual(self.audit(frames)[1], [])


if __name__ == "__main__":
    main()
