"""What a report says of rates, congestion, pauses, silences and clocks; every expected number is worked out by hand."""

import json
import struct

from harness import COMPLIANT, FAILED, VIOLATED, WithFolder, fabtap, main, shared
from roce import CE, ECT, RNR_NAK, Half, capture, mac, number, pause, version1, vxlan

START = 1_700_000_000 * 10**9  # a whole second
US, MS, SECOND = 10**3, 10**6, 10**9
RED, BLUE, STORE = "10.0.1.1", "10.0.2.1", "10.0.9.1"


def declared(**quotas):
    """red and blue, each on its own subnet, and a storage service that both may use."""
    tenants = [{"name": "red", "class": "customer"}, {"name": "blue", "class": "customer"}, {"name": "store", "class": "shared"}]
    for tenant in tenants:
        if tenant["name"] in quotas:
            tenant["options"] = {"quota_gbps": quotas[tenant["name"]]}
    return {
        "schema": "tapmap/1", "map_id": "congestion", "serial": 1, "issued_at": "2020-01-01T00:00:00Z", "issuer": "tests",
        "fabric": {"kind": "roce"}, "tenants": tenants,
        "nodes": [{"host": tenant["name"] + "1", "ports": [{"ip": ip, "mac": mac(number(ip)).hex(":")}]}
                  for tenant, ip in zip(tenants, (RED, BLUE, STORE))],
        "segments": [{"name": name, "tenant": name, "intervals": [
            {"from": "2000-01-01T00:00:00Z", "to": None, "members": [{"subnet": ip.rsplit(".", 1)[0] + ".0/24"}]}]}
            for name, ip in (("red", RED), ("blue", BLUE), ("store", STORE))],
        "exceptions": [{"id": "storage", "kind": "shared-service", "to_tenant": "store"}],
    }


class Reports(WithFolder):
    maxDiff = 3000

    def audit(self, frames, *more, text=False, **quotas):
        """frames: one list of (time, frame) per input."""
        (self.folder / "map.json").write_text(json.dumps(declared(**quotas)))
        inputs = [capture(self.folder / ("%d.pcap" % i), one) for i, one in enumerate(frames)]
        return fabtap("audit", "-m", self.folder / "map.json", *(() if text else ("--json",)), *more, *inputs)

    def tenants(self, *arguments, **quotas):
        return {row["name"]: row for row in self.audit(*arguments, **quotas).json()["tenants"]}


class Rates(Reports):
    """1000 bytes of payload: 14 Ethernet, 20 IP, 8 UDP, 12 BTH, 16 RETH, 1000, 4 ICRC."""

    SIZE = 1074

    def seconds(self, counts):
        """So many WRITEs from red in each second, evenly spread."""
        half = Half(RED, STORE, 0x11)
        return [(START + second * SECOND + i * (SECOND // count), half.write(size=1000))
                for second, count in enumerate(counts) for i in range(count)]

    def test_the_peak_is_the_fullest_second(self):
        tenants = self.tenants([self.seconds([10, 30, 20])])
        self.assertAlmostEqual(tenants["red"]["peak_gbps"], 30 * self.SIZE * 8 / 1e9, places=12)
        self.assertEqual(tenants["red"]["bytes"], 60 * self.SIZE)
        self.assertEqual(tenants["blue"]["peak_gbps"], 0)
        self.assertIsNone(tenants["red"]["quota_gbps"])

    def test_a_quota_is_exceeded_by_more_than_it_and_not_by_as_much(self):
        frames = [self.seconds([10, 30, 20])]
        limit = 30 * self.SIZE * 8 / 1e9
        within = self.audit(frames, red=limit)
        self.assertEqual((within.status, within.json()["findings"]), (COMPLIANT, []))
        beyond = self.audit(frames, red=limit * 0.999)
        self.assertEqual(beyond.status, VIOLATED)
        finding, = beyond.json()["findings"]
        self.assertEqual((finding["rule"], finding["severity"], finding["certainty"]), ("tenant.quota", "low", 1))
        self.assertEqual((finding["packets"], finding["bytes"]), (30, 30 * self.SIZE))
        self.assertEqual(finding["first_ts"], "2023-11-14T22:13:21.000000000Z")  # 1700000001
        self.assertEqual(finding["frames"], [])

    def test_the_text_says_when_a_quota_was_exceeded(self):
        text = self.audit([self.seconds([10, 30, 20])], red=1e-6, text=True).out.decode()
        self.assertIn("  traffic 30 frames, 32.2 kB, from 2023-11-14T22:13:21.000000000Z for 1.00 s\n", text)

    def test_rates_are_told_apart_and_have_no_exponent(self):
        """30 WRITEs in a second are 0.00025776 Gbit/s: to six digits that is not the quota."""
        frames = [self.seconds([10, 30, 20])]
        finding, = self.audit(frames, red=0.000257759).json()["findings"]
        self.assertEqual(finding["summary"], "red sent 0.00025776 Gbit/s within one second; its quota is 0.000257759")
        text = self.audit(frames, red=12800, text=True).out.decode()
        self.assertRegex(text, r"\n +red +0\.0002578 +12800 ")

    def test_a_quota_of_another_tenant_is_not_touched(self):
        self.assertEqual(self.audit([self.seconds([30])], blue=0.0).status, COMPLIANT)

    def test_copies_and_lost_frames_exceed_no_quota(self):
        frames = self.seconds([30])
        limit = 30 * self.SIZE * 8 / 1e9
        copied = [pair for ts_ns, frame in frames for pair in ((ts_ns, frame), (ts_ns + 5 * US, frame))]
        run = self.audit([copied], red=limit)
        self.assertEqual((run.status, run.json()["coverage"]["duplicates"]), (COMPLIANT, 30))
        self.assertEqual(run.json()["tenants"][1]["peak_gbps"], self.audit([frames]).json()["tenants"][1]["peak_gbps"])
        self.assertEqual(self.audit([frames[::2]], red=limit).json()["findings"], [])

    def test_the_inputs_of_an_audit_add_up(self):
        frames = self.seconds([30, 10])
        self.assertEqual(self.tenants([frames[::2], frames[1::2]]), self.tenants([frames]))


class Directions(Reports):
    """What the other side of a connection sent may cross another link: the verdict says so."""

    @staticmethod
    def conversations(answered, unanswered):
        """Ten WRITEs on each of so many connections, with their acknowledgements or without."""
        frames = []
        for connection in range(answered + unanswered):
            asks, answers = Half(RED, STORE, 0x100 + connection), Half(STORE, RED, 0x5000 + connection)
            for psn in range(10):
                frames.append(asks.write())
                if connection < answered:
                    frames.append(answers.answer(psn, msn=psn + 1))
        return [[(START + i * 10 * US, frame) for i, frame in enumerate(frames)]]

    def judged(self, answered, unanswered):
        run = self.audit(self.conversations(answered, unanswered))
        document = run.json()
        coverage = document["coverage"]
        self.assertEqual((coverage["connections"], coverage["one_sided"]), (answered, unanswered))
        return run.status, document["because"]

    def test_the_verdict_says_of_how_many_one_direction_was_seen(self):
        agree = "all {} RDMA frames seen agree with the declared map"
        of = "; of {} of {} connections only one direction was seen"
        self.assertEqual(self.judged(3, 0), (COMPLIANT, agree.format(60)))
        self.assertEqual(self.judged(0, 3), (COMPLIANT, agree.format(30) + of.format(3, 3)))
        self.assertEqual(self.judged(4, 1), (COMPLIANT, agree.format(90) + of.format(1, 5)))


class Congestion(Reports):
    NOTHING = {"ce_marked": 0, "cnps_caused": 0, "cnps_received": 0, "pause_ns": None, "rnr_naks": 0, "retransmitted": 0}

    def congestion(self, frames, *more):
        timed = [(START + i * 10 * US, frame) for i, frame in enumerate(frames)]
        return {name: row["congestion"] for name, row in self.tenants([timed], *more).items()}

    def test_a_noisy_neighbour_is_named_by_whose_frames_met_the_congestion(self):
        red, blue = Half(RED, STORE, 0x11), Half(BLUE, STORE, 0x22)
        to_red, to_blue = Half(STORE, RED, 0x101), Half(STORE, BLUE, 0x202)
        told = self.congestion([
            red.write(), blue.write(),
            blue.write(ecn=CE), to_blue.cnp(),                 # blue told, by its own frame
            red.write(ecn=CE), red.write(ecn=CE), to_red.cnp(),  # red told, by its own
            blue.write(), to_blue.cnp(), to_blue.cnp(),        # blue told twice: red's frame was the last one marked
        ])
        self.assertEqual(told["red"], {**self.NOTHING, "ce_marked": 2, "cnps_caused": 3, "cnps_received": 1})
        self.assertEqual(told["blue"], {**self.NOTHING, "ce_marked": 1, "cnps_caused": 1, "cnps_received": 3})
        self.assertEqual(told["store"], self.NOTHING)

    def test_the_text_names_the_noisiest_first(self):
        red, blue, to_blue = Half(RED, STORE, 0x11), Half(BLUE, STORE, 0x22), Half(STORE, BLUE, 0x202)
        frames = [blue.write(), blue.write(), red.write(ecn=CE), to_blue.cnp()]
        text = self.audit([[(START + i * 10 * US, frame) for i, frame in enumerate(frames)]], text=True).out.decode()
        rows = [line.split() for line in text[text.index("\nLOAD "):].splitlines()[3:6]]
        self.assertEqual([(row[0], *row[3:6]) for row in rows],
                         [("red", "1", "1", "."), ("blue", ".", ".", "1"), ("store", ".", ".", ".")])

    def test_cnps_without_a_mark_are_held_against_the_one_told(self):
        told = self.congestion([Half(RED, STORE, 0x11).write(), Half(STORE, RED, 0x101).cnp()])
        self.assertEqual(told["red"], {**self.NOTHING, "cnps_caused": 1, "cnps_received": 1})

    def test_marks_of_the_underlay_count_where_the_packet_can_have_them(self):
        """RFC 6040: where the tunnel ends, a mark on the outer header is put on the inner one, if that is capable of it."""
        half = Half(RED, STORE, 0x11)
        marked = [vxlan(half.write(ecn=inner), 100, outer) for inner, outer in ((ECT, CE), (1, CE), (CE, ECT), (ECT, ECT), (0, CE), (0, 0))]
        run = fabtap("flows", "--json", capture(self.folder / "underlay.pcap", [(START + i * 10 * US, f) for i, f in enumerate(marked)]))
        self.assertEqual(sum(flow["ce_marked"] for flow in run.json()["flows"]), 3)

    def test_a_mark_that_only_a_copy_shows_counts_once(self):
        """The port before a queue is mirrored and those behind it, or the reverse."""
        red, blue, to_blue = Half(RED, STORE, 0x11), Half(BLUE, STORE, 0x22), Half(STORE, BLUE, 0x202)
        for marks in ((ECT, CE), (ECT, CE, CE), (ECT, ECT, CE), (CE, CE), (CE, ECT, CE)):
            frames = [red.write(psn=7, ecn=mark) for mark in marks] + [blue.write(psn=9), to_blue.cnp()]
            for workers in ("1", "3"):
                told = self.congestion(frames, "--workers", workers)
                self.assertEqual(told["red"], {**self.NOTHING, "ce_marked": 1, "cnps_caused": 1}, marks)
                self.assertEqual(told["blue"], {**self.NOTHING, "cnps_received": 1}, marks)
            flow = fabtap("flows", "--json", self.folder / "0.pcap").json()["flows"][0]
            self.assertEqual((flow["packets"], flow["duplicates"], flow["ce_marked"]), (1, len(marks) - 1, 1))

    def test_becn_on_any_packet_tells_where_there_is_no_ip(self):
        """IBA vol. 1, annex A10: a receiver of FECN answers with BECN; RoCEv2 has CNPs for that (annex A17)."""
        red, store = Half(RED, STORE, 0x11), Half(STORE, RED, 0x101)
        frames = [red.write(), store.answer(0, msn=1), red.write(), store.answer(1, msn=2, becn=True), store.cnp()]
        for form, told, workers in ((version1, 2, "1"), (version1, 2, "3"), (lambda frame: frame, 1, "1")):
            rows = self.congestion([form(frame) for frame in frames], "--workers", workers)
            self.assertEqual(rows["red"], {**self.NOTHING, "cnps_caused": told, "cnps_received": told})
            self.assertEqual(rows["store"], self.NOTHING)
            flows = fabtap("flows", "--json", self.folder / "0.pcap").json()["flows"]
            self.assertEqual([flow["cnps"] for flow in flows], [0, told])

    def test_what_is_sent_again_and_who_was_not_ready(self):
        red, store = Half(RED, STORE, 0x11), Half(STORE, RED, 0x101)
        told = self.congestion([
            red.write(psn=0), store.answer(0, msn=1),
            red.write(psn=1), store.answer(1, RNR_NAK, msn=1), red.write(psn=1, ident=9),
            store.answer(1, msn=2), red.write(psn=2), store.answer(2, msn=3)])
        self.assertEqual(told["store"], {**self.NOTHING, "rnr_naks": 1})
        self.assertEqual(told["red"], {**self.NOTHING, "retransmitted": 1})

    def test_a_capture_of_marked_traffic(self):
        """ECN was put into a real capture: 36 frames with CE, 28 CNPs; per host counted by another decoder."""
        folder = shared()
        if folder is None:
            self.skipTest("ecn-cnp-nccl-emul.pcap is not here (FT_SHARED or ../shared)")
        path = folder / "captures" / "ecn-cnp-nccl-emul.pcap"
        text = json.dumps(declared()).replace("10.0.1.0/24", "10.40.0.1/32").replace("10.0.9.0/24", "10.40.0.2/32")
        (self.folder / "map.json").write_text(text)
        rows = fabtap("audit", "-m", self.folder / "map.json", "--json", path).json()["tenants"]
        told = {row["name"]: row["congestion"] for row in rows}
        truth = json.loads(path.with_suffix(".json").read_text())
        self.assertEqual(sum(row["ce_marked"] for row in told.values()), truth["ce_marked"])
        self.assertEqual(sum(row["cnps_caused"] for row in told.values()), truth["cnps"])
        cnps = {flow["dst"]: flow["opcodes"]["CNP"] for flow in truth["counted_by_pcaplib"]["flows"]
                if "CNP" in flow["opcodes"]}
        self.assertEqual([told[name]["cnps_received"] for name in ("red", "store")], [cnps["10.40.0.1"], cnps["10.40.0.2"]])


class Pauses(Reports):
    """At 100 Gbit/s a quantum of 512 bit times is 5.12 ns."""

    def pauses(self, steps, *more):
        """[(us, quanta by priority)] from the store's adapter, among some traffic."""
        half = Half(RED, STORE, 0x11)
        frames = [(START + i * 10 * US, half.write()) for i in range(50)]
        frames += [(START + us * US, pause(STORE, quanta)) for us, quanta in steps]
        rows = self.tenants([sorted(frames)], *more)
        return {name: row["congestion"]["pause_ns"] for name, row in rows.items()}

    def test_without_the_speed_of_the_link_nothing_is_known(self):
        self.assertEqual(set(self.pauses([(100, {3: 1000})]).values()), {None})

    def test_a_pause_runs_out(self):
        self.assertEqual(self.pauses([(100, {3: 1000})], "--link-gbps", "100"), {"red": 0, "blue": 0, "store": 5120})

    def test_a_pause_is_ended_by_no_quanta(self):
        # 0xffff quanta are 335.5 us; ended after 100 us
        self.assertEqual(self.pauses([(100, {3: 0xffff}), (200, {3: 0})], "--link-gbps", "100")["store"], 100 * US)

    def test_a_pause_is_made_longer(self):
        # 2000 quanta are 10.24 us: 5 us of the first, and all of the second
        self.assertEqual(self.pauses([(100, {3: 2000}), (105, {3: 2000})], "--link-gbps", "100")["store"], 5000 + 10240)

    def test_of_several_priorities_the_longest_counts(self):
        self.assertEqual(self.pauses([(100, {3: 1000, 5: 2000})], "--link-gbps", "100")["store"], 10240)

    def test_a_slower_link_pauses_longer(self):
        self.assertEqual(self.pauses([(100, {3: 1000})], "--link-gbps", "25")["store"], 20480)

    def test_a_speed_that_is_none_is_refused(self):
        for speed in ("0", "-1", "fast", ""):
            run = self.audit([[(START, Half(RED, STORE, 0x11).write())]], "--link-gbps", speed)
            self.assertEqual((run.status, len(run.complaints()), run.out), (FAILED, 1, b""), speed)


class Clocks(Reports):
    def traffic(self, count=400, lost=range(0)):
        """Red's WRITEs to the store, 10 us apart, each answered 3 us later."""
        red, store = Half(RED, STORE, 0x11), Half(STORE, RED, 0x101)
        return [pair for i in range(count) if i not in lost
                for pair in ((START + i * 10 * US, red.write(psn=i)),
                             (START + i * 10 * US + 3 * US, store.answer(i, msn=i + 1)))]

    def coverage(self, *inputs):
        return self.audit(inputs).json()["coverage"]

    def test_a_silence_with_packets_missing_is_a_gap(self):
        coverage = self.coverage(self.traffic(1000, lost=range(200, 300)))
        self.assertEqual(coverage["lost_by"][0]["frames"], 100)
        gap, = coverage["time_gaps"]
        self.assertEqual((gap["from"], gap["to"]), ("2023-11-14T22:13:20.001993000Z", "2023-11-14T22:13:20.003000000Z"))
        self.assertTrue(gap["source"].endswith("0.pcap"))

    def test_a_silence_that_ends_with_an_answer_is_a_gap(self):
        """Both sides ask: what the store lost of its requests is not what came between its first answer and them."""
        store, red = Half(STORE, RED, 0x101), Half(RED, STORE, 0x11)
        frames = self.traffic(1000, lost=range(200, 300))
        for i in range(1000):
            if i not in range(200, 300):
                frames += [(START + i * 10 * US + 5 * US, store.write(psn=i)),
                           (START + i * 10 * US + 8 * US, red.answer(i, msn=i + 1))]
        coverage = self.coverage(sorted(frames, key=lambda frame: frame[0]))
        self.assertEqual(coverage["lost_by"][0]["frames"], 200)
        gap, = coverage["time_gaps"]
        self.assertEqual((gap["from"], gap["to"]), ("2023-11-14T22:13:20.001998000Z", "2023-11-14T22:13:20.003000000Z"))

    def test_frames_damaged_behind_the_mirror_are_not_lost(self):
        frames = self.traffic(1000)
        for at in range(20, 2000, 50):  # a WRITE each time
            ts_ns, frame = frames[at]
            frames[at] = (ts_ns, frame[:-1] + bytes([frame[-1] ^ 1]))
        coverage = self.coverage(frames)
        self.assertEqual((coverage["undecided"], coverage["judged"]), (40, 1960))
        self.assertEqual((coverage["lost_by"], coverage["frames_lost"]["estimate"], coverage["share_seen"]), ([], 0, 1))

    def test_a_silence_in_which_nobody_sent_is_none(self):
        frames = self.traffic()
        later = [(ts_ns + 5 * MS, frame) for ts_ns, frame in frames[400:]]
        coverage = self.coverage(frames[:400] + later)
        self.assertEqual((coverage["time_gaps"], coverage["lost_by"], coverage["clock_steps"]), ([], [], 0))

    def test_a_clock_that_was_set_back_is_a_step(self):
        frames = self.traffic()
        back = [(ts_ns - SECOND, frame) for ts_ns, frame in frames[400:]]
        coverage = self.coverage(frames[:400] + back)
        self.assertEqual(coverage["clock_steps"], 1)
        self.assertEqual((coverage["lost_by"], coverage["frames_lost"]["estimate"], coverage["duplicates"]), ([], 0, 0))

    def test_mirror_sessions_that_are_too_many_to_follow_are_said(self):
        """GRE with numbers (RFC 2890) from 1030 mirrors, each of which leaves out its second number."""
        store = Half(STORE, RED, 0x101)
        frames = []
        for i in range(2 * 1030):
            mirror, number = i % 1030, 2 * (i // 1030)
            inner = struct.pack(">HHI", 0x1000, 0x6558, number) + store.write(psn=i, ident=i)
            ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(inner), 0, 0, 64, 47, 0) + struct.pack(">II", 0xac100000 + mirror, 0xac110001)
            frames.append((START + i * US, bytes(12) + b"\x08\x00" + ip + inner))
        coverage = self.coverage(frames)
        self.assertEqual(coverage["mirror_unfollowed"], 2 * 6)
        self.assertEqual({loss["method"]: loss["frames"] for loss in coverage["lost_by"]}, {"mirror-sequence": 1024})
        self.assertEqual(self.coverage(self.traffic(1000))["mirror_unfollowed"], 0)

    def test_clocks_of_two_inputs_need_not_agree(self):
        frames = self.traffic()
        coverage = self.coverage(frames[:400], [(ts_ns - SECOND, frame) for ts_ns, frame in frames[400:]])
        self.assertEqual(coverage["clock_steps"], 0)


if __name__ == "__main__":
    main()
