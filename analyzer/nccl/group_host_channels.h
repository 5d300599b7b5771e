#pragma once

#include "group_neighbours.h"
#include "operation_tracks.h"

/* Between a host and its parent in a tree, on one channel. */
struct ft_nccl_host_edge {
	const struct ft_nccl_link *up, *down; /* NULL: of the root */
};

/*
 * Which connections between hosts are of one channel of a tree. Messages tell: sums go on when they have come in, results
 * when they have come back, and all are as long; and who sends up, where hosts are alike: the same process of each.
 */
struct ft_nccl_host_channels {
	const struct ft_nccl_neighbours *neighbours; /* hosts, in the order of their ranks */
	const struct ft_nccl_tracks *tracks;
	const int32_t *lowest;           /* rank of each host */
	const uint32_t *parents[2];      /* of each host in each tree; FT_NCCL_NONE: of the root */
	uint32_t count[2];               /* channels of each tree; of two hosts: found, too */
	struct ft_nccl_host_edge *at[2]; /* out: of each tree, channel by channel, by host */
	bool *taken;                     /* out: by link: it is of one of them */
	bool doubtful;                   /* out: others would have done as well */
};

/* 0, -ENOMEM, or -ENOENT: there is no such division. Free in any case. */
int ft_nccl_host_channels_find(struct ft_nccl_host_channels *channels, size_t link_count);
void ft_nccl_host_channels_free(struct ft_nccl_host_channels *channels);
