"""What NCCL does when a port fails: queue pairs that the set-up names beside those of data, and what passes on them."""

import struct

from harness import DATA, WithFolder, fabtap, main
from pcapfile import pcap_of
from roce import Half, checksum, mac

SETUP = DATA / "nccl"
SIDES = "connecting", "listening"
PORTS = 40000, 50000
LIST, METADATA, READY = 12 + 37, 4576, 4  # of 2.30.7: bytes of hello and list of devices, of metadata, behind it
# in metadata: 8 records of 24 bytes that begin with a queue pair, each; the GID of the first device; memory
PROBES, RECOVERIES, GID, ADDRESS = 3072, 3264, 3456 + 16, 4552
PROBE_QP, RECOVERY_QP = 0x4321, 0x5432  # of the sender; the receiver's are the next
UC_SEND_ONLY_IMMEDIATE = 0x25
SYN, SYN_ACK, PUSH_ACK = 0x02, 0x12, 0x18


def tcp(source, destination, ports, sequence, data, flags=PUSH_ACK):
    segment = struct.pack(">HHIIBBHHH", *ports, sequence, 0, 5 << 4, flags, 65535, 0, 0) + data
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(segment), 0, 0x4000, 64, 6, 0) + source + destination
    return mac(destination) + mac(source) + b"\x08\x00" + ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:] + segment


class SetUp:
    """Of a real connection of 2.30.7, with spare queue pairs written into what both sides said."""

    def __init__(self, probes=True, recoveries=True):
        self.streams = [bytearray((SETUP / f"setup-2.30.7-{side}.bin").read_bytes()) for side in SIDES]
        starts = [len(stream) - METADATA - (READY if side == 0 else 0) for side, stream in enumerate(self.streams)]
        for side, (stream, start) in enumerate(zip(self.streams, starts)):
            for at, wanted, qpn in (PROBES, probes, PROBE_QP), (RECOVERIES, recoveries, RECOVERY_QP):
                if wanted:
                    struct.pack_into("<I", stream, start + at, qpn + side)
        self.hosts = [bytes(stream[start + GID + 12:start + GID + 16]) for stream, start in zip(self.streams, starts)]
        self.records, = struct.unpack_from("<Q", self.streams[1], starts[1] + ADDRESS)

    def segment(self, side, sequence, data, *flags):
        return tcp(self.hosts[side], self.hosts[1 - side], PORTS[::1 if side == 0 else -1], sequence, data, *flags)

    def pieces(self, side, begin, end):
        stream = bytes(self.streams[side][:end])
        return [self.segment(side, 1000 + at, stream[at:at + 1400]) for at in range(begin, end, 1400)]

    def frames(self):
        sizes = [len(stream) for stream in self.streams]
        opened = [self.segment(0, 999, b"", SYN), self.segment(1, 999, b"", SYN_ACK)]
        return (opened + self.pieces(0, 0, LIST) + self.pieces(1, 0, sizes[1] - METADATA) + self.pieces(0, LIST, sizes[0] - READY)
                + self.pieces(1, sizes[1] - METADATA, sizes[1]) + self.pieces(0, sizes[0] - READY, sizes[0]))

    def to(self, side, qpn):
        """What the other side sends to one of this side's queue pairs."""
        addresses = [".".join(map(str, host)) for host in self.hosts]
        return Half(addresses[1 - side], addresses[side], qpn)

    def probe(self, k, psn):
        return self.to(1, PROBE_QP + 1).read(psn, self.records + k * 160 + 32, 128)

    def recovery(self, side, psn, number):
        return self.to(side, RECOVERY_QP + side).packet(UC_SEND_ONLY_IMMEDIATE, psn, struct.pack("<I", number))


class Failover(WithFolder):
    def capture(self, frames):
        path = self.folder / "made.pcap"
        path.write_bytes(pcap_of(frames))
        return path

    def failover(self, frames, *options):
        document = fabtap("nccl", "--json", *options, self.capture(frames)).json()
        connection, = document["connections"]
        self.assertEqual(connection["found_by"], "metadata")
        self.assertEqual(document["findings"], [])
        return connection.get("failover"), document

    def test_queue_pairs_that_the_set_up_names(self):
        self.assertIsNone(self.failover(SetUp(False, False).frames())[0])
        for probes, recoveries in (True, False), (True, True):
            told, _ = self.failover(SetUp(probes, recoveries).frames())
            self.assertEqual(told, {"probe_qps": probes, "recovery_qps": recoveries, "probes": 0, "recovery_asked": 0,
                                    "recovery_answered": 0, "recovery_confirmed": 0, "frames": None})

    def packets(self, setup):
        asked = [setup.recovery(1, number, number) for number in range(5)]
        return [setup.probe(3, 0), setup.probe(4, 1), *asked, setup.recovery(0, 0, 0x1234), setup.recovery(1, 5, 0x1234)]

    def test_packets_on_them_are_counted(self):
        setup = SetUp()
        before = setup.frames()
        told, document = self.failover(before + self.packets(setup))
        self.assertEqual(told, {"probe_qps": True, "recovery_qps": True, "probes": 2, "recovery_asked": 5,
                                "recovery_answered": 1, "recovery_confirmed": 1,
                                "frames": [len(before) + 1, len(before) + 9]})
        rows = {(row["qpn"], row["class"]) for row in document["queue_pairs"]}
        self.assertEqual(rows, {(PROBE_QP + 1, "nccl"), (RECOVERY_QP, "nccl"), (RECOVERY_QP + 1, "nccl")})

    def test_a_page_for_people_tells_them(self):
        setup = SetUp()
        page = fabtap("nccl", self.capture(setup.frames() + self.packets(setup))).out
        self.assertIn(b"FAILOVER", page)
        self.assertNotIn(b"FAILOVER", fabtap("nccl", self.capture(setup.frames())).out)

    def test_decode_tells_them_one_by_one(self):
        setup = SetUp()
        before = setup.frames()
        lines = fabtap("decode", "--nccl", "-T", "fields", "-e", "frame", "-e", "nccl.role",
                       self.capture(before + self.packets(setup))).out.decode().splitlines()
        roles = ["probe"] * 2 + ["recovery-asked"] * 5 + ["recovery-answered", "recovery-confirmed"]
        told = [line.split("\t") for line in lines]
        self.assertEqual([row for row in told if row[1] != ""],
                         [[str(len(before) + 1 + i), role] for i, role in enumerate(roles)])

    def test_without_the_set_up_nothing_is_told(self):
        document = fabtap("nccl", "--json", self.capture(self.packets(SetUp()))).json()
        self.assertEqual(document["connections"], [])


if __name__ == "__main__":
    main()
