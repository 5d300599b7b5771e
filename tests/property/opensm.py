"""Random OpenSM partitions with the topology they apply to: the same model as a map, written as OpenSM reads it."""

from maps import START, Interval, Map, Member, Partition, Port

SPELLINGS = {"full": ("full", "ful", "f", "both", ""), "limited": ("limited", "lim", "owner", "FULL")}


class Fabric(Map):
    """A switch, and channel adapters with one port each; the first one runs the subnet manager."""

    def __init__(self, text):
        super().__init__()
        self.text, self.last_rule_wins = text, True

    def topology(self):
        switch, *adapters = self.ports
        lines = ["# Topology file: generated", "# Initiated from node %016x port %016x"
                 % (adapters[0].guid - 1, adapters[0].guid), "", "vendid=0x0", "devid=0x0",
                 "sysimgguid=%#x" % switch.guid, "switchguid=%#x(%x)" % (switch.guid, switch.guid),
                 'Switch\t36 "S-%016x"\t\t# "%s" base port 0 lid %d lmc 0' % (switch.guid, switch.host, switch.lid)]
        lines += ['[%d]\t"H-%016x"[1](%x) \t\t# "%s" lid %d 4xSDR' % (number, port.guid - 1, port.guid, port.host,
                                                                  port.lid)
                  for number, port in enumerate(adapters, 1)]
        for number, port in enumerate(adapters, 1):
            lines += ["", "vendid=0x0", "devid=0x0", "sysimgguid=%#x" % (port.guid - 1),
                      "caguid=%#x" % (port.guid - 1), 'Ca\t1 "H-%016x"\t\t# "%s"' % (port.guid - 1, port.host),
                      '[1](%x) \t"S-%016x"[%d]\t\t# lid %d lmc %d "%s" lid %d 4xSDR'
                      % (port.guid, switch.guid, number, port.lid, port.lmc, switch.host, switch.lid)]
        return "\n".join(lines) + "\n"

    def write(self, path):
        conf, net = path.with_suffix(".conf"), path.with_suffix(".ibnetdiscover")
        conf.write_text(self.text)
        net.write_text(self.topology())
        return ["-m", conf, "--topology", net]


def random_fabric(rng):
    lines, fabric = [], Fabric("")
    fabric.ports, lid = [Port("leaf1", guid=0x0002c90300a08000, lid=2)], 4
    for number in range(rng.randrange(5, 10)):
        lmc = rng.choice((0, 0, 1, 2))
        lid = -(-lid // (1 << lmc)) << lmc
        fabric.ports.append(Port("gpu%02d" % number, guid=0x0002c90300a00011 + (number << 4), lid=lid, lmc=lmc))
        lid += 1 << lmc
    manager, names = fabric.ports[1], ["Default", "red", "blue", "green", "scratch"]
    fabric.classes = {name: "management" if name == "Default" else "customer" for name in names}
    bases = [0x7fff, *rng.sample((0x0001, 0x0002, 0x0101, 0x0200, 0x7ffe), rng.randrange(2, 5))]
    for name, base in zip(names, bases):
        members, words = [], []

        def add(word, member):
            words.append(word + ("=" + rng.choice(SPELLINGS[member.membership])))
            members.append(member)
        if base == 0x7fff or rng.random() < 0.1:
            add("ALL", Member("all", True, rng.choice(("limited", "limited", "full"))))
        for port in rng.sample(fabric.ports, rng.randrange(1, len(fabric.ports))):
            membership = "limited" if rng.random() < 0.4 else "full"
            guid = rng.choice(("0x%016x", "%d", "0X%x")) % port.guid
            add(guid, Member("guid", port.guid, membership))
            if rng.random() < 0.15:  # a second rule for the same port: the last one wins
                add(guid, Member("guid", port.guid, rng.choice(("full", "limited"))))
        if base == 0x7fff:
            add("SELF", Member("guid", manager.guid, "full"))
        ipoib = rng.random() < 0.6
        lines.append("%s=0x%04x%s : %s ;" % (name, base | rng.choice((0, 0x8000)), ", ipoib" if ipoib else "",
                                            rng.choice((", ", ",", ",\n  ")).join(words)))
        fabric.partitions.append(Partition(name, [Interval(START - 10**13, None, members)], base, ipoib=ipoib))
    fabric.text = "# written by a test\n" + "\n".join(lines) + "\n"
    return fabric
