#include "watch.h"

#include <assert.h>

#include <decode/big_endian.h>

#include "item_seen.h"

/* clang-format off */
#define SHOWN(opcode) [opcode] = FT_WATCH_WRITES >> (opcode) & 1 ? FT_WATCH_ALWAYS : FT_WATCH_NEVER

const uint8_t ft_watch_shown[256] = {
	SHOWN(0x06), SHOWN(0x07), SHOWN(0x08), SHOWN(0x09), SHOWN(0x0a), SHOWN(0x0b),
	[FT_WATCH_ACK] = FT_WATCH_NOW_AND_THEN,
};
static_assert(FT_WATCH_WRITES >> 0x06 << 0x06 == FT_WATCH_WRITES && FT_WATCH_WRITES >> 0x0c == 0,
	      "all of them are listed");
/* clang-format on */

enum { CTS_MAX = 512, CTS_UNIT = 32, CTS_OLD = 24 };

static bool is_sized_like_cts(uint32_t length)
{
	return length == CTS_OLD || (length != 0 && length <= CTS_MAX && length % CTS_UNIT == 0);
}

/* What a write of that length says, as far as it was captured. */
enum look {
	NO_CTS,
	BEGINS_AS_CTS, /* as those of every layout do, of no release, too */
	WRITTEN_AS_CTS /* of a family */
};

__attribute__((noinline)) static enum look look_at(const struct ft_worker *worker,
						   const struct ft_item *item)
{
	struct ft_nccl_write write;

	if (!ft_item_write(item, &worker->config->decode, &write))
		return NO_CTS;
	if (ft_nccl_cts_may_be(&write))
		return WRITTEN_AS_CTS;
	return ft_nccl_begins_with_address(&write) ? BEGINS_AS_CTS : NO_CTS;
}

/* As long as a clear-to-send: what it says has to be looked at. */
static inline bool is_like_cts(const struct ft_item *item)
{
	return item->observed.opcode == 0x0a && is_sized_like_cts(item->observed.payload);
}

static inline enum look look_if_like_cts(const struct ft_worker *worker, const struct ft_item *item)
{
	return is_like_cts(item) ? look_at(worker, item) : NO_CTS;
}

/* It asks, and its other half may have come to light since. */
static void follow_peer(const struct ft_worker *worker, struct ft_flow *flow)
{
	struct ft_flow *peer = flow->peer != 0 ? ft_flow_at(worker->flows, flow->peer) : NULL;

	if (peer == NULL)
		return;
	if (peer->watched < FT_WATCH_FOLLOWED)
		peer->watched = FT_WATCH_FOLLOWED;
	flow->watched++;
}

/* The first writes of a half-connection: a clear-to-send by where it went, and one before it. */
static bool is_in_fifo(struct ft_worker *worker, const struct ft_item *item,
		       const struct ft_flow *flow)
{
	return is_like_cts(item) && flow->watched < FT_WATCH_IDLE &&
	       (item->observed.has & FT_OBSERVED_RETH) != 0 &&
	       ft_watched_slots_see(&worker->slots, ft_flow_number(worker->flows, flow),
				    &item->observed);
}

/* One more write of a half-connection that has nothing to do with NCCL, as it seems. */
static inline void note_strange(struct ft_worker *worker, struct ft_item *item,
				struct ft_flow *flow)
{
	if (flow->watched < FT_WATCH_IDLE && (FT_WATCH_BEGINS >> item->observed.opcode & 1) != 0)
		flow->watched++;
	item->framing |= FT_FRAMING_STRANGE;
	worker->batch.strange |= UINT64_C(1) << worker->place;
}

/* Of the first ones, such as only the next will show to be clear-to-sends: the follower has to have seen it by then. */
static void show_ahead(struct ft_worker *worker, struct ft_item *item)
{
	item->framing |= FT_FRAMING_AHEAD;
	worker->batch.framed |= UINT64_C(1) << worker->place;
}

/* It is between hosts that are not known to use NCCL. False: it does not show them. */
static bool shows_hosts(struct ft_worker *worker, struct ft_item *item, struct ft_flow *flow)
{
	enum look look = look_if_like_cts(worker, item);

	if (look == WRITTEN_AS_CTS || is_in_fifo(worker, item, flow)) {
		ft_watched_pairs_add(&worker->watched, &flow->key);
		flow->watched = FT_WATCH_FOLLOWED;
		follow_peer(worker, flow);
		return true;
	}
	if (look == BEGINS_AS_CTS && flow->watched < FT_WATCH_IDLE)
		show_ahead(worker, item);
	return false;
}

/* It is between hosts that NCCL uses, or may be the first that shows them. */
__attribute__((noinline)) static void learn(struct ft_worker *worker, struct ft_item *item,
					    struct ft_flow *flow)
{
	if (flow->watched >= FT_WATCH_FOLLOWED) {
		if (flow->peer != 0 && look_if_like_cts(worker, item) == WRITTEN_AS_CTS)
			follow_peer(worker, flow);
	} else if (ft_watched_pairs_have(&worker->watched, &flow->key)) {
		flow->watched = FT_WATCH_FOLLOWED;
	} else if (!shows_hosts(worker, item, flow)) {
		note_strange(worker, item, flow);
		return;
	}
	ft_watch_mark(worker, item);
}

/* Most half-connections have a few writes, and nothing to do with NCCL: those are told without a call. */
static inline void see_write(struct ft_worker *worker, struct ft_item *item, struct ft_flow *flow)
{
	if (flow->watched < FT_WATCH_FOLLOWED && worker->watched.count == 0 && !is_like_cts(item))
		note_strange(worker, item, flow);
	else
		learn(worker, item, flow);
}

/* An ACK of one that may have to do with NCCL: then all that it has from here on is shown, if its hosts are known. */
__attribute__((noinline)) static void see_answer(struct ft_worker *worker, struct ft_item *item,
						 struct ft_flow *flow)
{
	if (!ft_watched_pairs_have(&worker->watched, &flow->key))
		return;
	flow->watched = FT_WATCH_FOLLOWED;
	ft_watch_mark(worker, item);
}

void ft_watch_closely(struct ft_worker *worker, struct ft_item *item, struct ft_flow *flow)
{
	uint32_t opcode = item->observed.opcode;

	if (opcode >= 32)
		return;
	if ((FT_WATCH_WRITES >> opcode & 1) != 0)
		see_write(worker, item, flow);
	else if (opcode == FT_WATCH_ACK &&
		 (flow->packets < FT_WATCH_YOUNG || ft_watch_is_sample(item->observed.psn)))
		see_answer(worker, item, flow);
}

enum { ETHERTYPE = 12, TAG = 4, IPV4_PROTOCOL = 9, IPV6_NEXT = 6, TCP = 6, LEAST = 54 };

bool ft_watch_may_be_tcp(const struct ft_frame *frame)
{
	const uint8_t *type = frame->bytes + ETHERTYPE;

	if (frame->link_type != FT_LINK_ETHERNET || frame->captured < LEAST + TAG)
		return frame->captured >= LEAST;
	if (ft_be16(type) == 0x8100)
		type += TAG;
	switch (ft_be16(type)) {
	case 0x0800:
		return type[2 + IPV4_PROTOCOL] == TCP || type[2 + IPV4_PROTOCOL] == 47 ||
		       type[2 + IPV4_PROTOCOL] == 17;
	case 0x86dd:
		return type[2 + IPV6_NEXT] != 58;
	default:
		return false;
	}
}
