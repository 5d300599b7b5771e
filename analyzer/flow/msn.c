#include "answers.h"

/* What the count of messages in answers (MSN) says: IBA vol. 1, 9.7.7.1. */

enum {
	FAR_FEWER = 4, /* times */
	FEW_UNSEEN =
		8, /* messages of a life that may have been lost before the first of it that passed */
};

/* Whether a message that ended behind the hole is among what was delivered. */
static bool ended_behind(const struct ft_half *half, const struct ft_span *hole, uint32_t delivered)
{
	uint32_t behind = half->message_psn;

	return behind != FT_PSN_NONE &&
	       ft_psn_distance(behind, ft_psn_add(hole->from, hole->count)) > 0 &&
	       ft_psn_distance(ft_psn_add(delivered, 1), behind) >= 0;
}

/* Not all of it was answered for. */
static bool is_open_hole(const struct ft_half *half, const struct ft_span *span)
{
	return (FT_SPANS_HOLES >> span->kind & 1) != 0 &&
	       !ft_psn_covers(half->acked, span->from, span->count);
}

/* Nobody sent for as long as it takes to set up a queue pair. */
static bool is_behind(const struct ft_span *hole, uint64_t pause_ns)
{
	return hole->before_ns != 0 && ft_elapsed(hole->ts_ns, hole->before_ns) >= pause_ns;
}

static bool is_behind_pause(const struct ft_span *hole)
{
	return is_behind(hole, FT_SILENT_NS);
}

/* The shorter it is, the likelier is a loss: then it takes a pause as well. */
static bool may_part_lives(const struct ft_span *hole)
{
	return hole->count >= FT_WENT_ON_PSNS ||
	       (hole->count >= FT_LONG_PSNS && is_behind_pause(hole));
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

/* A message begins in it after a silence. One that has not ended behind it would be longer than any is. */
static bool hides_a_life(const struct ft_span *hole)
{
	return hole->count >= FT_WENT_ON_PSNS && hole->begin == hole->from &&
	       is_behind(hole, FT_ANEW_NS);
}

/* Messages that ended among the first `packets` behind the hole, FT_SPAN_ENDED at most. */
static int32_t ended_among(const struct ft_span *hole, int32_t packets)
{
	uint64_t ended = hole->ended;

	if (packets < FT_SPAN_ENDED)
		ended &= (UINT64_C(1) << packets) - 1;
	return __builtin_popcountll(ended);
}

/*
 * All that was ever counted ended behind the hole, behind which a message begins: of a life that had sent before it, at least
 * one message more had ended.
 */
static bool counts_from_hole(const struct ft_span *hole, int32_t behind, uint32_t msn)
{
	return hole->begins && msn != 0 && (int32_t)msn <= ended_among(hole, behind);
}

/*
 * Behind a pause: no message was counted beyond those that ended behind the hole, though one ended right before what begins
 * there. Or all that was counted may have ended behind the hole, and far fewer in it than messages of the size of those would be.
 */
static bool counts_far_too_few(const struct ft_span *hole, int32_t behind, int32_t msn,
			       int32_t counted)
{
	int32_t ended = ended_among(hole, behind);
	int32_t packets = behind < FT_SPAN_ENDED ? behind : FT_SPAN_ENDED;
	int32_t unseen = is_behind(hole, FT_ANEW_NS) ? FEW_UNSEEN : 0;

	if (hole->count < FT_LONG_PSNS || msn == 0 || msn > behind + unseen)
		return false;
	return (hole->begins && counted <= ended) ||
	       (int64_t)FAR_FEWER * packets * (counted - ended) < (int64_t)hole->count * ended;
}

/*
 * Behind a pause in which the queue pairs may have been set up anew: few messages were counted in all, and of the PSNs that were
 * left out so many to each counted since, and one, that none of such a length began a life.
 */
static bool counts_almost_none(const struct ft_span *hole, int32_t reached, uint32_t msn,
			       int32_t counted)
{
	if (!is_behind(hole, FT_ANEW_NS) || msn == 0 || msn > FEW_UNSEEN || counted < 0)
		return false;
	return (reached < (int32_t)hole->count ? reached : (int32_t)hole->count) >=
	       FT_LONG_PSNS * (counted + 1);
}

/* What an answer counts. */
struct count {
	uint32_t delivered;  /* newest PSN that it says was */
	uint32_t msn, known; /* and that of the answer before */
};

/*
 * Whether the messages counted since the last answer are fewer than ended behind a long hole alone, and all that were ever
 * counted no more than a new life may have had: some responders do not count at all. Behind a pause a hole of any length will
 * do that it counts from.
 */
static bool counts_too_few(const struct ft_half *half, const struct ft_span *hole,
			   const struct count *count)
{
	int32_t behind = ft_psn_distance(count->delivered, ft_psn_add(hole->from, hole->count)) + 1;
	int32_t counted = ft_psn_distance(count->msn, count->known);

	if (counts_almost_none(hole, behind + (int32_t)hole->count, count->msn, counted))
		return true;
	if (behind <= 0 || count->msn > (uint32_t)behind + FT_SETTLE_PSNS)
		return false;
	if (is_behind_pause(hole) &&
	    (counts_from_hole(hole, behind, count->msn) ||
	     counts_far_too_few(hole, behind, (int32_t)count->msn, counted)))
		return true;
	if (!may_part_lives(hole))
		return false;
	if (counted == 0 && (ended_behind(half, hole, count->delivered) || hides_a_life(hole)))
		return true;
	return hole->count >= FT_WENT_ON_PSNS &&
	       counted < ended_among(hole, behind) + hides_an_end(half, hole);
}

/* The newest of two holes, of which one may be none. */
static const struct ft_span *newest_of(const struct ft_span *hole, const struct ft_span *other)
{
	return other == NULL || ft_psn_distance(hole->from, other->from) > 0 ? hole : other;
}

static bool may_lie_between(const struct ft_span *hole)
{
	return may_part_lives(hole) || is_behind_pause(hole);
}

/*
 * The newest of the holes among what the answer newly says was delivered that parts two lives; NULL. Where the count goes back
 * one does: the newest that is long or behind a pause, if any is. But nothing tells so of another one as long as nothing of this
 * life was answered: the count before was of the last one.
 */
static const struct ft_span *parting_hole(const struct ft_spans *spans, const struct ft_half *half,
					  const struct count *count)
{
	bool goes_back = ft_psn_distance(count->msn, count->known) < 0;
	const struct ft_span *newest = NULL, *likely = NULL;
	uint32_t number = half->spans;

	for (unsigned left = half->span_count; left != 0; left--) {
		const struct ft_span *span = ft_span_at(spans, number);

		number = span->next;
		if (!is_open_hole(half, span) ||
		    ft_psn_distance(count->delivered, span->from) < 0 ||
		    (!goes_back && !counts_too_few(half, span, count)))
			continue;
		newest = newest_of(span, newest);
		if (may_lie_between(span))
			likely = newest_of(span, likely);
	}
	return likely != NULL || (goes_back && half->acked == FT_PSN_NONE) ? likely : newest;
}

/* What of it was answered for was lost; the rest lies between two lives. */
static void end_life(struct ft_spans *spans, struct ft_half *half, uint32_t number)
{
	struct ft_span *hole = ft_span_at(spans, number);

	if (ft_is_acked(half, hole->from)) {
		hole->count = ft_psn_reached(half->acked, hole->from, hole->count);
		hole->ended = 0;
	} else {
		ft_spans_remove(spans, half, number);
	}
}

/* Of holes up to `last`: what is behind it is of the new life. */
static void end_lives(struct ft_spans *spans, struct ft_half *half, uint32_t last)
{
	uint32_t number = half->spans;

	for (unsigned left = half->span_count; left != 0; left--) {
		const struct ft_span *span = ft_span_at(spans, number);
		uint32_t next = span->next;

		if (is_open_hole(half, span) && ft_psn_distance(span->from, last) <= 0)
			end_life(spans, half, number);
		number = next;
	}
}

/* Returns the PSN that the new life begins at. A request that showed the hole was the first of it. */
static uint32_t end_at(struct ft_tracker *tracker, struct ft_half *half,
		       const struct ft_span *parting)
{
	uint32_t end = ft_psn_add(parting->from, parting->count);

	if (parting->kind != FT_SPAN_IMPLIED && half->service != FT_UC)
		ft_loss_first(tracker->evidence, parting->frame);
	end_lives(&tracker->spans, half, parting->from);
	return end;
}

/* The newest hole that lies between two lives, of a half that lives anew; NULL. */
static const struct ft_span *newest_between(const struct ft_spans *spans,
					    const struct ft_half *half)
{
	const struct ft_span *newest = NULL;
	uint32_t number = half->spans;

	for (unsigned left = half->span_count; left != 0; left--) {
		const struct ft_span *span = ft_span_at(spans, number);

		if (is_open_hole(half, span) && may_lie_between(span))
			newest = newest_of(span, newest);
		number = span->next;
	}
	return newest;
}

uint32_t ft_part_lives(struct ft_tracker *tracker, struct ft_half *half)
{
	const struct ft_span *newest = newest_between(&tracker->spans, half);

	return newest == NULL ? FT_PSN_NONE : end_at(tracker, half, newest);
}

bool ft_may_hide_life(const struct ft_tracker *tracker, const struct ft_half *half, uint32_t psn)
{
	unsigned left = half->span_count < FT_SPANS_FEW ? half->span_count : FT_SPANS_FEW;
	uint32_t number = half->spans; /* the long ones are the first */

	for (; left != 0; left--) {
		const struct ft_span *span = ft_span_at(&tracker->spans, number);

		if (is_open_hole(half, span) && span->count >= FT_LONG_PSNS &&
		    is_behind(span, FT_ANEW_NS) && ft_psn_distance(psn, span->from) >= 0)
			return true;
		number = span->next;
	}
	return false;
}

/* For cheap: a long hole is the first of what is open, or all that was ever counted may have ended behind one. */
static bool may_part(const struct ft_spans *spans, const struct ft_half *half,
		     const struct count *count)
{
	return half->spans != 0 &&
	       (count->msn <= FT_SPAN_ENDED || ft_psn_distance(count->msn, count->known) < 0 ||
		ft_span_at(spans, half->spans)->count >= FT_LONG_PSNS);
}

/* Messages before the first that was seen: more are of a connection from before the capture. */
enum { MOST_UNSEEN = 64 };

/*
 * Messages that may have ended among its requests from the first seen to that one: counted, where none of them is missing and
 * the first is near; no more than packets.
 */
static int32_t most_ended(struct ft_tracker *tracker, const struct ft_flow *requester,
			  uint32_t delivered, uint64_t frame)
{
	const struct ft_half *half = &requester->half;
	bool is_whole = half->spans == 0 && ft_psn_distance(delivered, half->next_psn) < 0;
	int32_t ended = is_whole ? ft_ended_near(tracker, requester, frame) : -1;
	int32_t packets = ft_psn_distance(delivered, half->first_psn) + 1;

	return ended >= 0 && ended < packets ? ended : packets;
}

/* The first answer that counts tells whether messages ended before the first that was seen. */
static void compare_first(struct ft_tracker *tracker, const struct ft_moment *moment,
			  const struct ft_flow *requester, uint32_t delivered)
{
	const struct ft_half *half = &requester->half;
	uint64_t frame = moment->observed->frame;
	int32_t unseen;

	if (half->first_psn > FT_PSN_MOST ||
	    (half->flags & (FT_HALF_NAKED | FT_HALF_START_SEEN)) != 0)
		return;
	unseen = (int32_t)moment->observed->msn - most_ended(tracker, requester, delivered, frame);
	if (unseen > MOST_UNSEEN)
		return;
	tracker->evidence->counted++;
	if (unseen > 0)
		ft_loss_miss(tracker->evidence, frame, 1, FT_LOSS_OLDER);
}

/*
 * Both halves are in another life: the requester's began at `first` and goes on with `next_psn`. What is open of it stays
 * so; FT_PSN_NONE: none of it has passed.
 */
static void live_anew(struct ft_tracker *tracker, const struct ft_moment *moment,
		      struct ft_flow *requester, uint32_t first, uint32_t next_psn)
{
	struct ft_flow *flow = moment->flow;
	uint32_t others = ft_part_lives(tracker, &flow->half);
	uint32_t others_next = others == FT_PSN_NONE ? FT_PSN_NONE : flow->half.next_psn;

	ft_settle_before(tracker, requester, first, moment->step);
	ft_settle_before(tracker, flow, others, moment->step);
	ft_begin_lives(&requester->half, &flow->half);
	tracker->evidence->lives++;
	requester->half.next_psn = next_psn;
	flow->half.next_psn = others_next;
}

/*
 * Far beyond all requests seen it counts back: those of the other life have been lost so far. Or another life is
 * expected, as after a silence, and it counts few messages, fewer by far than would have been sent between.
 */
static bool counts_unseen(const struct ft_half *half, const struct count *count)
{
	int32_t beyond = ft_psn_distance(count->delivered, half->next_psn);
	int32_t counted = ft_psn_distance(count->msn, count->known);

	if (beyond < FT_LONG_PSNS || counted < 0)
		return beyond >= FT_LONG_PSNS;
	return count->msn <= FEW_UNSEEN && beyond >= FT_LONG_PSNS * (counted + 1) &&
	       half->outside == FT_OUTSIDE_EXPECTED;
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
	struct count count = { .delivered = delivered, .known = half->msn };
	const struct ft_span *parting;

	if ((moment->observed->has & FT_OBSERVED_AETH) == 0 ||
	    ft_is_acked(&requester->half, delivered))
		return;
	ft_note_msn(moment);
	count.msn = half->msn;
	if (count.known == 0 && count.msn != 0)
		compare_first(tracker, moment, requester, delivered);
	if ((count.msn | count.known) == 0)
		return;
	if (counts_unseen(&requester->half, &count)) {
		end_lives(&tracker->spans, &requester->half, delivered);
		live_anew(tracker, moment, requester, FT_PSN_NONE, ft_psn_add(delivered, 1));
		return;
	}
	if (!may_part(&tracker->spans, &requester->half, &count))
		return;
	parting = parting_hole(&tracker->spans, &requester->half, &count);
	if (parting != NULL)
		live_anew(tracker, moment, requester, end_at(tracker, &requester->half, parting),
			  requester->half.next_psn);
}
