"""Captures of NCCL that begin before the last clear-to-send of a connection: one alone, and the data that answers it, show the connection."""

from harness import main
from nccl import BTH, WithTruths, document, is_roce, retouched
from pcapfile import read_pcap

BEFORE = 20  # frames, of whatever came before


class Lone(WithTruths):
    def cases(self):
        """(header, records from there on, connection, message): one request at a time, one device, numbers that do not begin anew."""
        for capture, truth in self.each():
            header, records = read_pcap(capture)
            for connection in truth["connections"]:
                mine = [m for m in truth["messages"] if m["connection"] == connection["connection"] and m["cts_frame"]]
                last = max(mine, key=lambda m: m["cts_frame"])
                asked = [m["cts_frame"] for m in mine] + [
                    m["cts_frame"] for m in truth["receives_without_data"] if m["connection"] == connection["connection"]]
                first = max([0] + [frame for frame in asked if frame < last["cts_frame"]] + [last["cts_frame"] - BEFORE])
                if truth["cts_family"] not in "AB" and last["n"] == 1 and last["wire"][0]["dmalen"] and \
                        connection.get("devices", 1) == 1 and max(asked) == last["cts_frame"] and len(truth["connections"]) == 1:
                    yield capture.name, header, records[first:], connection, last, first

    def test_a_connection_is_known_by_one(self):
        found = 0
        for name, header, records, connection, message, first in self.cases():
            if len(connection["sender_qpns"]) > 1:
                continue  # how several queue pairs share messages takes more
            told = document(self.write("lone", header, records))
            with self.subTest(capture=name):
                self.assertEqual(told["findings"], [])
                self.assertEqual(len(told["connections"]), 1)
                row = told["connections"][0]
                for side in ("sender", "receiver"):
                    self.assertEqual(row[side]["addresses"], connection[side + "_addresses"])
                    self.assertEqual(row[side]["qpns"], connection[side + "_qpns"])
                self.assertEqual(row["found_by"], "cts")
                self.assertEqual(row["cts_fifo"]["addr"], connection["cts_fifo_at_sender"]["addr"])
                rows = [m for m in told["messages"] if m["k"] == message["k"]]
                self.assertEqual([(m["cts_frame"], m["n"]) for m in rows], [(message["cts_frame"] - first, 1)])
                if rows[0]["completed"]:
                    self.assertEqual(rows[0]["packets"], sum(write["packets"] for write in message["wire"]))
                self.assertEqual({q["class"] for q in told["queue_pairs"]}, {"nccl"})
                found += 1
        self.assertGreaterEqual(found, 2)

    def test_what_answers_otherwise_shows_none(self):
        """Another place, another key, or more than was offered: other libraries announce buffers, too."""
        for name, header, records, connection, message, first in self.cases():
            va, size = int(message["wire"][0]["va"], 16), message["wire"][0]["dmalen"]
            changes = {"place": (va + 64, None), "key": (va, 0x1234567)}
            for what, (to, key) in changes.items():
                changed = [self.moved(record, va, to, size, key) for record in records]
                told = document(self.write("other", header, changed), options=["--no-icrc"])
                with self.subTest(capture=name, other=what):
                    self.assertEqual((told["connections"], told["findings"]), ([], []))
                    self.assertNotIn("nccl", {q["class"] for q in told["queue_pairs"]})

    def moved(self, record, va, to, size, key):
        at = 16 + BTH + 12
        if not is_roce(record) or record[16 + BTH] not in (0x06, 0x0a, 0x0b) or int.from_bytes(record[at:at + 8], "big") != va:
            return record
        rkey = record[at + 8:at + 12] if key is None else key.to_bytes(4, "big")
        return record[:at] + to.to_bytes(8, "big") + rkey + record[at + 12:]


if __name__ == "__main__":
    main()
