#include "group_hosts.h"

#include <errno.h>

#include "operation_steps.h"

/* What a connection may be by what went over it. */
enum use { USE_NONE, USE_STEPS, USE_ANY, USE_RING };

/* Steps of SIMPLE are what trees take, and broadcasts over a ring. */
static enum use use_of(const struct ft_nccl_track *track)
{
	if (track->count == 0)
		return USE_NONE;
	if (ft_nccl_has_slice(track))
		return USE_RING;
	return ft_nccl_has_simple_step(track) ? USE_STEPS : USE_ANY;
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
	if (edges->member_count == 2)
		keep(edges, tracks, USE_ANY); /* any two connections there and back would do */
	error = edges->count > 0 ? ft_nccl_members_ring(edges, ring) : -ENOENT;
	for (enum use least = USE_STEPS; error == -ENOENT && least <= USE_RING; least++) {
		keep(edges, tracks, least);
		if (edges->count > 0)
			error = ft_nccl_members_ring(edges, ring);
	}
	if (error != 0)
		edges->count = 0;
	return error;
}
