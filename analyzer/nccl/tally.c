#include "tally.h"

#include "adrift.h"

bool ft_nccl_has_number(const struct ft_nccl_transfer *transfer)
{
	return transfer->message.has_k && !ft_nccl_is_adrift(transfer);
}

void ft_nccl_tally_keep(struct ft_nccl_followed *followed, const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_share *shares = ft_nccl_ring_shares(&followed->ring, transfer);
	struct ft_nccl_tally *all = &followed->tally;

	if (transfer->message.first_frame == 0)
		return;
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
		else if (shares[i].begun)
			tally->others++;
	}
}

/* What lacks its beginning may be the end of what is listed before. */
static bool is_apart(const struct ft_nccl_transfer *transfer, const struct ft_nccl_share *share)
{
	return transfer->used && transfer->message.first_frame != 0 && share->used &&
	       (ft_nccl_has_number(transfer) || share->begun);
}

/* So many messages were on the queue pair, with `straight` ones that all had. */
static uint64_t count_on(const struct ft_nccl_followed *followed, uint8_t lane, uint64_t straight)
{
	const struct ft_nccl_ring *ring = &followed->ring;
	uint64_t count = followed->lanes[lane].tally.numbered + followed->lanes[lane].tally.others;

	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *transfer = &ring->transfers[i];

		count += is_apart(transfer, ft_nccl_ring_shares(ring, transfer) + lane) ? 1 : 0;
	}
	return count + straight;
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
	if (others == 0 || model->split == FT_NCCL_NO || model->messages < numbered + others)
		return;
	straight = model->messages - numbered - others;
	least = model->messages - others;
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		uint64_t count = count_on(followed, i, straight);

		least = count > least ? count : least;
	}
	model->messages_told = least;
}
