/* Other halves found by evidence: by answers, or by the source port. */
#include "pairs_parts.h"

#include <decode/opcode.h>

#include "pairs_evidence.h"
#include "pairs_search.h"

enum {
	PORT_BITS = FT_EVIDENCE_PORT,
	WAIT_ON_TRACK = 7, /* answers between looks that speak for one half, each by .. */
	TRACK_LEAD = 2,    /* .. so many bits at least */
	WAIT_HIDDEN = 7, /* answers until the next look, where the right half may be out of view */
	LEVEL_PORT_ALONE = 4, /* 15 packets without an answer: the source port must do */
	LEVEL_ANY_PORT = 5,   /* 31 packets: the other half may use another source port */
};

/* Looks among those with other ports too from now on, and lets itself be found there. */
static void widen(struct ft_pairs *pairs, struct ft_flow *flow,
		  const struct ft_group_member *member)
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
static void look_later(struct ft_flow *flow, struct ft_group_member *member)
{
	flow->half.candidate = flow->half.candidate_bits = 0;
	if (member->level == 0 || member->level > LEVEL_ANY_PORT)
		return;
	member->level = (member->level - 1) & 15;
	member->wait = WAIT_HIDDEN;
}

/* Look at the next answer too; later on at some, while they speak for the same half. */
static void stay_on_track(const struct ft_flow *flow, struct ft_group_member *member,
			  const struct ft_find *find)
{
	if (member->level < FT_MEMBER_LEVEL_LAST)
		member->wait = 0;
	else if (flow->half.candidate == find->number && find->lead >= TRACK_LEAD)
		member->wait = WAIT_ON_TRACK;
}

static struct ft_flow *find_asker(struct ft_pairs *pairs, struct ft_flow *flow,
				  struct ft_group_member *member,
				  const struct ft_observed *observed)
{
	struct ft_find find = ft_find_asker(pairs->groups, flow, observed);
	struct ft_flow *asker;

	member->fits = find.fits;
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
	ft_pairs_join(pairs, flow, asker, FT_PAIRED_TRANSPORT, flow->half.candidate_bits);
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
		ft_pairs_part(pairs, flow);
		return NULL;
	}
	if (bits > FT_PAIR_SURE)
		bits = FT_PAIR_SURE;
	if (by_port && bits >= FT_PAIR_LEAD)
		ft_pairs_join(pairs, flow, peer, FT_PAIRED_TRANSPORT, bits);
	else
		ft_pairs_weigh(flow, peer, (enum ft_paired_by)flow->half.paired_by, bits);
	return peer;
}

struct ft_flow *ft_pairs_answer(struct ft_pairs *pairs, struct ft_flow *flow,
				const struct ft_observed *observed)
{
	struct ft_group_member *member;

	if (flow->peer != 0)
		return ft_pairs_unsure(flow) ? weigh_again(pairs, flow, observed->psn)
					     : ft_groups_flow(pairs->groups, flow->peer);
	member = ft_groups_member(pairs->groups, flow);
	if (member->place == FT_PLACE_DORMANT)
		ft_pairs_offer(pairs, flow);
	/* waits that came of its requests say nothing about answers */
	if (flow->half.answered == FT_PSN_NONE)
		ft_member_look_at_once(member);
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
	ft_pairs_join(pairs, flow, other, FT_PAIRED_SOURCE_PORT, PORT_BITS);
}

/* Nobody answers it. */
__attribute__((noinline)) static void look_by_port(struct ft_pairs *pairs, struct ft_flow *flow,
						   const struct ft_group_member *member)
{
	if (member->place != FT_PLACE_PORT)
		return;
	pair_by_port(pairs, flow);
	if (flow->peer == 0 && member->level >= LEVEL_ANY_PORT)
		widen(pairs, flow, member);
}

void ft_pairs_request(struct ft_pairs *pairs, struct ft_flow *flow)
{
	struct ft_group_member *member = ft_groups_member(pairs->groups, flow);

	if (flow->peer != 0)
		return;
	if (member->place == FT_PLACE_DORMANT)
		ft_pairs_offer(pairs, flow);
	if (flow->half.answered != FT_PSN_NONE) /* its answers say more */
		return;
	if (!ft_member_is_due(member))
		return;
	if (member->level >= LEVEL_PORT_ALONE)
		look_by_port(pairs, flow, member);
	else if (ft_is_looked_for(pairs->groups, flow))
		widen(pairs, flow, member);
}
