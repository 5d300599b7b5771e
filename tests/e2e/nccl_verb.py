"""What `fabtap nccl` prints: operations against what programs did, formats against each other, options."""

import json
import re
import unittest

from harness import DATA, FAILED, PROJECT, fabtap, main, shared

SHIPPED = DATA / "captures" / "snap128-nccl-emul.pcap"
RINGS = ("loss-ring2-2.21.5", "ring2-ll-2.19.3", "ring2-ll128-2.27.7", "ring2small-2.21.5", "ring4-2.27.7")
EMULATED = ("nccl-emul-2rank", "nccl-emul-3rank-checkpoint", "nccl-emul-4rank-2qp-jumbo", "nccl-emul-4rank-ar-oldfifo",
            "nccl-emul-long-snap160", "snap128-nccl-emul", "loss1pct-nccl-emul", "ecn-cnp-nccl-emul")
OF_PROGRAMS = ("warmup", "allreduce", "small_allreduce")


def document(path, *options):
    return fabtap("nccl", "--json", *options, path).json()


def fits(row, size):
    """The operation can have been of this size."""
    least, most = row["message_bytes_range"] or (0, 1 << 64)
    return row["message_bytes"] in (None, size) and least <= size <= most


class Operations(unittest.TestCase):
    def setUp(self):
        self.folder = shared()
        if self.folder is None:
            self.skipTest("the reference captures are not here (FT_SHARED or ../shared)")

    def test_the_all_reduces_of_the_real_transport(self):
        for name in RINGS:
            truth = json.loads((self.folder / "captures" / "nccl" / (name + ".truth.json")).read_text())
            true = {}
            for event in truth["iterations"]:
                if event.get("what") == "allreduce_start":
                    true[event["iter"]] = event
            told = document(self.folder / "captures" / "nccl" / (name + ".pcap"))["collectives"]
            with self.subTest(capture=name):
                self.assertEqual(len(told), len(true))
                for row, (_, event) in zip(told, sorted(true.items())):
                    self.assertIn(row["collective"], ("AllReduce", None))
                    self.assertIn(row["algorithm"], ("RING", None))
                    self.assertEqual(row["protocol"].lower(), event["protocol"])
                    self.assertTrue(fits(row, event["bytes"]), row)
                    frames = [message for message in truth["messages"] if message["sends"][0]["iter"] == event["iter"]]
                    self.assertEqual(row["first_frame"], min(message["frames"][0] for message in frames))
                    self.assertEqual(row["last_frame"], max(message["frames"][1] for message in frames))
                self.assertGreaterEqual(sum(row["collective"] == "AllReduce" for row in told), len(true) - 1)

    def test_the_all_reduces_of_emulated_jobs(self):
        for name in EMULATED:
            truth = json.loads((self.folder / "captures" / (name + ".json")).read_text())
            source = truth.get("source_capture", name + ".pcap").replace(".pcap", ".json")
            truth = json.loads((self.folder / "captures" / source).read_text())
            true = [row["bytes"] for command in truth["commands"] for row in command["reported"]
                    if row.get("rank") == 0 and row.get("phase") in OF_PROGRAMS]
            told = document(self.folder / "captures" / (name + ".pcap"))["collectives"]
            with self.subTest(capture=name):
                self.assertEqual([row["collective"] for row in told], ["AllReduce"] * len(true))
                self.assertTrue(all(fits(row, size) for row, size in zip(told, true)), told)
                if name != "loss1pct-nccl-emul":
                    self.assertEqual([row["message_bytes"] for row in told], true)

    def test_nothing_that_is_not_nccl_did_anything(self):
        for name in ("gloo-ibverbs-3rank", "openmpi-ucx-allreduce-4rank", "nvme-rdma", "perftest-rc-v4", "rdmacm-v4"):
            told = document(self.folder / "captures" / (name + ".pcap"))
            with self.subTest(capture=name):
                for list_name in ("connections", "messages", "communicators", "collectives"):
                    self.assertEqual(told[list_name], [])


class Formats(unittest.TestCase):
    DOCUMENT = None

    @classmethod
    def setUpClass(cls):
        cls.DOCUMENT = document(SHIPPED)

    def test_the_document_has_what_the_format_says(self):
        page = (PROJECT / "docs" / "formats.md").read_text()
        page = page[page.index("schema `fabtap.nccl/1`"):]
        page = page[:page.index("\n## ")]
        named = set(re.findall(r"`(\w+)(?:\[\])?`", page))
        for list_name in ("connections", "messages", "communicators", "queue_pairs", "collectives"):
            for field in self.DOCUMENT[list_name][0]:
                self.assertIn(field, named, list_name)
        self.assertEqual(list(self.DOCUMENT)[:3], ["schema", "tool", "capture"])

    def test_numbers_refer_to_each_other(self):
        connections = {row["connection"] for row in self.DOCUMENT["connections"]}
        self.assertEqual(len(connections), len(self.DOCUMENT["connections"]))
        self.assertEqual({row["connection"] for row in self.DOCUMENT["messages"]}, connections)
        for group in self.DOCUMENT["communicators"]:
            self.assertEqual(set(group["connections"]), connections)
            self.assertEqual(sorted(i for channel in group["channels"] for i in channel["connections"]),
                             sorted(group["connections"]))
            self.assertEqual(sorted(group["ring"]), list(range(len(group["ranks"]))))
        for row in self.DOCUMENT["queue_pairs"]:
            self.assertEqual(row["connection"] in connections, row["class"] == "nccl")

    def test_records_say_what_the_document_says(self):
        records = fabtap("nccl", "-o", "inspector", SHIPPED).lines()
        self.assertEqual(len(records), len(self.DOCUMENT["collectives"]))
        for record, row in zip(records, self.DOCUMENT["collectives"]):
            told = record["coll_perf"]
            self.assertEqual(told["coll"], row["collective"])
            self.assertEqual(told["coll_msg_size_bytes"], row["message_bytes"])
            self.assertEqual(told["coll_sn"], row["sequence"])
            self.assertEqual(record["header"], {"communicator": 0, "n_ranks": 3})
            gigabytes = row["message_bytes"] / 1e9
            self.assertAlmostEqual(told["coll_algobw_gbs"] * told["coll_exec_time_us"] / 1e6 / gigabytes, 1, 2)
            self.assertAlmostEqual(told["coll_busbw_gbs"] / told["coll_algobw_gbs"], 4 / 3, 6)

    def test_keys_are_printed_when_asked_for_and_never_else(self):
        self.assertNotIn("rkey", json.dumps(self.DOCUMENT))
        self.assertNotIn("key", fabtap("nccl", SHIPPED).out.decode().lower())
        told = document(SHIPPED, "--keys")
        for row in told["messages"]:
            if row["cts_frame"] is not None:
                self.assertRegex(row["requests"][0]["rkeys"][0], r"^0x[1-9a-f][0-9a-f]*$")

    def test_threads_change_nothing(self):
        for form in ("text", "json", "inspector"):
            one = fabtap("nccl", "-o", form, SHIPPED).out
            self.assertEqual(fabtap("nccl", "-o", form, "--workers", "3", SHIPPED).out, one, form)

    def test_the_page_shows_as_many_messages_as_asked(self):
        for count in (0, 1, 5, 100000):
            page = fabtap("nccl", "--messages", count, SHIPPED).out.decode()
            rows = re.findall(r"^ +\d+ +\d+ +\d+ +\d+ +\d+ +1 .* whole$", page, re.M)
            self.assertEqual(len(rows), min(count, len(self.DOCUMENT["messages"])))
            told = document(SHIPPED, "--messages", count)
            self.assertEqual(told["messages"], self.DOCUMENT["messages"][:count])
            self.assertEqual(told["dropped"]["messages"] + len(told["messages"]), len(self.DOCUMENT["messages"]))
            self.assertEqual(told["collectives"], self.DOCUMENT["collectives"])


class Options(unittest.TestCase):
    def refused(self, complaint, *arguments):
        run = fabtap("nccl", *arguments)
        self.assertEqual(run.status, FAILED)
        self.assertEqual(run.out, b"")
        self.assertEqual(len(run.complaints()), 1)
        self.assertIn(complaint, run.complaints()[0])

    def test_what_is_refused(self):
        self.refused("-o xml: not text, json or inspector", "-o", "xml", SHIPPED)
        self.refused("both -o text and -o json", "-o", "text", "--json", SHIPPED)
        self.refused("--keys is for -o json", "--keys", SHIPPED)
        self.refused("--messages is for -o text and -o json", "--messages", "3", "-o", "inspector", SHIPPED)
        self.refused("--messages ten: not a number", "--messages", "ten", SHIPPED)
        self.refused("--messages given twice", "--messages", "1", "--messages", "2", SHIPPED)
        self.refused("nowhere.pcap: cannot open", "nowhere.pcap")

    def test_a_capture_without_nccl_is_no_error(self):
        run = fabtap("nccl", DATA / "captures" / "multicast-v4.pcap")
        self.assertEqual(run.status, 0)
        self.assertIn("NCCL      no connections", run.out.decode())


if __name__ == "__main__":
    main()
