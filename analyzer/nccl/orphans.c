#include "orphans.h"

#include "orphan_rows.h"
#include "split.h"
#include "under_way.h"
#include "unlisted.h"
#include "written.h"

void ft_nccl_orphans_see(struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;

	if (lane->orphans == 0 || moment->turn != FT_NCCL_NEXT) {
		lane->orphans = 0;
		lane->orphan_from = moment->seen->psn;
		lane->orphan_hole = lane->data.known ? lane->data.next : moment->seen->psn;
		lane->orphan_exact = lane->exact;
	}
	lane->orphans++;
	lane->exact = lane->counted = false;
	ft_nccl_orphan_rows_add(lane, moment->seen, false);
}

void ft_nccl_orphans_see_late(const struct ft_nccl_moment *moment)
{
	ft_nccl_orphan_rows_add(moment->lane, moment->seen,
				ft_nccl_has_immediate(moment->seen->opcode));
}

/* The PSN that the next message must begin with; the message before may lack its end. */
static uint32_t beginning(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_lane *lane = moment->lane;
	const struct ft_nccl_transfer *before;

	before = lane->open ? ft_nccl_ring_find(&moment->followed->ring, lane->at) : NULL;
	if (before == NULL)
		return lane->orphan_hole;
	return ft_psn_add(
		ft_nccl_ring_shares(&moment->followed->ring, before)[moment->lane_index].to, 1);
}

static bool is_as_long(const struct ft_nccl_moment *moment, enum ft_nccl_order order,
		       uint32_t packets)
{
	uint32_t length = ft_nccl_immediate(moment->seen->immdt, order);
	uint16_t pmtu = moment->followed->pmtu;

	return (moment->followed->orders & 1u << order) != 0 &&
	       length / pmtu + (length % pmtu != 0 ? 1 : 0) == packets;
}

bool ft_nccl_orphans_are_next(const struct ft_nccl_moment *moment, bool bare)
{
	const struct ft_nccl_lane *lane = moment->lane;
	uint32_t end = ft_psn_add(moment->seen->psn, bare ? 0 : 1);
	uint32_t packets = ft_psn_since(end, beginning(moment));

	if (lane->orphans == 0 || !lane->orphan_exact)
		return false;
	if (lane->orphan_hole == lane->orphan_from)
		return true; /* the capture begins within the message */
	return moment->followed->pmtu != 0 && moment->followed->lane_count == 1 &&
	       (is_as_long(moment, FT_NCCL_LITTLE, packets) ||
		is_as_long(moment, FT_NCCL_BIG, packets));
}

void ft_nccl_orphans_adopt(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
			   bool is_whole)
{
	struct ft_nccl_lane *lane = moment->lane;
	struct ft_nccl_message *message = &transfer->message;
	struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;

	share->apart = ft_nccl_unlisted_is_certain(moment->followed, moment->lane_index);
	share->begun = is_whole && lane->orphan_hole != lane->orphan_from;
	share->from = share->begun ? beginning(moment) : lane->orphan_from;
	share->to = moment->seen->psn;
	if (message->first_frame == 0)
		moment->followed->model.messages++;
	ft_nccl_message_reach(message, moment->seen->frame, moment->seen->ts_ns);
	ft_nccl_orphan_rows_gather(moment, transfer);
	lane->orphans = 0;
}

/* Of which message they are is not known: of the one before, or that one's end was missed. */
static void let_go(const struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;

	ft_nccl_unlisted_count(moment);
	lane->orphans = 0;
	lane->open = lane->writing = false;
}

void ft_nccl_orphans_end(struct ft_nccl_moment *moment)
{
	struct ft_nccl_answer answer = { .kind = FT_NCCL_ANSWER_END };
	struct ft_nccl_transfer *transfer;

	answer.k = ft_nccl_split_first(moment->followed, moment->lane_index, moment->lane->next);
	answer.sure = ft_nccl_orphans_are_next(moment, false);
	transfer = ft_nccl_ring_find(&moment->followed->ring, answer.k);
	if (!answer.sure && transfer != NULL &&
	    (transfer->has_cts || ft_nccl_is_under_way(moment, transfer))) {
		/* .. but with which immediate, if their first comes yet */
		ft_nccl_orphan_rows_end(moment->lane, moment->seen);
		let_go(moment);
		return;
	}
	transfer = ft_nccl_transfer_for(moment, &answer);
	if (transfer == NULL)
		return;
	ft_nccl_orphans_adopt(moment, transfer, answer.sure);
	ft_nccl_enter(moment, transfer, &answer);
	ft_nccl_ring_shares(&moment->followed->ring, transfer)[moment->lane_index].to =
		moment->seen->psn;
	ft_nccl_data_end(moment, transfer);
}

bool ft_nccl_orphans_pass_end(struct ft_nccl_moment *moment, const struct ft_nccl_answer *answer)
{
	const struct ft_nccl_lane *lane = moment->lane;

	if (answer->kind != FT_NCCL_ANSWER_END || lane->orphans == 0 ||
	    (lane->open && lane->at == answer->k))
		return false;
	let_go(moment);
	return true;
}
