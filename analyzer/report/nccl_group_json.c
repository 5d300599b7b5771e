#include "nccl_rows.h"

#include "nccl_words.h"

static void ids(struct ft_document *json, const char *name, const uint32_t *values, size_t count)
{
	ft_member_begin(json, name, '[');
	for (size_t i = 0; i < count; i++)
		ft_member_number(json, NULL, values[i]);
	ft_member_end(json, ']');
}

static void ranks(struct ft_document *json, const struct ft_nccl_communicator *communicator)
{
	ft_member_begin(json, "ranks", '[');
	for (size_t i = 0; i < communicator->member_count; i++) {
		const struct ft_nccl_member *member = &communicator->members[i];

		ft_member_begin(json, NULL, '{');
		ft_nccl_rank_json(json, member->has_rank, member->rank);
		ft_nccl_places_json(json, member->places, member->place_count);
		ft_member_end(json, '}');
	}
	ft_member_end(json, ']');
}

static void channels(struct ft_document *json, const struct ft_nccl_communicator *communicator)
{
	ft_member_begin(json, "channels", '[');
	for (size_t i = 0; i < communicator->channel_count; i++) {
		const struct ft_nccl_channel *channel = &communicator->channels[i];

		ft_member_begin(json, NULL, '{');
		ft_nccl_id_json(json, "channel", channel->channel);
		ids(json, "connections", channel->connections, channel->connection_count);
		ft_member_end(json, '}');
	}
	ft_member_end(json, ']');
}

static void tree(struct ft_document *json, const struct ft_nccl_tree *tree)
{
	ft_member_begin(json, NULL, '{');
	ft_nccl_id_json(json, "tree", tree->number);
	ft_member_number(json, "root", tree->root);
	ft_member_begin(json, "edges", '[');
	for (size_t i = 0; i < tree->edge_count; i++) {
		const struct ft_nccl_tree_edge *edge = &tree->edges[i];

		ft_member_begin(json, NULL, '{');
		ft_member_number(json, "parent", edge->parent);
		ft_member_number(json, "child", edge->child);
		ids(json, "up", edge->up, tree->channels);
		ids(json, "down", edge->down, tree->channels);
		ft_member_end(json, '}');
	}
	ft_member_end(json, ']');
	ft_member_end(json, '}');
}

static void trees(struct ft_document *json, const struct ft_nccl_communicator *communicator)
{
	if (communicator->tree_count == 0) {
		ft_member_null(json, "trees");
		return;
	}
	ft_member_begin(json, "trees", '[');
	for (size_t i = 0; i < communicator->tree_count; i++)
		tree(json, &communicator->trees[i]);
	ft_member_end(json, ']');
}

static void distances(struct ft_document *json, const struct ft_nccl_communicator *communicator)
{
	if (communicator->distance_count == 0) {
		ft_member_null(json, "pat");
		return;
	}
	ft_member_begin(json, "pat", '[');
	for (size_t i = 0; i < communicator->distance_count; i++)
		ft_member_number(json, NULL, communicator->distances[i].ranks);
	ft_member_end(json, ']');
}

void ft_nccl_communicator_json(struct ft_document *json,
			       const struct ft_nccl_communicator *communicator)
{
	ft_member_begin(json, NULL, '{');
	ft_member_number(json, "communicator", communicator->communicator);
	ranks(json, communicator);
	if (communicator->ring != NULL)
		ids(json, "ring", communicator->ring, communicator->member_count);
	else
		ft_member_null(json, "ring");
	trees(json, communicator);
	distances(json, communicator);
	channels(json, communicator);
	ids(json, "connections", communicator->connections, communicator->connection_count);
	ft_member_end(json, '}');
}

static void bounds(struct ft_document *json, const struct ft_nccl_collective *collective)
{
	if (collective->message_bytes_most == 0) {
		ft_member_null(json, "message_bytes_range");
		return;
	}
	ft_member_begin(json, "message_bytes_range", '[');
	ft_member_number(json, NULL, collective->message_bytes_least);
	ft_member_number(json, NULL, collective->message_bytes_most);
	ft_member_end(json, ']');
}

void ft_nccl_collective_json(struct ft_document *json, const struct ft_nccl_collective *collective)
{
	ft_member_begin(json, NULL, '{');
	ft_member_number(json, "communicator", collective->communicator);
	ft_member_number(json, "sequence", collective->sequence);
	ft_member_text(json, "collective", collective->collective);
	ft_member_text(json, "algorithm", collective->algorithm);
	ft_member_text(json, "protocol", ft_nccl_protocol_word(collective->protocol));
	ft_member_number(json, "message_bytes",
			 collective->message_bytes > 0 ? collective->message_bytes : UINT64_MAX);
	bounds(json, collective);
	ft_member_number(json, "wire_bytes", collective->wire_bytes);
	ft_member_number(json, "messages", collective->messages);
	ft_member_number(json, "channels",
			 collective->channels > 0 ? collective->channels : UINT64_MAX);
	ft_member_number(json, "n_ranks", collective->ranks > 0 ? collective->ranks : UINT64_MAX);
	ft_member_number(json, "first_frame", collective->first_frame);
	ft_member_number(json, "last_frame", collective->last_frame);
	ft_member_time(json, "first_ts", collective->first_ts_ns);
	ft_member_time(json, "last_ts", collective->last_ts_ns);
	ft_member_bool(json, "complete", collective->complete);
	ft_member_end(json, '}');
}

void ft_nccl_queue_pair_json(struct ft_document *json, const struct ft_nccl_queue_pair *queue_pair)
{
	struct ft_nccl_text text;

	ft_member_begin(json, NULL, '{');
	ft_member_text(json, "address", ft_nccl_place_text(&text, &queue_pair->place));
	ft_member_number(json, "qpn", queue_pair->qpn);
	ft_member_text(json, "class", ft_nccl_class_name(queue_pair->class));
	ft_member_real(json, "confidence", queue_pair->confidence);
	ft_member_begin(json, "evidence", '[');
	for (size_t i = 0; i < queue_pair->evidence_count; i++)
		ft_member_text(json, NULL, queue_pair->evidence[i]);
	ft_member_end(json, ']');
	ft_nccl_id_json(json, "connection", queue_pair->connection);
	ft_member_end(json, '}');
}

void ft_nccl_process_json(struct ft_document *json, const struct ft_nccl_process *process)
{
	struct ft_nccl_text text;

	ft_member_begin(json, NULL, '{');
	ft_member_text(json, "address", ft_nccl_place_text(&text, &process->place));
	ft_nccl_rank_json(json, process->has_rank, process->rank);
	if (process->has_rank)
		ft_member_signed(json, "n_ranks", process->ranks);
	else
		ft_member_null(json, "n_ranks");
	ft_member_text(json, "release", ft_nccl_release_text(&text, process->release));
	ft_member_number(json, "first_frame", process->first_frame);
	ft_member_number(json, "last_frame", process->last_frame);
	ft_member_number(json, "dead_frame",
			 process->dead_frame != 0 ? process->dead_frame : UINT64_MAX);
	ft_member_end(json, '}');
}
