"""NCCL's all-reduces over trees of hosts that have several ranks each: the operations, their sizes, the communicator and its trees, as
far as what is in view shows them, and nothing that is wrong, whichever processes of a host have its neighbours."""

import collections
import unittest

import nccl_hosts
import nccl_hosts_made as made
from harness import main
from nccl_host_trees_worlds import (
    ALL, APART, AROUND, BESIDE, GROUPS, ONE_ADDRESS, ONE_EACH, ON_RAILS, OTHERS, SENDS, TIED, TURNS, WIDE, trees_of,
)
from nccl_hosts import is_size
from nccl_hosts_made import ALL_REDUCE, SIMPLE, TREE
from nccl_hosts_worlds import MORE_VIEWS, VIEWS, address, bytes_written, data_of, told

# by section 7.3 and what the patterns mean, of 3 hosts with ranks 0 1, 2 3, 4 5: who sends to whom upwards in tree 0, and in tree 1
BY_HAND = {"tree": ({(4, 0), (2, 4)}, {(0, 2), (4, 0)}),
           "balanced": ({(4, 1), (2, 4)}, {(0, 3), (4, 0)}),
           "split": ({(4, 1), (2, 5)}, {(0, 3), (4, 1)})}


class Made(unittest.TestCase):
    """What is made is what the specification says."""

    def each(self, check):
        """check(cluster, group, what, messages) of each operation over trees"""
        for name, make in ALL.items():
            with self.subTest(world=name):
                for group in make().groups:
                    for what, messages in group.done:
                        if what.algorithm == TREE:
                            check(make(), group, what, messages)

    def test_each_channel_has_its_share_once_on_each_edge_up_and_down(self):
        def check(cluster, group, what, messages):
            written = bytes_written(cluster)
            for circle, share in zip(group.circles, made.shares(what.size, what.channels)):
                for link in [*circle.tree.up.values(), *circle.tree.down.values()]:
                    mine = [written[message] for message in messages if message[0] == link.number]
                    self.assertEqual(len(mine), -(-share // (what.step if what.protocol == SIMPLE else 32768)))
                    self.assertEqual(sum(mine), share if what.protocol == SIMPLE else 16 * -(-share // 8))
                    self.assertLessEqual(max(mine, default=0), 524288 if what.protocol == SIMPLE else 65536)

        self.each(check)

    def test_sums_and_results_wait_for_what_they_are_made_of(self):
        def check(cluster, group, what, messages):
            at = data_of(cluster)
            for circle in group.circles[:what.channels]:
                tree = circle.tree
                mine = {link.number: sorted(k for number, k in messages if number == link.number) for link in circle.all_links()}
                for child, up in tree.up.items():
                    parent, down = tree.parent[child], tree.down[child]
                    after = [*tree.down.values()] if parent == tree.root else [tree.up[parent]]
                    for came, goes in [(up, link) for link in after] + [(down, tree.down[one]) for one in tree.children[child]]:
                        for a, b in zip(mine[came.number], mine[goes.number], strict=True):
                            self.assertLess(at[came.number, a][-1], at[goes.number, b][0])

        self.each(check)

    def test_nothing_is_asked_for_before_the_operation_before_is_there(self):
        """By whoever receives: all that he gets of it, on all channels."""
        for make in ALL.values():
            for group in make().groups:
                number_of = {message: i for i, (_, messages) in enumerate(group.done) for message in messages}
                receiving, asked = {link.number: link.receiving for link in group.links}, {}
                for frame in make().frames:
                    rank, i = receiving.get(frame.connection), number_of.get((frame.connection, frame.k))
                    if frame.role == "cts" and i is not None:
                        asked[rank] = max(asked.get(rank, 0), i)
                    elif frame.role == "data" and i is not None:
                        self.assertLessEqual(asked[rank], i)

    def test_the_first_half_of_the_channels_has_tree_0(self):
        for make in ALL.values():
            for group in make().groups:
                half = len(group.circles) // 2
                self.assertEqual([circle.tree.tree for circle in group.circles], [0] * half + [1] * half)

    def test_neighbours_are_those_drawn_by_hand(self):
        for pattern, trees in BY_HAND.items():
            group, = trees_of(1, pattern, 3, 2, 1, 2)().groups
            for circle, up in zip(group.circles, trees):
                for links, wanted in ((circle.tree.up, up), (circle.tree.down, {pair[::-1] for pair in up})):
                    self.assertEqual({(link.rank, link.receiving) for link in links.values()}, wanted, pattern)

    def test_patterns_tell_which_process_has_which_neighbour(self):
        """Who sends down to the lower child, and to the upper one: the process that sends up, or another one of its host."""
        patterns = {"tree": (True, True), "balanced": (True, False), "split": (False, False)}
        for name, make in {**TIED, **ON_RAILS}.items():
            group, = make().groups
            each = len(group.members[0])
            for tree in (circle.tree for circle in group.circles):
                first, = {link.rank % each for link in tree.up.values()}
                for child, down in tree.down.items():
                    is_upper = self.is_upper(tree, child, group)
                    self.assertEqual(down.rank % each == first, patterns[name.split(",")[0]][is_upper], (name, child))
                    self.assertTrue(is_upper or tree.parent[child] != tree.root)

    def is_upper(self, tree, child, group):
        return made.place_in(tree.tree, len(group.members), child) > made.place_in(tree.tree, len(group.members), tree.parent[child])

    def test_a_channel_has_one_connection_between_two_processes(self):
        for make in ALL.values():
            for group in make().groups:
                for circle in group.circles:
                    pairs = collections.Counter((link.rank, link.receiving) for link in circle.all_links())
                    self.assertEqual(set(pairs.values()), {1})

    def test_all_rails_are_used(self):
        for name, make in {**TIED, **ON_RAILS}.items():
            used = {link.sender[0] for link in make().connections if link.done}
            self.assertEqual(used, {port for host in make().ports for port in host}, name)


class Hosts(nccl_hosts.Hosts):
    worlds = ALL


class Wrong(nccl_hosts.Wrong, Hosts):
    """Whatever is in view, nothing that is told is wrong."""

    worlds, views, apart, undecided = ALL, {**VIEWS, **MORE_VIEWS}, {**APART, **GROUPS}, ()

    def everywhere(self, check, but=None):
        """All of each world, and every other one of what may be in view: all of these are of half of the worlds."""
        for i, name in enumerate(self.worlds):
            self.each(check, ([name], [view for j, view in enumerate(self.views) if (view == "whole" or (i + j) % 2) and view != but]))

    where_decided = everywhere

    def test_trees_are_told_of_the_right_hosts(self):
        """Not where a port's neighbours alone are in view: they may be as those of a smaller tree."""
        def check(seen):
            for row in seen.document["communicators"]:
                for tree in row["trees"] or []:
                    group, = (group for group in seen.groups(row) if group.circles)
                    self.is_tree(seen, row, tree, group)

        self.everywhere(check, but="one port")

    def is_tree(self, seen, communicator, tree, group):
        places = {address([port]): host for host, ports in enumerate(seen.cluster.ports) for port in ports}

        def host(position):
            there, = {places[one] for one in communicator["ranks"][position]["addresses"]}
            return there

        trees = [circle.tree for circle in group.circles]
        mine = [one for one in trees if tree["tree"] in (one.tree, None)]
        self.assertIn(host(tree["root"]), {one.root for one in mine})
        for edge in tree["edges"]:
            child, parent = host(edge["child"]), host(edge["parent"])
            self.assertIn(parent, {one.parent[child] for one in mine}, (edge, tree))
            between = [one for one in trees if one.parent[child] == parent]  # may be in both: then their lengths do not tell which is whose
            self.assertLessEqual(set(seen.numbers(edge["up"])), {one.up[child].number for one in between})
            self.assertLessEqual(set(seen.numbers(edge["down"])), {one.down[child].number for one in between})


class Told(Hosts):
    def are_told(self, seen, communicator, exact):
        """All operations of a communicator, or of what is told of one: a row for each, and no more."""
        group, among = self.only_group(seen, communicator), set(seen.numbers(communicator["connections"]))
        rows = [row for row in seen.document["collectives"] if row["communicator"] == communicator["communicator"]]
        operations = list(seen.operations(group, among))
        members = "collective", "algorithm", "protocol", "channels", "first_frame", "last_frame"
        self.assertEqual(
            [tuple(row[member] for member in members) for row in rows],
            [(nccl_hosts.collective(what), what.algorithm, what.protocol, self.channels(what, group, among), first, last)
             for what, first, last in operations])
        for row, (what, _, _) in zip(rows, operations):
            self.assertIn(row["n_ranks"], (len(group.ranks), None) if what.algorithm == TREE else (len(group.ranks),))
            self.assertTrue(is_size(row, what, exact), (row, what))

    def channels(self, what, group, among):
        return sum(any(link.number in among for link in circle.all_links()) for circle in group.circles[:what.channels])


class Whole(Told):
    """All of the network is in view, and shows that it is."""

    worlds = {**ALL, **WIDE}

    def everything(self, check, *more):
        self.each(check, ({**TIED, **WIDE, **TURNS, **AROUND, **ONE_EACH, **OTHERS}, ["whole"]), *more)

    def test_there_is_one_communicator(self):
        def check(seen):
            row, = seen.document["communicators"]
            self.assertEqual(sorted(seen.numbers(row["connections"])), [link.number for link in seen.cluster.connections])

        self.everything(check)

    def test_all_that_send_have_their_ranks(self):
        def check(seen):
            links = [link for link in seen.cluster.connections if link.done]
            row, = seen.document["communicators"]
            self.assertLessEqual({link.rank for link in links}, {one["rank"] for one in row["ranks"]})
            told = {seen.links[one["connection"]].number: one["sender"]["rank"] for one in seen.document["connections"]}
            self.assertEqual([told[link.number] for link in links], [link.rank for link in links])

        self.everything(check)

    def test_operations_are_told_with_their_sizes(self):
        def check(seen):
            for communicator in seen.document["communicators"]:
                self.are_told(seen, communicator, True)

        self.everything(check, (["two jobs in turn", "data parallel in turn, 3 of 2"], ["whole"]))

    def test_operations_are_told_beside_sends(self):
        def check(seen):
            operations = list(seen.operations(seen.cluster.groups[0]))
            rows = [row for row in seen.document["collectives"] if row["algorithm"] == TREE]
            self.assertEqual([(row["collective"], row["channels"], row["first_frame"], row["last_frame"]) for row in rows],
                             [(ALL_REDUCE, what.channels, first, last) for what, first, last in operations])
            self.assertTrue(all(is_size(row, what, True) for row, (what, _, _) in zip(rows, operations)), (rows, operations))

        self.each(check, (BESIDE, ["whole"]))

    def test_groups_and_jobs_stay_apart(self):
        def check(seen):
            self.assertEqual(sorted(sorted(seen.numbers(row["connections"])) for row in seen.document["communicators"]),
                             sorted(sorted(link.number for link in group.links) for group in seen.cluster.groups))

        self.each(check, ({**APART, **GROUPS}, ["whole"]))


class Rails(Told):
    """Nothing in view shows for sure which rails are of one job: what is told may be it, or what passed on a rail. A size is the job's."""

    def test_operations_are_told(self):
        def check(seen):
            for communicator in seen.document["communicators"]:
                self.are_told(seen, communicator, False)

        self.each(check, ({**ON_RAILS, **APART, **GROUPS}, ["whole"]), (ONE_ADDRESS, ["no set-up", "one rail"]))

    def test_one_rail_does_not_show_the_size(self):
        def check(seen):
            self.assertEqual({row["message_bytes"] for row in seen.document["collectives"] if row["algorithm"] == TREE}, {None})

        self.each(check, ([name for name in ON_RAILS if name in ONE_ADDRESS], ["one rail"]))


class Spoiled(Hosts):
    """Frames are missing, or the beginning is, or set-ups are."""

    def share(self, names, view, may_be_missing):
        """Of operations over trees: how many are told. Not of one that begins before the capture, or is alone in it."""
        of = []
        for name in names:
            seen = told(self.worlds[name], view)
            group, = seen.cluster.groups
            rows = [row for row in seen.document["collectives"] if (row["collective"], row["algorithm"]) == (ALL_REDUCE, TREE)]
            found = [any(first <= row["first_frame"] and row["last_frame"] <= last for row in rows)
                     for what, first, last in seen.operations(group) if may_be_missing or seen.has_all(group, what)]
            of += found if len(found) > 1 else []
        return sum(of) / len(of)

    def are_more(self, may_be_missing, *cases):
        for names, view, floor in cases:
            with self.subTest(view=view):
                self.assertGreater(self.share(names, view, may_be_missing), floor)

    def test_most_of_what_is_whole_is_told(self):
        self.are_more(False, *(([*ONE_ADDRESS, *ONE_EACH], view, 0.9) for view in ("cut", "middle", "no set-up")))

    def test_a_part_of_what_is_spoiled_is_told(self):
        """One frame of a hundred is missing, of most operations some."""
        self.are_more(True, ({**TIED, **OTHERS, **ONE_EACH}, "lossy", 0.3), ([*ONE_ADDRESS, *ONE_EACH], "cut, lossy, middle", 0.2))


class Sends(Hosts):
    """Of stages of models, and of neighbours: no tree, and no all-reduce."""

    worlds = SENDS

    def test_sends_are_no_all_reduces(self):
        def check(seen):
            self.assertEqual(seen.document["findings"], [])
            self.assertLessEqual({(row["collective"], row["algorithm"]) for row in seen.document["collectives"]},
                                 {(made.SEND_RECV, None), (None, None)})
            self.assertEqual({row["trees"] for row in seen.document["communicators"]}, {None})
            for row in seen.document["connections"]:
                link = seen.links[row["connection"]]
                self.assertIn(row["sender"]["rank"], (link.rank, None))
                self.assertIn(row["receiver"]["rank"], (link.receiving, None))

        self.each(check, (SENDS, ["whole", "no set-up", "one rail", "one port", "middle", "lossy", "cut"]))


if __name__ == "__main__":
    main()
