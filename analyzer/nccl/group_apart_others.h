#pragma once

#include "group_apart_parts.h"

/*
 * What is of no ring, of one component: sends and receives, what nothing passed over, and the rest, each by itself, as long as
 * it is not of the only communicator that rings are of. Of the rest, what leads the same ways and takes turns is of several.
 */
struct ft_nccl_others {
	size_t begin, rings,
		end;    /* of the clusters: the first one, those behind its rings, and behind all */
	uint32_t first; /* part that its rings have; all from there on are theirs */
};
void ft_nccl_others_part(struct ft_nccl_apart_finder *finder, const struct ft_nccl_others *others);
