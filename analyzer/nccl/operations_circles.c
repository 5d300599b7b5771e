#include "operations_parts.h"

#include "group_tags.h"
#include "operation_steps.h"

const struct ft_nccl_track *ft_nccl_maker_track(const struct ft_nccl_operations_maker *maker,
						uint32_t connection)
{
	const uint32_t at =
		ft_nccl_ids_find(maker->ids, maker->input->connection_count, connection);

	return &maker->input->tracks->at[at];
}

void ft_nccl_maker_tell(struct ft_nccl_operations_maker *maker, const struct ft_nccl_circle *circle)
{
	for (uint32_t i = 0; i < circle->ranks; i++)
		maker->told[circle->tracks[i] - maker->input->tracks->at] = true;
}

/* Tracks that were asked for something. */
static uint32_t count_asked(const struct ft_nccl_circle *circle)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < circle->ranks; i++)
		count += ft_nccl_track_is_asked(circle->tracks[i]) ? 1 : 0;
	return count;
}

bool ft_nccl_circle_is_asked(const struct ft_nccl_circle *circle)
{
	return count_asked(circle) == circle->ranks;
}

struct ft_nccl_circle ft_nccl_maker_ring(struct ft_nccl_operations_maker *maker,
					 const struct ft_nccl_communicator *communicator,
					 const struct ft_nccl_channel *channel)
{
	struct ft_nccl_circle ring = { .tracks = maker->ring_tracks,
				       .ranks = (uint32_t)channel->ring_count,
				       .at = maker->ring_at,
				       .of_hosts = communicator->ring == NULL,
				       .has_others = maker->has_others };

	for (size_t i = 0; i < channel->ring_count; i++)
		ring.tracks[i] = ft_nccl_maker_track(maker, channel->connections[i]);
	return ring;
}

/* One channel of a tree: its connections up and down, edge by edge. */
struct ft_nccl_circle ft_nccl_maker_tree(struct ft_nccl_operations_maker *maker,
					 const struct ft_nccl_communicator *communicator,
					 const struct ft_nccl_tree *tree, uint32_t channel)
{
	struct ft_nccl_circle circle = { .tracks = maker->tree_tracks,
					 .ranks = (uint32_t)(2 * tree->edge_count),
					 .at = maker->tree_at,
					 .tree = tree,
					 .of_two = tree->of_hosts &&
						   communicator->tree_count == 1 &&
						   communicator->member_count == 2 };

	for (size_t i = 0; i < tree->edge_count; i++) {
		circle.tracks[2 * i] = ft_nccl_maker_track(maker, tree->edges[i].up[channel]);
		circle.tracks[2 * i + 1] = ft_nccl_maker_track(maker, tree->edges[i].down[channel]);
	}
	return circle;
}

/* Where nobody knows of some where operations end, all is told as one; of all, nothing is. */
void ft_nccl_maker_add_alone(struct ft_nccl_operations_maker *maker, struct ft_nccl_circle circle)
{
	if (ft_nccl_circle_is_asked(&circle)) {
		ft_nccl_circle_operations(&maker->operations, &circle);
		return;
	}
	if (count_asked(&circle) == 0)
		return;
	for (uint32_t i = 0; i < circle.ranks; i++)
		circle.at[i] = 0;
	ft_nccl_circle_end(&maker->operations, &circle);
}

/* Told with a ring that it has a connection in common with. */
bool ft_nccl_maker_is_told(const struct ft_nccl_operations_maker *maker,
			   const struct ft_nccl_circle *circle)
{
	for (uint32_t i = 0; i < circle->ranks; i++)
		if (maker->told[circle->tracks[i] - maker->input->tracks->at])
			return true;
	return false;
}

size_t ft_nccl_circle_messages(const struct ft_nccl_circle *circle)
{
	size_t count = 0;

	for (uint32_t i = 0; i < circle->ranks; i++)
		count += circle->tracks[i]->count;
	return count;
}

static void add_stretch(struct ft_nccl_operations_maker *maker, const struct ft_nccl_track *track,
			size_t from, size_t count)
{
	const struct ft_nccl_stretch sum = ft_nccl_stretch_of(track, from, count);
	struct ft_nccl_collective row = ft_nccl_stretch_row(&sum);

	if (ft_nccl_are_sends(&sum))
		row.collective = "SendRecv";
	ft_nccl_operations_add(&maker->operations, &row);
}

static void lone_connection(struct ft_nccl_operations_maker *maker, uint32_t connection)
{
	const struct ft_nccl_track *track = ft_nccl_maker_track(maker, connection);
	size_t from = 0;

	if (!ft_nccl_track_is_asked(track))
		return;
	for (size_t at = 1; at <= track->count; at++) {
		if (at < track->count && ft_nccl_track_border(track, at) != FT_NCCL_BORDER)
			continue;
		add_stretch(maker, track, from, at - from);
		from = at;
	}
}

void ft_nccl_maker_add_connections(struct ft_nccl_operations_maker *maker,
				   const uint32_t *connections, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		lone_connection(maker, connections[i]);
		ft_nccl_operations_next(&maker->operations);
	}
}

void ft_nccl_maker_add_untold(struct ft_nccl_operations_maker *maker, const uint32_t *connections,
			      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool *told = &maker->told[ft_nccl_maker_track(maker, connections[i]) -
					  maker->input->tracks->at];

		if (!*told)
			ft_nccl_maker_add_connections(maker, &connections[i], 1);
		*told = true;
	}
}
