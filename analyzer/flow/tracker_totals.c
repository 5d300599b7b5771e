#include "lives.h"

#include <math.h>

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
	uint64_t halves;                   /* that have a peer */
	uint64_t lonely;                   /* that have none */
};

static void add_spans(struct sum *sum, const struct ft_flow *flow)
{
	uint32_t number = flow->half.spans;

	for (unsigned i = 0; i < flow->half.span_count; i++) {
		const struct ft_span *span = ft_span_at(&sum->tracker->spans, number);

		sum->totals.retransmitted += ft_withheld(sum->tracker, flow, span);
		ft_outcome_add(&sum->totals, sum->evidence, span,
			       ft_outcome_of(sum->tracker, flow, span));
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

static uint64_t at_most(uint64_t packets, uint64_t most)
{
	return packets < most ? packets : most;
}

void ft_count_early(struct ft_loss_evidence *evidence, const struct ft_flow *flow)
{
	if (flow->half.next_psn == FT_PSN_NONE || flow->half.flags & FT_HALF_START_SEEN)
		return;
	evidence->early += at_most(flow->packets, FT_EARLY_PSNS);
	evidence->onset += at_most(flow->packets, FT_ONSET_PACKETS);
}

void ft_count_end(struct ft_loss_evidence *evidence, const struct ft_flow *flow)
{
	const struct ft_half *half = &flow->half;

	evidence->ends += flow->peer != 0 && half->answered != FT_PSN_NONE &&
			  half->answer_next == ft_psn_add(half->answered, 1);
}

/*
 * A mirror that copies a half copies all of it, but for what it loses: more than half of it even if it loses 30 %. Copies
 * of a few are packets sent again of which no reason was seen; of n, if a are sent again by chance, 1 - e^(-a/n) are at
 * least once.
 */
void ft_doubt_copies(struct ft_loss_evidence *evidence, const struct ft_flow *flow)
{
	double packets = (double)flow->packets, copies = flow->look.copies;

	if (flow->packets < UNCOPIED_PACKETS ||
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
	if (sum->evidence != NULL) {
		ft_count_early(sum->evidence, flow);
		ft_count_end(sum->evidence, flow);
		ft_doubt_copies(sum->evidence, flow);
	}
	sum->lonely += ft_is_lonely(flow);
	sum->halves += flow->peer != 0;
	return true;
}

struct lonely_sum {
	const struct ft_pairs *pairs;
	struct ft_lonely lonely;
};

static bool add_lonely(void *context, const struct ft_flow *flow)
{
	struct lonely_sum *sum = context;

	if (ft_is_lonely(flow))
		ft_lonely_add(&sum->lonely, flow, ft_pairs_is_unlike(sum->pairs, flow));
	return true;
}

/* With those forgotten. Without memory for it, all of the table's lack their reverse. */
static struct ft_lonely_sum sum_lonely(const struct ft_tracker *tracker, uint64_t in_table)
{
	struct lonely_sum sum = { .pairs = tracker->pairs };
	struct ft_lonely_sum told = ft_lonely_sum(&tracker->lonely);
	uint32_t pairs = tracker->lonely.used + (uint32_t)in_table;

	if (in_table == 0)
		return told;
	if (ft_lonely_init(&sum.lonely, pairs, tracker->lonely.seed) != 0) {
		told.one_sided += in_table;
		return told;
	}
	ft_lonely_merge(&sum.lonely, &tracker->lonely);
	ft_flow_each(tracker->table, add_lonely, &sum);
	told = ft_lonely_sum(&sum.lonely);
	ft_lonely_free(&sum.lonely);
	return told;
}

struct ft_tracker_totals ft_tracker_totals(const struct ft_tracker *tracker,
					   struct ft_loss_evidence *evidence)
{
	struct sum sum = { .tracker = tracker, .totals = tracker->totals, .evidence = evidence };
	struct ft_lonely_sum lonely;

	ft_flow_each(tracker->table, add_flow, &sum);
	lonely = sum_lonely(tracker, sum.lonely);
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

		if (ft_span_is_answer(span) && span->kind != FT_SPAN_SKIPPED)
			unsettled.peer_lost += outcome.lost;
		else
			unsettled.mirror_lost += outcome.lost;
		unsettled.open += outcome.open;
		number = span->next;
	}
	return unsettled;
}
