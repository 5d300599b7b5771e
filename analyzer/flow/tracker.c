#include <errno.h>
#include <stdlib.h>

#include <flow/opening.h>

#include "moved.h"
#include "outcome.h"

enum {
	AGAIN = 1u << 15, /* packets sent again that are remembered */
	/* of addresses, between which halves without a pair went that are forgotten */
	LONELY_PAIRS = 1u << 16,
};

int ft_tracker_create(struct ft_tracker **tracker, const struct ft_tracker_config *config,
		      struct ft_flow_table *table, struct ft_loss_evidence *evidence)
{
	struct ft_tracker *made;
	int failure = -ENOMEM;

	if (config->spans == 0 || config->spans > FT_SPANS_MOST)
		return -EINVAL;
	made = calloc(1, sizeof *made);
	if (made == NULL)
		return -ENOMEM;
	made->config = *config;
	made->table = table;
	made->records = ft_flow_at(table, 1);
	made->evidence = evidence;
	made->damaged.seed = config->seed;
	failure = ft_spans_create(&made->spans, config->spans);
	if (failure != 0)
		goto free_tracker;
	made->moved = calloc(1, sizeof *made->moved);
	failure = made->moved == NULL ? -ENOMEM : ft_moved_holes_init(made->moved);
	if (failure != 0)
		goto free_moved;
	failure = ft_recall_init(&made->again, AGAIN, config->seed);
	if (failure != 0)
		goto free_holes;
	failure = ft_lonely_init(&made->lonely, LONELY_PAIRS, config->seed);
	if (failure != 0)
		goto free_again;
	failure = ft_pairs_create(&made->pairs, table, config->seed);
	if (failure != 0)
		goto free_lonely;
	*tracker = made;
	return 0;

free_lonely:
	ft_lonely_free(&made->lonely);
free_again:
	ft_recall_free(&made->again);
free_holes:
	ft_moved_holes_free(made->moved);
free_moved:
	free(made->moved);
	ft_spans_destroy(&made->spans);
free_tracker:
	free(made);
	return failure;
}

void ft_tracker_destroy(struct ft_tracker *tracker)
{
	if (tracker == NULL)
		return;
	ft_pairs_destroy(tracker->pairs);
	ft_lonely_free(&tracker->lonely);
	ft_recall_free(&tracker->again);
	ft_moved_holes_free(tracker->moved);
	free(tracker->moved);
	ft_spans_destroy(&tracker->spans);
	free(tracker);
}

static bool is_set_up(const struct ft_flow *flow)
{
	return flow->half.paired_by == FT_PAIRED_CM || flow->half.paired_by == FT_PAIRED_NCCL;
}

/*
 * Whether responses that are due may have come unseen: of a half that has forgotten since what it answered,
 * for it was silent for too long or evicted.
 */
static bool may_have_come(const struct ft_tracker *tracker, const struct ft_span *span,
			  uint64_t now_ns)
{
	return span->ts_ns <= tracker->forgotten_ns ||
	       ft_elapsed(now_ns, span->ts_ns) > tracker->config.flow_timeout_ns;
}

/* Responses that came before the halves had met were not looked for: let go of them. */
static void let_go(struct ft_tracker *tracker, struct ft_half *half, struct ft_flow *other,
		   uint64_t now_ns)
{
	uint32_t number = half->spans;

	for (unsigned left = half->span_count; left != 0; left--) {
		const struct ft_span *span = ft_span_at(&tracker->spans, number);
		uint32_t there = may_have_come(tracker, span, now_ns)
					 ? span->count
					 : ft_psn_reached(half->acked, span->from, span->count);
		uint32_t next = span->next;

		if ((FT_SPANS_AWAITED >> span->kind & 1) != 0 && there != 0) {
			ft_expect_again(other, span->from);
			ft_spans_take(&tracker->spans, half, number, span->from, there);
		}
		number = next;
	}
}

static bool is_near(uint32_t answered, uint32_t psn)
{
	return answered != FT_PSN_NONE &&
	       ft_psn_within(answered, ft_psn_back(psn, FT_PSN_WINDOW), 2 * FT_PSN_WINDOW);
}

/* Its requests, if any, are of so long ago that the queue pairs may have been set up anew since. */
static bool asked_long_ago(const struct ft_flow *flow, uint64_t now_ns)
{
	uint32_t now = (uint32_t)(now_ns >> FT_FLOW_MOMENT_SHIFT);

	return flow->asked != 0 && now_ns != 0 && now_ns != UINT64_MAX &&
	       (int32_t)(now - flow->asked) > FT_ANEW_NS >> FT_FLOW_MOMENT_SHIFT;
}

/* What the other half has answered so far is for the requests of this one. */
static void meet(struct ft_tracker *tracker, struct ft_flow *flow, struct ft_flow *other,
		 uint64_t now_ns)
{
	uint32_t answered = other->half.answered;
	struct ft_half *half = &flow->half;

	if (half->next_psn == FT_PSN_NONE || answered == FT_PSN_NONE ||
	    is_near(answered, half->next_psn))
		half->acked = ft_psn_newest(half->acked, answered);
	if (half->asked_psn != FT_PSN_NONE && ft_is_acked(half, half->asked_psn))
		half->asked_psn = FT_PSN_NONE; /* when its answer came is not known any more */
	ft_share_mtu(tracker, half, &other->half);
	half->flags |= FT_HALF_MET | (is_set_up(other) ? FT_HALF_START_SEEN : 0);
	ft_outcome_narrow(tracker, half);
	let_go(tracker, half, other, now_ns);
	if (asked_long_ago(flow, now_ns))
		ft_expect_anew(half);
}

void ft_meet(struct ft_tracker *tracker, struct ft_flow *flow, struct ft_flow *peer,
	     uint64_t now_ns)
{
	meet(tracker, flow, peer, now_ns);
	meet(tracker, peer, flow, now_ns);
}

/* What was answered were another one's requests; those that the answers showed were, too. */
static void forget_answers(struct ft_tracker *tracker, struct ft_half *half)
{
	uint32_t last = ft_spans_last(&tracker->spans, half, FT_SPAN_IMPLIED);

	if (last != 0)
		ft_retract(tracker, half, last);
	ft_spans_drop(&tracker->spans, half, 1u << FT_SPAN_IMPLIED | 1u << FT_SPAN_AHEAD);
	half->acked = half->asked_psn = FT_PSN_NONE;
}

void ft_unmeet(struct ft_tracker *tracker, struct ft_half *half, struct ft_half *other)
{
	forget_answers(tracker, half);
	forget_answers(tracker, other);
}

void ft_contradict(struct ft_tracker *tracker, struct ft_flow *flow, int evidence)
{
	struct ft_flow *peer = ft_tracker_peer(tracker, flow);

	ft_pairs_contradict(tracker->pairs, flow, evidence);
	if (peer != NULL && flow->peer == 0)
		ft_unmeet(tracker, &flow->half, &peer->half);
}

void ft_forget_requests(struct ft_half *half)
{
	half->next_psn = half->acked = FT_PSN_NONE;
	half->first_psn = FT_PSN_ANEW;
	half->message_psn = half->asked_psn = FT_PSN_NONE;
	half->message_bytes = half->outside = 0;
	half->flags &= FT_HALF_ANSWERING | FT_HALF_START_SEEN | FT_HALF_MET;
}

/* The halves part: what is open of either can no longer be answered for. */
static void part(struct ft_tracker *tracker, struct ft_flow *flow, struct ft_step *step)
{
	struct ft_flow *peer = ft_tracker_peer(tracker, flow);

	ft_settle_all(tracker, flow, step);
	if (peer != NULL) {
		ft_settle_all(tracker, peer, step);
		tracker->totals.paired++;
	}
	ft_pairs_leave(tracker->pairs, flow);
}

/* What set-up or a DETH names is known at once. */
static void enter(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_flow *flow = moment->flow;
	struct ft_flow *peer;

	flow->half.service = (uint8_t)ft_opcode_service(moment->observed->opcode);
	moment->step->what |= ft_restart_of(moment);
	flow->opened = ft_opening_of(moment->observed->frame);
	ft_pairs_enter(tracker->pairs, flow, moment->observed);
	peer = ft_tracker_peer(tracker, flow);
	if (peer != NULL)
		ft_meet(tracker, flow, peer, moment->observed->ts_ns);
}

static void forget_all(struct ft_half *half)
{
	ft_forget_requests(half);
	half->flags = 0;
	half->mtu = 0;
	half->answered = half->answer_next = FT_PSN_NONE;
}

/*
 * A queue pair that begins anew begins anew both ways: so does the other half, with its next packet. What that has
 * answered may be for the new requests, ahead of them from another mirror port.
 */
static void begin_connection(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_flow *flow = moment->flow, *peer = ft_tracker_peer(tracker, flow);
	uint32_t answered = peer == NULL ? FT_PSN_NONE : peer->half.answered;

	if (peer != NULL)
		ft_part_lives(tracker, &peer->half);
	part(tracker, flow, moment->step);
	forget_all(&flow->half);
	if (peer == NULL)
		return;
	ft_pairs_leave(tracker->pairs, peer);
	forget_all(&peer->half);
	peer->half.service = UINT8_MAX;
	if (is_near(answered, moment->observed->psn))
		peer->half.answered = answered;
}

void ft_begin_lives(struct ft_half *half, struct ft_half *other)
{
	ft_forget_requests(half);
	ft_forget_requests(other);
	half->answered = half->answer_next = FT_PSN_NONE;
	other->answered = other->answer_next = FT_PSN_NONE;
}

void ft_begin_both(struct ft_tracker *tracker, struct ft_flow *flow, struct ft_flow *peer,
		   struct ft_step *step)
{
	ft_settle_all(tracker, flow, step);
	ft_settle_all(tracker, peer, step);
	ft_begin_lives(&flow->half, &peer->half);
	tracker->evidence->lives++;
}

__attribute__((noinline)) void ft_restart(struct ft_tracker *tracker,
					  const struct ft_moment *moment)
{
	struct ft_half *half = &moment->flow->half;

	if (half->service != UINT8_MAX) {
		begin_connection(tracker, moment);
		tracker->evidence->lives++;
	}
	enter(tracker, moment);
}

void ft_tracker_forget(struct ft_tracker *tracker, struct ft_flow *flow)
{
	if (ft_is_lonely(flow))
		ft_lonely_add(&tracker->lonely, flow, ft_pairs_is_unlike(tracker->pairs, flow));
	tracker->evidence->forgotten++;
	ft_count_early(tracker->evidence, flow);
	ft_count_end(tracker, flow, tracker->evidence);
	ft_doubt_copies(tracker->evidence, flow);
	if (flow->peer == 0 && flow->half.answered != FT_PSN_NONE &&
	    flow->last_ns > tracker->forgotten_ns)
		tracker->forgotten_ns = flow->last_ns;
	part(tracker, flow, NULL);
}

void ft_tracker_tell_apart(struct ft_tracker *tracker, struct ft_flow *flow)
{
	struct ft_flow *peer = ft_tracker_peer(tracker, flow);

	if (peer == NULL || ft_flow_may_share_vlan(flow, peer) || is_set_up(flow))
		return;
	ft_pairs_mistook(tracker->pairs, flow);
	ft_unmeet(tracker, &flow->half, &peer->half);
}

void ft_tracker_see_copy(struct ft_flow *flow)
{
	if (flow->look.copies < UINT16_MAX)
		flow->look.copies++;
}

void ft_tracker_see_damaged(struct ft_tracker *tracker, const struct ft_flow *flow,
			    const struct ft_observed *observed)
{
	const uint32_t numbered = 1u << FT_RC | 1u << FT_XRC | 1u << FT_UC;
	enum ft_role role = ft_operation(observed->opcode)->role;
	uint32_t number = ft_tracker_number(tracker, flow);

	if ((numbered >> ft_opcode_service(observed->opcode) & 1) == 0 || flow->packets == 0 ||
	    (role != FT_ROLE_REQUEST && role != FT_ROLE_QUESTION && role != FT_ROLE_RESPONSE)) {
		ft_loss_silent(tracker->evidence, observed->frame);
		return;
	}
	ft_damaged_add(&tracker->damaged, number,
		       observed->psn | (role == FT_ROLE_RESPONSE ? FT_DAMAGED_ANSWER : 0));
	if (flow->half.service == FT_UC)
		ft_loss_silent(tracker->evidence, observed->frame);
	else
		ft_loss_space(tracker->evidence, observed->frame);
}

/* A half that a set-up names anew begins anew. */
static void begin_named(struct ft_tracker *tracker, struct ft_flow *flow,
			const struct ft_flow *peer)
{
	uint32_t number = peer == NULL ? 0 : ft_flow_number(tracker->table, peer);

	if (flow == NULL || (flow->peer == number && number != 0))
		return;
	ft_settle_all(tracker, flow, NULL);
	ft_forget_requests(&flow->half);
	flow->half.answered = flow->half.answer_next = FT_PSN_NONE;
}

void ft_tracker_pair(struct ft_tracker *tracker, const struct ft_flow_key *there,
		     const struct ft_flow_key *back, enum ft_paired_by by)
{
	struct ft_flow *one = ft_flow_find_whole(tracker->table, there, there->vlan);
	struct ft_flow *other = ft_flow_find_whole(tracker->table, back, back->vlan);
	uint32_t before = one == NULL ? 0 : one->peer;

	if (by == FT_PAIRED_CM) {
		begin_named(tracker, one, other);
		begin_named(tracker, other, one);
	}
	ft_pairs_learn(tracker->pairs, there, back, by);
	if (one != NULL && one->peer != before && ft_tracker_peer(tracker, one) == other)
		ft_meet(tracker, one, other, 0);
}

void ft_tracker_confirm(struct ft_tracker *tracker, const struct ft_flow_key *there,
			const struct ft_flow_key *back, enum ft_paired_by by)
{
	struct ft_flow *one = ft_flow_find_whole(tracker->table, there, there->vlan);
	struct ft_flow *other = ft_flow_find_whole(tracker->table, back, back->vlan);

	if (one != NULL && other != NULL && one != other &&
	    ft_pairs_confirm(tracker->pairs, one, other, by))
		ft_meet(tracker, one, other, 0);
}
