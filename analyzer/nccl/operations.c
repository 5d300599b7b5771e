#include "operations.h"

#include <errno.h>
#include <stdlib.h>

#include "group_tags.h"
#include "operation_beside.h"
#include "operation_mixed.h"
#include "operation_pat.h"
#include "operation_steps.h"

struct maker {
	const struct ft_nccl_operations_input *input;
	struct ft_nccl_id *ids;
	/* room for all connections */
	const struct ft_nccl_track **ring_tracks, **tree_tracks;
	size_t *ring_at, *tree_at;
	uint32_t *shared;
	bool *is_shared;
	bool *told;      /* by place of the connection: it is in a ring or a tree */
	bool has_others; /* something passed between hosts that is in no ring of theirs */
	const struct ft_nccl_channel **channels;
	struct ft_nccl_operations operations;
};

static const struct ft_nccl_track *track_of(const struct maker *maker, uint32_t connection)
{
	const uint32_t at =
		ft_nccl_ids_find(maker->ids, maker->input->connection_count, connection);

	return &maker->input->tracks->at[at];
}

static void tell(struct maker *maker, const struct ft_nccl_circle *circle)
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

static bool are_asked(const struct ft_nccl_circle *circle)
{
	return count_asked(circle) == circle->ranks;
}

static bool are_asked_if_used(const struct ft_nccl_circle *circle)
{
	for (uint32_t i = 0; i < circle->ranks; i++)
		if (circle->tracks[i]->count > 0 && !ft_nccl_track_is_asked(circle->tracks[i]))
			return false;
	return true;
}

static struct ft_nccl_circle ring_of(struct maker *maker,
				     const struct ft_nccl_communicator *communicator,
				     const struct ft_nccl_channel *channel)
{
	struct ft_nccl_circle ring = { .tracks = maker->ring_tracks,
				       .ranks = (uint32_t)channel->ring_count,
				       .at = maker->ring_at,
				       .of_hosts = communicator->ring == NULL,
				       .has_others = maker->has_others };

	for (size_t i = 0; i < channel->ring_count; i++)
		ring.tracks[i] = track_of(maker, channel->connections[i]);
	return ring;
}

/* One channel of a tree: its connections up and down, edge by edge. */
static struct ft_nccl_circle tree_of(struct maker *maker, const struct ft_nccl_tree *tree,
				     uint32_t channel)
{
	struct ft_nccl_circle circle = { .tracks = maker->tree_tracks,
					 .ranks = (uint32_t)(2 * tree->edge_count),
					 .at = maker->tree_at,
					 .tree = tree };

	for (size_t i = 0; i < tree->edge_count; i++) {
		circle.tracks[2 * i] = track_of(maker, tree->edges[i].up[channel]);
		circle.tracks[2 * i + 1] = track_of(maker, tree->edges[i].down[channel]);
	}
	return circle;
}

static void keep_loops(const struct maker *maker, const struct ft_nccl_circle *ring, bool is_ring,
		       uint32_t ranks)
{
	for (uint32_t i = 0; i < ring->ranks; i++) {
		struct ft_nccl_loops *loops =
			&maker->input->loops[ring->tracks[i] - maker->input->tracks->at];

		loops->ranks = is_ring ? ranks : 0;
		loops->refuted = !is_ring;
	}
}

/* Where nobody knows of some where operations end, all is told as one; of all, nothing is. */
static void alone(struct maker *maker, struct ft_nccl_circle circle)
{
	if (are_asked(&circle)) {
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
static bool is_any_told(const struct maker *maker, const struct ft_nccl_circle *circle)
{
	for (uint32_t i = 0; i < circle->ranks; i++)
		if (maker->told[circle->tracks[i] - maker->input->tracks->at])
			return true;
	return false;
}

static size_t messages_of(const struct ft_nccl_circle *circle)
{
	size_t count = 0;

	for (uint32_t i = 0; i < circle->ranks; i++)
		count += circle->tracks[i]->count;
	return count;
}

static void tree(struct maker *maker, const struct ft_nccl_tree *tree, uint32_t channel)
{
	const struct ft_nccl_circle circle = tree_of(maker, tree, channel);

	if (is_any_told(maker, &circle))
		return;
	tell(maker, &circle);
	alone(maker, circle);
	ft_nccl_operations_next(&maker->operations);
}

/* Small operations use the first channels only: where these have no numbers, the first one is that of most messages. */
static void trees(struct maker *maker, const struct ft_nccl_communicator *communicator)
{
	size_t first = 0, most = 0;
	uint32_t channel = 0;

	if (communicator->trees[0].of_hosts)
		ft_nccl_operations_begin_trees(&maker->operations);
	for (size_t i = 0; i < communicator->tree_count; i++)
		for (uint32_t j = 0; j < communicator->trees[i].channels; j++) {
			const struct ft_nccl_circle circle =
				tree_of(maker, &communicator->trees[i], j);

			if (messages_of(&circle) <= most)
				continue;
			most = messages_of(&circle);
			first = i;
			channel = j;
		}
	tree(maker, &communicator->trees[first], channel);
	for (size_t i = 0; i < communicator->tree_count; i++)
		for (uint32_t j = 0; j < communicator->trees[i].channels; j++)
			if (i != first || j != channel)
				tree(maker, &communicator->trees[i], j);
}

static void add_stretch(struct maker *maker, const struct ft_nccl_track *track, size_t from,
			size_t count)
{
	const struct ft_nccl_stretch sum = ft_nccl_stretch_of(track, from, count);
	struct ft_nccl_collective row = ft_nccl_stretch_row(&sum);

	if (ft_nccl_are_sends(&sum))
		row.collective = "SendRecv";
	ft_nccl_operations_add(&maker->operations, &row);
}

static void lone_connection(struct maker *maker, uint32_t connection)
{
	const struct ft_nccl_track *track = track_of(maker, connection);
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

static void lone_connections(struct maker *maker, const uint32_t *connections, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		lone_connection(maker, connections[i]);
		ft_nccl_operations_next(&maker->operations);
	}
}

/* Those of no ring and no tree. */
static void other_connections(struct maker *maker, const struct ft_nccl_communicator *communicator)
{
	for (size_t i = 0; i < communicator->connection_count; i++) {
		const uint32_t *connection = &communicator->connections[i];

		if (!maker->told[track_of(maker, *connection) - maker->input->tracks->at])
			lone_connections(maker, connection, 1);
	}
}

/* The first message of all there is. */
static bool is_from_start(const struct ft_nccl_circle *circle)
{
	for (uint32_t i = 0; i < circle->ranks; i++)
		if (circle->tracks[i]->count > 0 &&
		    (!circle->tracks[i]->numbered || circle->tracks[i]->first_k != 0))
			return false;
	return true;
}

/* Connections of what is no ring have operations of their own. */
static void ring_alone(struct maker *maker, const struct ft_nccl_communicator *communicator,
		       const struct ft_nccl_channel *channel)
{
	struct ft_nccl_doubt doubt = { 0 };
	struct ft_nccl_circle ring = ring_of(maker, communicator, channel);
	bool is_ring;

	ring.doubt = &doubt;
	is_ring = !are_asked(&ring) || ft_nccl_circle_ask(&ring);

	keep_loops(maker, &ring, is_ring, ring.loop_ranks);
	if (is_ring)
		alone(maker, ring);
	else
		lone_connections(maker, channel->connections, channel->connection_count);
}

/* Both are used: what is of which is known only if nothing is before the capture. */
static void mixed_channel(struct maker *maker, const struct ft_nccl_channel *channel,
			  struct ft_nccl_mixed_circles *circles)
{
	if (are_asked_if_used(&circles->ring) && are_asked_if_used(&circles->tree) &&
	    is_from_start(&circles->ring) && is_from_start(&circles->tree)) {
		ft_nccl_mixed_operations(&maker->operations, circles);
		keep_loops(maker, &circles->ring, true, circles->ring.shown);
		return;
	}
	lone_connections(maker, channel->connections, channel->connection_count);
}

static void ring_channel(struct maker *maker, const struct ft_nccl_communicator *communicator,
			 const struct ft_nccl_channel *channel)
{
	struct ft_nccl_mixed_circles circles = { .shared = maker->shared,
						 .is_shared = maker->is_shared };
	const struct ft_nccl_tree *tree;
	uint32_t lane;

	if (channel->ring_count == 0)
		return;
	circles.ring = ring_of(maker, communicator, channel);
	tell(maker, &circles.ring);
	tree = ft_nccl_tree_beside(communicator, channel->channel, &lane);
	if (tree == NULL)
		tree = ft_nccl_tree_of_ring(communicator, channel, &lane);
	if (tree != NULL && tree->of_hosts)
		ft_nccl_operations_begin_trees(&maker->operations);
	if (tree != NULL) {
		circles.tree = tree_of(maker, tree, lane);
		tell(maker, &circles.tree);
	}
	ft_nccl_mixed_begin(&circles);
	if (tree == NULL || !ft_nccl_mixed_uses_tree(&circles))
		ring_alone(maker, communicator, channel);
	else if (!ft_nccl_mixed_uses_ring(&circles))
		alone(maker, circles.tree);
	else
		mixed_channel(maker, channel, &circles);
}

static void pat_channel(struct maker *maker, const struct ft_nccl_communicator *communicator,
			const struct ft_nccl_channel *channel)
{
	struct ft_nccl_pat_tracks pat = { .tracks = maker->ring_tracks,
					  .at = maker->ring_at,
					  .distances = communicator->distances,
					  .distance_count = communicator->distance_count,
					  .ranks = (uint32_t)communicator->member_count,
					  .channel = channel->channel,
					  .tree_tracks = maker->tree_tracks,
					  .tree_at = maker->tree_at };
	uint32_t lane;

	pat.tree = ft_nccl_tree_beside(communicator, channel->channel, &lane);
	for (size_t i = 0; i < channel->connection_count; i++) {
		pat.tracks[i] = track_of(maker, channel->connections[i]);
		pat.at[i] = 0;
		/* NCCL has PAT only where hosts have a rank each */
		maker->input->loops[pat.tracks[i] - maker->input->tracks->at].ranks = pat.ranks;
	}
	ft_nccl_pat_operations(&maker->operations, &pat);
}

static bool has_others(const struct maker *maker, const struct ft_nccl_communicator *communicator)
{
	size_t used = 0, in_rings = 0;

	for (size_t i = 0; i < communicator->connection_count; i++)
		used += track_of(maker, communicator->connections[i])->count > 0 ? 1 : 0;
	for (size_t i = 0; i < communicator->channel_count; i++)
		for (size_t j = 0; j < communicator->channels[i].ring_count; j++)
			in_rings +=
				track_of(maker, communicator->channels[i].connections[j])->count > 0
					? 1
					: 0;
	return communicator->ring == NULL && used > in_rings;
}

static bool has_channels(const struct ft_nccl_communicator *communicator)
{
	return communicator->channel_count > 0 && communicator->channels[0].ring_count > 0;
}

/* The first one first. Where they have no numbers it is that of most messages: small operations use the first ones only. */
static void list_channels(struct maker *maker, const struct ft_nccl_communicator *communicator)
{
	size_t first = 0, most = 0;

	for (size_t i = 0; i < communicator->channel_count; i++) {
		const struct ft_nccl_channel *channel = &communicator->channels[i];
		const struct ft_nccl_circle ring = ring_of(maker, communicator, channel);
		const size_t count = channel->channel == FT_NCCL_NONE ? messages_of(&ring) : 0;

		maker->channels[i] = channel;
		if (count > most) {
			most = count;
			first = i;
		}
	}
	maker->channels[first] = &communicator->channels[0];
	maker->channels[0] = &communicator->channels[first];
}

/* Its members, which are sorted by rank, follow each other all around but once. */
static bool is_in_order(const struct ft_nccl_communicator *communicator)
{
	unsigned descents = 0;

	for (size_t i = 0; i < communicator->member_count; i++)
		descents += communicator->ring[(i + 1) % communicator->member_count] <
					    communicator->ring[i]
				    ? 1
				    : 0;
	return descents <= 1;
}

/* A ring of no channels that can be told, whose ranks do not follow each other: no operation can show that it is one. */
static void doubt_ring(const struct maker *maker, const struct ft_nccl_communicator *communicator)
{
	size_t messages = 0;

	if (communicator->ring == NULL || is_in_order(communicator))
		return;
	for (size_t i = 0; i < communicator->connection_count; i++)
		messages += track_of(maker, communicator->connections[i])->count;
	for (size_t i = 0;
	     messages > 2 * communicator->member_count && i < communicator->connection_count; i++)
		maker->input
			->loops[track_of(maker, communicator->connections[i]) -
				maker->input->tracks->at]
			.refuted = true;
}

static void communicator_operations(struct maker *maker,
				    const struct ft_nccl_communicator *communicator)
{
	struct ft_nccl_operations *operations = &maker->operations;

	ft_nccl_operations_begin(operations);
	maker->has_others = has_others(maker, communicator);
	if (communicator->distance_count > 0) {
		for (size_t i = 0; i < communicator->channel_count; i++) {
			pat_channel(maker, communicator, &communicator->channels[i]);
			ft_nccl_operations_next(operations);
		}
	} else if (has_channels(communicator)) {
		list_channels(maker, communicator);
		for (size_t i = 0; i < communicator->channel_count; i++) {
			ring_channel(maker, communicator, maker->channels[i]);
			ft_nccl_operations_next(operations);
		}
		if (communicator->tree_count > 0 && communicator->trees[0].of_hosts)
			trees(maker, communicator);
		other_connections(maker, communicator);
	} else {
		if (communicator->tree_count > 0)
			trees(maker, communicator);
		other_connections(maker, communicator);
		doubt_ring(maker, communicator);
	}
	ft_nccl_operations_doubt(operations);
	for (size_t i = operations->begin; i < operations->count; i++) {
		operations->at[i].row.communicator = communicator->communicator;
		operations->at[i].row.sequence = i - operations->begin;
	}
}

static int compare(const void *a, const void *b)
{
	const struct ft_nccl_collective *left = a, *right = b;

	if (left->first_frame != right->first_frame)
		return left->first_frame < right->first_frame ? -1 : 1;
	if (left->communicator != right->communicator)
		return left->communicator < right->communicator ? -1 : 1;
	return (left->sequence > right->sequence) - (left->sequence < right->sequence);
}

static int hand_over(const struct ft_nccl_operations *operations, struct ft_nccl_collective **rows,
		     size_t *count)
{
	if (operations->broken)
		return -ENOMEM;
	*rows = calloc(operations->count + 1, sizeof **rows);
	if (*rows == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < operations->count; i++)
		(*rows)[i] = operations->at[i].row;
	*count = operations->count;
	if (*count > 0)
		qsort(*rows, *count, sizeof **rows, compare);
	return 0;
}

int ft_nccl_operations_make(struct ft_nccl_collective **rows, size_t *count,
			    const struct ft_nccl_operations_input *input)
{
	struct maker maker = {
		.input = input,
		.ids = ft_nccl_ids_sort(input->connections, input->connection_count),
		.ring_tracks = calloc(input->connection_count + 1, sizeof *maker.ring_tracks),
		.ring_at = calloc(input->connection_count + 1, sizeof *maker.ring_at),
		.tree_tracks = calloc(input->connection_count + 1, sizeof *maker.tree_tracks),
		.tree_at = calloc(input->connection_count + 1, sizeof *maker.tree_at),
		.shared = calloc(input->connection_count + 1, sizeof *maker.shared),
		.is_shared = calloc(input->connection_count + 1, sizeof *maker.is_shared),
		.told = calloc(input->connection_count + 1, sizeof *maker.told),
		.channels = calloc(input->connection_count + 1, sizeof *maker.channels),
	};
	int error = 0;

	if (maker.ids == NULL || maker.ring_tracks == NULL || maker.ring_at == NULL ||
	    maker.tree_tracks == NULL || maker.tree_at == NULL || maker.shared == NULL ||
	    maker.is_shared == NULL || maker.told == NULL || maker.channels == NULL)
		error = -ENOMEM;
	for (size_t i = 0; error == 0 && i < input->communicator_count; i++)
		communicator_operations(&maker, &input->communicators[i]);
	if (error == 0)
		error = hand_over(&maker.operations, rows, count);
	free(maker.ids);
	free(maker.ring_tracks);
	free(maker.ring_at);
	free(maker.tree_tracks);
	free(maker.tree_at);
	free(maker.shared);
	free(maker.is_shared);
	free(maker.told);
	free(maker.channels);
	free(maker.operations.at);
	return error;
}
