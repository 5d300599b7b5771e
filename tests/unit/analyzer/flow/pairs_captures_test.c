#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "replay.h"

/*
 * Real connections, paired by evidence alone (set-up messages are not shown to the tracker), against
 * what the programs at both ends said: tests/data/pairs.
 */
enum { ENDS = 64 };

struct end {
	uint8_t address[16];
	uint32_t qpn;
};

/* Ends 2n and 2n + 1 are connected. */
struct truth {
	struct end ends[ENDS];
	unsigned count;
};

static void read_address(const char *text, uint8_t address[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (inet_pton(AF_INET6, text, address) == 1)
		return;
	memcpy(address, mapped, sizeof mapped);
	assert_int_equal(inet_pton(AF_INET, text, address + sizeof mapped), 1);
}

static void read_truth(const char *name, struct truth *truth)
{
	char path[256], one[64], other[64];
	unsigned one_qpn, other_qpn;
	FILE *file;

	snprintf(path, sizeof path, FT_TEST_DATA "/pairs/%s.txt", name);
	file = fopen(path, "r");
	assert_non_null(file);
	truth->count = 0;
	while (fscanf(file, "%63s %u %63s %u", one, &one_qpn, other, &other_qpn) == 4) {
		struct end *end = &truth->ends[truth->count];

		assert_true(truth->count + 2 <= ENDS);
		read_address(one, end[0].address);
		read_address(other, end[1].address);
		end[0].qpn = one_qpn;
		end[1].qpn = other_qpn;
		truth->count += 2;
	}
	assert_int_equal(ferror(file), 0);
	fclose(file);
}

/* The end that sends to this half's queue pair; NULL: not told. */
static const struct end *sender_of(const struct truth *truth, const struct ft_flow *flow)
{
	for (unsigned i = 0; i < truth->count; i++) {
		const struct end *to = &truth->ends[i], *from = &truth->ends[i ^ 1];

		if (to->qpn == flow->key.dest_qp &&
		    memcmp(to->address, flow->key.dst, sizeof to->address) == 0 &&
		    memcmp(from->address, flow->key.src, sizeof from->address) == 0)
			return from;
	}
	return NULL;
}

struct score {
	const struct truth *truth;
	struct ft_flow_table *table;
	unsigned right, wrong, missed; /* halves; missed: both were seen */
};

static bool judge(void *context, const struct ft_flow *flow)
{
	struct score *score = context;
	const struct end *sender = sender_of(score->truth, flow);
	struct ft_flow_key back = flow->key;

	if (sender == NULL)
		return true;
	if (flow->peer != 0) {
		bool is_right = ft_flow_at(score->table, flow->peer)->key.dest_qp == sender->qpn;

		score->right += is_right;
		score->wrong += !is_right;
		return true;
	}
	memcpy(back.src, flow->key.dst, sizeof back.src);
	memcpy(back.dst, flow->key.src, sizeof back.dst);
	back.dest_qp = sender->qpn;
	score->missed +=
		ft_flow_find(score->table, &back, ft_flow_hash(score->table, &back)) != NULL;
	return true;
}

struct drill {
	uint64_t random;
	unsigned percent;
};

static bool is_lost(void *context, uint64_t frame)
{
	struct drill *drill = context;

	(void)frame;
	drill->random ^= drill->random << 13;
	drill->random ^= drill->random >> 7;
	drill->random ^= drill->random << 17;
	return drill->random % 100 < drill->percent;
}

static struct score run(const char *path, const struct truth *truth, struct drill *drill)
{
	struct replay replay = { .lost = drill == NULL ? NULL : is_lost, .context = drill };
	struct score score = { .truth = truth };

	replay_open(&replay);
	assert_true(replay_file(&replay, path));
	score.table = replay.table;
	ft_flow_each(replay.table, judge, &score);
	replay_close(&replay);
	return score;
}

static const struct {
	const char *truth;
	const char *path;
	bool shared;
	unsigned right; /* halves */
} cases[] = {
	{ "nccl-emul-4rank-2qp-jumbo", "pairs/nccl-emul-4rank-2qp-jumbo-cut96.pcap.gz", false, 32 },
	{ "perftest-rc-v4", "pairs/perftest-rc-v4-cut96.pcap.gz", false, 24 },
	{ "rc-verbs-v4-mtu1024", "captures/rc-verbs-v4-mtu1024.pcap", false, 6 },
	{ "rc-verbs-v4-mtu4096", "captures/mirror-erspan2-cut128.pcap", false, 4 },
	{ "reorder-dup-v4", "captures/reorder-dup-v4.pcap", false, 2 },
	{ "rnr-nak-v4", "captures/rnr-nak-v4.pcap", false, 4 },
	{ "roce-v6", "captures/roce-v6.pcap", false, 6 },
	{ "roce-v6-linklocal", "captures/roce-v6-linklocal.pcap", false, 2 },
	{ "rocev1-rc-verbs", "captures/rocev1-rc-verbs.pcap", false, 6 },
	{ "vlan-v4", "captures/vlan-v4.pcap", false, 2 },
	{ "nccl-emul-3rank-checkpoint", "captures/snap128-nccl-emul.pcap", false, 18 },
	{ "nccl-emul-2rank", "captures/mirror-erspan2.pcap", true, 4 },
	{ "nccl-emul-4rank-ar-oldfifo", "captures/loss1pct-nccl-emul.pcap", true, 8 },
	{ "nccl-emul-long-snap160", "captures/nccl-emul-long-snap160.pcap", true, 12 },
	{ "loss-rc-v4", "captures/loss-rc-v4.pcap", true, 6 },
	{ "mirror-erspan3", "captures/mirror-erspan3.pcap", true, 6 },
};

enum { CASES = sizeof cases / sizeof cases[0] };

/* NULL: not to be had here. */
static const char *path_of(unsigned i)
{
	static char path[256];

	if (cases[i].shared)
		return replay_shared(cases[i].path);
	snprintf(path, sizeof path, FT_TEST_DATA "/%s", cases[i].path);
	return path;
}

static void every_connection_seen_from_both_sides_is_paired_right(void **state)
{
	(void)state;
	for (unsigned i = 0; i < CASES; i++) {
		const char *path = path_of(i);
		struct truth truth;
		struct score score;

		if (path == NULL)
			continue;
		read_truth(cases[i].truth, &truth);
		score = run(path, &truth, NULL);
		print_message("%s: %u right, %u wrong, %u missed\n", cases[i].truth, score.right,
			      score.wrong, score.missed);
		assert_int_equal(score.wrong, 0);
		assert_int_equal(score.missed, 0);
		assert_int_equal(score.right, cases[i].right);
	}
}

static void a_lossy_mirror_pairs_nothing_wrong(void **state)
{
	(void)state;
	for (unsigned percent = 1; percent <= 60; percent += percent == 1 ? 9 : 25) {
		struct drill drill = { .random = 88172645463325252u, .percent = percent };
		unsigned right = 0, missed = 0;

		for (unsigned i = 0; i < CASES; i++) {
			const char *path = cases[i].shared ? NULL : path_of(i);
			struct truth truth;
			struct score score;

			if (path == NULL)
				continue;
			read_truth(cases[i].truth, &truth);
			score = run(path, &truth, &drill);
			assert_int_equal(score.wrong, 0);
			right += score.right;
			missed += score.missed;
		}
		print_message("%u %% lost: %u right, %u missed\n", percent, right, missed);
		assert_true(missed * 10 <= right);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_connection_seen_from_both_sides_is_paired_right),
		cmocka_unit_test(a_lossy_mirror_pairs_nothing_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
