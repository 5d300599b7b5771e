#pragma once

#include "followed.h"

/*
 * Set-ups of which the capture cut too much off to follow their connection from: kept until clear-to-sends and data have
 * shown a connection between the same addresses that has the same first queue pairs. At most FT_NCCL_CUT_SETUPS wait, of
 * which the oldest makes room.
 */
enum { FT_NCCL_CUT_SETUPS = 1 << 12 };

/* Both ends of a lane have become known: a set-up that waits may be the connection's, if the first lane's are. */
void ft_nccl_cut_setup_find(struct ft_nccl_connections *connections,
			    struct ft_nccl_followed *followed);

/* learn.c: what the document says of a set-up's TCP connection. */
void ft_nccl_tcp_tell(struct ft_nccl_connection *model, const struct ft_nccl_exchange *exchange);

/* Slots of a FIFO of family C: 64 from 2.12 to 2.18, 256 in 2.19. */
static inline uint16_t ft_nccl_slots_of_c(const struct ft_nccl_form *form)
{
	return form->minor_last < 19 ? 64 : 256;
}
