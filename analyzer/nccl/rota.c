#include "rota.h"

#include <decode/big_endian.h>
#include <decode/little_endian.h>
#include <decode/packet.h>

#include "followed.h"

/* This message was asked for, nobody has brought any of it, and what is written from there is of no other one. */
static inline bool is_plain(const struct ft_nccl_rota_message *message, uint64_t k)
{
	return message->state == FT_NCCL_ROTA_WAITING && message->k == k;
}

/* --- which message a write is of --- */

static bool fits(const struct ft_nccl_straight *straight,
		 const struct ft_nccl_rota_message *message, const struct ft_observed *observed)
{
	return (uint32_t)observed->va - message->va <= straight->offered - observed->length;
}

/* A message by its number; `message` is NULL: none. */
struct chosen {
	struct ft_nccl_rota_message *message;
	uint64_t k;
};

/* The only one of those asked for that a write fits, and that is in turn, by a look at all. */
static struct chosen search(struct ft_nccl_straight *straight,
			    const struct ft_nccl_straight_lane *lane,
			    const struct ft_observed *observed)
{
	uint64_t first = lane->at + (straight->searched ? 1 : lane->stride);
	struct chosen found = { NULL, 0 };
	bool alone = false;

	if (observed->va >> 32 != lane->va_upper ||
	    straight->newest - first >= FT_NCCL_STRAIGHT_LEAST)
		return found;
	for (uint64_t k = first; k <= straight->newest; k++) {
		struct ft_nccl_rota_message *message = ft_nccl_rota_message(straight, k);

		if (!fits(straight, message, observed))
			continue;
		if (straight->searched && (message->state & FT_NCCL_ROTA_WAITING) == 0) {
			alone = straight->numbered;
			continue;
		}
		if (found.message != NULL || (k != first && !straight->searched))
			return (struct chosen){ NULL, 0 };
		found = (struct chosen){ message, k };
		alone = ft_nccl_straight_is_recent(straight, k);
	}
	return alone ? found : (struct chosen){ NULL, 0 };
}

/* One that is not plainly the next of its lane; NULL: none that nobody has brought any of, and is written to from its start. */
__attribute__((noinline)) static struct ft_nccl_rota_message *find(
	struct ft_nccl_straight *straight, struct ft_nccl_straight_lane *lane,
	const struct ft_observed *observed)
{
	struct chosen of = search(straight, lane, observed);

	if (of.message == NULL || (uint32_t)observed->va != of.message->va ||
	    (of.message->state & ~FT_NCCL_ROTA_OPEN) != FT_NCCL_ROTA_WAITING)
		return NULL;
	straight->followed->in_a_row += of.k == lane->at + 1 ? 1 : 0;
	lane->at = of.k - lane->stride;
	return of.message;
}

static inline uint64_t place_of(const struct ft_nccl_straight_lane *lane,
				const struct ft_nccl_rota_message *message)
{
	return (uint64_t)lane->va_upper << 32 | message->va;
}

/* A write that the lane may begin now. */
static inline bool is_next(const struct ft_nccl_straight_lane *lane,
			   const struct ft_observed *observed)
{
	return lane->stage == FT_NCCL_STRAIGHT_IDLE && observed->psn == lane->psn &&
	       observed->rkey == lane->rkey && observed->length <= lane->length_most;
}

static inline struct ft_nccl_rota_message *message_for(struct ft_nccl_straight *straight,
						       struct ft_nccl_straight_lane *lane,
						       const struct ft_observed *observed)
{
	uint64_t k = lane->at + lane->stride;
	struct ft_nccl_rota_message *likely = ft_nccl_rota_message(straight, k);

	return is_plain(likely, k) && observed->va == place_of(lane, likely)
		       ? likely
		       : find(straight, lane, observed);
}

/* --- data --- */

/* Behind is_next() and message_for(). */
static inline void begin(struct ft_nccl_straight_lane *lane, struct ft_nccl_rota_message *message,
			 const struct ft_observed *observed)
{
	message->ts_ns = observed->ts_ns;
	message->frame = (uint32_t)observed->frame;
	message->length = observed->length & FT_NCCL_ROTA_LENGTH_MOST;
	message->lane = lane->index % (uint32_t)FT_NCCL_STRAIGHT_LANES;
	message->from = observed->psn & FT_PSN_MOST;
	message->state = FT_NCCL_ROTA_WAITING | FT_NCCL_ROTA_BEGUN;
	lane->at += lane->stride;
	lane->bytes += observed->length;
	lane->begun++;
	lane->begun_frame = (uint32_t)observed->frame;
	lane->packets++;
}

static inline uint32_t packets_of(const struct ft_nccl_straight_lane *lane, uint32_t length)
{
	return (length + (UINT32_C(1) << lane->pmtu_bits) - 1) >> lane->pmtu_bits;
}

/* The first packet of a write of several. What is in the middle is not shown. */
static uintptr_t take_first(struct ft_nccl_straight *straight, struct ft_nccl_straight_lane *lane,
			    const struct ft_observed *observed)
{
	struct ft_nccl_rota_message *message;

	if (!is_next(lane, observed) || observed->payload != UINT32_C(1) << lane->pmtu_bits ||
	    observed->length <= observed->payload)
		return 0;
	message = message_for(straight, lane, observed);
	if (message == NULL)
		return 0;
	begin(lane, message, observed);
	lane->psn = ft_psn_add(observed->psn, packets_of(lane, observed->length) - 1);
	lane->stage = FT_NCCL_STRAIGHT_WRITING;
	return (uintptr_t)message;
}

/* The immediate is the length of the message, which is over. */
static inline uintptr_t end(struct ft_nccl_straight *straight, struct ft_nccl_straight_lane *lane,
			    struct ft_nccl_rota_message *message, uint8_t how, uint64_t frame)
{
	message->imm_frame = (uint32_t)frame;
	message->state &= (uint8_t)~FT_NCCL_ROTA_WAITING;
	message->state |= FT_NCCL_ROTA_ENDED | how;
	lane->by_length++;
	lane->psn = ft_psn_add(lane->psn, 1);
	lane->stage = FT_NCCL_STRAIGHT_IDLE;
	return (uintptr_t)ft_nccl_rota_message(straight, lane->at + lane->stride);
}

static inline bool is_length(const struct ft_nccl_straight_lane *lane, uint32_t length,
			     const uint8_t *immediate)
{
	uint32_t says = lane->big ? ft_be32(immediate) : ft_le32(immediate);

	return says == length && length != 0;
}

/* The last packet of the write under way. */
static inline bool is_last(const struct ft_nccl_straight_lane *lane,
			   const struct ft_observed *observed)
{
	return lane->stage == FT_NCCL_STRAIGHT_WRITING && observed->psn == lane->psn &&
	       ft_nccl_straight_is_sane(observed->payload);
}

static uintptr_t take_end(struct ft_nccl_straight *straight, struct ft_nccl_straight_lane *lane,
			  const struct ft_observed *observed, const uint8_t *immediate)
{
	struct ft_nccl_rota_message *message = ft_nccl_rota_message(straight, lane->at);

	if (!is_last(lane, observed) || !is_length(lane, message->length, immediate))
		return 0;
	lane->packets++;
	return end(straight, lane, message, FT_NCCL_ROTA_LAST, observed->frame);
}

/* Its immediate will come by itself. */
static uintptr_t take_last(struct ft_nccl_straight *straight, struct ft_nccl_straight_lane *lane,
			   const struct ft_observed *observed)
{
	struct ft_nccl_rota_message *message = ft_nccl_rota_message(straight, lane->at);

	if (!is_last(lane, observed))
		return 0;
	message->state |= FT_NCCL_ROTA_LAST;
	lane->packets++;
	lane->psn = ft_psn_add(lane->psn, 1);
	lane->stage = FT_NCCL_STRAIGHT_WRITTEN;
	return (uintptr_t)message;
}

static uintptr_t take_bare_end(struct ft_nccl_straight *straight,
			       struct ft_nccl_straight_lane *lane,
			       const struct ft_observed *observed, const uint8_t *immediate)
{
	struct ft_nccl_rota_message *message = ft_nccl_rota_message(straight, lane->at);

	if (lane->stage != FT_NCCL_STRAIGHT_WRITTEN || !lane->bare || observed->psn != lane->psn ||
	    observed->va != 0 || observed->rkey != 0 || observed->payload != 0 ||
	    !is_length(lane, message->length, immediate))
		return 0;
	lane->packets++;
	return end(straight, lane, message, FT_NCCL_ROTA_BARE, observed->frame);
}

/* A write of one packet, which has the immediate. */
static uintptr_t take_whole(struct ft_nccl_straight *straight, struct ft_nccl_straight_lane *lane,
			    const struct ft_observed *observed, const uint8_t *immediate)
{
	struct ft_nccl_rota_message *message;

	if (!is_next(lane, observed) || observed->length != observed->payload ||
	    !ft_nccl_straight_is_sane(observed->payload) ||
	    packets_of(lane, observed->length) != 1 ||
	    !is_length(lane, observed->length, immediate) ||
	    ft_nccl_straight_is_to_sizes(straight->followed, observed->va))
		return 0;
	message = message_for(straight, lane, observed);
	if (message == NULL)
		return 0;
	begin(lane, message, observed);
	return end(straight, lane, message, FT_NCCL_ROTA_LAST, observed->frame);
}

/* Clear-to-sends go over the first lane, and what answers them. */
static uintptr_t take_acknowledgment_of_cts(struct ft_nccl_straight *straight,
					    struct ft_nccl_straight_lane *lane,
					    const struct ft_observed *observed)
{
	if (lane->index != 0 || !ft_nccl_straight_acknowledges(observed, straight->cts_psn))
		return 0;
	straight->acked = observed->psn;
	return (uintptr_t)ft_nccl_rota_message(straight, lane->at + lane->stride);
}

__attribute__((noinline)) static uintptr_t take_seldom(struct ft_nccl_straight *straight,
						       struct ft_nccl_straight_lane *lane,
						       const struct ft_observed *observed,
						       const uint8_t *extension)
{
	switch (observed->opcode) {
	case 0x08:
		return take_last(straight, lane, observed);
	case 0x0b:
		return observed->length == 0 ? take_bare_end(straight, lane, observed,
							     extension + FT_NCCL_STRAIGHT_RETH)
					     : take_whole(straight, lane, observed,
							  extension + FT_NCCL_STRAIGHT_RETH);
	case FT_NCCL_ACK:
		return take_acknowledgment_of_cts(straight, lane, observed);
	default:
		return 0;
	}
}

static inline struct ft_nccl_straight *straight_of(struct ft_nccl_straight_lane *lane)
{
	uint8_t *lanes = (uint8_t *)(lane - lane->index);

	return (struct ft_nccl_straight *)(void *)(lanes -
						   offsetof(struct ft_nccl_straight, lanes));
}

uintptr_t ft_nccl_rota_take_data(struct ft_nccl_straight_lane *lane,
				 const struct ft_nccl_glimpse *glimpse)
{
	struct ft_nccl_straight *straight = straight_of(lane);
	const struct ft_observed *observed = glimpse->observed;
	const uint8_t *extension = ft_nccl_straight_extension(glimpse);

	if (observed->opcode == 0x06)
		return take_first(straight, lane, observed);
	if (observed->opcode == 0x09)
		return take_end(straight, lane, observed, extension);
	return take_seldom(straight, lane, observed, extension);
}

/* --- clear-to-sends --- */

static bool overlap(const struct ft_nccl_straight *straight, uint32_t a, uint32_t b)
{
	return a - b < straight->offered || b - a < straight->offered;
}

/* What is written there may be of another one: if it is not over. */
static inline bool leave_open(struct ft_nccl_rota_message *message)
{
	bool is_waiting = (message->state & FT_NCCL_ROTA_WAITING) != 0;

	message->state |= is_waiting ? FT_NCCL_ROTA_OPEN : 0;
	return is_waiting;
}

/* How many of the newest, and the one of this address, are in places that do not overlap. */
static uint8_t apart_from(struct ft_nccl_straight *straight, uint64_t k, uint32_t va)
{
	uint8_t count = 0;

	while (count < straight->apart && count < FT_NCCL_STRAIGHT_LEAST - 1 &&
	       !overlap(straight, va, ft_nccl_rota_message(straight, k - 1 - count)->va))
		count++;
	return count + 1;
}

uint8_t ft_nccl_rota_ask(struct ft_nccl_straight *straight, uint64_t k, uint32_t va, uint64_t most)
{
	uint8_t state = FT_NCCL_ROTA_WAITING;

	for (uint64_t behind = 1; behind <= most; behind++) {
		struct ft_nccl_rota_message *before = ft_nccl_rota_message(straight, k - behind);

		if (overlap(straight, va, before->va))
			state |= leave_open(before) ? FT_NCCL_ROTA_OPEN : 0;
		else if (behind >= FT_NCCL_ASKED_AHEAD)
			leave_open(before);
	}
	return state;
}

__attribute__((noinline)) static uint8_t ask_elsewhere(struct ft_nccl_straight *straight,
						       uint64_t k, uint32_t va)
{
	straight->apart = apart_from(straight, k, va);
	return ft_nccl_rota_ask(straight, k, va, FT_NCCL_STRAIGHT_LEAST - 1);
}

/*
 * The state of the next message, asked for there. Mostly places are offered in turn, so many of them that what has the same
 * one, or is too long ago, is one message at most.
 */
static inline uint8_t ask(struct ft_nccl_straight *straight, uint64_t k, uint32_t va)
{
	struct ft_nccl_rota_message *before = ft_nccl_rota_message(straight, k - straight->apart);

	if (straight->apart != FT_NCCL_ASKED_AHEAD || before->va != va)
		return ask_elsewhere(straight, k, va);
	return FT_NCCL_ROTA_WAITING | (leave_open(before) ? FT_NCCL_ROTA_OPEN : 0);
}

static uintptr_t take_cts(struct ft_nccl_straight *straight, const struct ft_observed *observed,
			  const uint8_t *entry)
{
	const uint64_t k = straight->newest + 1, va = ft_le64(entry);
	struct ft_nccl_rota_message *message = ft_nccl_rota_message(straight, k);
	uint8_t state;

	if ((message->state & FT_NCCL_ROTA_WAITING) != 0 || va == 0 ||
	    va >> 32 != straight->va_upper || !ft_nccl_straight_is_like(straight, entry) ||
	    (!ft_nccl_straight_is_next_cts(straight, observed) &&
	     !ft_nccl_straight_go_round(straight, observed)))
		return 0;
	state = ask(straight, k, (uint32_t)va);
	*message = (struct ft_nccl_rota_message){
		.k = k,
		.va = (uint32_t)va,
		.cts_frame = (uint32_t)observed->frame,
		.state = state,
	};
	ft_nccl_straight_count_cts(straight);
	return (uintptr_t)ft_nccl_rota_message(straight, k + 1);
}

/* --- what the sender gets: clear-to-sends, and what acknowledges data --- */

static inline uintptr_t take_acknowledgment(struct ft_nccl_straight *straight,
					    struct ft_nccl_straight_lane *lane,
					    const struct ft_observed *observed)
{
	if (!ft_nccl_straight_acknowledges(observed, lane->psn))
		return 0;
	lane->acked = observed->psn;
	return (uintptr_t)ft_nccl_rota_message(straight, straight->newest + 1);
}

static uintptr_t take_answer(struct ft_nccl_straight *straight, struct ft_nccl_straight_lane *lane,
			     const struct ft_nccl_glimpse *glimpse)
{
	const struct ft_observed *observed = glimpse->observed;
	const uint8_t *entry;

	if (observed->opcode == FT_NCCL_ACK)
		return take_acknowledgment(straight, lane, observed);
	if (observed->opcode != 0x0a || lane != straight->lanes)
		return 0;
	entry = ft_nccl_straight_entry(straight, glimpse);
	return entry != NULL ? take_cts(straight, observed, entry) : 0;
}

uintptr_t ft_nccl_rota_take(struct ft_nccl_straight *straight, uint32_t place,
			    const struct ft_nccl_glimpse *glimpse)
{
	struct ft_nccl_straight_lane *lane = &straight->lanes[ft_nccl_straight_lane(place)];

	return ft_nccl_straight_role(place) == FT_NCCL_AT_RECEIVER
		       ? ft_nccl_rota_take_data(lane, glimpse)
		       : take_answer(straight, lane, glimpse);
}
