#include "loss_parts.h"

#include <string.h>

void ft_loss_init(struct ft_loss_evidence *evidence)
{
	memset(evidence, 0, sizeof(*evidence));
}

static void add(struct ft_loss_bin *into, const struct ft_loss_bin *from)
{
	into->spaces += from->spaces;
	into->holes += from->holes;
	into->silent += from->silent;
	into->again += from->again;
	into->unreliable += from->unreliable;
	into->exchanges += from->exchanges;
	for (unsigned i = 0; i < FT_LOSS_DOUBTS; i++)
		into->doubted[i] += from->doubted[i];
	for (unsigned i = 0; i < FT_LOSS_MISSING; i++)
		into->missing[i] += from->missing[i];
}

/* Two bins become one; the upper half is free. */
static void halve(struct ft_loss_evidence *evidence)
{
	for (unsigned i = 0; i < FT_LOSS_BINS / 2; i++) {
		evidence->bins[i] = evidence->bins[2 * i];
		add(&evidence->bins[i], &evidence->bins[2 * i + 1]);
	}
	memset(&evidence->bins[FT_LOSS_BINS / 2], 0, FT_LOSS_BINS / 2 * sizeof(struct ft_loss_bin));
	evidence->used = (evidence->used + 1) / 2;
	evidence->shift++;
	evidence->current.frames = 0;
}

void ft_loss_turn(struct ft_loss_evidence *evidence, uint64_t frame)
{
	while (frame >> evidence->shift >= FT_LOSS_BINS)
		halve(evidence);
	evidence->current = (struct ft_loss_place){
		.from = frame >> evidence->shift << evidence->shift,
		.frames = UINT64_C(1) << evidence->shift,
		.bin = frame >> evidence->shift,
	};
	if (evidence->current.bin >= evidence->used)
		evidence->used = (uint32_t)evidence->current.bin + 1;
}

void ft_loss_hole(struct ft_loss_evidence *evidence, uint64_t frame, uint32_t count)
{
	ft_loss_bin(evidence, frame)->holes += count;
	evidence->squares = ft_loss_add_up(evidence->squares, (uint64_t)count * count);
}

void ft_loss_doubt(struct ft_loss_evidence *evidence, uint64_t frame, uint32_t count,
		   enum ft_loss_doubt doubt)
{
	ft_loss_bin(evidence, frame)->doubted[doubt] += count;
	evidence->doubted_squares[doubt] =
		ft_loss_add_up(evidence->doubted_squares[doubt], (uint64_t)count * count);
	evidence->waiting += doubt == FT_LOSS_OVERDUE;
}

void ft_loss_miss(struct ft_loss_evidence *evidence, uint64_t frame, uint32_t count,
		  enum ft_loss_missing what)
{
	uint64_t *squares = &evidence->missing_squares[what];

	ft_loss_bin(evidence, frame)->missing[what] += count;
	*squares = ft_loss_add_up(*squares, (uint64_t)count * count);
}

void ft_loss_middles(struct ft_loss_evidence *evidence, uint64_t frame,
		     const struct ft_loss_run *run)
{
	struct ft_loss_bin *bin = ft_loss_bin(evidence, frame);
	uint64_t lost = run->lost - run->lost_middles, open = run->open - run->open_middles;

	bin->missing[FT_LOSS_MIDDLES] += run->lost_middles;
	evidence->middles_answers += run->answers ? run->lost_middles : 0;
	evidence->middles_unanswered += run->answers ? 0 : run->open_middles;
	evidence->shown_squares = ft_loss_add_up(evidence->shown_squares, lost * lost);
	if (run->answers) {
		bin->missing[FT_LOSS_MIDDLES_OVERDUE] += run->open_middles;
		evidence->shown_overdue_squares =
			ft_loss_add_up(evidence->shown_overdue_squares, open * open);
	} else if (run->missing) {
		bin->missing[FT_LOSS_MIDDLES_OPEN] += run->open_middles;
		evidence->shown_open_squares =
			ft_loss_add_up(evidence->shown_open_squares, open * open);
	}
}

void ft_loss_overdue(struct ft_loss_evidence *evidence, uint64_t frame, uint32_t count)
{
	ft_loss_miss(evidence, frame, count, FT_LOSS_RESPONSES);
	evidence->overdue += count;
}

struct ft_loss_bin ft_loss_sum(const struct ft_loss_evidence *evidence)
{
	struct ft_loss_bin sum = { 0 };

	for (uint32_t i = 0; i < evidence->used; i++)
		add(&sum, &evidence->bins[i]);
	return sum;
}

void ft_loss_compact(struct ft_loss_evidence *evidence)
{
	uint32_t kept = 0;

	if (evidence->shift != 0)
		return;
	for (uint32_t i = 0; i < evidence->used; i++) {
		const struct ft_loss_bin *bin = &evidence->bins[i];

		if (bin->spaces != 0 || bin->holes != 0 || bin->silent != 0 || bin->again != 0)
			evidence->bins[kept++] = *bin;
	}
	evidence->used = kept;
	evidence->current.frames = 0;
}

uint64_t ft_loss_seen(const struct ft_loss_evidence *evidence)
{
	uint64_t seen = 0;

	for (uint32_t i = 0; i < evidence->used; i++)
		seen += evidence->bins[i].spaces + evidence->bins[i].silent;
	return seen;
}

/* What was sent again, overtaken or asked for again, and what is doubted for it. */
static void add_trouble(struct ft_loss_evidence *into, const struct ft_loss_evidence *from)
{
	into->fabric += from->fabric;
	into->filled += from->filled;
	into->twice += from->twice;
	into->oftener += from->oftener;
	into->past += from->past;
	into->renewed += from->renewed;
	into->lives += from->lives;
	into->late += from->late;
	into->late_once += from->late_once;
	into->refused += from->refused;
	into->crowded += from->crowded;
	into->early += from->early;
	into->longer += from->longer;
	into->onset += from->onset;
	into->alike += from->alike;
	into->models += from->models;
	into->waiting += from->waiting;
	for (unsigned i = 0; i < FT_LOSS_DOUBTS; i++) {
		into->doubted_squares[i] =
			ft_loss_add_up(into->doubted_squares[i], from->doubted_squares[i]);
		into->doubted_answers[i] += from->doubted_answers[i];
	}
}

static void add_missing(struct ft_loss_evidence *into, const struct ft_loss_evidence *from)
{
	into->uncertain += from->uncertain;
	into->unanswered += from->unanswered;
	into->overdue += from->overdue;
	for (unsigned i = 0; i < FT_LOSS_MISSING; i++)
		into->missing_squares[i] =
			ft_loss_add_up(into->missing_squares[i], from->missing_squares[i]);
}

/* Requests, and what answers them. */
static void add_sides(struct ft_loss_evidence *into, const struct ft_loss_evidence *from)
{
	into->questions += from->questions;
	into->answers += from->answers;
	into->answers_lost += from->answers_lost;
	into->requests_lost += from->requests_lost;
	into->implied += from->implied;
	into->orphans += from->orphans;
	into->answers_seen += from->answers_seen;
	into->ends += from->ends;
	into->ends_answered += from->ends_answered;
	into->ahead += from->ahead;
	into->acked_unseen += from->acked_unseen;
	into->asking += from->asking;
	into->acks += from->acks;
	into->timed += from->timed;
	into->passed_over += from->passed_over;
	into->torn_counted += from->torn_counted;
	into->torn_uncounted += from->torn_uncounted;
	into->replies += from->replies;
	into->small += from->small;
	into->answering += from->answering;
	into->joined += from->joined;
	into->apart += from->apart;
}

/* Holes by their PSNs, and what tells how many packets those are. */
static void add_vague(struct ft_loss_evidence *into, const struct ft_loss_evidence *from)
{
	for (unsigned i = 0; i <= FT_LOSS_VAGUE; i++) {
		into->reads[i] += from->reads[i];
		into->vague[i] += from->vague[i];
		into->missing_vague[i] += from->missing_vague[i];
		into->skips[i] += from->skips[i];
		into->missing_skips[i] += from->missing_skips[i];
	}
	into->missing_counted += from->missing_counted;
	into->vague_counted += from->vague_counted;
	into->runs += from->runs;
	into->run_psns += from->run_psns;
}

/* What a filter has taken. */
static void add_middles(struct ft_loss_evidence *into, const struct ft_loss_evidence *from)
{
	into->hollow += from->hollow;
	into->torn += from->torn;
	into->middles_answers += from->middles_answers;
	into->middles_unanswered += from->middles_unanswered;
	into->shown_squares = ft_loss_add_up(into->shown_squares, from->shown_squares);
	into->shown_open_squares =
		ft_loss_add_up(into->shown_open_squares, from->shown_open_squares);
	into->shown_overdue_squares =
		ft_loss_add_up(into->shown_overdue_squares, from->shown_overdue_squares);
}

static void add_exchanges(struct ft_loss_evidence *into, const struct ft_loss_evidence *from)
{
	into->exchanges_beside += from->exchanges_beside;
	into->exchanges_alike += from->exchanges_alike;
	into->exchange_frames += from->exchange_frames;
	into->unmet_requests += from->unmet_requests;
	into->hidden += from->hidden;
	into->crowd += from->crowd;
	into->crowd_squares = ft_loss_add_up(into->crowd_squares, from->crowd_squares);
	into->crowd_off = ft_loss_add_up(into->crowd_off, from->crowd_off);
	into->sided += from->sided;
	into->faced += from->faced;
	ft_loss_add_places(into, from);
}

void ft_loss_merge(struct ft_loss_evidence *into, const struct ft_loss_evidence *from)
{
	while (into->shift < from->shift)
		halve(into);
	for (uint32_t i = 0; i < from->used; i++)
		add(ft_loss_bin(into, (uint64_t)i << from->shift), &from->bins[i]);
	into->opened += from->opened;
	into->begun += from->begun;
	into->begun_soon += from->begun_soon;
	into->counted += from->counted;
	into->forgotten += from->forgotten;
	for (unsigned i = 0; i < FT_LOSS_NEAR; i++)
		into->near[i] += from->near[i];
	into->squares = ft_loss_add_up(into->squares, from->squares);
	add_trouble(into, from);
	add_missing(into, from);
	add_sides(into, from);
	add_vague(into, from);
	add_middles(into, from);
	add_exchanges(into, from);
}
