#pragma once

#include "item.h"
#include "worker.h"

/*
 * Which packets the follower of NCCL is shown when it is not shown all (FT_ENGINE_NCCL_WATCH): between hosts where
 * clear-to-sends were seen, where all that is written begins and ends, and acknowledgments, but few of those of data;
 * elsewhere the first few writes of each half-connection, because they may be somebody else's to what NCCL uses. Depends on nothing but the address pair,
 * so that the number of workers changes nothing.
 */

/* ft_flow.watched: writes that were shown, up to FT_WATCH_TRIES; or one of these. */
enum {
	FT_WATCH_TRIES = 4,
	FT_WATCH_IDLE = FT_WATCH_TRIES, /* shown now and then, because queue pairs are used anew */
	FT_WATCH_FOLLOWED,
	FT_WATCH_ASKING,      /* so is its other half, and its own writes are clear-to-sends */
	FT_WATCH_AGAIN = 64,  /* PSNs between looks */
	FT_WATCH_SPARSE = 29, /* of 32 bits of a PSN's hash: one in eight is shown */
};

/* Where RC writes begin and end, and what acknowledges clear-to-sends: bits 1 << opcode. */
#define FT_WATCH_BEGINS (1u << 0x06 | 1u << 0x0a | 1u << 0x0b)
#define FT_WATCH_WRITES (FT_WATCH_BEGINS | 1u << 0x08 | 1u << 0x09)
#define FT_WATCH_ALL    (FT_WATCH_WRITES | 1u << 0x11)

/* Its bit in the batch. */
static inline uint64_t ft_watch_bit(const struct ft_worker *worker, const struct ft_item *item)
{
	return UINT64_C(1) << (unsigned)(item - worker->batch.items) % 64;
}

/* For the follower, or not. */
static inline void ft_watch_mark(struct ft_worker *worker, struct ft_item *item, bool wanted)
{
	item->framing = wanted ? FT_FRAMING_SHOWN : FT_FRAMING_NONE;
	worker->batch.framed |= wanted ? ft_watch_bit(worker, item) : 0;
}

/* By a hash, since the last packets of messages often have PSNs that are alike. */
static inline bool ft_watch_is_sample(uint32_t psn)
{
	return psn * UINT32_C(0x9e3779b1) >> FT_WATCH_SPARSE == 0;
}

/* Show it, and learn from it what its half-connection does. */
void ft_watch_learn(struct ft_worker *worker, struct ft_item *item, struct ft_flow *flow);

/*
 * Show it, if its operation is worth a look; `flow` is its half-connection. Which packets of one that is followed are is as
 * good as random: there is no branch on that.
 */
static inline void ft_watch(struct ft_worker *worker, struct ft_item *item, struct ft_flow *flow)
{
	uint32_t opcode = item->observed.opcode;
	uint32_t wanted;

	if (flow->watched == FT_WATCH_IDLE && item->observed.psn % FT_WATCH_AGAIN != 0)
		return;
	wanted = flow->watched == FT_WATCH_FOLLOWED ? FT_WATCH_ALL : FT_WATCH_WRITES;
	wanted = opcode < 32 ? wanted >> opcode & 1 : 0;
	if (flow->watched < FT_WATCH_FOLLOWED) {
		if (wanted != 0)
			ft_watch_learn(worker, item, flow);
	} else if (flow->watched == FT_WATCH_FOLLOWED && opcode == 0x0a) {
		ft_watch_learn(worker, item, flow);
	} else {
		wanted |= (opcode == 0x11) & ft_watch_is_sample(item->observed.psn);
		ft_watch_mark(worker, item, wanted != 0);
	}
}

/* No RDMA packet, but perhaps TCP, by which connections are set up. */
bool ft_watch_may_be_tcp(const struct ft_frame *frame);
