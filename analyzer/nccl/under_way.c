#include "under_way.h"

#include "adrift.h"
#include "half.h"
#include "sizes.h"
#include "split.h"
#include "unlisted.h"

bool ft_nccl_is_under_way(const struct ft_nccl_moment *moment,
			  const struct ft_nccl_transfer *transfer)
{
	return moment->lane->open && moment->lane->at == transfer->message.k;
}

/* Another message asked for the same buffer before this packet. */
static bool is_offered_anew(const struct ft_nccl_moment *moment,
			    const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;
	uint64_t va = ft_nccl_ring_requests(ring, transfer)->va;

	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *other = &ring->transfers[i];

		if (other->used && other->has_cts && other->message.k > transfer->message.k &&
		    other->message.cts_frame < moment->seen->frame &&
		    ft_nccl_ring_requests(ring, other)->va == va)
			return true;
	}
	return false;
}

/* What is counted shows whether data passes when it should. */
static void note_order(struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_followed *followed = moment->followed;

	if (!followed->numbered || !transfer->has_cts || followed->came_astray)
		return;
	if (transfer->message.cts_frame > moment->seen->frame || is_offered_anew(moment, transfer))
		followed->came_astray = true;
	else
		followed->came_in_order = true;
}

/*
 * It was seen to be asked for before it came. An empty part may lie behind the end of a buffer, in the next one, but not that of
 * an empty message.
 */
static bool is_sure_to_be_asked(const struct ft_nccl_moment *moment,
				const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_seen *seen = moment->seen;
	bool is_of_nothing =
		ft_nccl_has_immediate(seen->opcode) && seen->immdt == 0 &&
		seen->va == ft_nccl_ring_requests(&moment->followed->ring, transfer)->va;

	return transfer->has_cts && transfer->message.cts_frame < seen->frame &&
	       (seen->length != 0 || is_of_nothing);
}

/*
 * Nobody asked for it, and the message before lacks its end: it may be more of that one, if it comes right behind it, or messages
 * have several requests. So may what comes behind packets that lack their beginning and their end.
 */
static bool may_go_on(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer)
{
	if (!transfer->has_cts && moment->lane->orphans != 0)
		return true;
	return !transfer->has_cts && moment->lane->open &&
	       !ft_nccl_is_under_way(moment, transfer) &&
	       (moment->turn == FT_NCCL_NEXT || moment->followed->ring.request_room > 1);
}

/* The first packet of it on this lane. */
static void open_share(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
		       enum ft_nccl_answer_kind kind)
{
	struct ft_nccl_lane *lane = moment->lane;
	struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;
	bool exact =
		lane->exact && lane->carried && moment->turn == FT_NCCL_NEXT && lane->data.known;

	if (share->used)
		return;
	share->used = true;
	note_order(moment, transfer);
	if (kind == FT_NCCL_ANSWER_DATA && is_sure_to_be_asked(moment, transfer))
		lane->placed = true;
	transfer->guessed = transfer->guessed || !moment->followed->numbered || !moment->is_behind;
	if (share->packets == 0) {
		share->begun = kind == FT_NCCL_ANSWER_DATA && !may_go_on(moment, transfer);
		share->from = moment->seen->psn;
		ft_nccl_share_begin(share, moment->seen);
	}
	share->counted = lane->counted;
	share->turn = lane->open && lane->turns != 0 ? lane->turns - 1 : lane->turns;
	ft_nccl_split_learn(moment->followed, transfer, moment->lane_index, moment->seen, exact);
}

void ft_nccl_enter(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
		   const struct ft_nccl_answer *answer)
{
	struct ft_nccl_lane *lane = moment->lane;
	uint32_t step = ft_nccl_split_step(moment->followed);

	open_share(moment, transfer, answer->kind);
	if (lane->orphans != 0 && answer->kind == FT_NCCL_ANSWER_DATA &&
	    !ft_nccl_is_under_way(moment, transfer))
		ft_nccl_unlisted_leave(moment, transfer);
	lane->writing = false;
	lane->orphans = 0;
	if (ft_nccl_is_under_way(moment, transfer))
		return;
	if (!lane->open || answer->kind == FT_NCCL_ANSWER_DATA)
		lane->turns++;
	lane->open = true;
	if (lane->carried && lane->exact && transfer->has_cts &&
	    transfer->message.k == lane->at + 1)
		moment->followed->in_a_row++;
	lane->exact = transfer->message.has_k && answer->sure;
	lane->carried = true;
	lane->at = transfer->message.k;
	lane->begun_frame = moment->seen->frame;
	if (lane->exact) {
		lane->next = lane->at + 1;
		lane->slack = 0;
	} else {
		ft_nccl_loosen(lane, step != 0 ? step : FT_NCCL_SLACK_MOST);
	}
}

/*
 * The queue pair had it before to its end, or one whose number is in doubt: one of the two is another message. So is one of several
 * requests that goes to one of them again.
 */
static bool is_over(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer,
		    uint8_t request)
{
	const struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;

	if (!share->used)
		return false;
	if (ft_nccl_is_under_way(moment, transfer))
		return transfer->message.request_count > 1 && ft_nccl_is_adrift(transfer) &&
		       (share->requests >> request & 1) != 0;
	return share->ended || ft_nccl_is_adrift(transfer);
}

/* Room for so many of a message. */
static uint32_t requests_for(const struct ft_nccl_moment *moment,
			     const struct ft_nccl_answer *answer)
{
	if (answer->kind == FT_NCCL_ANSWER_MORE)
		return FT_NCCL_REQUESTS_MAX;
	return answer->kind == FT_NCCL_ANSWER_SIZES ? ft_nccl_sizes_count(moment->seen) : 1;
}

struct ft_nccl_transfer *ft_nccl_transfer_for(struct ft_nccl_moment *moment,
					      const struct ft_nccl_answer *answer)
{
	struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_transfer *transfer;
	bool is_new;

	if (ft_nccl_ring_fit(&followed->ring, FT_NCCL_RING_LEAST, requests_for(moment, answer),
			     followed->lane_count) != 0)
		return NULL;
	transfer = ft_nccl_ring_find(&followed->ring, answer->k);
	is_new = transfer == NULL;
	/* whose number is a guess makes room, unless the write goes on with it */
	if (transfer != NULL && !transfer->message.has_k &&
	    (answer->begins || !ft_nccl_is_under_way(moment, transfer))) {
		ft_nccl_keep(moment->connections, followed, transfer);
		is_new = true;
	}
	if (transfer != NULL && !is_new &&
	    (answer->begins ? is_over(moment, transfer, answer->request) : answer->doubtful)) {
		ft_nccl_adrift_part(moment->connections, followed, transfer);
		is_new = true;
	}
	transfer = ft_nccl_transfer_of(moment->connections, followed, answer->k);
	if (transfer != NULL && is_new)
		transfer->message.has_k =
			answer->sure && (transfer->has_cts || answer->k >= followed->ring.told);
	else if (transfer != NULL && !answer->sure && !answer->undecided &&
		 !ft_nccl_is_under_way(moment, transfer))
		transfer->adrift = true;
	return transfer;
}
