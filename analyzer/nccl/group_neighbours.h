#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "group_links.h"

/* Two members between whom connections go: so many from the lower to the higher one, then so many back. */
struct ft_nccl_couple {
	uint32_t low, high;
	const struct ft_nccl_link
		*links; /* first those from `low`; each way in the order of `made` */
	size_t each, back;
};

/* Of one component, by `low` and `high`. */
struct ft_nccl_neighbours {
	struct ft_nccl_link *links;
	struct ft_nccl_couple *couples;
	size_t count;
	uint32_t members;
	bool by_setup;  /* `made` is */
	bool both_ways; /* as many connections go back as there, in each couple */
};

/* Room for so many links, for the caller to fill. 0 or -ENOMEM; free in any case. */
int ft_nccl_neighbours_reserve(struct ft_nccl_neighbours *neighbours, size_t links,
			       uint32_t members);
/* Sorts as many links, and lists the couples. */
void ft_nccl_neighbours_list(struct ft_nccl_neighbours *neighbours, size_t links);

/* Of these connections. 0, -ENOMEM, or -ENOENT: whose some end is is not known. Free in any case. */
int ft_nccl_neighbours_find(struct ft_nccl_neighbours *neighbours,
			    const struct ft_nccl_edges *edges);
void ft_nccl_neighbours_free(struct ft_nccl_neighbours *neighbours); /* all zero is fine */

/* NULL: there is none. */
const struct ft_nccl_couple *ft_nccl_couple_of(const struct ft_nccl_neighbours *neighbours,
					       uint32_t a, uint32_t b);

/* Connections from one member to another; there may be none. */
struct ft_nccl_direction {
	const struct ft_nccl_link *links;
	size_t count;
};
struct ft_nccl_direction ft_nccl_direction_of(const struct ft_nccl_neighbours *neighbours,
					      uint32_t from, uint32_t to);

/* Both sides made them one after the other: that is the order of their channels. */
bool ft_nccl_direction_is_ordered(const struct ft_nccl_neighbours *neighbours,
				  const struct ft_nccl_direction *way);
