#include "group_hosts.h"

#include <errno.h>

#include "operation_steps.h"

/* What a connection may be by what went over it. */
enum use { USE_NONE, USE_ANY, USE_RING };

static enum use use_of(const struct ft_nccl_track *track)
{
	enum use use = USE_NONE;

	for (size_t i = 0; i < track->count; i++) {
		const struct ft_nccl_message *message = track->messages[i];

		if (message == NULL)
			continue;
		use = USE_ANY;
		if (message->request_count > 0 && message->requests[0].has_offered &&
		    message->requests[0].offered == FT_NCCL_SLICE_OFFERED)
			return USE_RING;
	}
	return use;
}

/* Those of at least this use to the front; the others are not counted any more. */
static void keep(struct ft_nccl_edges *edges, const struct ft_nccl_tracks *tracks, enum use least)
{
	size_t kept = 0;

	for (size_t i = 0; i < edges->count; i++) {
		const uint32_t place = edges->at[i];

		if (use_of(&tracks->at[place]) < least)
			continue;
		edges->at[i] = edges->at[kept];
		edges->at[kept++] = place;
	}
	edges->count = kept;
}

int ft_nccl_hosts_ring(struct ft_nccl_edges *edges, const struct ft_nccl_tracks *tracks,
		       uint32_t **ring)
{
	const struct ft_nccl_rails *rails = &edges->members->rails;
	int error;

	edges->from = rails->sender;
	edges->to = rails->receiver;
	edges->first = 0;
	edges->member_count = rails->ends[rails->of[edges->at[0]]];
	error = ft_nccl_members_ring(edges, ring);
	for (enum use least = USE_ANY; error == -ENOENT && least <= USE_RING; least++) {
		keep(edges, tracks, least);
		if (edges->count > 0)
			error = ft_nccl_members_ring(edges, ring);
	}
	if (error != 0)
		edges->count = 0;
	return error;
}
