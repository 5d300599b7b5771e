#pragma once

#include "tracker_parts.h"

/*
 * A queue pair may be set up anew and begin behind the PSNs of its last life. After a silence a request there is either that
 * or sent again, for the acknowledgement was lost behind the tap; the next answers tell. Until then the half goes on as in
 * another life, and its former state is kept: a span of kind FT_SPAN_FORMER, always the first of its ring, stands for it.
 */

/* The span of a half whose life is doubted; NULL. */
static inline struct ft_span *ft_former_span(const struct ft_spans *spans,
					     const struct ft_half *half)
{
	struct ft_span *first = half->spans == 0 ? NULL : ft_span_at(spans, half->spans);

	return first != NULL && first->kind == FT_SPAN_FORMER ? first : NULL;
}

/* The first request since the peer may have begun another life. */
bool ft_may_follow_peer(const struct ft_tracker *tracker, const struct ft_flow *flow);

/* Likewise where it is of another sequence than before: then both have, and the half is as with no request seen yet. */
bool ft_follow_peer(struct ft_tracker *tracker, const struct ft_moment *moment);

/* A request behind the expected one, after a silence of both sides: it may begin another life. */
bool ft_may_live_anew(const struct ft_tracker *tracker, const struct ft_moment *moment);

/* Its half is as in another life from now on, with no request seen yet; false: there is no room. */
bool ft_doubt_life(struct ft_tracker *tracker, const struct ft_moment *moment);

/* A request in its order, of a half whose life is doubted: it passed before, or did not. */
void ft_withhold(struct ft_tracker *tracker, const struct ft_moment *moment);

/* Likewise a request behind others of that life: what those had left out. */
void ft_withhold_late(struct ft_tracker *tracker, const struct ft_moment *moment);

/* Such a half has begun behind this PSN, which was answered for before that: an answer to it is of the former life, or sent again. */
bool ft_was_answered(const struct ft_tracker *tracker, const struct ft_flow *flow, uint32_t psn);

/* Packets withheld, if that is a span of such a half. */
uint32_t ft_withheld(const struct ft_tracker *tracker, const struct ft_flow *flow,
		     const struct ft_span *span);

/* Nothing more will tell: they count as sent again. `step` may be NULL. */
void ft_leave_untold(struct ft_tracker *tracker, const struct ft_flow *flow,
		     const struct ft_span *span, struct ft_step *step);

/*
 * Before anything else of a request of such a half: beyond the PSNs of the former life nothing is told any more. True: what
 * was withheld was sent again.
 */
bool ft_hear_request(struct ft_tracker *tracker, const struct ft_moment *moment);

/* Likewise of an answer to such a half: it tells which of the two it is. */
void ft_hear_answer(struct ft_tracker *tracker, const struct ft_moment *moment,
		    struct ft_flow *requester);
