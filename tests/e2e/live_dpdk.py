"""DPDK's devices on a mirror port that the test builds: what an audit finds there, and what it says of losses."""

import shutil

from harness import COMPLIANT, DATA, FAILED, NOT_EVIDENCED, VIOLATED, fabtap, main
from live_pcap import pcap, wrapped
from mirror import Live, OnAMirror, records_of, run

TENANTS = DATA / "tenants"
XDP_MTU = 3000  # copy mode on veth takes no longer frames
SOURCES = {
    "dpdk:net_af_packet0,iface=tap0": (),
    "dpdk:net_af_xdp0,iface=tap0": ("--allow-tx-queue",),
}


def findings(document):
    return [(finding["rule"], finding["severity"], finding["summary"]) for finding in document["findings"]]


class ThroughDpdk(OnAMirror):
    NEEDS = "dpdk:"

    def setUp(self):
        super().setUp()
        self.mirror.ip(self.mirror.switch, "link", "set", "mirror", "mtu", str(XDP_MTU))
        self.mirror.ip(self.mirror.tap, "link", "set", "tap0", "mtu", str(XDP_MTU))
        self.keep_tags()

    def keep_tags(self):
        """In the frames, for XDP to see: interfaces carry them beside frames otherwise."""
        if shutil.which("ethtool") is None:
            self.skipTest("ethtool is not installed: VLAN tags cannot be kept in frames")
        for namespace, interface in ((self.mirror.switch, "mirror"), (self.mirror.tap, "tap0")):
            run("ip", "netns", "exec", namespace, "ethtool", "-K", interface, "rxvlan", "off", "txvlan", "off")

    def audited_alike(self, source, policy, path, records):
        """The file's findings and frames; but what nobody counted cannot be evidence of absence."""
        of_file = fabtap("audit", "-m", policy, "--json", path)
        with Live(self.mirror, "audit", "-i", source, "-m", policy, "--json", *SOURCES[source], settle=0.5) as live:
            self.mirror.replay([frame for _, frame in records], [seconds for seconds, _ in records])
            done = live.stop()
        found, wanted = done.json(), of_file.json()
        self.assertEqual(done.status, VIOLATED if wanted["findings"] else NOT_EVIDENCED, done)
        self.assertEqual(findings(found), findings(wanted))
        self.assertEqual(found["capture"]["frames"], len(records))
        rows = [(row["source"], row["frames"]) for row in found["coverage"]["lost_by"]
                if row["method"] == "source-counter"]
        self.assertEqual(rows, [(source, None)])
        self.uncounted(found)
        self.assertEqual(self.mirror.sent_by_the_tap(), 0)

    def uncounted(self, document):
        """Nothing shows a loss, but nothing bounds it: the estimate and its share stand, and are not enough."""
        coverage = document["coverage"]
        self.assertEqual((coverage["frames_lost"]["estimate"], coverage["share_seen"]), (0, 1))
        self.assertIsNone(coverage["frames_lost"]["high"])
        self.assertFalse(coverage["enough"])

    def test_a_file_tells_later_that_nobody_counted(self):
        policy, path = TENANTS / "tenants-segments.map.json", self.folder / "x.pcapng"
        clean = records_of(TENANTS / "tenants-segments-clean.pcap")
        source = "dpdk:net_af_packet0,iface=tap0"
        with Live(self.mirror, "capture", "-i", source, "-w", path, *SOURCES[source], settle=0.5) as live:
            self.mirror.replay([frame for _, frame in clean], [seconds for seconds, _ in clean])
            self.assertEqual(live.stop().status, COMPLIANT)
        done = fabtap("audit", "-m", policy, "--json", path)
        self.assertEqual(done.status, NOT_EVIDENCED, done)
        self.uncounted(done.json())
        self.assertIn({"method": "source-counter", "source": str(path), "frames": None},
                      done.json()["coverage"]["lost_by"])

    def test_findings_are_those_of_the_file(self):
        for source in SOURCES:
            for name in ("tenants-pkey", "tenants-segments-clean"):
                with self.subTest(source=source, capture=name):
                    policy = TENANTS / (name.replace("-clean", "") + ".map.json")
                    path = TENANTS / (name + ".pcap")
                    self.audited_alike(source, policy, path, records_of(path))

    def test_encapsulated_mirrors_are_audited_alike(self):
        plain = records_of(TENANTS / "tenants-pkey.pcap")
        for source in SOURCES:
            for kind in ("erspan", "gre", "vxlan"):
                with self.subTest(source=source, mirror=kind):
                    records = [(seconds, wrapped(kind, frame, i)) for i, (seconds, frame) in enumerate(plain)]
                    path = self.folder / (kind + ".pcap")
                    path.write_bytes(pcap(records))
                    self.audited_alike(source, TENANTS / "tenants-pkey.map.json", path, records)

    def test_an_interface_whose_frames_xdp_cannot_take_is_named_as_the_reason(self):
        source = "dpdk:net_af_xdp0,iface=tap0"
        for mtu, words in (("3507", "MTU is more than the 3506"), ("3506", None)):
            self.mirror.ip(self.mirror.switch, "link", "set", "mirror", "mtu", mtu)
            self.mirror.ip(self.mirror.tap, "link", "set", "tap0", "mtu", mtu)
            done = self.run_in_tap("sources", "--test", source, "--allow-tx-queue", "--duration", "0.2")
            self.assertEqual(done.status, COMPLIANT if words is None else FAILED, done)
            if words is not None:
                self.assertEqual(len(done.complaints()), 1, done)
                self.assertIn(words, done.complaints()[0])

    def test_an_interface_that_is_down_is_refused(self):
        self.mirror.ip(self.mirror.tap, "link", "set", "tap0", "down")
        for source, options in SOURCES.items():
            done = self.run_in_tap("sources", "--test", source, *options)
            self.assertEqual((done.status, len(done.complaints())), (FAILED, 1), done)
            self.assertIn("`ip link set dev tap0 up`", done.complaints()[0])

    def test_a_source_that_does_not_start_costs_no_file(self):
        if shutil.which("setpriv") is None:
            self.skipTest("setpriv (util-linux) is not installed")
        path = self.folder / "precious.pcapng"
        path.write_bytes(b"precious")
        few = ("setpriv", "--bounding-set=-all,+net_raw,+dac_override", "--inh-caps=-all")
        done = self.run_in_tap("capture", "-i", "dpdk:net_af_packet0,iface=tap0", "-w", path, prefix=few)
        self.assertEqual((done.status, len(done.complaints())), (FAILED, 1), done)
        self.assertIn("does not start", done.complaints()[0])
        self.assertEqual(path.read_bytes(), b"precious")
        self.assertEqual([entry.name for entry in self.folder.iterdir()], ["precious.pcapng"])

    def test_a_transmit_queue_needs_consent(self):
        done = self.run_in_tap("sources", "--test", "dpdk:net_af_xdp0,iface=tap0")
        self.assertEqual(done.status, FAILED, done)
        self.assertEqual(len(done.complaints()), 1, done)
        self.assertIn("--allow-tx-queue", done.complaints()[0])


if __name__ == "__main__":
    main()
