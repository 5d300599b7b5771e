#include "immediates.h"

#include <decode/packet.h>

#include "asked.h"
#include "family.h"
#include "split.h"

enum {
	LITTLE = 1u << FT_NCCL_LITTLE,
	BIG = 1u << FT_NCCL_BIG,
};

static void tell(struct ft_nccl_followed *followed)
{
	struct ft_nccl_connection *model = &followed->model;

	if (followed->by_length > followed->by_id)
		model->imm_content = FT_NCCL_IMM_LENGTH;
	else if (followed->by_id >= 2 && followed->by_id > followed->by_length)
		model->imm_content = FT_NCCL_IMM_ID;
	if (followed->orders == LITTLE)
		model->imm_order = FT_NCCL_ORDER_LITTLE;
	else if (followed->orders == BIG)
		model->imm_order = FT_NCCL_ORDER_BIG;
}

static void narrow_order(struct ft_nccl_followed *followed, uint8_t orders)
{
	if ((followed->orders & orders) != 0)
		followed->orders &= orders;
}

/* One against one: either may be forged, and the next one tells. */
static bool is_undecided(const struct ft_nccl_followed *followed, uint8_t orders)
{
	return followed->ordered == 1 && followed->orders != (LITTLE | BIG) &&
	       (followed->orders & orders) == 0;
}

static void narrow_by_length(struct ft_nccl_followed *followed, uint8_t orders)
{
	if (is_undecided(followed, orders)) {
		followed->orders = LITTLE | BIG;
		followed->ordered = 0;
		followed->model.imm_order = FT_NCCL_ORDER_UNKNOWN;
		return;
	}
	narrow_order(followed, orders);
	if (orders == followed->orders && orders != (LITTLE | BIG) && followed->ordered < UINT8_MAX)
		followed->ordered++;
}

/* Three different lengths that were said right are no accident, on any queue pair that carried of the last of them. */
static void count_length(struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_share *shares = ft_nccl_ring_shares(&followed->ring, transfer);
	uint64_t length = transfer->written;

	followed->by_length++;
	if (length == followed->lengths[0] || length == followed->lengths[1])
		return;
	for (uint8_t i = 0; followed->lengths[1] != 0 && i < followed->lane_count; i++) {
		if (shares[i].ended)
			ft_nccl_note(moment->connections, followed, i, FT_NCCL_N6);
	}
	followed->lengths[1] = followed->lengths[0];
	followed->lengths[0] = length;
}

/* It is the message's number; once for each, as its queue pairs all end with what may be its length by accident. */
static bool is_number(const struct ft_nccl_followed *followed,
		      const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_message *message = &transfer->message;

	return message->has_k && transfer->immdt != 0 && transfer->immdt == (uint32_t)message->k &&
	       (followed->by_id == 0 || followed->by_id_k != message->k);
}

static void learn_one(struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_followed *followed = moment->followed;
	uint8_t orders = ft_nccl_immediate_orders(transfer->immdt, (uint32_t)transfer->written);

	if (orders != 0 && transfer->written != 0) {
		narrow_by_length(followed, orders);
		count_length(moment, transfer);
	} else if (orders == 0 && is_number(followed, transfer)) {
		followed->by_id++;
		followed->by_id_k = transfer->message.k;
		if (followed->by_id >= 2 && followed->by_id > followed->by_length)
			narrow_order(followed, BIG);
	}
}

static void learn_mask(struct ft_nccl_followed *followed, const struct ft_nccl_transfer *transfer)
{
	uint32_t requests = transfer->message.request_count;
	uint8_t filled;
	bool bytes = ft_nccl_mask_read(transfer->immdt, FT_NCCL_MASK_BYTES, requests, &filled) ==
		     FT_NCCL_READ;
	bool bits = ft_nccl_mask_read(transfer->immdt, FT_NCCL_MASK_BITS, requests, &filled) ==
		    FT_NCCL_READ;

	if (bytes && !bits)
		ft_nccl_minors_narrow(followed, 12, 12);
	if (bits && !bytes)
		ft_nccl_minors_narrow(followed, 13, 19);
}

/* A message of one request ended with what says so, its length or its number: no hole has joined another one's end to it. */
static bool is_ended(const struct ft_nccl_followed *followed,
		     const struct ft_nccl_transfer *transfer)
{
	return transfer->message.request_count == 1 &&
	       (ft_nccl_split_came_whole(followed, transfer) ||
		(followed->model.imm_content == FT_NCCL_IMM_ID &&
		 transfer->immdt == (uint32_t)transfer->message.k));
}

/* Of several requests, in bits: such a message ends with an empty write, too. */
static bool may_be_mask(const struct ft_nccl_followed *followed,
			const struct ft_nccl_transfer *transfer)
{
	return (followed->families & 1u << FT_NCCL_C) != 0 &&
	       ft_nccl_immediate(transfer->immdt, FT_NCCL_LITTLE) <= UINT8_MAX;
}

/* Where immediates are numbers, ends have no address: what has one may be an empty part. */
static bool may_be_part(const struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen)
{
	return followed->model.imm_content == FT_NCCL_IMM_ID && !ft_nccl_is_bare_end(seen);
}

/* An empty write ended it, which is the one at hand: what ended before may have been of another message. */
static bool is_ended_bare(const struct ft_nccl_moment *moment,
			  const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_followed *followed = moment->followed;

	return transfer->bare && moment->seen->length == 0 && moment->seen->opcode == 0x0b &&
	       (transfer->has_cts || followed->blind) && !may_be_mask(followed, transfer) &&
	       !may_be_part(followed, moment->seen) && is_ended(followed, transfer);
}

void ft_nccl_immediate_learn(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_connection *model = &followed->model;

	if (transfer->message.request_count == 1)
		learn_one(moment, transfer);
	else if (model->has_family && model->family == FT_NCCL_C)
		learn_mask(followed, transfer);
	if (is_ended_bare(moment, transfer))
		model->adaptive = FT_NCCL_YES;
	else if (!transfer->bare && transfer->written > FT_NCCL_ADAPTIVE_LENGTH &&
		 model->adaptive == FT_NCCL_UNKNOWN && is_ended(followed, transfer))
		model->adaptive = FT_NCCL_NO;
	tell(followed);
}

void ft_nccl_immediate_narrow(struct ft_nccl_followed *followed, uint8_t orders)
{
	narrow_order(followed, orders);
	tell(followed);
}
