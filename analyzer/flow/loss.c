#include <flow/loss.h>

#include <math.h>
#include <string.h>

enum { LEAST_ELSEWHERE = 4, MOST_EXPECTED = 4, LEAST_OVERDUE = 2 };

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
	for (unsigned i = 0; i < FT_LOSS_DOUBTS; i++)
		into->doubted[i] += from->doubted[i];
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

static uint64_t add_up(uint64_t left, uint64_t right)
{
	uint64_t sum;

	return __builtin_add_overflow(left, right, &sum) ? UINT64_MAX : sum;
}

void ft_loss_hole(struct ft_loss_evidence *evidence, uint64_t frame, uint32_t count)
{
	ft_loss_bin(evidence, frame)->holes += count;
	evidence->squares = add_up(evidence->squares, (uint64_t)count * count);
}

void ft_loss_doubt(struct ft_loss_evidence *evidence, uint64_t frame, uint32_t count,
		   enum ft_loss_doubt doubt)
{
	ft_loss_bin(evidence, frame)->doubted[doubt] += count;
	evidence->doubted_squares[doubt] =
		add_up(evidence->doubted_squares[doubt], (uint64_t)count * count);
}

/* Of the spaces, those among which such holes are. */
static double doubtful_spaces(const struct ft_loss_evidence *evidence, enum ft_loss_doubt doubt)
{
	double spaces = 0;

	if (doubt == FT_LOSS_EARLY)
		return (double)evidence->early;
	for (uint64_t i = 0; i < evidence->used && i << evidence->shift < FT_LOSS_FIRST_FRAMES; i++)
		spaces += (double)evidence->bins[i].spaces;
	return spaces;
}

/*
 * Whether holes at the beginning are more than four times as many as holes elsewhere let expect, and there is enough
 * elsewhere to say so.
 */
static bool is_too_much(const struct ft_loss_evidence *evidence, const struct ft_loss_bin *sum,
			enum ft_loss_doubt doubt)
{
	double spaces = (double)sum->spaces;
	double early = fmin(doubtful_spaces(evidence, doubt), spaces);
	double doubted = (double)sum->doubted[doubt];
	double others = (double)sum->holes - (double)sum->doubted[FT_LOSS_FIRST] -
			(double)sum->doubted[FT_LOSS_EARLY];

	return doubted > 0 && LEAST_ELSEWHERE * (spaces - early) >= early &&
	       MOST_EXPECTED * others * early < doubted * (spaces - early);
}

/* Whether responses are overdue as a fabric makes them that loses the request for them too: of all it loses, so few. */
static bool is_so_few(const struct ft_loss_evidence *evidence, const struct ft_loss_bin *sum)
{
	double fabric = (double)evidence->fabric;
	double twice = 2 * fabric * fabric / fmax((double)sum->spaces, 1);

	return (double)sum->doubted[FT_LOSS_OVERDUE] <= LEAST_OVERDUE + MOST_EXPECTED * twice;
}

static void take_out(struct ft_loss_evidence *evidence, const struct ft_loss_bin *sum,
		     enum ft_loss_doubt doubt)
{
	for (uint32_t i = 0; i < evidence->used; i++)
		evidence->bins[i].holes -= evidence->bins[i].doubted[doubt];
	evidence->squares -= evidence->doubted_squares[doubt];
	evidence->uncertain += sum->doubted[doubt];
	if (doubt == FT_LOSS_OVERDUE)
		evidence->answers_lost -= sum->doubted[doubt];
	else
		evidence->requests_lost -= sum->doubted[doubt];
}

uint32_t ft_loss_resolve(struct ft_loss_evidence *evidence)
{
	struct ft_loss_bin sum = { 0 };
	uint32_t taken = 0;

	for (uint32_t i = 0; i < evidence->used; i++)
		add(&sum, &evidence->bins[i]);
	if (evidence->fabric + evidence->late + sum.again == 0)
		return 0;
	for (unsigned doubt = FT_LOSS_FIRST; doubt <= FT_LOSS_EARLY; doubt++)
		if (is_too_much(evidence, &sum, (enum ft_loss_doubt)doubt))
			taken |= 1u << doubt;
	if (sum.doubted[FT_LOSS_OVERDUE] != 0 && is_so_few(evidence, &sum))
		taken |= 1u << FT_LOSS_OVERDUE;
	for (unsigned doubt = 0; doubt < FT_LOSS_DOUBTS; doubt++)
		if (taken >> doubt & 1)
			take_out(evidence, &sum, (enum ft_loss_doubt)doubt);
	return taken;
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

void ft_loss_merge(struct ft_loss_evidence *into, const struct ft_loss_evidence *from)
{
	while (into->shift < from->shift)
		halve(into);
	for (uint32_t i = 0; i < from->used; i++)
		add(ft_loss_bin(into, (uint64_t)i << from->shift), &from->bins[i]);
	into->starts += from->starts;
	into->squares = add_up(into->squares, from->squares);
	into->fabric += from->fabric;
	into->late += from->late;
	into->early += from->early;
	for (unsigned i = 0; i < FT_LOSS_DOUBTS; i++)
		into->doubted_squares[i] =
			add_up(into->doubted_squares[i], from->doubted_squares[i]);
	into->uncertain += from->uncertain;
	into->unanswered += from->unanswered;
	into->overdue += from->overdue;
	into->questions += from->questions;
	into->answers += from->answers;
	into->answers_lost += from->answers_lost;
	into->requests_lost += from->requests_lost;
	into->implied += from->implied;
	into->orphans += from->orphans;
}
