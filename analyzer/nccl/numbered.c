#include "numbered.h"

#include <decode/packet.h>

#include "asked.h"
#include "split.h"
#include "turns.h"

static struct ft_nccl_share *share_of(const struct ft_nccl_moment *moment,
				      const struct ft_nccl_transfer *transfer)
{
	return ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;
}

/* The message nearest to k that has these low 32 bits. */
static uint64_t nearest(uint64_t k, uint32_t number)
{
	return k + (uint64_t)(int64_t)(int32_t)(number - (uint32_t)k);
}

static bool has_others(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_share *shares = ft_nccl_ring_shares(&moment->followed->ring, transfer);

	for (uint8_t i = 0; i < moment->followed->lane_count; i++) {
		if (i != moment->lane_index && (shares[i].used || shares[i].packets != 0))
			return true;
	}
	return false;
}

/* It goes to where the message asked for it; an empty part may lie behind the end. */
static bool asked_for(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *asking,
		      const struct ft_nccl_begun *begun)
{
	const struct ft_nccl_request *request =
		ft_nccl_ring_requests(&moment->followed->ring, asking);
	uint64_t behind = begun->length == 0 ? (uint64_t)FT_NCCL_QPS_MAX * FT_NCCL_PART_BYTES : 0;

	if (request->va == 0 || request->by_data || !request->has_offered)
		return true;
	return begun->va >= request->va &&
	       begun->va - request->va + begun->length <= request->offered + behind;
}

static bool are_numbers(const struct ft_nccl_followed *followed)
{
	return followed->model.imm_content == FT_NCCL_IMM_ID && !followed->failing;
}

/* It asked for data, and has none of the lane. */
static bool awaits(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer)
{
	return transfer != NULL && transfer->has_cts && !share_of(moment, transfer)->used &&
	       share_of(moment, transfer)->packets == 0;
}

bool ft_nccl_number_of(const struct ft_nccl_moment *moment, uint64_t *k, uint8_t *request)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_seen *seen = moment->seen;
	const struct ft_nccl_transfer *transfer;

	if (seen->opcode != 0x0b || (seen->has & FT_HAS_RETH) == 0 || !are_numbers(followed) ||
	    ft_nccl_is_bare_end(seen))
		return false;
	*k = nearest(moment->lane->next, seen->immdt);
	transfer = ft_nccl_ring_find(&followed->ring, *k);
	return awaits(moment, transfer) && transfer->message.request_count == 1 &&
	       transfer->message.cts_frame < seen->frame &&
	       ft_nccl_split_uses(followed, moment->lane_index, *k) &&
	       ft_nccl_answers(followed, transfer, seen, request);
}

/* The message of that number, if it asked for what was taken for another one. */
static struct ft_nccl_transfer *asking(const struct ft_nccl_moment *moment,
				       const struct ft_nccl_transfer *taken, uint64_t k)
{
	struct ft_nccl_transfer *transfer = ft_nccl_ring_find(&moment->followed->ring, k);

	if (!awaits(moment, transfer) || has_others(moment, taken) ||
	    transfer->message.request_count != taken->message.request_count ||
	    !asked_for(moment, transfer, &share_of(moment, taken)->first))
		return NULL;
	return transfer;
}

static void move_requests(const struct ft_nccl_ring *ring, const struct ft_nccl_transfer *from,
			  const struct ft_nccl_transfer *to)
{
	const struct ft_nccl_request *before = ft_nccl_ring_requests(ring, from);
	struct ft_nccl_request *after = ft_nccl_ring_requests(ring, to);

	for (uint8_t i = 0; i < to->message.request_count; i++) {
		if (!to->sized)
			after[i].written = before[i].written + (from->sized ? 0 : after[i].written);
		after[i].has_written = after[i].has_written || before[i].has_written;
		if (before[i].by_data && after[i].va == 0) {
			after[i].va = before[i].va;
			after[i].by_data = true;
		}
	}
}

static void move(struct ft_nccl_moment *moment, struct ft_nccl_transfer *from,
		 struct ft_nccl_transfer *to)
{
	struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_message *message = &to->message;

	if (message->first_frame != 0)
		followed->model.messages--;
	*share_of(moment, to) = *share_of(moment, from);
	move_requests(&followed->ring, from, to);
	message->packets += from->message.packets;
	ft_nccl_message_reach(message, from->message.first_frame, from->message.first_ts_ns);
	ft_nccl_message_reach(message, from->message.last_frame, from->message.last_ts_ns);
	message->has_imm = true;
	for (unsigned i = 0; i < sizeof message->imm; i++)
		message->imm[i] = from->message.imm[i];
	if (message->protocol == FT_NCCL_PROTOCOL_UNKNOWN) {
		message->protocol = from->message.protocol;
		message->flag = from->message.flag;
	}
	to->written += from->written;
	to->immdt = from->immdt;
	to->sized = to->sized || from->sized;
	to->bare = to->bare || from->bare;
	to->guessed = to->guessed || from->guessed;
	to->doubtful = to->doubtful || from->doubtful;
	ft_nccl_ring_ask_again(&followed->ring, from);
}

/* Each of its parts says that it is this message's. */
static void settle(const struct ft_nccl_followed *followed, struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_share *shares = ft_nccl_ring_shares(&followed->ring, transfer);

	for (uint8_t i = 0; i < followed->lane_count; i++) {
		if (shares[i].packets != 0 && (!ft_nccl_share_is_whole(&shares[i]) ||
					       shares[i].immdt != (uint32_t)transfer->message.k))
			return;
	}
	transfer->adrift = false;
}

struct ft_nccl_transfer *ft_nccl_numbered(struct ft_nccl_moment *moment,
					  struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_lane *lane = moment->lane;
	const struct ft_nccl_share *share = share_of(moment, transfer);
	uint64_t k = nearest(transfer->message.k, share->immdt);
	struct ft_nccl_transfer *own = transfer;

	if (!are_numbers(moment->followed) || !transfer->message.has_k ||
	    !ft_nccl_share_is_whole(share))
		return transfer;
	if (k != transfer->message.k) {
		own = asking(moment, transfer, k);
		if (own == NULL)
			return transfer;
		move(moment, transfer, own);
	}
	settle(moment->followed, own);
	if (lane->at == transfer->message.k) {
		lane->at = k;
		lane->next = k + 1;
		lane->exact = true;
		lane->slack = 0;
	}
	return own;
}

void ft_nccl_numbered_weigh(struct ft_nccl_moment *moment, uint32_t number)
{
	if (are_numbers(moment->followed))
		ft_nccl_turns_end_at(moment, number, UINT32_MAX);
}
