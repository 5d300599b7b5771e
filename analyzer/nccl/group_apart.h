#pragma once

#include "group_tags.h"
#include "operation_tracks.h"

/*
 * Communicators of the same processes, which have connections of their own at the same ports: a model's data, its stages and
 * its experts are exchanged in one each. A ring leads through all hosts of its communicator: rings through other hosts are
 * other communicators', and so are rings in which another host has the same rank, since each communicator may number its
 * own. What is of one ring is busy at the same times with as many messages. Sends and receives have connections of their
 * own, which are taken for a communicator beside the rings.
 */
struct ft_nccl_apart_input {
	struct ft_nccl_connection **connections;
	size_t connection_count;
	const struct ft_nccl_track *tracks;
	const struct ft_nccl_tag *tags; /* by place */
	/* as loops of operations show them; 0 or FT_NCCL_NONE: they do not; NULL: not asked yet */
	const uint32_t *ranks;
	const uint32_t *
		ports; /* of the rails that are one job's, as ft_nccl_joins_find() has them; NULL likewise */
};

/* By place of the connection. */
struct ft_nccl_apart {
	uint32_t *life; /* as ft_nccl_lives_find() has it */
	uint32_t *part; /* those of two numbers are not of one communicator; 0: nothing tells */
	bool *renumbered; /* it is of none of the rings, and ranks of these show that each communicator numbers its own */
	bool *alone; /* a ring's, of which another one may be a channel of the same communicator */
	bool *tangled; /* of several communicators, and nothing tells which of which */
};

/* 0 or -ENOMEM; free in any case. */
int ft_nccl_apart_find(struct ft_nccl_apart *apart, const struct ft_nccl_apart_input *input);
void ft_nccl_apart_free(struct ft_nccl_apart *apart); /* all zero is fine */
