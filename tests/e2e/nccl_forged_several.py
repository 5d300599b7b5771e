"""Frames forged into connections of several queue pairs: no other frame is blamed."""

import collections

from harness import main
from nccl import BTH, opcode, retouched
from nccl_forged import PSN, Place, WithForged, field, psn_of, with_psn
from pcapfile import read_pcap
from roce import number

ACK = 0x11


class Lane(Place):
    """A moment on one queue pair: behind record `at`."""

    def __init__(self, records, truth, lane, at):
        message = next(m for m in truth["messages"] if any(write["qp_index"] == lane for write in m["wire"]))
        wire = [write for write in message["wire"] if write["qp_index"] == lane]
        super().__init__(records, truth, dict(message, wire=wire), at)
        self.lane = lane
        device = self.connection.get("sender_qp_device", [0] * 128)[lane]
        sender, qpn = number(self.connection["sender_addresses"][device]), self.connection["sender_qpns"][lane]
        self.acks = [i for i, r in enumerate(records)
                     if opcode(r) == ACK and r[16 + 30:16 + 34] == sender and field(r, BTH + 5, 3) == qpn]

    def packets(self, message):
        """What the queue pair carries of it, as record numbers."""
        return [i for write in message["wire"] if write["qp_index"] == self.lane
                for i in self.data if write["first_frame"] <= i + 1 <= write["last_frame"]]

    def with_frames(self, frames):
        """With the next PSNs; those of what follows, and its acknowledgments, are as many later. The numbers of the forged ones."""
        psn = self.next_psn(self.data, self.at)
        now = self.records[self.at][:8]
        forged = [now + with_psn(frame, psn + i)[8:] for i, frame in enumerate(frames)]
        later = {i for i in self.data + self.acks if i > self.at and (psn_of(self.records[i]) - psn) % PSN < PSN // 2}
        rest = [with_psn(r, psn_of(r) + len(frames)) if i in later else r
                for i, r in enumerate(self.records[self.at + 1:], self.at + 1)]
        numbers = set(range(self.at + 2, self.at + 2 + len(forged)))
        return self.records[:self.at + 1] + forged + rest, numbers


class ForgedOfSeveral(WithForged):
    def lanes(self):
        """Connections of several queue pairs with a set-up that lost nothing, each message of one request."""
        for capture, truth in self.each():
            count = len(truth["connections"][0]["receiver_qpns"])
            if len(truth["connections"]) == 1 and count > 1 and all(m["n"] == 1 for m in truth["messages"]):
                header, records = read_pcap(capture)
                for lane in range(count):
                    yield capture, header, records, truth, lane

    def test_a_message_that_comes_again(self):
        """The first one, on one of the queue pairs that share it, right behind its end."""
        named = collections.Counter()
        for capture, header, records, truth, lane in self.lanes():
            message = truth["messages"][0]
            if len({write["qp_index"] for write in message["wire"]}) == 1:
                continue
            place = Lane(records, truth, lane, message["frames"][1] - 1)
            made, forged = place.with_frames([records[i] for i in place.packets(message)])
            for blamed in self.blamed(header, made):
                with self.subTest(capture=capture.name, queue_pair=lane, frame=place.at + 2):
                    self.assertLessEqual(blamed, forged)
                named[bool(blamed)] += 1
        self.assertGreater(named[True], named[False], named)

    def test_another_queue_pair_of_the_sender(self):
        """Behind each of the first writes on each queue pair, to where it went: what the set-up names tells that it is none of them."""
        tried = 0
        for capture, truth in self.each():
            if len(truth["connections"]) != 1 or len(truth["connections"][0]["receiver_qpns"]) < 2:
                continue
            header, records = read_pcap(capture)
            for write in [w for m in truth["messages"][:3] for w in m["wire"] if w["dmalen"] >= 64]:
                at = write["first_frame"] - 1
                forged = retouched(records[at], psn=4711, qpn=0xabcd, reth=(int(write["va"], 16), 64))
                self.named("another queue pair", capture, header, records[:at + 1] + [forged] + records[at + 1:], at + 2)
                tried += 1
        self.assertGreater(tried, 5)


if __name__ == "__main__":
    main()
