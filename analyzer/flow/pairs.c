#include "pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <decode/opcode.h>

#include "pairs_evidence.h"
#include "pairs_groups.h"
#include "pairs_search.h"
#include "pairs_setups.h"

enum {
	NAMED_BITS = 255,
	DATAGRAM_BITS = 64,
	PORT_BITS = FT_EVIDENCE_PORT,
	WAIT_LONGEST = 255,
	WAIT_ON_TRACK = 7, /* answers between looks that speak for one half, each by .. */
	TRACK_LEAD = 2,    /* .. so many bits at least */
	WAIT_HIDDEN = 7, /* answers until the next look, where the right half may be out of view */
	LEVEL_PORT_ALONE = 4, /* 15 packets without an answer: the source port must do */
	LEVEL_ANY_PORT = 5,   /* 31 packets: the other half may use another source port */
};

struct ft_pairs {
	struct ft_flow_table *table;
	struct ft_groups *groups;
	struct ft_setups *setups;
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

static enum ft_place group_of(const struct ft_member *member)
{
	return member->port != 0 ? FT_PLACE_PORT : FT_PLACE_WAY;
}

/* Let the half be found by those that look for their other half. */
__attribute__((noinline)) static void offer(struct ft_pairs *pairs, struct ft_flow *flow)
{
	struct ft_member *member = ft_groups_member(pairs->groups, flow);

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

/* Both are on their own again, and do not look for each other at once. */
static void unpair(struct ft_pairs *pairs, struct ft_flow *flow)
{
	struct ft_flow *peer;

	if (flow->peer == 0)
		return;
	peer = ft_groups_flow(pairs->groups, flow->peer);
	part_half(flow);
	part_half(peer);
	ft_groups_member(pairs->groups, flow)->wait = WAIT_LONGEST;
	ft_groups_member(pairs->groups, peer)->wait = WAIT_LONGEST;
	offer(pairs, flow);
	offer(pairs, peer);
}

static void set_bits(struct ft_flow *one, struct ft_flow *other, enum ft_paired_by by, int bits)
{
	one->half.paired_by = other->half.paired_by = (uint8_t)by;
	one->half.pair_bits = other->half.pair_bits =
		(uint8_t)(bits < NAMED_BITS ? bits : NAMED_BITS);
}

static void pair(struct ft_pairs *pairs, struct ft_flow *one, struct ft_flow *other,
		 enum ft_paired_by by, int bits)
{
	if ((one->peer | other->peer) != 0) {
		unpair(pairs, one);
		unpair(pairs, other);
	}
	part_half(one);
	part_half(other);
	one->peer = ft_groups_number(pairs->groups, other);
	other->peer = ft_groups_number(pairs->groups, one);
	set_bits(one, other, by, bits);
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
		pair(pairs, flow, other, by, NAMED_BITS);
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
			set_bits(one, other, by, NAMED_BITS);
		return false;
	}
	if (!is_free(pairs, one) || !is_free(pairs, other) || !ft_flow_may_share_vlan(one, other))
		return false;
	pair(pairs, one, other, by, NAMED_BITS);
	return true;
}

/* Two datagram halves belong together when the first packet of each names the other's queue pair. */
static void enter_datagram(struct ft_pairs *pairs, struct ft_flow *flow, struct ft_member *member,
			   const struct ft_observed *observed)
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
		pair(pairs, flow, other, FT_PAIRED_UD_SOURCE_QP, DATAGRAM_BITS);
}

void ft_pairs_enter(struct ft_pairs *pairs, struct ft_flow *flow,
		    const struct ft_observed *observed)
{
	struct ft_member *member = ft_groups_new_member(pairs->groups, flow);

	*member = (struct ft_member){
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
	unpair(pairs, flow);
	ft_groups_part(pairs->groups, flow, FT_PLACE_NONE);
	*ft_groups_member(pairs->groups, flow) = (struct ft_member){ .place = FT_PLACE_NONE };
}

/* --- found by evidence --- */

/* Looks among those with other ports too from now on, and lets itself be found there. */
static void widen(struct ft_pairs *pairs, struct ft_flow *flow, const struct ft_member *member)
{
	if (member->place != FT_PLACE_PORT || flow->half.service == FT_UC)
		return;
	ft_groups_part(pairs->groups, flow, FT_PLACE_ASIDE);
	ft_groups_join(pairs->groups, flow, FT_PLACE_WAY);
}

/* The candidate keeps what it leads by; another one must outweigh that first. */
static void count_lead(struct ft_half *half, const struct ft_find *find)
{
	int bits = half->candidate_bits + find->lead;

	if (half->candidate != find->number) {
		bits = find->lead - half->candidate_bits;
		if (bits > 0)
			half->candidate = find->number;
		else
			bits = -bits;
	}
	half->candidate_bits = (uint8_t)(bits < FT_PAIR_SURE ? bits : FT_PAIR_SURE);
}

/* The right half may yet come into view: this look counts for nothing. */
static void look_later(struct ft_flow *flow, struct ft_member *member)
{
	flow->half.candidate = flow->half.candidate_bits = 0;
	if (member->level == 0 || member->level > LEVEL_ANY_PORT)
		return;
	member->level = (member->level - 1) & 15;
	member->wait = WAIT_HIDDEN;
}

/* Look at the next answer too; later on at some, while they speak for the same half. */
static void stay_on_track(const struct ft_flow *flow, struct ft_member *member,
			  const struct ft_find *find)
{
	if (member->level < FT_MEMBER_LEVEL_LAST)
		member->wait = 0;
	else if (flow->half.candidate == find->number && find->lead >= TRACK_LEAD)
		member->wait = WAIT_ON_TRACK;
}

static struct ft_flow *find_asker(struct ft_pairs *pairs, struct ft_flow *flow,
				  struct ft_member *member, const struct ft_observed *observed)
{
	struct ft_find find = ft_find_asker(pairs->groups, flow, observed);
	struct ft_flow *asker;

	if (find.alone || member->level >= LEVEL_ANY_PORT)
		widen(pairs, flow, member);
	if (find.hidden)
		look_later(flow, member);
	if (find.number == 0 || find.lead <= 0 || find.hidden)
		return NULL;
	count_lead(&flow->half, &find);
	if (flow->half.candidate != find.number || flow->half.candidate_bits < FT_PAIR_LEAD) {
		stay_on_track(flow, member, &find);
		return NULL;
	}
	asker = ft_groups_flow(pairs->groups, find.number);
	pair(pairs, flow, asker, FT_PAIRED_TRANSPORT, flow->half.candidate_bits);
	return asker;
}

static bool sent_by_rule(const struct ft_pairs *pairs, const struct ft_flow *one,
			 const struct ft_flow *other)
{
	uint16_t port = ft_groups_member(pairs->groups, one)->port;

	return port == ft_groups_member(pairs->groups, other)->port &&
	       ft_port_fits_qps(port, one->key.dest_qp, other->key.dest_qp);
}

/* Of a pair that nothing but agreement since PSN 0 speaks for. */
static int young_bits_after(int bits, const struct ft_flow *peer, uint32_t psn)
{
	bits += ft_pair_evidence_young(&peer->half, psn);
	return bits < FT_EVIDENCE_YOUNG_MOST ? bits : FT_EVIDENCE_YOUNG_MOST;
}

/* The evidence for a pair that stands, after one more answer. */
static int bits_after(const struct ft_pairs *pairs, const struct ft_flow *flow,
		      const struct ft_flow *peer, uint32_t psn)
{
	enum ft_standing standing = ft_pair_standing(&peer->half, psn);
	bool by_port = flow->half.paired_by == FT_PAIRED_SOURCE_PORT;
	int bits = flow->half.pair_bits;

	if (standing == FT_STANDING_OUTSIDE)
		return bits + FT_EVIDENCE_OUTSIDE;
	if (psn < FT_EVIDENCE_YOUNG && !by_port && !sent_by_rule(pairs, flow, peer))
		return young_bits_after(bits, peer, psn);
	/* lost on its way here, or in step with the right one */
	if (standing == FT_STANDING_NOT_YET)
		return sent_by_rule(pairs, flow, peer) ? bits : bits + FT_EVIDENCE_UNSEEN;
	if (by_port)
		return bits + ft_pair_evidence(&peer->half, psn);
	return bits + FT_EVIDENCE_AGREEMENT;
}

static struct ft_flow *weigh_again(struct ft_pairs *pairs, struct ft_flow *flow, uint32_t psn)
{
	struct ft_flow *peer = ft_groups_flow(pairs->groups, flow->peer);
	int bits = bits_after(pairs, flow, peer, psn);
	bool by_port = flow->half.paired_by == FT_PAIRED_SOURCE_PORT;

	if (bits < FT_PAIR_LOST) {
		unpair(pairs, flow);
		return NULL;
	}
	if (bits > FT_PAIR_SURE)
		bits = FT_PAIR_SURE;
	if (by_port && bits >= FT_PAIR_LEAD)
		pair(pairs, flow, peer, FT_PAIRED_TRANSPORT, bits);
	else
		set_bits(flow, peer, (enum ft_paired_by)flow->half.paired_by, bits);
	return peer;
}

struct ft_flow *ft_pairs_answer(struct ft_pairs *pairs, struct ft_flow *flow,
				const struct ft_observed *observed)
{
	struct ft_member *member;

	if (flow->peer != 0)
		return ft_pairs_unsure(flow) ? weigh_again(pairs, flow, observed->psn)
					     : ft_groups_flow(pairs->groups, flow->peer);
	member = ft_groups_member(pairs->groups, flow);
	if (member->place == FT_PLACE_DORMANT)
		offer(pairs, flow);
	if (!ft_member_is_due(member))
		return NULL;
	return find_asker(pairs, flow, member, observed);
}

/* Two halves that nobody answers, alone with a source port: UC, or a capture without the answers. */
static void pair_by_port(struct ft_pairs *pairs, struct ft_flow *flow)
{
	struct ft_flow *other = ft_find_alone_with_port(pairs->groups, flow);

	if (other == NULL || other->peer != 0 || other->half.answered != FT_PSN_NONE ||
	    ft_groups_member(pairs->groups, other)->level < LEVEL_PORT_ALONE)
		return;
	pair(pairs, flow, other, FT_PAIRED_SOURCE_PORT, PORT_BITS);
}

/* Nobody answers it. */
__attribute__((noinline)) static void look_by_port(struct ft_pairs *pairs, struct ft_flow *flow,
						   const struct ft_member *member)
{
	if (member->place != FT_PLACE_PORT)
		return;
	pair_by_port(pairs, flow);
	if (flow->peer == 0 && member->level >= LEVEL_ANY_PORT)
		widen(pairs, flow, member);
}

void ft_pairs_request(struct ft_pairs *pairs, struct ft_flow *flow)
{
	struct ft_member *member = ft_groups_member(pairs->groups, flow);

	if (flow->peer != 0)
		return;
	if (member->place == FT_PLACE_DORMANT)
		offer(pairs, flow);
	if (flow->half.answered != FT_PSN_NONE) /* its answers say more */
		return;
	if (!ft_member_is_due(member))
		return;
	if (member->level >= LEVEL_PORT_ALONE)
		look_by_port(pairs, flow, member);
	else if (ft_is_looked_for(pairs->groups, flow))
		widen(pairs, flow, member);
}

void ft_pairs_contradict(struct ft_pairs *pairs, struct ft_flow *flow)
{
	int bits = flow->half.pair_bits + FT_EVIDENCE_OUTSIDE;
	struct ft_flow_key name;

	if (flow->peer == 0)
		return;
	if (bits >= FT_PAIR_LOST) {
		set_bits(flow, ft_groups_flow(pairs->groups, flow->peer),
			 (enum ft_paired_by)flow->half.paired_by, bits);
		return;
	}
	name = named(&flow->key);
	ft_setups_drop(pairs->setups, &name);
	unpair(pairs, flow);
}
