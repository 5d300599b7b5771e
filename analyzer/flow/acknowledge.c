#include "answers.h"

#include <decode/aeth.h>

/*
 * ACKNOWLEDGE: every request before it was delivered, because a responder takes requests in order; or it is refused. IBA
 * vol. 1, 9.7.5.
 */

enum { NAK_SEQUENCE_ERROR = 0x60 };

static uint32_t before(uint32_t psn)
{
	return ft_psn_back(psn, 1);
}

/* Answered for before it was seen: lost, or about to come from another mirror port. */
static void note_ahead(struct ft_tracker *tracker, const struct ft_moment *moment,
		       struct ft_flow *requester)
{
	struct ft_half *half = &requester->half;
	struct ft_span ahead = {
		.kind = FT_SPAN_AHEAD,
		.early = ft_how_early(tracker, requester),
		.from = half->next_psn,
		.count = 1,
		.frame = moment->observed->frame,
		.ts_ns = moment->observed->ts_ns,
	};

	tracker->evidence->ahead++;
	if (ft_spans_last(&tracker->spans, half, FT_SPAN_AHEAD) == 0)
		ft_remember(tracker, requester, &ahead, moment->step);
}

/* What was asked for there, before the capture began, will be answered. */
static void begin_behind(struct ft_half *half, const struct ft_span *hole)
{
	uint32_t end = ft_psn_add(hole->from, hole->count);

	if ((half->flags & FT_HALF_NAKED) == 0 && half->first_psn <= FT_PSN_MOST &&
	    ft_psn_distance(end, half->first_psn) > 0)
		half->first_psn = end;
}

/* Holes, but for those that no sending again explains. */
static void drop_stale(struct ft_tracker *tracker, struct ft_half *half)
{
	const uint32_t kinds = FT_SPANS_HOLES | 1u << FT_SPAN_AHEAD;
	uint32_t number = half->spans;

	for (unsigned left = half->span_count; left != 0; left--) {
		const struct ft_span *span = ft_span_at(&tracker->spans, number);
		uint32_t next = span->next;

		if ((kinds >> span->kind & 1) != 0 && !span->fresh) {
			if (span->kind != FT_SPAN_AHEAD)
				begin_behind(half, span);
			ft_spans_remove(&tracker->spans, half, number);
		}
		number = next;
	}
}

/*
 * The same again: its requester sends what it has already. Of a half that has not been here for long, that passed before
 * the capture began; what is left out, or lost once more in the fabric, needs no second time. Of others it proves nothing: an answer to
 * what is yet to be sent, which the requester drops, may have been forged.
 */
static void answer_again(struct ft_tracker *tracker, struct ft_flow *requester)
{
	struct ft_half *half = &requester->half;

	if (requester->packets >= FT_EARLY_PACKETS)
		return;
	half->flags |= FT_HALF_GOING_BACK;
	drop_stale(tracker, half);
}

/* What was refused soon after the beginning moves it on: half.nak_psn, or half.first_psn. */
static uint32_t moved_on(const struct ft_half *half, uint32_t psn)
{
	int32_t by = ft_psn_distance(psn, half->first_psn & FT_PSN_MOST);

	return half->first_psn >= FT_PSN_ANEW || by < 0 ? 0 : (uint32_t)by;
}

static void refuse(const struct ft_tracker *tracker, struct ft_half *half, uint32_t psn)
{
	uint32_t refused = FT_REFUSED_OFTEN;

	if (ft_is_young(tracker, half)) {
		refused = (half->first_psn & FT_REFUSED_OFTEN) + FT_REFUSED_ONCE;
		if ((half->flags & FT_HALF_START_SEEN) == 0)
			tracker->evidence->longer += moved_on(half, psn);
	}

	half->flags |= FT_HALF_NAKED;
	half->nak_psn = psn | refused;
}

/* Wanted again is what passed before the first request seen, too: READs may be among it. */
static bool reaches_back(const struct ft_half *half, uint32_t psn)
{
	return (half->flags & FT_HALF_NAKED) == 0 && half->first_psn <= FT_PSN_MOST &&
	       ft_psn_distance(psn, half->first_psn) < 0;
}

struct meaning {
	uint32_t what;
	bool refused; /* the PSN itself is wanted again */
};

static struct meaning meaning_of(const struct ft_observed *observed)
{
	switch (ft_aeth_kind(observed->syndrome)) {
	case FT_AETH_RNR:
		return (struct meaning){ FT_STEP_RNR, true };
	case FT_AETH_NAK:
		return (struct meaning){ FT_STEP_NAK, observed->syndrome == NAK_SEQUENCE_ERROR };
	case FT_AETH_ACK:
		return (struct meaning){ FT_STEP_ACK, false };
	default:
		return (struct meaning){ 0, true };
	}
}

static void count_answer(struct ft_tracker_totals *totals, uint32_t what)
{
	totals->acks += (what & FT_STEP_ACK) != 0;
	totals->naks += (what & FT_STEP_NAK) != 0;
	totals->rnr_naks += (what & FT_STEP_RNR) != 0;
}

/* A request that failed: what it asked for will not come. */
static void write_off(struct ft_tracker *tracker, const struct ft_moment *moment,
		      struct ft_flow *requester)
{
	uint32_t psn = moment->observed->psn;
	uint32_t number = ft_spans_find(&tracker->spans, &requester->half, psn, FT_SPANS_AWAITED);

	if (number != 0)
		ft_spans_take(&tracker->spans, &requester->half, number, psn, FT_PSN_HALF);
}

void ft_pass_over(const struct ft_tracker *tracker, const struct ft_half *half, uint32_t asked)
{
	if (ft_spans_find(&tracker->spans, half, asked, FT_SPANS_AWAITED) != 0)
		return;
	tracker->evidence->timed++;
	tracker->evidence->passed_over++;
}

/* It is for a request that is missing, and others behind that have passed. */
static void note_unseen(const struct ft_tracker *tracker, const struct ft_half *half, uint32_t psn)
{
	if (half->spans != 0 && !ft_is_acked(half, psn) &&
	    ft_spans_find(&tracker->spans, half, psn, FT_SPANS_HOLES) != 0)
		tracker->evidence->acked_unseen++;
}

/* More at once are of a responder that counts otherwise, or of another life. */
enum { MOST_COUNTED = 64 };

/* Whether packets are missing among those that it is the first to answer for. */
static bool lacks_requests(const struct ft_tracker *tracker, const struct ft_half *half,
			   uint32_t delivered)
{
	const struct ft_span *span;
	uint32_t number = 0;

	if (half->next_psn == FT_PSN_NONE || ft_psn_distance(delivered, half->next_psn) >= 0)
		return half->next_psn != FT_PSN_NONE;
	if (half->spans != 0 && ft_spans_are_sorted(half))
		number = ft_spans_upto(&tracker->spans, half, delivered);
	if (number == 0)
		return false;
	span = ft_span_at(&tracker->spans, number);
	return (FT_SPANS_HOLES >> span->kind & 1) != 0 &&
	       !ft_psn_covers(half->acked, span->from, span->count);
}

/* An ACK that counts more than one message shows that those before it had none, or that theirs were lost. */
static void note_counted(const struct ft_tracker *tracker, const struct ft_moment *moment,
			 const struct ft_half *half, uint32_t delivered)
{
	const struct ft_observed *observed = moment->observed;
	uint32_t known = moment->flow->half.msn;
	int32_t counted = ft_psn_distance(observed->msn, known);

	if ((observed->has & FT_OBSERVED_AETH) == 0 || known == 0 || counted <= 0 ||
	    counted > MOST_COUNTED || half->acked == FT_PSN_NONE ||
	    ft_psn_distance(delivered, half->acked) <= 0 ||
	    !lacks_requests(tracker, half, delivered))
		return;
	tracker->evidence->torn_counted += (uint64_t)counted;
	tracker->evidence->torn_uncounted += (uint64_t)counted - 1;
}

void ft_acknowledge(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const struct ft_observed *observed = moment->observed;
	struct meaning meaning = { 0, true };
	struct ft_flow *requester = ft_find_requester(tracker, moment);
	struct ft_half *half;
	uint32_t delivered;
	bool repeated, ahead;

	if (observed->has & FT_OBSERVED_AETH)
		meaning = meaning_of(observed);
	delivered = meaning.refused ? before(observed->psn) : observed->psn;
	moment->step->what |= FT_STEP_ANSWER | meaning.what;
	count_answer(&tracker->totals, meaning.what);
	tracker->evidence->acks += (meaning.what & FT_STEP_ACK) != 0;
	tracker->evidence->refused += meaning.refused && meaning.what != 0;
	ft_loss_reply(tracker->evidence, observed->frame);
	moment->flow->half.answered = ft_psn_follow(moment->flow->half.answered, delivered);
	if (requester == NULL || requester->half.next_psn == FT_PSN_NONE ||
	    !ft_is_in_window(tracker, moment, requester))
		return;
	half = &requester->half;
	if (meaning.what == FT_STEP_NAK && !meaning.refused)
		write_off(tracker, moment, requester);
	repeated = half->acked == delivered && !meaning.refused;
	if (!meaning.refused)
		note_counted(tracker, moment, half, delivered);
	ft_watch_msn(tracker, moment, requester, delivered);
	if (!meaning.refused)
		note_unseen(tracker, half, delivered);
	ft_deliver(half, delivered);
	if (meaning.refused && reaches_back(half, observed->psn))
		ft_expect_again(moment->flow, observed->psn);
	if (meaning.refused)
		refuse(tracker, half, observed->psn);
	else
		ft_time_ack(tracker, moment, half);
	ahead = ft_psn_distance(delivered, half->next_psn) >= 0;
	if (repeated && (ahead || half->spans != 0))
		answer_again(tracker, requester);
	else if (ahead)
		note_ahead(tracker, moment, requester);
	else if (half->spans != 0)
		ft_settle_ripe(tracker, requester, observed, moment->step);
}
