"""What is known about a packet while its headers are walked."""

BTH_KEYS = ("opcode", "opname", "se", "m", "pad", "tver", "pkey", "fecn", "becn", "dest_qp", "ack_req", "psn")
EXTENDED_KEYS = ("rdeth", "deth", "xrceth", "reth", "atomiceth", "aeth", "atomicack", "immdt", "ieth", "feth")
RESULT_KEYS = BTH_KEYS + EXTENDED_KEYS + ("payload_len", "payload_captured", "icrc", "icrc_ok", "vcrc", "vcrc_ok")
INNERMOST_KEYS = ("smac", "dmac", "ip", "udp_sport", "grh", "lrh")
TUNNELS = 4


class Stop(Exception):
    """Nothing further can be said about this packet."""


class Window:
    """Bytes from at: captured up to cap, on the wire up to wire (None: nobody knows)."""

    def __init__(self, data, at, cap, wire):
        self.data, self.at, self.wire = data, at, wire
        self.cap = max(at, cap if wire is None else min(cap, wire))

    def captured(self, size):
        return self.at + size <= self.cap

    def on_wire(self, size):
        return self.wire is None or self.at + size <= self.wire

    def step(self, size):
        return Window(self.data, self.at + size, self.cap, self.wire)

    def limited(self, size):
        """The next size bytes, which their own length field vouches for."""
        return Window(self.data, self.at, self.cap, self.at + size)

    def unbounded(self):
        """The rest as a mirror's copy: it may have been cut without a mark."""
        return Window(self.data, self.at, self.cap, None)

    def bytes(self, size):
        return self.data[self.at:self.at + size]

    def u8(self, offset):
        return self.data[self.at + offset]

    def u16(self, offset):
        return int.from_bytes(self.data[self.at + offset:self.at + offset + 2], "big")

    def u24(self, offset):
        return int.from_bytes(self.data[self.at + offset:self.at + offset + 3], "big")

    def u32(self, offset):
        return int.from_bytes(self.data[self.at + offset:self.at + offset + 4], "big")

    def u64(self, offset):
        return int.from_bytes(self.data[self.at + offset:self.at + offset + 8], "big")


class Carrier:
    """The headers under a BTH as its ICRC sees them."""

    def __init__(self, start, prefix=b"\xff" * 8, variant=()):
        self.start, self.prefix, self.variant = start, prefix, tuple(variant)
        self.checkable = True
        self.doubtful = False           # what its ICRC covers is not defined: another one need not be wrong


class Packet:
    """One decoded packet in the making."""

    def __init__(self):
        self.encap, self.tunnels, self.extra = [], [], {}
        self.malformed = self.truncated = self.transport = None
        self.alerts = []
        self.pad_nonzero = self.raw = False
        self.whole = None               # the frame with an FCS that may be none
        self.end = None                 # of the outermost network packet: what follows is a trailer
        self.values = dict.fromkeys(RESULT_KEYS + INNERMOST_KEYS)

    def fork(self):
        """A packet with the same outer headers."""
        other = Packet()
        other.encap, other.tunnels = list(self.encap), list(self.tunnels)
        other.extra = dict(self.extra)
        return other

    def bad(self, rule):
        if self.malformed is None:
            self.malformed = rule

    def stop(self, rule):
        self.bad(rule)
        raise Stop

    def cut(self, name):
        if self.truncated is None:
            self.truncated = name
        raise Stop

    def need(self, window, size, name, rule):
        """size bytes must lie before the end of the wire, else rule; in the capture, else name."""
        if not window.on_wire(size):
            self.stop(rule)
        if not window.captured(size):
            self.cut(name)

    def ends_at(self, end):
        """The outermost network packet says where it ends."""
        if not self.tunnels and self.end is None:
            self.end = end

    def room(self, window, size):
        """The window, if size bytes lie before the end of the wire; or all of a frame that has no FCS, if it ends so."""
        if window.on_wire(size):
            return window
        whole = self.whole
        if whole is None or self.end is not None or window.wire is None or window.at + size != whole.wire:
            return None
        self.whole = None
        self.extra["fcs_ok"] = None
        return Window(window.data, window.at, whole.cap, whole.wire)

    def want_tunnel(self):
        if len(self.tunnels) >= TUNNELS:
            self.stop("tunnel_too_deep")

    def enter_tunnel(self, *names, **fields):
        """What was read up to here belongs to the tunnel, not to the traffic in it."""
        self.encap += names
        self.transport = None
        self.values.update(dict.fromkeys(INNERMOST_KEYS))
        self.alerts = []
        self.extra.pop("vlan_pcp", None)
        self.tunnels.append(fields)

    def result(self):
        if self.pad_nonzero and self.malformed is None:
            self.alerts.append("pad_nonzero")
        row = dict(self.values, encap=self.encap, transport=self.transport, malformed=self.malformed,
                   truncated=self.truncated, alerts=sorted(self.alerts), **self.extra)
        row["mirror"] = (self.tunnels[0] or None) if self.tunnels else None
        row["overlay"] = (self.tunnels[1] or None) if len(self.tunnels) > 1 else None
        return row
