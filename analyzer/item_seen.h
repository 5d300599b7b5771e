#pragma once

#include <decode/nccl.h>
#include <nccl/follower.h>

#include "item.h"

/*
 * What NCCL's follower asks of an item's packet. That of a usual frame in which nothing is wrong is put together from the
 * item and from where the usual form has the rest; any other is decoded anew, into *packet, which is undefined otherwise.
 * False: as ft_nccl_seen_of() says.
 */
bool ft_item_seen(const struct ft_item *item, const struct ft_decode_config *config,
		  struct ft_packet *packet, struct ft_nccl_seen *seen);

/* Of that only its payload, as if it were a whole write; the bytes are the frame's. False: as above, and *write is as it was. */
bool ft_item_write(const struct ft_item *item, const struct ft_decode_config *config,
		   struct ft_nccl_write *write);

/*
 * The short way to the same follower, of an item that is quiet or steady: it and its frame must live on. `number`, `since`:
 * as in struct ft_nccl_glimpse.
 */
static inline struct ft_nccl_glimpse ft_item_glimpse(const struct ft_item *item, uint32_t number,
						     uint32_t since)
{
	return (struct ft_nccl_glimpse){
		.key = &item->flow_key,
		.number = number,
		.since = since,
		.observed = &item->observed,
		.frame = item->frame,
		.bth_at = item->bth_at,
	};
}
