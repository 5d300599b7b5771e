"""Frames forged into messages under way, in front of their ends."""

import collections
import random
import struct

from harness import main, shared
from nccl import BTH, IP, WRITE_ONLY, WRITE_ONLY_IMM, is_roce, opcode, retouched
from nccl_forged import PSN, WithForged, field, lengthened, psn_of, with_psn
from nccl_forged_several import Lane
from pcapfile import read_pcap


def with_immediate(record, immediate):
    """Of a WRITE Only. Its ICRC and the checksum of its header are as they were."""
    frame = record[16:]
    size = struct.pack(">H", len(frame) - IP + 4), struct.pack(">H", len(frame) - IP - 20 + 4)
    return lengthened(record, 4, frame[:IP + 2] + size[0] + frame[IP + 4:38] + size[1] + frame[40:BTH] + bytes([WRITE_ONLY_IMM]) +
                      frame[BTH + 1:BTH + 28] + struct.pack("<I", immediate) + frame[BTH + 28:])


class ForgedAmid(WithForged):
    def requests(self):
        """Each write of a first message of several requests, over several queue pairs."""
        for capture, truth in self.each():
            count, message = len(truth["connections"][0]["receiver_qpns"]), truth["messages"][0]
            if len(truth["connections"]) > 1 or count == 1 or message["n"] == 1:
                continue
            header, records = read_pcap(capture)
            for write in message["wire"]:
                yield capture, header, Lane(records, truth, write["qp_index"], write["last_frame"] - 1)

    def sampled(self, count):
        """So many of each capture: a write of a message of several requests, and the number of one of these."""
        for capture, truth in self.each():
            if len(truth["connections"]) > 1 or any(c["retransmitted_packets_seen"] for c in truth["connections"]):
                continue
            every = [(message, write, request) for message in truth["messages"] if message["n"] > 1
                     for write in message["wire"] for request in range(message["n"])]
            header, records = read_pcap(capture)
            for message, write, request in random.Random(7).sample(every, min(count, len(every))):
                place = Lane(records, dict(truth, messages=[message]), write["qp_index"], write["last_frame"] - 1)
                yield capture, header, place, request

    def test_writes_amid_several_requests(self):
        """Elsewhere, or under another key, whichever message it is of while it is not known how queue pairs take turns."""
        tried = 0
        for capture, header, place in self.requests():
            tried += 1
            like = place.records[place.data[0]]
            va = int(place.message["receive"]["addrs"][0], 16)
            for name, frame in (("elsewhere", retouched(like, reth=(va + (1 << 30), 64))),
                                ("another key", retouched(like, reth=(va, 64), key=0x66666666))):
                made, forged = place.with_frames([frame])
                for verb, blamed in zip(("nccl", "audit"), self.blamed(header, made)):
                    with self.subTest(capture=capture.name, verb=verb, forged=name, frame=place.at + 2):
                        self.assertEqual(blamed, forged)
        self.assertGreater(tried, 5)

    def test_writes_for_each_request(self):
        """Each has one write on a queue pair, in their order: what is not its turn is named, alone or with what it contends with."""
        named = collections.Counter()
        for capture, header, place, request in self.sampled(30):
            like = place.records[place.data[0]]
            like = retouched(like, reth=(int(place.message["receive"]["addrs"][request], 16), 64))
            for frame in (like, with_immediate(like, 64)):
                made, forged = place.with_frames([frame])
                for blamed in self.blamed(header, made):
                    named["nothing" if not blamed else "others" if not forged <= blamed else len(blamed)] += 1
        self.assertGreater(named[1], 3 * named[2], named)
        self.assertGreater(named[1] + named[2], 0.97 * named.total(), named)
        self.assertLess(named["others"], 0.01 * named.total(), named)

    def test_an_end_amid_several_requests(self):
        """What the message had yet to come is its own."""
        tried = 0
        for capture, header, place in self.requests():
            tried += 1
            like = place.records[place.data[0]]
            like = retouched(like, reth=(int(place.message["receive"]["addrs"][0], 16), 64))
            made, forged = place.with_frames([with_immediate(like, 64)])
            for verb, blamed in zip(("nccl", "audit"), self.blamed(header, made)):
                with self.subTest(capture=capture.name, verb=verb, frame=place.at + 2):
                    self.assertLessEqual(blamed, forged)
        self.assertGreater(tried, 5)

    def test_writes_amid_longer_ones(self):
        """To where the message begins, under a PSN at which the longer one goes on, whose packets audits do not look at."""
        tried = 0
        for capture, truth in self.each():
            if any(c.get("retransmitted_packets_seen") for c in truth["connections"]):
                continue
            long = [(message, write) for message in truth["messages"] if message["connection"] == 0 and message["cts_frame"]
                    for write in message["wire"] if write["last_frame"] - write["first_frame"] >= 4]
            header, records = read_pcap(capture)
            for message, write in random.Random(7).sample(long, min(4, len(long))):
                place = Lane(records, dict(truth, messages=[message]), write["qp_index"], write["first_frame"])
                forged = retouched(records[write["first_frame"] - 1], psn=place.next_psn(place.data, place.at),
                                   reth=(int(message["receive"]["addrs"][0], 16), 64))
                for verb, blamed in zip(("nccl", "audit"), self.blamed(header, place.with_frame(forged))):
                    with self.subTest(capture=capture.name, verb=verb, frame=place.at + 2):
                        self.assertEqual(blamed, {place.at + 2})
                tried += 1
        self.assertGreater(tried, 20)

    def test_a_second_write_in_front_of_an_empty_end(self):
        """Without a set-up, from the first message on: with data, and as another end."""
        folder = shared()
        if folder is None:
            self.skipTest("the reference captures are not here (FT_SHARED or ../shared)")
        tried = 0
        for path in (folder / "captures" / "nccl-emul-4rank-ar-oldfifo.pcap", folder / "captures" / "nccl" / "ar-2.30.7.pcap"):
            header, records = read_pcap(path)
            records = list(filter(is_roce, records))
            for data in self.data(records):
                ends = [i for i in data if opcode(records[i]) == WRITE_ONLY_IMM and not field(records[i], BTH + 12, 16)][:2]
                for end in ends:
                    for name, made, frame in self.doubled(records, data, max(i for i in data if i < end)):
                        for verb, blamed in zip(("nccl", "audit"), self.blamed(header, made)):
                            with self.subTest(capture=path.name, verb=verb, forged=name, frame=frame):
                                self.assertEqual(blamed, {frame})
                        tried += 1
        self.assertGreater(tried, 15)

    def test_a_second_write_behind_the_end(self):
        """
        Of the first messages of one queue pair, with and without its set-up: what the next message begins behind, and nothing asked for
        by then, is none of those that are asked for later, to the same place.
        """
        if shared() is None:
            self.skipTest("the reference captures are not here (FT_SHARED or ../shared)")
        tried = 0
        for capture, truth in self.each():
            if not truth["messages"][0]["cts_frame"] or any(
                    c.get("retransmitted_packets_seen") or len(c["receiver_qpns"]) > 1 for c in truth["connections"]):
                continue
            header, whole = read_pcap(capture)
            for records in (whole, list(filter(is_roce, whole))):
                for data in self.data(records):
                    ends = [i for i in data if opcode(records[i]) in (0x09, WRITE_ONLY_IMM)]
                    for end in ends[:3]:
                        if end == data[-1] or self.begun(records, data, end) is None:
                            continue
                        for name, made, frame in self.doubled(records, data, end):
                            for verb, blamed in zip(("nccl", "audit"), self.blamed(header, made)):
                                with self.subTest(capture=capture.name, verb=verb, forged=name, frame=frame):
                                    self.assertEqual(blamed, {frame})
                            tried += 1
        self.assertGreater(tried, 80)

    def data(self, records):
        """What goes to each queue pair of receivers, as record numbers."""
        flows = collections.defaultdict(list)
        for i, record in enumerate(records):
            if is_roce(record) and 6 <= opcode(record) <= 0x0b:
                flows[record[16 + 30:16 + 34], field(record, BTH + 5, 3)].append(i)
        return [flow for flow in flows.values() if any(opcode(records[i]) == WRITE_ONLY_IMM for i in flow)]

    def begun(self, records, data, at):
        """The last write until then, of four bytes at least: less of it would be a malformed packet."""
        return max((i for i in data if i <= at and opcode(records[i]) in (0x06, WRITE_ONLY, WRITE_ONLY_IMM) and
                    field(records[i], BTH + 24, 4) >= 4), default=None)

    def doubled(self, records, data, at):
        """As much, 64 bytes at most, to where that began; what follows comes one PSN later."""
        first = self.begun(records, data, at)
        size = min(64, field(records[first], BTH + 24, 4) & ~3)
        like = retouched(records[first], reth=(field(records[first], BTH + 12, 8), size))
        psn = psn_of(records[at]) + 1
        later = {i for i in data if i > at and (psn_of(records[i]) - psn) % PSN < PSN // 2}
        rest = [with_psn(r, psn_of(r) + 1) if i in later else r for i, r in enumerate(records[at + 1:], at + 1)]
        for name, frame in (("data", like), ("an end with data", with_immediate(like, size))):
            yield name, records[:at + 1] + [records[at][:8] + with_psn(frame, psn)[8:]] + rest, at + 2


if __name__ == "__main__":
    main()
