#include "followed.h"

#include "faults.h"
#include "order.h"
#include "passed.h"
#include "successor.h"
#include "written.h"

/* What was sent again has the place of a write that nobody asked for: one of the two is forged. */
static bool is_twin(const struct ft_nccl_lane *lane, const struct ft_nccl_seen *seen)
{
	return lane->has_early && lane->early.psn == seen->psn;
}

/*
 * Of two writes under one PSN the longer one, if more is to come: that the sequence goes on with. Which of the two the
 * receiver took is not known.
 */
static void follow_twin(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
			const struct ft_nccl_begun *twin)
{
	struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_lane *lane = moment->lane;
	const struct ft_nccl_seen *seen = moment->seen;
	struct ft_nccl_share *share =
		ft_nccl_ring_shares(&followed->ring, transfer) + moment->lane_index;
	uint64_t more = (uint64_t)seen->length - twin->length;

	transfer->doubtful = true;
	if (!ft_nccl_has_immediate(seen->opcode) && lane->at == transfer->message.k &&
	    lane->ended_to == ft_psn_add(seen->psn, 1)) {
		lane->ended_to = seen->psn; /* what ends the message is still to come */
		lane->open = true;
		share->ended = false;
	}
	if (seen->opcode != 0x06 || lane->at != transfer->message.k ||
	    lane->data.next != ft_psn_add(seen->psn, 1))
		return;
	if (twin == &share->first)
		ft_nccl_share_begin(share, seen);
	share->last = ft_nccl_begun_by(seen);
	share->bytes += more;
	share->to = ft_nccl_write_end(followed, seen);
	share->ended = false;
	transfer->written += more;
	followed->model.payload_bytes += more;
	if (transfer->message.request_count == 1)
		ft_nccl_ring_requests(&followed->ring, transfer)->written += more;
	lane->open = lane->writing = true;
	lane->write_end = share->to;
	if (moment->connections->config.ends_only)
		ft_nccl_data_pass_middle(moment);
}

/* The rest of the twin is not shown but for its last packet: the sequence goes on with that. */
static void pass_middle_of_twin(struct ft_nccl_moment *moment)
{
	struct ft_nccl_psns *psns = &moment->lane->data;
	uint32_t end = ft_nccl_write_end(moment->followed, moment->seen);

	if (psns->next == ft_psn_add(moment->seen->psn, 1) && end != moment->seen->psn)
		psns->next = end;
}

/* A write goes on from the newest packet, which was none that goes on: of which message what follows is, is not known. */
static bool is_unexpected(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_lane *lane = moment->lane;
	const struct ft_nccl_seen *seen = moment->seen;

	return seen->opcode == 0x06 && !lane->writing &&
	       lane->data.next == ft_psn_add(seen->psn, 1) &&
	       ft_nccl_write_end(moment->followed, seen) != seen->psn;
}

void ft_nccl_data_again(struct ft_nccl_moment *moment)
{
	const struct ft_nccl_begun *twin = NULL;
	struct ft_nccl_transfer *begun = NULL;

	ft_nccl_successor_see(moment);
	if (moment->followed->retired)
		return;
	if (ft_nccl_passed_repeats(moment->followed, &moment->lane->data,
				   &moment->lane->data_before, moment->seen->psn))
		moment->followed->model.retransmitted_data++;
	if (ft_nccl_begins(moment->seen->opcode))
		begun = ft_nccl_fault_again(moment, &twin);
	if (begun != NULL) {
		follow_twin(moment, begun, twin);
	} else if (moment->connections->config.ends_only && is_twin(moment->lane, moment->seen)) {
		pass_middle_of_twin(moment);
	} else if (is_unexpected(moment)) {
		moment->followed->numbered = false;
		ft_nccl_order_distrust(moment->followed, moment->lane_index, moment->seen->frame);
	}
	ft_nccl_step(moment->followed, begun == NULL && is_twin(moment->lane, moment->seen));
}
