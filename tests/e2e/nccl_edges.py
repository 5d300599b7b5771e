"""Frames forged into captures of NCCL before the first packet of a connection, behind its last one, and under PSNs of others: `nccl` and
`audit` name each by its number, and no other frame."""

import struct

import nccl_forged
from harness import fabtap, main
from nccl import BTH, CUT, WRITE_ONLY, cut, is_roce, retouched
from nccl_forged import Place, field, psn_of
from pcapfile import read_pcap

STRANGER = bytes((10, 66, 6, 6))
FAR = 1 << 30


def later(record, seconds):
    return struct.pack("<I", struct.unpack_from("<I", record)[0] + seconds) + record[4:]


class Edges(nccl_forged.WithForged):
    def told(self, verb, path):
        """Frames, of findings about NCCL's framing and about senders."""
        if verb == "nccl":
            return [f["frames"] for f in self.findings(verb, path)]
        found = fabtap("audit", "-m", self.folder / "all.map.json", "--json", path).json()["findings"]
        return [f["frames"] for f in found if f["rule"].startswith(("nccl.", "spoof."))]

    def alone(self, forged, capture, header, records, frame, verbs=("nccl", "audit")):
        path = self.write("forged", header, records)
        for verb in verbs:
            told = self.told(verb, path)
            with self.subTest(capture=capture.name, verb=verb, forged=forged, frame=frame):
                self.assertTrue(told)
                self.assertTrue(all(frames == [frame] for frames in told), told)

    def wholes(self):
        """(capture, header, the first place of each connection, with its set-up and its first message) where nothing was lost."""
        for capture, truth in self.each():
            if truth["snaplen"] < 9000 or any(c.get("retransmitted_packets_seen", {}).get("data") for c in truth["connections"]):
                continue
            header, records = read_pcap(capture)
            for connection in truth["connections"]:
                message = next(m for m in truth["messages"] if m["connection"] == connection["connection"])
                if message["k"] == 0:
                    yield capture, header, Place(records, truth, message, message["cts_frame"] - 2)

    def like(self, place):
        return place.records[next(i for i in place.data if place.records[i][16 + BTH] in (0x06, 0x0a, 0x0b))]

    def test_another_address_before_the_first_packet(self):
        """The set-up has told whose the queue pair is."""
        for capture, header, place in self.wholes():
            va = int(place.message["receive"]["addrs"][0], 16)
            for name, reth in (("to nothing", (0x1000, 64)), ("to a buffer", (va, 64))):
                forged = retouched(self.like(place), psn=0, source=STRANGER, reth=reth)
                self.alone(name, capture, header, place.with_frame(forged), place.at + 2)

    def test_another_address_behind_the_last_packet(self):
        """And no later connection that may have its queue pair, once more time has passed."""
        for capture, truth in self.each():
            header, whole = read_pcap(capture)
            for records in (whole, list(filter(is_roce, whole))):
                place = Place(records, truth, truth["messages"][-1], len(records) - 1)
                forged = retouched(self.like(place), psn=place.next_psn(place.data, place.at), source=STRANGER, reth=(0x1000, 64))
                forged = records[-1][:8] + forged[8:]
                self.alone("last", capture, header, place.with_frame(forged), place.at + 2)
                path = self.write("later", header, place.with_frame(later(forged, 2)))
                with self.subTest(capture=capture.name):
                    self.assertEqual(self.findings("nccl", path), [])

    def test_writes_before_anything_was_asked_for(self):
        """Under the first PSN, which the first message has then: before the first clear-to-send, and behind it."""
        for capture, header, place in self.wholes():
            va = int(place.message["receive"]["addrs"][0], 16)
            for name, to, key in (("far away", va + FAR, None), ("with another key", va, 0x66666666)):
                forged = retouched(self.like(place), psn=0, reth=(to, 64), key=key)
                self.alone(name, capture, header, place.with_frame(forged), place.at + 2)
            behind = Place(place.records, place.truth, place.message, place.at + 1)
            forged = retouched(self.like(place), psn=0, reth=(va + FAR, 64))
            self.alone("far away, asked for", capture, header, behind.with_frame(forged), behind.at + 2)

    def test_a_write_before_the_first_of_a_connection_without_its_set_up(self):
        """Which is known once clear-to-sends have come, and is known then to have begun with them."""
        for capture, header, place in self.wholes():
            if place.message["n"] != 1 or len(place.connection["receiver_qpns"]) != 1:
                continue
            forged = retouched(self.like(place), psn=0, reth=(0x666000, 64), key=0x66666666)
            for at in (place.at, place.at + 1):
                behind = Place(place.records, place.truth, place.message, at)
                records = list(filter(is_roce, behind.with_frame(forged)))
                self.alone("without", capture, header, records, records.index(forged) + 1, ("nccl",))
                for size in (max(CUT), min(CUT)):
                    records = [cut(r, size) for r in behind.with_frame(forged)]
                    self.alone("%d bytes" % size, capture, header, records, at + 2)

    def test_another_address_before_the_connection_is_known(self):
        """Without its set-up that takes more than one clear-to-send; the data that was seen before shows the peer."""
        for capture, header, place in self.wholes():
            amid = Place(place.records, place.truth, place.message, place.data[0])
            forged = retouched(self.like(place), psn=1, source=STRANGER, reth=(0x1000, 64), key=7)
            records = list(filter(is_roce, amid.with_frame(forged)))
            self.alone("another address", capture, header, records, records.index(forged) + 1, ("nccl",))

    def test_a_write_to_what_is_asked_for_later(self):
        """What the clear-to-send asks for comes behind it, under the same PSN."""
        for capture, header, place in self.wholes():
            va = int(place.message["receive"]["addrs"][0], 16)
            if place.message["wire"][0]["dmalen"] != 60:
                forged = retouched(self.like(place), psn=0, reth=(va, 60))
                self.alone("too early", capture, header, place.with_frame(forged), place.at + 2)

    def test_a_write_that_has_overtaken_what_it_is_amid(self):
        """Its PSN is one of a longer write that goes on; or, before the first packet, one behind that."""
        for capture, header, place in self.wholes():
            longest = max(place.data, key=lambda i: field(place.records[i], BTH + 24, 4) * (place.records[i][16 + BTH] == 0x06))
            for psn in (1, 100_000) if len(place.connection["receiver_qpns"]) == 1 else ():
                forged = retouched(self.like(place), psn=psn, reth=(0x666000, 64), key=0x66666666)
                self.alone("ahead of all", capture, header, place.with_frame(forged), place.at + 2, ("nccl",))
            for ahead in (1, 4):
                amid = Place(place.records, place.truth, place.message, longest)
                forged = retouched(self.like(place), psn=psn_of(place.records[longest]) + ahead, reth=(0x666000, 64), key=0x66666666)
                for records in (amid.with_frame(forged), list(filter(is_roce, amid.with_frame(forged)))):
                    self.alone("ahead by %d" % ahead, capture, header, records, records.index(forged) + 1, ("nccl",))

    def test_a_clear_to_send_before_the_first(self):
        """The set-up has told where the FIFO begins, and its key."""
        for capture, header, place in self.wholes():
            asked = place.records[place.asks[0]]
            va, key, length = struct.unpack_from(">QII", asked, 16 + BTH + 12)
            payload = asked[16 + BTH + 28:][:length]
            if len(payload) == length:
                for name, to, rkey in (("with another key", va, key ^ 0x10101), ("elsewhere", va + 64, key)):
                    forged = retouched(asked, psn=0, reth=(to, length), key=rkey, payload=payload)
                    self.alone(name, capture, header, place.with_frame(forged), place.at + 2)

    def test_a_write_under_a_psn_that_is_used_then(self):
        """An audit names the forged one of the two, and not the sender's own, which comes later."""
        for capture, header, place in self.wholes():
            if len(place.connection["receiver_qpns"]) != 1:
                continue
            for at in (place.data[len(place.data) // 3], place.data[len(place.data) * 2 // 3]):
                amid = Place(place.records, place.truth, place.message, at)
                forged = retouched(self.like(place), psn=psn_of(place.records[at]) + 1, reth=(0x666000, 64), key=0x66666666)
                self.alone("before the true one", capture, header, amid.with_frame(forged), at + 2)

    def test_several_queue_pairs_whose_set_up_is_cut(self):
        """As much is told as without any set-up: of clear-to-sends each queue pair has its own."""
        for capture, header, place in self.wholes():
            if len(place.connection["receiver_qpns"]) == 1 or place.message["n"] != 1:
                continue
            asked = place.records[place.asks[-1]]
            va, key, length = struct.unpack_from(">QII", asked, 16 + BTH + 12)
            payload = asked[16 + BTH + 28:][:length]
            last = Place(place.records, place.truth, place.message, len(place.records) - 1)
            psn = last.next_psn(place.asks, last.at)
            for size in (size for size in CUT if size >= 160 and asked[16 + BTH] == WRITE_ONLY and field(asked, BTH + 24, 4) <= 64):
                forged = retouched(asked, psn=psn, reth=(va, length), key=key ^ 0x10101, payload=payload)
                records = [cut(r, size) for r in last.with_frame(forged)]
                self.alone("%d bytes" % size, capture, header, records, last.at + 2)


if __name__ == "__main__":
    main()
