#include "ring.h"

#include <errno.h>
#include <string.h>

#include <capture/frame.h>

static size_t transfers_bytes(const struct ft_nccl_ring *ring)
{
	return ring->slots * sizeof *ring->transfers;
}

static size_t requests_bytes(const struct ft_nccl_ring *ring)
{
	return (size_t)ring->slots * ring->request_room * sizeof *ring->requests;
}

static size_t shares_bytes(const struct ft_nccl_ring *ring)
{
	return (size_t)ring->slots * ring->share_room * sizeof *ring->shares;
}

void ft_nccl_ring_free(struct ft_nccl_ring *ring)
{
	ft_pool_give(ring->pool, ring->transfers, transfers_bytes(ring));
	ft_pool_give(ring->pool, ring->requests, requests_bytes(ring));
	ft_pool_give(ring->pool, ring->shares, shares_bytes(ring));
	*ring = (struct ft_nccl_ring){ .pool = ring->pool };
}

uint64_t ft_nccl_ring_sum(const struct ft_nccl_ring *ring, const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_request *requests = ft_nccl_ring_requests(ring, transfer);
	uint64_t sum = 0;

	for (uint8_t i = 0; i < transfer->message.request_count; i++)
		sum += requests[i].has_written ? requests[i].written : 0;
	return sum;
}

/* What was not remembered of it is zero there. */
static void move_requests(const struct ft_nccl_ring *from, const struct ft_nccl_transfer *transfer,
			  const struct ft_nccl_ring *to, const struct ft_nccl_transfer *moved)
{
	struct ft_nccl_request *requests = ft_nccl_ring_requests(to, moved);

	memcpy(requests, ft_nccl_ring_requests(from, transfer),
	       from->request_room * sizeof *requests);
}

static uint64_t bit_of(const struct ft_nccl_ring *ring, const struct ft_nccl_transfer *transfer)
{
	return UINT64_C(1) << (transfer - ring->transfers);
}

/* Likewise. */
static void move_shares(const struct ft_nccl_ring *from, const struct ft_nccl_transfer *transfer,
			struct ft_nccl_ring *to, const struct ft_nccl_transfer *moved)
{
	struct ft_nccl_share *shares = ft_nccl_ring_shares(to, moved);
	const uint64_t bit = bit_of(to, moved);

	memcpy(shares, ft_nccl_ring_shares(from, transfer), from->share_room * sizeof *shares);
	if ((to->unshared & bit) == 0)
		memset(shares + from->share_room, 0,
		       (size_t)(to->share_room - from->share_room) * sizeof *shares);
	to->unshared &= ~bit;
}

static void move(const struct ft_nccl_ring *from, const struct ft_nccl_transfer *transfer,
		 struct ft_nccl_ring *to)
{
	struct ft_nccl_transfer *moved = ft_nccl_ring_place(to, transfer->message.k);

	*moved = *transfer;
	to->begun |= bit_of(to, moved);
	move_requests(from, transfer, to, moved);
	move_shares(from, transfer, to, moved);
}

/* What nobody had before has no shares. False: there is no memory. */
static bool take_shares(struct ft_nccl_ring *ring)
{
	bool is_zero;

	ring->shares = ft_pool_take_any(ring->pool, shares_bytes(ring), &is_zero);
	ring->unshared = is_zero ? UINT64_MAX : 0;
	return ring->shares != NULL;
}

/* Room for so many lanes of each message; all else stays where it is. */
static int fit_shares(struct ft_nccl_ring *ring, uint8_t room)
{
	const struct ft_nccl_ring before = *ring;

	ring->share_room = room;
	if (!take_shares(ring)) {
		*ring = before;
		return -ENOMEM;
	}
	for (uint64_t left = ring->begun; left != 0; left &= left - 1) {
		const struct ft_nccl_transfer *transfer = ft_nccl_ring_first(ring, left);

		if (transfer->used)
			move_shares(&before, transfer, ring, transfer);
	}
	ft_pool_give(ring->pool, before.shares, shares_bytes(&before));
	return 0;
}

static uint8_t at_least(uint8_t room, uint32_t wanted)
{
	uint32_t fits = room != 0 ? room : 1;

	while (fits < wanted)
		fits *= 2;
	return (uint8_t)fits;
}

int ft_nccl_ring_fit(struct ft_nccl_ring *ring, uint32_t slots, uint32_t requests, uint32_t lanes)
{
	struct ft_nccl_ring grown;

	if (slots <= ring->slots && requests <= ring->request_room && lanes <= ring->share_room)
		return 0;
	grown = (struct ft_nccl_ring){
		.pool = ring->pool,
		.told = ring->told,
		.slots = slots > ring->slots ? slots : ring->slots,
		.request_room = at_least(ring->request_room, requests),
		.share_room = at_least(ring->share_room, lanes),
	};
	if (grown.slots == ring->slots && grown.request_room == ring->request_room)
		return fit_shares(ring, grown.share_room);
	grown.transfers = ft_pool_take_zeroed(grown.pool, transfers_bytes(&grown));
	grown.requests = ft_pool_take_zeroed(grown.pool, requests_bytes(&grown));
	if (!take_shares(&grown) || grown.transfers == NULL || grown.requests == NULL) {
		ft_nccl_ring_free(&grown);
		return -ENOMEM;
	}
	for (uint64_t left = ring->begun; left != 0; left &= left - 1) {
		const struct ft_nccl_transfer *transfer = ft_nccl_ring_first(ring, left);

		if (transfer->used)
			move(ring, transfer, &grown);
	}
	ft_nccl_ring_free(ring);
	*ring = grown;
	return 0;
}

/* What was there before is of no message. */
static void clear(struct ft_nccl_ring *ring, const struct ft_nccl_transfer *transfer)
{
	const uint64_t bit = bit_of(ring, transfer);

	if ((ring->begun & bit) != 0)
		memset(ft_nccl_ring_requests(ring, transfer), 0,
		       ring->request_room * sizeof *ring->requests);
	if ((ring->unshared & bit) == 0)
		memset(ft_nccl_ring_shares(ring, transfer), 0,
		       ring->share_room * sizeof *ring->shares);
	ring->begun |= bit;
	ring->unshared &= ~bit;
}

struct ft_nccl_transfer *ft_nccl_ring_begin(struct ft_nccl_ring *ring, uint64_t k)
{
	struct ft_nccl_transfer *transfer = ft_nccl_ring_place(ring, k);

	clear(ring, transfer);
	*transfer = (struct ft_nccl_transfer){
		.used = true,
		.message = { .has_k = true,
			     .k = k,
			     .cts_ts_ns = FT_TS_UNKNOWN,
			     .first_ts_ns = FT_TS_UNKNOWN,
			     .last_ts_ns = FT_TS_UNKNOWN },
	};
	return transfer;
}

void ft_nccl_ring_ask_again(struct ft_nccl_ring *ring, struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_request *requests = ft_nccl_ring_requests(ring, transfer);
	const struct ft_nccl_transfer before = *transfer;

	memset(ft_nccl_ring_shares(ring, transfer), 0, ring->share_room * sizeof *ring->shares);
	*transfer = (struct ft_nccl_transfer){ .used = before.has_cts,
					       .has_cts = before.has_cts,
					       .partial = before.partial,
					       .doubtful = before.doubtful,
					       .parted = true,
					       .message = before.message };
	transfer->message.first_frame = transfer->message.last_frame = 0;
	transfer->message.first_ts_ns = transfer->message.last_ts_ns = FT_TS_UNKNOWN;
	transfer->message.packets = 0;
	transfer->message.has_imm = false;
	transfer->message.protocol = FT_NCCL_PROTOCOL_UNKNOWN;
	transfer->message.flag = 0;
	for (uint8_t i = 0; i < transfer->message.request_count; i++) {
		requests[i].written = 0;
		requests[i].has_written = false;
		if (requests[i].by_data)
			requests[i].va = 0;
		requests[i].by_data = false;
	}
}

/* How many messages before it the buffer of this one was offered, if all since then are there; 0: not, or one is missing. */
static uint64_t since_offered(const struct ft_nccl_ring *ring,
			      const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_request *request = ft_nccl_ring_requests(ring, transfer);

	for (uint64_t since = 1; since <= transfer->message.k && since < ring->slots; since++) {
		const struct ft_nccl_transfer *other =
			ft_nccl_ring_find(ring, transfer->message.k - since);

		if (other == NULL || !other->has_cts)
			return 0;
		if (ft_nccl_ring_requests(ring, other)->va == request->va)
			return since;
	}
	return 0;
}

uint64_t ft_nccl_ring_period(const struct ft_nccl_ring *ring)
{
	uint64_t period = 0;

	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *transfer = &ring->transfers[i];
		uint64_t since;

		if (!transfer->used || !transfer->has_cts)
			continue;
		if (transfer->message.request_count > 1)
			return 0;
		since = since_offered(ring, transfer);
		if (since != 0 && (period == 0 || since < period))
			period = since;
	}
	return period;
}

static bool is_asked(const struct ft_nccl_transfer *transfer)
{
	return transfer->used && transfer->has_cts;
}

uint64_t ft_nccl_ring_spacing(const struct ft_nccl_ring *ring)
{
	uint64_t spacing = UINT64_MAX;

	for (uint32_t i = 0; i < ring->slots; i++) {
		uint64_t va;

		if (!is_asked(&ring->transfers[i]))
			continue;
		va = ft_nccl_ring_requests(ring, &ring->transfers[i])->va;
		for (uint32_t at = 0; at < ring->slots; at++) {
			uint64_t other;

			if (!is_asked(&ring->transfers[at]))
				continue;
			other = ft_nccl_ring_requests(ring, &ring->transfers[at])->va;
			if (other > va && other - va < spacing)
				spacing = other - va;
		}
	}
	return spacing;
}

bool ft_nccl_ring_recurs(const struct ft_nccl_ring *ring, const struct ft_nccl_transfer *transfer)
{
	uint64_t va = ft_nccl_ring_requests(ring, transfer)->va;

	if (!transfer->has_cts)
		return true;
	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *other = &ring->transfers[i];

		if (other != transfer && is_asked(other) &&
		    ft_nccl_ring_requests(ring, other)->va == va)
			return true;
	}
	return false;
}
