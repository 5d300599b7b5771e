#pragma once

#include <string.h>

#include "pairs_evidence.h"
#include "pairs_groups.h"

/* How well a half-connection fits another one that looks for its other half: by what is the same of both, and by PSNs. */

enum {
	/* where drivers put the source ports they derive from both queue pairs, the same in both directions */
	FT_PAIR_PORT_RULE = 0xc000,
	FT_PAIR_ODD_PORT = 4, /* bits against another port by the rule, where none has the same */
};

/* Who looks, and for what. */
struct ft_pair_question {
	const struct ft_flow *flow;
	const struct ft_group_member *own;
	uint64_t silent_ns; /* who sent nothing since is left out */
	uint32_t psn;
	uint16_t port; /* of `flow`, if derived by the rule; else 0 */
	bool alone;    /* no half faces it from that port, as the rule would have it */
};

static inline struct ft_pair_question ft_pair_question(const struct ft_groups *groups,
						       const struct ft_flow *flow)
{
	const struct ft_group_member *own = ft_groups_member(groups, flow);

	return (struct ft_pair_question){
		.flow = flow,
		.own = own,
		.port = own->port >= FT_PAIR_PORT_RULE ? own->port : 0,
	};
}

static inline bool ft_pair_is_address(const uint8_t one[16], const uint8_t other[16])
{
	uint64_t a[2], b[2];

	memcpy(a, one, sizeof a);
	memcpy(b, other, sizeof b);
	return ((a[0] ^ b[0]) | (a[1] ^ b[1])) == 0;
}

static inline bool ft_pair_is_segment(const struct ft_flow *one, const struct ft_flow *other)
{
	return ((one->key.vni ^ other->key.vni) | (one->key.by_lid ^ other->key.by_lid)) == 0 &&
	       ft_flow_may_share_vlan(one, other);
}

/* It goes the other way. */
static inline bool ft_pair_faces(const struct ft_flow *one, const struct ft_flow *other)
{
	return ft_pair_is_address(one->key.src, other->key.dst) &&
	       ft_pair_is_address(one->key.dst, other->key.src) && ft_pair_is_segment(one, other);
}

/* It goes the same way. */
static inline bool ft_pair_goes_with(const struct ft_flow *one, const struct ft_flow *other)
{
	return ft_pair_is_address(one->key.src, other->key.src) &&
	       ft_pair_is_address(one->key.dst, other->key.dst) && ft_pair_is_segment(one, other);
}

/* Seen from some adapters: the source port is the sender's own queue pair. */
static inline bool ft_pair_names(const struct ft_pair_question *question,
				 const struct ft_flow *candidate, uint16_t port)
{
	uint16_t own = question->own->port;

	return own != 0 && port != 0 && own == candidate->key.dest_qp &&
	       port == question->flow->key.dest_qp;
}

static inline bool ft_pair_fits_both(const struct ft_pair_question *question,
				     const struct ft_flow *candidate, uint16_t port)
{
	return port != 0 && port == question->port &&
	       ft_port_fits_qps(port, candidate->key.dest_qp, question->flow->key.dest_qp);
}

static inline bool ft_pair_is_alike(const struct ft_flow *one, const struct ft_flow *other)
{
	return one->half.service == other->half.service &&
	       (one->first_base == other->first_base || one->first_base == FT_FLOW_NO_BASE ||
		other->first_base == FT_FLOW_NO_BASE);
}

/* Bits that say that the two belong together. */
static inline int ft_pair_weight(const struct ft_pair_question *question,
				 const struct ft_flow *candidate, uint16_t port)
{
	int bits = ft_pair_evidence(&candidate->half, question->psn);

	if (ft_pair_names(question, candidate, port) ||
	    ft_pair_fits_both(question, candidate, port))
		return bits + FT_EVIDENCE_PORT;
	if (question->port != 0 && port >= FT_PAIR_PORT_RULE && port != question->port)
		bits -= question->alone ? FT_PAIR_ODD_PORT : FT_EVIDENCE_PORT;
	if (!ft_pair_is_alike(candidate, question->flow))
		bits -= FT_EVIDENCE_PORT;
	return bits;
}
