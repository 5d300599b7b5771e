#include "followed.h"

#include <decode/big_endian.h>
#include <decode/little_endian.h>
#include <decode/packet.h>

#include "immediates.h"

/* Packets of one operation: each by itself has registers for all that it looks at; together they have not. */
#define OF_A_KIND __attribute__((noinline))

/* --- which message a write is of --- */

/* All of it has come, as its immediate says. */
static bool came_whole(const struct ft_nccl_straight *straight,
		       const struct ft_nccl_straight_whole *whole)
{
	return whole->ended != 0 && whole->written != 0 &&
	       ft_nccl_straight_says(straight, whole->immdt) == (uint32_t)whole->written;
}

static inline uint32_t asked_for(const struct ft_nccl_straight *straight, uint64_t k)
{
	return straight->asked[k % FT_NCCL_STRAIGHT_LEAST];
}

/* Of a write that fits this message alone. */
static inline bool is_in_turn(const struct ft_nccl_straight *straight, uint64_t first,
			      const struct ft_nccl_straight_whole *whole, uint64_t k)
{
	return ft_nccl_straight_is_recent(straight, k) &&
	       (straight->searched ? !came_whole(straight, whole) : k == first);
}

/* A message by its number; `whole` is NULL: none. */
struct chosen {
	struct ft_nccl_straight_whole *whole;
	uint64_t k;
};

/* The only one of those asked for that a write fits, and that is in turn, by a look at all. */
__attribute__((noinline)) static struct chosen search(const struct ft_nccl_straight *straight,
						      uint64_t first,
						      const struct ft_observed *observed)
{
	uint32_t room = straight->offered - observed->length, va = (uint32_t)observed->va;
	struct chosen found = { NULL, 0 };
	struct ft_nccl_straight_whole *whole;
	bool alone = false;

	if (straight->newest - first >= FT_NCCL_STRAIGHT_LEAST)
		return found;
	for (uint64_t at = first; at <= straight->newest; at++) {
		if (va - asked_for(straight, at) > room)
			continue;
		whole = ft_nccl_straight_whole(straight, at);
		if (observed->va - whole->va > room)
			continue;
		if (straight->searched && came_whole(straight, whole)) {
			alone = straight->numbered;
			continue;
		}
		if (found.whole != NULL || (at != first && !straight->searched))
			return (struct chosen){ NULL, 0 };
		found = (struct chosen){ whole, at };
		alone = ft_nccl_straight_is_recent(straight, at);
	}
	return alone ? found : (struct chosen){ NULL, 0 };
}

/*
 * The write fits the likely message, and none besides that may be next: the newest were asked for in places that do not
 * overlap, so only those before them are looked at.
 */
static inline bool is_likely(const struct ft_nccl_straight *straight,
			     const struct ft_nccl_straight_lane *lane,
			     const struct ft_observed *observed)
{
	uint32_t room = straight->offered - observed->length, va = (uint32_t)observed->va;
	uint64_t first = lane->first, last = straight->newest - first;
	uint64_t behind = straight->newest - (lane->at + straight->stride);

	if (behind > last || behind >= straight->apart || last >= FT_NCCL_STRAIGHT_LEAST ||
	    observed->va - lane->likely->va > room)
		return false;
	for (; last >= straight->apart; first++, last--)
		if (va - asked_for(straight, first) <= room)
			return false;
	return true;
}

/* The likely message, where a write fits that alone; none if it is not in turn. */
static inline struct chosen likely(const struct ft_nccl_straight *straight,
				   const struct ft_nccl_straight_lane *lane)
{
	uint64_t k = lane->at + straight->stride;

	return is_in_turn(straight, lane->first, lane->likely, k)
		       ? (struct chosen){ lane->likely, k }
		       : (struct chosen){ NULL, 0 };
}

/*
 * The only one of those asked for that a write fits, and that is in turn; none: that is for the general way to tell. What has come
 * on other lanes may have been asked for in the same place, and so may what was asked for long since.
 */
static struct chosen message_for(const struct ft_nccl_straight *straight,
				 const struct ft_nccl_straight_lane *lane,
				 const struct ft_observed *observed)
{
	return is_likely(straight, lane, observed) ? likely(straight, lane)
						   : search(straight, lane->first, observed);
}

/* Of those that take turns no other lane has any of it. */
static bool is_untouched(const struct ft_nccl_straight *straight,
			 const struct ft_nccl_straight_whole *whole, uint8_t bit)
{
	return (whole->used & (straight->parts == 1 ? UINT8_MAX : bit)) == 0;
}

/* --- data --- */

/* Some queue pair has brought nothing of it, besides this one. */
static bool lacks_parts(const struct ft_nccl_straight *straight,
			const struct ft_nccl_straight_whole *whole, uint8_t bit)
{
	return (whole->used | bit) != straight->all;
}

/*
 * The immediate is the length of what is written with this, as it was on other queue pairs; or there is more to come of a
 * shared message. Then nothing is found, nor learnt.
 */
static bool is_right_end(const struct ft_nccl_straight *straight,
			 const struct ft_nccl_straight_whole *whole, uint64_t k, uint8_t bit,
			 uint32_t immdt, uint64_t written)
{
	if (!straight->is_adaptive_known && written > FT_NCCL_ADAPTIVE_LENGTH)
		return false;
	if (whole->ended != 0 && whole->immdt != immdt)
		return false;
	if (ft_nccl_straight_says(straight, immdt) == written)
		return written != 0;
	return straight->parts > 1 && immdt != (uint32_t)k &&
	       ft_nccl_immediate_orders(immdt, (uint32_t)written) == 0 &&
	       lacks_parts(straight, whole, bit);
}

/* A write that the lane may begin now. */
static bool is_next(const struct ft_nccl_straight *straight,
		    const struct ft_nccl_straight_lane *lane, const struct ft_observed *observed)
{
	return lane->stage == FT_NCCL_STRAIGHT_IDLE && observed->psn == lane->psn &&
	       observed->rkey == straight->rkey && observed->length <= straight->length_most;
}

static void begin(struct ft_nccl_straight *straight, struct ft_nccl_straight_lane *lane,
		  struct chosen of, const struct ft_observed *observed)
{
	struct ft_nccl_straight_whole *whole = of.whole;

	*ft_nccl_straight_part(straight, whole, lane->index) = (struct ft_nccl_straight_part){
		.va = observed->va,
		.ts_ns = observed->ts_ns,
		.frame = (uint32_t)observed->frame,
		.length = observed->length,
		.from = observed->psn,
	};
	straight->begun += whole->used == 0 ? 1 : 0;
	straight->packets++;
	lane->in_a_row += of.k == lane->at + 1 ? 1 : 0;
	lane->bytes += observed->length;
	whole->used |= lane->bit;
	whole->begun |= lane->bit;
	whole->written += observed->length;
	lane->at = of.k;
	lane->likely = whole;
	lane->first = of.k + straight->step;
	lane->begun_frame = (uint32_t)observed->frame;
	lane->begun++;
}

/* The last packet of the write under way has passed; its immediate may come by itself. */
static void pass_last(struct ft_nccl_straight_lane *lane, struct ft_nccl_straight_whole *whole,
		      uint32_t psn)
{
	whole->last |= lane->bit;
	lane->psn = ft_psn_add(psn, 1);
	lane->stage = FT_NCCL_STRAIGHT_WRITTEN;
}

static void end(struct ft_nccl_straight *straight, struct ft_nccl_straight_lane *lane,
		struct ft_nccl_straight_whole *whole, uint32_t immdt, uint64_t frame)
{
	ft_nccl_straight_part(straight, whole, lane->index)->imm_frame = (uint32_t)frame;
	whole->ended |= lane->bit;
	whole->ended_of_late |= lane->bit;
	whole->immdt = immdt;
	whole->waiting &= straight->parts == 1 ? 0 : (uint8_t)~lane->bit;
	lane->by_length += ft_nccl_straight_says(straight, immdt) == whole->written ? 1 : 0;
	lane->stage = FT_NCCL_STRAIGHT_IDLE;
	ft_nccl_straight_expect(straight, lane);
}

/* The first packet of a write of this message. What is in the middle is not shown. */
static inline uintptr_t begin_long(struct ft_nccl_straight *straight,
				   struct ft_nccl_straight_lane *lane, struct chosen of,
				   const struct ft_observed *observed)
{
	if (of.whole == NULL || !is_untouched(straight, of.whole, lane->bit))
		return 0;
	begin(straight, lane, of, observed);
	lane->psn =
		ft_psn_add(observed->psn, ft_nccl_straight_packets(straight, observed->length) - 1);
	lane->stage = FT_NCCL_STRAIGHT_WRITING;
	return (uintptr_t)of.whole;
}

static OF_A_KIND uintptr_t take_unlikely(struct ft_nccl_straight *straight,
					 struct ft_nccl_straight_lane *lane,
					 const struct ft_observed *observed)
{
	return begin_long(straight, lane, search(straight, lane->first, observed), observed);
}

static OF_A_KIND uintptr_t take_first(struct ft_nccl_straight *straight,
				      struct ft_nccl_straight_lane *lane,
				      const struct ft_observed *observed)
{
	if (!is_next(straight, lane, observed) || straight->pmtu == 0 ||
	    observed->payload != straight->pmtu || observed->length <= observed->payload)
		return 0;
	if (!is_likely(straight, lane, observed))
		return take_unlikely(straight, lane, observed);
	return begin_long(straight, lane, likely(straight, lane), observed);
}

static bool is_alone(const struct ft_nccl_straight *straight, const struct ft_observed *observed)
{
	return observed->length == observed->payload &&
	       ft_nccl_straight_is_sane(observed->payload) &&
	       ft_nccl_straight_packets(straight, observed->length) == 1 &&
	       !ft_nccl_straight_is_to_sizes(straight->followed, observed->va);
}

/* A write of one packet, which has the immediate. */
static bool take_whole(struct ft_nccl_straight *straight, struct ft_nccl_straight_lane *lane,
		       const struct ft_observed *observed, uint32_t immdt)
{
	struct chosen of;

	if (!is_next(straight, lane, observed) || !is_alone(straight, observed))
		return false;
	of = message_for(straight, lane, observed);
	if (of.whole == NULL || !is_untouched(straight, of.whole, lane->bit) ||
	    !is_right_end(straight, of.whole, of.k, lane->bit, immdt,
			  of.whole->written + observed->length))
		return false;
	begin(straight, lane, of, observed);
	pass_last(lane, of.whole, observed->psn);
	end(straight, lane, of.whole, immdt, observed->frame);
	return true;
}

static bool take_bare_end(struct ft_nccl_straight *straight, struct ft_nccl_straight_lane *lane,
			  const struct ft_observed *observed, uint32_t immdt)
{
	struct ft_nccl_straight_whole *whole = lane->likely;

	if (lane->stage != FT_NCCL_STRAIGHT_WRITTEN || !straight->bare ||
	    observed->psn != lane->psn || observed->va != 0 || observed->rkey != 0 ||
	    observed->payload != 0 ||
	    !is_right_end(straight, whole, lane->at, lane->bit, immdt, whole->written))
		return false;
	whole->bare |= lane->bit;
	lane->psn = ft_psn_add(lane->psn, 1);
	straight->packets++;
	end(straight, lane, whole, immdt, observed->frame);
	return true;
}

static uintptr_t take_only(struct ft_nccl_straight *straight, struct ft_nccl_straight_lane *lane,
			   const struct ft_observed *observed, const uint8_t *immediate)
{
	uint32_t immdt = ft_be32(immediate);
	bool taken = observed->length == 0 ? take_bare_end(straight, lane, observed, immdt)
					   : take_whole(straight, lane, observed, immdt);

	return taken ? (uintptr_t)lane->likely : 0;
}

/* The last packet of the write under way. */
static bool is_last(const struct ft_nccl_straight_lane *lane, const struct ft_observed *observed)
{
	return lane->stage == FT_NCCL_STRAIGHT_WRITING && observed->psn == lane->psn &&
	       ft_nccl_straight_is_sane(observed->payload);
}

static uintptr_t take_last(struct ft_nccl_straight *straight, struct ft_nccl_straight_lane *lane,
			   const struct ft_observed *observed)
{
	if (!is_last(lane, observed))
		return 0;
	straight->packets++;
	pass_last(lane, lane->likely, observed->psn);
	return (uintptr_t)lane->likely;
}

static OF_A_KIND uintptr_t take_end(struct ft_nccl_straight *straight,
				    struct ft_nccl_straight_lane *lane,
				    const struct ft_observed *observed, const uint8_t *immediate)
{
	struct ft_nccl_straight_whole *whole = lane->likely;
	uint32_t immdt = ft_be32(immediate);

	if (!is_last(lane, observed) ||
	    !is_right_end(straight, whole, lane->at, lane->bit, immdt, whole->written))
		return 0;
	straight->packets++;
	pass_last(lane, whole, observed->psn);
	end(straight, lane, whole, immdt, observed->frame);
	return (uintptr_t)lane->likely;
}

/* --- clear-to-sends --- */

/* How many of the newest, and the one of this address, are in places that do not overlap. */
__attribute__((noinline)) static uint8_t apart_from(const struct ft_nccl_straight *straight,
						    uint64_t k, uint32_t va)
{
	uint8_t count = 0;

	while (count < straight->apart && count < FT_NCCL_STRAIGHT_LEAST - 1) {
		uint32_t before = asked_for(straight, k - 1 - count);

		if (va - before < straight->offered || before - va < straight->offered)
			break;
		count++;
	}
	return count + 1;
}

/* Places that are offered in turn stay apart, once they are. */
static void note_place(struct ft_nccl_straight *straight, uint64_t k, uint32_t va)
{
	if (straight->apart == 0 || asked_for(straight, k - straight->apart) != va)
		straight->apart = apart_from(straight, k, va);
	straight->asked[k % FT_NCCL_STRAIGHT_LEAST] = va;
}

static OF_A_KIND uintptr_t take_cts(struct ft_nccl_straight *straight,
				    const struct ft_observed *observed, const uint8_t *entry)
{
	const uint64_t k = straight->newest + 1, va = ft_le64(entry);
	struct ft_nccl_straight_whole *whole = straight->next_whole;

	if (whole->waiting != 0 || va == 0 || !ft_nccl_straight_is_like(straight, entry) ||
	    (!ft_nccl_straight_is_next_cts(straight, observed) &&
	     !ft_nccl_straight_go_round(straight, observed)))
		return 0;
	*whole = (struct ft_nccl_straight_whole){
		.va = va,
		.cts_frame = (uint32_t)observed->frame,
		.waiting = straight->all,
	};
	note_place(straight, k, (uint32_t)va);
	ft_nccl_straight_count_cts(straight);
	straight->next_whole = ft_nccl_straight_whole(straight, k + 1);
	return (uintptr_t)straight->next_whole;
}

/* --- acknowledgments --- */

bool ft_nccl_straight_acknowledges(const struct ft_observed *observed, uint32_t next)
{
	return observed->payload == 0 && observed->syndrome < FT_NCCL_NAKS &&
	       ft_psn_distance(observed->psn, next) < 0;
}

/* Of clear-to-sends, which go over the first lane. */
static uintptr_t take_acknowledgment_of_cts(struct ft_nccl_straight *straight,
					    const struct ft_nccl_straight_lane *lane,
					    const struct ft_observed *observed)
{
	if (lane->index != 0 || !ft_nccl_straight_acknowledges(observed, straight->cts_psn))
		return 0;
	straight->acked = observed->psn;
	return (uintptr_t)lane->likely;
}

/* The answers to other lanes than the first ask for no message. */
static OF_A_KIND uintptr_t take_acknowledgment(const struct ft_nccl_straight *straight,
					       struct ft_nccl_straight_lane *lane,
					       const struct ft_observed *observed)
{
	if (!ft_nccl_straight_acknowledges(observed, lane->psn))
		return 0;
	lane->acked = observed->psn;
	return lane->index != 0 ? (uintptr_t)lane : (uintptr_t)straight->next_whole;
}

/* --- any --- */

static OF_A_KIND uintptr_t take_seldom(struct ft_nccl_straight *straight,
				       struct ft_nccl_straight_lane *lane,
				       const struct ft_observed *observed, const uint8_t *extension)
{
	switch (observed->opcode) {
	case 0x08:
		return take_last(straight, lane, observed);
	case 0x0b:
		return take_only(straight, lane, observed, extension + FT_NCCL_STRAIGHT_RETH);
	case FT_NCCL_ACK:
		return take_acknowledgment_of_cts(straight, lane, observed);
	default:
		return 0;
	}
}

static inline uintptr_t take_data(struct ft_nccl_straight *straight,
				  struct ft_nccl_straight_lane *lane,
				  const struct ft_nccl_glimpse *glimpse)
{
	const struct ft_observed *observed = glimpse->observed;
	const uint8_t *extension = ft_nccl_straight_extension(glimpse);

	if (observed->opcode == 0x06)
		return take_first(straight, lane, observed);
	if (observed->opcode == 0x09)
		return take_end(straight, lane, observed, extension);
	return take_seldom(straight, lane, observed, extension);
}

/* What the sender gets: clear-to-sends, and what acknowledges data. */
static inline uintptr_t take_answer(struct ft_nccl_straight *straight,
				    struct ft_nccl_straight_lane *lane,
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

uintptr_t ft_nccl_straight_take_lane(struct ft_nccl_straight *straight, uint32_t place,
				     const struct ft_nccl_glimpse *glimpse)
{
	struct ft_nccl_straight_lane *lane = &straight->lanes[ft_nccl_straight_lane(place)];

	return ft_nccl_straight_role(place) == FT_NCCL_AT_RECEIVER
		       ? take_data(straight, lane, glimpse)
		       : take_answer(straight, lane, glimpse);
}
