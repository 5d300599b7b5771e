"""No NCCL where there is none, each queue pair classed as what it is; and rings of a program that speaks NCCL's framing."""

import json
import unittest

from harness import main, shared
from nccl import document


class Others(unittest.TestCase):
    CLASSES = {
        "gloo-ibverbs-3rank": {"gloo"}, "openmpi-ucx-allreduce-2rank": {"ucx", "openmpi"},
        "openmpi-ucx-allreduce-4rank": {"ucx", "openmpi"}, "dup-openmpi": {"ucx", "openmpi"}, "nvme-rdma": {"nvme"},
        "perftest-rc-v4": {"perftest"}, "rdmacm-v4": {"rdma_cm", "perftest"}, "rdmacm-v6": {"rdma_cm"}, "ucx-perftest-v6": {"ucx"},
    }
    NCCL = ("nccl", "erspan2.pcap")  # mirror-erspan2.pcap is a mirrored copy of the emulation

    def captures(self):
        folder = shared()
        if folder is None:
            self.skipTest("the reference captures are not here (FT_SHARED or ../shared)")
        for path in sorted((folder / "captures").glob("*.pcap*")):
            yield path

    def test_nothing_else_is_taken_for_nccl(self):
        for path in self.captures():
            if not any(mark in path.name for mark in self.NCCL):
                told = document(path)
                with self.subTest(capture=path.name):
                    self.assertEqual([q for q in told["queue_pairs"] if q["class"] == "nccl"], [])
                    self.assertEqual((told["connections"], told["findings"]), ([], []))

    def test_vectors_hold_no_nccl(self):
        folder = shared()
        if folder is None:
            self.skipTest("the reference vectors are not here (FT_SHARED or ../shared)")
        for path in sorted((folder / "vectors").rglob("*.pcap*")):
            told = document(path)
            with self.subTest(capture=path.name):
                self.assertEqual([q for q in told["queue_pairs"] if q["class"] == "nccl"], [])

    def test_each_is_what_it_is(self):
        """Connected queue pairs with more than a handful of packets."""
        for path in self.captures():
            wanted = self.CLASSES.get(path.name.split(".")[0])
            if wanted is None:
                continue
            told = [q for q in document(path)["queue_pairs"] if q["qpn"] > 1 and q["class"] != "unknown"]
            with self.subTest(capture=path.name):
                self.assertTrue(told)
                self.assertLessEqual({q["class"] for q in told}, wanted | {"rdma_cm"})
                self.assertTrue(any(q["class"] in wanted for q in told))


class Emulated(unittest.TestCase):
    """Rings whose program told what it did."""

    NAMES = ("nccl-emul-2rank", "nccl-emul-3rank-checkpoint", "nccl-emul-4rank-2qp-jumbo", "nccl-emul-4rank-ar-oldfifo",
             "nccl-emul-long-snap160", "snap128-nccl-emul", "loss1pct-nccl-emul", "ecn-cnp-nccl-emul")

    def each(self):
        folder = shared()
        if folder is None:
            self.skipTest("the reference captures are not here (FT_SHARED or ../shared)")
        for name in self.NAMES:
            truth = json.loads((folder / "captures" / (name + ".json")).read_text())
            source = truth.get("source_capture", name + ".pcap").replace(".pcap", ".json")
            yield folder / "captures" / (name + ".pcap"), json.loads((folder / "captures" / source).read_text())

    @staticmethod
    def reported(truth):
        return [row for command in truth["commands"] for row in command["reported"]]

    def test_connections_and_their_fifos(self):
        for path, truth in self.each():
            ip = {rank["rank"]: rank["ip"] for rank in truth["ranks"]}
            wanted = {}
            for row in self.reported(truth):
                if "send_qpn" in row:
                    key = (ip[row["rank"]], ip[row["send_peer_rank"]], row["channel"])
                    wanted.setdefault(key, set()).add((row["send_qpn"], row["send_peer_qpn"], row["fifo_addr"]))
            told = {}
            for one in document(path)["connections"]:
                pairs = set(zip(one["sender"]["qpns"], one["receiver"]["qpns"], [one["cts_fifo"]["addr"]] * 8))
                told[frozenset(pairs)] = (one["sender"]["addresses"], one["receiver"]["addresses"])
            with self.subTest(capture=path.name):
                self.assertEqual(told, {frozenset(pairs): ([key[0]], [key[1]]) for key, pairs in wanted.items()})

    def test_rings_and_ranks(self):
        for path, truth in self.each():
            told = document(path)["communicators"]
            with self.subTest(capture=path.name):
                self.assertEqual(len(told), 1)
                ranks = {rank["addresses"][0]: rank["rank"] for rank in told[0]["ranks"]}
                known = {ip: rank for ip, rank in ranks.items() if rank is not None}
                true = {rank["ip"]: rank["rank"] for rank in truth["ranks"]}
                self.assertEqual(set(ranks), set(true))
                self.assertEqual(known, {ip: true[ip] for ip in known})
                ring = [told[0]["ranks"][at]["addresses"][0] for at in told[0]["ring"]]
                count = len(true)
                order = sorted(true, key=true.get)
                start = order.index(ring[0])
                self.assertEqual(ring, [order[(start + i) % count] for i in range(count)])

    def test_messages_are_counted(self):
        for path, truth in self.each():
            if path.name.startswith("loss1pct"):
                continue
            rows = document(path)["connections"]
            told = sorted((c["counts"]["cts"], c["counts"]["messages"], c["counts"]["payload_bytes"]) for c in rows)
            sent = {}
            for row in self.reported(truth):
                if "data_messages_sent" in row:
                    sent[row["rank"]] = row
            with self.subTest(capture=path.name):
                self.assertEqual(sum(t[1] for t in told), sum(row["data_messages_sent"] for row in sent.values()))
                self.assertEqual(sum(t[2] for t in told), sum(row["data_bytes_sent"] for row in sent.values()))

    def test_there_are_no_findings(self):
        for path, _ in self.each():
            with self.subTest(capture=path.name):
                self.assertEqual(document(path)["findings"], [])


if __name__ == "__main__":
    main()
