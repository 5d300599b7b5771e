#pragma once

#include "pairs_groups.h"

/* What a search for the other half of a half-connection came to. */
struct ft_find {
	uint32_t
		number; /* record number of the likeliest; 0: none, or not all could be looked at */
	int lead;       /* bits over every other, and over nobody at all */
	int needed;     /* bits that suffice for this one */
};

/* Who asked for the PSN that this half answers for? */
struct ft_find ft_find_asker(const struct ft_groups *groups, const struct ft_flow_table *table,
			     const struct ft_flow *flow, uint32_t psn);

/* The only half that shares the source port in the opposite direction, if there is no third; or NULL. */
struct ft_flow *ft_find_alone_with_port(const struct ft_groups *groups,
					const struct ft_flow_table *table,
					const struct ft_flow *flow);
