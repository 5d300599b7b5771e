#pragma once

#include "pairs.h"
#include "pairs_groups.h"
#include "pairs_setups.h"

/* What the files of pairs.h share: pairs.c joins and parts what set-ups name, pairs_found.c finds the rest. */
struct ft_pairs {
	struct ft_flow_table *table;
	struct ft_groups *groups;
	struct ft_setups *setups;
};

/* Both leave what they were joined with before. */
void ft_pairs_join(struct ft_pairs *pairs, struct ft_flow *one, struct ft_flow *other,
		   enum ft_paired_by by, int bits);

/* Both are on their own again, and do not look for each other at once. Without a peer: nothing. */
void ft_pairs_part(struct ft_pairs *pairs, struct ft_flow *flow);

/* What joins two, and how sure that is. */
void ft_pairs_weigh(struct ft_flow *one, struct ft_flow *other, enum ft_paired_by by, int bits);

/* Let the half be found by those that look for their other half. */
void ft_pairs_offer(struct ft_pairs *pairs, struct ft_flow *flow);
