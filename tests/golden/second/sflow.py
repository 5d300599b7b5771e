"""sFlow version 5 datagrams: several packets in one frame."""

from second import link
from second.model import Stop, Window

FLOW, EXPANDED, RAW_HEADER = 1, 3, 1
ETHERNET, IPV4, IPV6, MPLS, INFINIBAND = 1, 11, 12, 13, 18
BOUND = 64
AGENT_WORDS = {1: 1, 2: 4}
BAD = "sflow_bad_length"


class Words:
    """XDR: 32-bit words taken one after another."""

    def __init__(self, packet, window):
        self.packet, self.window = packet, window

    def words(self, count):
        self.packet.need(self.window, 4 * count, "sflow5", BAD)
        taken = [self.window.u32(4 * i) for i in range(count)]
        self.window = self.window.step(4 * count)
        return taken

    def part(self, size):
        """The next size bytes; None if they run past the wire. The rest follows."""
        if not self.window.on_wire(size):
            self.packet.stop(BAD)
        taken = self.window.limited(size)
        self.window = self.window.step(size)
        return Words(self.packet, taken)


def read(packet, window):
    if any(tunnel.get("kind") == "sflow5" for tunnel in packet.tunnels):
        return
    packet.want_tunnel()
    words = Words(packet, window)
    version, kind = words.words(2)
    if version != 5 or kind not in AGENT_WORDS:
        return
    words.words(AGENT_WORDS[kind])
    _, _, _, samples = words.words(4)
    packet.encap.append("sflow5")
    packet.parts = []
    for _ in range(min(samples, BOUND)):
        kind, length = words.words(2)
        _read_sample(packet, words.part(length), kind)


def _read_sample(packet, body, kind):
    if kind == FLOW:
        _, _, rate, _, _, in_port, out_port, records = body.words(8)
    elif kind == EXPANDED:
        _, _, _, rate, _, _, _, in_port, _, out_port, records = body.words(11)
    else:
        return
    ports = {"rate": rate, "input": in_port, "output": out_port}
    for _ in range(min(records, BOUND)):
        form, length = body.words(2)
        record = body.part(length)
        if form == RAW_HEADER:
            _read_header(packet, record, ports)


def _read_header(packet, record, ports):
    protocol, frame, stripped, length = record.words(4)
    if not record.window.on_wire(length) or stripped > frame:
        packet.stop(BAD)
    if protocol not in (ETHERNET, IPV4, IPV6, MPLS, INFINIBAND):
        return
    part = packet.fork()
    part.encap.pop()
    part.enter_tunnel("sflow5", kind="sflow5", frame_len=frame, stripped=stripped, **ports)
    packet.parts.append(part)
    window = record.window
    inner = Window(window.data, window.at, min(window.cap, window.at + length), window.at + frame - stripped)
    try:
        _read_inner(part, inner, protocol)
    except Stop:
        pass


def _read_inner(part, inner, protocol):
    if protocol == ETHERNET:
        link.read_ethernet(part, inner)
    elif protocol in (IPV4, IPV6):
        link.read_network(part, inner, 0x0800 if protocol == IPV4 else 0x86DD)
    elif protocol == MPLS:
        link.read_network(part, inner, 0x8847)
    elif protocol == INFINIBAND:
        link.read_infiniband(part, inner)
