"""A flow table that is too small: what is still found, and what the report may say (docs/coverage.md)."""

import json
import random

import roce
from harness import DATA, COMPLIANT, NOT_EVIDENCED, VIOLATED, WithFolder, fabtap, main

START = 1_750_000_000 * 10**9
RECORDS = 1024
REMEMBERED = 65536  # room for the first P_Key base of so many half-connections, four at each of 16 384 places
BASE, OTHER_BASE = 0x8001, 0x8002

PARTITIONS = {
    "schema": "tapmap/1", "map_id": "one", "serial": 1, "issued_at": "2020-01-01T00:00:00Z", "issuer": "tests",
    "fabric": {"kind": "roce"}, "nodes": [], "tenants": [{"name": "all", "class": "customer"}],
    "partitions": [{"pkey": "0x%04x" % (base & 0x7fff), "tenant": "all", "intervals": [
        {"from": "2000-01-01T00:00:00Z", "to": None, "members": [{"subnet": "10.0.0.0/8", "membership": "full"}]}]}
        for base in (BASE, OTHER_BASE)],
}


class SmallTable(WithFolder):
    def setUp(self):
        super().setUp()
        (self.folder / "partitions.json").write_text(json.dumps(PARTITIONS))
        (self.folder / "segments.json").write_text(json.dumps(roce.EVERYBODY))

    def capture(self, count, *behind):
        """So many half-connections, each of two frames in a row; then these frames."""
        frames = []
        for number in range(count):
            half = self.half(number)
            frames += [half.write(size=8), half.write(size=8)]
        frames += behind
        return roce.capture(self.folder / "a.pcap", [(START + 100 * i, frame) for i, frame in enumerate(frames)])

    def half(self, number, pkey=BASE, psn=0):
        return roce.Half("10.0.0.1", "10.0.0.2", 0x100 + number, pkey=pkey, psn=psn)

    def audit(self, path, kind, records):
        run = fabtap("audit", "--json", "-m", self.folder / (kind + ".json"), "--flows", records, path)
        return run.status, run.json()

    def test_what_is_pushed_out_is_counted(self):
        path = self.capture(4 * RECORDS)
        for verb in (["audit", "-m", self.folder / "partitions.json"], ["flows"]):
            for records, evicted in ((RECORDS, 3 * RECORDS), (4 * RECORDS, 0)):
                run = fabtap(*verb, "--json", "--flows", records, path)
                self.assertEqual(run.json()["coverage"]["evicted"], evicted, run)
                said = fabtap(*verb, "--flows", records, path).out.decode()
                self.assertEqual("%d half-connections pushed out of a full flow table" % evicted in said, evicted != 0, said)

    def test_a_change_of_p_key_is_found_in_what_was_pushed_out(self):
        count = 2 * RECORDS  # so few that hardly ever (1 in 100 000) four of them come to lie where the first one lies
        path = self.capture(count, self.half(0, OTHER_BASE, psn=2).write(size=8))
        status, document = self.audit(path, "partitions", RECORDS)
        self.assertEqual((status, len(document["findings"])), (VIOLATED, 1))
        found = document["findings"][0]
        self.assertEqual((found["rule"], found["frames"]), ("pkey.changed-on-connection", [2 * count + 1]))

    def test_where_connections_were_forgotten_nothing_is_evidenced_of_p_keys(self):
        path = self.capture(3 * REMEMBERED)
        status, document = self.audit(path, "partitions", RECORDS)
        self.assertEqual((status, document["findings"], document["coverage"]["enough"]), (NOT_EVIDENCED, [], False))
        self.assertRegex(document["because"], r"\d+ half-connections had to be forgotten \(--flows\)")
        for kind, records in (("partitions", 4 * REMEMBERED), ("segments", RECORDS)):
            status, document = self.audit(path, kind, records)
            self.assertEqual((status, document["coverage"]["enough"]), (COMPLIANT, True), (kind, records))
            self.assertNotIn("forgotten", document["because"])

    def test_where_halves_were_pushed_out_it_is_not_told_that_one_direction_was_missing(self):
        """Both are in view of every connection; one that made room and comes back has lost its other half."""
        clean = DATA / "tenants" / "tenants-ib-clean.pcap"
        rules = DATA / "tenants" / "tenants-ib.map.json"
        few, many = [fabtap("audit", "--json", "-m", rules, "--flows", records, clean).json() for records in (1, 1024)]
        self.assertEqual((many["coverage"]["evicted"], many["coverage"]["one_sided"]), (0, 0))
        self.assertGreater(few["coverage"]["evicted"], 0)
        self.assertNotRegex(few["because"], r"of \d+ of \d+ connections only one direction")
        self.assertIn("only one direction was seen is not known (--flows)", few["because"])

    def test_what_comes_back_after_long_is_the_same_for_every_number_of_workers(self):
        """In a day of half-connections that come, fall silent for up to twenty minutes and seldom come back."""
        rng, now, frames = random.Random(1), START, []
        halves = [roce.Half("10.0.0.%d" % rng.randrange(1, 30), "10.0.1.%d" % rng.randrange(1, 30), 0x100 + number, pkey=BASE)
                  for number in range(600)]
        for turn in range(2400):
            now += rng.randrange(1, 72) * 10**9
            half = halves[min(turn // 4 + rng.randrange(4), 599) if rng.random() < 0.8 else rng.randrange(min(turn // 4 + 1, 600))]
            frames += [(now + 1000 * i, half.write(size=8)) for i in range(rng.choice((1, 12)))]
        path = roce.capture(self.folder / "day.pcap", frames)
        one, *others = [fabtap("audit", "--json", "-m", self.folder / "partitions.json", "--workers", workers, path).out
                        for workers in (1, 2, 3, 4)]
        self.assertGreater(json.loads(one)["coverage"]["one_sided"], 100)
        for document in others:
            self.assertEqual(document, one)


if __name__ == "__main__":
    main()
