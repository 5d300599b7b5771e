#include "exchanges_asked.h"

#include "exchanges.h"
#include "messages.h"

uint32_t ft_answered_from(const struct ft_half *half)
{
	uint32_t first = half->answer_first & FT_PSN_MOST;
	bool responds = half->answer_next != FT_PSN_NONE &&
			ft_psn_add(half->answered, 1) == half->answer_next;

	return responds && ft_psn_within(half->answered, first, FT_WENT_ON_PSNS) ? first
										 : half->answered;
}

uint32_t ft_asked_to(const struct ft_half *half)
{
	uint32_t length = half->message_bytes;

	if ((half->flags & FT_HALF_SPAN_UNKNOWN) == 0 || length == 0 || length == FT_LENGTH_CUT)
		return ft_psn_back(half->next_psn, 1);
	return ft_psn_add(half->message_psn, ft_packets_of(length, ft_least_mtu(half)) - 1);
}

bool ft_is_whole_request(const struct ft_flow *flow)
{
	const struct ft_half *half = &flow->half;

	if (!ft_is_single(flow) || half->message_psn == FT_PSN_NONE)
		return false;
	return (half->flags & FT_HALF_SPAN_UNKNOWN) != 0 ||
	       ((half->flags & FT_HALF_IN_MESSAGE) == 0 &&
		half->message_bytes != FT_LENGTH_UNKNOWN);
}
