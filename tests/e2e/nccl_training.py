"""Jobs that train models: several communicators of the same processes at the same ports, busy at the same time. Which there are, who is
in them, and what they do; two jobs at a time; and what audits find of that."""

import collections
import functools
import json
import tempfile
import unittest
from pathlib import Path

import nccl_made
from harness import VIOLATED, fabtap, main
from nccl_tenants import declared
from nccl_training_made import ALL_REDUCE, BROADCAST, SEND_RECV
from nccl_training_worlds import JOBS, VIEWS, restarted
from roce import EVERYBODY

LL, RING, UNKNOWN = "LL", "RING", "unknown"


def address(place):
    return ".".join(map(str, place))


class Seen:
    """What is told of a view of jobs, beside what they are."""

    def __init__(self, jobs, frames):
        self.jobs, self.frames = jobs, frames
        self.document = self.run("nccl", "--json").json()
        self.group_of = {link.number: group for job in jobs for group in job.groups for link in group.links()}
        links = {ends: link for job in jobs for link in job.connections for ends in self.ends_of(link)}
        self.links = {row["connection"]: self.link_of(row, links) for row in self.document["connections"]}
        self.at = collections.defaultdict(list)
        for number, frame in enumerate(frames, 1):
            if frame.role == "data":
                self.at[frame.connection, frame.k].append(number)

    def run(self, verb, *how, tenants=None):
        """`tenants`: a map, valid from 2000 on; captures are from 1970."""
        with tempfile.TemporaryDirectory() as folder:
            if tenants is not None:
                how = *how, "-m", Path(folder) / "map.json"
                how[-1].write_text(json.dumps(tenants).replace("2000-", "1970-"))
            return fabtap(verb, *how, nccl_made.write(Path(folder) / "training.pcap", self.frames))

    def ends_of(self, link):
        """Also with one end alone: the other's queue pair is not known before it was met."""
        sender, receiver = address(link.sender[0]), address(link.receiver[0])
        return [(sender, one, receiver, other) for a, b in zip(link.sender_qpns, link.receiver_qpns)
                for one, other in ((a, b), (a, None), (None, b))]

    def link_of(self, row, links):
        (sender,), (receiver,) = row["sender"]["addresses"], row["receiver"]["addresses"]
        link, = {links[sender, one, receiver, other] for one, other in zip(row["sender"]["qpns"], row["receiver"]["qpns"])}
        return link

    def links_in(self, communicator):
        return [self.links[i] for i in communicator["connections"]]

    def groups(self, communicator):
        return list(dict.fromkeys(self.group_of[link.number] for link in self.links_in(communicator)))

    def operations(self, communicator):
        """(group, what, its first and last frame in view) of what is in it."""
        mine = {link.number for link in self.links_in(communicator)}
        for group in self.groups(communicator):
            for what in group.done:
                numbers = [number for message in what.messages if message[0] in mine for number in self.at.get(message, ())]
                if numbers:
                    yield group, what, min(numbers), max(numbers)

    def operations_by_channel(self, communicator):
        """(first, last frame) of each operation, and of what each channel had of it."""
        links = {link.number: link for link in self.links_in(communicator)}
        for group in self.groups(communicator):
            for what in group.done:
                numbers = collections.defaultdict(list)
                for message in what.messages:
                    if message[0] in links:
                        numbers[links[message[0]].channel] += self.at.get(message, ())
                numbers[None] = [number for of_channel in numbers.values() for number in of_channel]
                yield from ((min(all_of), max(all_of)) for all_of in numbers.values() if all_of)


def seen_of(jobs, views):
    """What is told of a view of jobs, by their names: each is looked at once."""
    @functools.cache
    def seen(name, view):
        made = jobs[name]()
        return Seen(made, views[view](made))

    return seen


seen = seen_of(JOBS, VIEWS)


def has_name(row, what):
    """As much as the wire tells: not which of an all-gather and a reduce-scatter it was, nor which of a broadcast and a reduce."""
    collective = what.what if what.what in (ALL_REDUCE, SEND_RECV) else None
    return row["collective"] in (collective, None) and row["algorithm"] in (what.algorithm, None)


def is_right(row, group, what):
    least, most = row["message_bytes_range"] or (0, 1 << 60)
    return (row["message_bytes"] in (None, what.size) and least <= what.size <= most and row["protocol"] in (what.protocol, UNKNOWN)
            and row["n_ranks"] in (None, len(group.members)) and (row["channels"] or 1) <= what.channels)


class Wrong(unittest.TestCase):
    """Whatever is in view, nothing that is told is wrong."""
    jobs, views, seen = JOBS, VIEWS, staticmethod(seen)

    def each(self, check, views=None):
        for name in self.jobs:
            for view in views or self.views:
                with self.subTest(job=name, view=view):
                    check(self.seen(name, view))

    def test_ranks_are_those_of_the_communicator(self):
        def check(it):
            for row in it.document["connections"]:
                link = it.links[row["connection"]]
                names = [it.group_of[link.number].name_of[end] for end in link.ends]
                self.assertIn(row["sender"]["rank"], (names[0], None))
                self.assertIn(row["receiver"]["rank"], (names[1], None))
                self.assertIn(row["channel"], (link.channel, None))

        self.each(check)

    def test_a_process_is_on_one_host(self):
        def check(it):
            for communicator in it.document["communicators"]:
                hosts = {address(place): end[0] for link in it.links_in(communicator)
                         for end, (place,) in zip(link.ends, (link.sender, link.receiver))}
                for row in communicator["ranks"]:
                    self.assertEqual(len({hosts[one] for one in row["addresses"]}), 1, row)

        self.each(check)

    def test_rings_are_those_that_were_made(self):
        def check(it):
            for communicator in it.document["communicators"]:
                if communicator["ring"] is None:
                    continue
                group, = it.groups(communicator)
                order = [communicator["ranks"][at]["addresses"][0] for at in communicator["ring"]]
                ways = [{address(link.sender[0]): address(link.receiver[0]) for link in exits.values()} for exits in group.exits]
                self.assertEqual(len(order), len(group.members))
                self.assertIn(dict(zip(order, order[1:] + order[:1])), ways)

        self.each(check)

    def test_messages_are_what_they_are(self):
        def check(it):
            for row in it.document["messages"]:
                link = it.links[row["connection"]]
                self.assertLessEqual({request["tag"] for request in row["requests"]}, {link.rank, None})
                if row["k"] is not None and row["protocol"] != UNKNOWN:
                    self.assertEqual(row["protocol"] == LL, link.protocols[row["k"]] == LL, row)

        self.each(check)

    def test_operations_that_have_a_name_were_there(self):
        def check(it):
            communicators = {row["communicator"]: list(it.operations(row)) for row in it.document["communicators"]}
            for row in it.document["collectives"]:
                if row["collective"] is None and row["algorithm"] is None:
                    continue
                meant = [(group, what) for group, what, first, last in communicators[row["communicator"]]
                         if first <= row["last_frame"] and last >= row["first_frame"] and has_name(row, what)]
                self.assertTrue(meant, row)
                if row["collective"] != SEND_RECV:
                    self.assertTrue(any(is_right(row, *one) for one in meant), (row, [what[:5] for _, what in meant]))

        self.each(check)

    def test_nothing_is_found(self):
        def check(it):
            self.assertEqual(it.document["findings"], [])
            self.assertEqual(it.run("audit", "--json", tenants=EVERYBODY).json()["findings"], [])

        self.each(check, ["whole", "middle", "lossy", "cut, lossy"])


class Training(Wrong):
    """What is whole is told."""

    def test_communicators_are_told_apart(self):
        """Each that has rings by itself, but for its trees; sends and receives of all together."""
        def check(it):
            for communicator in it.document["communicators"]:
                groups = it.groups(communicator)
                if len(groups) > 1:
                    self.assertLessEqual({group.name for group in groups}, {"stages", "experts"})
                    self.assertEqual(len({group.cluster for group in groups}), 1)

        self.each(check, ["whole", "no set-up"])

    def test_what_replicas_exchange_is_told_with_its_size(self):
        """In its order; between two it is not told from an all-reduce over a tree."""
        def check(it):
            told = collections.defaultdict(list)
            for row in it.document["collectives"]:
                told[row["communicator"]].append(row)
            for communicator in it.document["communicators"]:
                group = it.groups(communicator)[0]
                if group.name != "data":
                    continue
                self.assertEqual([(row["message_bytes"], row["channels"], row["complete"]) for row in told[communicator["communicator"]]],
                                 [(what.size, what.channels, True) for what in group.done])
                for row, what in zip(told[communicator["communicator"]], group.done):
                    shown = what.what != BROADCAST
                    self.assertEqual((row["collective"], row["n_ranks"]), (None, len(group.members) if shown else None))
                    self.assertEqual(row["algorithm"], RING)

        self.each(check, ["whole", "no set-up"])

    def test_most_of_what_stages_and_experts_send_is_told(self):
        def check(it):
            for communicator in it.document["communicators"]:
                if it.groups(communicator)[0].name in ("stages", "experts"):
                    mine = [row for row in it.document["collectives"] if row["communicator"] == communicator["communicator"]]
                    named = [row for row in mine if row["collective"] == SEND_RECV]
                    self.assertGreater(len(named), 0.9 * len(mine))
                    self.assertLessEqual({row["collective"] for row in mine}, {SEND_RECV, None})

        self.each(check, ["whole"])

    def test_senders_have_the_rank_that_they_have_in_their_communicator(self):
        """Of stages and experts, where each communicator numbers its own."""
        it = seen("numbered anew", "whole")
        told = [row["sender"]["rank"] is not None for row in it.document["connections"]
                if it.group_of[it.links[row["connection"]].number].name in ("stages", "experts")]
        self.assertGreater(sum(told), 0.9 * len(told))

    def test_ranks_of_replicas_are_told(self):
        def check(it):
            for communicator in it.document["communicators"]:
                groups = it.groups(communicator)
                if groups[0].name == "data" and groups[0].cluster.layout.family not in "AB":  # these have no tags
                    self.assertEqual([row["rank"] for row in communicator["ranks"]], sorted(groups[0].names))

        self.each(check, ["whole", "no set-up", "middle", "lossy"])


class Restarted(unittest.TestCase):
    """The same hosts, with new communicators."""

    def test_nothing_is_found(self):
        it = Seen(restarted(31), VIEWS["whole"](restarted(31)))
        self.assertEqual(it.document["findings"], [])
        self.assertEqual(it.run("audit", "--json", tenants=EVERYBODY).json()["findings"], [])

    def test_rings_stay_apart(self):
        it = Seen(restarted(31), VIEWS["whole"](restarted(31)))
        data = [groups for groups in map(it.groups, it.document["communicators"]) if groups[0].name == "data"]
        self.assertEqual(len(data), 2)
        self.assertEqual({len(groups) for groups in data}, {1})


class Tenants(unittest.TestCase):
    def places(self, job, hosts):
        ports = [address(port) for host in hosts for port in job.ports[host]]
        return ports + [address((10, 1, 0, job.hosts[host][0][3])) for host in hosts]

    def rules(self, it, red, blue):
        run = it.run("audit", "--json", tenants=declared(red, blue))
        found = collections.Counter(finding["rule"] for finding in run.json()["findings"])
        return run.status, {rule for rule in found if rule.startswith("nccl.")}

    def test_jobs_of_two_tenants_do_not_cross(self):
        it = seen("two tenants", "whole")
        red, blue = (self.places(job, range(4)) for job in it.jobs)
        self.assertEqual(self.rules(it, red, blue)[1], set())

    def test_a_communicator_over_two_tenants_is_found(self):
        for view in ("whole", "middle", "lossy"):
            it = seen("numbered anew", view)
            red, blue = (self.places(it.jobs[0], hosts) for hosts in ((0, 1, 3), (2,)))
            status, found = self.rules(it, red, blue)
            self.assertEqual(status, VIOLATED)
            self.assertIn("nccl.crosses-tenants", found)


if __name__ == "__main__":
    main()
