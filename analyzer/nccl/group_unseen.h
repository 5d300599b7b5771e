#pragma once

#include "group_members.h"
#include "group_tags.h"
#include "operation_tracks.h"

/*
 * What may have passed without being seen: a mirror may show the set-ups of ports that it does not show itself. If something
 * passed between two ports, either way, one of them is in view; where nothing did, neither need be.
 */
struct ft_nccl_unseen {
	/* hosts with a connection from the one to the other between such ports; sorted, each once */
	struct ft_nccl_unseen_way {
		uint32_t communicator, from, to;
	} * ways;
	size_t way_count;
	const struct ft_nccl_members *members;
	struct ft_nccl_id *ids;
	size_t connection_count;
};

/* 0 or -ENOMEM; free in any case. */
int ft_nccl_unseen_find(struct ft_nccl_unseen *unseen, const struct ft_nccl_members *members,
			const struct ft_nccl_tracks *tracks,
			struct ft_nccl_connection *const *connections, size_t connection_count);
void ft_nccl_unseen_free(struct ft_nccl_unseen *unseen);

/* A channel like this one, of connections with these ids, may have passed unseen between the same hosts. */
bool ft_nccl_unseen_has_like(const struct ft_nccl_unseen *unseen, const uint32_t *ids,
			     size_t count);
