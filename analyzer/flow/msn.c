#include "answers.h"

/* What the count of messages in answers (MSN) says: IBA vol. 1, 9.7.7.1. */

/* The largest hole among what an answer up to `delivered` newly says was delivered; NULL: none. */
static const struct ft_span *newly_spanned(const struct ft_spans *spans, const struct ft_half *half,
					   uint32_t delivered)
{
	const struct ft_span *largest = NULL;
	uint32_t number = half->spans;

	for (unsigned left = half->span_count; left != 0; left--) {
		const struct ft_span *span = ft_span_at(spans, number);

		if ((FT_SPANS_HOLES >> span->kind & 1) != 0 && !ft_is_acked(half, span->from) &&
		    ft_psn_distance(delivered, span->from) >= 0 &&
		    (largest == NULL || span->count > largest->count))
			largest = span;
		number = span->next;
	}
	return largest;
}

/* Whether a message that ended behind the hole is among what was delivered. */
static bool ended_behind(const struct ft_half *half, const struct ft_span *hole, uint32_t delivered)
{
	uint32_t behind = half->message_psn;

	return behind != FT_PSN_NONE &&
	       ft_psn_distance(behind, ft_psn_add(hole->from, hole->count)) > 0 &&
	       ft_psn_distance(ft_psn_add(delivered, 1), behind) >= 0;
}

/* The shorter it is, the likelier is a loss: then it takes a pause as well, in which a queue pair can be set up. */
static bool may_part_lives(const struct ft_span *hole)
{
	return hole->count >= FT_WENT_ON_PSNS ||
	       (hole->count >= FT_LONG_PSNS && hole->before_ns != 0 &&
		ft_elapsed(hole->ts_ns, hole->before_ns) >= FT_SILENT_NS);
}

/*
 * One behind which a message begins: what was being sent before it, or had been and was not answered for, ended before that
 * message, and was not counted yet.
 */
static bool hides_an_end(const struct ft_half *half, const struct ft_span *hole)
{
	return hole->kind == FT_SPAN_HOLE && hole->begins &&
	       (hole->begin != hole->from || !ft_is_acked(half, ft_psn_back(hole->from, 1)));
}

/*
 * Whether the messages counted since the last answer are fewer than ended behind a long hole alone, and all that were ever
 * counted no more than a new life may have had: some responders do not count at all.
 */
static bool counts_too_few(const struct ft_half *half, const struct ft_span *hole,
			   uint32_t delivered, uint32_t msn, int32_t counted)
{
	int32_t behind = ft_psn_distance(delivered, ft_psn_add(hole->from, hole->count)) + 1;
	uint64_t ended = hole->ended;

	if (!may_part_lives(hole) || behind <= 0 || msn > (uint32_t)behind + FT_SETTLE_PSNS)
		return false;
	if (counted == 0 && ended_behind(half, hole, delivered))
		return true;
	if (hole->count < FT_WENT_ON_PSNS)
		return false;
	if (behind < FT_SPAN_ENDED)
		ended &= (UINT64_C(1) << behind) - 1;
	return counted < __builtin_popcountll(ended) + hides_an_end(half, hole);
}

/* For cheap: a long hole is the first of what is open. */
static bool is_behind_long(const struct ft_spans *spans, const struct ft_half *half)
{
	return half->spans != 0 && ft_span_at(spans, half->spans)->count >= FT_LONG_PSNS;
}

/*
 * A responder counts the messages it completes, from 0 when the queue pair is set up (MSN; IBA vol. 1, 9.7.7.1). A count
 * that goes back while PSNs go on, or goes on by fewer than were completed, is of another life, whose PSNs happen to begin
 * near those of the last: what lies between is no hole.
 */
void ft_watch_msn(struct ft_tracker *tracker, const struct ft_moment *moment,
		  struct ft_flow *requester, uint32_t delivered)
{
	struct ft_half *half = &moment->flow->half;
	uint32_t known = half->msn, next_psn = requester->half.next_psn;
	const struct ft_span *hole;
	int32_t counted;

	if ((moment->observed->has & FT_OBSERVED_AETH) == 0 ||
	    ft_is_acked(&requester->half, delivered))
		return;
	ft_note_msn(moment);
	counted = ft_psn_distance(half->msn, known);
	if ((half->msn | known) == 0 ||
	    (counted >= 0 && !is_behind_long(&tracker->spans, &requester->half)))
		return;
	hole = newly_spanned(&tracker->spans, &requester->half, delivered);
	if (hole == NULL)
		return;
	if (counted >= 0 && !counts_too_few(&requester->half, hole, delivered, half->msn, counted))
		return;
	ft_spans_drop(&tracker->spans, &requester->half, FT_SPANS_HOLES);
	ft_begin_both(tracker, requester, moment->flow, moment->step);
	requester->half.next_psn = next_psn;
}
