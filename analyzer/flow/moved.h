#pragma once

#include <flow/tracker.h>

#include "outcome.h"

/*
 * What is missing of a half-connection may have gone another way: a queue pair of InfiniBand changes to its alternate path and back
 * (APM; IBA vol. 1, 17.2.8), and has other LIDs there, or a GRH. Then two halves share a sequence to one queue pair, and each lacks
 * what the other has. They may be in different engines: what is missing of halves that may have moved is kept, one by one, until those
 * of all engines are together.
 */

enum { FT_MOVED_KEPT = 1 << 14 }; /* holes of one engine; of more it is not asked */

struct ft_moved_hole {
	struct ft_span span;
	struct ft_span_outcome outcome;
	uint64_t half; /* digest of its key */
	bool open;     /* not settled when all ended */
};

/* Of a tracker, what was settled. */
struct ft_moved_holes {
	struct ft_moved_hole *all;
	uint32_t count;
};

/* 0 or -ENOMEM. Touched as it is used. */
int ft_moved_holes_init(struct ft_moved_holes *holes);
void ft_moved_holes_free(struct ft_moved_holes *holes);

/* False: it cannot have moved, or nothing is missing, or there is no room; it counts at once. */
bool ft_moved_holes_add(struct ft_moved_holes *holes, const struct ft_flow *flow,
			const struct ft_span *span, const struct ft_span_outcome *outcome);

/* Of all engines: likewise of what is still open, and a half that may be the other one. */
bool ft_moved_add(struct ft_moved *moved, const struct ft_flow *flow, const struct ft_span *span,
		  const struct ft_span_outcome *outcome);
void ft_moved_add_settled(struct ft_moved *moved, const struct ft_moved_holes *holes);
void ft_moved_add_half(struct ft_moved *moved, const struct ft_flow *flow);
