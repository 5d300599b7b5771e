"""What is held against senders: injected packets are found, and nothing of what is legal is."""

import json
import random
import re
import struct

import roce
from harness import DATA, PROJECT, WithFolder, fabtap, main, shared
from pcapfile import read_pcap, write_pcap

LABELS = ("injected", "nak_remote_access")
TTL, SMAC = 22, range(6, 12)  # in an untagged Ethernet frame with IPv4
SEED = 20261121


def legal_captures():
    folders = [DATA / "captures", DATA / "tenants"]
    if shared():
        folders += [shared() / "captures", shared() / "captures" / "nccl"]
    found = {path.name: path for folder in folders for path in sorted(folder.glob("*.pcap"))}
    return [path for name, path in sorted(found.items()) if not name.startswith(("tenants-", "mads"))]


def behind_a_router(record):
    """The record as the next hop's port shows it; None if it is not plain IPv4."""
    frame = bytearray(record[16:])
    if len(frame) < 34 or frame[12:14] != b"\x08\x00":
        return None
    frame[TTL] -= 1
    for at in SMAC:
        frame[at] ^= 0x15
    return record[:16] + bytes(frame)


class Spoof(WithFolder):
    def setUp(self):
        super().setUp()
        self.map = self.folder / "any.map.json"
        self.map.write_text(json.dumps(roce.EVERYBODY))

    def findings(self, capture, *more):
        document = fabtap("audit", "-m", self.map, "--json", *more, capture).json()
        return {f["rule"]: f for f in document["findings"] if f["rule"].startswith("spoof.")}

    def clean(self, name, records, header):
        capture = write_pcap(self.folder / "changed.pcap", header, records)
        held = {rule: f["evidence"] for rule, f in self.findings(capture).items() if f["severity"] != "info"}
        self.assertFalse(held, name)

    def test_injected_packets_and_probes_are_found(self):
        truth = [json.loads(line) for line in (DATA / "vectors" / "expected.jsonl").read_text().splitlines()]
        captures = sorted((DATA / "vectors").glob("flow_rc_*.pcap"))
        self.assertTrue(captures)
        for capture in captures:
            flows = {p["frame"]: p["flow"] for p in truth if p["file"] == capture.name}
            guilty = {n for n, flow in flows.items() if flow["event"] in LABELS or flow.get("conflict")}
            found = self.findings(capture)
            self.assertLessEqual({"spoof.psn-conflict", "spoof.access-errors", "spoof.sender-changed", "spoof.psn-window"}, set(found))
            self.assertEqual(found["spoof.psn-conflict"]["severity"], "high")
            self.other_is_named(found["spoof.psn-conflict"], [p for p in truth if p["file"] == capture.name])
            for rule, finding in found.items():
                self.assertLessEqual(set(finding["frames"]), guilty, rule)
                self.assertTrue(0 < finding["certainty"] < 1, rule)
            window = [n for n, flow in flows.items() if "psn_window" in flow.get("indicators", [])]
            self.assertEqual(found["spoof.psn-window"]["frames"], window)

    def other_is_named(self, finding, packets):
        """The frame of the other request with the PSN, which passed before and went to the same queue pair."""
        first, other = map(int, re.search(r"frame (\d+): .*before, in frame (\d+)$", " ".join(finding["evidence"])).groups())
        aim = {p["frame"]: (p["ip"]["src"], p["dest_qp"], p["psn"]) for p in packets}
        self.assertEqual(aim[first], aim[other])
        self.assertLess(other, first)

    def connection(self, first, operation):
        """Frames of 300 requests and what answers each: the n-th request is frame 2n + 1."""
        there, back = roce.Half("10.0.0.1", "10.0.0.2", 0x22, psn=first), roce.Half("10.0.0.2", "10.0.0.1", 0x11)
        ask = {"write": lambda i: there.write(ident=i), "read": lambda i: there.read(first + i, 4096 * i, 64)}[operation]
        reply = {"write": lambda i: back.answer(first + i, msn=i + 1, ident=i),
                 "read": lambda i: back.response(first + i, "only", bytes(64), ident=i)}[operation]
        return [frame for i in range(300) for frame in (ask(i), reply(i))]

    def test_the_other_of_two_requests_is_named_by_any_number_of_workers(self):
        """If it is among the 1024 frames before; many other connections lie between the two."""
        start = 1_750_000_000 * 10**9
        others = [roce.Half(f"10.1.{n}.1", "10.2.0.2", n) for n in range(250)]
        between = [half.write(ident=i) for i in range(10) for half in others]
        frames = self.connection(7000, "write")[:400]
        for gap in (0, 5, 1000, 1022, 1023, 2500):
            forged = roce.Half("10.0.0.1", "10.0.0.2", 0x22).write(7199, size=32, ident=200)
            path = roce.capture(self.folder / "a.pcap", [(start + 5000 * i, frame) for i, frame in enumerate(
                frames + between[:gap] + [forged])])
            said, evidence = set(), self.folder / "evidence.pcapng"
            for workers in (1, 2, 3):
                said.add(" ".join(self.findings(path, "--workers", workers, "-w", evidence)["spoof.psn-conflict"]["evidence"]))
                self.assertEqual([evidence.read_bytes().count(f) for f in (frames[398], forged)], [int(gap + 2 <= 1024), 1], gap)
            self.assertEqual(len(said), 1)
            self.assertEqual("passed before, in frame 399" in said.pop(), gap + 2 <= 1024, gap)

    def test_evidence_has_both_of_two_requests_that_differ_once(self):
        """Under the rule's name, however many differ from the first one, and whatever else they differ in."""
        start, evidence = 1_750_000_000 * 10**9, self.folder / "evidence.pcapng"
        frames, changed = self.connection(7000, "write")[:400], roce.Half("10.0.0.1", "10.0.0.2", 0x22)
        other_size = [changed.write(7199, size=size, ident=200) for size in (32, 28, 24)]
        above = struct.pack(">QII", 0x7f0000001000 + 4096 * 7199, 0x1234, 64)
        other_payload = [changed.packet(roce.WRITE_ONLY, 7199, above, bytes([n]) * 64, ask=True, ident=200) for n in (1, 2, 3)]
        for rule, forged, named in (("spoof.psn-conflict", other_size, [399, 401, 402, 403]),
                                    ("spoof.payload-changed", other_payload, [401, 402, 403])):
            path = roce.capture(self.folder / "a.pcap", [(start + 5000 * i, frame) for i, frame in enumerate([*frames, *forged])])
            for workers in (1, 2):
                found = self.findings(path, "--workers", workers, "-w", evidence)
                self.assertEqual(found[rule]["frames"], named)
                kept = evidence.read_bytes()
                self.assertEqual([kept.count(frame) for frame in (frames[398], frames[396], *forged)], [1, 0, 1, 1, 1])
                self.assertEqual(kept.count(found[rule]["id"].encode() + b" " + rule.encode()), 4)

    def write(self, number, last=0, **how):
        """The request of this number: of a counting sender, with a payload of 1000 bytes."""
        above = struct.pack(">QII", 0x7f0000001000 + 4096 * number, 0x1234, 1000)
        how = {"ask": True, "ident": 100 + 2 * number, **how}
        return roce.Half("10.0.0.1", "10.0.0.2", 0x22).packet(roce.WRITE_ONLY, 7000 + number, above, bytes(999) + bytes([last]), **how)

    def test_the_other_of_two_requests_is_found_far_from_the_first_and_by_its_last_byte(self):
        """Forged ahead of the sender or behind it; what is sent again may ask or not, and has an IP identification of its own."""
        back = roce.Half("10.0.0.2", "10.0.0.1", 0x11)
        frames = [f for i in range(120) for f in (self.write(i), back.answer(7000 + i, msn=i + 1, ident=i))]
        for form in (lambda frame: frame, roce.version1, roce.native, lambda frame: roce.vxlan(frame, 77)):
            link_type = roce.LINKTYPE_INFINIBAND if form is roce.native else 1
            for at in (35, 55, 59, 60, 61, 63, 64, 100):
                ident = 100 + 2 * at - 1
                for request, found in ((self.write(60, 1, ident=ident), ["spoof.payload-changed"]),
                                       (self.write(60, 1, ident=ident, ask=False), ["spoof.payload-changed"]),
                                       (self.write(60, ident=ident, ask=at % 2 == 0), [])):
                    changed = [*map(form, frames[:2 * at]), form(request), *map(form, frames[2 * at:])]
                    path = roce.capture(self.folder / "a.pcap", [(10**18 + 5000 * i, f) for i, f in enumerate(changed)], link_type)
                    told = self.findings(path)
                    self.assertEqual(list(told), found, (at, form))
                    if found:
                        self.assertEqual(told[found[0]]["frames"], [122 if at <= 60 else 2 * at + 1])

    def test_a_response_with_another_payload_is_found(self):
        """Sent again, it may have another IP identification and count other messages."""
        there, back = roce.Half("10.0.0.1", "10.0.0.2", 0x22), roce.Half("10.0.0.2", "10.0.0.1", 0x11)

        def answer(i, ident, last=0, msn=None):
            above = struct.pack(">I", roce.ACK << 24 | (i + 1 if msn is None else msn))
            return back.packet(0x10, 7000 + i, above, bytes(999) + bytes([last]), ident=ident)
        frames = [f for i in range(120) for f in (there.read(7000 + i, 4096 * i, 1000), answer(i, 100 + 2 * i))]
        for form in (lambda frame: frame, roce.version1, lambda frame: roce.vxlan(frame, 77)):
            for at in (61, 62, 64, 100):
                for response, found in ((answer(60, 99 + 2 * at, last=1), ["spoof.payload-changed"]),
                                        (answer(60, 99 + 2 * at, msn=at), [])):
                    changed = [*map(form, frames[:2 * at]), form(response), *map(form, frames[2 * at:])]
                    told = self.findings(roce.capture(self.folder / "a.pcap", [(10**18 + 5000 * i, f) for i, f in enumerate(changed)]))
                    self.assertEqual(list(told), found, (at, form))
                    if found:
                        self.assertEqual(told[found[0]]["frames"], [2 * at + 1])
                        self.assertIn("RC_RDMA_READ_RESPONSE_ONLY with PSN 7060 again, with another payload than in frame 122",
                                      " ".join(told[found[0]]["evidence"]))

    def unasked(self, frames):
        start = 1_750_000_000 * 10**9
        path = roce.capture(self.folder / "a.pcap", [(start + 5000 * i, frame) for i, frame in enumerate(frames)])
        finding = self.findings(path, "-w", self.folder / "evidence.pcapng").get("spoof.unasked-response")
        return finding["frames"] if finding else []

    def test_responses_to_what_was_no_read_are_found_and_none_that_a_lost_read_explains(self):
        chance = random.Random(SEED)
        for first in chance.sample(range(1 << 23), 4):
            frames = self.connection(first, "write")
            at, back = chance.randrange(200, 500), chance.randrange(1, 90)
            forged = roce.Half("10.0.0.2", "10.0.0.1", 0x11).response(first + at // 2 - back, "only", bytes(64), ident=at // 2)
            self.assertEqual(self.unasked(frames[:at] + [forged] + frames[at:]), [at + 1])
            self.assertIn(forged, (self.folder / "evidence.pcapng").read_bytes())
            for lost in (0, 0.003, 0.1, 0.5):
                seen = [f for f in self.connection(first, "read") if chance.random() >= lost]
                self.assertEqual(self.unasked(seen[chance.randrange(len(seen) // 2):]), [], lost)

    def outlived(self, frames, form, *more):
        """frames: with the times since the one before, in us. What the rule finds: its frames and what it says."""
        times = [10**18 + 1000 * sum(us for us, _ in frames[:i + 1]) for i in range(len(frames))]
        path = roce.capture(self.folder / "a.pcap", [(ts_ns, form(frame)) for ts_ns, (_, frame) in zip(times, frames)],
                            roce.LINKTYPE_INFINIBAND if form is roce.native else 1)
        finding = self.findings(path, *more).get("spoof.nak-outlived")
        return (finding["frames"], finding["severity"], finding["evidence"][-1]) if finding else None

    def test_a_connection_that_goes_on_after_a_nak_that_ends_it_is_found(self):
        """IBA vol. 1, 9.9.3: who sends NAK 1, 2 or 3 is in the error state, and acknowledges nothing more."""
        back, legal, evidence = roce.Half("10.0.0.2", "10.0.0.1", 0x11), self.connection(7000, "write")[:100], self.folder / "e.pcapng"

        def refused(code, psn=7030, pause_us=5, then=legal[61:]):
            return [(5, f) for f in legal[:61]] + [(5, back.answer(psn, code, msn=30, ident=30)), (pause_us, then[0])] + [(5, f) for f in then[1:]]
        for form in (lambda frame: frame, roce.native):
            for code in (0x61, 0x62, 0x63):
                for workers in ("1", "3"):
                    said = "frame 63: RC_ACKNOWLEDGE for PSN 7030, though the NAK in frame 62 had ended the connection"
                    self.assertEqual(self.outlived(refused(code), form, "--workers", workers, "-w", evidence), ([62], "info", said))
                    if form is not roce.native:  # there, everybody is an unknown endpoint, too
                        self.assertEqual([evidence.read_bytes().count(f) for _, f in refused(code)[60:65]], [0, 1, 1, 0, 0])
            anew = self.connection(5_000_000, "write")[:40]
            for fine in (refused(roce.NAK_SEQUENCE), refused(roce.RNR_NAK),    # the connection goes on after these
                         refused(0x62, then=legal[62::2]),                      # the sender alone does
                         refused(0x62, psn=7080),                               # what came before was acknowledged
                         refused(0x62, pause_us=10_001),                        # time to set it up anew
                         refused(0x62, then=anew)):                             # or it was
                self.assertIsNone(self.outlived(fine, form))

    def test_a_queue_pair_that_begins_anew_is_no_search_for_its_psn_by_any_number_of_workers(self):
        chance = random.Random(SEED)
        for first in chance.sample(range(1 << 22), 3):
            frames = self.connection(first, "write")[:120] + self.connection(first + 5_000_000, "write")[:120]
            path = roce.capture(self.folder / "a.pcap", [(10**18 + 5000 * i, frame) for i, frame in enumerate(frames)])
            for workers in (1, 2, 3):
                self.assertEqual(self.findings(path, "--workers", workers), {}, workers)

    def test_another_sender_is_told_in_either_version_of_roce(self):
        """By its source MAC and a TTL that another system starts from: IP's, or the hop limit of a GRH."""
        there, back = roce.Half("10.0.1.1", "10.0.2.1", 0x22), roce.Half("10.0.2.1", "10.0.1.1", 0x11)
        frames = [f for psn in range(40) for f in (there.write(), back.answer(psn, msn=psn + 1))]
        frames.append(there.write(smac=b"\x02\x66\x66\x66\x66\x66", ttl=255))
        for form in (lambda frame: frame, roce.version1):
            capture = roce.capture(self.folder / "a.pcap", [(10**18 + 1000 * i, form(f)) for i, f in enumerate(frames)])
            found = self.findings(capture)
            self.assertEqual(list(found), ["spoof.sender-changed"])
            self.assertEqual(found["spoof.sender-changed"]["frames"], [81])
            self.assertRegex(" ".join(found["spoof.sender-changed"]["evidence"]), "source MAC .* TTL 255 instead of 64")

    def test_another_style_of_identifications_is_told_once(self):
        """By itself: of one packet, or from there on; a counter that skips is none, nor a change after a pause."""
        counted, constant = (lambda i: 30_000 + i), (lambda i: 0)
        for style, other, told in ((counted, constant, True), (constant, counted, True), (counted, lambda i: 7 + i, False),
                                   (constant, constant, False)):
            for last, pause_ns in ((41, 0), (60, 0), (60, 10**9)):
                half, back = roce.Half("10.0.0.1", "10.0.0.2", 0x22, psn=500), roce.Half("10.0.0.2", "10.0.0.1", 0x11)
                frames = [f for i in range(60) for f in (half.write(ident=(other if 40 <= i < last else style)(i)),
                                                         back.answer(500 + i, msn=i + 1, ident=i))]
                path = roce.capture(self.folder / "a.pcap", [(10**18 + 5000 * i + pause_ns * (i >= 80), f) for i, f in enumerate(frames)])
                found = {rule: (f["severity"], f["frames"]) for rule, f in self.findings(path).items()}
                expected = {"spoof.sender-varies": ("info", [81])} if told and not pause_ns else {}
                self.assertEqual(found, expected, (style(1), other(1), last, pause_ns))

    def test_a_hop_explains_no_other_counter_of_identifications(self):
        """Another sender's packets come through a router, too: the counter tells, if it is not that of a mirror that lags."""
        for ident, found in ((45000, True), (9000, True), (2000, False), (3040, False)):
            there, back = roce.Half("10.0.1.1", "10.0.2.1", 0x22), roce.Half("10.0.2.1", "10.0.1.1", 0x11)
            frames = [f for psn in range(40) for f in (there.write(ident=3000 + psn), back.answer(psn, msn=psn + 1, ident=70 + psn))]
            frames.append(there.write(smac=b"\x02\x66\x66\x66\x66\x66", ttl=63, dscp=0, ident=ident))
            capture = roce.capture(self.folder / "a.pcap", [(10**18 + 1000 * i, f) for i, f in enumerate(frames)])
            numbers = [f["frames"] for rule, f in self.findings(capture).items() if rule == "spoof.sender-changed"]
            self.assertEqual(numbers, [[81]] if found else [], ident)

    def test_a_hop_seen_late_has_an_earlier_identification(self):
        """Of a packet, or of an answer, that one mirror lost and the one behind the router shows after others."""
        router = {"smac": b"\x02\x66\x66\x66\x66\x66", "ttl": 63}
        there, back = roce.Half("10.0.1.1", "10.0.2.1", 0x22), roce.Half("10.0.2.1", "10.0.1.1", 0x11)
        frames = [f for psn in range(80) for f in (there.write(psn, ident=250 * psn), back.answer(psn, msn=psn + 1, ident=250 * psn))]
        for lost, late in ((60, there.write(30, ident=7500, **router)), (61, back.answer(30, msn=31, ident=7500, **router))):
            seen = frames[:lost] + frames[lost + 1:] + [late]
            capture = roce.capture(self.folder / "a.pcap", [(10**18 + 1000 * i, f) for i, f in enumerate(seen)])
            self.assertEqual(self.findings(capture), {}, lost)

    FORMS = (lambda frame: frame, roce.version1, lambda frame: roce.vxlan(frame, 77))

    def held(self, pairs, form=lambda frame: frame):
        """{rule: frame numbers} of frames at these times, any number of workers."""
        capture = roce.capture(self.folder / "a.pcap", [(ts_ns, form(frame)) for ts_ns, frame in sorted(pairs, key=lambda pair: pair[0])])
        one, three = (self.findings(capture, "--workers", workers) for workers in (1, 3))
        self.assertEqual(one, three)
        return {rule: finding["frames"] for rule, finding in one.items()}

    def datagrams(self, count=200, first=1000, gap_ns=100_000):
        """Of one queue pair, a third of whose PSNs go to others: [(time, frame)]; the PSN after each in order."""
        half, chance, psn, pairs = roce.Half("10.0.0.1", "10.0.0.2", 0x22), random.Random(first), first, []
        for i in range(count):
            psn += chance.choice((1, 1, 2))
            pairs.append((10**18 + gap_ns * i, half.datagram(0x50, psn % (1 << 24), ident=(psn * 5) % (1 << 16))))
        return pairs

    def test_another_sender_of_datagrams_is_told_in_any_form(self):
        """By its card's address and any counter; by its PSNs alone with less weight; by what it replaces."""
        own, half = self.datagrams(), roce.Half("10.0.0.1", "10.0.0.2", 0x22)
        card, router = {"smac": b"\x02\x66\x66\x66\x66\x66"}, {"smac": b"\x02\x66\x66\x66\x66\x66", "ttl": 62, "port": 0xd777}
        at_ns, psn = own[150][0] + 5, struct.unpack(">I", own[150][1][50:54])[0] & 0xffffff
        for form, cases in ((self.FORMS[0], ((card, "sender-changed"), (router, "sender-changed"), ({"port": 0xd777}, "sender-changed"))),
                            (roce.version1, ((card, "sender-changed"), ({"ttl": 255}, "sender-changed"), ({}, "psn-window"))),
                            (self.FORMS[2], ((card, "sender-changed"),))):
            for how, rule in cases:
                evil = (at_ns, half.datagram(0x50, 9_000_000, ident=77, **how))
                self.assertEqual(self.held(own + [evil], form), {"spoof." + rule: [152]}, how)
            other = (at_ns, half.datagram(0x50, psn, payload=bytes(32), ident=(psn * 5) % (1 << 16)))
            self.assertEqual(self.held(own + [other], form), {"spoof.psn-conflict": [151, 152]})

    def test_nothing_is_held_against_healthy_senders_of_datagrams(self):
        chance = random.Random(SEED)
        for first in (0, 1000, (1 << 24) - 50, 7_654_321):
            own = self.datagrams(first=first)
            again = [(t + 50 * 10**6, frame) for t, frame in self.datagrams(first=first ^ 0x5a5a5a)]
            again = [(t + own[-1][0] - 10**18, frame) for t, frame in again]
            router = [(t, behind_a_router(bytes(16) + frame)[16:]) for t, frame in own]
            for name, seen in (
                    ("30 % lost", [pair for pair in own if chance.random() < 0.7]),
                    ("reordered", [(t + chance.randrange(400_000), frame) for t, frame in own]),
                    ("doubled late", own + [(t + 5_000_000, frame) for t, frame in own]),
                    ("a router's side later", [(t + chance.choice((3000, 70_000_000)), frame) for t, frame in router] + own),
                    ("either side of a router", [chance.choice(both) for both in zip(own, router)]),
                    ("lives", own + again)):
                for form in self.FORMS:
                    self.assertEqual(self.held(seen, form), {}, (name, first))

    def test_a_search_for_queue_pairs_by_datagrams(self):
        """One datagram each, where the host sends others; none of a service that answers, seen from both sides or from one."""
        there, back = ("10.0.0.1", "10.0.0.2"), ("10.0.0.2", "10.0.0.1")
        talk = [(10**18 + 10**7 * i + 4000 * n, roce.Half(*(there, back)[n], 0x22 + n).datagram(0x23 - n, i)) for i in range(40) for n in (0, 1)]
        search = [(10**18 + 10**6 * i + 7, roce.Half(*there, 0x400 + i).datagram(0x66, 5000 + i)) for i in range(200)]
        asked = [(10**18 + 500_000 * i, roce.Half(*back, 0x99).datagram(0x1000 + i, 77 * i)) for i in range(900)]
        answers = [(10**18 + 500_000 * i + 9000, roce.Half(*there, 0x1000 + i).datagram(0x99, i)) for i in range(900)]
        for form in self.FORMS:
            found = self.held(talk + search, form)
            self.assertEqual(list(found), ["spoof.qp-scan"])
            frames = sorted(talk + search)
            self.assertTrue(all(frames[number - 1] in search for number in found["spoof.qp-scan"]))
            for healthy in (asked + answers, asked[::4] + answers, answers):
                self.assertEqual(self.held(talk * (healthy is not answers) + healthy, form), {})

    def test_guesses_of_a_qkey_are_told_from_the_fourth_on(self):
        half = roce.Half("10.0.0.1", "10.0.0.2", 0x22)
        own = [(10**18 + 10**6 * i, half.datagram(0x50, i)) for i in range(60)]
        for guesses in (1, 2, 3, 4, 20):
            evil = [(10**18 + 3 * 10**6 * i + 5, half.datagram(0x66, 9000 + i, qkey=1000 + i)) for i in range(guesses)]
            for form in self.FORMS:  # own frame 3i + 1, guess 4i + 2
                told = {"spoof.qkey-guesses": [4 * i + 2 for i in range(2, guesses)]} if guesses > 2 else {}
                self.assertEqual(self.held(own + evil, form), told, guesses)

    def test_the_documented_findings_say_what_they_rest_on(self):
        examples = re.findall(r"^### `(spoof\.[\w-]+)`\n(?:(?!###).*\n)*?> (frame .+)\n>\n> `(flow_rc_\d\.pcap)`, frame (\d+)$",
                              (PROJECT / "docs" / "findings.md").read_text(), re.M)
        self.assertEqual(len(examples), 5)
        for rule, sentence, capture, frame in examples:
            finding = self.findings(DATA / "vectors" / capture)[rule]
            self.assertIn(sentence, finding["evidence"])
            self.assertEqual(finding["frames"][0], int(frame))

    def test_nothing_is_held_against_legal_traffic(self):
        for path in legal_captures():
            header, records = read_pcap(path)
            self.clean(path.name, records, header)

    def test_nor_if_frames_are_missing_doubled_or_come_from_two_places(self):
        chance = random.Random(SEED)
        for path in legal_captures():
            header, records = read_pcap(path)
            seen = [[r for r in (record, behind_a_router(record)) if r and chance.random() < 0.8] for record in records]
            changes = {
                "1 % lost": [r for r in records if chance.random() >= 0.01],
                "30 % lost": [r for r in records if chance.random() >= 0.3],
                "doubled": [r for record in records for r in (record, record)],
                "two viewpoints that lose a fifth each": [r for both in seen for r in both],
            }
            for what, changed in changes.items():
                self.clean("%s, %s" % (path.name, what), changed, header)


if __name__ == "__main__":
    main()
