#include "straight_play.h"

struct follow *audit_start(void)
{
	const struct ft_nccl_config config = { .connections = 4,
					       .findings = FOUND_MAX,
					       .ends_only = true };

	return follow_start_with('E', &config);
}

const struct ft_nccl_followed *only_one(const struct follow *follow)
{
	assert_int_equal(follow->connections->count, 1);
	return follow->connections->all[0];
}

bool is_straight(const struct follow *follow)
{
	return only_one(follow)->straight->is_on;
}

uint64_t pass(struct follow *follow, const struct packet *packet)
{
	const struct ft_nccl_seen seen = seen_of(packet, follow->frame + 1);

	if (!goes_straight(follow->connections, &seen, packet->qpn, 0))
		return follow_packet(follow, packet);
	return ++follow->frame;
}

uint64_t pass_cts(struct follow *follow, uint64_t k)
{
	struct packet packet = cts_of(follow, k);

	follow->cts_psn++;
	return pass(follow, &packet);
}
