#pragma once

#include "lock.h"
#include "reply.h"

/*
 * Which data answers clear-to-sends that cannot be read: writes the other way whose immediates are lengths. Of one queue
 * pair, its own; where each message is split over several, what all of them carried of it; and queue pairs may take turns,
 * each with a message of its own. Of several requests at a time a message has as many writes on each queue pair, and one
 * more that ends it: as many as its clear-to-send had entries.
 */
struct ft_nccl_grid;

struct ft_nccl_replies {
	struct ft_nccl_stranger *strangers[FT_NCCL_REPLIES_MOST];
	unsigned count;
	enum ft_nccl_known split; /* over all of them; unknown where there is one */
	bool in_order;            /* they take turns in this order, to be sure */
};

/* Packets to one go the other way than those to the other; it has a log. */
bool ft_nccl_is_opposite(const struct ft_nccl_stranger *a, const struct ft_nccl_stranger *b);

/* Of the clear-to-sends of a grid whose queue pairs are found, as their logs have them. False: it is not clear whose data it is. */
bool ft_nccl_replies_find(const struct ft_nccl_connections *connections,
			  const struct ft_nccl_grid *grid, struct ft_nccl_replies *replies);

/*
 * A queue pair between the ends of connections whose data cannot be read, met only now, and no clear-to-sends of another one
 * are in view: it may be one of theirs, and then messages are not of the numbers that they were given.
 */
void ft_nccl_replies_doubt(const struct ft_nccl_connections *connections,
			   const struct ft_nccl_stranger *stranger);
