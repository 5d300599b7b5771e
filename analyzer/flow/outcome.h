#pragma once

#include "tracker_parts.h"

/* What a span comes to. */
struct ft_span_outcome {
	uint32_t lost;    /* by the mirror */
	uint32_t open;    /* PSNs missing, by whom is not known */
	uint32_t pending; /* packets that these are, where an answer was still due */
	uint32_t
		vague; /* PSNs that what is lost or pending had, READs perhaps; 0: as many as packets */
	bool doubtful; /* what is lost was so only if the mirror loses elsewhere too */
	bool missing;  /* what is open is just so many packets */
};

/* If nothing more is seen. */
struct ft_span_outcome ft_outcome_of(const struct ft_tracker *tracker, const struct ft_flow *flow,
				     const struct ft_span *span);

/*
 * filled.c: where the first hole begins of those that are being filled from their beginning, by three packets and more; FT_PSN_NONE:
 * there is none. And whether this span is such a hole, or one behind that.
 */
uint32_t ft_filled_from(const struct ft_tracker *tracker, const struct ft_half *half);
bool ft_is_to_come(const struct ft_half *half, const struct ft_span *span, uint32_t filled_from);

/* Late packets had time to come; `now_ns`: of a packet that is not sent again. */
bool ft_is_ripe(const struct ft_tracker *tracker, const struct ft_flow *flow,
		const struct ft_span *span, uint64_t now_ns);

/* The half went on so far behind it that it was delivered, whether or not an answer says so; and what that comes to. */
bool ft_is_delivered(const struct ft_flow *flow, const struct ft_span *span);
struct ft_span_outcome ft_outcome_delivered(const struct ft_tracker *tracker,
					    const struct ft_flow *flow, const struct ft_span *span);

/*
 * The halves meet: responses to READs that lie in a hole of its requests took PSNs there, and passed before it was known
 * whose they are. What was answered for is from now on as many packets as it is at least.
 */
void ft_outcome_narrow(const struct ft_tracker *tracker, const struct ft_half *half);

/*
 * middles.c: what so many packets missing between the First and the Last of a message count for among those of which nothing else is
 * here. Chance leaves a Middle beside them sooner or later, and seldom hits both ends of many.
 */
unsigned ft_hollow(uint32_t missing);

/* middles.c: how many of the packets lost or pending are Middles, if no such is in view, and whether any is. */
void ft_tell_middles(struct ft_loss_evidence *evidence, const struct ft_span *span,
		     const struct ft_span_outcome *outcome);

/* Count it; `evidence` may be NULL. */
void ft_outcome_add(struct ft_tracker_totals *totals, struct ft_loss_evidence *evidence,
		    const struct ft_span *span, struct ft_span_outcome outcome);
