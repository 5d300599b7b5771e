"""Training jobs of which ports or processes are easily taken for others: GPUs that share a port, so that replicas are busy at the same
ports at the same time; communicators of the same processes of which an operation or two is in view; one port alone, at which a process
has one rank in each communicator; jobs before 2.12, whose clear-to-sends name nobody; and several queue pairs with holes, where
messages have no numbers."""

import unittest

import nccl_training
from harness import main
from nccl_training_made import BROADCAST
from nccl_training_worlds import ADDRESSES, VIEWS, all_of, is_set_up, job, lossy

SHARED = {
    "numbered anew": lambda: [job(55, 4, 2, 1, experts=False)],
    "numbered alike": lambda: [job(55, 4, 2, 1, experts=False, own=False)],
    "without trees": lambda: [job(33, 4, 2, 1, experts=False, trees=False, channels=2, iterations=1)],
    "two hosts": lambda: [job(34, 2, 2, 1, experts=False, iterations=1)],
    "of four": lambda: [job(35, 3, 4, 1, experts=False, own=False, layers=1)],
}
JOBS = {
    **SHARED,
    "the same members": lambda: [job(36, 6, 1, 1, experts=False, layers=1, iterations=1)],
    "the same members, several queue pairs": lambda: [job(37, 4, 1, 1, experts=False, layers=1, iterations=1, sets=2)],
    "experts": lambda: [job(38, 4, 2, 2, layers=1, iterations=1)],
    "four queue pairs": lambda: [job(81, 4, 2, 2, experts=False, trees=False, sets=4, layers=3)],
    "before 2.12": lambda: [job(39, 4, 2, 2, experts=False, trees=False, release=(9, 9))],
}


def at_port(jobs, frames):
    port = jobs[0].ports[0][0]
    return [frame for frame in frames if port in (frame.bytes[at:at + 4] for at in (ADDRESSES, ADDRESSES + 4))]


MORE_VIEWS = {
    **VIEWS,
    "one port": lambda jobs: at_port(jobs, all_of(jobs)),
    "middle, no set-up": lambda jobs: [frame for frame in VIEWS["middle"](jobs) if not is_set_up(frame)],
    "lossy, no set-up": lambda jobs: lossy([frame for frame in all_of(jobs) if not is_set_up(frame)], 0.002),
}


seen = nccl_training.seen_of(JOBS, MORE_VIEWS)


class Wrong(nccl_training.Wrong):
    jobs, views, seen = JOBS, MORE_VIEWS, staticmethod(seen)

    def test_an_operation_is_of_one_communicator(self):
        """Whole: its row begins and ends with it, or with what one of its channels had."""
        def check(it):
            ends = {frame for row in it.document["communicators"] for one in it.operations_by_channel(row) for frame in one}
            for row in it.document["collectives"]:
                if row["n_ranks"] is not None:
                    self.assertLessEqual({row["first_frame"], row["last_frame"]}, ends, row)

        self.each(check, ["whole"])

    def test_an_operation_has_nothing_of_the_one_before(self):
        def check(it):
            of = {row["communicator"]: list(it.operations(row)) for row in it.document["communicators"]}
            for row in it.document["collectives"]:
                if row["n_ranks"] is not None:
                    self.assertTrue([what for _, what, first, last in of[row["communicator"]]
                                     if first <= row["first_frame"] and row["last_frame"] <= last], row)

        self.each(check, ["whole", "no set-up", "lossy", "lossy, no set-up"])


class Shared(unittest.TestCase):
    """Replicas that nothing but who waits for whom tells apart."""

    def test_each_is_told_by_itself(self):
        for name in "numbered anew", "numbered alike":
            it = seen(name, "whole")
            of_data = [it.groups(row) for row in it.document["communicators"] if {group.name for group in it.groups(row)} == {"data"}]
            self.assertEqual([len(groups) for groups in of_data], [1, 1])
            self.assertEqual(len({groups[0] for groups in of_data}), 2)

    def test_their_operations_are_told(self):
        """With sizes where ranks tell the replicas apart; else one could be a channel of the other."""
        for name in "numbered anew", "numbered alike":
            it = seen(name, "whole")
            for communicator in it.document["communicators"]:
                group = it.groups(communicator)[0]
                if group.name != "data":
                    continue
                told = [row for row in it.document["collectives"] if row["communicator"] == communicator["communicator"]]
                with self.subTest(job=name):
                    self.assertEqual([(row["algorithm"], row["n_ranks"]) for row in told],
                                     [("RING", None if what.what == BROADCAST else 4) for what in group.done])
                    sized = name == "numbered alike"
                    self.assertEqual([(row["message_bytes"], row["channels"]) for row in told],
                                     [(what.size, 1) if sized else (None, None) for what in group.done])

    def test_processes_of_one_port_have_their_ranks(self):
        it = seen("experts", "one port")
        named = [row["sender"]["rank"] is not None for row in it.document["connections"]]
        self.assertGreater(sum(named), 0.5 * len(named))


if __name__ == "__main__":
    main()
