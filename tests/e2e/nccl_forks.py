"""Builds of NCCL whose FIFOs have other slots than its releases: followed by what their clear-to-sends say, with and without a
set-up."""

import copy
import struct

from harness import main
from nccl import BTH, WRITE_ONLY, WithTruths, document, is_roce, opcode, retouched
from nccl_forged import Place
from nccl_truth import compare
from pcapfile import read_pcap

# (slots, slot size as a multiple of the release's): fewer and more, smaller and larger, also no power of two
FORKS = ((256, 2), (256, 0.5), (256, 1.5), (64, 4), (16, 2), (8, 0.5))
WITH_SET_UPS = ((64, 4), (8, 0.5))
FEWER = 32, 1  # slots as the release has them, but so many that there is a wrap
RETH = BTH + 12


def is_known(difference):
    """How many slots there are is not, until they wrap."""
    return "slots: reported None" not in difference


def may_be(truth, times):
    """A slot has room for what is asked for at once, and clear-to-sends have their numbers in whole."""
    fifo = truth["connections"][0]["cts_fifo_at_sender"]
    most = max(message["n"] for message in truth["messages"])
    return truth["cts_family"] in "CDEF" and most <= int(fifo["slot_stride_bytes"] * times) // fifo["entry_bytes"]


class Fork:
    """The capture as a build with other slots would have made it."""

    def __init__(self, truth, slots, times):
        self.fifos = [one["cts_fifo_at_sender"] for one in truth["connections"]]
        self.slots, self.times = slots, times

    def slot_bytes(self, fifo):
        return int(fifo["slot_stride_bytes"] * self.times)

    def fifo_of(self, va, rkey):
        for fifo in self.fifos:
            offset = va - int(fifo["addr"], 16)
            if rkey in [int(key, 16) for key in fifo.get("rkeys_per_device", [fifo["rkey"]])] and \
                    0 <= offset < fifo["slots"] * fifo["slot_stride_bytes"]:
                return fifo, offset // fifo["slot_stride_bytes"]
        return None, None

    def record(self, record):
        if opcode(record) != WRITE_ONLY:
            return record
        va, rkey, length = struct.unpack_from(">QII", record, 16 + RETH)
        fifo, slot = self.fifo_of(va, rkey)
        if fifo is None:
            return record
        payload = record[16 + RETH + 16:][:length]
        place = int(fifo["addr"], 16) + slot % self.slots * self.slot_bytes(fifo)
        return retouched(record, reth=(place, length), payload=payload)

    def truth(self, truth):
        truth = copy.deepcopy(truth)
        for one in truth["connections"]:
            fifo = one["cts_fifo_at_sender"]
            fifo["slots"], fifo["slot_stride_bytes"] = self.slots, self.slot_bytes(fifo)
            fifo["entries_per_slot"] = min(8, fifo["slot_stride_bytes"] // fifo["entry_bytes"])
        return truth


def is_behind_two(difference):
    """
    Two clear-to-sends in a row show the slots: data of the first one, message 1, may have come before the second, and a part of it
    is listed without a number then.
    """
    told = " k 1 ", "payload_bytes", "messages that are none: reported [(0, None)]"
    return is_known(difference) and not any(words in difference for words in told)


def wraps(truth, slots):
    return max(message["k"] for message in truth["messages"]) > slots


class Forks(WithTruths):
    def test_other_slots(self):
        for capture, truth in self.each():
            header, records = read_pcap(capture)
            for slots, times in FORKS:
                if not may_be(truth, times):
                    continue
                fork = Fork(truth, slots, times)
                path = self.write("fork", header, [fork.record(r) if is_roce(r) else r[:16] + bytes(len(r) - 16) for r in records])
                with self.subTest(capture=capture.name, slots=slots, times=times):
                    told = document(path, options=["--keys"])
                    self.assertEqual([line for line in compare(told, fork.truth(truth)) if is_known(line)], [])
                    self.assertEqual(told["findings"], [])

    def test_other_slots_than_the_set_up_is_for(self):
        for capture, truth in self.each():
            header, records = read_pcap(capture)
            for slots, times in WITH_SET_UPS + (FEWER,) * wraps(truth, FEWER[0]):
                if not may_be(truth, times):
                    continue
                fork = Fork(truth, slots, times)
                path = self.write("fork", header, [fork.record(r) if is_roce(r) else r for r in records])
                with self.subTest(capture=capture.name, slots=slots, times=times):
                    told = document(path, options=["--keys"])
                    self.assertEqual([line for line in compare(told, fork.truth(truth)) if is_behind_two(line)], [])
                    self.assertEqual(told["findings"], [])

    def test_one_in_another_place_shows_no_other_slots(self):
        """The second clear-to-send comes twice: first to a slot twice as far away."""
        tried = 0
        for capture, truth in self.each():
            message = next(m for m in truth["messages"] if (m["connection"], m["k"]) == (0, truth["messages"][0]["k"] + 1))
            if truth["messages"][0]["k"] != 0 or truth["cts_family"] not in "CDEF" or truth["snaplen"] < 9000 or \
                    len(truth["connections"][0]["sender_qpns"]) > 1:
                continue
            header, records = read_pcap(capture)
            place = Place(records, truth, message, message["cts_frame"] - 2)
            like, psn = records[message["cts_frame"] - 1], place.next_psn(place.asks, place.at)
            va, _, length = struct.unpack_from(">QII", like, 16 + RETH)
            fifo = truth["connections"][0]["cts_fifo_at_sender"]
            forged = retouched(like, psn=psn, reth=(va + fifo["slot_stride_bytes"], length), payload=like[16 + RETH + 16:][:length])
            path = self.write("forged", header, place.with_frame(forged, psn, place.asks))
            with self.subTest(capture=capture.name):
                told = document(path, options=["--no-icrc"])
                self.assertEqual([(f["rule"], f["frames"]) for f in told["findings"]], [("nccl.contradiction", [place.at + 2])])
                self.assertEqual(told["connections"][0]["cts_fifo"]["slots"], fifo["slots"])
            tried += 1
        self.assertGreater(tried, 4)


if __name__ == "__main__":
    main()
