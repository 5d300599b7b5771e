#include "followed.h"

#include <string.h>

#include <decode/little_endian.h>
#include <decode/packet.h>

#include "answer.h"
#include "family.h"
#include "fifo.h"
#include "immediates.h"
#include "split.h"
#include "store.h"
#include "turns.h"

enum { SLOTS_LEAST = 8 }; /* of any FIFO, a divisor of all other numbers of slots */

static bool waits(const struct ft_nccl_followed *followed)
{
	bool waiting = followed->has_nowhere;

	for (uint8_t i = 0; i < followed->lane_count; i++)
		waiting = waiting || followed->lanes[i].has_early || followed->lanes[i].has_odd;
	return waiting;
}

bool ft_nccl_straight_may_have_lanes(const struct ft_nccl_followed *followed)
{
	bool is_known = ft_nccl_split_is_known(followed);

	followed->straight->searched = !is_known;
	return followed->model.split != FT_NCCL_UNKNOWN && !ft_nccl_turns_are_open(followed) &&
	       !ft_nccl_split_may_have_more(followed) && (is_known || !followed->numbered) &&
	       !waits(followed);
}

/* As much as the general way asks of a packet that is as expected; the rest is 0. */
static inline void see(const struct ft_nccl_glimpse *glimpse, struct ft_nccl_seen *seen)
{
	const struct ft_observed *observed = glimpse->observed;

	memset(seen, 0, sizeof *seen);
	seen->frame = observed->frame;
	seen->ts_ns = observed->ts_ns;
	seen->has = FT_HAS_PAYLOAD_LENGTH;
	seen->psn = observed->psn;
	seen->opcode = observed->opcode;
	seen->payload_length = observed->payload;
	if (ft_nccl_has_immediate(observed->opcode))
		seen->immdt = ft_nccl_straight_immediate(glimpse);
	if (!ft_nccl_begins(observed->opcode))
		return;
	seen->has |= FT_HAS_RETH;
	seen->va = observed->va;
	seen->rkey = observed->rkey;
	seen->length = observed->length;
}

/* --- which message a write is of --- */

/* Nothing is under way on the lane, and this comes next; nobody acknowledged it yet. */
static bool is_next(const struct ft_nccl_lane *lane, const struct ft_observed *observed)
{
	return observed->psn == lane->data.next && lane->data.known && lane->carried &&
	       lane->exact && lane->slack == 0 && !lane->open && !lane->writing && !lane->alien &&
	       lane->orphans == 0 &&
	       !ft_nccl_is_acknowledged(&lane->data_acked, observed->psn, FT_NCCL_NEXT);
}

/* It was asked for like all others, but for its address. */
static bool is_alike(const struct ft_nccl_followed *followed,
		     const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_request *like = &followed->straight_request, *request;

	if (transfer == NULL || !transfer->has_cts || transfer->partial ||
	    transfer->message.request_count != 1)
		return false;
	request = ft_nccl_ring_requests(&followed->ring, transfer);
	return request->has_offered && request->offered == like->offered &&
	       request->rkey_count != 0 && request->rkeys[0] == like->rkeys[0];
}

void ft_nccl_straight_take_over_lanes(const struct ft_nccl_followed *followed)
{
	for (uint64_t back = 0; back < FT_NCCL_STRAIGHT_LEAST; back++) {
		uint64_t k = followed->newest - back;
		const struct ft_nccl_transfer *transfer = ft_nccl_ring_find(&followed->ring, k);

		followed->straight->asked[k % FT_NCCL_STRAIGHT_LEAST] =
			is_alike(followed, transfer)
				? ft_nccl_ring_requests(&followed->ring, transfer)->va
				: 0;
	}
}

/* The first message that the lane can carry; where all since then were asked for is remembered. */
static bool first_for(const struct ft_nccl_straight *straight, uint8_t lane_index, uint64_t *first)
{
	const struct ft_nccl_followed *followed = straight->followed;
	uint64_t next = followed->lanes[lane_index].next;

	*first = straight->searched ? next : ft_nccl_split_first(followed, lane_index, next);
	return *first <= followed->newest && followed->newest - *first < FT_NCCL_STRAIGHT_LEAST;
}

/*
 * The only one of those asked for that a write fits, and that is in turn; NULL: that is for the general way to tell. What
 * has come on other lanes may have been asked for in the same place.
 */
static struct ft_nccl_transfer *message_for(const struct ft_nccl_straight *straight,
					    uint8_t lane_index, const struct ft_observed *observed,
					    bool *alone)
{
	const struct ft_nccl_followed *followed = straight->followed;
	uint64_t room = followed->straight_request.offered - observed->length, first;
	struct ft_nccl_transfer *transfer, *found = NULL;

	if (!first_for(straight, lane_index, &first))
		return NULL;
	*alone = false;
	for (uint64_t k = first; k <= followed->newest; k++) {
		uint64_t va = straight->asked[k % FT_NCCL_STRAIGHT_LEAST];

		if (va == 0)
			return NULL;
		if (observed->va - va > room)
			continue;
		transfer = ft_nccl_ring_find(&followed->ring, k);
		if (straight->searched && ft_nccl_split_came_whole(followed, transfer)) {
			*alone = false;
			continue;
		}
		if (found != NULL || (k != first && !straight->searched))
			return NULL;
		found = transfer;
		*alone = followed->newest - k < FT_NCCL_ASKED_AHEAD;
	}
	return found;
}

/* --- data --- */

/* Some queue pair has brought nothing of it, besides this one. */
static bool lacks_parts(const struct ft_nccl_followed *followed, const struct ft_nccl_share *shares,
			uint8_t lane_index)
{
	uint8_t used = ft_nccl_shares_used(shares, followed->lane_count);

	return used + (shares[lane_index].used ? 0 : 1) < followed->model.qp_count;
}

/*
 * The immediate is the length of what is written with this, as it was on other queue pairs; or there is more to come of a
 * shared message. Then nothing is found, nor learnt.
 */
static bool is_right_end(const struct ft_nccl_straight *straight,
			 const struct ft_nccl_transfer *transfer, uint8_t lane_index,
			 uint32_t immdt, uint64_t written)
{
	const struct ft_nccl_followed *followed = straight->followed;
	const struct ft_nccl_connection *model = &followed->model;
	const struct ft_nccl_share *shares = ft_nccl_ring_shares(&followed->ring, transfer);

	if (model->adaptive == FT_NCCL_UNKNOWN && written > FT_NCCL_ADAPTIVE_LENGTH)
		return false;
	for (uint8_t i = 0; transfer->message.has_imm && i < followed->lane_count; i++)
		if (shares[i].ended && shares[i].immdt != immdt)
			return false;
	if (ft_nccl_immediate(immdt, straight->big ? FT_NCCL_BIG : FT_NCCL_LITTLE) == written)
		return written != 0;
	return model->split == FT_NCCL_YES && immdt != (uint32_t)transfer->message.k &&
	       ft_nccl_immediate_orders(immdt, (uint32_t)written) == 0 &&
	       lacks_parts(followed, shares, lane_index);
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
static bool begins(const struct ft_nccl_straight *straight, const struct ft_nccl_lane *lane,
		   const struct ft_observed *observed)
{
	bool is_only = ft_nccl_has_immediate(observed->opcode);

	return is_next(lane, observed) && observed->rkey == straight->rkey &&
	       observed->length <= straight->length_most &&
	       (is_only ? is_alone(straight, observed) : begins_long(straight, observed));
}

static const struct ft_nccl_share *share_of(const struct ft_nccl_moment *moment,
					    const struct ft_nccl_transfer *transfer)
{
	return ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;
}

static bool take_begin(const struct ft_nccl_straight *straight, struct ft_nccl_moment *moment,
		       const struct ft_nccl_glimpse *glimpse, struct ft_nccl_seen *seen)
{
	const struct ft_observed *observed = glimpse->observed;
	struct ft_nccl_answer answer = { .kind = FT_NCCL_ANSWER_DATA,
					 .sure = true,
					 .searched = straight->searched };
	struct ft_nccl_transfer *transfer;

	if (!begins(straight, moment->lane, observed))
		return false;
	transfer = message_for(straight, moment->lane_index, observed, &answer.alone);
	if (transfer == NULL || share_of(moment, transfer)->packets != 0)
		return false;
	see(glimpse, seen);
	if (ft_nccl_has_immediate(seen->opcode) &&
	    !is_right_end(straight, transfer, moment->lane_index, seen->immdt,
			  transfer->written + seen->length))
		return false;
	answer.k = transfer->message.k;
	ft_nccl_data_follow(moment, transfer, &answer);
	return true;
}

/* The last packet of the write under way. */
static bool ends(const struct ft_nccl_lane *lane, const struct ft_observed *observed)
{
	return lane->writing && lane->open && !lane->alien && observed->psn == lane->data.next &&
	       observed->psn == lane->write_end && ft_nccl_straight_is_sane(observed->payload);
}

static bool take_end(const struct ft_nccl_straight *straight, struct ft_nccl_moment *moment,
		     const struct ft_nccl_glimpse *glimpse, struct ft_nccl_seen *seen)
{
	const struct ft_nccl_transfer *transfer =
		ft_nccl_ring_find(&moment->followed->ring, moment->lane->at);

	if (!ends(moment->lane, glimpse->observed) || !is_alike(moment->followed, transfer))
		return false;
	see(glimpse, seen);
	if (ft_nccl_has_immediate(seen->opcode) &&
	    !is_right_end(straight, transfer, moment->lane_index, seen->immdt, transfer->written))
		return false;
	ft_nccl_data_take(moment);
	return true;
}

/* --- clear-to-sends --- */

/* The place of the next message is free, or of one that nothing is to come of any more. */
static bool has_room(struct ft_nccl_followed *followed, uint64_t k)
{
	struct ft_nccl_ring *ring = &followed->ring;
	struct ft_nccl_transfer *holder = ft_nccl_ring_holder(ring, k);

	if (holder == NULL)
		return ft_nccl_ring_find(ring, k) == NULL;
	return holder->message.k < k && !holder->adrift && !ft_nccl_is_waiting(followed, holder);
}

/* The first slot could have come again, and has not: fewer slots are impossible. */
static void tell_slots(struct ft_nccl_followed *followed, const struct ft_observed *observed)
{
	if (followed->straight->slots != 0 || followed->newest % SLOTS_LEAST != 0)
		return;
	ft_nccl_fifo_place(followed, observed->va, observed->rkey, followed->newest);
	ft_nccl_family_tell(followed);
}

static bool take_cts(struct ft_nccl_straight *straight, const struct ft_nccl_glimpse *glimpse)
{
	const struct ft_observed *observed = glimpse->observed;
	struct ft_nccl_followed *followed = straight->followed;
	struct ft_nccl_lane *lane = &followed->lanes[0];
	uint64_t k = followed->newest + 1;
	const uint8_t *entry;

	if (!ft_nccl_straight_is_next_cts(straight, observed) ||
	    ft_nccl_is_acknowledged(&lane->cts_acked, observed->psn, FT_NCCL_NEXT) ||
	    !has_room(followed, k))
		return false;
	entry = ft_nccl_straight_entry(straight, glimpse);
	if (entry == NULL || ft_le64(entry) == 0)
		return false;
	ft_nccl_straight_ask(followed, k, ft_le64(entry), observed->frame);
	straight->cts_psn = lane->cts.next = ft_psn_add(observed->psn, 1);
	straight->cts_left--;
	straight->asked[k % FT_NCCL_STRAIGHT_LEAST] = ft_le64(entry);
	straight->entry_k = lane->cts_k = followed->newest = k;
	ft_nccl_straight_count_up(straight, k);
	lane->refused = 0;
	followed->model.cts++;
	followed->readable++;
	ft_nccl_step(followed, true);
	tell_slots(followed, observed);
	return true;
}

/* --- any --- */

/* NAKs tell more. */
static bool take_acknowledgment(struct ft_nccl_lane *lane, bool is_data,
				const struct ft_observed *observed)
{
	if (observed->payload != 0 || observed->syndrome >= FT_NCCL_NAKS)
		return false;
	if (is_data)
		ft_nccl_acknowledge(&lane->cts_acked, &lane->cts, observed->psn);
	else
		ft_nccl_acknowledge(&lane->data_acked, &lane->data, observed->psn);
	return true;
}

static bool take_data(struct ft_nccl_connections *connections,
		      const struct ft_nccl_straight *straight, uint8_t lane_index,
		      const struct ft_nccl_glimpse *glimpse)
{
	struct ft_nccl_seen seen; /* filled in once it is of use */
	struct ft_nccl_moment moment = {
		.connections = connections,
		.followed = straight->followed,
		.lane = &straight->followed->lanes[lane_index],
		.lane_index = lane_index,
		.seen = &seen,
	};

	if (lane_index >= straight->followed->model.qp_count)
		return false;
	return ft_nccl_begins(glimpse->observed->opcode)
		       ? take_begin(straight, &moment, glimpse, &seen)
		       : take_end(straight, &moment, glimpse, &seen);
}

bool ft_nccl_straight_take_lane(struct ft_nccl_connections *connections,
				struct ft_nccl_straight *straight, uint32_t place,
				const struct ft_nccl_glimpse *glimpse)
{
	bool is_data = ft_nccl_straight_role(place) == FT_NCCL_AT_RECEIVER;
	uint8_t lane = (uint8_t)ft_nccl_straight_lane(place);

	switch (glimpse->observed->opcode) {
	case 0x06:
	case 0x08:
	case 0x09:
	case 0x0b:
		return is_data && take_data(connections, straight, lane, glimpse);
	case 0x0a:
		return !is_data && lane == 0 && take_cts(straight, glimpse);
	case FT_NCCL_ACK:
		return take_acknowledgment(&straight->followed->lanes[lane], is_data,
					   glimpse->observed);
	default:
		return false;
	}
}
