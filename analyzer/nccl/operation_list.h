#pragma once

#include <nccl/model.h>

#include "operation_tracks.h"

/* Operations as they are found, track by track; those of several tracks that are one are joined. */
struct ft_nccl_operations {
	struct operation {
		struct ft_nccl_collective row;
		uint32_t first, source; /* the first and the last one that it was found in */
		uint64_t sources; /* all of them, as bits; of those from 64 on nothing is known */
	} * at;
	size_t count, room;
	size_t begin;  /* of this communicator */
	size_t sorted; /* of earlier sources: in order of first frame */
	size_t from;   /* those before it are over */
	uint32_t source;
	uint32_t trees; /* the first source that is a tree's of hosts, if there is one: .. */
	bool has_trees;
	bool broken; /* no memory */
};

/* What follows is of the next communicator, or of another channel or connection of it. */
void ft_nccl_operations_begin(struct ft_nccl_operations *operations);
void ft_nccl_operations_next(struct ft_nccl_operations *operations);
/* This source is of a tree of hosts, if it is the first one of the communicator's first channel. */
void ft_nccl_operations_begin_trees(struct ft_nccl_operations *operations);

/*
 * Behind the last source of a communicator. What passed meanwhile on a channel without being recognized is most likely a part
 * of the same operation, so that its size is not known. Every operation uses the first channel: what was found on others only
 * is a part of the one before or behind it, and joined if one of them alone lacks its channel; else no size of them is known.
 * Unless the first messages of the communicator are in view, `from_start`, that of the first one is not, either, if it is not
 * on all channels.
 */
void ft_nccl_operations_doubt(struct ft_nccl_operations *operations, bool from_start);

/* Of all operations of the communicator. */
void ft_nccl_operations_forget_sizes(struct ft_nccl_operations *operations);

/* With no data in it, nothing is added. */
void ft_nccl_operations_add(struct ft_nccl_operations *operations,
			    const struct ft_nccl_collective *row);

/* Messages [from, from + count) of a track, as far as they were seen, added up. */
struct ft_nccl_stretch {
	uint64_t bytes;                                            /* written */
	uint64_t seen;                                             /* messages with data */
	uint64_t first_frame, last_frame, first_ts_ns, last_ts_ns; /* of data */
	uint64_t offered;               /* of every one; 0: differs, or is not known */
	uint64_t offered_most;          /* 0: not known of any */
	bool offers_differ;             /* of those that are known */
	enum ft_nccl_protocol protocol; /* of those whose is known; UNKNOWN if they differ */
	bool differs;                   /* in protocol */
	bool whole;                     /* all seen, without a packet missing */
	bool sized;                     /* the size of all is known */
	bool grouped;                   /* some have several requests */
	bool asked;                     /* offers are known of all */
	bool cut_as_sends; /* all but the last of a track have the size of a send's chunk */
};
struct ft_nccl_stretch ft_nccl_stretch_of(const struct ft_nccl_track *track, size_t from,
					  size_t count);
/* Of two tracks together. */
void ft_nccl_stretch_add(struct ft_nccl_stretch *sum, const struct ft_nccl_stretch *more);

/*
 * A receive of a send in pieces offers a chunk, or, of less than that, all of it, and each piece but the last is a quarter of a
 * chunk. Of messages of one request: operation_steps.c.
 */
bool ft_nccl_is_send_chunk(const struct ft_nccl_message *message);

/* An operation of which no more is known than what was seen. */
struct ft_nccl_collective ft_nccl_stretch_row(const struct ft_nccl_stretch *stretch);
