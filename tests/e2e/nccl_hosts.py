"""NCCL jobs with several ranks on a host: which connections are one communicator, how many ranks take part in an operation and which
one it is, by set-ups, by ranks, from one rail alone and where frames are lost; and jobs beside each other, which stay apart."""

import unittest

import nccl_hosts_made as made
from harness import COMPLIANT, NOT_EVIDENCED, main
from nccl_hosts_made import ALL_REDUCE, LL, SEND_RECV, SIMPLE
from nccl_hosts_worlds import (
    ALL, APART, ONE_EACH, ON_OWN_RAILS, PLAIN, UNDECIDED, VIEWS, address, bytes_written, data_of, told,
)
from nccl_tenants import declared
from roce import EVERYBODY


def collective(what):
    return what.collective if what.collective in (ALL_REDUCE, SEND_RECV) else None


def is_size(row, what, exact):
    """Lines of LL do not show where their data ends."""
    least, most = row["message_bytes_range"] or (0, 1 << 64)
    may_be = (what.size,) if exact and what.protocol == SIMPLE else (what.size, None)
    return row["message_bytes"] in may_be and least <= what.size <= most


def rotated(numbers, links):
    at = links.index(numbers[0]) if numbers[0] in links else 0
    return numbers == links[at:] + links[:at]


class Made(unittest.TestCase):
    """What is made is what the specification says."""

    def each(self, check):
        """check(channel, its share, what, messages by connection) of each operation over rings in each world"""
        for name, make in ALL.items():
            with self.subTest(world=name):
                for group in make().groups:
                    for what, messages in ((what, messages) for what, messages in group.done if what.algorithm == "RING"):
                        for circle, share in zip(group.circles, made.shares(what.size, what.channels)):
                            check(circle, share, what, [sorted(k for link, k in messages if link == one.number) for one in circle.links])

    def test_channels_lead_through_all_ranks_host_by_host(self):
        for name, make in ALL.items():
            cluster = make()
            for group, circle in ((group, circle) for group in cluster.groups for circle in group.circles):
                each, host = len(group.members[0]), cluster.ports
                for i, link in enumerate(circle.links):
                    self.assertEqual(sorted(circle.ranks[i * each:(i + 1) * each]), group.members[i], name)
                    self.assertEqual(link.rank, circle.ranks[(i + 1) * each - 1])
                    self.assertEqual(link.receiving, circle.ranks[(i + 1) * each % len(circle.ranks)])
                    self.assertTrue(link.sender[0] in host[i] and link.receiver[0] in host[(i + 1) % len(host)])
                    self.assertEqual(circle.links[i - 1].receiving == link.rank, each == 1)

    def test_on_rails_of_their_own_all_ranks_send(self):
        for name in ON_OWN_RAILS:
            cluster = ALL[name]()
            self.assertEqual({link.rank for link in cluster.connections}, set(cluster.groups[0].ranks), name)
            self.assertEqual({link.sender[0][:3] for link in cluster.connections}, {port[:3] for port in cluster.ports[0]})
            self.assertTrue(all(link.sender[0][:3] == link.receiver[0][:3] for link in cluster.connections))

    def test_hosts_send_what_they_have_to(self):
        """Section 7.1: to the next one 2S(N-1)/N bytes of an all-reduce, else what N-1 ranks have; chunks differ by 16 bytes."""
        def check(circle, share, what, messages):
            ranks, written = len(circle.ranks), bytes_written(circle.cluster)
            for link, numbers in zip(circle.links, messages):
                sent = [written[link.number, k] for k in numbers]
                data = sum(sent) if what.protocol == SIMPLE else sum(sent) / 2
                wanted = 2 * share * (ranks - 1) / ranks if what.collective == ALL_REDUCE else share * (ranks - 1)
                self.assertLessEqual(abs(data - wanted), 40 if what.collective == ALL_REDUCE else 4 * len(numbers) * (what.protocol == LL))

        self.each(check)

    def test_steps_of_a_loop_are_counted(self):
        """Section 7.2: 4(N-1) messages of SIMPLE, 2(N-1) of LL; half of it where nothing is added up and sent round."""
        def check(circle, share, what, messages):
            ranks, most = len(circle.ranks), 32768 if what.protocol == LL else 2 << 20
            loops = -(-share // (most * (ranks if what.collective == ALL_REDUCE else 1)))
            count = loops * (ranks - 1) * (2 if what.collective == ALL_REDUCE else 1) * (2 if what.protocol == SIMPLE else 1)
            self.assertEqual([len(numbers) for numbers in messages], [count] * len(circle.links))

        self.each(check)

    def test_what_is_sent_on_has_come(self):
        """Step s of a host is step s-g of the one before, g ranks each; each slice goes its own way."""
        def check(circle, _share, what, messages):
            at = data_of(circle.cluster)
            ranks, slices = len(circle.ranks), 2 if what.protocol == SIMPLE else 1
            steps = (ranks - 1) * (2 if what.collective == ALL_REDUCE else 1)
            lag = ranks // len(circle.links)
            for i, link in enumerate(circle.links):
                before = circle.links[i - 1]
                for j, k in enumerate(messages[i]):
                    if j // slices % steps >= lag:
                        came = at[before.number, messages[i - 1][j - lag * slices]]
                        self.assertLess(came[-1], at[link.number, k][0])

        self.each(check)


class Hosts(unittest.TestCase):
    worlds, views, apart, undecided = ALL, VIEWS, APART, UNDECIDED

    def each(self, check, *cases):
        """check(what is told of it) for each of the worlds in each of the views"""
        for worlds, views in cases:
            for name in worlds:
                for view in views:
                    with self.subTest(world=name, view=view):
                        check(told(self.worlds[name], view))

    def only_group(self, seen, communicator):
        groups = seen.groups(communicator)
        self.assertEqual(len(groups), 1, communicator)
        return groups[0]


class Wrong(Hosts):
    """Whatever is in view, nothing that is told is wrong."""

    def everywhere(self, check):
        self.each(check, (self.worlds, self.views))

    def where_decided(self, check):
        for name in self.worlds:
            self.each(check, ([name], [view for view in self.views if (name, view) not in self.undecided]))

    def test_nothing_is_found(self):
        def check(seen):
            self.assertEqual(seen.document["findings"], [])

        self.everywhere(check)

    def test_audits_find_nothing(self):
        def check(seen):
            audit = seen.run("audit", "--json", tenants=EVERYBODY)
            self.assertEqual(audit.json()["findings"], [])
            self.assertIn(audit.status, (COMPLIANT, NOT_EVIDENCED))

        self.each(check, (self.worlds, ["lossy"]))

    def test_tenants_that_share_hosts_but_no_network_are_not_taken_for_one(self):
        def check(seen):
            groups = list(dict.fromkeys(seen.group_of.values()))
            tenants = [sorted({address(port) for group in some for link in group.links for port in (link.sender, link.receiver)})
                       for some in (groups[::2], groups[1::2])]
            for verb in ("nccl", "audit"):
                self.assertEqual(seen.run(verb, "--json", tenants=declared(*tenants)).json()["findings"], [])

        self.each(check, (self.apart, ["whole", "no set-up", "lossy"]))

    def test_connections_are_told_with_their_ranks(self):
        def check(seen):
            for row in seen.document["connections"]:
                link = seen.links[row["connection"]]
                self.assertIn(row["sender"]["rank"], (link.rank, None))
                self.assertIn(row["receiver"]["rank"], (link.receiving, None))

        self.everywhere(check)

    def test_half_connections_are_told_with_the_rank_that_sends(self):
        def check(seen):
            for row in seen.run("flows", "--nccl", "--json").json()["flows"]:
                link = seen.links[row["nccl"]["connection"]]
                rank = link.rank if row["nccl"]["role"] == "data" else link.receiving
                self.assertIn(row["nccl"]["rank"], (rank, None), row)

        self.each(check, (self.worlds, ["whole"]))

    def test_what_shares_no_process_is_not_joined(self):
        def check(seen):
            for row in seen.document["communicators"]:
                groups = seen.groups(row)
                processes = [{(group.job, rank) for rank in group.ranks} for group in groups]
                self.assertTrue(all(any(one & other for other in processes if other is not one) for one in processes[1:]), row)
                self.assertLessEqual({one["rank"] for one in row["ranks"]}, {rank for group in groups for rank in group.ranks} | {None})
                for channel in row["channels"]:
                    if channel["channel"] is not None:  # else nobody knows which of them these are of
                        self.assertEqual(len({seen.circles.get(number) for number in seen.numbers(channel["connections"])}), 1, channel)

        self.where_decided(check)

    def test_ranks_are_where_they_send_or_receive(self):
        def check(seen):
            for row in seen.document["communicators"]:
                ends = {end for group in seen.groups(row) for link in group.links
                        for end in ((link.rank, address(link.sender)), (link.receiving, address(link.receiver)))}
                told = {(one["rank"], there) for one in row["ranks"] if one["rank"] is not None for there in one["addresses"]}
                self.assertLessEqual(told, ends)

        self.everywhere(check)

    def test_a_ring_is_of_hosts_with_one_rank_each(self):
        """With several, those that receive are not those that send. Without ranks it is one of addresses."""
        def check(seen):
            for row in seen.document["communicators"]:
                if row["ring"] is not None and {one["rank"] for one in row["ranks"]} != {None}:
                    group = self.only_group(seen, row)
                    self.assertEqual({len(members) for members in group.members}, {1})
                    self.assertEqual([row["ranks"][at]["rank"] for at in row["ring"]], group.ranks)

        self.where_decided(check)

    def test_operations_are_what_is_told_of_them(self):
        def check(seen):
            for row in seen.document["collectives"]:
                if any(row[member] for member in ("collective", "algorithm", "message_bytes", "n_ranks")):
                    self.is_true(row, seen)

        self.everywhere(check)

    def is_true(self, row, seen):
        mine = [(group, what) for group in seen.groups(seen.document["communicators"][row["communicator"]])
                for what, first, last in seen.operations(group) if first <= row["first_frame"] <= row["last_frame"] <= last]
        self.assertEqual(len(mine), 1, row)
        (group, what), = mine
        self.assertIn(row["collective"], (collective(what), None), row)
        self.assertIn(row["algorithm"], (what.algorithm, None), row)
        self.assertIn(row["protocol"], (what.protocol, "unknown"), row)
        self.assertTrue(is_size(row, what, False), (row, what))
        self.assertIn(row["n_ranks"], (len(group.ranks), None), row)
        self.assertLessEqual(row["channels"] or 0, what.channels, row)

    def test_records_have_the_number_of_ranks(self):
        def check(seen):
            for record, row in zip(seen.run("nccl", "-o", "inspector").lines(), seen.document["collectives"], strict=True):
                self.assertEqual(record["header"].get("n_ranks"), row["n_ranks"])

        self.each(check, (self.worlds, ["whole", "one rail"]))


class Whole(Hosts):
    """All of the network is in view."""

    def everything(self, check, *more):
        """Without set-ups ranks have to do: on rails that several share, not all of them send."""
        self.each(check, (PLAIN, ["whole"]), ({**ON_OWN_RAILS, **APART, **ONE_EACH}, ["no set-up"]), *more)

    def test_each_communicator_is_one(self):
        def check(seen):
            self.assertEqual(sorted(sorted(seen.numbers(row["connections"])) for row in seen.document["communicators"]),
                             sorted(sorted(link.number for link in group.links) for group in set(seen.group_of.values())))

        self.everything(check)

    def test_channels_are_rings_of_hosts(self):
        """Their numbers are known where the same processes made all of them, in their order."""
        def check(seen):
            for row in seen.document["communicators"]:
                group = self.only_group(seen, row)
                circles = [[link.number for link in circle.links] for circle in group.circles]
                channels = [seen.numbers(channel["connections"]) for channel in row["channels"]]
                self.assertEqual(sorted(map(sorted, channels)), sorted(map(sorted, circles)))
                self.assertTrue(all(any(rotated(channel, links) for links in circles) for channel in channels), channels)
                if len(group.members[0]) == 1:
                    self.assertEqual([channel["channel"] for channel in row["channels"]], list(range(len(circles))))
                for number, links in zip((channel["channel"] for channel in row["channels"]), channels):
                    self.assertIn(number, (None, *(i for i, circle in enumerate(circles) if rotated(links, circle))))

        self.everything(check)

    def test_senders_have_their_ranks(self):
        def check(seen):
            self.assertEqual([row["sender"]["rank"] for row in seen.document["connections"]],
                             [seen.links[row["connection"]].rank for row in seen.document["connections"]])

        self.everything(check)

    def test_one_rank_on_each_host_makes_a_ring(self):
        def check(seen):
            self.assertNotIn(None, [row["ring"] for row in seen.document["communicators"]])

        self.each(check, (("data parallel, 3 of 2", "data parallel, 4 of 3", *ONE_EACH), ("whole", "no set-up")))

    def test_operations_are_told(self):
        def check(seen):
            for communicator in seen.document["communicators"]:
                group = self.only_group(seen, communicator)
                self.are_told([row for row in seen.document["collectives"] if row["communicator"] == communicator["communicator"]],
                              group, list(seen.operations(group)))

        self.everything(check, (["trees that nothing goes over"], ["whole", "no set-up"]))

    def are_told(self, rows, group, operations):
        self.assertEqual(
            [(row["collective"], row["algorithm"], row["protocol"], row["channels"], row["n_ranks"], row["first_frame"], row["last_frame"])
             for row in rows],
            [(collective(what), "RING", what.protocol, what.channels, len(group.ranks), first, last)
             for what, first, last in operations])
        for row, (what, _, _) in zip(rows, operations):
            self.assertTrue(is_size(row, what, True), (row, what))


class Spoiled(Hosts):
    """Frames are missing, or the beginning is."""

    def share(self, view, missing, is_told):
        """Of the operations of which some frames are missing, or none: of how many it is told. Not of one that begins before the capture."""
        of = []
        for name in {**ON_OWN_RAILS, **APART, **ONE_EACH}:
            seen = told(self.worlds[name], view)
            for group in set(seen.group_of.values()):
                rows = [row for row in seen.document["collectives"] if seen.is_of(row, group)]
                of += [any(is_told(row, what, group) for row in rows if first <= row["first_frame"] and row["last_frame"] <= last)
                       for what, first, last in seen.operations(group) if seen.has_all(group, what) != missing]
        return sum(of) / len(of)

    def test_ranks_and_sizes_are_told_of_most_that_is_not_spoiled(self):
        for view in ("middle", "lossy", "cut", "cut, lossy, middle"):
            with self.subTest(view=view):
                self.assertGreater(self.share(view, False, lambda row, _, group: row["n_ranks"] == len(group.ranks)), 0.9)
                self.assertGreater(self.share(view, False, lambda row, what, _: row["message_bytes_range"] and is_size(row, what, True)), 0.7)

    def test_ranks_are_told_of_half_of_what_is_spoiled(self):
        self.assertGreater(self.share("lossy", True, lambda row, _, group: row["n_ranks"] == len(group.ranks)), 0.5)


class Part(Hosts):
    """Of what is in view, the ranks that take part are told; not the size, if other rails had their share of it."""

    def test_one_rail_shows_how_many_ranks_there_are(self):
        def check(seen):
            group = self.only_group(seen, seen.document["communicators"][0])
            rows = seen.document["collectives"]
            self.assertEqual([(row["collective"], row["algorithm"], row["protocol"], row["n_ranks"], row["message_bytes"]) for row in rows],
                             [(collective(what), "RING", what.protocol, len(group.ranks), None) for what, _, _ in seen.operations(group)])

        self.each(check, (ON_OWN_RAILS, ["one rail"]))


if __name__ == "__main__":
    main()
