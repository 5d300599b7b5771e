#include "group_hidden_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A ring of all members, NCCL's trees or PAT, which have one process of each host; or nothing that passed shows what it is. */
static bool has_shape(const struct ft_nccl_communicator *row)
{
	return row->ring != NULL || row->distance_count > 0 ||
	       (row->tree_count > 0 && !row->trees[0].of_hosts);
}

/* Neither loops nor ranks show how many processes there are, so that a host may have several. */
static bool is_bare(const struct ft_nccl_hider *hider, uint32_t communicator)
{
	const struct ft_nccl_communicator *row = &hider->input->communicators[communicator];

	return hider->ranks[communicator] == 0 && row->member_count > 0 &&
	       !row->members[0].has_rank;
}

/* Others may take part, and receive where these send: loops show it, or nothing rules it out. */
static bool may_have_hidden(const struct ft_nccl_hider *hider, uint32_t communicator)
{
	const struct ft_nccl_communicator *row = &hider->input->communicators[communicator];

	if (hider->crowded[communicator] || hider->refuted[communicator])
		return true;
	if (hider->ranks[communicator] == 0)
		return is_bare(hider, communicator) ||
		       ft_nccl_members_may_be_several(row->members, row->member_count) ||
		       !(has_shape(row) || hider->spread[communicator]);
	return row->channel_count > 0 && row->channels[0].ring_count > 0 &&
	       hider->ranks[communicator] > row->channels[0].ring_count;
}

static bool has_tree_like(const struct ft_nccl_hider *hider, const struct ft_nccl_tree *tree)
{
	for (size_t i = 0; i < tree->edge_count; i++)
		if (!ft_nccl_unseen_has_like(&hider->unseen, tree->edges[i].up, 1) ||
		    !ft_nccl_unseen_has_like(&hider->unseen, tree->edges[i].down, 1))
			return false;
	return tree->edge_count > 0;
}

/* A ring like the first one, or a tree, may have passed elsewhere. */
static bool may_be_more(const struct ft_nccl_hider *hider,
			const struct ft_nccl_communicator *communicator, bool over_trees)
{
	const struct ft_nccl_channel *ring = communicator->channels;

	if (!over_trees)
		return communicator->channel_count > 0 &&
		       ft_nccl_unseen_has_like(&hider->unseen, ring->connections, ring->ring_count);
	for (size_t i = 0; i < communicator->tree_count; i++)
		if (has_tree_like(hider, &communicator->trees[i]))
			return true;
	return false;
}

/* All set-ups there were in the capture are of this job, as far as hosts tell, and what was set up is in view. */
static bool is_all_there_is(const struct ft_nccl_hider *hider, uint32_t communicator,
			    bool over_trees)
{
	return !hider->lacks_set_ups && !hider->shares[communicator] &&
	       !may_be_more(hider, &hider->input->communicators[communicator], over_trees);
}

static bool is_over_trees(const struct ft_nccl_collective *row)
{
	return row->algorithm != NULL && strcmp(row->algorithm, "TREE") == 0;
}

/* How many take part: what is summed up over trees does not show it, but rings of the same processes may. */
static uint32_t ranks_of(const struct ft_nccl_hider *hider, const struct ft_nccl_collective *row)
{
	return row->ranks > 0 || !is_over_trees(row) ? row->ranks : hider->ranks[row->communicator];
}

static bool is_whole(const struct ft_nccl_hider *hider, const struct ft_nccl_collective *row)
{
	const uint32_t at = row->communicator, ranks = ranks_of(hider, row);
	const uint32_t senders = ranks > 0 ? ft_nccl_hider_senders(hider, at, ranks) : 0;

	if (hider->alone[at] ||
	    senders > ranks) /* it is of one communicator of several on the same ways */
		return false;
	if (!may_have_hidden(hider, at) || (ranks > 0 && senders == ranks))
		return true;
	return (ranks > 0 || is_over_trees(row)) && is_all_there_is(hider, at, is_over_trees(row));
}

static void hide_sizes(const struct ft_nccl_hider *hider)
{
	for (size_t i = 0; i < hider->input->collective_count; i++) {
		struct ft_nccl_collective *row = &hider->input->collectives[i];

		if (hider->alone[row->communicator])
			row->channels = 0;
		if (!is_whole(hider, row))
			row->message_bytes = row->message_bytes_least = row->message_bytes_most = 0;
	}
}

static void hide_channels(const struct ft_nccl_hider *hider,
			  struct ft_nccl_communicator *communicator)
{
	struct ft_nccl_channel *channels =
		hider->input->channels + (communicator->channels - hider->input->channels);

	communicator->ring = NULL;
	if (hider->refuted[communicator->communicator]) {
		communicator->channel_count = 1;
		channels[0] = (struct ft_nccl_channel){ FT_NCCL_NONE, communicator->connections,
							communicator->connection_count, 0 };
	}
}

/* Other channels may have passed elsewhere. */
static void hide_numbers(const struct ft_nccl_hider *hider,
			 struct ft_nccl_communicator *communicator)
{
	struct ft_nccl_channel *channels =
		hider->input->channels + (communicator->channels - hider->input->channels);

	for (size_t i = 0; i < communicator->channel_count; i++)
		channels[i].channel = FT_NCCL_NONE;
}

/*
 * A channel's number may be another one, as others may be out of view. Between two hosts connections that nothing passed over
 * may be those of trees.
 */
static bool may_lack_channels(const struct ft_nccl_hider *hider, uint32_t communicator)
{
	return may_have_hidden(hider, communicator) &&
	       (!is_all_there_is(hider, communicator, false) ||
		hider->input->communicators[communicator].member_count == 2);
}

static void hide_ranks(const struct ft_nccl_hider *hider, size_t i)
{
	struct ft_nccl_connection *connection = hider->input->connections[i];
	const uint32_t of = hider->input->members->of[i];

	connection->receiver.has_rank = false;
	connection->sender.has_rank &= hider->input->members->named[i] ||
				       hider->input->members->parted[i] ||
				       hider->input->apart->renumbered[i];
	if (hider->refuted[of])
		connection->channel = FT_NCCL_NONE;
}

static void hide(const struct ft_nccl_hider *hider)
{
	const struct ft_nccl_hidden_input *input = hider->input;

	hide_sizes(hider);
	for (uint32_t i = 0; i < input->communicator_count; i++)
		hider->hides_numbers[i] = hider->alone[i] || may_lack_channels(hider, i);
	for (size_t i = 0; i < input->connection_count; i++) {
		const uint32_t of = input->members->of[i];

		if (of != FT_NCCL_NONE && may_have_hidden(hider, of))
			hide_ranks(hider, i);
		if (of != FT_NCCL_NONE && hider->hides_numbers[of])
			input->connections[i]->channel = FT_NCCL_NONE;
	}
	for (uint32_t i = 0; i < input->communicator_count; i++) {
		if (input->communicators[i].channel_count > 0 && may_have_hidden(hider, i))
			hide_channels(hider, &input->communicators[i]);
		if (hider->hides_numbers[i])
			hide_numbers(hider, &input->communicators[i]);
		if (input->communicators[i].tree_count > 0 &&
		    input->communicators[i].trees[0].of_hosts && hider->wider[i])
			input->communicators[i].tree_count = 0; /* a part of a larger one */
	}
}

int ft_nccl_hidden_ranks(const struct ft_nccl_hidden_input *input)
{
	struct ft_nccl_hider hider = {
		.input = input,
		.ends = calloc(2 * input->connection_count + 1, sizeof *hider.ends),
		.loops = calloc(input->connection_count + 1, sizeof *hider.loops),
		.crowded = calloc(input->communicator_count + 1, sizeof *hider.crowded),
		.ranks = calloc(input->communicator_count + 1, sizeof *hider.ranks),
		.spread = calloc(input->communicator_count + 1, sizeof *hider.spread),
		.refuted = calloc(input->communicator_count + 1, sizeof *hider.refuted),
		.shares = calloc(input->communicator_count + 1, sizeof *hider.shares),
		.wider = calloc(input->communicator_count + 1, sizeof *hider.wider),
		.hides_numbers = calloc(input->communicator_count + 1, sizeof *hider.hides_numbers),
		.alone = calloc(input->communicator_count + 1, sizeof *hider.alone),
	};
	int error = ft_nccl_unseen_find(&hider.unseen, input->members, input->tracks,
					input->connections, input->connection_count);

	if (hider.ends == NULL || hider.loops == NULL || hider.crowded == NULL ||
	    hider.ranks == NULL || hider.spread == NULL || hider.refuted == NULL ||
	    hider.shares == NULL || hider.wider == NULL || hider.hides_numbers == NULL ||
	    hider.alone == NULL)
		error = -ENOMEM;
	if (error == 0) {
		ft_nccl_hider_look(&hider);
		hide(&hider);
	}
	ft_nccl_unseen_free(&hider.unseen);
	free(hider.ends);
	free(hider.loops);
	free(hider.crowded);
	free(hider.ranks);
	free(hider.spread);
	free(hider.refuted);
	free(hider.shares);
	free(hider.wider);
	free(hider.hides_numbers);
	free(hider.alone);
	return error;
}
