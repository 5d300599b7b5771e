"""Large training jobs in small: what nothing passed over is taken for no channel of what is busy at the same ports, rings of stages for
no rails, and a job for no part of the one before it on its hosts."""

import unittest

import nccl_training
from harness import main
from nccl_jobs_worlds import JOBS, SHARED
from nccl_training_made import SEND_RECV
from nccl_training_worlds import VIEWS, all_of, cut

MORE_VIEWS = {**VIEWS, "no tags": lambda jobs: cut(all_of(jobs), 96)}


seen = nccl_training.seen_of({**JOBS, **SHARED}, MORE_VIEWS)


def used(it, communicator):
    """The groups of its connections that anything passed over."""
    counts = {row["connection"]: row["counts"] for row in it.document["connections"]}
    return {it.group_of[it.links[i].number] for i in communicator["connections"] if counts[i]["cts"] + counts[i]["messages"]}


class Wrong(nccl_training.Wrong):
    jobs, views, seen = JOBS, VIEWS, staticmethod(seen)


class Told(unittest.TestCase):
    def each(self, check, names=JOBS, views=("whole", "no set-up")):
        for name in names:
            for view in views:
                with self.subTest(job=name, view=view):
                    check(seen(name, view))

    def test_replicas_are_told_with_sizes(self):
        def check(it):
            groups = set()
            for communicator in it.document["communicators"]:
                group = it.groups(communicator)[0]
                if group.name != "data":
                    continue
                self.assertEqual(it.groups(communicator), [group])
                rows = [row for row in it.document["collectives"] if row["communicator"] == communicator["communicator"]]
                self.assertEqual([(row["message_bytes"], row["n_ranks"], row["channels"]) for row in rows],
                                 [(what.size, len(group.members), 1) for what in group.done])
                self.assertIsNotNone(communicator["ring"])
                groups.add(group)
            self.assertEqual(len(groups), sum(group.name == "data" for job in it.jobs for group in job.groups))

        self.each(check)

    def test_what_all_do_is_told_of_each_job_by_itself(self):
        def check(it):
            told = [row for row in it.document["communicators"] if any(group.name == "all" for group in used(it, row))]
            self.assertNotEqual(told, [])
            for communicator in told:
                self.assertEqual(len(used(it, communicator)), 1)
                group, = used(it, communicator)
                rows = [row for row in it.document["collectives"] if row["communicator"] == communicator["communicator"]]
                self.assertEqual([row["n_ranks"] for row in rows], [len(group.members)] * len(group.done))

        self.each(check)
        self.each(check, ["started anew"], ["no tags"])

    def test_all_that_stages_send_is_told(self):
        def check(it):
            told = [row["communicator"] for row in it.document["communicators"]
                    if {group.name for group in used(it, row)} == {"stages"}]
            self.assertNotEqual(told, [])
            for communicator in told:
                rows = [row for row in it.document["collectives"] if row["communicator"] == communicator]
                self.assertEqual({row["collective"] for row in rows}, {SEND_RECV})

        self.each(check, ["stages", "two stages", "used by all"])


class SharedRails(unittest.TestCase):
    def test_no_size_is_a_sum_of_two_replicas(self):
        """On a rail that only the names of hosts tie to the one where loops show more ranks than ports."""
        for view in "whole", "a port is missing":
            it = seen("shared rails", view)
            sizes = {what.size for group in it.jobs[0].groups for what in group.done}
            self.assertLessEqual({row["message_bytes"] for row in it.document["collectives"]}, sizes | {None})
            for row in it.document["communicators"]:
                if row["ring"] is not None:
                    self.assertEqual(len(it.groups(row)), 1)


if __name__ == "__main__":
    main()
