#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Time gaps: silences of an input during which, as other evidence shows, traffic went on. A mirror
 * that stops for a while leaves nothing behind but a silence, and idle networks are silent, too. So
 * the longest silences of every input are kept, and what speaks against idleness is added to them:
 * packets proved lost from one side of the silence to the other, and other inputs that went on.
 *
 * Memory is taken once. Evidence may come in any order, and later than the silence it is about: the
 * gaps are the same.
 */

enum {
	FT_SILENCES_KEPT = 64,       /* per input, the longest */
	FT_SILENCE_MIN_NS = 1000000, /* anything up to it is no silence */
	FT_SILENCE_LENGTHS = 65,
};

struct ft_silence {
	uint64_t from_ns, to_ns; /* times of the frames before and after it */
	uint64_t holes, lost;    /* holes that it takes up half of or more, and their packets */
	uint64_t others;         /* frames of other inputs during it */
};

struct ft_silence_input {
	uint64_t last_ns; /* of its newest frame with a time; UINT64_MAX: none yet */
	uint64_t busy_ns; /* sum of the times between frames that are no silences */
	uint64_t frames;
	struct {
		uint64_t count, sum_ns;
	} by_length[FT_SILENCE_LENGTHS]; /* all silences, by the bits their length takes */
	uint64_t runs;                   /* of frames in a row, other inputs' frames between them */
	uint64_t others;                 /* frames of other inputs between its last two runs */
	uint64_t left_at;                /* frames of all inputs when its last run ended */
	uint64_t run_from;               /* its own frames when its newest run began */
	size_t kept_count;
	struct ft_silence kept[FT_SILENCES_KEPT]; /* the longest first, then the earliest */
};

struct ft_silences {
	struct ft_silence_input *inputs;
	uint32_t input_count;
	uint32_t current;     /* the input of the newest frame */
	uint64_t frames;      /* of all runs before the current one */
	uint64_t holes, lost; /* all of them, in silences or not */
};

/* A row of coverage.time_gaps. */
struct ft_time_gap {
	uint64_t from_ns, to_ns;
	uint32_t input;
};

/* 0 or -ENOMEM. `inputs` >= 1. */
int ft_silences_init(struct ft_silences *silences, uint32_t inputs);
void ft_silences_free(struct ft_silences *silences);

/* The rare halves of ft_silences_see(). */
void ft_silences_switch(struct ft_silences *silences, uint32_t input);
void ft_silences_pause(struct ft_silences *silences, uint32_t input, uint64_t ts_ns);

/* A frame that is no copy, in capture order; ts_ns UINT64_MAX: without a time. */
static inline void ft_silences_see(struct ft_silences *silences, uint32_t input, uint64_t ts_ns)
{
	struct ft_silence_input *seen = &silences->inputs[input];
	uint64_t step_ns = ts_ns - seen->last_ns;

	if (__builtin_expect(input != silences->current, 0))
		ft_silences_switch(silences, input);
	seen->frames++;
	/* a silence, or a time that went back by as much */
	if (__builtin_expect(step_ns + FT_SILENCE_MIN_NS > 2 * FT_SILENCE_MIN_NS, 0)) {
		ft_silences_pause(silences, input, ts_ns);
		return;
	}
	seen->busy_ns += step_ns;
	seen->last_ns = ts_ns;
}

/*
 * A stretch of frames in a row, all of one input, with times, each soon after the one before it. None of them is a copy.
 */
struct ft_stretch {
	uint64_t frames, first_ns, last_ns;
	uint32_t input;
};

/* Whether a frame comes soon enough after another for both to be of one stretch; it may be a little earlier. */
static inline bool ft_stretch_goes_on(uint64_t before_ns, uint64_t ts_ns)
{
	return ts_ns - before_ns + FT_SILENCE_MIN_NS <= 2 * FT_SILENCE_MIN_NS;
}

/*
 * ft_silences_see() for all of its frames at once. False, and nothing is changed: they do not go on where the current
 * input is, and are to be seen one by one.
 */
bool ft_silences_see_stretch(struct ft_silences *silences, const struct ft_stretch *stretch);

/* ft_silences_see() for frames of the current input in a row, each soon after the one before it. */
struct ft_silence_run {
	struct ft_silence_input *input;
	uint64_t last_ns, busy_ns, frames;
};

static inline struct ft_silence_run ft_silence_run_begin(const struct ft_silences *silences)
{
	struct ft_silence_input *seen = &silences->inputs[silences->current];

	return (struct ft_silence_run){ seen, seen->last_ns, seen->busy_ns, seen->frames };
}

/* False: it does not belong to the run; ft_silences_see() has to be asked after the end of the run. */
static inline bool ft_silence_run_goes_on(struct ft_silence_run *run, uint64_t ts_ns)
{
	uint64_t step_ns = ts_ns - run->last_ns;

	if (!ft_stretch_goes_on(run->last_ns, ts_ns))
		return false;
	run->frames++;
	run->busy_ns += step_ns;
	run->last_ns = ts_ns;
	return true;
}

static inline void ft_silence_run_end(const struct ft_silence_run *run)
{
	run->input->last_ns = run->last_ns;
	run->input->busy_ns = run->busy_ns;
	run->input->frames = run->frames;
}

/*
 * `count` packets of one flow were lost by the mirror of `input` in a row: the flow's frames before and
 * after them are of from_ns and to_ns. Once per hole (or per part of it, as it is proved), after
 * ft_silences_see() of the frame after the hole.
 */
void ft_silences_lost(struct ft_silences *silences, uint32_t input, uint64_t from_ns,
		      uint64_t to_ns, uint64_t count);

/*
 * The gaps so far by time, then input; at most FT_SILENCES_KEPT per input, as many as `gaps` must have
 * room for. `flows`: half-connections that could have shown a hole. Changes nothing.
 */
size_t ft_silences_gaps(const struct ft_silences *silences, uint64_t flows,
			struct ft_time_gap *gaps);
