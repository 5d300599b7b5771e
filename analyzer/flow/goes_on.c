#include <decode/opcode.h>

#include "tracker_parts.h"

enum {
	AHEAD = 256, /* PSNs that may be missing where it goes on */
	/* a requester that was silent for so long may send again without being asked to */
	TIMEOUT_NS = 1000000,
};

/* Not acknowledged yet. */
static bool is_open(const struct ft_half *half, uint32_t psn)
{
	return half->next_psn != FT_PSN_NONE && half->acked != FT_PSN_NONE &&
	       ft_psn_distance(psn, half->acked) > 0 && ft_psn_distance(psn, half->next_psn) < 0;
}

static bool is_ahead(uint32_t psn, uint32_t expected)
{
	return expected != FT_PSN_NONE && ft_psn_within(psn, expected, AHEAD + 1);
}

static enum ft_goes_on elsewhere(uint32_t psn, uint32_t expected)
{
	int32_t distance = ft_psn_distance(psn, expected);

	return distance < FT_PSN_WINDOW && distance > -FT_PSN_WINDOW ? FT_GOES_BACK
								     : FT_GOES_ASTRAY;
}

static bool may_send_again(const struct ft_flow *flow, const struct ft_observed *observed)
{
	return (flow->half.flags & (FT_HALF_GOING_BACK | FT_HALF_NAKED)) != 0 ||
	       ft_elapsed(observed->ts_ns, flow->last_ns) >= TIMEOUT_NS;
}

/* Who sends again in one VLAN and new ones in another, in turns, is two. */
static enum ft_goes_on request_goes_on(const struct ft_flow *flow,
				       const struct ft_observed *observed, bool in_turns)
{
	const struct ft_half *half = &flow->half;
	bool going_back = (half->flags & FT_HALF_GOING_BACK) != 0;

	if (is_ahead(observed->psn, half->next_psn))
		return in_turns && going_back ? FT_GOES_ASTRAY : FT_GOES_ON;
	if (is_open(half, observed->psn) && may_send_again(flow, observed))
		return FT_GOES_ON;
	return elsewhere(observed->psn, half->next_psn);
}

static enum ft_goes_on answer_goes_on(const struct ft_flow *flow, const struct ft_flow *peer,
				      const struct ft_observed *observed)
{
	const struct ft_half *half = &flow->half;
	enum ft_goes_on back = elsewhere(observed->psn, half->answered);

	if (is_ahead(observed->psn, half->answer_next) ||
	    is_ahead(observed->psn, ft_psn_add(half->answered, 1)))
		return FT_GOES_ON;
	if (back == FT_GOES_BACK && peer != NULL && (peer->half.flags & FT_HALF_GOING_BACK) != 0)
		return FT_GOES_ON; /* asked again */
	return back;
}

/* The first answer that it gives: for one of the last requests. */
static enum ft_goes_on first_answer_goes_on(const struct ft_flow *peer,
					    const struct ft_observed *observed)
{
	uint32_t next = peer == NULL ? FT_PSN_NONE : peer->half.next_psn;

	if (next == FT_PSN_NONE)
		return FT_GOES_FIRST;
	return ft_psn_within(observed->psn, ft_psn_back(next, AHEAD), AHEAD) ? FT_GOES_ON
									     : FT_GOES_ASTRAY;
}

enum ft_goes_on ft_tracker_goes_on(const struct ft_tracker *tracker, const struct ft_flow *flow,
				   const struct ft_observed *observed, bool in_turns)
{
	const struct ft_flow *peer = ft_tracker_peer(tracker, flow);

	switch ((enum ft_role)ft_operation(observed->opcode)->role) {
	case FT_ROLE_REQUEST:
	case FT_ROLE_QUESTION:
		return flow->half.next_psn != FT_PSN_NONE
			       ? request_goes_on(flow, observed, in_turns)
			       : FT_GOES_FIRST;
	case FT_ROLE_RESPONSE:
	case FT_ROLE_ACKNOWLEDGE:
		return flow->half.answered != FT_PSN_NONE ? answer_goes_on(flow, peer, observed)
							  : first_answer_goes_on(peer, observed);
	case FT_ROLE_NONE:
		return ft_opcode_service(observed->opcode) == FT_UD ? FT_GOES_ASTRAY
								    : FT_GOES_UNSAID;
	case FT_ROLE_CNP:
		break;
	}
	return FT_GOES_UNSAID;
}
