#include "outcome.h"
#include "outcome_reads.h"

/* What an outcome says of loss. */

/* Kinds that a later request shows. */
enum { BY_GAP = 1u << FT_SPAN_HOLE | 1u << FT_SPAN_GUESSED };

static enum ft_loss_doubt doubt_of(const struct ft_span *span)
{
	if (span->early == FT_LATER)
		return FT_LOSS_OVERDUE;
	if (span->early == FT_AT_ONSET)
		return FT_LOSS_ONSET;
	return span->frame <= FT_LOSS_FIRST_FRAMES ? FT_LOSS_FIRST : FT_LOSS_EARLY;
}

static void miss(struct ft_loss_evidence *evidence, const struct ft_span *span,
		 struct ft_span_outcome outcome)
{
	if (outcome.pending != 0) {
		ft_loss_miss(evidence, span->frame, outcome.pending, FT_LOSS_REQUESTS);
		if (outcome.vague != 0)
			ft_loss_miss_vague(evidence, outcome.vague, outcome.pending);
	} else if (outcome.open != 0) {
		ft_loss_miss(evidence, span->frame, outcome.open, FT_LOSS_UNRELIABLE);
	}
}

void ft_outcome_add(struct ft_tracker_totals *totals, struct ft_loss_evidence *evidence,
		    const struct ft_span *span, struct ft_span_outcome outcome)
{
	bool by_gap = (BY_GAP >> span->kind & 1) != 0;

	totals->mirror_lost += outcome.lost;
	totals->lost_by_gap += by_gap ? outcome.lost : 0;
	totals->lost_by_ack += by_gap ? 0 : outcome.lost;
	totals->doubted[doubt_of(span)] += outcome.doubtful ? outcome.lost : 0;
	totals->doubted_gaps[doubt_of(span)] += outcome.doubtful && by_gap ? outcome.lost : 0;
	totals->gaps_open += outcome.open;
	if (evidence == NULL)
		return;
	if (outcome.vague != 0 && outcome.lost != 0)
		ft_loss_vague(evidence, outcome.vague, outcome.lost);
	if (span->kind == FT_SPAN_SKIPPED && outcome.lost + outcome.pending == span->count)
		ft_loss_skip(evidence, span->count, outcome.lost == 0);
	if (ft_is_in_message(span) && outcome.lost == span->count)
		ft_loss_inside(evidence, outcome.lost);
	if (outcome.lost + outcome.pending != 0)
		ft_tell_middles(evidence, span, &outcome);
	if (outcome.lost != 0)
		ft_loss_hole(evidence, span->frame, outcome.lost);
	if (outcome.lost != 0 && outcome.doubtful)
		ft_loss_doubt(evidence, span->frame, outcome.lost, doubt_of(span));
	if (outcome.doubtful && ft_span_is_answer(span))
		evidence->doubted_answers[doubt_of(span)] += outcome.lost;
	evidence->uncertain += outcome.open;
	if (ft_span_is_answer(span)) {
		evidence->answers_lost += outcome.lost;
		if (outcome.pending != 0)
			ft_loss_overdue(evidence, span->frame, outcome.pending);
	} else {
		evidence->requests_lost += outcome.lost;
		evidence->unanswered += outcome.pending;
		if (outcome.missing)
			miss(evidence, span, outcome);
	}
}
