#include "followed.h"

#include <decode/packet.h>

#include "family.h"
#include "fifo.h"
#include "immediates.h"

struct ft_nccl_transfer *ft_nccl_straight_ask(struct ft_nccl_followed *followed, uint64_t k,
					      uint64_t va, uint64_t cts_frame)
{
	struct ft_nccl_transfer *transfer = ft_nccl_ring_begin(&followed->ring, k);
	struct ft_nccl_request *request = ft_nccl_ring_requests(&followed->ring, transfer);

	*request = followed->straight_request;
	request->va = va;
	transfer->has_cts = true;
	transfer->message.request_count = 1;
	transfer->message.cts_frame = cts_frame;
	transfer->cts_psn = ft_psn_back(followed->straight->cts_psn,
					(uint32_t)(followed->straight->newest - k) + 1);
	return transfer;
}

static void write(struct ft_nccl_followed *followed, struct ft_nccl_transfer *transfer,
		  const struct ft_nccl_straight_message *message)
{
	const struct ft_nccl_straight *straight = followed->straight;
	struct ft_nccl_request *request = ft_nccl_ring_requests(&followed->ring, transfer);
	struct ft_nccl_share *share = ft_nccl_ring_shares(&followed->ring, transfer);
	bool bare = (message->from & FT_NCCL_STRAIGHT_BARE) != 0;
	uint32_t packets = ft_nccl_straight_packets(straight, message->written) + (bare ? 1 : 0);
	uint64_t first_frame = ft_nccl_straight_frame(straight, message->first_frame);
	const struct ft_nccl_begun begun = { message->va, first_frame, message->first_ts_ns,
					     message->written, message->from & FT_PSN_MOST };

	request->written = share->bytes = transfer->written = message->written;
	request->has_written = true;
	transfer->bare = bare;
	transfer->guessed = transfer->guessed || !followed->numbered;
	*share = (struct ft_nccl_share){
		.bytes = message->written,
		.first = begun,
		.last = begun,
		.packets = packets,
		.from = message->from & FT_PSN_MOST,
		.to = ft_psn_add(message->from, packets - 1),
		.used = true,
		.begun = true,
		.requests = 1,
	};
	transfer->message.packets = packets;
	transfer->message.first_frame = transfer->message.last_frame = first_frame;
}

static void end(struct ft_nccl_followed *followed, struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_share *share = ft_nccl_ring_shares(&followed->ring, transfer);

	share->ended = true;
	share->immdt = ft_nccl_immediate((uint32_t)transfer->written,
					 followed->straight->big ? FT_NCCL_BIG : FT_NCCL_LITTLE);
	transfer->immdt = share->immdt;
	transfer->message.has_imm = true;
}

/* The last packet of the message under way is still to come. */
static void await_last(struct ft_nccl_followed *followed, struct ft_nccl_transfer *transfer)
{
	ft_nccl_ring_shares(&followed->ring, transfer)->packets--;
	transfer->message.packets--;
}

static void tell_message(struct ft_nccl_followed *followed, uint64_t k)
{
	const struct ft_nccl_straight *straight = followed->straight;
	const struct ft_nccl_straight_message *message = &straight->messages[k & straight->mask];
	struct ft_nccl_transfer *transfer =
		k > followed->newest
			? ft_nccl_straight_ask(followed, k, message->va,
					       ft_nccl_straight_frame(straight, message->cts_frame))
			: ft_nccl_ring_find(&followed->ring, k);

	if (k >= straight->next)
		return;
	write(followed, transfer, message);
	if (k + 1 < straight->next || straight->stage == FT_NCCL_STRAIGHT_IDLE)
		end(followed, transfer);
	else if (straight->stage == FT_NCCL_STRAIGHT_WRITING)
		await_last(followed, transfer);
}

/* Of the ring's messages those that it had not when it went straight, or that have gone on since. */
static void tell_messages(struct ft_nccl_followed *followed)
{
	const struct ft_nccl_straight *straight = followed->straight;
	uint64_t k = followed->lanes[0].next;

	if (straight->newest > straight->mask && k < straight->newest - straight->mask)
		k = straight->newest - straight->mask;
	for (; k <= straight->newest; k++)
		tell_message(followed, k);
}

/* Clear-to-sends go over the first lane. */
static void tell_asked(struct ft_nccl_followed *followed)
{
	const struct ft_nccl_straight *straight = followed->straight;
	struct ft_nccl_lane *lane = &followed->lanes[0];
	uint64_t asked = straight->newest - followed->newest;

	lane->cts.next = straight->cts_psn;
	lane->cts_k = straight->newest;
	if (straight->acked != FT_NCCL_NONE)
		ft_nccl_acknowledge(&lane->cts_acked, &lane->cts, straight->acked);
	if (asked != 0)
		lane->refused = 0;
	followed->model.cts += asked;
	followed->readable += asked;
}

/* Where the last message ended: behind its last packet, or where that begins which is under way and follows one on the way. */
static uint32_t ended_to(const struct ft_nccl_straight *straight, const struct ft_nccl_lane *lane,
			 uint64_t begun)
{
	uint64_t k = straight->next - 1;

	if (!lane->open)
		return straight->data_psn;
	return begun > 1 ? straight->messages[k & straight->mask].from & FT_PSN_MOST
			 : lane->ended_to;
}

static void tell_lane(const struct ft_nccl_straight *straight, struct ft_nccl_lane *lane)
{
	uint64_t begun = straight->next - lane->next;

	lane->data.next = straight->data_psn;
	lane->data_acked.ordered = lane->data_acked.ordered || straight->data_acked;
	if (begun == 0)
		return;
	lane->next = straight->next;
	lane->slack = 0;
	lane->at = straight->next - 1;
	lane->begun_frame = ft_nccl_straight_frame(
		straight, straight->messages[lane->at & straight->mask].first_frame);
	lane->turns += (uint32_t)begun;
	lane->open = straight->stage != FT_NCCL_STRAIGHT_IDLE;
	lane->writing = straight->stage == FT_NCCL_STRAIGHT_WRITING;
	lane->ended_to = ended_to(straight, lane, begun);
	if (lane->writing)
		lane->write_end = straight->data_psn;
}

static void count(struct ft_nccl_followed *followed)
{
	const struct ft_nccl_straight *straight = followed->straight;
	uint64_t begun = straight->next - followed->lanes[0].next;
	uint64_t ended = begun != 0 && straight->stage != FT_NCCL_STRAIGHT_IDLE ? begun - 1 : begun;

	followed->model.messages += begun;
	followed->in_a_row += (uint32_t)begun;
	followed->by_length += (uint32_t)ended;
}

/* Where the first slot could have come again, and did not: fewer slots become impossible, one number after the other. */
static void tell_slots(struct ft_nccl_followed *followed)
{
	const struct ft_nccl_straight *straight = followed->straight;
	uint64_t k = followed->newest, least = ft_nccl_fifo_slots_least(followed);

	if (straight->slots != 0 || straight->newest == followed->newest)
		return;
	for (k += least - k % least; k <= straight->newest; k += least - k % least) {
		uint64_t behind = straight->newest + 1 - k;

		ft_nccl_fifo_place(followed, straight->cts_va - behind * straight->slot_bytes,
				   straight->fifo_rkey, k);
		ft_nccl_family_tell(followed);
		least = ft_nccl_fifo_slots_least(followed);
	}
}

static bool is_round(const struct ft_nccl_straight *straight, const struct ft_observed *observed)
{
	uint32_t slots = ft_nccl_fifo_slots_most(straight->followed);

	return straight->slots == 0 && straight->cts_left == 0 && slots != 0 &&
	       (straight->newest + 1) % slots == 0 && observed->psn == straight->cts_psn &&
	       observed->va == straight->cts_va - slots * (uint64_t)straight->slot_bytes &&
	       observed->rkey == straight->fifo_rkey && observed->length == straight->entry_bytes &&
	       observed->payload == straight->entry_bytes;
}

__attribute__((noinline)) bool ft_nccl_straight_go_round(struct ft_nccl_straight *straight,
							 const struct ft_observed *observed)
{
	struct ft_nccl_followed *followed = straight->followed;
	uint64_t va = observed->va;

	if (!is_round(straight, observed))
		return false;
	tell_slots(followed);
	if (!ft_nccl_fifo_place(followed, va, straight->fifo_rkey, straight->newest + 1))
		return false;
	ft_nccl_family_tell(followed);
	straight->slots = ft_nccl_fifo_slots_sure(followed);
	straight->cts_va = va;
	straight->cts_left = straight->slots != 0 ? UINT32_MAX : 0;
	return straight->slots != 0;
}

static void tell_alone(struct ft_nccl_followed *followed)
{
	const struct ft_nccl_straight *straight = followed->straight;

	tell_messages(followed);
	count(followed);
	tell_lane(straight, &followed->lanes[0]);
	followed->model.payload_bytes += (uint64_t)straight->written_more << 32 | straight->written;
}

void ft_nccl_straight_leave(struct ft_nccl_followed *followed)
{
	struct ft_nccl_straight *straight = followed->straight;

	if (straight == NULL || !straight->is_on)
		return;
	straight->is_on = false;
	straight->turns++;
	if (straight->stage >= FT_NCCL_STRAIGHT_SEVERAL)
		ft_nccl_straight_tell_lanes(followed);
	else
		tell_alone(followed);
	followed->steps += straight->packets;
	tell_asked(followed);
	tell_slots(followed);
	straight->entry_k = straight->newest;
	followed->newest = straight->newest;
}
