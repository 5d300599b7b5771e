#include "followed.h"

#include <string.h>

#include "immediates.h"
#include "rota.h"
#include "split.h"
#include "turns.h"

/* --- onto the straight way --- */

static bool waits(const struct ft_nccl_followed *followed)
{
	bool waiting = followed->has_nowhere;

	for (uint8_t i = 0; i < followed->lane_count; i++)
		waiting = waiting || followed->lanes[i].has_early || followed->lanes[i].has_odd;
	return waiting;
}

bool ft_nccl_straight_may_have_lanes(const struct ft_nccl_followed *followed)
{
	return followed->lane_count <= FT_NCCL_STRAIGHT_LANES &&
	       followed->lane_count == followed->model.qp_count &&
	       followed->lane_count <= followed->ring.share_room &&
	       followed->model.split != FT_NCCL_UNKNOWN && !ft_nccl_turns_are_open(followed) &&
	       !ft_nccl_split_may_have_more(followed) &&
	       (ft_nccl_split_is_known(followed) || !followed->numbered) && !waits(followed) &&
	       followed->straight_request.offered <= UINT32_MAX;
}

/* What is the same of all lanes and messages. */
static void begin(struct ft_nccl_followed *followed)
{
	struct ft_nccl_straight *straight = followed->straight;
	bool is_split = followed->model.split == FT_NCCL_YES;

	straight->mask = (uint8_t)(followed->ring.slots - 1);
	straight->offered = (uint32_t)followed->straight_request.offered;
	straight->begun = 0;
	straight->searched = !ft_nccl_split_is_known(followed);
	straight->numbered = followed->numbered;
	straight->is_adaptive_known = followed->model.adaptive != FT_NCCL_UNKNOWN;
	straight->apart = 0;
	straight->parts = is_split ? followed->lane_count : 1;
	straight->stride = is_split ? 1 : followed->lane_count;
	straight->step = straight->searched ? 1 : (uint8_t)ft_nccl_split_step(followed);
	straight->all = (uint8_t)((1u << straight->parts) - 1);
}

/* What is under way is as far as its packets say, and nobody acknowledged what comes next. */
static bool is_in_order(const struct ft_nccl_lane *lane)
{
	return lane->carried && lane->data.known && lane->exact && lane->slack == 0 &&
	       lane->next == lane->at + 1 && !lane->alien && lane->orphans == 0 &&
	       (!lane->writing || (lane->open && lane->write_end == lane->data.next)) &&
	       !ft_nccl_is_acknowledged(&lane->data_acked, lane->data.next, FT_NCCL_NEXT);
}

/* What is under way on it is a write that was taken for the message. */
static bool has_begun(const struct ft_nccl_followed *followed, uint8_t i)
{
	const struct ft_nccl_lane *lane = &followed->lanes[i];
	const struct ft_nccl_transfer *transfer = ft_nccl_ring_find(&followed->ring, lane->at);

	return !lane->open ||
	       (transfer != NULL && ft_nccl_ring_shares(&followed->ring, transfer)[i].used);
}

static void take_over_lane(struct ft_nccl_followed *followed, uint8_t i)
{
	const struct ft_nccl_lane *lane = &followed->lanes[i];

	followed->straight->lanes[i] = (struct ft_nccl_straight_lane){
		.psn = lane->data.next,
		.acked = FT_NCCL_NONE,
		.turns = followed->straight->turns,
		.at = lane->at,
		.first = followed->straight->searched
				 ? lane->next
				 : ft_nccl_split_first(followed, i, lane->next),
		.stage = lane->writing ? FT_NCCL_STRAIGHT_WRITING
			 : lane->open  ? FT_NCCL_STRAIGHT_WRITTEN
				       : FT_NCCL_STRAIGHT_IDLE,
		.index = i,
		.bit = (uint8_t)(1u << i),
	};
}

/* False: on one of them something is not in order. `oldest`: of the messages that may have something to come yet. */
static bool take_over_lanes(struct ft_nccl_followed *followed, uint64_t *oldest)
{
	struct ft_nccl_straight *straight = followed->straight;

	*oldest = followed->newest + 1;
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		const struct ft_nccl_straight_lane *lane = &straight->lanes[i];
		uint64_t at;

		if (!is_in_order(&followed->lanes[i]) || !has_begun(followed, i))
			return false;
		take_over_lane(followed, i);
		at = lane->stage == FT_NCCL_STRAIGHT_IDLE ? lane->first : lane->at;
		*oldest = at < *oldest ? at : *oldest;
	}
	return followed->newest + 1 - *oldest <= FT_NCCL_STRAIGHT_LEAST;
}

/* It was asked for like all others, but for its address, and nothing of it is in question. */
static bool is_alike(const struct ft_nccl_followed *followed,
		     const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_request *like = &followed->straight_request;
	const struct ft_nccl_request *request = ft_nccl_ring_requests(&followed->ring, transfer);

	return transfer->has_cts && !transfer->partial && !transfer->doubtful &&
	       !transfer->adrift && !transfer->undecided && !transfer->sized &&
	       transfer->message.request_count == 1 && request->has_offered &&
	       request->offered == like->offered && request->rkey_count != 0 &&
	       request->rkeys[0] == like->rkeys[0] && request->va != 0;
}

/* Which lanes brought what of it. False: it is not as the straight way has it. */
static bool take_over_parts(const struct ft_nccl_followed *followed,
			    const struct ft_nccl_transfer *transfer,
			    struct ft_nccl_straight_whole *whole)
{
	const struct ft_nccl_share *shares = ft_nccl_ring_shares(&followed->ring, transfer);

	if (transfer->message.first_frame == 0 && !transfer->message.has_imm)
		return true;
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		if ((shares[i].packets != 0 && !shares[i].used) ||
		    (shares[i].ended && shares[i].immdt != transfer->immdt))
			return false;
		whole->used |= (uint8_t)(shares[i].used ? 1u << i : 0);
		whole->ended |= (uint8_t)(shares[i].ended ? 1u << i : 0);
	}
	return transfer->message.has_imm == (whole->ended != 0) &&
	       (transfer->message.first_frame != 0) == (whole->used != 0);
}

bool ft_nccl_straight_take_over_message(const struct ft_nccl_straight *straight,
					const struct ft_nccl_transfer *transfer,
					struct ft_nccl_straight_whole *whole)
{
	const struct ft_nccl_followed *followed = straight->followed;

	if (!is_alike(followed, transfer) || !take_over_parts(followed, transfer, whole))
		return false;
	whole->va = ft_nccl_ring_requests(&followed->ring, transfer)->va;
	whole->written = transfer->written;
	whole->immdt = transfer->immdt;
	if (straight->parts > 1)
		whole->waiting = (uint8_t)(straight->all & ~whole->ended);
	else
		whole->waiting = whole->ended == 0 ? straight->all : 0;
	return true;
}

bool ft_nccl_straight_keeps_place(const struct ft_nccl_followed *followed,
				  const struct ft_nccl_transfer *transfer)
{
	return transfer->adrift || ft_nccl_is_waiting(followed, transfer);
}

/*
 * Of older messages only those count whose place is not free. False: there is one that takes the general way. `is_zero`: so is
 * the room for them.
 */
static bool take_over_messages(struct ft_nccl_followed *followed, uint64_t oldest, bool is_zero)
{
	const struct ft_nccl_ring *ring = &followed->ring;
	struct ft_nccl_straight *straight = followed->straight;
	uint64_t found = 0;

	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *transfer = &ring->transfers[i];
		struct ft_nccl_straight_whole *whole = ft_nccl_straight_whole(straight, i);

		if (!is_zero)
			*whole = (struct ft_nccl_straight_whole){ 0 };
		if (!transfer->used)
			continue;
		if (!transfer->message.has_k || transfer->message.k > followed->newest)
			return false;
		if (transfer->message.k < oldest) {
			whole->waiting = ft_nccl_straight_keeps_place(followed, transfer);
			continue;
		}
		if (!ft_nccl_straight_take_over_message(straight, transfer, whole))
			return false;
		straight->asked[transfer->message.k % FT_NCCL_STRAIGHT_LEAST] = (uint32_t)whole->va;
		found++;
	}
	return found == followed->newest + 1 - oldest;
}

bool ft_nccl_straight_take_over_lanes(struct ft_nccl_followed *followed)
{
	struct ft_nccl_straight *straight = followed->straight;
	uint64_t oldest;
	size_t bytes;
	bool is_new;

	begin(followed);
	if (!take_over_lanes(followed, &oldest))
		return false;
	if (ft_nccl_rota_take_over(followed, oldest))
		return true;
	bytes = followed->ring.slots * ft_nccl_straight_whole_bytes(straight);
	is_new = bytes > straight->many_bytes;
	if (ft_nccl_straight_make_room(followed, bytes) != 0)
		return false;
	straight->wholes = straight->many;
	straight->next_whole = ft_nccl_straight_whole(straight, followed->newest + 1);
	for (uint8_t i = 0; i < followed->lane_count; i++)
		ft_nccl_straight_expect(straight, &straight->lanes[i]);
	return take_over_messages(followed, oldest, is_new);
}

/* --- back --- */

static void begin_share(const struct ft_nccl_straight *straight, const struct ft_nccl_lane *lane,
			const struct ft_nccl_straight_part *part, struct ft_nccl_share *share)
{
	uint32_t packets = ft_nccl_straight_packets(straight, part->length);
	const struct ft_nccl_begun begun = { part->va,
					     ft_nccl_straight_frame(straight, part->frame),
					     part->ts_ns, part->length, part->from };

	*share = (struct ft_nccl_share){
		.bytes = part->length,
		.first = begun,
		.last = begun,
		.packets = packets - 1,
		.from = part->from,
		.to = ft_psn_add(part->from, packets - 1),
		.used = true,
		.begun = true,
		.searched = straight->searched,
		.counted = lane->counted,
		.requests = 1,
	};
}

static void end_bare(struct ft_nccl_share *share, uint64_t frame)
{
	share->packets++;
	share->to = ft_psn_add(share->to, 1);
	share->last = (struct ft_nccl_begun){ .frame = frame, .psn = share->to };
}

/* What a lane brought since. `turns`: of it, behind this message if it began since. */
static void tell_part(struct ft_nccl_followed *followed, struct ft_nccl_transfer *transfer,
		      const struct ft_nccl_straight_whole *whole,
		      const struct ft_nccl_straight_part *part, uint8_t i, uint32_t *turns)
{
	const struct ft_nccl_straight *straight = followed->straight;
	struct ft_nccl_share *share = ft_nccl_ring_shares(&followed->ring, transfer) + i;
	uint64_t imm_frame = ft_nccl_straight_frame(straight, part->imm_frame);
	uint32_t before = share->packets;

	if ((whole->begun & 1u << i) != 0) {
		begin_share(straight, &followed->lanes[i], part, share);
		transfer->guessed = transfer->guessed || !followed->numbered;
		share->turn = --*turns;
		ft_nccl_message_reach(&transfer->message, share->first.frame, part->ts_ns);
	}
	share->packets += (whole->last & 1u << i) != 0 ? 1 : 0;
	if ((whole->bare & 1u << i) != 0)
		end_bare(share, imm_frame);
	if ((whole->ended_of_late & 1u << i) != 0) {
		share->ended = true;
		share->immdt = whole->immdt;
		share->imm_frame = imm_frame;
	}
	transfer->message.packets += share->packets - before;
}

static void tell_whole(struct ft_nccl_followed *followed, uint64_t k,
		       const struct ft_nccl_straight_whole *whole,
		       const struct ft_nccl_straight_part *parts, uint32_t *turns)
{
	const struct ft_nccl_straight *straight = followed->straight;
	uint8_t changed = whole->begun | whole->last | whole->bare;
	struct ft_nccl_transfer *transfer;
	struct ft_nccl_request *request;

	if (k > followed->newest)
		ft_nccl_straight_ask(followed, k, whole->va,
				     ft_nccl_straight_frame(straight, whole->cts_frame));
	if (changed == 0)
		return;
	transfer = ft_nccl_ring_find(&followed->ring, k);
	for (uint8_t i = 0; i < followed->lane_count; i++)
		if ((changed & 1u << i) != 0)
			tell_part(followed, transfer, whole, parts + (straight->parts == 1 ? 0 : i),
				  i, &turns[i]);
	request = ft_nccl_ring_requests(&followed->ring, transfer);
	request->written += whole->written - transfer->written;
	request->has_written = true;
	transfer->written = whole->written;
	transfer->bare = transfer->bare || whole->bare != 0;
	if (whole->ended_of_late == 0)
		return;
	transfer->immdt = whole->immdt;
	transfer->message.has_imm = true;
}

/* Message k, wherever it is remembered. */
static void tell(struct ft_nccl_followed *followed, uint64_t k, uint32_t *turns)
{
	const struct ft_nccl_straight *straight = followed->straight;

	if (straight->stage == FT_NCCL_STRAIGHT_ROTA) {
		const struct ft_nccl_rota_told told = ft_nccl_rota_tell(straight, k);

		tell_whole(followed, k, &told.whole, &told.part, turns);
	} else {
		const struct ft_nccl_straight_whole *whole = ft_nccl_straight_whole(straight, k);

		tell_whole(followed, k, whole, ft_nccl_straight_parts(whole), turns);
	}
}

/* The first packet of the write under way, which began on the way: a message keeps its place until it is over. */
static uint32_t first_of(const struct ft_nccl_straight *straight,
			 const struct ft_nccl_straight_lane *lane)
{
	return straight->stage == FT_NCCL_STRAIGHT_ROTA
		       ? straight->rota[ft_nccl_rota_place(lane->at)].from
		       : ft_nccl_straight_part(straight, lane->likely, lane->index)->from;
}

/* Behind the last message that ended on the way, if one did; `was_open`: when it went straight a message was under way. */
static uint32_t ended_to(const struct ft_nccl_straight *straight,
			 const struct ft_nccl_straight_lane *told, const struct ft_nccl_lane *lane,
			 bool was_open)
{
	if (told->begun + was_open <= lane->open)
		return lane->ended_to;
	return lane->open ? first_of(straight, told) : told->psn;
}

static void tell_lane(struct ft_nccl_followed *followed, uint8_t i)
{
	const struct ft_nccl_straight_lane *told = &followed->straight->lanes[i];
	struct ft_nccl_lane *lane = &followed->lanes[i];
	bool was_open = lane->open;

	lane->data.next = told->psn;
	lane->open = told->stage != FT_NCCL_STRAIGHT_IDLE;
	lane->writing = told->stage == FT_NCCL_STRAIGHT_WRITING;
	lane->ended_to = ended_to(followed->straight, told, lane, was_open);
	if (lane->writing)
		lane->write_end = told->psn;
	if (told->acked != FT_NCCL_NONE)
		ft_nccl_acknowledge(&lane->data_acked, &lane->data, told->acked);
	followed->by_length += told->by_length;
	if (told->begun == 0)
		return;
	lane->turns += told->begun;
	lane->at = told->at;
	lane->next = told->at + 1;
	lane->begun_frame = ft_nccl_straight_frame(followed->straight, told->begun_frame);
	followed->in_a_row += told->in_a_row;
	followed->model.payload_bytes += told->bytes;
}

/* From the newest on, as messages of a lane are numbered from its last one. */
void ft_nccl_straight_tell_lanes(struct ft_nccl_followed *followed)
{
	const struct ft_nccl_straight *straight = followed->straight;
	uint64_t oldest = straight->newest > straight->mask ? straight->newest - straight->mask : 0;
	uint32_t turns[FT_NCCL_STRAIGHT_LANES] = { 0 };

	if (straight->stage == FT_NCCL_STRAIGHT_ROTA)
		ft_nccl_rota_end(followed);
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		tell_lane(followed, i);
		turns[i] = followed->lanes[i].turns;
	}
	for (uint64_t k = straight->newest + 1; k-- > oldest;)
		tell(followed, k, turns);
	followed->model.messages += straight->begun;
}

uint32_t ft_nccl_straight_next(const struct ft_nccl_followed *followed, uint8_t lane)
{
	const struct ft_nccl_straight *straight = followed->straight;

	return straight != NULL && straight->is_on && straight->stage >= FT_NCCL_STRAIGHT_SEVERAL
		       ? straight->lanes[lane].psn
		       : followed->lanes[lane].data.next;
}
