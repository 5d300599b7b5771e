#include "split.h"

#include "answer.h"
#include "turns.h"

/* Messages next to each other on a lane, until lanes that were not seen yet are not expected to take turns with it. */
enum { IN_A_ROW = 2 };

static uint8_t sets_of(const struct ft_nccl_followed *followed)
{
	const struct ft_nccl_connection *model = &followed->model;

	return model->qps_per_device != 0 ? model->qps_per_device : 1;
}

bool ft_nccl_has_unmet_devices(const struct ft_nccl_followed *followed)
{
	return followed->lanes[0].cts_step > followed->model.devices;
}

/* There are no more queue pairs than those known. */
static bool has_all_lanes(const struct ft_nccl_followed *followed)
{
	if (ft_nccl_has_unmet_devices(followed))
		return false;
	if (followed->model.is_set_up)
		return !followed->unsure || followed->in_a_row >= IN_A_ROW;
	return !followed->shared && followed->in_a_row >= IN_A_ROW;
}

/* Sets that take turns do so in the order of the set-up; without it they are numbered as they were met, mostly late. */
static bool takes_known_turns(const struct ft_nccl_followed *followed)
{
	return followed->model.split == FT_NCCL_NO &&
	       (followed->model.is_set_up || (followed->ways != 0 && followed->numbered));
}

bool ft_nccl_split_is_known(const struct ft_nccl_followed *followed)
{
	if (followed->ways != 0)
		return !ft_nccl_turns_are_open(followed);
	return (sets_of(followed) == 1 && has_all_lanes(followed)) ||
	       followed->model.split == FT_NCCL_YES || takes_known_turns(followed);
}

static uint8_t set_of(const struct ft_nccl_followed *followed, uint8_t lane)
{
	return (uint8_t)(lane / followed->model.devices);
}

uint32_t ft_nccl_split_step(const struct ft_nccl_followed *followed)
{
	if (!ft_nccl_split_is_known(followed))
		return 0;
	return followed->model.split == FT_NCCL_NO ? sets_of(followed) : 1;
}

bool ft_nccl_split_uses(const struct ft_nccl_followed *followed, uint8_t lane, uint64_t k)
{
	uint8_t sets = sets_of(followed);

	if (ft_nccl_turns_are_open(followed))
		return true;
	if (sets == 1 || !takes_known_turns(followed))
		return true;
	return k % sets == set_of(followed, lane) % sets;
}

uint64_t ft_nccl_split_first(const struct ft_nccl_followed *followed, uint8_t lane, uint64_t k)
{
	while (!ft_nccl_split_uses(followed, lane, k))
		k++;
	return k;
}

/* Where it is not known that immediates are lengths, one that is the message's number tells no length. */
static bool may_be_number(const struct ft_nccl_followed *followed,
			  const struct ft_nccl_transfer *transfer)
{
	enum ft_nccl_imm_content content = followed->model.imm_content;

	return content == FT_NCCL_IMM_ID ||
	       (content != FT_NCCL_IMM_LENGTH && transfer->immdt == (uint32_t)transfer->message.k);
}

bool ft_nccl_split_came_whole(const struct ft_nccl_followed *followed,
			      const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_message *message = &transfer->message;

	return message->has_imm && message->request_count == 1 && transfer->written != 0 &&
	       !may_be_number(followed, transfer) &&
	       (ft_nccl_immediate_orders(transfer->immdt, (uint32_t)transfer->written) &
		followed->orders) != 0;
}

bool ft_nccl_split_is_done(const struct ft_nccl_followed *followed,
			   const struct ft_nccl_transfer *transfer, uint8_t lane,
			   const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_share *share = ft_nccl_ring_shares(&followed->ring, transfer) + lane;

	if (share->used || followed->model.split == FT_NCCL_YES ||
	    followed->ways == FT_NCCL_WAY_ALL)
		return false;
	if (seen->opcode == 0x0b && seen->length == 0 && seen->immdt == transfer->immdt)
		return false;
	return ft_nccl_split_came_whole(followed, transfer);
}

static void learn(struct ft_nccl_followed *followed, enum ft_nccl_known split)
{
	if (followed->model.split == FT_NCCL_UNKNOWN)
		followed->model.split = split;
}

/* The same for each of so many queue pairs, as it was before 2.12; then in whole multiples. */
static uint64_t share_of(uint32_t length, uint32_t count)
{
	return (length + (uint64_t)count - 1) / count;
}

static uint64_t in_multiples(uint64_t share)
{
	return (share + FT_NCCL_PART_BYTES - 1) / FT_NCCL_PART_BYTES * FT_NCCL_PART_BYTES;
}

/* The first of several queue pairs has as much of a message of this length. */
static bool is_first_part(uint64_t bytes, uint32_t length)
{
	for (unsigned count = 2; bytes < length && count <= FT_NCCL_QPS_MAX; count++) {
		uint64_t share = share_of(length, count);

		if (bytes == share || bytes == in_multiples(share))
			return true;
	}
	return false;
}

/* Without a set-up it is known of one queue pair only, which had all that it gets of a message. */
static bool may_weigh(const struct ft_nccl_followed *followed,
		      const struct ft_nccl_transfer *transfer)
{
	return !followed->model.is_set_up && followed->lane_count == 1 && !followed->blind &&
	       !ft_nccl_is_doubted(transfer) &&
	       ft_nccl_share_is_whole(ft_nccl_ring_shares(&followed->ring, transfer));
}

void ft_nccl_split_weigh_sizes(struct ft_nccl_followed *followed,
			       const struct ft_nccl_transfer *transfer)
{
	uint64_t sum;

	if (!may_weigh(followed, transfer) || !transfer->has_cts || !transfer->sized)
		return;
	sum = ft_nccl_ring_sum(&followed->ring, transfer);
	if (sum > transfer->written)
		followed->shared = true;
	else if (sum > (uint64_t)FT_NCCL_PART_BYTES * transfer->message.request_count)
		followed->sized_whole = true;
}

void ft_nccl_split_weigh(struct ft_nccl_followed *followed, const struct ft_nccl_transfer *transfer)
{
	uint32_t length;

	if (may_weigh(followed, transfer) && !ft_nccl_had_all(followed) &&
	    transfer->message.request_count == 1 &&
	    ft_nccl_tells_length(followed, transfer->immdt, &length) &&
	    is_first_part(transfer->written, length))
		followed->shared = true;
}

/*
 * The write is a further part of a message that another queue pair has a part of: more of it, elsewhere; or nothing, but told
 * its length, or its number. Where that is nothing, too, it may as well be another message.
 */
static bool is_further_part(const struct ft_nccl_followed *followed,
			    const struct ft_nccl_transfer *transfer,
			    const struct ft_nccl_share *other, const struct ft_nccl_seen *seen)
{
	if (!other->used || ft_nccl_is_doubted(transfer))
		return false;
	if (seen->length != 0)
		return seen->va != other->first.va && !ft_nccl_split_came_whole(followed, transfer);
	if (ft_nccl_has_immediate(seen->opcode) && seen->immdt != 0)
		return !ft_nccl_is_bare_end(seen) &&
		       (other->ended ? other->immdt == seen->immdt
				     : followed->model.imm_content == FT_NCCL_IMM_LENGTH);
	return !ft_nccl_has_immediate(seen->opcode) &&
	       !ft_nccl_ring_recurs(&followed->ring, transfer);
}

void ft_nccl_split_learn(struct ft_nccl_followed *followed, const struct ft_nccl_transfer *transfer,
			 uint8_t lane, const struct ft_nccl_seen *seen, bool exact)
{
	const struct ft_nccl_share *shares = ft_nccl_ring_shares(&followed->ring, transfer);
	const uint8_t device =
		lane % followed->model.devices; /* which sets others' are of is a guess */
	uint64_t k = transfer->message.k;
	const struct ft_nccl_transfer *before;

	if (followed->ways != 0 || sets_of(followed) == 1 ||
	    followed->model.split != FT_NCCL_UNKNOWN)
		return;
	if (followed->model.has_family && followed->model.family <= FT_NCCL_B)
		learn(followed, FT_NCCL_YES); /* as all do before 2.18 */
	/* where this is the first packet of all of it, no other lane has a part */
	for (uint8_t i = 0; transfer->message.first_frame != 0 && i < followed->lane_count; i++) {
		if (i != lane && i % followed->model.devices == device &&
		    is_further_part(followed, transfer, &shares[i], seen))
			learn(followed, FT_NCCL_YES);
	}
	before = k != 0 ? ft_nccl_ring_find(&followed->ring, k - 1) : NULL;
	if (!exact || before == NULL || before->message.first_frame == 0)
		return;
	shares = ft_nccl_ring_shares(&followed->ring, before);
	if (!shares[lane].used)
		learn(followed, FT_NCCL_NO);
}

/* What the first of so many queue pairs has of a message: since 2.12, and before. */
static bool is_part_of(uint64_t bytes, uint32_t length, uint32_t count)
{
	uint64_t share = share_of(length, count), part = in_multiples(share);
	uint64_t older = share < FT_NCCL_OLD_PART_BYTES ? FT_NCCL_OLD_PART_BYTES : share;

	return bytes == (part < length ? part : length) ||
	       bytes == (older < length ? older : length);
}

void ft_nccl_split_count(struct ft_nccl_followed *followed, const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_share *share = ft_nccl_ring_shares(&followed->ring, transfer);
	uint32_t length, most = FT_NCCL_QPS_MAX;

	if (!ft_nccl_split_may_have_more(followed) || transfer->message.request_count != 1 ||
	    ft_nccl_is_doubted(transfer) || !ft_nccl_share_is_whole(share) ||
	    !ft_nccl_tells_length(followed, transfer->immdt, &length))
		return;
	while (most > 1 && !is_part_of(share->bytes, length, most))
		most--;
	if (most > 1 && (followed->most_lanes == 0 || most < followed->most_lanes))
		followed->most_lanes = (uint8_t)most;
}

bool ft_nccl_split_may_have_more(const struct ft_nccl_followed *followed)
{
	return !followed->model.is_set_up && !followed->blind &&
	       followed->model.split == FT_NCCL_YES &&
	       (followed->most_lanes == 0 || followed->most_lanes > followed->lane_count);
}

static bool was_asked_for(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;
	uint8_t request;

	for (uint64_t left = ring->begun; left != 0; left &= left - 1) {
		const struct ft_nccl_transfer *transfer = ft_nccl_ring_first(ring, left);

		if (transfer->used && transfer->has_cts &&
		    ft_nccl_answers(moment->followed, transfer, moment->seen, &request))
			return true;
	}
	return false;
}

bool ft_nccl_split_admits(struct ft_nccl_moment *moment)
{
	struct ft_nccl_connection *model = &moment->followed->model;
	uint8_t sets;

	if (moment->lane_index < model->qp_count)
		return true;
	if (!ft_nccl_begins(moment->seen->opcode) ||
	    (moment->seen->psn != 0 && !was_asked_for(moment)))
		return false;
	sets = (uint8_t)(moment->lane_index / model->devices + 1);
	if (sets * model->devices > moment->followed->lane_count || model->split == FT_NCCL_NO)
		return false;
	for (uint8_t i = model->qp_count; i < sets * model->devices; i++)
		ft_nccl_note(moment->connections, moment->followed, i, FT_NCCL_N1);
	model->qps_per_device = sets;
	model->qp_count = (uint8_t)(sets * model->devices);
	if (moment->followed->ways == FT_NCCL_WAY_ALL)
		model->split = FT_NCCL_YES;
	return true;
}
