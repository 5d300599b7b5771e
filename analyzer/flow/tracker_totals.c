#include "lives.h"

#include <decode/extremes.h>

#include <math.h>

#include <flow/reserve.h>

#include "exchanges.h"
#include "moved.h"
#include "outcome.h"

/* What the run would come to if it ended here. */

enum {
	LONELY_PACKETS = 4, /* fewer may have been sent to nobody, or lost with their answers */
	UNCOPIED_PACKETS = 16,
	UNCOPIED_SHARE = 2, /* copies of fewer than one in so many .. */
};

static const double by_chance = 2.6; /* .. and that not by chance of so many standard deviations */

struct sum {
	const struct ft_tracker *tracker;
	struct ft_tracker_totals totals;
	struct ft_loss_evidence *evidence; /* or NULL */
	struct ft_moved *moved;            /* likewise */
	uint64_t halves;                   /* that have a peer */
	bool single;                       /* there are halves of one packet */
	uint32_t *lonely;                  /* that have none: numbers of their records; or NULL */
	uint32_t lonely_count;
};

static void add_spans(struct sum *sum, const struct ft_flow *flow)
{
	uint32_t number = flow->half.spans;

	for (unsigned i = 0; i < flow->half.span_count; i++) {
		const struct ft_span *span = ft_span_at(&sum->tracker->spans, number);

		struct ft_span_outcome outcome = ft_outcome_of(sum->tracker, flow, span);

		sum->totals.retransmitted += ft_withheld(sum->tracker, flow, span);
		if (sum->moved == NULL || !ft_moved_add(sum->moved, flow, span, &outcome))
			ft_outcome_add(&sum->totals, sum->evidence, span, outcome);
		number = span->next;
	}
}

bool ft_is_lonely(const struct ft_flow *flow)
{
	const struct ft_half *half = &flow->half;

	if (flow->peer != 0 || half->flags & FT_HALF_MET ||
	    (half->service != FT_RC && half->service != FT_XRC))
		return false;
	/* who repeats itself was not answered at all */
	return half->answered != FT_PSN_NONE ||
	       (flow->packets >= LONELY_PACKETS && (half->flags & FT_HALF_GOING_BACK) == 0);
}

void ft_count_early(struct ft_loss_evidence *evidence, const struct ft_flow *flow)
{
	if (flow->half.next_psn == FT_PSN_NONE || flow->half.flags & FT_HALF_START_SEEN)
		return;
	evidence->early += ft_smaller64(flow->packets, FT_EARLY_PSNS);
	evidence->onset += ft_smaller64(flow->packets, FT_ONSET_PACKETS);
}

/* PSN of the newest request: before half.next_psn, or where the READ begins whose responses are due up to there. */
static uint32_t newest_request(const struct ft_tracker *tracker, const struct ft_half *half)
{
	const struct ft_span *last =
		half->spans == 0 ? NULL
				 : ft_span_at(&tracker->spans,
					      ft_span_at(&tracker->spans, half->spans)->prev);

	if (last != NULL && (FT_SPANS_AWAITED >> last->kind & 1) != 0 &&
	    ft_psn_add(last->from, last->count) == half->next_psn)
		return last->begin;
	return ft_psn_back(half->next_psn, 1);
}

/* The newest packet that closed a space may be a request: one that somebody has answered for, or nobody. */
static void count_last_request(const struct ft_tracker *tracker, const struct ft_flow *flow,
			       struct ft_loss_evidence *evidence)
{
	const struct ft_half *half = &flow->half;
	bool answered;

	if (flow->packets <= 1 || half->next_psn == FT_PSN_NONE || half->service == FT_UC)
		return;
	answered = ft_is_acked(half, newest_request(tracker, half));
	evidence->ends += !answered;
	evidence->ends_answered += answered;
}

/* All it has sent is the First of a READ, which told whose it is and closed no space. */
static bool tells_whose(const struct ft_flow *flow)
{
	const struct ft_half *half = &flow->half;

	return flow->packets == 1 && (half->flags & FT_HALF_ANSWERING) != 0 &&
	       half->paired_by >= FT_PAIRED_TRANSPORT;
}

/* Its newest answer is a response, and to a request that passed: one that shows that its request is missing closes no space. */
static bool ends_responding(const struct ft_tracker *tracker, const struct ft_flow *flow)
{
	const struct ft_half *half = &flow->half;
	const struct ft_flow *peer = ft_tracker_peer(tracker, flow);
	uint32_t last;

	if (peer == NULL || half->answered == FT_PSN_NONE || tells_whose(flow) ||
	    half->answer_next != ft_psn_add(half->answered, 1))
		return false;
	last = ft_spans_last(&tracker->spans, &peer->half, FT_SPAN_IMPLIED);
	return last == 0 ||
	       ft_psn_add(ft_span_at(&tracker->spans, last)->from,
			  ft_span_at(&tracker->spans, last)->count) != half->answer_next;
}

void ft_count_end(const struct ft_tracker *tracker, const struct ft_flow *flow,
		  struct ft_loss_evidence *evidence)
{
	evidence->ends += ends_responding(tracker, flow);
	count_last_request(tracker, flow, evidence);
}

/*
 * A mirror that copies a half copies all of it, but for what it loses: more than half of it even if it loses 30 %. Copies
 * of a few are packets sent again of which no reason was seen; of n, if a are sent again by chance, 1 - e^(-a/n) are at
 * least once.
 */
void ft_doubt_copies(struct ft_loss_evidence *evidence, const struct ft_flow *flow)
{
	double packets = (double)flow->packets, copies = flow->look.copies;

	if (flow->look.copies == 0 || flow->packets < UNCOPIED_PACKETS ||
	    UNCOPIED_SHARE * (copies + by_chance * sqrt(copies)) >= packets ||
	    (flow->half.service != FT_RC && flow->half.service != FT_XRC))
		return;
	evidence->alike += flow->look.copies;
	evidence->models += (uint64_t)llround(packets * (1 - exp(-copies / packets)));
}

/* Of all responses that one requester lacks, each was told as if another one did. */
static void add_undecided(struct sum *sum, const struct ft_flow *flow)
{
	uint64_t before = sum->evidence == NULL ? 0 : sum->evidence->waiting;

	add_spans(sum, flow);
	if (sum->evidence != NULL && sum->evidence->waiting > before)
		sum->evidence->waiting = before + 1;
}

static bool add_flow(void *context, const struct ft_flow *flow)
{
	struct sum *sum = context;

	add_undecided(sum, flow);
	if (sum->moved != NULL)
		ft_moved_add_half(sum->moved, flow);
	if (sum->evidence != NULL) {
		ft_count_early(sum->evidence, flow);
		ft_count_end(sum->tracker, flow, sum->evidence);
		ft_doubt_copies(sum->evidence, flow);
	}
	sum->single |= ft_is_single(flow);
	sum->halves += flow->peer != 0;
	if (!ft_is_lonely(flow))
		return true;
	if (sum->lonely != NULL)
		sum->lonely[sum->lonely_count] = ft_tracker_number(sum->tracker, flow);
	sum->lonely_count++;
	return true;
}

/* With those forgotten. Without memory for it, all of the table's lack their reverse. */
static struct ft_lonely_sum sum_lonely(const struct sum *sum)
{
	const struct ft_tracker *tracker = sum->tracker;
	struct ft_lonely_sum told = ft_lonely_sum(&tracker->lonely);
	uint32_t pairs = tracker->lonely.used + sum->lonely_count;
	struct ft_lonely all;

	if (sum->lonely_count == 0)
		return told;
	if (sum->lonely == NULL || ft_lonely_init(&all, pairs, tracker->lonely.seed) != 0) {
		told.one_sided += sum->lonely_count;
		return told;
	}
	ft_lonely_merge(&all, &tracker->lonely);
	for (uint32_t i = 0; i < sum->lonely_count; i++) {
		const struct ft_flow *flow = ft_flow_at(tracker->table, sum->lonely[i]);

		ft_lonely_add(&all, flow, ft_pairs_is_unlike(tracker->pairs, flow));
	}
	told = ft_lonely_sum(&all);
	ft_lonely_free(&all);
	return told;
}

/* Of those that may have moved. */
static void add_settled(struct sum *sum)
{
	const struct ft_moved_holes *holes = sum->tracker->moved;

	if (sum->moved != NULL) {
		ft_moved_add_settled(sum->moved, holes);
		return;
	}
	for (uint32_t i = 0; i < holes->count; i++)
		ft_outcome_add(&sum->totals, sum->evidence, &holes->all[i].span,
			       holes->all[i].outcome);
}

struct ft_tracker_totals ft_tracker_totals(const struct ft_tracker *tracker,
					   struct ft_loss_evidence *evidence)
{
	return ft_tracker_totals_but(tracker, evidence, NULL);
}

struct ft_tracker_totals ft_tracker_totals_but(const struct ft_tracker *tracker,
					       struct ft_loss_evidence *evidence,
					       struct ft_moved *moved)
{
	const size_t bytes = ft_flow_table_stats(tracker->table).used * sizeof(uint32_t);
	struct sum sum = {
		.tracker = tracker, .totals = tracker->totals, .evidence = evidence, .moved = moved
	};
	struct ft_lonely_sum lonely;

	sum.lonely = bytes == 0 ? NULL : ft_reserve(bytes); /* touched as far as there are some */
	ft_flow_each(tracker->table, add_flow, &sum);
	add_settled(&sum);
	if (evidence != NULL && sum.single)
		ft_count_exchanges(tracker, &sum.totals, evidence);
	lonely = sum_lonely(&sum);
	ft_release(sum.lonely, bytes);
	sum.totals.paired += sum.halves / 2;
	sum.totals.one_sided = lonely.one_sided;
	sum.totals.unpaired = lonely.unpaired;
	return sum.totals;
}

struct ft_unsettled ft_tracker_unsettled(const struct ft_tracker *tracker,
					 const struct ft_flow *flow)
{
	struct ft_unsettled unsettled = { 0 };
	uint32_t number = flow->half.spans;

	for (unsigned i = 0; i < flow->half.span_count; i++) {
		const struct ft_span *span = ft_span_at(&tracker->spans, number);
		struct ft_span_outcome outcome = ft_outcome_of(tracker, flow, span);

		if (ft_span_is_answer(span) && span->kind != FT_SPAN_SKIPPED) {
			unsettled.peer_lost += outcome.lost;
			unsettled.peer_open += outcome.open;
		} else {
			unsettled.mirror_lost += outcome.lost;
			unsettled.open += outcome.open;
		}
		number = span->next;
	}
	return unsettled;
}
