#include "silences.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	UNUSUAL = 20,     /* times the usual time between frames is long */
	HOLES_MIN = 2,    /* evidence is two holes, or one of .. */
	PACKETS_MIN = 8,  /* .. so many packets */
	FILLED_PART = 10, /* the lost packets would have filled a tenth of the silence */
	OTHERS_MIN = 64,  /* frames of this input that others' frames during the silence make due */
};

#define NO_TIME UINT64_MAX

int ft_silences_init(struct ft_silences *silences, uint32_t inputs)
{
	*silences = (struct ft_silences){ .input_count = inputs };
	silences->inputs = calloc(inputs, sizeof *silences->inputs);
	if (silences->inputs == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < inputs; i++)
		silences->inputs[i].last_ns = NO_TIME;
	silences->inputs[0].runs = 1;
	return 0;
}

void ft_silences_free(struct ft_silences *silences)
{
	free(silences->inputs);
	silences->inputs = NULL;
}

/* A run of another input's frames begins. */
__attribute__((noinline)) void ft_silences_switch(struct ft_silences *silences, uint32_t input)
{
	struct ft_silence_input *before = &silences->inputs[silences->current];
	struct ft_silence_input *now = &silences->inputs[input];

	silences->frames += before->frames - before->run_from;
	silences->current = input;
	before->left_at = silences->frames;
	now->run_from = now->frames;
	now->others = silences->frames - now->left_at;
	now->runs++;
}

static uint64_t length(const struct ft_silence *silence)
{
	return silence->to_ns - silence->from_ns;
}

static unsigned bits(uint64_t value)
{
	return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

/* Keep it if it is one of the longest; of equal ones the earlier. */
static void keep(struct ft_silence_input *input, const struct ft_silence *silence)
{
	size_t at = input->kept_count;

	while (at > 0 && length(&input->kept[at - 1]) < length(silence))
		at--;
	if (at == FT_SILENCES_KEPT)
		return;
	if (input->kept_count < FT_SILENCES_KEPT)
		input->kept_count++;
	memmove(&input->kept[at + 1], &input->kept[at],
		(input->kept_count - at - 1) * sizeof input->kept[0]);
	input->kept[at] = *silence;
}

/* Whatever ft_silences_see() did not expect: the first frame, no time, a step back, a silence. */
__attribute__((noinline)) void ft_silences_pause(struct ft_silences *silences, uint32_t input,
						 uint64_t ts_ns)
{
	struct ft_silence_input *seen = &silences->inputs[input];
	uint64_t before_ns = seen->last_ns;
	struct ft_silence silence = { .from_ns = before_ns, .to_ns = ts_ns };

	if (ts_ns == NO_TIME)
		return;
	seen->last_ns = ts_ns;
	if (before_ns == NO_TIME || ts_ns < before_ns)
		return;
	if (seen->frames == seen->run_from + 1)
		silence.others = seen->others;
	seen->by_length[bits(length(&silence))].count++;
	seen->by_length[bits(length(&silence))].sum_ns += length(&silence);
	keep(seen, &silence);
}

bool ft_silences_see_stretch(struct ft_silences *silences, const struct ft_stretch *stretch)
{
	struct ft_silence_input *seen = &silences->inputs[silences->current];

	if (stretch->input != silences->current ||
	    !ft_stretch_goes_on(seen->last_ns, stretch->first_ns))
		return false;
	seen->frames += stretch->frames;
	seen->busy_ns += stretch->last_ns - seen->last_ns;
	seen->last_ns = stretch->last_ns;
	return true;
}

/* A hole's packets may have gone anywhere in it: it speaks for a silence that takes up most of it. */
void ft_silences_lost(struct ft_silences *silences, uint32_t input, uint64_t from_ns,
		      uint64_t to_ns, uint64_t count)
{
	struct ft_silence_input *seen = &silences->inputs[input];

	silences->holes++;
	silences->lost += count;
	if (seen->kept_count == 0 || to_ns - from_ns < length(&seen->kept[seen->kept_count - 1]))
		return;
	for (size_t i = 0; i < seen->kept_count; i++) {
		struct ft_silence *silence = &seen->kept[i];

		if (length(silence) < (to_ns - from_ns) / 2)
			return;
		if (from_ns <= silence->from_ns && silence->to_ns <= to_ns) {
			silence->holes++;
			silence->lost += count;
			return;
		}
	}
}

/*
 * The usual time between frames, as seen from a silence: that of all steps which are clearly shorter.
 * Not of all steps, because some networks fall silent again and again. 0: there are none.
 */
static double usual_step_ns(const struct ft_silence_input *input, const struct ft_silence *silence)
{
	uint64_t steps = input->frames - 1, sum_ns = input->busy_ns;

	for (unsigned b = 0; b < FT_SILENCE_LENGTHS; b++) {
		if (b + 2 <= bits(length(silence)))
			sum_ns += input->by_length[b].sum_ns;
		else
			steps -= input->by_length[b].count;
	}
	return steps > 0 ? (double)sum_ns / (double)steps : 0;
}

/* What the whole capture says about its losses. */
struct usual_losses {
	double per_frame; /* holes that span no silence, per frame */
	double length;    /* packets per such hole */
	double flows;
};

static struct usual_losses usual_losses(const struct ft_silences *silences, uint64_t frames,
					uint64_t flows)
{
	uint64_t holes = silences->holes, lost = silences->lost;

	for (uint32_t i = 0; i < silences->input_count; i++) {
		const struct ft_silence_input *input = &silences->inputs[i];

		for (size_t s = 0; s < input->kept_count; s++) {
			holes -= input->kept[s].holes;
			lost -= input->kept[s].lost;
		}
	}
	return (struct usual_losses){
		.per_frame = frames > 0 ? (double)holes / (double)frames : 0,
		.length = holes > 0 ? (double)lost / (double)holes : 1,
		.flows = (double)flows,
	};
}

/*
 * Losses fall everywhere, also beside a silence in which nobody sent. A flow that goes on after it may
 * have lost its last packet before or its first one after, so it has a hole there twice as likely as
 * before any other frame. More holes than that (by four standard deviations, two, and a quarter), or
 * far longer ones, are there because of the silence.
 */
static bool more_than_usual(const struct ft_silence *silence, const struct usual_losses *losses)
{
	double due = 2 * losses->flows * losses->per_frame;
	double above = (double)silence->holes - due - HOLES_MIN;

	return (above >= due / 4 && above * above >= 16 * due) ||
	       (double)silence->lost >= PACKETS_MIN * losses->length * (double)silence->holes;
}

static bool holes_speak(const struct ft_silence *silence, double usual_ns,
			const struct usual_losses *losses)
{
	if (silence->holes < HOLES_MIN && silence->lost < PACKETS_MIN)
		return false;
	if ((double)silence->lost * usual_ns * FILLED_PART < (double)length(silence))
		return false;
	return more_than_usual(silence, losses);
}

/*
 * Other inputs sent so much that this one should have sent, too: it has always been heard between
 * far fewer of their frames. Inputs that take turns are no evidence.
 */
static bool others_speak(const struct ft_silence_input *input, const struct ft_silence *silence,
			 uint64_t frames)
{
	double others = (double)silence->others;
	double elsewhere = (double)(frames - input->frames - silence->others);

	return others > 0 && elsewhere >= others &&
	       others * (double)input->frames >= OTHERS_MIN * elsewhere &&
	       others * (double)input->runs >= OTHERS_MIN * elsewhere;
}

static bool is_gap(const struct ft_silence_input *input, const struct ft_silence *silence,
		   const struct usual_losses *losses, uint64_t frames)
{
	double usual_ns = usual_step_ns(input, silence);

	if (usual_ns == 0 || (double)length(silence) <= UNUSUAL * usual_ns)
		return false;
	return holes_speak(silence, usual_ns, losses) || others_speak(input, silence, frames);
}

static uint64_t frames_of_all(const struct ft_silences *silences)
{
	const struct ft_silence_input *current = &silences->inputs[silences->current];

	return silences->frames + current->frames - current->run_from;
}

static int by_time(const void *a, const void *b)
{
	const struct ft_time_gap *one = a, *other = b;

	if (one->from_ns != other->from_ns)
		return one->from_ns < other->from_ns ? -1 : 1;
	return one->input < other->input ? -1 : one->input > other->input;
}

size_t ft_silences_gaps(const struct ft_silences *silences, uint64_t flows,
			struct ft_time_gap *gaps)
{
	const uint64_t frames = frames_of_all(silences);
	const struct usual_losses losses = usual_losses(silences, frames, flows);
	size_t count = 0;

	for (uint32_t i = 0; i < silences->input_count; i++) {
		const struct ft_silence_input *input = &silences->inputs[i];

		for (size_t s = 0; s < input->kept_count; s++) {
			const struct ft_silence *silence = &input->kept[s];

			if (is_gap(input, silence, &losses, frames))
				gaps[count++] =
					(struct ft_time_gap){ silence->from_ns, silence->to_ns, i };
		}
	}
	qsort(gaps, count, sizeof *gaps, by_time);
	return count;
}
