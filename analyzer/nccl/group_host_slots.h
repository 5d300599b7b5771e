#pragma once

#include "group_host_channels.h"

/* Slots that connections are taken for, by what messages say, one way of an edge after the other. */

/* Of a channel: a connection between a host and its parent, up or down. */
struct ft_nccl_host_slot {
	uint32_t tree, channel, child;
	bool up;
};

/* What a slot could have. */
struct ft_nccl_host_choice {
	struct ft_nccl_host_slot slot;
	const struct ft_nccl_link *link;
	uint64_t gap_ns;
};

struct ft_nccl_host_taker {
	struct ft_nccl_host_channels *channels;
	struct ft_nccl_host_slot *owners; /* by link, if it is taken */
	bool *tried;                      /* by link */
	size_t link_count;
	struct ft_nccl_host_slot *slots;     /* room for those of a way .. */
	struct ft_nccl_host_choice *choices; /* .. and all they could have */
	bool alike; /* from one host to the next ranks go up by the same number */
};

static inline uint32_t ft_nccl_host_count(const struct ft_nccl_host_channels *channels)
{
	return channels->neighbours->members;
}

static inline bool *ft_nccl_host_taken(const struct ft_nccl_host_channels *channels,
				       const struct ft_nccl_link *link)
{
	return &channels->taken[link - channels->neighbours->links];
}

/* Of a channel, by host. */
static inline struct ft_nccl_host_edge *ft_nccl_host_edges(
	const struct ft_nccl_host_channels *channels, uint32_t tree, uint32_t channel)
{
	return &channels->at[tree][channel * (size_t)ft_nccl_host_count(channels)];
}

static inline const struct ft_nccl_link **ft_nccl_host_link(
	const struct ft_nccl_host_channels *channels, const struct ft_nccl_host_slot *slot)
{
	struct ft_nccl_host_edge *edge =
		&ft_nccl_host_edges(channels, slot->tree, slot->channel)[slot->child];

	return slot->up ? &edge->up : &edge->down;
}

bool ft_nccl_hosts_are_alike(const struct ft_nccl_host_channels *channels);

/* Of who sends, among the ranks of the host. */
int64_t ft_nccl_host_place(const struct ft_nccl_host_channels *channels,
			   const struct ft_nccl_link *link);

/* Nothing contradicts that messages of the second one carry on what those of the first one brought; NULL is not known. */
bool ft_nccl_host_carries_on(const struct ft_nccl_host_channels *channels,
			     const struct ft_nccl_link *first, const struct ft_nccl_link *second,
			     uint64_t *gap_ns);

/* The edges of a host below that above it, of the one channel and the other. */
bool ft_nccl_host_edges_fit(const struct ft_nccl_host_channels *channels,
			    const struct ft_nccl_host_edge *below,
			    const struct ft_nccl_host_edge *above, bool up, uint64_t *gap_ns);

/* With the channel's connections next to it that are known. Sets *gap_ns to the time between their messages and its own. */
bool ft_nccl_host_fits(const struct ft_nccl_host_taker *taker, const struct ft_nccl_host_slot *slot,
		       const struct ft_nccl_link *link, uint64_t *gap_ns);

/* A connection for each of these slots, which go the same way: those that follow soonest first. False: some has none. */
bool ft_nccl_host_take_way(struct ft_nccl_host_taker *taker, const struct ft_nccl_host_slot *slots,
			   size_t count);
