#pragma once

#include <flow/observed.h>

#include "pairs_groups.h"

/* What a search for the other half of a half-connection came to. */
struct ft_find {
	/* record number of the likeliest; 0: none, or not all could be looked at */
	uint32_t number;
	int lead;    /* bits over every other, and over nobody at all */
	bool hidden; /* it may be in step with the right one, which is not in view */
	bool fits;   /* one may be it, or one of those not looked at */
	bool alone;  /* no half faces this one from its source port: the other may use another */
};

/*
 * Who asked for what this half answers? Halves met on the way that were silent for two seconds are
 * left out and made dormant: what nobody answers any more must not hide the others.
 */
struct ft_find ft_find_asker(struct ft_groups *groups, const struct ft_flow *flow,
			     const struct ft_observed *answer);

/* Whether a half that found nobody with its source port waits for one like this. */
bool ft_is_looked_for(struct ft_groups *groups, const struct ft_flow *flow);

/* The only half that shares the source port in the opposite direction, if there is no third; or NULL. */
struct ft_flow *ft_find_alone_with_port(struct ft_groups *groups, const struct ft_flow *flow);
