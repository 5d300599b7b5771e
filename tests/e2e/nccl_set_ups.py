"""Set-ups over TCP of which the mirror lost a segment: what is left of them tells whose they are."""

from harness import main
from nccl import WithTruths, document
from pcapfile import read_pcap

HELLO = 12  # bytes, before 2.24 followed by metadata; in two segments, or with the list of devices in the second
LONG = 553  # of a segment of metadata since 2.19: older ones are one segment


def first_of_metadata(segments, direction):
    return next(s["frame"] for s in segments if s["dir"] == direction and s["bytes"] >= LONG)


def may_be_lost(segments):
    """Those behind the hello, but for the first ones of metadata, which name the queue pairs."""
    needed = {first_of_metadata(segments, direction) for direction in ("c2s", "s2c")}
    sent = 0
    for segment in segments:
        is_hello = segment["dir"] == "c2s" and sent < HELLO
        sent += segment["bytes"] if segment["dir"] == "c2s" else 0
        if not is_hello and segment["frame"] not in needed:
            yield segment["frame"]


class SetUps(WithTruths):
    def test_a_segment_is_lost(self):
        tried = 0
        for capture, truth in self.each():
            header, records = read_pcap(capture)
            for tcp in truth["tcp"]:
                if truth["snaplen"] < 9000 or max(s["bytes"] for s in tcp["segments"]) < LONG:
                    continue
                true = next(c for c in truth["connections"] if c["connection"] == tcp["connection"])
                for frame in may_be_lost(tcp["segments"]):
                    told = document(self.write("lost", header, records[:frame - 1] + records[frame:]))
                    row = next(c for c in told["connections"] if c["sender"]["qpns"] == true["sender_qpns"] and
                               c["sender"]["addresses"] == true["sender_addresses"])
                    with self.subTest(capture=capture.name, lost=frame):
                        self.assertEqual({side: row["metadata_tcp"][side] for side in ("connecting_side", "listening_side")},
                                         true["metadata_tcp"])
                        left = [s["frame"] - (s["frame"] > frame) for s in tcp["segments"] if s["frame"] != frame]
                        if max(left) >= frame:
                            self.assertEqual(row["metadata_tcp"]["frames"], [tcp["first_frame"], max(left)])
                        self.assertEqual(row["cts_fifo"]["slots"], true["cts_fifo_at_sender"]["slots"])
                        self.assertEqual(told["findings"], [])
                    tried += 1
        self.assertGreater(tried, 8)


if __name__ == "__main__":
    main()
