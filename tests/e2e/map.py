"""The map verbs: check, show, ask, lint, diff, convert, against samples whose answers OpenSM and the map's author gave."""

import json
import shutil
import unittest

from harness import DATA, FAILED, WithFolder, fabtap, main

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


def two_tenants(green_hosts):
    """A map in which green's partition holds these hosts, and red's only host a."""
    nodes = [{"host": host, "ports": [{"guid": "0x000000000000000%d" % number, "lid": number}]}
             for number, host in enumerate("ab", 1)]
    partitions = [{"pkey": pkey, "tenant": tenant, "intervals": [
        {"from": "2026-01-01T00:00:00Z", "to": None, "members": [{"host": host, "membership": "full"} for host in hosts]}]}
        for pkey, tenant, hosts in (("0x0001", "red", ["a"]), ("0x0002", "green", green_hosts))]
    return {"schema": "tapmap/1", "map_id": "two", "serial": 1, "issued_at": "2026-01-01T00:00:00Z", "issuer": "test",
            "fabric": {"kind": "infiniband"}, "nodes": nodes, "partitions": partitions, "exceptions": [],
            "tenants": [{"name": "red", "class": "customer"}, {"name": "green", "class": "customer"}]}


def in_segments(known_by, *segments, **green_options):
    """A RoCE map of three hosts on one leaf, each with an address that its port is known by ("ip" or "gid")."""
    ports = [{known_by: address, "leaf": "leaf1"} for address in ("10.1.3.3", "10.1.4.4", "fd00::9")]
    if known_by == "gid":
        ports = [{**port, "gid": "::ffff:" + port["gid"] if "." in port["gid"] else port["gid"]} for port in ports]
    return {"schema": "tapmap/1", "map_id": "pod", "serial": 1, "issued_at": "2026-01-01T00:00:00Z", "issuer": "test",
            "fabric": {"kind": "roce"}, "nodes": [{"host": host, "ports": [port]} for host, port in zip("abc", ports)],
            "tenants": [{"name": "red", "class": "customer"}, {"name": "green", "class": "customer", "options": green_options}],
            "segments": [{"name": "%s-%d" % (tenant, number), "tenant": tenant, "intervals": [
                {"from": "2026-01-01T00:00:00Z", "to": None, "members": members}]}
                for number, (tenant, *members) in enumerate(segments)]}


class StandardInput(WithFolder):
    MAP = TAPMAP / "v01_three_tenants.json"

    def test_a_map_or_a_topology_comes_from_a_pipe(self):
        piped = fabtap("map", "convert", "-", stdin=self.MAP.read_bytes())
        self.assertEqual(piped.out, fabtap("map", "convert", self.MAP).out)
        conf = OPENSM / "v01_three_tenants.conf"
        piped = fabtap("map", "convert", "--topology", "-", conf, stdin=FABRIC.read_bytes())
        self.assertEqual(piped.out, fabtap("map", "convert", "--topology", FABRIC, conf).out)
        self.assertEqual(fabtap("map", "check", "-", stdin=b"{").status, FAILED)

    def test_an_audit_says_the_same_of_it(self):
        def report(name, **options):
            document = fabtap("audit", "-m", name, "--json", TENANTS / "tenants-ib.pcap", **options).json()
            self.assertEqual(document["map"].pop("file"), str(name))
            return [row if row["map_ref"] is None else {**row, "map_ref": row["map_ref"]["line"], "evidence": None}
                    for row in document.pop("findings")], document
        path = TENANTS / "tenants-ib.map.json"
        self.assertEqual(report("-", stdin=path.read_bytes()), report(path))

    def test_it_can_be_read_only_once(self):
        capture, pem = TENANTS / "tenants-ib.pcap", TAPMAP / "signer.pub.pem"
        for arguments in (("audit", "-m", "-", "-"), ("map", "diff", "-", "-"), ("audit", "-m", "-", "--topology", "-", capture)):
            run = fabtap(*arguments, stdin=self.MAP.read_bytes())
            self.assertEqual((run.status, run.err.decode().count("only once")), (FAILED, 1), run)
        run = fabtap("audit", "-m", "-", "--key", pem, capture, stdin=self.MAP.read_bytes())
        self.assertEqual((run.status, "no signature beside it" in run.err.decode()), (FAILED, True), run)


class Page(WithFolder):
    def test_it_has_no_blanks_at_the_ends_and_no_serial_that_the_map_has_not(self):
        path = self.folder / "map.json"
        document = in_segments("ip", ("red", {"vlan": 7}, {"host": "a"}))
        for serial in document["serial"], None:
            path.write_text(json.dumps({key: value for key, value in document.items() if key != "serial" or serial}))
            page = fabtap("map", "show", path).out.decode()
            self.assertEqual([line for line in page.split("\n") if line != line.rstrip()], [])
            self.assertIn("\n  map pod%s\n" % (", serial 1" if serial else ""), page)
            self.assertIn("\n      vlan:7\n      a\n", page)


class Hidden(WithFolder):
    """Names with characters that reorder text, have no width or control a terminal: in text by their bytes, as they are in JSON."""

    HIDDEN = "\u202e\u200b\u009b"
    ESCAPED = r"\xe2\x80\xae\xe2\x80\x8b\xc2\x9b"

    def renamed(self, name, document):
        path = self.folder / name
        path.write_text(json.dumps(document).replace('"red"', json.dumps("r%sed" % self.HIDDEN)), encoding="utf-8")
        return path

    def test_no_word_tells_them_raw(self):
        one = self.renamed("one.json", two_tenants(["b"]))
        other = self.renamed("other.json", two_tenants(["b", "a"]))
        leaf = self.renamed("leaf.json", json.loads((TENANTS / "cotenancy-bad.map.json").read_text()))
        wrong = two_tenants(["b"])
        wrong["tenants"].pop(0)
        wrong = self.renamed("wrong.json", wrong)
        for words in (("show", one), ("ask", "--port", "a", one), ("diff", one, other), ("lint", leaf), ("check", wrong)):
            with self.subTest(words=words):
                text = fabtap("map", *words).out.decode()
                self.assertEqual((self.ESCAPED in text, set(self.HIDDEN) & set(text)), (True, set()), text)
                self.assertIn("r%sed" % self.HIDDEN, json.dumps(fabtap("map", *words, "--json").json(), ensure_ascii=False))
        for words in (("show", wrong), ("ask", "--port", "r%sed" % self.HIDDEN, one)):
            told = fabtap("map", *words).err.decode()
            self.assertEqual((self.ESCAPED in told, set(self.HIDDEN) & set(told)), (True, set()), told)


class Long(WithFolder):
    NAME = "r" + "\u00e9" * 100  # 201 bytes, so that a cut at an even one is in the midst of a character

    def test_what_is_cut_of_a_name_spoils_only_the_place_of_the_cut(self):
        path = self.folder / "long.json"
        path.write_text((TENANTS / "tenants-ib.map.json").read_text().replace('"gpu01"', json.dumps(self.NAME)), encoding="utf-8")
        texts = [row["text"] for row in fabtap("map", "lint", "--json", path).json()["diagnostics"]]
        self.assertTrue(any(text.startswith(self.NAME[:30]) for text in texts), texts)

    def test_the_reason_of_an_answer_has_names_whole(self):
        path = self.folder / "long.json"
        path.write_text(json.dumps(two_tenants(["b", "a"])).replace('"red"', json.dumps(self.NAME)), encoding="utf-8")
        answer = fabtap("map", "ask", "--json", "--pair", "a", "b", path).json()
        self.assertEqual(answer["because"], "both are members of 0x0002")
        segments = in_segments("ip", ("red", {"ip": "10.1.3.3"}), ("green", {"ip": "10.1.4.4"}))
        path.write_text(json.dumps(segments).replace('"red"', json.dumps(self.NAME)), encoding="utf-8")
        answer = fabtap("map", "ask", "--json", "--pair", "a", "b", path).json()
        self.assertEqual(answer["because"], self.NAME + " to green, and no exception permits it")


class Owners(WithFolder):
    """A port that a keyword stands for is nobody's by that; one that is listed is its tenant's."""

    def converted(self, members):
        conf = self.folder / "partitions.conf"
        conf.write_text("Default=0x7fff : ALL=limited, SELF=full ;\ncommon=0x0300 : %s ;\n" % members)
        run = fabtap("map", "convert", "--topology", FABRIC, conf)
        self.assertEqual(run.status, 0, run)
        return run.complaints()

    def test_convert_says_whom_it_makes_owners(self):
        for keyword in "ALL_CAS", "ALL_SWITCHES", "ALL_ROUTERS":
            complaints = self.converted("ALL=limited, %s=full" % keyword)
            self.assertEqual(len(complaints), 1, complaints)
            self.assertIn("partitions.conf:2: ports that ALL_CAS, ALL_SWITCHES or ALL_ROUTERS stand for", complaints[0])
            self.assertIn("common's own", complaints[0])
        self.assertEqual(self.converted("ALL=full, SELF=limited, 0xb8cef60300100021=limited"), [])


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

    def test_lines_that_end_as_those_of_windows_are_named_for_it(self):
        """OpenSM drops the file for it, and nothing of it shows in an editor."""
        for path in sorted(OPENSM.glob("x0[24]_*.conf")):
            run = fabtap("map", "check", path)
            self.assertEqual(b"carriage return" in run.out, "crlf" in path.name, run)

    def test_tables_are_those_that_opensm_gave_the_ports(self):
        truth = json.loads((TENANTS / "tenants-ib.effective.json").read_text())
        for name, want in truth["files"].items():
            document = show(TENANTS / name, "--topology", TENANTS / "ib-a" / "ibnetdiscover.txt").json()
            self.assertEqual(document["verdict"], want["verdict"])
            ours = tables(document)
            for port, entries in want["ports"].items():
                self.assertEqual(ours[port], sorted(entries), port)


class TapMap(WithFolder):
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

    def test_complaints_are_told_as_a_document_too(self):
        for path, verdict, status in ((self.MAP, "ok", 0), (TAPMAP / "x02_unknown_host.json", "reject", FAILED),
                                      (TENANTS / "tenants-ib.failopen.conf", "fail_open", FAILED)):
            told, text = fabtap("map", "check", "--json", path), fabtap("map", "check", path)
            document = told.json()
            self.assertEqual((told.status, text.status, told.err), (status, status, b""))
            self.assertEqual((document["schema"], document["file"], document["verdict"]),
                             ("fabtap.map-check/1", path.name, verdict))
            self.assertIn(document["format"], ("tapmap", "opensm-partitions"))
            lines = text.out.decode().splitlines()
            self.assertTrue(lines[-1].startswith("%s: %s" % (path, verdict)), lines)
            self.assertEqual(len(document["diagnostics"]), len(lines) - 1)
            for line, found in zip(lines, document["diagnostics"]):
                for word in (":%d: " % found["line"], found["severity"] + ": ", found["code"] + ": ", found["text"]):
                    self.assertIn(word, line)

    def test_a_tampered_map_is_refused_under_its_key(self):
        copy = self.folder / "site.json"
        shutil.copy(TAPMAP / "v01_three_tenants.sig", copy.with_suffix(".sig"))
        for source, status in (("v01_three_tenants.json", 0), ("x05_tampered.json", FAILED)):
            shutil.copy(TAPMAP / source, copy)
            run = fabtap("map", "check", "--key", TAPMAP / "signer.pub.pem", copy)
            self.assertEqual(run.status, status, run)
            self.assertEqual("signature" in (run.out + run.err).decode(), status == FAILED)
        copy.with_suffix(".sig").unlink()
        self.assertEqual(fabtap("map", "check", "--key", TAPMAP / "signer.pub.pem", copy).status, FAILED)

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
                text = fabtap("map", "ask", "--at", query["at"], *who, self.MAP).out.decode()
                for entry in query.get("entries", []):
                    self.assertRegex(text, r"(?m)^  %s %s +" % (entry["pkey_base"], entry["membership"]))
                if "entries" in query:
                    self.assertEqual(text.count(", line "), len(query["entries"]), text)
                if "in_grace_for" in query:
                    self.assertIn("%s in grace" % query["in_grace_for"], text)

    def test_a_port_is_told_by_the_name_it_was_asked_by_and_its_host(self):
        for name, head in (("0xb8cef60300100021", "0xb8cef60300100021 (gpu-a1) at"), ("gpu-a1", "gpu-a1 at")):
            text = fabtap("map", "ask", "--at", "2026-11-20T11:00:00Z", "--port", name, self.MAP).out.decode()
            self.assertTrue(text.startswith(head), text)
            self.assertIn("\n  owner  red\n", text)

    def test_a_pair_in_grace_is_told_so_and_why(self):
        # the membership in 0x0101 ended at 12:00:00, grace is 5 s
        pair = ["--pair", "gpu-a1", "gpu-a2", self.MAP]
        for at, grace in (("2026-11-20T12:00:03Z", True), ("2026-11-20T12:00:06Z", False)):
            said = fabtap("map", "ask", "--at", at, *pair).out.decode()
            answer = fabtap("map", "ask", "--json", "--at", at, *pair).json()
            self.assertEqual((answer["allowed"], answer["grace"]), (False, grace))
            self.assertIn("not allowed", said)
            self.assertEqual("grace" in said, grace, said)
            for text in (said, answer["because"]):
                self.assertEqual("over 0x0101 ended less than 5000 ms before" in text, grace, text)

    def test_a_way_that_is_open_in_one_direction_is_told_so(self):
        """What goes to the service is permitted, and its answers are not."""
        rules = json.loads((TENANTS / "tenants-segments.map.json").read_text())
        store = next(exception for exception in rules["exceptions"] if exception["id"] == "ex-store")
        at, client, server = "2026-11-20T12:00:00Z", "10.10.1.11", "10.10.90.5"
        for direction, there, back in (("both", True, True), ("to", True, False), ("from", False, True)):
            store["direction"] = direction
            path = self.folder / "one-way.json"
            path.write_text(json.dumps(rules))
            answer = fabtap("map", "ask", "--json", "--at", at, "--pair", client, server, path).json()
            self.assertEqual((answer["allowed"], answer["allowed_back"]), (there, back), direction)
            said = fabtap("map", "ask", "--at", at, "--pair", client, server, path).out.decode()
            self.assertEqual("\n  the other way: not allowed: storage to red, and no" in said, there and not back, said)
            self.assertEqual("\n  the other way: allowed: storage to red by" in said, back and not there, said)

    def test_lint_sees_tenants_that_share_a_leaf(self):
        bad = fabtap("map", "lint", TENANTS / "cotenancy-bad.map.json").out.decode()
        fine = fabtap("map", "lint", TENANTS / "cotenancy-fine.map.json").out.decode()
        self.assertIn("tenant.cotenancy", bad)
        self.assertIn("leaf2", bad)
        self.assertNotIn("tenant.cotenancy", fine)

    def test_a_map_does_not_differ_from_itself(self):
        run = fabtap("map", "diff", "--json", self.MAP, self.MAP)
        self.assertEqual(run.status, 0, run)

    def test_diff_says_which_tenants_a_change_lets_talk(self):
        apart, joined = self.folder / "apart.json", self.folder / "joined.json"
        apart.write_text(json.dumps(two_tenants(["b"])))
        joined.write_text(json.dumps(two_tenants(["b", "a"])))
        for old, new, word in ((apart, joined, "opens"), (joined, apart, "closes")):
            run = fabtap("map", "diff", old, new)
            self.assertEqual(run.status, 1, run)
            said = [line for line in run.out.decode().splitlines() if line.startswith(word)]
            self.assertEqual(len(said), 1, run.out)
            for name in ("red", "green", "0x0002"):
                self.assertIn(name, said[0])

    def test_diff_says_that_the_grace_changed(self):
        short, long = self.folder / "short.json", self.folder / "long.json"
        short.write_text(json.dumps(two_tenants(["b"]) | {"grace_ms": 100}))
        long.write_text(json.dumps(two_tenants(["b"]) | {"grace_ms": 2500}))
        run = fabtap("map", "diff", short, long)
        self.assertEqual(run.status, 1, run)
        self.assertEqual(run.out.decode().split(), "grace 100 ms -> 2500 ms".split())

    def test_diff_says_what_else_verdicts_go_by(self):
        """Who may talk to whom is the same by port; an audit of the same frames is not."""
        def told(change, status, *lines):
            old, new = two_tenants(["b"]), two_tenants(["b"])
            change(new)
            paths = [self.folder / name for name in ("old.json", "new.json")]
            for path, document in zip(paths, (old, new)):
                path.write_text(json.dumps(document))
            for (one, other), arrows in ((paths, lines), (paths[::-1], [turned(line) for line in lines])):
                run = fabtap("map", "diff", one, other)
                self.assertEqual((run.status, run.out.decode().splitlines()), (status, list(arrows)), run)

        def turned(line):
            head, parts = line.split(": ", 1) if "->" in line else (line, "")
            if not parts:
                return head.replace("appears", "vanishes")
            if head.startswith("setting"):
                return head + ": " + " -> ".join(reversed(parts.split(" -> ")))
            change = [part.replace(" -> ", " ").split() for part in parts.split(", ")]
            return head + ": " + ", ".join("%s %s -> %s" % (key, after, before) for key, before, after in change)

        def options(number, **values):
            return lambda document: document["tenants"][number].update(options=values)

        def port(**values):
            return lambda document: document["nodes"][0]["ports"][0].update(values)

        told(lambda d: d.update(serial=2, issuer="other", issued_at="2026-02-02T00:00:00Z"), 0, "the two maps permit the same")
        told(port(leaf_port=4), 0, "the two maps permit the same")
        told(lambda d: d["partitions"][0].update(ipoib=True), 1, "setting ipoib of 0x0001: none -> true")
        told(lambda d: d["fabric"].update(subnet_prefix="0xfec0000000000000"), 1,
             "setting subnet_prefix: none -> 0xfec0000000000000")
        told(options(0, quota_gbps=12.5), 1, "setting quota_gbps of red: none -> 12.5")
        told(options(1, encryption="required"), 1, "setting encryption of green: none -> required")
        for number, other in enumerate(("green", "red")):
            told(options(number, no_leaf_sharing_with=[other]), 1, "setting leaf of green and red: none -> not shared")
        told(port(lid=9, leaf="leaf1"), 1, "port    a 0x0000000000000001: lid 1 -> 9, leaf none -> leaf1")
        told(port(gid="fe80::1", mac="02:00:00:00:00:01"), 1,
             "port    a 0x0000000000000001: gid none -> fe80::1, mac none -> 02:00:00:00:00:01")
        told(lambda d: d["nodes"].append({"host": "c", "ports": [{"ip": "10.0.0.3"}]}), 1, "port    c 10.0.0.3 appears")

    def test_diff_of_json_has_settings_and_ports(self):
        old, new = self.folder / "old.json", self.folder / "new.json"
        old.write_text(json.dumps(two_tenants(["b"])))
        document = two_tenants(["b"])
        document["tenants"][0]["options"] = {"quota_gbps": 100}
        document["nodes"][1]["ports"][0].update(lid=8, lmc=2)
        new.write_text(json.dumps(document))
        found = fabtap("map", "diff", "--json", old, new).json()
        self.assertEqual(found["settings"], [{"name": "quota_gbps of red", "change": "appears", "old": None, "new": 100}])
        ports = [{"guid": "0x0000000000000002", **lids} for lids in ({"lid": 2}, {"lid": 8, "lmc": 2})]
        self.assertEqual(found["ports"], [{"name": "b 0x0000000000000002", "change": "changes", "old": ports[0], "new": ports[1]}])

    def test_diff_says_what_an_exception_opens_between_segments(self):
        """There only an exception lets two tenants talk, and only while both have members in force."""
        segments = (("red", {"ip": "10.1.3.3"}), ("green", {"subnet": "10.1.4.0/24"}))

        def policy(*exceptions, until=None):
            document = in_segments("ip", *segments)
            document["exceptions"] = [{"id": "ex-%d" % number, **each} for number, each in enumerate(exceptions)]
            document["segments"][1]["intervals"][0]["to"] = until
            return document

        service = {"kind": "shared-service", "from_tenants": ["red"], "to_tenant": "green"}
        always, february = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"
        for new, pairs in ((policy(service), [("opens", "ex-0", always, None)]),
                           (policy({"kind": "shared-service", "to_tenant": "red"}), [("opens", "ex-0", always, None)]),
                           (policy({"kind": "management"}), [("opens", "ex-0", always, None)]),
                           (policy({**service, "from_tenants": ["green"]}), []),
                           (policy({"kind": "multicast", "mgid": "ff12::1", "tenants": ["red"]}), []),
                           (policy(service, until=february), [("opens", "ex-0", always, february)])):
            found = self.diff(policy(), new)
            self.assertEqual([(row["a"], row["b"], row["via"]) for row in found], [("green", "red", None)] * len(pairs))
            self.assertEqual([(row["change"], row["exception"], row["from"], row["to"]) for row in found], pairs, new["exceptions"])
        closed = self.diff(policy(service), policy(service, until=february))
        self.assertEqual([(row["change"], row["exception"], row["from"], row["to"]) for row in closed],
                         [("closes", "ex-0", february, None)])

    def test_thousands_of_ports_that_are_not_seen_change_no_verdict(self):
        """What a large map is asked is fetched ahead."""
        for name, port in (("tenants-segments", lambda i: {"ip": "172.31.%d.%d" % divmod(i, 256)}),
                           ("tenants-ib", lambda i: {"guid": "0x00000000aa%06x" % i, "lid": 20000 + i})):
            document = json.loads((TENANTS / (name + ".map.json")).read_text())
            document["nodes"] += [{"host": "idle%d" % i, "ports": [port(i)]} for i in range(5000)]
            large = self.folder / (name + ".json")
            large.write_text(json.dumps(document))
            reports = [fabtap("audit", "-m", path, "--json", TENANTS / (name + ".pcap")).json()
                       for path in (TENANTS / (name + ".map.json"), large)]
            for report in reports:
                report.pop("map")
                for finding in report["findings"]:
                    finding.pop("map_ref")  # lines are others
                    finding.pop("evidence")
            self.assertEqual(reports[0], reports[1])

    def test_diff_knows_members_of_segments_by_whatever_names_them(self):
        exception = {"id": "ex-1", "kind": "shared-service", "from_tenants": ["red"], "to_tenant": "green"}
        macs = [{"mac": "02:00:00:00:00:0%d" % number, "leaf": "leaf1"} for number in (1, 2, 3)]
        hosts = ({"host": "a"}, {"host": "b"})
        for known_by, members in (("ip", hosts), ("gid", hosts), ("mac", hosts), ("mac", macs),
                                  ("ip", ({"ip": "10.1.3.3"}, {"subnet": "10.1.4.0/24"})),
                                  ("gid", ({"gid": "::ffff:10.1.3.3"}, {"host": "b"}))):
            old, new = [in_segments("gid" if known_by == "gid" else "ip", *zip(("red", "green"), [
                {key: member[key] for key in member if key != "leaf"} for member in members])) for _ in range(2)]
            new["exceptions"] = [exception]
            for document in (old, new) if known_by == "mac" else ():
                for node, port in zip(document["nodes"], macs):
                    node["ports"] = [port]
            self.assertEqual([(row["a"], row["b"], row["change"], row["exception"]) for row in self.diff(old, new)],
                             [("green", "red", "opens", "ex-1")], (known_by, members))

    def diff(self, *documents):
        paths = [self.folder / name for name in ("old.json", "new.json")]
        for path, document in zip(paths, documents):
            path.write_text(json.dumps(document))
        return fabtap("map", "diff", "--json", *paths).json()["pairs"]

    def test_a_port_is_in_a_segment_by_address_subnet_or_host_whatever_it_is_known_by(self):
        subnet, address, host = {"subnet": "10.1.2.0/23"}, {"gid": "::ffff:10.1.3.3"}, {"host": "a"}
        for known_by in ("ip", "gid"):
            for member in (subnet, address, host):
                path = self.write(in_segments(known_by, ("red", member, {"ip": "fd00::9"})))
                with self.subTest(known_by=known_by, member=member):
                    self.assertIn("owner  red", fabtap("map", "ask", "--port", "a", path).out.decode())
                    self.assertIn("owner  nobody", fabtap("map", "ask", "--port", "b", path).out.decode())
                    for other, allowed in (("c", "allowed"), ("b", "not allowed")):
                        said = fabtap("map", "ask", "--pair", "a", other, path).out.decode()
                        self.assertTrue(said.splitlines()[0].endswith(": " + allowed), said)
                    orphans = [line for line in fabtap("map", "lint", path).out.decode().splitlines() if "orphan-port" in line]
                    self.assertEqual(["b is in no" in line for line in orphans], [True], orphans)

    def test_tenants_share_a_leaf_whatever_their_ports_are_known_by(self):
        for known_by in ("ip", "gid"):
            for member in ({"subnet": "10.1.2.0/23"}, {"ip": "10.1.3.3"}, {"host": "a"}):
                path = self.write(in_segments(known_by, ("red", member), ("green", {"ip": "fd00::9"}), no_leaf_sharing_with=["red"]))
                with self.subTest(known_by=known_by, member=member):
                    said = fabtap("map", "lint", path).out.decode()
                    self.assertIn("tenant.cotenancy", said)
                    self.assertIn("leaf1", said)

    def write(self, document):
        path = self.folder / "map.json"
        path.write_text(json.dumps(document))
        return path

    def test_a_converted_map_gives_the_same_verdicts(self):
        topology = ["--topology", TENANTS / "ib-a" / "ibnetdiscover.txt"]
        source = TENANTS / "tenants-ib.partitions.conf"
        converted = fabtap("map", "convert", *topology, source)
        self.assertEqual(converted.status, 0, converted)
        self.assertEqual(converted.json()["schema"], "tapmap/1")
        copy = self.folder / "converted.json"
        copy.write_bytes(converted.out)
        capture = TENANTS / "tenants-ib.pcap"
        before = fabtap("decode", "-m", source, *topology, "--json", capture).lines()
        after = fabtap("decode", "-m", copy, "--json", capture).lines()
        for one, other in zip(before, after, strict=True):
            self.assertEqual(one.get("rules"), other.get("rules"), "frame %d" % one["frame"])
            for end in ("from", "to"):  # tapmap has no word for all switches: they are named, so they have an owner
                self.assertIn(one[end], (other[end], "unknown"), "frame %d" % one["frame"])


if __name__ == "__main__":
    main()
