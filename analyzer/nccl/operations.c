#include "operations.h"

#include <errno.h>
#include <stdlib.h>

#include "group_tags.h"
#include "operation_beside.h"
#include "operation_pat.h"
#include "operations_parts.h"

static void tree(struct ft_nccl_operations_maker *maker,
		 const struct ft_nccl_communicator *communicator, const struct ft_nccl_tree *tree,
		 uint32_t channel)
{
	const struct ft_nccl_circle circle = ft_nccl_maker_tree(maker, communicator, tree, channel);

	if (ft_nccl_maker_is_told(maker, &circle))
		return;
	ft_nccl_maker_tell(maker, &circle);
	ft_nccl_maker_add_alone(maker, circle);
	ft_nccl_operations_next(&maker->operations);
}

/* Small operations use the first channels only: where these have no numbers, the first one is that of most messages. */
static void trees(struct ft_nccl_operations_maker *maker,
		  const struct ft_nccl_communicator *communicator)
{
	size_t first = 0, most = 0;
	uint32_t channel = 0;

	if (communicator->trees[0].of_hosts)
		ft_nccl_operations_begin_trees(&maker->operations);
	for (size_t i = 0; i < communicator->tree_count; i++)
		for (uint32_t j = 0; j < communicator->trees[i].channels; j++) {
			const struct ft_nccl_circle circle =
				ft_nccl_maker_tree(maker, communicator, &communicator->trees[i], j);

			if (ft_nccl_circle_messages(&circle) <= most)
				continue;
			most = ft_nccl_circle_messages(&circle);
			first = i;
			channel = j;
		}
	tree(maker, communicator, &communicator->trees[first], channel);
	for (size_t i = 0; i < communicator->tree_count; i++)
		for (uint32_t j = 0; j < communicator->trees[i].channels; j++)
			if (i != first || j != channel)
				tree(maker, communicator, &communicator->trees[i], j);
}

static void pat_channel(struct ft_nccl_operations_maker *maker,
			const struct ft_nccl_communicator *communicator,
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
		pat.tracks[i] = ft_nccl_maker_track(maker, channel->connections[i]);
		pat.at[i] = 0;
		/* NCCL has PAT only where hosts have a rank each */
		maker->input->loops[pat.tracks[i] - maker->input->tracks->at].ranks = pat.ranks;
	}
	ft_nccl_pat_operations(&maker->operations, &pat);
}

static bool has_others(const struct ft_nccl_operations_maker *maker,
		       const struct ft_nccl_communicator *communicator)
{
	size_t used = 0, in_rings = 0;

	for (size_t i = 0; i < communicator->connection_count; i++)
		used += ft_nccl_maker_track(maker, communicator->connections[i])->count > 0 ? 1 : 0;
	for (size_t i = 0; i < communicator->channel_count; i++)
		for (size_t j = 0; j < communicator->channels[i].ring_count; j++)
			in_rings +=
				ft_nccl_maker_track(maker, communicator->channels[i].connections[j])
							->count > 0
					? 1
					: 0;
	return communicator->ring == NULL && used > in_rings;
}

static bool has_channels(const struct ft_nccl_communicator *communicator)
{
	return communicator->channel_count > 0 && communicator->channels[0].ring_count > 0;
}

/* The first one first. Where they have no numbers it is that of most messages: small operations use the first ones only. */
static void list_channels(struct ft_nccl_operations_maker *maker,
			  const struct ft_nccl_communicator *communicator)
{
	size_t first = 0, most = 0;

	for (size_t i = 0; i < communicator->channel_count; i++) {
		const struct ft_nccl_channel *channel = &communicator->channels[i];
		const struct ft_nccl_circle ring = ft_nccl_maker_ring(maker, communicator, channel);
		const size_t count =
			channel->channel == FT_NCCL_NONE ? ft_nccl_circle_messages(&ring) : 0;

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
static void doubt_ring(const struct ft_nccl_operations_maker *maker,
		       const struct ft_nccl_communicator *communicator)
{
	size_t messages = 0;

	if (communicator->ring == NULL || is_in_order(communicator))
		return;
	for (size_t i = 0; i < communicator->connection_count; i++)
		messages += ft_nccl_maker_track(maker, communicator->connections[i])->count;
	for (size_t i = 0;
	     messages > 2 * communicator->member_count && i < communicator->connection_count; i++)
		maker->input
			->loops[ft_nccl_maker_track(maker, communicator->connections[i]) -
				maker->input->tracks->at]
			.refuted = true;
}

/* As far as there are messages, the first ones are there. */
static bool is_from_start(const struct ft_nccl_operations_maker *maker,
			  const struct ft_nccl_communicator *communicator)
{
	for (size_t i = 0; i < communicator->connection_count; i++) {
		const struct ft_nccl_track *track =
			ft_nccl_maker_track(maker, communicator->connections[i]);

		if (track->count > 0 && (!track->numbered || track->first_k != 0))
			return false;
	}
	return true;
}

/* Some of its connections have messages of known numbers, and others not: these may be parts of any operation but PAT's. */
static bool lacks_numbers(const struct ft_nccl_operations_maker *maker,
			  const struct ft_nccl_communicator *communicator)
{
	size_t used = 0, numbered = 0;

	for (size_t i = 0; i < communicator->connection_count; i++) {
		const struct ft_nccl_track *track =
			ft_nccl_maker_track(maker, communicator->connections[i]);

		used += track->count > 0 ? 1 : 0;
		numbered += track->count > 0 && track->numbered ? 1 : 0;
	}
	return communicator->distance_count == 0 && numbered > 0 && numbered < used;
}

static void communicator_operations(struct ft_nccl_operations_maker *maker,
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
		ft_nccl_maker_poll_rings(maker, communicator);
		for (size_t i = 0; i < communicator->channel_count; i++) {
			ft_nccl_maker_add_ring(maker, communicator, maker->channels[i]);
			ft_nccl_operations_next(operations);
		}
		if (communicator->tree_count > 0 && communicator->trees[0].of_hosts)
			trees(maker, communicator);
		ft_nccl_maker_add_untold(maker, communicator->connections,
					 communicator->connection_count);
	} else {
		if (communicator->tree_count > 0)
			trees(maker, communicator);
		ft_nccl_maker_add_untold(maker, communicator->connections,
					 communicator->connection_count);
		doubt_ring(maker, communicator);
	}
	ft_nccl_operations_doubt(operations, is_from_start(maker, communicator));
	if (lacks_numbers(maker, communicator))
		ft_nccl_operations_forget_sizes(operations);
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
	struct ft_nccl_operations_maker maker = {
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
