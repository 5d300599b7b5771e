#pragma once

#include "item.h"
#include "worker.h"

/*
 * Which packets the follower of NCCL is shown when it is not shown all (FT_ENGINE_NCCL_WATCH): of half-connections with
 * clear-to-sends, and of their other halves, where writes begin and end; of all others the first few of these, because
 * they may be data, or somebody else's writes to what NCCL uses. Depends on nothing but the connection itself, so that
 * the number of workers changes nothing.
 */

/* ft_flow.watched: writes that were shown, up to FT_WATCH_TRIES; or one of these. */
enum {
	FT_WATCH_TRIES = 4,
	FT_WATCH_IDLE =
		FT_WATCH_TRIES, /* looked at now and then, because queue pairs are used anew */
	FT_WATCH_FOLLOWED,
	FT_WATCH_AGAIN = 64, /* PSNs between looks */
};

/* Where RC writes begin and end, bits 1 << opcode. */
#define FT_WATCH_BEGINS (1u << 0x06 | 1u << 0x0a | 1u << 0x0b)
#define FT_WATCH_ENDS   (1u << 0x08 | 1u << 0x09)

/* What may be worth a look by its operation. */
static inline bool ft_watch_may_want(const struct ft_item *item, const struct ft_flow *flow)
{
	uint32_t opcode = item->observed.opcode;

	return opcode < 32 && ((FT_WATCH_BEGINS | FT_WATCH_ENDS) >> opcode & 1) != 0 &&
	       (flow->watched != FT_WATCH_IDLE || item->observed.psn % FT_WATCH_AGAIN == 0);
}

/* Learn from it: `flow` is the packet's half-connection. */
void ft_watch_learn(const struct ft_worker *worker, const struct ft_item *item,
		    struct ft_flow *flow);

/* No RDMA packet, but perhaps TCP, by which connections are set up. */
bool ft_watch_may_be_tcp(const struct ft_frame *frame);
