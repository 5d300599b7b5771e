#pragma once

#include "operation_tracks.h"

/*
 * Jobs that follow each other on the same hosts: the later one has queue pairs of the earlier one by now, and nothing of what hangs
 * together at these hosts was busy both before and behind. Such jobs have no communicator in common, however alike they are.
 * life[i], all zero before, counts those before tracks[i]'s at its hosts. Where messages were not kept nothing tells. 0 or -ENOMEM.
 */
int ft_nccl_lives_find(uint32_t *life, const struct ft_nccl_track *tracks, size_t count);
