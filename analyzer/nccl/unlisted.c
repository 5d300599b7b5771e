#include "unlisted.h"

#include "family.h"

/* A message has one request, and ends with the write that begins it but for its immediate. */
static bool is_of_one(const struct ft_nccl_followed *followed,
		      const struct ft_nccl_transfer *transfer)
{
	return ft_nccl_family_asks_once(followed) ||
	       (transfer->has_cts && transfer->message.request_count == 1);
}

bool ft_nccl_unlisted_is_certain(const struct ft_nccl_followed *followed, uint8_t lane)
{
	const struct ft_nccl_lane *at = &followed->lanes[lane];
	const struct ft_nccl_transfer *before = ft_nccl_ring_find(&followed->ring, at->at);
	const struct ft_nccl_share *share;

	if (followed->failing)
		return false;
	if (!at->open || before == NULL)
		return !at->open;
	share = ft_nccl_ring_shares(&followed->ring, before) + lane;
	return followed->pmtu != 0 && share->begun && is_of_one(followed, before) &&
	       ft_psn_distance(at->orphan_from, share->to) > 0;
}

void ft_nccl_unlisted_count(const struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;
	const uint32_t newest = ft_psn_add(lane->orphan_from, lane->orphans - 1);

	if (!ft_nccl_unlisted_is_certain(moment->followed, moment->lane_index))
		return;
	for (uint8_t i = lane->orphan_row_count; i-- > 0;) {
		struct ft_nccl_orphan_row *row = &lane->orphan_rows[i];

		if (ft_psn_since(newest, row->psn) >= row->count || row->tallied)
			continue;
		row->tallied = true;
		lane->tally.unlisted++;
	}
}

void ft_nccl_unlisted_leave(const struct ft_nccl_moment *moment,
			    const struct ft_nccl_transfer *transfer)
{
	if (moment->seen->length != 0 && is_of_one(moment->followed, transfer))
		ft_nccl_unlisted_count(moment);
}

void ft_nccl_unlisted_forget(struct ft_nccl_lane *lane, const struct ft_nccl_orphan_row *row)
{
	lane->tallied += row->tallied ? 1 : 0;
}

void ft_nccl_unlisted_withdraw(struct ft_nccl_lane *lane, const struct ft_nccl_orphan_row *row)
{
	lane->tally.unlisted -= row->tallied ? 1 : 0;
}

void ft_nccl_unlisted_begin(struct ft_nccl_lane *lane)
{
	if (lane->tallied == 0)
		return;
	lane->tallied--;
	lane->tally.unlisted--;
}

uint64_t ft_nccl_unlisted_on(const struct ft_nccl_followed *followed, uint8_t lane)
{
	const struct ft_nccl_lane *at = &followed->lanes[lane];
	const bool is_one_more = at->orphans != 0 && ft_nccl_unlisted_is_certain(followed, lane);

	return at->tally.unlisted + (is_one_more ? 1 : 0);
}
