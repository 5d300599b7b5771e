#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * How many frames the mirror lost, from what was proved lost. In a sequence of n packets seen there
 * are n - 1 places where a loss shows (`spaces`); frames that are in no sequence (acknowledgements,
 * CNPs, UD, the ends of a sequence) are `silent`: the rate seen on the others stands for them.
 * Kept by time, in bins of equally many frames, because losses come in bursts: the spread of the
 * bins gives the bounds.
 */

enum { FT_LOSS_BINS = 4096 };

struct ft_loss_bin {
	uint32_t spaces; /* places where a loss would have shown */
	uint32_t holes;  /* frames proved lost by the mirror */
	uint32_t silent; /* RDMA frames seen that close no space */
};

/* Bin i holds frames i << shift and on; the width doubles when the last bin is full. */
struct ft_loss_evidence {
	unsigned shift;
	uint32_t used;
	uint64_t uncertain; /* frames missing where fabric and mirror cannot be told apart (UC) */
	struct ft_loss_bin bins[FT_LOSS_BINS];
};

void ft_loss_init(struct ft_loss_evidence *evidence);

/* Frame `frame` (from 1) closed a space without a hole, or was silent; `count` frames before it were lost. */
void ft_loss_space(struct ft_loss_evidence *evidence, uint64_t frame);
void ft_loss_silent(struct ft_loss_evidence *evidence, uint64_t frame);
void ft_loss_hole(struct ft_loss_evidence *evidence, uint64_t frame, uint32_t count);

/* Add another engine's evidence; the result does not depend on who saw which frame. */
void ft_loss_merge(struct ft_loss_evidence *into, const struct ft_loss_evidence *from);

struct ft_loss_estimate {
	bool known;         /* false: nothing in the capture allows an estimate */
	bool bounded;       /* high is known */
	uint64_t frames;    /* the estimate */
	uint64_t low, high; /* hold the truth with 99 % */
	uint64_t seen;      /* RDMA frames seen */
	double share_seen;  /* seen / (seen + frames) */
};

/* `counted`: frames that a counter of the mirror or the source itself says are lost (mirror sequence
 * numbers, drop counters, ERF loss counters), 0 if none: the estimate is never below it. */
void ft_loss_estimate(const struct ft_loss_evidence *evidence, uint64_t counted,
		      struct ft_loss_estimate *estimate);
