"""VLANs and half-connections: two tenants may use the same addresses and queue pairs in two VLANs, and one connection may
show in two, where a mirror sees it twice or its path changes."""

import json
import random
import struct

import roce
from harness import WithFolder, fabtap, main

SEED, RED, BLUE = 20261122, 77, 78
START = 1_750_000_000 * 10**9  # the map is in force
LOST = 0.1


def tagged(frame, vid):
    return frame[:12] + struct.pack(">HH", 0x8100, vid) + frame[12:] if vid else frame


def routed(frame):
    """Behind a router: other MAC addresses, one hop less to go."""
    ip = frame[14:22] + bytes([frame[22] - 1]) + frame[23:24] + bytes(2) + frame[26:34]
    ip = ip[:10] + struct.pack(">H", roce.checksum(ip)) + ip[12:]
    return b"\x02\x01\0\0\0\x01\x02\x01\0\0\0\x02" + frame[12:14] + ip + frame[34:]


def connection(first, count, begin=0, ttl=64, smac=None, size=64):
    """(time, frame) of WRITEs from 10.0.0.1 and what 10.0.0.2 answers, 10 us each."""
    there, back = roce.Half("10.0.0.1", "10.0.0.2", 0x22, psn=first), roce.Half("10.0.0.2", "10.0.0.1", 0x11)
    return [pair for i in range(count) for pair in (
        (begin + 10_000 * i, there.write(ident=i, ttl=ttl, smac=smac, size=size)),
        (begin + 10_000 * i + 5_000, back.answer(first + i, msn=i + 1, ident=i)))]


def crowd(chance, tenants, gap, first):
    """(time, frame) of tenants with one pair of addresses, queue pairs and PSNs, each in a VLAN of its own, both sides writing."""
    frames = []
    for tenant in range(tenants):
        there, back = roce.Half("10.0.0.1", "10.0.0.2", 0x22, psn=first), roce.Half("10.0.0.2", "10.0.0.1", 0x11, psn=first)
        now, ident, sent = chance.choice((0, chance.randrange(50 * gap))), 7919 * tenant, []
        for i in range(chance.randint(30, 200)):
            now += int(chance.expovariate(1 / gap))
            sent += [(now, there.write(ident=ident + i)),
                     (now + chance.randrange(500, 1500), back.answer(first + i, msn=i + 1, ident=ident + 2 * i))]
            if chance.random() < 0.3:
                psn = back.psn
                sent += [(now + 1600, back.write(ident=ident + 2 * i + 1)), (now + 2000, there.answer(psn, msn=psn - first + 1, ident=ident + i))]
        frames += [(t, tagged(frame, 100 + tenant)) for t, frame in sent]
    return frames


class Vlans(WithFolder):
    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        (self.folder / "map.json").write_text(json.dumps(roce.EVERYBODY))

    def reports(self, frames):
        """What audit and flows say, whose rows are the same for several engines."""
        path = roce.capture(self.folder / "a.pcap", [(START + t, frame) for t, frame in sorted(frames)])
        audit = json.loads(fabtap("audit", "--json", "-m", self.folder / "map.json", path).out)
        flows = [json.loads(fabtap("flows", "--json", *more, path).out)
                 for more in ((), ("--workers", "3"), ("-m", self.folder / "map.json"))]
        self.assertEqual(flows[0]["connections"], flows[1]["connections"])
        self.assertEqual(flows[0]["flows"], flows[1]["flows"])
        self.assertEqual(flows[0]["connections"], flows[2]["connections"])
        return audit, flows[0]

    def lossy(self, frames):
        return [frame for frame in frames if self.random.random() >= LOST]

    def test_the_same_addresses_and_queue_pairs_in_two_vlans_are_two_connections(self):
        other = b"\x02\x09\x09\x09\x09\x09"
        cases = {
            "far apart": (connection(5_000_000, 200), connection(1_000, 200, 3_000, ttl=63, smac=other)),
            "both from 0": (connection(0, 200), connection(0, 200, 700)),
            "one after the other": (connection(0, 200), connection(0, 200, 3 * 10**9)),
            "one overtakes the other": (connection(0, 200), [(t // 2, frame) for t, frame in connection(0, 200, 300_000)]),
            "one is ahead from the second packet on": (connection(0, 200), [(t // 4, frame) for t, frame in connection(0, 200, 100)]),
        }
        for name, (red, blue) in cases.items():
            with self.subTest(name):
                frames = [(t, tagged(f, RED)) for t, f in red] + [(t, tagged(f, BLUE)) for t, f in blue]
                audit, flows = self.reports(frames)
                self.assertEqual(audit["findings"], [])
                self.assertEqual(audit["verdict"], "compliant")
                self.assertEqual((audit["coverage"]["connections"], audit["coverage"]["one_sided"]), (2, 0))
                self.assertEqual(audit["coverage"]["frames_lost"]["estimate"], 0)
                self.assertEqual(audit["coverage"]["duplicates"], 0)
                self.assertEqual(sorted((row["vlan"], row["packets"]) for row in flows["flows"]),
                                 [(RED, 200), (RED, 200), (BLUE, 200), (BLUE, 200)])
                self.assertEqual(sum(row["retransmitted"] for row in flows["flows"]), 0)
                vlan = {row["flow"]: row["vlan"] for row in flows["flows"]}
                self.assertEqual(sorted({vlan[flow] for flow in row["flows"]} == {vlan[row["flows"][0]]}
                                        for row in flows["connections"]), [True, True])

    def test_one_that_comes_into_view_where_another_one_stands_is_no_forger(self):
        for first in (0, 5_000_000, 0xffffe0):
            for place in (20, 50):
                with self.subTest(first=first, place=place):
                    red, blue = connection(first, 200), connection(first, 200, -3_000, size=100)
                    begin = red[2 * place][0] - 5_000
                    audit, _ = self.reports([(t, tagged(f, RED)) for t, f in red] +
                                            [(t, tagged(f, BLUE)) for t, f in blue if t >= begin])
                    self.assertEqual(audit["findings"], [])
                    self.assertEqual(audit["coverage"]["connections"], 2)

    def test_halves_joined_before_their_vlans_were_told_apart_part(self):
        """Within microseconds of each other: what the others answered was taken for answers to packets that nobody saw."""
        for seed in (33, 69, 123, 147, 205, 255, 494, 583):
            chance = random.Random(seed)
            tenants = chance.choice((2, 3, 5))
            with self.subTest(seed=seed, tenants=tenants):
                audit, _ = self.reports(crowd(chance, tenants, 2_000, 5_000_000))
                self.assertEqual(audit["findings"], [])
                self.assertEqual(audit["coverage"]["frames_lost"]["low"], 0)
                self.assertEqual(audit["coverage"]["connections"], tenants)

    def test_loss_in_one_vlan_is_not_hidden_by_the_other(self):
        red = [(t, tagged(f, RED)) for t, f in connection(0, 1000)]
        blue = [(t, tagged(f, BLUE)) for t, f in connection(0, 1000, 700)]
        here = self.lossy(red)
        audit, _ = self.reports(here + blue)
        lost = audit["coverage"]["frames_lost"]
        self.assertLessEqual(lost["low"], len(red) - len(here))
        self.assertGreaterEqual(lost["high"], len(red) - len(here))
        self.assertEqual(audit["coverage"]["connections"], 2)

    def test_two_mirrors_that_see_other_tags_see_one_connection(self):
        frames = connection(4_000, 1000)
        for name, here, there in (("tagged behind a port", 0, lambda f: tagged(f, BLUE)),
                                  ("behind a router", RED, lambda f: tagged(routed(f), BLUE))):
            for later in (200, 60_000):
                with self.subTest(name, later=later):
                    views = [[(t, tagged(f, here)) for t, f in frames], [(t + later, there(f)) for t, f in frames]]
                    left = [self.lossy(view) for view in views]
                    seen = {t for t, _ in left[0]} | {t - later for t, _ in left[1]}
                    audit, flows = self.reports(left[0] + left[1])
                    coverage = audit["coverage"]
                    self.assertEqual(audit["findings"], [])
                    self.assertEqual((coverage["connections"], coverage["one_sided"]), (1, 0))
                    self.assertEqual(coverage["duplicates"], len(left[0]) + len(left[1]) - len(seen))
                    self.assertLessEqual(coverage["frames_lost"]["low"], len(frames) - len(seen))
                    self.assertGreaterEqual(coverage["frames_lost"]["high"], len(frames) - len(seen))
                    self.assertEqual(len({row["connection"] for row in flows["flows"] if row["packets"] > 4}), 1)

    def test_a_connection_that_changes_its_vlan_loses_nothing(self):
        frames = connection(4_000, 400)
        change = frames[len(frames) // 2][0]
        requests = bytes(roce.mac(roce.number("10.0.0.1")))
        for both in (True, False):
            with self.subTest(both=both):
                moved = [(t, tagged(routed(f), BLUE) if t > change and (both or f[6:12] == requests) else tagged(f, RED))
                         for t, f in frames]
                audit, flows = self.reports(moved)
                self.assertEqual([finding for finding in audit["findings"] if finding["severity"] != "info"], [])
                self.assertEqual((audit["coverage"]["connections"], audit["coverage"]["one_sided"]), (1, 0))
                self.assertEqual(audit["coverage"]["frames_lost"]["estimate"], 0)
                self.assertEqual({row["connection"] for row in flows["flows"]}, {1})

    def test_a_connection_that_goes_back_as_it_changes_its_vlan_is_one(self):
        frames = connection(4_000, 400)
        middle = len(frames) // 2
        change, again = frames[middle][0], frames[middle - 10][1]
        moved = [(t, tagged(f, RED if t <= change else BLUE)) for t, f in frames]
        audit, flows = self.reports(moved + [(change + 1_000 + i, tagged(again, BLUE)) for i in range(2)])
        self.assertEqual([finding for finding in audit["findings"] if finding["severity"] != "info"], [])
        self.assertEqual((audit["coverage"]["connections"], audit["coverage"]["one_sided"]), (1, 0))
        self.assertEqual(audit["coverage"]["frames_lost"]["estimate"], 0)
        self.assertEqual(sum(row["packets"] + row["duplicates"] for row in flows["flows"]), len(frames) + 2)
        self.assertEqual(sum(row["messages"]["write"] for row in flows["flows"]), 400)

    def test_a_connection_whose_directions_show_in_two_vlans_is_one(self):
        requests = bytes(roce.mac(roce.number("10.0.0.1")))
        audit, flows = self.reports([(t, tagged(f, RED if f[6:12] == requests else BLUE)) for t, f in connection(4_000, 200)])
        self.assertEqual((audit["coverage"]["connections"], audit["coverage"]["one_sided"]), (1, 0))
        self.assertEqual([row["vlan"] for row in flows["flows"]], [RED, BLUE])


if __name__ == "__main__":
    main()
