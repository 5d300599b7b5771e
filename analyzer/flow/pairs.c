#include "pairs_parts.h"

#include <errno.h>
#include <stdlib.h>

#include <decode/opcode.h>

#include "pairs_evidence.h"

enum {
	NAMED_BITS = 255,
	DATAGRAM_BITS = 64,
	WAIT_LONGEST = 255,
};

int ft_pairs_create(struct ft_pairs **pairs, struct ft_flow_table *table, uint64_t seed)
{
	struct ft_pairs *made = calloc(1, sizeof *made);
	int error = -ENOMEM;

	if (made == NULL)
		return error;
	made->table = table;
	error = ft_groups_create(&made->groups, table, seed);
	if (error != 0)
		goto free_pairs;
	error = ft_setups_create(&made->setups, FT_PAIRS_SETUPS, seed);
	if (error != 0)
		goto destroy_groups;
	*pairs = made;
	return 0;

destroy_groups:
	ft_groups_destroy(made->groups);
free_pairs:
	free(made);
	return error;
}

void ft_pairs_destroy(struct ft_pairs *pairs)
{
	if (pairs == NULL)
		return;
	ft_setups_destroy(pairs->setups);
	ft_groups_destroy(pairs->groups);
	free(pairs);
}

/* --- joining and parting --- */

/* Set-ups and DETHs name addresses and queue pairs; nothing else tells halves apart here. */
static struct ft_flow_key named(const struct ft_flow_key *key)
{
	struct ft_flow_key name = *key;

	name.base = FT_FLOW_ANY_BASE;
	name.vlan = FT_FLOW_ANY_VLAN;
	return name;
}

/* In the VLAN, where several have the addresses and the queue pair. */
static struct ft_flow *find_entered(const struct ft_pairs *pairs, const struct ft_flow_key *key,
				    uint16_t vlan)
{
	struct ft_flow *flow = ft_flow_find_whole(pairs->table, key, vlan);

	if (flow == NULL || ft_groups_member(pairs->groups, flow)->place == FT_PLACE_NONE)
		return NULL;
	return flow;
}

static enum ft_place group_of(const struct ft_group_member *member)
{
	return member->port != 0 ? FT_PLACE_PORT : FT_PLACE_WAY;
}

__attribute__((noinline)) void ft_pairs_offer(struct ft_pairs *pairs, struct ft_flow *flow)
{
	struct ft_group_member *member = ft_groups_member(pairs->groups, flow);

	if ((member->place != FT_PLACE_ASIDE && member->place != FT_PLACE_DORMANT) ||
	    flow->half.service == FT_UD)
		return;
	ft_groups_join(pairs->groups, flow, group_of(member));
}

static void part_half(struct ft_flow *flow)
{
	flow->peer = 0;
	flow->half.paired_by = FT_PAIRED_NOT;
	flow->half.pair_bits = 0;
	flow->half.candidate = 0;
	flow->half.candidate_bits = 0;
}

void ft_pairs_part(struct ft_pairs *pairs, struct ft_flow *flow)
{
	struct ft_flow *peer;

	if (flow->peer == 0)
		return;
	peer = ft_groups_flow(pairs->groups, flow->peer);
	part_half(flow);
	part_half(peer);
	ft_groups_member(pairs->groups, flow)->wait = WAIT_LONGEST;
	ft_groups_member(pairs->groups, peer)->wait = WAIT_LONGEST;
	ft_pairs_offer(pairs, flow);
	ft_pairs_offer(pairs, peer);
}

void ft_pairs_mistook(struct ft_pairs *pairs, struct ft_flow *flow)
{
	struct ft_group_member *peer;

	if (flow->peer == 0)
		return;
	peer = ft_groups_at(pairs->groups, flow->peer);
	ft_pairs_part(pairs, flow);
	ft_member_look_at_once(ft_groups_member(pairs->groups, flow));
	ft_member_look_at_once(peer);
}

void ft_pairs_weigh(struct ft_flow *one, struct ft_flow *other, enum ft_paired_by by, int bits)
{
	one->half.paired_by = other->half.paired_by = by & FT_PAIRED_BITS;
	one->half.pair_bits = other->half.pair_bits =
		(uint8_t)(bits < NAMED_BITS ? bits : NAMED_BITS);
}

void ft_pairs_join(struct ft_pairs *pairs, struct ft_flow *one, struct ft_flow *other,
		   enum ft_paired_by by, int bits)
{
	if ((one->peer | other->peer) != 0) {
		ft_pairs_part(pairs, one);
		ft_pairs_part(pairs, other);
	}
	part_half(one);
	part_half(other);
	one->peer = ft_groups_number(pairs->groups, other);
	other->peer = ft_groups_number(pairs->groups, one);
	ft_pairs_weigh(one, other, by, bits);
	if (by == FT_PAIRED_SOURCE_PORT) /* may turn out to belong to a third */
		return;
	ft_groups_part(pairs->groups, other, FT_PLACE_ASIDE);
	ft_groups_part(pairs->groups, one, FT_PLACE_ASIDE);
}

/* --- named by somebody --- */

static void apply_setup(struct ft_pairs *pairs, struct ft_flow *flow)
{
	struct ft_flow_key name = named(&flow->key);
	enum ft_paired_by by = FT_PAIRED_NOT;
	const struct ft_flow_key *key = ft_setups_find(pairs->setups, &name, &by);
	struct ft_flow *other = key == NULL ? NULL : find_entered(pairs, key, flow->vlan);

	if (other != NULL && other != flow)
		ft_pairs_join(pairs, flow, other, by, NAMED_BITS);
}

void ft_pairs_learn(struct ft_pairs *pairs, const struct ft_flow_key *there,
		    const struct ft_flow_key *back, enum ft_paired_by by)
{
	struct ft_flow_key one = named(there);
	struct ft_flow_key other = named(back);
	struct ft_flow *flow;

	ft_setups_add(pairs->setups, &one, &other, by);
	flow = find_entered(pairs, &one, there->vlan);
	if (flow != NULL)
		apply_setup(pairs, flow);
}

static bool is_free(const struct ft_pairs *pairs, const struct ft_flow *flow)
{
	if (ft_groups_member(pairs->groups, flow)->place == FT_PLACE_NONE)
		return false; /* of CNPs alone, or forgotten */
	return flow->peer == 0 || flow->half.paired_by == FT_PAIRED_SOURCE_PORT;
}

bool ft_pairs_confirm(struct ft_pairs *pairs, struct ft_flow *one, struct ft_flow *other,
		      enum ft_paired_by by)
{
	if (one->peer == ft_groups_number(pairs->groups, other)) {
		if (by < one->half.paired_by)
			ft_pairs_weigh(one, other, by, NAMED_BITS);
		return false;
	}
	if (!is_free(pairs, one) || !is_free(pairs, other) || !ft_flow_may_share_vlan(one, other))
		return false;
	ft_pairs_join(pairs, one, other, by, NAMED_BITS);
	return true;
}

/* Two datagram halves belong together when the first packet of each names the other's queue pair. */
static void enter_datagram(struct ft_pairs *pairs, struct ft_flow *flow,
			   struct ft_group_member *member, const struct ft_observed *observed)
{
	struct ft_flow_key key = ft_flow_key_turned(&flow->key);
	struct ft_flow *other;

	if ((observed->has & FT_OBSERVED_DETH) == 0)
		return;
	member->place = FT_PLACE_DATAGRAM;
	member->next = observed->src_qp;
	key.dest_qp = observed->src_qp;
	other = find_entered(pairs, &key, flow->vlan);
	if (other == NULL || other == flow || other->peer != 0)
		return;
	member = ft_groups_member(pairs->groups, other);
	if (member->place == FT_PLACE_DATAGRAM && member->next == flow->key.dest_qp)
		ft_pairs_join(pairs, flow, other, FT_PAIRED_UD_SOURCE_QP, DATAGRAM_BITS);
}

void ft_pairs_enter(struct ft_pairs *pairs, struct ft_flow *flow,
		    const struct ft_observed *observed)
{
	struct ft_group_member *member = ft_groups_new_member(pairs->groups, flow);

	*member = (struct ft_group_member){
		.port = (observed->has & FT_OBSERVED_UDP) != 0 ? observed->sport : 0,
		.place = FT_PLACE_ASIDE,
	};
	switch (flow->half.service) {
	case FT_UD:
		enter_datagram(pairs, flow, member, observed);
		break;
	case FT_RC:
	case FT_UC:
	case FT_XRC:
		ft_groups_join(pairs->groups, flow, group_of(member));
		if (!ft_setups_are_none(pairs->setups))
			apply_setup(pairs, flow);
		break;
	default:
		break;
	}
}

bool ft_pairs_is_unlike(const struct ft_pairs *pairs, const struct ft_flow *flow)
{
	return flow->half.answered != FT_PSN_NONE && !ft_groups_member(pairs->groups, flow)->fits;
}

uint16_t ft_pairs_port(const struct ft_pairs *pairs, const struct ft_flow *flow)
{
	return ft_groups_member(pairs->groups, flow)->port;
}

/* A set-up that was used is over with the half it named: queue pair numbers come again. */
static void use_up_setup(struct ft_pairs *pairs, const struct ft_flow *flow)
{
	const struct ft_half *half = &flow->half;
	bool named_by_setup = half->paired_by == FT_PAIRED_CM || half->paired_by == FT_PAIRED_NCCL;
	bool used = half->next_psn != FT_PSN_NONE || half->answered != FT_PSN_NONE;
	struct ft_flow_key name = named(&flow->key);

	if (named_by_setup && used)
		ft_setups_drop(pairs->setups, &name);
}

void ft_pairs_leave(struct ft_pairs *pairs, struct ft_flow *flow)
{
	use_up_setup(pairs, flow);
	ft_pairs_part(pairs, flow);
	ft_groups_part(pairs->groups, flow, FT_PLACE_NONE);
	*ft_groups_member(pairs->groups, flow) = (struct ft_group_member){ .place = FT_PLACE_NONE };
}

void ft_pairs_contradict(struct ft_pairs *pairs, struct ft_flow *flow, int evidence)
{
	int bits = flow->half.pair_bits + evidence;
	struct ft_flow_key name;

	if (flow->peer == 0)
		return;
	if (bits >= FT_PAIR_LOST) {
		ft_pairs_weigh(flow, ft_groups_flow(pairs->groups, flow->peer),
			       (enum ft_paired_by)flow->half.paired_by, bits);
		return;
	}
	name = named(&flow->key);
	ft_setups_drop(pairs->setups, &name);
	ft_pairs_part(pairs, flow);
}
