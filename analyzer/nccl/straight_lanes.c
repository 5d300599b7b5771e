#include "followed.h"

#include <decode/little_endian.h>
#include <decode/packet.h>

#include "immediates.h"

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

/* What was asked for long since, with as many messages behind it as may wait, may be over. */
static inline bool is_recent(const struct ft_nccl_straight *straight, uint64_t k)
{
	return straight->newest - k < FT_NCCL_ASKED_AHEAD || straight->numbered;
}

/* Of a write that fits this message alone. */
static inline bool is_in_turn(const struct ft_nccl_straight *straight, uint64_t first,
			      const struct ft_nccl_straight_whole *whole, uint64_t k)
{
	return is_recent(straight, k) &&
	       (straight->searched ? !came_whole(straight, whole) : k == first);
}

/* The only one of those asked for that a write fits, and that is in turn, by a look at all. */
static struct ft_nccl_straight_whole *search(const struct ft_nccl_straight *straight,
					     uint64_t first, const struct ft_observed *observed,
					     uint64_t *k)
{
	uint32_t room = straight->offered - observed->length, va = (uint32_t)observed->va;
	struct ft_nccl_straight_whole *whole, *found = NULL;
	bool alone = false;

	if (straight->newest - first >= FT_NCCL_STRAIGHT_LEAST)
		return NULL;
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
		if (found != NULL || (at != first && !straight->searched))
			return NULL;
		found = whole;
		alone = is_recent(straight, at);
		*k = at;
	}
	return alone ? found : NULL;
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

/*
 * The only one of those asked for that a write fits, and that is in turn; NULL: that is for the general way to tell. What
 * has come on other lanes may have been asked for in the same place, and so may what was asked for long since.
 */
static struct ft_nccl_straight_whole *message_for(const struct ft_nccl_straight *straight,
						  const struct ft_nccl_straight_lane *lane,
						  const struct ft_observed *observed, uint64_t *k)
{
	if (!is_likely(straight, lane, observed))
		return search(straight, lane->first, observed, k);
	*k = lane->at + straight->stride;
	return is_in_turn(straight, lane->first, lane->likely, *k) ? lane->likely : NULL;
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

static bool begins_long(const struct ft_nccl_straight *straight, const struct ft_observed *observed)
{
	return straight->pmtu != 0 && observed->payload == straight->pmtu &&
	       observed->length > observed->payload;
}

static bool is_alone(const struct ft_nccl_straight *straight, const struct ft_observed *observed)
{
	return observed->length != 0 && observed->length == observed->payload &&
	       ft_nccl_straight_is_sane(observed->payload) &&
	       ft_nccl_straight_packets(straight, observed->length) == 1 &&
	       !ft_nccl_straight_is_to_sizes(straight->followed, observed->va);
}

/* The first packet of a write, or its only one, which has the immediate. */
static bool begins(const struct ft_nccl_straight *straight,
		   const struct ft_nccl_straight_lane *lane, const struct ft_observed *observed)
{
	bool is_only = ft_nccl_has_immediate(observed->opcode);

	return lane->stage == FT_NCCL_STRAIGHT_IDLE && observed->psn == lane->psn &&
	       observed->rkey == straight->rkey && observed->length <= straight->length_most &&
	       (is_only ? is_alone(straight, observed) : begins_long(straight, observed));
}

static void begin(struct ft_nccl_straight *straight, struct ft_nccl_straight_whole *whole,
		  uint8_t lane_index, uint64_t k, const struct ft_observed *observed)
{
	struct ft_nccl_straight_lane *lane = &straight->lanes[lane_index];

	*ft_nccl_straight_part(straight, whole, lane_index) = (struct ft_nccl_straight_part){
		.va = observed->va,
		.ts_ns = observed->ts_ns,
		.frame = (uint32_t)observed->frame,
		.length = observed->length,
		.from = observed->psn,
	};
	straight->begun += whole->used == 0 ? 1 : 0;
	lane->in_a_row += k == lane->at + 1 ? 1 : 0;
	lane->bytes += observed->length;
	whole->used |= (uint8_t)(1u << lane_index);
	whole->begun |= (uint8_t)(1u << lane_index);
	whole->written += observed->length;
	lane->at = k;
	lane->likely = whole;
	lane->first = k + straight->step;
	lane->begun_frame = (uint32_t)observed->frame;
	lane->begun++;
	lane->psn =
		ft_psn_add(observed->psn, ft_nccl_straight_packets(straight, observed->length) - 1);
	lane->stage = FT_NCCL_STRAIGHT_WRITING;
}

/* The last packet of the write under way; its immediate may come by itself. */
static void pass_last(struct ft_nccl_straight *straight, struct ft_nccl_straight_whole *whole,
		      uint8_t lane_index)
{
	struct ft_nccl_straight_lane *lane = &straight->lanes[lane_index];

	whole->last |= (uint8_t)(1u << lane_index);
	lane->psn = ft_psn_add(lane->psn, 1);
	lane->stage = FT_NCCL_STRAIGHT_WRITTEN;
	straight->packets++;
}

static void end(struct ft_nccl_straight *straight, struct ft_nccl_straight_whole *whole,
		uint8_t lane_index, uint32_t immdt, uint64_t frame)
{
	struct ft_nccl_straight_lane *lane = &straight->lanes[lane_index];
	uint8_t bit = (uint8_t)(1u << lane_index);

	ft_nccl_straight_part(straight, whole, lane_index)->imm_frame = (uint32_t)frame;
	whole->ended |= bit;
	whole->ended_of_late |= bit;
	whole->immdt = immdt;
	whole->waiting &= straight->parts == 1 ? 0 : (uint8_t)~bit;
	lane->by_length += ft_nccl_straight_says(straight, immdt) == whole->written ? 1 : 0;
	lane->stage = FT_NCCL_STRAIGHT_IDLE;
	ft_nccl_straight_expect(straight, lane);
}

/* `immdt`: if it is the only packet. */
static bool take_begin(struct ft_nccl_straight *straight, uint8_t lane_index,
		       const struct ft_observed *observed, uint32_t immdt)
{
	struct ft_nccl_straight_lane *lane = &straight->lanes[lane_index];
	bool is_only = ft_nccl_has_immediate(observed->opcode);
	uint8_t bit = (uint8_t)(1u << lane_index);
	struct ft_nccl_straight_whole *whole;
	uint64_t k;

	if (!begins(straight, lane, observed))
		return false;
	whole = message_for(straight, lane, observed, &k);
	if (whole == NULL || !is_untouched(straight, whole, bit) ||
	    (is_only &&
	     !is_right_end(straight, whole, k, bit, immdt, whole->written + observed->length)))
		return false;
	begin(straight, whole, lane_index, k, observed);
	if (is_only) {
		pass_last(straight, whole, lane_index);
		end(straight, whole, lane_index, immdt, observed->frame);
	} else {
		straight->packets++;
	}
	return true;
}

/* The last packet of the write under way. */
static bool take_last(struct ft_nccl_straight *straight, uint8_t lane_index,
		      const struct ft_nccl_glimpse *glimpse)
{
	const struct ft_observed *observed = glimpse->observed;
	const struct ft_nccl_straight_lane *lane = &straight->lanes[lane_index];
	struct ft_nccl_straight_whole *whole = lane->likely;
	bool has_immediate = ft_nccl_has_immediate(observed->opcode);
	uint32_t immdt = has_immediate ? ft_nccl_straight_immediate(glimpse) : 0;

	if (lane->stage != FT_NCCL_STRAIGHT_WRITING || observed->psn != lane->psn ||
	    !ft_nccl_straight_is_sane(observed->payload) ||
	    (has_immediate && !is_right_end(straight, whole, lane->at, (uint8_t)(1u << lane_index),
					    immdt, whole->written)))
		return false;
	pass_last(straight, whole, lane_index);
	if (has_immediate)
		end(straight, whole, lane_index, immdt, observed->frame);
	return true;
}

static bool take_bare_end(struct ft_nccl_straight *straight, uint8_t lane_index,
			  const struct ft_nccl_glimpse *glimpse)
{
	const struct ft_observed *observed = glimpse->observed;
	struct ft_nccl_straight_lane *lane = &straight->lanes[lane_index];
	struct ft_nccl_straight_whole *whole = lane->likely;
	uint32_t immdt = ft_nccl_straight_immediate(glimpse);
	uint8_t bit = (uint8_t)(1u << lane_index);

	if (lane->stage != FT_NCCL_STRAIGHT_WRITTEN || !straight->bare ||
	    observed->psn != lane->psn || observed->va != 0 || observed->rkey != 0 ||
	    observed->payload != 0 ||
	    !is_right_end(straight, whole, lane->at, bit, immdt, whole->written))
		return false;
	whole->bare |= bit;
	lane->psn = ft_psn_add(lane->psn, 1);
	straight->packets++;
	end(straight, whole, lane_index, immdt, observed->frame);
	return true;
}

static bool take_only(struct ft_nccl_straight *straight, uint8_t lane_index,
		      const struct ft_nccl_glimpse *glimpse)
{
	const struct ft_observed *observed = glimpse->observed;

	return observed->length == 0 ? take_bare_end(straight, lane_index, glimpse)
				     : take_begin(straight, lane_index, observed,
						  ft_nccl_straight_immediate(glimpse));
}

/* --- clear-to-sends --- */

/* Places that are offered in turn stay apart, once they are. */
static void note_place(struct ft_nccl_straight *straight, uint64_t k, uint32_t va)
{
	uint32_t apart = straight->apart, count = 0;

	if (apart == 0 || asked_for(straight, k - apart) != va) {
		while (count < apart && count < FT_NCCL_STRAIGHT_LEAST - 1) {
			uint32_t before = asked_for(straight, k - 1 - count);

			if (va - before < straight->offered || before - va < straight->offered)
				break;
			count++;
		}
		straight->apart = (uint8_t)(count + 1);
	}
	straight->asked[k % FT_NCCL_STRAIGHT_LEAST] = va;
}

static bool take_cts(struct ft_nccl_straight *straight, const struct ft_nccl_glimpse *glimpse)
{
	const struct ft_observed *observed = glimpse->observed;
	uint64_t k = straight->newest + 1, va;
	struct ft_nccl_straight_whole *whole = ft_nccl_straight_whole(straight, k);
	const uint8_t *entry;

	if ((!ft_nccl_straight_is_next_cts(straight, observed) &&
	     !ft_nccl_straight_go_round(straight, glimpse)) ||
	    whole->waiting != 0)
		return false;
	entry = ft_nccl_straight_entry(straight, glimpse);
	if (entry == NULL || ft_le64(entry) == 0)
		return false;
	va = ft_le64(entry);
	*whole = (struct ft_nccl_straight_whole){
		.va = va,
		.cts_frame = (uint32_t)observed->frame,
		.waiting = straight->all,
	};
	note_place(straight, k, (uint32_t)va);
	straight->newest = k;
	straight->cts_psn = ft_psn_add(straight->cts_psn, 1);
	straight->cts_left--;
	straight->packets++;
	ft_nccl_straight_count_up(straight, k);
	return true;
}

/* --- any --- */

/* NAKs tell more. What was not seen yet is not to be acknowledged; clear-to-sends go over the first lane. */
static bool take_acknowledgment(struct ft_nccl_straight *straight, uint8_t lane_index, bool is_data,
				const struct ft_observed *observed)
{
	struct ft_nccl_straight_lane *lane = &straight->lanes[lane_index];
	uint32_t next = is_data ? straight->cts_psn : lane->psn;

	if (observed->payload != 0 || observed->syndrome >= FT_NCCL_NAKS ||
	    (is_data && lane_index != 0) || ft_psn_distance(observed->psn, next) >= 0)
		return false;
	*(is_data ? &straight->acked : &lane->acked) = observed->psn;
	return true;
}

static bool take_data(struct ft_nccl_straight *straight, uint8_t lane,
		      const struct ft_nccl_glimpse *glimpse)
{
	switch (glimpse->observed->opcode) {
	case 0x06:
		return take_begin(straight, lane, glimpse->observed, 0);
	case 0x08:
	case 0x09:
		return take_last(straight, lane, glimpse);
	case 0x0b:
		return take_only(straight, lane, glimpse);
	case FT_NCCL_ACK:
		return take_acknowledgment(straight, lane, true, glimpse->observed);
	default:
		return false;
	}
}

/* What the sender gets: clear-to-sends, and what acknowledges data. */
static bool take_answer(struct ft_nccl_straight *straight, uint8_t lane,
			const struct ft_nccl_glimpse *glimpse)
{
	switch (glimpse->observed->opcode) {
	case 0x0a:
		return lane == 0 && take_cts(straight, glimpse);
	case FT_NCCL_ACK:
		return take_acknowledgment(straight, lane, false, glimpse->observed);
	default:
		return false;
	}
}

/* The answers to other lanes than the first ask for no message. */
uintptr_t ft_nccl_straight_take_lane(struct ft_nccl_straight *straight, uint32_t place,
				     const struct ft_nccl_glimpse *glimpse)
{
	uint8_t index = (uint8_t)ft_nccl_straight_lane(place);
	const struct ft_nccl_straight_lane *lane = &straight->lanes[index];

	if (ft_nccl_straight_role(place) == FT_NCCL_AT_RECEIVER)
		return take_data(straight, index, glimpse) ? (uintptr_t)lane->likely : 0;
	if (!take_answer(straight, index, glimpse))
		return 0;
	return index != 0 ? (uintptr_t)lane
			  : (uintptr_t)ft_nccl_straight_whole(straight, straight->newest + 1);
}
