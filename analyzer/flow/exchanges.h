#pragma once

#include "tracker_parts.h"

/*
 * Connections of one request each: no sequence of theirs shows what is missing. But an answer shows that its request crossed, so
 * that of the requests whose answer is in view each is here, or is missing.
 */

/* All that this half has sent is a packet of a reliable connection. */
static inline bool ft_is_single(const struct ft_flow *flow)
{
	return flow->packets == 1 && (flow->half.service == FT_RC || flow->half.service == FT_XRC);
}

/*
 * Tell `evidence` of those in the table whose first frame is behind the first FT_LOSS_FIRST_FRAMES: requests with an answer, and each
 * without the other. Halves of which it is not known which belong together are taken to, by the PSNs, if their addresses allow it.
 * Not where halves had to be forgotten, which may have been the other one. Requests that an answer proves lost which is to one soon
 * behind all of its half are holes, and counted in `totals`; doubtful ones, for they may have passed before, and what was seen be
 * sent again.
 */
void ft_count_exchanges(const struct ft_tracker *tracker, struct ft_tracker_totals *totals,
			struct ft_loss_evidence *evidence);
