#pragma once

#include <nccl/model.h>

/* The tag of all clear-to-sends of a connection: its sender's rank, if it is one. */
struct ft_nccl_tag {
	size_t messages, tagged; /* tagged: by their clear-to-sends */
	bool first;              /* the connection's first one is tagged */
	bool mixed;              /* of several ranks, which one process serves, or some unread */
	int32_t tag;
};

/* By place of the connection in the list; the array is for the caller to free. NULL: out of memory. */
struct ft_nccl_tag *ft_nccl_tags_read(struct ft_nccl_connection *const *connections,
				      size_t connection_count,
				      const struct ft_nccl_message *messages, size_t message_count);

/*
 * All requests had one tag, it can be a rank, and two clear-to-sends agree. One alone may be of a connection that several
 * ranks share, whose others are missing: it is enough only if it is the first of all, and nothing came behind it.
 */
bool ft_nccl_tag_is_rank(const struct ft_nccl_tag *tag);

/* It is one that processes of any rank send with. */
bool ft_nccl_tag_is_constant(int32_t tag);

/* Places of connections in their list, by id. */
struct ft_nccl_id {
	uint32_t connection, at;
};
struct ft_nccl_id *ft_nccl_ids_sort(struct ft_nccl_connection *const *connections, size_t count);
/* FT_NCCL_NONE */
uint32_t ft_nccl_ids_find(const struct ft_nccl_id *ids, size_t count, uint32_t connection);
