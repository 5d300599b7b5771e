#include "tally.h"

#include "adrift.h"
#include "unlisted.h"

bool ft_nccl_has_number(const struct ft_nccl_transfer *transfer)
{
	return transfer->message.has_k && !ft_nccl_is_adrift(transfer);
}

static uint64_t common(uint64_t a, uint64_t b)
{
	while (b != 0) {
		const uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static void stride(struct ft_nccl_strides *strides, const struct ft_nccl_transfer *transfer,
		   const struct ft_nccl_share *first)
{
	const uint64_t k = transfer->message.k;

	if (!first->used || !ft_nccl_has_number(transfer))
		return;
	if (strides->known && strides->step != 1)
		strides->step = common(strides->step,
				       k > strides->last ? k - strides->last : strides->last - k);
	strides->known = true;
	strides->last = k;
}

void ft_nccl_tally_keep(struct ft_nccl_followed *followed, const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_share *shares = ft_nccl_ring_shares(&followed->ring, transfer);
	struct ft_nccl_tally *all = &followed->tally;

	if (transfer->message.first_frame == 0)
		return;
	stride(&followed->strides, transfer, shares);
	if (ft_nccl_has_number(transfer))
		all->numbered++;
	else
		all->others++;
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		struct ft_nccl_tally *tally = &followed->lanes[i].tally;

		if (!shares[i].used)
			continue;
		if (ft_nccl_has_number(transfer))
			tally->numbered++;
		else if (shares[i].begun || shares[i].apart)
			tally->others++;
		tally->ended += shares[i].ended ? 1 : 0;
	}
}

/* A message may have several requests, as one that was asked for did. */
static bool may_be_several(const struct ft_nccl_followed *followed)
{
	return followed->ring.request_room > 1;
}

/* Of a message under way, likewise. What lacks its beginning may be the end of what is listed before. */
static void add_open(const struct ft_nccl_transfer *transfer, const struct ft_nccl_share *share,
		     struct ft_nccl_tally *tally)
{
	if (!transfer->used || transfer->message.first_frame == 0 || !share->used)
		return;
	if (ft_nccl_has_number(transfer))
		tally->numbered++;
	else if (share->begun || share->apart)
		tally->others++;
	tally->ended += share->ended ? 1 : 0;
}

/* So many messages were on the queue pair, without those on the straight way. */
static uint64_t count_on(const struct ft_nccl_followed *followed, uint8_t lane)
{
	const struct ft_nccl_ring *ring = &followed->ring;
	struct ft_nccl_tally tally = followed->lanes[lane].tally;

	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *transfer = &ring->transfers[i];

		add_open(transfer, ft_nccl_ring_shares(ring, transfer) + lane, &tally);
	}
	if (!may_be_several(followed))
		return tally.numbered + tally.others + ft_nccl_unlisted_on(followed, lane);
	return tally.numbered > tally.ended ? tally.numbered : tally.ended;
}

/*
 * As many as one queue pair had, if they share messages; else as many as all of them had together, each of which was on no more of
 * them than there are devices.
 */
static uint64_t count_lanes(const struct ft_nccl_followed *followed)
{
	const uint8_t devices = followed->model.devices;
	uint64_t most = 0, sum = 0;

	for (uint8_t i = 0; i < followed->lane_count; i++) {
		uint64_t count = count_on(followed, i);

		most = count > most ? count : most;
		sum += count;
	}
	return followed->model.split == FT_NCCL_NO ? (sum + devices - 1) / devices : most;
}

/* Messages in a row that show that no other queue pair takes turns with the first, or shares messages that may all be short. */
enum { ALONE_IN_A_ROW = 2, ALONE_WITH_SHORT = 8 };

bool ft_nccl_tally_knows_qps(const struct ft_nccl_followed *followed)
{
	const struct ft_nccl_ring *ring = &followed->ring;
	struct ft_nccl_strides strides = followed->strides;
	const bool had_all = ft_nccl_had_all(followed) || followed->sized_whole;

	if (followed->model.qps_per_device > 1 ||
	    (followed->model.is_set_up && !followed->unsure) ||
	    followed->families == 1u << FT_NCCL_A)
		return true;
	if (followed->shared)
		return false;
	for (uint32_t i = 0; i < ring->slots; i++) {
		if (ring->transfers[i].used)
			stride(&strides, &ring->transfers[i],
			       ft_nccl_ring_shares(ring, &ring->transfers[i]));
	}
	return followed->in_a_row >= ALONE_WITH_SHORT ||
	       (had_all && (followed->in_a_row >= ALONE_IN_A_ROW || strides.step == 1));
}

/* Each message is on one queue pair, and its writes are its own: all that is listed is messages. */
static uint64_t unlisted(const struct ft_nccl_followed *followed)
{
	uint64_t sum = 0;

	for (uint8_t i = 0; i < followed->lane_count; i++)
		sum += ft_nccl_unlisted_on(followed, i);
	return sum;
}

void ft_nccl_tally_tell(struct ft_nccl_followed *followed)
{
	struct ft_nccl_connection *model = &followed->model;
	const struct ft_nccl_ring *ring = &followed->ring;
	uint64_t numbered = followed->tally.numbered, others = followed->tally.others;
	uint64_t straight, least;

	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *transfer = &ring->transfers[i];

		if (!transfer->used || transfer->message.first_frame == 0)
			continue;
		numbered += ft_nccl_has_number(transfer) ? 1 : 0;
		others += ft_nccl_has_number(transfer) ? 0 : 1;
	}
	model->messages_told = model->messages;
	if (model->messages < numbered + others)
		return;
	if (model->split == FT_NCCL_NO && model->devices == 1 && !may_be_several(followed)) {
		model->messages_told += unlisted(followed);
		return;
	}
	straight = model->messages - numbered - others;
	least = count_lanes(followed) + straight;
	model->messages_told = least > numbered + straight ? least : numbered + straight;
}
