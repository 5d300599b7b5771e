#include "tracker_parts.h"

#include <stddef.h>

/* Requests: where they stand in PSN space, and which messages they make. IBA vol. 1, 9.7.1 to 9.7.4. */

enum {
	MTU_MIN = 256,
	MTU_MAX = 4096,
	ADOPT_PACKETS = 3,    /* in a row outside the window: a new sequence */
	RUN_SHIFT = 24,       /* of half.outside */
	OUTSIDE_SLACK = 4096, /* a READ of unknown length may lie between */
};

void ft_learn_mtu(struct ft_half *half, const struct ft_moment *moment)
{
	uint32_t payload = moment->observed->payload;

	if (moment->operation->part & FT_PART_LAST ||
	    (moment->observed->has & FT_OBSERVED_PAYLOAD) == 0)
		return;
	if (payload >= MTU_MIN && payload <= MTU_MAX && (payload & (payload - 1)) == 0) {
		half->mtu = (uint16_t)payload;
		half->flags &= (uint8_t)~FT_HALF_MTU_GUESSED;
	}
}

static uint32_t packets_of(uint32_t length, uint32_t mtu)
{
	uint32_t packets = length / mtu + (length % mtu != 0);

	if (packets == 0)
		return 1;
	return packets < FT_PSN_HALF ? packets : FT_PSN_HALF - 1;
}

/* The path MTU; 0: not known. Both directions have the same. */
static uint32_t mtu_of(const struct ft_tracker *tracker, const struct ft_flow *flow)
{
	const struct ft_flow *peer = ft_tracker_peer(tracker, flow);

	if (flow->half.mtu != 0 && (flow->half.flags & FT_HALF_MTU_GUESSED) == 0)
		return flow->half.mtu;
	return peer == NULL || peer->half.flags & FT_HALF_MTU_GUESSED ? 0 : peer->half.mtu;
}

/* PSNs that a request uses; 0: a READ whose responses cannot be counted yet. */
static uint32_t psns_of(const struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const struct ft_observed *observed = moment->observed;
	uint32_t mtu;

	if (moment->operation->kind != FT_MESSAGE_READ)
		return 1;
	if ((observed->has & FT_OBSERVED_RETH) == 0)
		return 0;
	if (observed->length <= MTU_MIN)
		return 1;
	mtu = mtu_of(tracker, moment->flow);
	return mtu == 0 ? 0 : packets_of(observed->length, mtu);
}

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
	struct ft_span span = {
		.kind = FT_SPAN_AWAITED,
		.from = ft_psn_add(from, there), /* those before came ahead of their request */
		.count = count - there,
		.begin = begin,
		.frame = moment->observed->frame,
		.ts_ns = moment->observed->ts_ns,
	};

	if (span.count == 0)
		return;
	if (requester->peer == 0)
		make_room(tracker, &requester->half);
	ft_remember(tracker, requester, &span, moment->step);
}

static void tell_message(const struct ft_tracker *tracker, const struct ft_moment *moment,
			 uint32_t begin, uint32_t length)
{
	const struct ft_observed *observed = moment->observed;
	uint32_t before = ft_psn_add(observed->psn, 0x1000000 - begin);
	struct ft_step *step = moment->step;

	step->what |= FT_STEP_MESSAGE;
	step->message_kind = moment->operation->kind;
	step->message_flow = ft_flow_number(tracker->table, moment->flow);
	step->message_bytes =
		length != 0 ? length : before * moment->flow->half.mtu + observed->payload;
}

/* First, Middle and Last of a SEND or WRITE in their order. */
static void follow_message(const struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const struct ft_observed *observed = moment->observed;
	struct ft_half *half = &moment->flow->half;

	if (moment->operation->part & FT_PART_FIRST) {
		half->message_psn = observed->psn;
		half->message_bytes = observed->has & FT_OBSERVED_RETH ? observed->length : 0;
		half->flags |= FT_HALF_IN_MESSAGE;
	}
	ft_learn_mtu(half, moment);
	if ((moment->operation->part & FT_PART_LAST) == 0)
		return;
	if (half->message_psn != FT_PSN_NONE)
		tell_message(tracker, moment, half->message_psn,
			     half->flags & FT_HALF_IN_MESSAGE ? half->message_bytes : 0);
	half->message_psn = ft_psn_add(observed->psn, 1);
	half->flags &= (uint8_t)~FT_HALF_IN_MESSAGE;
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
		half->message_bytes = observed->has & FT_OBSERVED_RETH ? observed->length : 0;
	} else {
		half->message_psn = half->next_psn;
	}
	ft_await(tracker, moment, moment->flow, observed->psn, psns == 0 ? 1 : psns, observed->psn);
}

static inline void time_request(const struct ft_moment *moment)
{
	const struct ft_observed *observed = moment->observed;
	struct ft_half *half = &moment->flow->half;

	if (half->asked_psn != FT_PSN_NONE || observed->ts_ns == UINT64_MAX)
		return;
	if (moment->operation->answered == 0 && (observed->has & FT_OBSERVED_ACK_REQUEST) == 0)
		return;
	half->asked_psn = observed->psn;
	half->asked_ns = observed->ts_ns;
}

/* A new request where it was expected. */
static void accept(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_half *half = &moment->flow->half;
	uint32_t psns = 1;

	moment->step->what |= FT_STEP_NEW;
	if (moment->operation->answered)
		psns = psns_of(tracker, moment);
	half->next_psn = ft_psn_add(moment->observed->psn, psns == 0 ? 1 : psns);
	if (moment->operation->answered)
		follow_question(tracker, moment, psns);
	else
		follow_message(tracker, moment);
	time_request(moment);
}

static void tell_evidence(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	if (moment->flow->half.service == FT_UC)
		ft_loss_silent(tracker->evidence, moment->observed->frame);
	else
		ft_loss_space(tracker->evidence, moment->observed->frame);
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
	moment->step->what |= FT_STEP_RESTART;
	if (half->service == FT_UC || half->flags & FT_HALF_START_SEEN)
		ft_loss_silent(tracker->evidence, moment->observed->frame);
	else
		ft_loss_start(tracker->evidence, moment->observed->frame);
	if ((moment->operation->part & FT_PART_FIRST) == 0)
		half->message_psn = FT_PSN_NONE;
	accept(tracker, moment);
}

/* Far from what is expected: forged, or the queue pair is in use anew; the third in a row decides. */
static void outside(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_half *half = &moment->flow->half;
	uint32_t psn = moment->observed->psn;
	uint32_t run = half->outside >> RUN_SHIFT;

	if (run == 0 || !ft_psn_within(psn, half->outside & 0xffffff, OUTSIDE_SLACK))
		run = 0;
	if (++run == ADOPT_PACKETS) {
		ft_restart(tracker, moment);
		begin(tracker, moment);
		return;
	}
	half->outside = run << RUN_SHIFT | ft_psn_add(psn, 1);
	moment->step->what |= FT_STEP_OUTSIDE;
	ft_loss_silent(tracker->evidence, moment->observed->frame);
}

/* Of a READ: the most PSNs up to `room` that some path MTU gives it, no smaller than the one guessed. */
static uint32_t span_that_fits(struct ft_half *half, uint32_t room)
{
	uint32_t least = half->flags & FT_HALF_MTU_GUESSED ? half->mtu : MTU_MIN;
	uint32_t span = 1;

	for (uint32_t mtu = MTU_MAX; mtu >= least; mtu /= 2) {
		uint32_t packets = packets_of(half->message_bytes, mtu);

		if (packets > room)
			break;
		if (packets == room && packets != span) {
			half->mtu = (uint16_t)mtu;
			half->flags |= FT_HALF_MTU_GUESSED;
		}
		span = packets;
	}
	return span;
}

/* The READ before this request took the PSNs up to here, or what fits and the rest is a hole. */
static void span_from_next(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_half *half = &moment->flow->half;
	uint32_t room = ft_psn_add(moment->observed->psn, 0x1000000 - half->message_psn);
	uint32_t known = ft_psn_add(half->next_psn, 0x1000000 - half->message_psn);
	uint32_t span = half->message_bytes == 0 ? room : span_that_fits(half, room);

	half->flags &= (uint8_t)~FT_HALF_SPAN_UNKNOWN;
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
	uint32_t last = half->spans == 0 ? 0 : ft_span_at(&tracker->spans, half->spans)->prev;

	if (last != 0 && ft_span_at(&tracker->spans, last)->kind == FT_SPAN_AHEAD)
		ft_spans_remove(&tracker->spans, half, last);
}

static void open_hole(struct ft_tracker *tracker, const struct ft_moment *moment, uint32_t count)
{
	struct ft_half *half = &moment->flow->half;
	struct ft_span hole = {
		.kind = FT_SPAN_HOLE,
		.from = half->next_psn,
		.count = count,
		.begin = half->message_psn == FT_PSN_NONE ? half->next_psn : half->message_psn,
		.frame = moment->observed->frame,
		.ts_ns = moment->observed->ts_ns,
	};

	moment->step->what |= FT_STEP_GAP;
	ft_remember(tracker, moment->flow, &hole, moment->step);
}

/* The hole that holds the PSN of a request; 0: none. The newest is the likeliest. */
static uint32_t find_hole(const struct ft_tracker *tracker, const struct ft_half *half,
			  uint32_t psn)
{
	uint32_t number = half->spans;

	for (unsigned i = 0; i < half->span_count; i++) {
		const struct ft_span *span;

		number = ft_span_at(&tracker->spans, number)->prev;
		span = ft_span_at(&tracker->spans, number);
		if ((span->kind == FT_SPAN_HOLE || span->kind == FT_SPAN_IMPLIED) &&
		    ft_psn_within(psn, span->from, span->count))
			return number;
	}
	return 0;
}

/* Whether a request that comes late was sent again: asked for, or part of going back, or after a time-out. */
static bool is_sent_again(const struct ft_moment *moment)
{
	const struct ft_half *half = &moment->flow->half;
	uint32_t psn = moment->observed->psn;

	if (half->flags & FT_HALF_GOING_BACK)
		return true;
	if (ft_is_acked(half, psn))
		return false;
	if (half->flags & FT_HALF_NAKED && ft_psn_distance(psn, half->nak_psn) >= 0)
		return true;
	return ft_elapsed(moment->observed->ts_ns, moment->flow->last_ns) >= FT_SILENT_NS;
}

/* A message that a late packet completes; `begin`: where it began, as far as is known. */
static uint32_t follow_late(const struct ft_tracker *tracker, const struct ft_moment *moment,
			    uint32_t begin)
{
	const struct ft_observed *observed = moment->observed;
	uint8_t part = moment->operation->part;

	if (part & FT_PART_FIRST)
		begin = observed->psn;
	if ((part & FT_PART_LAST) == 0)
		return begin;
	tell_message(tracker, moment, begin,
		     part & FT_PART_FIRST && observed->has & FT_OBSERVED_RETH ? observed->length
									      : 0);
	return ft_psn_add(observed->psn, 1);
}

/* A late READ or ATOMIC: what it asks for is awaited from now on. */
static uint32_t ask_late(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_half *half = &moment->flow->half;
	uint32_t psn = moment->observed->psn;
	uint32_t psns = psns_of(tracker, moment);
	uint32_t end;

	if (psns == 0)
		return 1;
	end = ft_psn_add(psn, psns);
	if (ft_psn_distance(end, half->next_psn) > 0) {
		half->next_psn = end;
		half->flags &= (uint8_t)~FT_HALF_SPAN_UNKNOWN;
	}
	ft_await(tracker, moment, moment->flow, psn, psns, psn);
	return psns;
}

/* A request that never passed before fills a hole. */
static void fill(struct ft_tracker *tracker, const struct ft_moment *moment, uint32_t number)
{
	struct ft_flow *flow = moment->flow;
	uint32_t psn = moment->observed->psn, psns = 1;
	struct ft_span *hole = ft_span_at(&tracker->spans, number);

	if (is_sent_again(moment)) {
		moment->step->what |= FT_STEP_FABRIC_LOST;
		tracker->totals.fabric_lost++;
		flow->half.flags |= FT_HALF_GOING_BACK;
	} else {
		moment->step->what |= FT_STEP_REORDERED;
		tracker->totals.reordered++;
	}
	if (!moment->operation->answered)
		hole->begin = follow_late(tracker, moment, hole->begin);
	else
		psns = ask_late(tracker, moment);
	number = find_hole(tracker, &flow->half, psn); /* awaiting may have settled it */
	if (number != 0)
		ft_settle_seen(tracker, flow, number, psn, psns, moment->step);
}

/* Responses to a request that is sent again: those that never came are asked for again. */
static void ask_again(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const struct ft_half *half = &moment->flow->half;
	uint32_t psns = psns_of(tracker, moment);
	uint32_t number = half->spans;

	for (unsigned i = 0; i < half->span_count; i++) {
		struct ft_span *span = ft_span_at(&tracker->spans, number);

		if (span->kind == FT_SPAN_AWAITED &&
		    ft_psn_within(span->from, moment->observed->psn, psns == 0 ? 1 : psns)) {
			span->kind = FT_SPAN_ASKED_AGAIN;
			span->ts_ns = moment->observed->ts_ns;
		}
		number = span->next;
	}
}

/* Behind what was expected. */
static void behind(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_half *half = &moment->flow->half;
	uint32_t psn = moment->observed->psn;
	uint32_t hole = find_hole(tracker, half, psn);
	bool acked = ft_is_acked(half, psn);

	ft_loss_silent(tracker->evidence, moment->observed->frame);
	if (half->asked_psn != FT_PSN_NONE && ft_psn_distance(psn, half->asked_psn) <= 0)
		half->asked_psn = FT_PSN_NONE; /* which of the two is answered would not be known */
	if (acked)
		moment->step->what |= FT_STEP_BEHIND;
	/* answered for and sent again all the same: the first of the two never passed here */
	if (hole != 0 && !(acked && half->flags & FT_HALF_GOING_BACK)) {
		fill(tracker, moment, hole);
		return;
	}
	moment->step->what |= FT_STEP_RETRANSMITTED;
	tracker->totals.retransmitted++;
	half->flags |= FT_HALF_GOING_BACK;
	if (moment->operation->answered)
		ask_again(tracker, moment);
}

__attribute__((noinline)) static void unexpected(struct ft_tracker *tracker,
						 const struct ft_moment *moment)
{
	struct ft_half *half = &moment->flow->half;
	uint32_t psn = moment->observed->psn;
	int32_t distance;

	if (half->next_psn == FT_PSN_NONE) {
		begin(tracker, moment);
		return;
	}
	distance = ft_psn_distance(psn, half->next_psn);
	if (distance >= FT_PSN_WINDOW || distance <= -FT_PSN_WINDOW) {
		outside(tracker, moment);
		return;
	}
	half->outside = 0;
	if (distance < 0) {
		behind(tracker, moment);
		return;
	}
	if (half->flags & FT_HALF_SPAN_UNKNOWN)
		span_from_next(tracker, moment);
	drop_ahead(tracker, half);
	distance = ft_psn_distance(psn, half->next_psn);
	if (distance > 0)
		open_hole(tracker, moment, (uint32_t)distance);
	half->flags &= (uint8_t)~FT_HALF_GOING_BACK;
	tell_evidence(tracker, moment);
	accept(tracker, moment);
	ft_settle_ripe(tracker, moment->flow, moment->observed->ts_ns, moment->step);
}

void ft_request(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const struct ft_half *half = &moment->flow->half;
	const uint8_t odd = FT_HALF_SPAN_UNKNOWN | FT_HALF_GOING_BACK;

	if (__builtin_expect(half->next_psn != moment->observed->psn || half->spans != 0 ||
				     half->outside != 0 || (half->flags & odd) != 0,
			     0)) {
		unexpected(tracker, moment);
		return;
	}
	tell_evidence(tracker, moment);
	accept(tracker, moment);
}
