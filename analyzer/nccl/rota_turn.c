#include "rota.h"

#include <string.h>

#include "followed.h"
#include "immediates.h"

/* --- onto it --- */

/* Of the straight way of several lanes: what is the same of all of them is settled. */
static bool may_be(const struct ft_nccl_followed *followed)
{
	const struct ft_nccl_straight *straight = followed->straight;

	if (straight->parts != 1 || followed->ring.slots != FT_NCCL_STRAIGHT_LEAST ||
	    straight->length_most > FT_NCCL_ROTA_LENGTH_MOST)
		return false;
	for (uint8_t i = 0; i < followed->lane_count && !straight->searched; i++)
		if (straight->lanes[i].first != straight->lanes[i].at + straight->stride)
			return false;
	return true;
}

static void take_over_lane(struct ft_nccl_straight *straight, struct ft_nccl_straight_lane *lane)
{
	lane->stride = straight->stride;
	lane->pmtu_bits = straight->pmtu != 0 ? straight->pmtu_bits : FT_NCCL_ROTA_NO_PMTU;
	lane->big = straight->big;
	lane->bare = straight->bare;
	lane->packets = 0;
	lane->rkey = straight->rkey;
	lane->length_most = straight->length_most;
	lane->va_upper = straight->va_upper;
}

/* What it has come to. False: that does not fit. */
static bool take_over_progress(struct ft_nccl_rota_message *message,
			       const struct ft_nccl_straight *straight,
			       const struct ft_nccl_straight_whole *whole)
{
	bool is_over = whole->waiting == 0;

	if (whole->used == 0)
		return !is_over;
	if ((whole->used & (whole->used - 1)) != 0 || whole->written > straight->length_most ||
	    (is_over && (whole->written == 0 ||
			 ft_nccl_straight_says(straight, whole->immdt) != whole->written)))
		return false;
	message->state = (is_over ? 0 : FT_NCCL_ROTA_WAITING) | FT_NCCL_ROTA_USED;
	message->length = (uint32_t)whole->written & FT_NCCL_ROTA_LENGTH_MOST;
	message->lane = (uint32_t)__builtin_ctz(whole->used) % FT_NCCL_STRAIGHT_LANES;
	return true;
}

static bool take_over_message(struct ft_nccl_straight *straight, uint64_t oldest,
			      const struct ft_nccl_transfer *transfer)
{
	const uint64_t k = transfer->message.k;
	struct ft_nccl_rota_message *message = ft_nccl_rota_message(straight, k);
	struct ft_nccl_straight_whole whole = { 0 };

	if (!ft_nccl_straight_take_over_message(straight, transfer, &whole) ||
	    whole.va >> 32 != straight->va_upper)
		return false;
	message->k = k;
	message->va = (uint32_t)whole.va;
	message->state = ft_nccl_rota_ask(straight, k, message->va, k - oldest);
	return take_over_progress(message, straight, &whole);
}

/* Older ones count only where their place is not free. False: there is one that takes the general way. */
static bool take_over_older(struct ft_nccl_followed *followed, uint64_t oldest)
{
	const struct ft_nccl_ring *ring = &followed->ring;

	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *transfer = &ring->transfers[i];

		if (!transfer->used)
			continue;
		if (!transfer->message.has_k || transfer->message.k > followed->newest)
			return false;
		if (transfer->message.k < oldest &&
		    ft_nccl_straight_keeps_place(followed, transfer))
			ft_nccl_rota_message(followed->straight, i)->state =
				FT_NCCL_ROTA_WAITING | FT_NCCL_ROTA_USED;
	}
	return true;
}

static bool take_over_messages(struct ft_nccl_followed *followed, uint64_t oldest)
{
	for (uint64_t k = oldest; k <= followed->newest; k++) {
		const struct ft_nccl_transfer *transfer = ft_nccl_ring_find(&followed->ring, k);

		if (transfer == NULL || !take_over_message(followed->straight, oldest, transfer))
			return false;
	}
	return true;
}

bool ft_nccl_rota_take_over(struct ft_nccl_followed *followed, uint64_t oldest)
{
	struct ft_nccl_straight *straight = followed->straight;

	if (!may_be(followed))
		return false;
	straight->va_upper = (uint32_t)(followed->straight_request.va >> 32);
	memset(straight->rota, 0, sizeof straight->rota);
	if (!take_over_older(followed, oldest) || !take_over_messages(followed, oldest))
		return false;
	for (uint8_t i = 0; i < followed->lane_count; i++)
		take_over_lane(straight, &straight->lanes[i]);
	straight->stage = FT_NCCL_STRAIGHT_ROTA;
	return true;
}

/* --- back --- */

void ft_nccl_rota_end(struct ft_nccl_followed *followed)
{
	struct ft_nccl_straight *straight = followed->straight;

	for (uint8_t i = 0; i < followed->lane_count; i++) {
		struct ft_nccl_straight_lane *lane = &straight->lanes[i];

		straight->begun += lane->begun;
		straight->packets += lane->packets;
		lane->turns = straight->turns;
		lane->in_a_row = 0; /* counted already */
	}
}

/* The one lane that brought of it what has come since it went straight. */
static uint8_t lane_if(const struct ft_nccl_rota_message *message, uint8_t state)
{
	return (message->state & state) != 0 ? (uint8_t)(1u << message->lane) : 0;
}

struct ft_nccl_rota_told ft_nccl_rota_tell(const struct ft_nccl_straight *straight, uint64_t k)
{
	const struct ft_nccl_rota_message *message = &straight->rota[ft_nccl_rota_place(k)];
	uint64_t va = (uint64_t)straight->va_upper << 32 | message->va;
	uint32_t length = message->length;

	return (struct ft_nccl_rota_told){
		.whole = {
			.va = va,
			.written = length,
			.cts_frame = message->cts_frame,
			.immdt = ft_nccl_immediate(length, straight->big ? FT_NCCL_BIG
									 : FT_NCCL_LITTLE),
			.begun = lane_if(message, FT_NCCL_ROTA_BEGUN),
			.last = lane_if(message, FT_NCCL_ROTA_LAST),
			.bare = lane_if(message, FT_NCCL_ROTA_BARE),
			.ended_of_late = lane_if(message, FT_NCCL_ROTA_ENDED),
		},
		.part = {
			.va = va,
			.ts_ns = message->ts_ns,
			.frame = message->frame,
			.length = length,
			.from = message->from,
			.imm_frame = message->imm_frame,
		},
	};
}
