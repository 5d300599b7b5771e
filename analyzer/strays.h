#pragma once

#include "findings.h"

/*
 * spoof.psn-window before it counts: a request far from its connection's sequence is a stray, or the first of a queue pair
 * that is in use anew, which shows when its receiver answers in the new sequence. If the connection then goes back to where
 * it was, what it left for was none. A bounded list, in the order of the capture; what it has no room for counts.
 */
enum { FT_STRAYS = 256 };

struct ft_stray {
	uint64_t half;    /* digest of the half-connection's key */
	uint32_t finding; /* index */
	uint32_t dest_qp; /* FT_NONE: not known */
	uint64_t number, ts_ns;
	uint32_t wire;
	struct ft_suspicion suspicion;
	bool excused; /* it began a sequence that was answered */
};

struct ft_strays {
	struct ft_stray *items; /* a ring */
	uint32_t first, count;
};

int ft_strays_init(struct ft_strays *strays); /* 0 or -ENOMEM */
void ft_strays_free(struct ft_strays *strays);

/* One more; where there is no room the oldest is counted in `findings`, or let go if it was excused. */
void ft_strays_add(struct ft_strays *strays, const struct ft_stray *stray,
		   struct ft_findings *findings);

/* The receiver of this half-connection answers in a sequence that began anew, and is expected to go on with next_psn. */
void ft_strays_answered(struct ft_strays *strays, uint64_t half, uint32_t next_psn);

/* Nothing more will tell: count those that were not excused. */
void ft_strays_settle(struct ft_strays *strays, struct ft_findings *findings);
