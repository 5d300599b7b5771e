"""What a live run is asked for while it goes on: reports, another map, its buffer, an end. On a mirror port."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import harness
from harness import COMPLIANT, DATA, FAILED, VIOLATED, fabtap, main
from mirror import ENVIRONMENT, Live, OnAMirror, frames_of

TENANTS = DATA / "tenants"
CAPTURE = TENANTS / "tenants-segments.pcap"
MAP = TENANTS / "tenants-segments.map.json"
TAP = "pcap:tap0"
PATIENCE_S = 20
APART_S = 0.0015  # frames that are alike come farther apart than a mirror's copies do


def findings(document):
    return [(finding["rule"], finding["severity"], finding["summary"], finding["packets"])
            for finding in document["findings"]]


def counts(document):
    return {name: document[name] for name in ("matrix", "pkeys")}


def documents(text):
    """The JSON documents that stand one after the other in the output."""
    decoder, found, at = json.JSONDecoder(), [], 0
    text = text.decode()
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        document, size = decoder.raw_decode(text[at:])
        found.append(document)
        at += size
    return found


def without_red(declared):
    """The map's next issue, in which that tenant is gone."""
    declared["serial"] += 1
    declared["tenants"] = [tenant for tenant in declared["tenants"] if tenant["name"] != "red"]
    declared["segments"] = [segment for segment in declared["segments"] if segment["tenant"] != "red"]
    for exception in declared.get("exceptions", []):
        exception["from_tenants"] = [name for name in exception.get("from_tenants", []) if name != "red"]
    declared["exceptions"] = [exception for exception in declared.get("exceptions", [])
                              if exception["from_tenants"] and exception.get("to_tenant") != "red"]


def with_red(declared):
    """The issue behind that one, in which it is back."""
    declared["serial"] += 2


class Asked(OnAMirror):
    def setUp(self):
        super().setUp()
        self.frames = frames_of(CAPTURE)
        self.half = len(self.frames) // 2

    def replay(self, frames):
        """Slowly: none is taken for a copy of one that it is like."""
        self.mirror.replay(frames, [number * APART_S for number in range(len(frames))])

    def write(self, change):
        """The map, changed, as a file that the run reads."""
        declared = json.loads(MAP.read_text())
        change(declared)
        path = self.folder / "map.json"
        path.write_text(json.dumps(declared))
        return path

    def audit(self, policy, *options, settle=None):
        return Live(self.mirror, "audit", "-i", TAP, "-m", policy, "--json", *options, settle=settle)

    def hear(self, live, words):
        """Wait until the program says so."""
        end = time.monotonic() + PATIENCE_S
        os.set_blocking(live.process.stderr.fileno(), False)
        while words not in live.said.decode():
            self.assertLess(time.monotonic(), end, "%r was not said; only %r" % (words, live.said))
            live.said += live.process.stderr.read() or b""
            time.sleep(0.01)
        os.set_blocking(live.process.stderr.fileno(), True)


class Reports(Asked):
    def test_an_interim_report_is_of_what_was_seen_so_far(self):
        for workers in ("1", "2"):
            with self.subTest(workers=workers), self.audit(MAP, "--workers", workers) as live:
                self.replay(self.frames[:self.half])
                time.sleep(0.5)
                live.signal(signal.SIGUSR1)
                time.sleep(0.5)
                self.replay(self.frames[self.half:])
                run = live.stop()
                interim, final = documents(run.out)
                self.assertEqual(interim["capture"]["frames"], self.half)
                self.assertEqual(final["capture"]["frames"], len(self.frames))
                whole = fabtap("audit", "-m", MAP, "--json", CAPTURE)
                self.assertEqual(run.status, whole.status)
                self.assertEqual(findings(final), findings(whole.json()))
                self.assertEqual(counts(final), counts(whole.json()))

    def test_a_capture_tells_its_account_and_writes_its_buffer(self):
        path = self.folder / "x.pcapng"
        with Live(self.mirror, "capture", "-i", TAP, "-w", path, "--json") as live:
            self.mirror.replay(self.frames[:self.half])
            time.sleep(0.1)
            live.signal(signal.SIGUSR2)
            time.sleep(0.3)
            self.assertEqual(self.count(path), self.half)
            live.signal(signal.SIGUSR1)
            time.sleep(0.3)
            self.mirror.replay(self.frames[self.half:])
            run = live.stop()
        interim, final = documents(run.out)
        self.assertEqual(interim["kept"], self.half)
        self.assertEqual(final["kept"], len(self.frames))
        self.assertEqual(self.count(path), len(self.frames))

    def count(self, path):
        return fabtap("sources", "--json", path).json()["inputs"][0]["frames"]


class Maps(Asked):
    def test_tenants_in_another_order_change_nothing(self):
        def turn(declared):
            declared["serial"] += 1
            declared["tenants"].reverse()
            declared["segments"].reverse()

        whole = fabtap("audit", "-m", MAP, "--json", CAPTURE).json()
        for workers in ("1", "2"):
            with self.subTest(workers=workers):
                policy = self.write(lambda declared: None)
                with self.audit(policy, "--workers", workers) as live:
                    self.replay(self.frames[:self.half])
                    time.sleep(0.5)
                    self.write(turn)
                    live.signal(signal.SIGHUP)
                    self.hear(live, "in force from here on")
                    self.replay(self.frames[self.half:])
                    document = live.stop().json()
                self.assertEqual(document["map"]["serial"], whole["map"]["serial"] + 1)
                (earlier,) = document["map"]["earlier"]
                self.assertEqual(earlier["serial"], whole["map"]["serial"])
                self.assertNotEqual(earlier["sha256"], document["map"]["sha256"])
                self.assertEqual(findings(document), findings(whole))
                self.assertEqual(counts(document), counts(whole))

    def test_frames_are_judged_by_the_map_in_force(self):
        """A tenant is gone, and comes back: only between the two its frames are of unknown ends."""
        policy = self.write(lambda declared: None)
        with self.audit(policy) as live:
            for change in (without_red, with_red):
                self.replay(self.frames)
                time.sleep(0.5)
                self.write(change)
                live.signal(signal.SIGHUP)
                self.hear(live, "in force from here on")
                live.said = live.said.replace(b"in force from here on", b"in force")
            self.replay(self.frames)
            document = live.stop().json()
        self.write(lambda declared: None)
        first = fabtap("audit", "-m", policy, "--json", CAPTURE).json()
        self.write(without_red)
        second = fabtap("audit", "-m", policy, "--json", CAPTURE).json()
        self.assertEqual(self.packets(document), self.sum(self.packets(first), self.packets(second), self.packets(first)))
        self.assertIn("red", [tenant["name"] for tenant in document["tenants"]])

    def test_a_tenant_that_comes_later_is_counted_from_then_on(self):
        """Nobody knew of it at first."""
        policy = self.write(without_red)
        with self.audit(policy) as live:
            for change in (with_red, None):
                self.replay(self.frames)
                time.sleep(0.5)
                if change is not None:
                    self.write(change)
                    live.signal(signal.SIGHUP)
                    self.hear(live, "in force from here on")
            document = live.stop().json()
        self.write(without_red)
        first = fabtap("audit", "-m", policy, "--json", CAPTURE).json()
        second = fabtap("audit", "-m", MAP, "--json", CAPTURE).json()
        self.assertEqual(self.packets(document), self.sum(self.packets(first), self.packets(second)))
        (live_red,), (whole_red,) = ([tenant for tenant in one["tenants"] if tenant["name"] == "red"] for one in (document, second))
        for count in ("frames", "bytes", "endpoints_seen"):
            self.assertEqual(live_red[count], whole_red[count], count)

    def test_rows_have_the_names_of_the_map_in_force(self):
        """Half-connections seen under both maps are of the tenants of the second one."""
        def row(flow):
            return tuple(flow[end]["address"] for end in ("src", "dst")) + (flow["dest_qp"], flow["pkey"], flow["vlan"], flow["vni"])

        policy = self.write(without_red)
        with Live(self.mirror, "flows", "-i", TAP, "-m", policy, "--json") as live:
            self.replay(self.frames)
            time.sleep(0.5)
            self.write(with_red)
            live.signal(signal.SIGHUP)
            self.hear(live, "in force from here on")
            self.replay(self.frames)
            document = live.stop().json()
        whole = fabtap("flows", "-m", MAP, "--json", CAPTURE).json()
        named = [{row(flow): tuple(flow[end][name] for end in ("src", "dst") for name in ("host", "tenant"))
                  for flow in one["flows"]} for one in (document, whole)]
        self.assertEqual(named[0], named[1])
        self.assertIn("red", {name for names in named[0].values() for name in names})

    @staticmethod
    def packets(document):
        return {(row["from"], row["to"]): row["packets"] for row in document["matrix"]}

    @staticmethod
    def sum(*parts):
        total = {}
        for part in parts:
            for pair, packets in part.items():
                total[pair] = total.get(pair, 0) + packets
        return total

    def test_a_map_with_an_error_changes_nothing(self):
        whole = fabtap("audit", "-m", MAP, "--json", CAPTURE).json()
        for cut, said in ((-20, "map.json:"), (0, "OpenSM drops such a file whole")):
            policy = self.write(lambda declared: None)
            with self.subTest(cut=cut), self.audit(policy) as live:
                self.replay(self.frames[:self.half])
                time.sleep(0.3)
                policy.write_text(policy.read_text()[:cut])
                live.signal(signal.SIGHUP)
                self.hear(live, "the map before stays in force")
                self.replay(self.frames[self.half:])
                run = live.stop()
                told = [line for line in run.err.decode().splitlines() if "stays in force" in line]
                self.assertEqual(len(told), 1, run)
                self.assertIn(said, told[0])
                self.assertEqual(findings(run.json()), findings(whole))
                self.assertEqual(run.json()["map"]["serial"], whole["map"]["serial"])

    def test_an_older_issue_of_the_map_is_not_taken_back(self):
        """Serials of another map are no measure, and a map without one is no issue."""
        whole = fabtap("audit", "-m", MAP, "--json", CAPTURE).json()
        for change, refused in (({"serial": 11}, True), ({"serial": 12}, False), ({"serial": 11, "map_id": "other"}, False),
                                ({"serial": None}, False)):
            policy = self.write(lambda declared: None)
            with self.subTest(change=change), self.audit(policy) as live:
                self.replay(self.frames[:self.half])
                time.sleep(0.3)
                declared = json.loads(policy.read_text())
                self.assertEqual(declared["serial"], 12)
                declared.update(change, supersedes=None)
                policy.write_text(json.dumps({key: value for key, value in declared.items() if value is not None}))
                live.signal(signal.SIGHUP)
                self.hear(live, "the map before stays in force" if refused else "in force from here on")
                self.replay(self.frames[self.half:])
                run = live.stop()
                told = [line for line in run.err.decode().splitlines() if "stays in force" in line]
                self.assertEqual(told, ["fabtap: %s: serial 11 is older than 12, which is in force; the map before stays in force"
                                        % policy] * refused)
                self.assertEqual(len(run.json()["map"]["earlier"]), not refused)
                self.assertEqual(findings(run.json()), findings(whole))

    def test_a_map_that_is_now_a_pipe_holds_nothing_up(self):
        policy = self.write(lambda declared: None)
        with self.audit(policy) as live:
            self.replay(self.frames[:self.half])
            time.sleep(0.3)
            policy.unlink()
            os.mkfifo(policy)
            live.signal(signal.SIGHUP)
            self.hear(live, "%s: not a regular file, cannot be read again; the map before stays in force" % policy)
            self.replay(self.frames[self.half:])
            self.assertEqual(live.stop().json()["capture"]["frames"], len(self.frames))


class Ends(Asked):
    def test_a_run_ends_after_its_time_or_its_frames(self):
        start = time.monotonic()
        with self.audit(MAP, "--duration", "1.5") as live:
            self.mirror.replay(self.frames)
            run = live.end()
        self.assertTrue(1.4 < time.monotonic() - start < 10)
        self.assertEqual(run.json()["capture"]["frames"], len(self.frames))
        with self.audit(MAP, "-c", "100") as live:
            self.mirror.replay(self.frames)
            run = live.end()
        self.assertEqual(run.json()["capture"]["frames"], 100)
        self.assertEqual(run.json()["capture"]["stopped_after"], 100)

    def test_what_arrived_before_the_end_is_in_the_report(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number.name), self.audit(MAP) as live:
                self.mirror.replay(self.frames)
                live.signal(number)
                run = live.end()
                self.assertEqual(run.status, VIOLATED, run)
                self.assertEqual(run.json()["capture"]["frames"], len(self.frames))

    def test_a_signal_right_after_listening_ends_nothing(self):
        for number in (signal.SIGUSR1, signal.SIGHUP):
            with self.subTest(signal=number.name), self.audit(MAP, settle=0) as live:
                live.signal(number)
                self.replay(self.frames)
                run = live.stop()
                self.assertEqual(run.status, VIOLATED, run)
                self.assertEqual(documents(run.out)[-1]["capture"]["frames"], len(self.frames))
        with self.audit(MAP, settle=0) as live:
            self.assertEqual(documents(live.stop().out)[0]["verdict"], "not-evidenced")

    def test_a_signal_tears_no_output(self):
        """Nobody reads until the program, after more than a pipe holds, has been told to stop."""
        with Live(self.mirror, "decode", "-i", TAP) as live:
            for _ in range(4):
                self.mirror.replay(self.frames)
            time.sleep(0.5)
            live.signal(signal.SIGINT)
            time.sleep(0.2)
            run = live.end()
        self.assertEqual(run.status, COMPLIANT, run)
        self.assertGreater(len(run.out), 65536)
        self.assertEqual(run.out.count(b"\n"), 4 * len(self.frames))

    def test_silence_ends_as_well(self):
        with self.audit(MAP) as live:
            run = live.stop()
        self.assertEqual(run.json()["verdict"], "not-evidenced")

    def test_other_verbs_go_on_until_stopped(self):
        with Live(self.mirror, "decode", "-i", TAP, "-T", "fields", "-e", "frame.number") as live:
            self.mirror.replay(self.frames)
            run = live.stop()
        self.assertEqual(len(run.out.decode().splitlines()), len(self.frames))
        with Live(self.mirror, "flows", "-i", TAP, "-m", MAP, "--json") as live:
            self.mirror.replay(self.frames)
            run = live.stop()
        self.assertEqual(run.status, COMPLIANT)
        self.assertTrue(run.json()["flows"])


class Files(Asked):
    def test_no_thread_keeps_a_right(self):
        with Live(self.mirror, "capture", "-i", TAP, "-w", self.folder / "x.pcapng") as live:
            self.mirror.replay(self.frames)
            time.sleep(1)
            rights = [re.findall(r"^(Cap(?:Prm|Eff|Bnd|Amb)|Seccomp|NoNewPrivs):\s*(\w+)", path.read_text(), re.M)
                      for path in Path("/proc/%d/task" % live.process.pid).glob("*/status")]
            live.stop()
        self.assertEqual(len(rights), 2)
        for thread in rights:
            self.assertEqual({name: int(value, 16) for name, value in thread},
                             {"CapPrm": 0, "CapEff": 0, "CapBnd": 0, "CapAmb": 0, "NoNewPrivs": 1, "Seccomp": 2})

    def test_a_source_that_cannot_be_opened_costs_no_file(self):
        path = self.folder / "precious.pcapng"
        path.write_bytes(b"precious")
        run = fabtap("capture", "-i", "pcap:nope", "-w", path)
        self.assertEqual(run.status, FAILED)
        self.assertEqual(path.read_bytes(), b"precious")

    def test_a_ring_of_files_holds_what_came_last(self):
        with Live(self.mirror, "capture", "-i", TAP, "-w", self.folder / "ring.pcapng", "--rotate-size", "64K",
                  "--disk-limit", "200K", "--json") as live:
            for _ in range(5):
                self.mirror.replay(self.frames)
            run = live.stop()
        document = run.json()
        files = sorted(self.folder.glob("ring_*.pcapng"))
        self.assertEqual([str(path) for path in files], [entry["name"] for entry in document["files"]])
        self.assertTrue(all(path.stat().st_size <= 64 << 10 for path in files))
        self.assertLessEqual(sum(path.stat().st_size for path in files), 200 << 10)
        self.assertEqual(document["kept"] + document["lost_for_disk"], 5 * len(self.frames))
        self.assertTrue(document["files_removed"] > 0)

    def test_many_small_files_cost_no_frame(self):
        with Live(self.mirror, "capture", "-i", TAP, "-w", self.folder / "small.pcapng", "--rotate-count", "10",
                  "--json") as live:
            self.mirror.replay(self.frames)
            time.sleep(Live.SETTLE_S)
            document = live.stop().json()
        self.assertEqual([entry["frames"] for entry in document["files"]], [10] * 48 + [5])
        self.assertEqual(document["lost_for_disk"], 0)

    def test_a_file_without_a_name_is_refused(self):
        run = fabtap("capture", "-i", TAP, "-w", "", "--rotate-count", "10")
        self.assertEqual(run.status, FAILED)
        self.assertEqual(run.complaints(), ['fabtap: capture: -w "": not the name of a file'])

    def test_a_kill_loses_at_most_the_last_second(self):
        for round_ in range(3):
            path = self.folder / ("killed%d.pcapng" % round_)
            with Live(self.mirror, "capture", "-i", TAP, "-w", path) as live:
                self.mirror.replay(self.frames)
                time.sleep(1)
                self.mirror.replay(self.frames[:50])
                live.signal(signal.SIGKILL)
                live.process.wait(timeout=10)
            shown = subprocess.run([harness.PROGRAM, "sources", "--json", path], env=harness.ENVIRONMENT,
                                   capture_output=True, timeout=30, check=False)
            self.assertGreaterEqual(json.loads(shown.stdout)["inputs"][0]["frames"], len(self.frames))

    def test_only_what_concerns_a_tenant_is_kept(self):
        path = self.folder / "red.pcapng"
        with Live(self.mirror, "capture", "-i", TAP, "-m", MAP, "--tenant", "red", "-w", path, "--json") as live:
            self.replay(self.frames)
            run = live.stop()
        whole = fabtap("audit", "-m", MAP, "--json", CAPTURE).json()
        wanted = sum(row["packets"] for row in whole["matrix"] if "red" in (row["from"], row["to"]))
        self.assertTrue(wanted > 0)
        self.assertEqual(run.json()["kept"], wanted)
        found = fabtap("audit", "-m", MAP, "--json", path).json()
        self.assertTrue(all("red" in (row["from"], row["to"]) for row in found["matrix"]))
        self.assertEqual(sum(row["packets"] for row in found["matrix"]), wanted)

    def test_the_count_is_of_frames_that_match(self):
        """All but the last of them: by then many others have come."""
        path = self.folder / "red.pcapng"
        whole = fabtap("audit", "-m", MAP, "--json", CAPTURE).json()
        few = sum(row["packets"] for row in whole["matrix"] if "red" in (row["from"], row["to"])) - 1
        with Live(self.mirror, "capture", "-i", TAP, "-m", MAP, "--tenant", "red", "-c", few, "-w", path, "--json") as live:
            self.replay(self.frames)
            run = live.end()
        document = run.json()
        self.assertEqual((document["kept"], document["capture"]["stopped_after"]), (few, few))
        self.assertGreater(document["capture"]["frames"], few)
        self.assertIn("%d kept; -c ended it" % few, "\n".join(run.complaints()))
        self.assertEqual(fabtap("sources", "--json", path).json()["inputs"][0]["frames"], few)

    def test_a_tenant_that_a_new_map_lacks_is_told(self):
        policy = self.write(lambda declared: None)
        with Live(self.mirror, "capture", "-i", TAP, "-m", policy, "--tenant", "red", "-w", self.folder / "red.pcapng",
                  "--json") as live:
            self.write(without_red)
            live.signal(signal.SIGHUP)
            self.hear(live, "in force from here on")
            self.replay(self.frames)
            run = live.stop()
        self.assertEqual(run.json()["kept"], 0)
        self.assertIn("fabtap: capture: --tenant=red: not a tenant of the map as it was read again", run.complaints())


class FullDisks(Asked):
    def setUp(self):
        super().setUp()
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", self.disk], check=True)
        self.addCleanup(subprocess.run, ["umount", self.disk], check=True)

    def test_an_audit_goes_on_without_evidence_and_says_so(self):
        evidence = self.disk / "evidence.pcapng"
        with self.audit(MAP, "-w", evidence) as live:
            (self.disk / "other").write_bytes(bytes(96 << 10))
            self.replay(self.frames)
            run = live.stop()
        whole = fabtap("audit", "-m", MAP, "--json", CAPTURE).json()
        self.assertEqual(run.status, FAILED, run)
        self.assertEqual(findings(run.json()), findings(whole))
        told = [line for line in run.complaints() if "No space left" in line]
        self.assertEqual(len(told), 1, run)
        self.assertIn(str(evidence), told[0])
        self.assertEqual([path.name for path in self.disk.iterdir()], ["other"])

    def test_a_capture_leaves_whole_frames(self):
        path = self.disk / "x.pcapng"
        with Live(self.mirror, "capture", "-i", TAP, "-w", path, "--json") as live:
            self.replay(self.frames)
            run = live.end()
        self.assertEqual(run.status, FAILED, run)
        told = [line for line in run.complaints() if line.endswith("x.pcapng: cannot write: No space left on device")]
        self.assertEqual(len(told), 1, run)
        inputs = fabtap("sources", "--json", path).json()["inputs"]
        self.assertEqual(inputs[0]["frames"], run.json()["kept"])
        self.assertGreater(run.json()["lost_for_disk"], 0)

    def test_what_cannot_begin_is_told_by_its_name(self):
        with open("/dev/full", "wb") as full:
            run = fabtap("capture", "-w", "-", CAPTURE, stdout=full)
        self.assertEqual((run.status, run.complaints()),
                         (FAILED, ["fabtap: standard output: cannot write: No space left on device"]))
        (self.disk / "other").write_bytes(bytes(100 << 10))
        run = fabtap("capture", "-w", self.disk / "y.pcapng", CAPTURE)
        self.assertEqual(run.status, FAILED)
        self.assertEqual(run.complaints(), ["fabtap: %s: cannot create: No space left on device" % (self.disk / "y.pcapng")])


class Descriptors(Asked):
    def test_what_is_said_without_standard_error_does_not_go_out_on_the_tap(self):
        self.mirror.ip(self.mirror.tap, "address", "add", "192.0.2.1/24", "dev", "tap0")  # which is warned of
        before = self.mirror.sent_by_the_tap()
        for closed in ("2>&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"):
            with self.subTest(closed=closed):
                path = self.folder / "closed.pcapng"
                line = '"$0" capture -i pcap:tap0 -w "$1" --duration 0.3 ' + closed
                run = subprocess.run(self.mirror.command("sh", "-c", line, harness.PROGRAM, path), timeout=30,
                                     env=ENVIRONMENT, check=False)
                self.assertEqual(run.returncode, 0)
                self.assertEqual(fabtap("sources", path).status, 0)
        self.assertEqual(self.mirror.sent_by_the_tap(), before)


if __name__ == "__main__":
    main()
