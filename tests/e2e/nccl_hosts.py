"""NCCL jobs with several ranks on a host are made as the specification has them."""

import unittest

import nccl_hosts_made as made
from harness import main
from nccl_hosts_made import ALL_REDUCE, LL, SIMPLE
from nccl_hosts_worlds import ALL, ON_OWN_RAILS, bytes_written, data_of


class Made(unittest.TestCase):
    """What is made is what the specification says."""

    def each(self, check):
        """check(its group, channel, share of it, what, messages by connection) of each operation of each world"""
        for name, make in ALL.items():
            with self.subTest(world=name):
                for group in make().groups:
                    for what, messages in group.done:
                        for circle, share in zip(group.circles, made.shares(what.size, len(group.circles))):
                            check(circle, share, what, [sorted(k for link, k in messages if link == one.number) for one in circle.links])

    def test_channels_lead_through_all_ranks_host_by_host(self):
        for name, make in ALL.items():
            cluster = make()
            for group, circle in ((group, circle) for group in cluster.groups for circle in group.circles):
                each, host = len(group.members[0]), cluster.ports
                for i, link in enumerate(circle.links):
                    self.assertEqual(sorted(circle.ranks[i * each:(i + 1) * each]), group.members[i], name)
                    self.assertEqual(link.rank, circle.ranks[(i + 1) * each - 1])
                    self.assertEqual(circle.receiver(link), circle.ranks[(i + 1) * each % len(circle.ranks)])
                    self.assertTrue(link.sender[0] in host[i] and link.receiver[0] in host[(i + 1) % len(host)])
                    self.assertEqual(circle.receiver(circle.links[i - 1]) == link.rank, each == 1)

    def test_on_rails_of_their_own_all_ranks_send(self):
        for name in ON_OWN_RAILS:
            cluster = ALL[name]()
            self.assertEqual({link.rank for link in cluster.connections}, set(cluster.groups[0].ranks), name)
            self.assertEqual({link.sender[0][:3] for link in cluster.connections}, {port[:3] for port in cluster.ports[0]})
            self.assertTrue(all(link.sender[0][:3] == link.receiver[0][:3] for link in cluster.connections))

    def test_hosts_send_what_they_have_to(self):
        """Section 7.1: to the next one 2S(N-1)/N bytes of an all-reduce, else what N-1 ranks have; a chunk may be 12 bytes shorter."""
        def check(circle, share, what, messages):
            ranks, written = len(circle.ranks), bytes_written(circle.cluster)
            for link, numbers in zip(circle.links, messages):
                sent = [written[link.number, k] for k in numbers]
                data = sum(sent) if what.protocol == SIMPLE else sum(sent) / 2
                wanted = 2 * share * (ranks - 1) / ranks if what.collective == ALL_REDUCE else share * (ranks - 1)
                self.assertLessEqual(abs(data - wanted), 16 if what.collective == ALL_REDUCE else 4 * len(numbers) * (what.protocol == LL))

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


if __name__ == "__main__":
    main()
