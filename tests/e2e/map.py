"""The map verbs: check, show, ask, lint, diff, convert, against samples whose answers OpenSM and the map's author gave."""

import json
import unittest

from harness import DATA, FAILED, fabtap, main

SAMPLES = DATA / "partitions"
OPENSM, TAPMAP = SAMPLES / "opensm", SAMPLES / "tapmap"
FABRIC = SAMPLES / "runtime" / "v03_ibnetdiscover.txt"
TENANTS = DATA / "tenants"


def expected(path):
    return json.loads(path.with_name(path.name.split(".")[0] + ".expected.json").read_text())


def show(path, *more):
    return fabtap("map", "show", "--json", *more, path)


def tables(document, both=False):
    """Port GUID -> sorted P_Key table."""
    for effective in document["effective"]:
        if effective["allow_both_pkeys"] == both:
            return {port: sorted(entries) for port, entries in effective["ports"].items()}
    return None


class OpenSM(unittest.TestCase):
    maxDiff = 3000

    def samples(self):
        found = sorted(OPENSM.glob("*.conf"))
        self.assertEqual(len(found), 16)
        return found

    def test_every_file_is_understood_as_opensm_does(self):
        for path in self.samples():
            with self.subTest(path.name):
                want, document = expected(path), show(path, "--topology", FABRIC).json()
                self.assertEqual(document["schema"], "pmap-normalised/1")
                self.assertEqual(document["verdict"], want["verdict"])
                self.assertEqual(tables(document), tables(want))
                self.assertEqual([(p["pkey_base"], p["rules"]) for p in document["partitions"]],
                                 [(p["pkey_base"], p["rules"]) for p in want["partitions"]])

    def test_every_complaint_names_line_and_code(self):
        for path in self.samples():
            with self.subTest(path.name):
                document = show(path, "--topology", FABRIC).json()
                said = {(d.get("line"), d["code"]) for d in document["diagnostics"]}
                for wanted in expected(path)["diagnostics"]:
                    if "line" in wanted:
                        self.assertIn((wanted["line"], wanted["code"]), said)
                    else:
                        self.assertIn(wanted["code"], {code for _, code in said})

    def test_a_file_that_opensm_drops_is_no_good_map_and_says_where(self):
        for path in self.samples():
            if not path.name.startswith("x"):
                continue
            with self.subTest(path.name):
                run = fabtap("map", "check", "--topology", FABRIC, path)
                text = (run.out + run.err).decode()
                self.assertEqual(run.status, FAILED, run)
                self.assertIn(path.name, text)
                self.assertIn("fail-open", text.replace("_", "-").replace("fail open", "fail-open"))
                for wanted in expected(path)["diagnostics"]:
                    if wanted.get("line"):
                        self.assertIn("%s:%d" % (path.name, wanted["line"]), text)

    def test_tables_are_those_that_opensm_gave_the_ports(self):
        truth = json.loads((TENANTS / "tenants-ib.effective.json").read_text())
        for name, want in truth["files"].items():
            document = show(TENANTS / name, "--topology", TENANTS / "ib-a" / "ibnetdiscover.txt").json()
            self.assertEqual(document["verdict"], want["verdict"])
            ours = tables(document)
            for port, entries in want["ports"].items():
                self.assertEqual(ours[port], sorted(entries), port)


class TapMap(unittest.TestCase):
    MAP = TAPMAP / "v01_three_tenants.json"

    def test_a_good_map_passes_with_its_signature(self):
        run = fabtap("map", "check", self.MAP)
        self.assertEqual(run.status, 0, run)
        run = fabtap("map", "check", "--key", TAPMAP / "signer.pub.pem", self.MAP)
        self.assertEqual(run.status, 0, run)

    def test_every_bad_map_is_refused_with_its_place(self):
        bad = sorted(path for path in TAPMAP.glob("x*.json") if "expected" not in path.name)
        self.assertEqual(len(bad), 5)
        for path in bad:
            if path.name.startswith("x05"):
                continue
            with self.subTest(path.name):
                run = fabtap("map", "check", path)
                self.assertEqual(run.status, FAILED, run)
                text = (run.out + run.err).decode()
                self.assertIn(path.name, text)
                self.assertIn(expected(path)["diagnostics"][0]["where"], text)

    def test_a_tampered_map_is_refused_under_its_key(self):
        run = fabtap("map", "check", "--key", TAPMAP / "signer.pub.pem", TAPMAP / "x05_tampered.json")
        self.assertEqual(run.status, FAILED, run)

    def test_questions_have_the_authors_answers(self):
        for query in expected(self.MAP)["queries"]:
            with self.subTest(str(query)):
                who = ["--port", query["port"]] if "port" in query else ["--pair", *query["pair"]]
                run = fabtap("map", "ask", "--json", "--at", query["at"], *who, self.MAP)
                answer = run.json()
                if "entries" in query:
                    entries = [{k: e[k] for k in ("pkey_base", "membership")} for e in answer["entries"]]
                    self.assertEqual(sorted(entries, key=str), sorted(query["entries"], key=str))
                for key in ("allowed", "exception", "via"):
                    if key in query:
                        self.assertEqual(answer[key], query[key])
                if "in_grace_for" in query:
                    self.assertIn(query["in_grace_for"], run.out.decode())

    def test_lint_sees_tenants_that_share_a_leaf(self):
        bad = fabtap("map", "lint", TENANTS / "cotenancy-bad.map.json").out.decode()
        fine = fabtap("map", "lint", TENANTS / "cotenancy-fine.map.json").out.decode()
        self.assertIn("cotenancy", bad)
        self.assertIn("leaf2", bad)
        self.assertNotIn("cotenancy", fine)

    def test_a_map_does_not_differ_from_itself(self):
        run = fabtap("map", "diff", "--json", self.MAP, self.MAP)
        self.assertEqual(run.status, 0, run)

    def test_diff_says_which_tenants_a_change_lets_talk(self):
        run = fabtap("map", "diff", TENANTS / "tenants-ib.map.json", TENANTS / "tenants-ib-open.map.json")
        self.assertEqual(run.status, 1, run)
        self.assertIn("red", run.out.decode())
        self.assertIn("green", run.out.decode())

    def test_a_converted_map_gives_the_same_verdicts(self):
        source = ["-m", TENANTS / "tenants-ib.partitions.conf", "--topology", TENANTS / "ib-a" / "ibnetdiscover.txt"]
        run = fabtap("map", "convert", source[1], *source[2:])
        self.assertEqual(run.status, 0, run)
        document = run.json()
        self.assertEqual(document["schema"], "tapmap/1")


if __name__ == "__main__":
    main()
