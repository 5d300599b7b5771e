#include "faults_parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "answer.h"
#include "asked.h"
#include "turns.h"
#include "written.h"

/* Data before its clear-to-send, or with none: what comes behind it tells. */

bool ft_nccl_saw_all_before(const struct ft_nccl_followed *followed, uint64_t k)
{
	for (uint64_t i = 1; i <= FT_NCCL_RING_LEAST / 2 && i <= k; i++) {
		const struct ft_nccl_transfer *transfer = ft_nccl_ring_find(&followed->ring, k - i);

		if (k - i < followed->oldest)
			return i > 1;
		if (transfer == NULL || !transfer->has_cts)
			return i > 1 && transfer == NULL;
	}
	return true;
}

/* What was asked for before the capture began may be on its way still, until the lane has begun with what was seen. */
static bool may_be_older(const struct ft_nccl_moment *moment)
{
	return !moment->followed->numbered && !moment->lane->placed;
}

/* One that came before waits yet. */
static bool has_kept(const struct ft_nccl_lane *lane)
{
	return lane->has_early || lane->early_open;
}

static void keep_early(const struct ft_nccl_moment *moment, uint64_t k)
{
	struct ft_nccl_lane *lane = moment->lane;

	lane->has_early = true;
	lane->early_waits = false;
	lane->calm = ft_nccl_is_calm(moment->followed);
	lane->early_step = moment->followed->steps;
	lane->early = *moment->seen;
	lane->early_k = k;
	lane->early_begins = lane->ended_to == moment->seen->psn;
	lane->early_known = ft_nccl_turns_agree(moment->followed, moment->lane_index);
	ft_nccl_hold(moment->connections, moment->seen->frame);
}

void ft_nccl_fault_early(struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_followed *followed = moment->followed;
	uint64_t k = transfer->message.k;

	if (followed->has_newest && followed->newest + 1 < k)
		k = followed->newest + 1;
	if (has_kept(moment->lane) || may_be_older(moment) || !ft_nccl_saw_all_before(followed, k))
		return;
	if (ft_nccl_turns_are_open(followed) && !ft_nccl_turns_agree(followed, moment->lane_index))
		ft_nccl_fault_open(moment);
	else
		keep_early(moment, transfer->message.k);
}

void ft_nccl_fault_odd(struct ft_nccl_moment *moment)
{
	const struct ft_nccl_followed *followed = moment->followed;

	if (has_kept(moment->lane) || may_be_older(moment) || !followed->has_newest ||
	    (followed->by_grid && !ft_nccl_can_read(followed)) ||
	    !ft_nccl_saw_all_before(followed, followed->newest + 1))
		return;
	keep_early(moment, followed->newest + 1);
}

/* Where the early write ends, or with its PSN, the queue pair begins this one. */
static bool is_next_to(struct ft_nccl_followed *followed, const struct ft_nccl_seen *early,
		       const struct ft_nccl_seen *seen)
{
	return seen->psn == early->psn ||
	       seen->psn == ft_psn_add(ft_nccl_write_end(followed, early), 1);
}

/* None of the messages that the queue pair may have had in between asked for the early write, nor did message k. */
static bool is_unasked_until(const struct ft_nccl_followed *followed,
			     const struct ft_nccl_lane *lane, uint64_t k)
{
	for (uint64_t at = lane->at < k ? lane->at + 1 : k; at <= k; at++) {
		const struct ft_nccl_transfer *transfer = ft_nccl_ring_find(&followed->ring, at);

		if (transfer == NULL || !transfer->has_cts ||
		    ft_nccl_may_begin(followed, transfer, &lane->early))
			return false;
	}
	return true;
}

/* An early write stands between the end of one message and the beginning of message k, and is of neither. */
static bool is_passed(const struct ft_nccl_moment *moment, uint64_t k)
{
	const struct ft_nccl_lane *lane = moment->lane;

	return (lane->has_early || lane->early_waits) && lane->early_begins && k <= lane->early_k &&
	       ft_nccl_was_calm(moment->followed, lane) &&
	       is_next_to(moment->followed, &lane->early, moment->seen) &&
	       is_unasked_until(moment->followed, lane, k);
}

void ft_nccl_fault_passed(struct ft_nccl_moment *moment, uint64_t k)
{
	struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_lane *lane = moment->lane;
	struct ft_nccl_moment held;

	if (!is_passed(moment, k))
		return;
	ft_nccl_drop_early(lane);
	followed->has_nowhere =
		followed->has_nowhere && !ft_nccl_is_nowhere(followed, lane->early.frame);
	held = *moment;
	held.seen = &lane->early;
	held.turn = FT_NCCL_NEXT;
	ft_nccl_fault_write(&held);
}

/* The message before it on the queue pair asked for it, but ended with what is not its end. */
static bool may_be_of_last(const struct ft_nccl_followed *followed, const struct ft_nccl_lane *lane)
{
	const struct ft_nccl_transfer *last =
		lane->early_k == 0 ? NULL : ft_nccl_ring_find(&followed->ring, lane->early_k - 1);
	uint8_t request;

	return last != NULL && ft_nccl_ends_oddly(followed, last) &&
	       ft_nccl_answers(followed, last, &lane->early, &request);
}

/* Unless it may be what another message lacked. False: it is not known yet that nobody else has some of the messages. */
static bool tell_unasked(struct ft_nccl_connections *connections,
			 const struct ft_nccl_followed *followed, const struct ft_nccl_lane *lane,
			 double certainty)
{
	struct ft_nccl_found found =
		ft_nccl_found_in(followed, &lane->early, FT_NCCL_WRITE_UNASKED, certainty);

	if (may_be_of_last(followed, lane))
		return true;
	if (!ft_nccl_is_alone(followed))
		return false;
	if (ft_nccl_fault_rest_before(connections, followed, (uint8_t)(lane - followed->lanes),
				      lane->early_k, &lane->early))
		return true;
	found.has_k = true;
	found.k = lane->early_k;
	snprintf(found.text, sizeof found.text,
		 "writes %" PRIu32 " bytes to 0x%" PRIx64 " although all %" PRIu64
		 " clear-to-sends before it had been answered",
		 lane->early.length, lane->early.va, lane->early_k);
	if (lane->early_known)
		ft_nccl_tell_of_known(connections, &found);
	else
		ft_nccl_tell_of_data(connections, &found);
	return true;
}

/* As if the message had never had data; of several queue pairs that had a part of it each is told. */
static void forget(struct ft_nccl_followed *followed, struct ft_nccl_transfer *transfer,
		   struct ft_nccl_lane *lane)
{
	if (transfer->message.first_frame == 0)
		return;
	if (transfer->used) {
		followed->model.messages--;
		followed->model.payload_bytes -= transfer->written + transfer->missed;
	}
	transfer->used = false;
	lane->open = lane->writing = false;
	lane->turns -= lane->turns != 0 ? 1 : 0;
	lane->next = lane->early_k;
	if (lane->data.next == ft_psn_add(lane->early.psn, 1))
		lane->data.next = lane->early.psn;
}

/* The message asked for it: of several requests the first, if the queue pair began with it and nothing was missed. */
static bool is_asked(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer,
		     const struct ft_nccl_lane *lane)
{
	uint8_t request;

	if (lane->early_begins && moment->turn == FT_NCCL_NEXT &&
	    ft_nccl_was_calm(moment->followed, lane))
		return ft_nccl_may_begin(moment->followed, transfer, &lane->early);
	return ft_nccl_answers(moment->followed, transfer, &lane->early, &request);
}

bool ft_nccl_fault_resolve(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_followed *followed = moment->followed;
	bool was_its_own = true;
	uint64_t told = ft_nccl_fault_nowhere_resolve(moment, transfer);
	const struct ft_nccl_share *shares = ft_nccl_ring_shares(&followed->ring, transfer);

	for (uint8_t i = 0; i < followed->lane_count; i++) {
		struct ft_nccl_lane *lane = &followed->lanes[i];

		ft_nccl_fault_open_resolve(moment, i, transfer, told);
		transfer->doubtful =
			transfer->doubtful || (told != 0 && shares[i].first.frame == told);
		if (!lane->has_early || lane->early_k != transfer->message.k)
			continue;
		lane->has_early = false;
		lane->early_waits = lane->early.frame != told;
		if (is_asked(moment, transfer, lane))
			continue;
		was_its_own = false;
		if (lane->early_waits && moment->turn == FT_NCCL_NEXT &&
		    ft_nccl_was_calm(followed, lane))
			lane->early_waits =
				!tell_unasked(moment->connections, followed, lane, 0.95);
		forget(followed, transfer, lane);
	}
	return was_its_own;
}

/* Clear-to-sends that nobody saw would have been acknowledged, as data was that another queue pair brought. */
static bool may_have_missed(const struct ft_nccl_followed *followed)
{
	bool missed = followed->lacking != 0 || followed->trouble != 0 || !followed->has_newest;

	for (uint8_t i = 0; i < followed->lane_count; i++) {
		const struct ft_nccl_lane *lane = &followed->lanes[i];

		if (lane->asked)
			missed = missed || !lane->cts_acked.known ||
				 lane->cts_acked.psn != ft_psn_back(lane->cts.next, 1);
		if (lane->carried)
			missed = missed || ft_nccl_is_acknowledged(&lane->data_acked,
								   lane->data.next, FT_NCCL_NEXT);
	}
	return missed;
}

/* All before its clear-to-send were seen: an outage that took one of them may have taken that, too. */
static bool is_overdue(const struct ft_nccl_followed *followed, const struct ft_nccl_lane *lane)
{
	return lane->has_early && !lane->told && lane->early_k <= followed->newest + 1 &&
	       ft_nccl_was_calm(followed, lane);
}

void ft_nccl_fault_settle(struct ft_nccl_connections *connections,
			  struct ft_nccl_followed *followed)
{
	uint64_t told;

	if (may_have_missed(followed) || followed->overtaken)
		return;
	told = ft_nccl_fault_nowhere_settle(connections, followed);
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		struct ft_nccl_lane *lane = &followed->lanes[i];

		if (!is_overdue(followed, lane) || lane->early.frame == told)
			continue;
		tell_unasked(connections, followed, lane, 0.7);
		lane->told = true;
	}
}
