#include "group_tags.h"

#include <stdlib.h>

bool ft_nccl_tag_is_rank(const struct ft_nccl_tag *tag)
{
	const bool agreed = tag->tagged > 1 || (tag->first && tag->messages == 1);

	return agreed && !tag->mixed && tag->tag >= 0 && tag->tag != FT_NCCL_TAG_BOOTSTRAP;
}

bool ft_nccl_tag_is_constant(int32_t tag)
{
	return tag == FT_NCCL_TAG_SHARP || tag == FT_NCCL_TAG_GIN_GATHER || tag == FT_NCCL_TAG_GIN;
}

static int compare(const void *a, const void *b)
{
	const struct ft_nccl_id *left = a, *right = b;

	return (left->connection > right->connection) - (left->connection < right->connection);
}

struct ft_nccl_id *ft_nccl_ids_sort(struct ft_nccl_connection *const *connections, size_t count)
{
	struct ft_nccl_id *ids = calloc(count + 1, sizeof *ids);

	if (ids == NULL)
		return NULL;
	for (size_t i = 0; i < count; i++)
		ids[i] = (struct ft_nccl_id){ connections[i]->connection, (uint32_t)i };
	qsort(ids, count, sizeof *ids, compare);
	return ids;
}

uint32_t ft_nccl_ids_find(const struct ft_nccl_id *ids, size_t count, uint32_t connection)
{
	const struct ft_nccl_id key = { connection, 0 };
	const struct ft_nccl_id *found = bsearch(&key, ids, count, sizeof *ids, compare);

	return found != NULL ? found->at : FT_NCCL_NONE;
}

static void read_message(struct ft_nccl_tag *tag, const struct ft_nccl_message *message)
{
	size_t tags = 0;

	tag->messages++;
	for (size_t i = 0; i < message->request_count; i++) {
		const struct ft_nccl_request *request = &message->requests[i];

		if (!request->has_tag)
			continue;
		tag->mixed |= tag->tagged + tags > 0 && tag->tag != request->tag;
		tag->tag = request->tag;
		tags++;
	}
	if (tags == 0)
		return;
	tag->mixed |= tags < message->request_count;
	tag->first |= message->has_k && message->k == 0;
	tag->tagged++;
}

struct ft_nccl_tag *ft_nccl_tags_read(struct ft_nccl_connection *const *connections,
				      size_t connection_count,
				      const struct ft_nccl_message *messages, size_t message_count)
{
	struct ft_nccl_tag *tags = calloc(connection_count + 1, sizeof *tags);
	struct ft_nccl_id *ids = ft_nccl_ids_sort(connections, connection_count);

	if (tags == NULL || ids == NULL) {
		free(tags);
		free(ids);
		return NULL;
	}
	for (size_t i = 0; i < message_count; i++) {
		uint32_t at = ft_nccl_ids_find(ids, connection_count, messages[i].connection);

		if (at != FT_NCCL_NONE)
			read_message(&tags[at], &messages[i]);
	}
	free(ids);
	return tags;
}
