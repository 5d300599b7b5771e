#pragma once

#include "group_links.h"
#include "operation_tracks.h"

/* Of two connections: which of messages of one number came first, and whether they differ. */
struct ft_nccl_link_order {
	uint64_t first, second; /* so many times that of the one, that of the other */
	bool overlap;           /* some began before the other had ended */
	bool differ;            /* in bytes, of those of which no packet is missing */
	/* from the end of the one's to the beginning of the other's, where that came first; else the other way round */
	uint64_t gap_ns;
};

/*
 * Nothing contradicts that messages of the second one carry on what those of the first one brought: they come behind them, and
 * are as long. Adds to *gap_ns the time between them.
 */
bool ft_nccl_links_carry_on(const struct ft_nccl_tracks *tracks, const struct ft_nccl_link *one,
			    const struct ft_nccl_link *other, uint64_t *gap_ns);

/* Adds what their messages say. */
void ft_nccl_links_compare(struct ft_nccl_link_order *order, const struct ft_nccl_tracks *tracks,
			   const struct ft_nccl_link *one, const struct ft_nccl_link *other);
