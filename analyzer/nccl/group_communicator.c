#include "groups_parts.h"

#include <errno.h>
#include <stdlib.h>

#include "group_channels.h"
#include "group_mixed.h"
#include "group_ring.h"
#include "operation_steps.h"

/* What the connections of a communicator are: a ring, trees, both, PAT's, rings of hosts, or none of these. */

/* Of a ring and trees; those of a tree of which nobody knows the channel are in one behind the others. */
static void add_mixed_channels(struct ft_nccl_groups_maker *maker,
			       struct ft_nccl_communicator *communicator,
			       const struct ft_nccl_mixed *mixed)
{
	size_t begin = 0;

	for (uint32_t i = 0; i < mixed->channels; i++) {
		ft_nccl_groups_add_channel(maker, communicator, i, mixed->at + begin,
					   mixed->ends[i] - begin, communicator->member_count);
		begin = mixed->ends[i];
	}
	if (mixed->unassigned > 0)
		ft_nccl_groups_add_channel(maker, communicator, FT_NCCL_NONE, mixed->at + begin,
					   mixed->unassigned, 0);
}

/* Members in the order of their ranks. */
static int add_ring_by_rank(struct ft_nccl_groups_maker *maker,
			    struct ft_nccl_communicator *communicator)
{
	uint32_t *ring = calloc(communicator->member_count, sizeof *ring);

	if (ring == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < communicator->member_count; i++)
		ring[i] = i;
	maker->memory->rings[communicator->communicator] = ring;
	communicator->ring = ring;
	return 0;
}

/* The first connection of each to the next rank is the ring's. */
static int add_pat(struct ft_nccl_groups_maker *maker, struct ft_nccl_communicator *communicator,
		   const struct ft_nccl_edges *edges)
{
	struct ft_nccl_trees *trees = &maker->memory->trees[communicator->communicator];
	struct ft_nccl_pat pat;
	int error = ft_nccl_members_pat(&pat, edges, &maker->memory->tracks);
	const bool found = error == 0 && pat.channels > 0;
	const uint32_t ring_channels =
		found && pat.distances[0].ranks == 1 ? pat.distances[0].channels : 0;

	if (found)
		error = ft_nccl_pat_find_trees(&pat, trees, edges);
	if (error == 0 && ring_channels > 0)
		error = add_ring_by_rank(maker, communicator);
	for (uint32_t i = 0; found && i < pat.channels; i++) {
		const size_t begin = i > 0 ? pat.ends[i - 1] : 0;

		ft_nccl_groups_add_channel(maker, communicator, i, pat.at + begin,
					   pat.ends[i] - begin,
					   i < ring_channels ? communicator->member_count : 0);
	}
	if (found) {
		maker->memory->distances[communicator->communicator] = pat.distances;
		communicator->distances = pat.distances;
		communicator->distance_count = pat.count;
		pat.distances = NULL;
	}
	ft_nccl_pat_free(&pat);
	return error;
}

static int add_mixed(struct ft_nccl_groups_maker *maker, struct ft_nccl_communicator *communicator,
		     const struct ft_nccl_edges *edges)
{
	struct ft_nccl_trees *trees = &maker->memory->trees[communicator->communicator];
	struct ft_nccl_mixed mixed;
	int error = ft_nccl_members_mixed(&mixed, trees, edges, &maker->memory->tracks);

	if (error == 0 && mixed.channels > 0)
		error = add_ring_by_rank(maker, communicator);
	if (error == 0 && mixed.channels > 0)
		add_mixed_channels(maker, communicator, &mixed);
	ft_nccl_mixed_free(&mixed);
	return error;
}

/* No ring alone: trees, or both. */
static int add_trees(struct ft_nccl_groups_maker *maker, struct ft_nccl_communicator *communicator,
		     const struct ft_nccl_edges *edges)
{
	struct ft_nccl_trees *trees = &maker->memory->trees[communicator->communicator];
	int error = ft_nccl_members_trees(trees, edges, &maker->memory->tracks);

	if (error == 0 && trees->count == 0)
		error = add_mixed(maker, communicator, edges);
	if (error == 0 && trees->count == 0)
		error = add_pat(maker, communicator, edges);
	communicator->trees = trees->at;
	communicator->tree_count = trees->count;
	return error;
}

/* Set-ups name fewer hosts than there are members. */
static bool are_several_of_a_host(const struct ft_nccl_groups_maker *maker,
				  const struct ft_nccl_edges *edges)
{
	const struct ft_nccl_rails *rails = &maker->memory->members.rails;
	const uint32_t rail = rails->of[edges->at[0]];

	return rails->by_host[rail] && rails->ends[rail] < edges->member_count;
}

/* Or rails were joined, or nothing rules it out. */
static bool may_be_several_of_a_host(const struct ft_nccl_groups_maker *maker,
				     const struct ft_nccl_edges *edges)
{
	const uint32_t *rails = maker->memory->members.rails.of;

	for (size_t i = 0; i < edges->count; i++) {
		const uint32_t place = edges->at[i];

		if (edges->from[place] == FT_NCCL_NONE || edges->to[place] == FT_NCCL_NONE ||
		    rails[place] != rails[edges->at[0]])
			return true;
	}
	return ft_nccl_members_may_be_several(edges->members->at + edges->first,
					      edges->member_count);
}

/* Two hosts with connections that take steps as no ring does. */
static bool may_have_trees_of_two(const struct ft_nccl_groups_maker *maker,
				  const struct ft_nccl_edges *edges)
{
	const struct ft_nccl_rails *rails = &maker->memory->members.rails;

	if (rails->ends[rails->of[edges->at[0]]] != 2 || !may_be_several_of_a_host(maker, edges))
		return false;
	for (size_t i = 0; i < edges->count; i++)
		if (ft_nccl_has_simple_step(&maker->memory->tracks.at[edges->at[i]]))
			return true;
	return false;
}

/* All are of set-ups, and nothing passed over them: nobody knows whether those who send receive, too. */
static bool are_idle(const struct ft_nccl_groups_maker *maker, const struct ft_nccl_edges *edges)
{
	for (size_t i = 0; i < edges->count; i++)
		if (maker->memory->tracks.at[edges->at[i]].count > 0 ||
		    !maker->connections[edges->at[i]]->has_tcp)
			return false;
	return true;
}

/* Beside rings: sends between two, and the edge of a tree, go round, too, and are no ring. */
static bool are_no_ring_of_two(const struct ft_nccl_groups_maker *maker,
			       const struct ft_nccl_edges *edges)
{
	for (size_t i = 0; i < edges->count; i++)
		if (maker->apart.part[edges->at[i]] == 0 ||
		    ft_nccl_has_slice(&maker->memory->tracks.at[edges->at[i]]))
			return false;
	return edges->member_count == 2;
}

/* Clear-to-sends of all connections say who sends: where hosts may have several ranks, else it may be any of them. */
static bool are_all_named(const struct ft_nccl_groups_maker *maker,
			  const struct ft_nccl_edges *edges)
{
	for (size_t i = 0; i < edges->count; i++)
		if (!maker->memory->members.named[edges->at[i]])
			return false;
	return true;
}

/* Of several communicators that nothing tells apart. */
static bool are_tangled(const struct ft_nccl_groups_maker *maker, const struct ft_nccl_edges *edges)
{
	for (size_t i = 0; i < edges->count; i++)
		if (maker->apart.tangled[edges->at[i]])
			return true;
	return false;
}

/* The communicator has what its connections are in a ring, or trees, or neither. */
static int add_shape(struct ft_nccl_groups_maker *maker, struct ft_nccl_communicator *communicator,
		     struct ft_nccl_edges *edges)
{
	uint32_t **ring = &maker->memory->rings[communicator->communicator];
	const bool idle = are_idle(maker, edges);
	const bool several = idle || may_be_several_of_a_host(maker, edges);
	int error;

	if (are_tangled(maker, edges)) {
		ft_nccl_groups_add_channel(maker, communicator, FT_NCCL_NONE, edges->at,
					   edges->count, 0);
		return 0;
	}
	if (are_several_of_a_host(maker, edges) || may_have_trees_of_two(maker, edges))
		return ft_nccl_groups_add_hosts(maker, communicator, edges);
	error = idle || are_no_ring_of_two(maker, edges) ? -ENOENT
							 : ft_nccl_members_ring(edges, ring);
	if (error == 0) {
		communicator->ring = *ring;
		return ft_nccl_groups_add_channels(maker, communicator, edges, *ring);
	}
	if (error == -ENOENT)
		error = several && !are_all_named(maker, edges)
				? 0
				: add_trees(maker, communicator, edges);
	if (error != 0 || communicator->channel_count > 0)
		return error;
	if (communicator->tree_count == 0 && several)
		return ft_nccl_groups_add_hosts(maker, communicator, edges);
	maker->memory->trees[communicator->communicator].doubtful = several;
	ft_nccl_groups_add_channel(maker, communicator, FT_NCCL_NONE, edges->at, edges->count, 0);
	return 0;
}

int ft_nccl_groups_add(struct ft_nccl_groups_maker *maker, struct ft_nccl_edges *edges, uint32_t id)
{
	struct ft_nccl_communicator *communicator = &maker->memory->communicators[id];

	communicator->communicator = id;
	communicator->members = maker->memory->members.at + edges->first;
	communicator->member_count = edges->member_count;
	communicator->connections = ft_nccl_groups_list_ids(maker, edges->at, edges->count);
	communicator->connection_count = edges->count;
	return add_shape(maker, communicator, edges);
}
