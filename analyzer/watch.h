#pragma once

#include "item.h"
#include "worker.h"

/*
 * Which packets the follower of NCCL is shown when it is not shown all (FT_ENGINE_NCCL_WATCH): between hosts where
 * clear-to-sends were seen, all that is written begins and ends, and acknowledgments; elsewhere the first few writes of
 * each half-connection, because they may be somebody else's to what NCCL uses. Depends on nothing but the address pair,
 * so that the number of workers changes nothing.
 */

/* ft_flow.watched: writes that were shown, up to FT_WATCH_TRIES; or one of these. */
enum {
	FT_WATCH_TRIES = 4,
	FT_WATCH_IDLE = FT_WATCH_TRIES, /* shown now and then, because queue pairs are used anew */
	FT_WATCH_FOLLOWED,
	FT_WATCH_AGAIN = 64, /* PSNs between looks */
};

/* Where RC writes begin and end, and what acknowledges them: bits 1 << opcode. */
#define FT_WATCH_BEGINS (1u << 0x06 | 1u << 0x0a | 1u << 0x0b)
#define FT_WATCH_WRITES (FT_WATCH_BEGINS | 1u << 0x08 | 1u << 0x09)
#define FT_WATCH_ALL    (FT_WATCH_WRITES | 1u << 0x11)

/* What may be worth a look by its operation. */
static inline bool ft_watch_may_want(const struct ft_item *item, const struct ft_flow *flow)
{
	uint32_t opcode = item->observed.opcode;
	uint32_t wanted = flow->watched == FT_WATCH_FOLLOWED ? FT_WATCH_ALL : FT_WATCH_WRITES;

	return opcode < 32 && (wanted >> opcode & 1) != 0 &&
	       (flow->watched != FT_WATCH_IDLE || item->observed.psn % FT_WATCH_AGAIN == 0);
}

/* Show it, and learn from it: `flow` is the packet's half-connection. */
void ft_watch_show(struct ft_worker *worker, struct ft_item *item, struct ft_flow *flow);

/* No RDMA packet, but perhaps TCP, by which connections are set up. */
bool ft_watch_may_be_tcp(const struct ft_frame *frame);
