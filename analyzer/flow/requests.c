#include "accept.h"
#include "lives.h"

/* Requests: where they stand in PSN space. IBA vol. 1, 9.7.1 to 9.7.4. */

enum {
	ADOPT_PACKETS = 3,    /* in a row outside the window: a new sequence */
	OUTSIDE_SLACK = 4096, /* a READ of unknown length may lie between */
	FAR_BEYOND = 64,      /* PSNs by which no response is faster than its request */
};

/* Before the halves have met only the newest READs are remembered: the others may be answered unseen. */
static void make_room(struct ft_tracker *tracker, struct ft_half *half)
{
	if (half->span_count >= FT_UNMET_SPANS &&
	    ft_span_is_answer(ft_span_at(&tracker->spans, half->spans)))
		ft_spans_remove(&tracker->spans, half, half->spans);
}

void ft_await(struct ft_tracker *tracker, const struct ft_moment *moment, struct ft_flow *requester,
	      uint32_t from, uint32_t count, uint32_t begin)
{
	uint32_t there = ft_psn_reached(requester->half.acked, from, count);
	bool asks = requester == moment->flow && begin == moment->observed->psn;
	struct ft_span span = {
		.kind = FT_SPAN_AWAITED,
		.asked = asks ? moment->operation->kind : FT_MESSAGE_READ,
		.early = moment->operation->role == FT_ROLE_RESPONSE /* its READ passed unseen */
				 ? ft_how_early(tracker, requester)
				 : 0,
		.guessed = !asks && moment->operation->role != FT_ROLE_RESPONSE &&
			   requester->half.message_bytes == FT_LENGTH_CUT,
		.from = ft_psn_add(from, there), /* those before came ahead of their request */
		.count = count - there,
		.begin = begin,
		.frame = moment->observed->frame,
		.ts_ns = moment->observed->ts_ns,
	};

	if (asks && there != 0)
		ft_expect_again(ft_tracker_peer(tracker, requester), begin);
	if (span.count == 0)
		return;
	if (requester->peer == 0)
		make_room(tracker, &requester->half);
	ft_remember(tracker, requester, &span, moment->step);
}

/* A READ, ATOMIC or FLUSH: complete when its response comes. */
static void follow_question(struct ft_tracker *tracker, const struct ft_moment *moment,
			    uint32_t psns)
{
	const struct ft_observed *observed = moment->observed;
	struct ft_half *half = &moment->flow->half;

	half->flags &= (uint8_t)~FT_HALF_IN_MESSAGE;
	half->message_psn = observed->psn;
	if (psns == 0) {
		half->flags |= FT_HALF_SPAN_UNKNOWN;
		half->message_bytes =
			observed->has & FT_OBSERVED_RETH ? observed->length : FT_LENGTH_CUT;
	} else {
		half->message_psn = half->next_psn;
	}
	ft_await(tracker, moment, moment->flow, observed->psn, psns == 0 ? 1 : psns, observed->psn);
}

void ft_ask(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	uint32_t psns = ft_psns_of(tracker, moment);

	moment->step->what |= FT_STEP_NEW;
	/* without a peer, what answers it is not told from what was lost with it */
	if (moment->flow->peer != 0)
		ft_loss_question(tracker->evidence, psns == 0 ? 1 : psns);
	if (psns != 0)
		ft_loss_read(tracker->evidence, psns);
	moment->flow->half.next_psn = ft_psn_add(moment->observed->psn, psns == 0 ? 1 : psns);
	follow_question(tracker, moment, psns);
	ft_time_request(moment);
}

/* A new request where it was expected. */
static void accept(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_half *half = &moment->flow->half;

	if (moment->operation->role == FT_ROLE_QUESTION) {
		ft_ask(tracker, moment);
		return;
	}
	if (moment->operation->part != 0 || half->mtu != moment->observed->payload ||
	    (half->flags & FT_HALF_MTU_GUESSED) != 0)
		ft_learn_mtu(tracker, moment);
	ft_accept(tracker, moment);
}

/* The first request seen of a half, or of a new sequence on it. */
static void begin(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_half *half = &moment->flow->half;
	int32_t ahead = half->acked == FT_PSN_NONE
				? 0
				: ft_psn_distance(half->acked, moment->observed->psn);

	if (ahead >= FT_PSN_WINDOW || ahead <= -FT_PSN_WINDOW)
		half->acked = FT_PSN_NONE;
	moment->step->what |= ft_restart_of(moment);
	if ((half->flags & FT_HALF_NAKED) == 0 && half->first_psn == FT_PSN_NONE)
		half->first_psn = moment->observed->psn;
	ft_loss_silent(tracker->evidence, moment->observed->frame);
	if (half->service != FT_UC && (half->flags & FT_HALF_START_SEEN) == 0) {
		ft_begin_near(tracker, moment);
		ft_note_opening(tracker, moment, false);
	}
	if ((moment->operation->part & FT_PART_FIRST) == 0) {
		half->message_psn = FT_PSN_NONE;
		half->message_bytes = FT_LENGTH_UNKNOWN;
	}
	accept(tracker, moment);
}

/* Neither side has sent for so long. */
static bool is_idle(const struct ft_tracker *tracker, const struct ft_moment *moment,
		    uint64_t silence_ns)
{
	return ft_are_idle(moment, ft_tracker_peer(tracker, moment->flow), silence_ns);
}

/* Far from what is expected: forged, or the queue pair is in use anew; silence before, or the third in a row, decides. */
static void outside(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_half *half = &moment->flow->half;
	uint32_t psn = moment->observed->psn;
	uint32_t run = half->outside >> FT_OUTSIDE_RUN_SHIFT;

	if (run == 0 || !ft_psn_within(psn, half->outside & FT_PSN_MOST, OUTSIDE_SLACK))
		run = 0;
	if (ft_follow_peer(tracker, moment)) {
		begin(tracker, moment);
		return;
	}
	if (++run == ADOPT_PACKETS || half->outside == FT_OUTSIDE_EXPECTED ||
	    is_idle(tracker, moment, FT_ANEW_NS)) {
		ft_restart(tracker, moment);
		begin(tracker, moment);
		return;
	}
	half->outside = run << FT_OUTSIDE_RUN_SHIFT | ft_psn_add(psn, 1);
	moment->step->what |= FT_STEP_OUTSIDE;
	ft_loss_silent(tracker->evidence, moment->observed->frame);
}

/* Of `room` up to the next request; 0: as many as its responses have shown, for it never passed itself. */
static uint32_t span_within(struct ft_half *half, uint32_t room)
{
	switch (half->message_bytes) {
	case 0:
		return 0;
	case FT_LENGTH_CUT:
		return room;
	default:
		return ft_span_that_fits(half, room);
	}
}

/* Where the READ before ends with one of the path MTUs, however long it is. */
static bool is_behind_read(struct ft_half *half, uint32_t psn)
{
	uint32_t room = ft_psn_since(psn, half->message_psn);

	return (half->flags & FT_HALF_SPAN_UNKNOWN) != 0 && half->message_bytes != 0 &&
	       half->message_bytes != FT_LENGTH_CUT && ft_span_that_fits(half, room) == room;
}

/* The READ before this request took the PSNs up to here, or what fits and the rest is a hole. */
static void span_from_next(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_half *half = &moment->flow->half;
	uint32_t room = ft_psn_since(moment->observed->psn, half->message_psn);
	uint32_t known = ft_psn_since(half->next_psn, half->message_psn);
	uint32_t span = span_within(half, room);

	half->flags &= (uint8_t)~FT_HALF_SPAN_UNKNOWN;
	if (half->message_bytes != 0) /* it passed */
		ft_loss_read(tracker->evidence, span > known ? span : known);
	if (span > known) {
		ft_await(tracker, moment, moment->flow, half->next_psn, span - known,
			 half->message_psn);
		half->next_psn = ft_psn_add(half->message_psn, span);
	}
	half->message_psn = half->next_psn;
}

/* Requests move on: what was answered for beyond them is now theirs to show. */
static void drop_ahead(struct ft_tracker *tracker, struct ft_half *half)
{
	uint32_t last = ft_spans_last(&tracker->spans, half, FT_SPAN_AHEAD);

	if (last != 0)
		ft_spans_remove(&tracker->spans, half, last);
}

void ft_retract(struct ft_tracker *tracker, struct ft_half *half, uint32_t number)
{
	const struct ft_span *hole = ft_span_at(&tracker->spans, number);
	uint32_t from = hole->from, end = ft_psn_add(from, hole->count);

	if (end == half->next_psn)
		tracker->evidence->implied--;
	else if (ft_psn_add(end, 1) == half->next_psn)
		tracker->evidence->orphans--;
	else
		return; /* requests have shown it since */
	ft_spans_remove(&tracker->spans, half, number);
	half->next_psn = half->message_psn = from;
	half->flags &= (uint8_t)~FT_HALF_SPAN_UNKNOWN;
}

/*
 * Likewise what a response showed far beyond them, if the request comes that would have been the first one missing: nobody
 * had asked for that response.
 */
static void drop_implied(struct ft_tracker *tracker, struct ft_half *half, uint32_t psn)
{
	uint32_t last = ft_spans_last(&tracker->spans, half, FT_SPAN_IMPLIED);
	const struct ft_span *hole = last == 0 ? NULL : ft_span_at(&tracker->spans, last);

	if (hole != NULL && hole->from == psn && hole->count >= FAR_BEYOND)
		ft_retract(tracker, half, last);
}

static void open_hole(struct ft_tracker *tracker, const struct ft_moment *moment,
		      enum ft_span_kind kind, uint32_t count)
{
	struct ft_half *half = &moment->flow->half;
	struct ft_span hole = {
		.kind = (uint8_t)kind,
		.early = ft_how_early(tracker, moment->flow),
		.fresh = half->acked != FT_PSN_NONE && !ft_is_acked(half, half->next_psn),
		.begins = (moment->operation->part & FT_PART_FIRST) != 0,
		.ends = (moment->operation->part & FT_PART_LAST) != 0,
		.from = half->next_psn,
		.count = count,
		.begin = half->message_psn == FT_PSN_NONE ? half->next_psn : half->message_psn,
		.frame = moment->observed->frame,
		.ts_ns = moment->observed->ts_ns,
		.before_ns = ft_asked_before(moment),
	};
	uint32_t last;

	moment->step->what |= FT_STEP_GAP;
	ft_remember(tracker, moment->flow, &hole, moment->step);
	last = ft_spans_last(&tracker->spans, half, kind);
	if (count >= FT_LONG_PSNS && last != 0 && half->span_count < FT_SPANS_FEW &&
	    ft_former_span(&tracker->spans, half) == NULL)
		ft_spans_put_first(&tracker->spans, half, last);
}

/*
 * A message that ends soon behind holes, or a READ, which its responder may count at once: the count of them may tell that
 * they are none.
 */
static void note_end(const struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const struct ft_half *half = &moment->flow->half;
	bool is_sorted = ft_spans_are_sorted(half);
	uint32_t number = half->spans;

	if ((moment->operation->part & FT_PART_LAST) == 0)
		return;
	for (unsigned left = half->span_count; left != 0; left--) {
		struct ft_span *hole;
		int32_t at;

		number = ft_span_at(&tracker->spans, number)->prev;
		hole = ft_span_at(&tracker->spans, number);
		at = ft_psn_distance(moment->observed->psn, ft_psn_add(hole->from, hole->count));
		if (is_sorted && at >= FT_SPAN_ENDED)
			return;
		if ((FT_SPANS_HOLES >> hole->kind & 1) != 0 && at >= 0 && at < FT_SPAN_ENDED)
			hole->ended |= UINT64_C(1) << at;
	}
}

/* Who sends again leaves out what was answered for meanwhile. */
static void leave_out(struct ft_half *half, uint32_t psn)
{
	if ((half->flags & FT_HALF_GOING_BACK) == 0 || !ft_is_acked(half, half->next_psn))
		return;
	half->next_psn = ft_is_acked(half, psn) ? psn : ft_psn_add(half->acked, 1);
}

/* What the peer has answered so far is for the life before. */
static void restart(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_flow *peer = ft_tracker_peer(tracker, moment->flow);

	if (peer != NULL)
		peer->half.answered = FT_PSN_NONE;
	ft_restart(tracker, moment);
}

/*
 * Behind the expected one, and no packet sent again: nobody sends again after so long, or on an unreliable connection. After
 * a shorter silence the answers will tell.
 */
static bool begins_anew(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	uint64_t sure_ns = moment->flow->half.service == FT_UC ? FT_ANEW_NS : FT_ASKS_BY_NS;

	if (!is_idle(tracker, moment, FT_ANEW_NS) && !ft_may_follow_peer(tracker, moment->flow))
		return false;
	if (is_idle(tracker, moment, sure_ns))
		restart(tracker, moment);
	else if (!ft_may_live_anew(tracker, moment) || !ft_doubt_life(tracker, moment))
		return false;
	begin(tracker, moment);
	ft_withhold(tracker, moment);
	return true;
}

/* It is the expected one, or beyond it. */
static void go_ahead(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_half *half = &moment->flow->half;
	uint32_t psn = moment->observed->psn;
	enum ft_span_kind kind = FT_SPAN_HOLE;
	int32_t distance;

	if (half->flags & FT_HALF_SPAN_UNKNOWN) {
		kind = half->message_bytes == 0 ? FT_SPAN_HOLE : FT_SPAN_GUESSED;
		ft_learn_mtu(tracker, moment);
		span_from_next(tracker, moment);
	}
	drop_ahead(tracker, half);
	leave_out(half, psn);
	distance = ft_psn_distance(psn, half->next_psn);
	if (distance > 0)
		open_hole(tracker, moment, kind, (uint32_t)distance);
	if (!ft_is_acked(half, psn))
		half->flags &= (uint8_t)~FT_HALF_GOING_BACK;
	ft_tell_evidence(tracker, ft_loss_bin(tracker->evidence, moment->observed->frame), moment);
	accept(tracker, moment);
	note_end(tracker, moment);
	ft_settle_ripe(tracker, moment->flow, moment->observed, moment->step);
	ft_withhold(tracker, moment);
}

/* Far behind, where it is known to be missing: what lies beyond was forged, or this comes late. */
static bool is_missing(const struct ft_tracker *tracker, const struct ft_half *half, uint32_t psn)
{
	return ft_spans_find(&tracker->spans, half, psn, FT_SPANS_HOLES) != 0;
}

static void unexpected(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_half *half = &moment->flow->half;
	uint32_t psn = moment->observed->psn;
	int32_t distance;

	if (half->next_psn == FT_PSN_NONE) {
		begin(tracker, moment);
		return;
	}
	distance = ft_psn_distance(psn, half->next_psn);
	if ((distance >= FT_PSN_WINDOW || distance <= -FT_PSN_WINDOW) &&
	    !is_behind_read(half, psn) && !is_missing(tracker, half, psn)) {
		outside(tracker, moment);
		return;
	}
	half->outside = 0;
	if (ft_hear_request(tracker, moment))
		distance = ft_psn_distance(psn, half->next_psn);
	if (distance < 0) {
		drop_implied(tracker, half, psn);
		distance = ft_psn_distance(psn, half->next_psn);
	}
	if (distance >= 0)
		go_ahead(tracker, moment);
	else if (!begins_anew(tracker, moment))
		ft_request_again(tracker, moment);
}

void ft_request(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const struct ft_half *half = &moment->flow->half;

	if (moment->flow->peer == 0)
		ft_pairs_request(tracker->pairs, moment->flow);
	if (half->next_psn != moment->observed->psn || half->spans != 0 || half->outside != 0 ||
	    (half->flags & (FT_HALF_SPAN_UNKNOWN | FT_HALF_GOING_BACK)) != 0) {
		unexpected(tracker, moment);
		return;
	}
	ft_tell_evidence(tracker, ft_loss_bin(tracker->evidence, moment->observed->frame), moment);
	accept(tracker, moment);
}
