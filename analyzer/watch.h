#pragma once

#include "item.h"
#include "worker.h"

/*
 * Which packets the follower of NCCL is shown when it is not shown all (FT_ENGINE_NCCL_WATCH): between hosts where
 * clear-to-sends were seen, where all that is written begins and ends, and acknowledgments, but few of them once a
 * half-connection has asked for data, or acknowledged, often enough; elsewhere the first few writes of each half-connection,
 * because they may be somebody else's to what NCCL uses. Depends on nothing but the address pair, so that the number of
 * workers changes nothing.
 */

/* ft_flow.watched: writes that were shown, up to FT_WATCH_TRIES; or one of these. */
enum {
	FT_WATCH_TRIES = 4,
	FT_WATCH_IDLE = FT_WATCH_TRIES, /* shown now and then, because queue pairs are used anew */
	FT_WATCH_FOLLOWED, /* plus clear-to-sends of its own, its other half being known; and one for every two ACKs */
	FT_WATCH_ASKING = FT_WATCH_FOLLOWED + 16, /* by then the order of ACKs is known */
	FT_WATCH_AGAIN = 64,                      /* PSNs between looks */
	FT_WATCH_YOUNG = 64, /* packets of a half-connection: until then each ACK is worth a look */
	/* of 32 bits of a PSN's hash: one in eight is shown later; one in two counts until then */
	FT_WATCH_SPARSE = 29,
	FT_WATCH_COUNTED = 31,
	FT_WATCH_ACK = 0x11, /* opcodes */
	FT_WATCH_ASK = 0x0a,
	FT_WATCH_MIDDLE = 0x07,
};

/* Where RC writes begin and end: bits 1 << opcode. */
#define FT_WATCH_BEGINS (1u << 0x06 | 1u << 0x0a | 1u << 0x0b)
#define FT_WATCH_WRITES (FT_WATCH_BEGINS | 1u << 0x08 | 1u << 0x09)
#define FT_WATCH_DATA   (FT_WATCH_WRITES & ~(1u << FT_WATCH_ASK)) /* no clear-to-sends */

/* For the follower: or not, as the case may be. What it will ask for first is fetched meanwhile. */
static inline void ft_watch_mark_if(struct ft_worker *worker, struct ft_item *item, bool is_shown)
{
	item->framing |= is_shown ? FT_FRAMING_SHOWN : 0;
	worker->batch.framed |= (uint64_t)is_shown << worker->place;
	if (worker->way != NULL)
		ft_nccl_prefetch_early(worker->way, item->record);
}

static inline void ft_watch_mark(struct ft_worker *worker, struct ft_item *item)
{
	ft_watch_mark_if(worker, item, true);
}

/* The operation is one of those with a bit. */
static inline bool ft_watch_is_among(uint32_t operations, uint32_t opcode)
{
	return ((opcode < 32) & (operations >> opcode % 32 & 1)) != 0;
}

/* By a hash, since the last packets of messages often have PSNs that are alike. */
static inline bool ft_watch_is_one_of(uint32_t psn, unsigned bits)
{
	return psn * UINT32_C(0x9e3779b1) >> bits == 0;
}

static inline bool ft_watch_is_sample(uint32_t psn)
{
	return ft_watch_is_one_of(psn, FT_WATCH_SPARSE);
}

/*
 * The rest of ft_watch(): what may be a clear-to-send, packets of half-connections that have nothing to do with NCCL so far,
 * and such as are never looked at.
 */
void ft_watch_closely(struct ft_worker *worker, struct ft_item *item, struct ft_flow *flow);

/* The next of a half-connection that has nothing to do with NCCL so far, and is not looked at now. */
static inline bool ft_watch_rests(const struct ft_item *item, const struct ft_flow *flow)
{
	uint32_t psn = item->observed.psn;

	if (flow->watched != FT_WATCH_IDLE)
		return false;
	return item->observed.opcode == FT_WATCH_ACK
		       ? flow->packets >= FT_WATCH_YOUNG && !ft_watch_is_sample(psn)
		       : psn % FT_WATCH_AGAIN != 0;
}

/* One of a half-connection that is followed, of which it is not known yet how it asks, or acknowledges. */
static inline void ft_watch_young(struct ft_worker *worker, struct ft_item *item,
				  struct ft_flow *flow)
{
	uint32_t opcode = item->observed.opcode;

	if (ft_watch_is_among(FT_WATCH_DATA, opcode)) {
		ft_watch_mark(worker, item);
	} else if (opcode == FT_WATCH_ACK) {
		if (ft_watch_is_one_of(item->observed.psn, FT_WATCH_COUNTED))
			flow->watched++;
		ft_watch_mark(worker, item);
	} else {
		ft_watch_closely(worker, item, flow);
	}
}

/* By opcode: what of a half-connection that is known to ask, or to acknowledge, is shown. */
enum { FT_WATCH_NEVER, FT_WATCH_ALWAYS, FT_WATCH_NOW_AND_THEN };
extern const uint8_t ft_watch_shown[256];

/* .. of which it is. What it is to be told by is as good as random: there is no branch on that. */
static inline void ft_watch_known(struct ft_worker *worker, struct ft_item *item)
{
	uint32_t sample = ft_watch_is_sample(item->observed.psn);
	uint32_t wanted = FT_WATCH_ALWAYS | sample * FT_WATCH_NOW_AND_THEN;

	ft_watch_mark_if(worker, item, (ft_watch_shown[item->observed.opcode] & wanted) != 0);
}

/* Show it, if its operation is worth a look; `flow` is its half-connection. Most are the middle of a write, and are not. */
static inline void ft_watch(struct ft_worker *worker, struct ft_item *item, struct ft_flow *flow)
{
	uint32_t opcode = item->observed.opcode;

	if (opcode == FT_WATCH_MIDDLE)
		return;
	if (flow->watched < FT_WATCH_FOLLOWED) {
		if (!ft_watch_rests(item, flow))
			ft_watch_closely(worker, item, flow);
	} else if (flow->watched < FT_WATCH_ASKING) {
		ft_watch_young(worker, item, flow);
	} else {
		ft_watch_known(worker, item);
	}
}

/* No RDMA packet, but perhaps TCP, by which connections are set up. */
bool ft_watch_may_be_tcp(const struct ft_frame *frame);
