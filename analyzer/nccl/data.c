#include "followed.h"

#include <decode/packet.h>

#include "dispute.h"
#include "failover.h"
#include "family.h"
#include "faults.h"
#include "leap.h"
#include "misplaced.h"
#include "msn.h"
#include "order.h"
#include "orphan_rows.h"
#include "orphans.h"
#include "sizes.h"
#include "split.h"
#include "successor.h"
#include "turns.h"
#include "under_way.h"
#include "written.h"

static void reject(struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;

	ft_nccl_fault_write(moment);
	ft_nccl_successor_see(moment);
	if (moment->followed->retired)
		return;
	if (lane->writing) { /* what goes on from here is the write that it came between */
		ft_nccl_step(moment->followed, false);
		return;
	}
	lane->exact = false;
	lane->begun_frame = 0;
	lane->alien_to = ft_nccl_write_end(moment->followed, moment->seen);
	lane->alien = lane->alien_to != moment->seen->psn;
}

/* What it says of the message that it is of. */
static void take_in(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
		    const struct ft_nccl_answer *answer)
{
	const struct ft_nccl_seen *seen = moment->seen;
	struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;

	share->to = ft_nccl_write_end(moment->followed, seen);
	share->searched = share->searched || answer->searched;
	if (answer->kind != FT_NCCL_ANSWER_RESUMED)
		share->last = ft_nccl_begun_by(seen);
	if (answer->kind == FT_NCCL_ANSWER_DATA && moment->followed->disputes != 0)
		ft_nccl_dispute_answer(moment, transfer);
	if (answer->kind == FT_NCCL_ANSWER_DATA)
		ft_nccl_data_write(moment, transfer, answer->request);
	else if (answer->kind == FT_NCCL_ANSWER_MORE)
		ft_nccl_data_write_more(moment, transfer);
	else if (answer->kind == FT_NCCL_ANSWER_SIZES)
		ft_nccl_sizes_take(moment, transfer);
	else if (answer->kind == FT_NCCL_ANSWER_END)
		transfer->bare = true;
	if (ft_nccl_is_bare_end(seen))
		ft_nccl_note(moment->connections, moment->followed, moment->lane_index, FT_NCCL_N3);
	moment->lane->writing = seen->opcode == 0x06;
	moment->lane->write_end = share->to;
}

/* It may be of another message: the lane is at one of several. */
static void doubt(struct ft_nccl_lane *lane, struct ft_nccl_transfer *transfer,
		  const struct ft_nccl_answer *answer)
{
	transfer->adrift = true;
	lane->exact = false;
	lane->next = answer->low + 1;
	lane->slack = 0;
	ft_nccl_loosen(lane, answer->high - answer->low);
}

/* More is asked for by now than waits at a time, though the order is not known: it may be what is asked for next instead. */
static bool is_long_asked(const struct ft_nccl_followed *followed, uint64_t k)
{
	return !followed->numbered && followed->overtaken && followed->has_newest &&
	       followed->newest >= k + FT_NCCL_ASKED_AHEAD;
}

/* What begins is of this message. */
static void go_on_with(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
		       const struct ft_nccl_answer *answer)
{
	ft_nccl_enter(moment, transfer, answer);
	transfer->undecided = transfer->undecided || answer->undecided;
	if (answer->doubtful)
		doubt(moment->lane, transfer, answer);
	if (answer->kind == FT_NCCL_ANSWER_DATA && !answer->alone &&
	    ft_nccl_order_contradicts(moment, answer->k))
		ft_nccl_order_distrust(moment->followed, moment->lane_index, 0);
	if (answer->kind == FT_NCCL_ANSWER_DATA && is_long_asked(moment->followed, answer->k))
		transfer->adrift = true;
	take_in(moment, transfer, answer);
	if (answer->kind == FT_NCCL_ANSWER_DATA && !transfer->has_cts &&
	    (transfer->message.has_k || transfer->undecided))
		ft_nccl_fault_early(moment, transfer);
	ft_nccl_data_count(moment, transfer);
	if (moment->lane->orphan_row_count != 0 && !ft_nccl_is_doubted(transfer))
		ft_nccl_orphan_rows_gather(moment, transfer);
	if (ft_nccl_has_immediate(moment->seen->opcode))
		ft_nccl_data_end(moment, transfer);
}

/* It is of a message that is not remembered: the next one on the lane is the one behind that. */
static void pass_over(struct ft_nccl_moment *moment, const struct ft_nccl_answer *answer)
{
	struct ft_nccl_lane *lane = moment->lane;

	lane->counted = false;
	if (answer->begins && answer->sure) {
		lane->at = answer->k;
		lane->next = answer->k + 1;
		lane->carried = true;
		lane->orphans = 0;
		lane->open = true;
		lane->writing = moment->seen->opcode == 0x06;
		lane->write_end = ft_nccl_write_end(moment->followed, moment->seen);
	}
	if (ft_nccl_has_immediate(moment->seen->opcode))
		lane->open = false;
}

/*
 * It goes on where a message is under way that did not ask for it, as what the queue pair has by another way of taking turns might.
 */
static bool is_more_of_another(const struct ft_nccl_moment *moment,
			       const struct ft_nccl_answer *answer)
{
	const struct ft_nccl_transfer *open =
		ft_nccl_ring_find(&moment->followed->ring, moment->lane->at);

	return answer->kind == FT_NCCL_ANSWER_MORE && ft_nccl_turns_count(moment) && open != NULL &&
	       open->has_cts;
}

/* Nobody was seen to ask for it. */
static bool may_go_nowhere(const struct ft_nccl_moment *moment, const struct ft_nccl_answer *answer)
{
	if (moment->accepted)
		return false;
	return answer->kind == FT_NCCL_ANSWER_NONE || answer->odd ||
	       is_more_of_another(moment, answer) ||
	       (answer->kind == FT_NCCL_ANSWER_DATA && answer->k > moment->followed->newest);
}

/* It has overtaken the first packet of all, and the first clear-to-send: the next packet tells whether it is the connection's. */
static bool is_before_all(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_followed *followed = moment->followed;

	return (moment->turn == FT_NCCL_AHEAD || moment->turn == FT_NCCL_APART) &&
	       followed->model.is_set_up && followed->numbered && !followed->has_newest &&
	       !moment->lane->carried;
}

/*
 * A PSN of the write under way, though it does not go on with that as the transport does when it sends again: the packet that comes
 * in its place tells. With the next PSN, where it is known which message is under way, what the write asks for tells more if nobody
 * asked for that.
 */
static bool is_amid(const struct ft_nccl_moment *moment, const struct ft_nccl_answer *answer)
{
	const struct ft_nccl_lane *lane = moment->lane;
	const bool is_fit = answer->kind != FT_NCCL_ANSWER_NONE && !answer->odd;
	const bool is_hidden = moment->turn == FT_NCCL_AHEAD ||
			       (moment->turn == FT_NCCL_NEXT &&
				(is_fit || ft_nccl_has_guessed_lanes(moment->followed)));

	return !moment->accepted && is_hidden && lane->writing &&
	       !(answer->kind == FT_NCCL_ANSWER_RESUMED && ft_nccl_may_resume(moment)) &&
	       ft_psn_distance(lane->write_end, moment->seen->psn) >= 0;
}

/* What comes behind it may tell that it is none of the connection's. */
static bool may_wait(const struct ft_nccl_moment *moment, const struct ft_nccl_answer *answer)
{
	return !moment->accepted && ((answer->odd && !answer->sure) ||
				     ft_nccl_is_far_ahead(moment) || is_before_all(moment));
}

/* The first of those that it may be is behind the last one of its queue pair, as that was behind the one before: it has each. */
static bool is_in_row(const struct ft_nccl_moment *moment, const struct ft_nccl_answer *answer)
{
	return moment->followed->lane_count == 1 && moment->followed->in_a_row != 0 &&
	       answer->k == answer->low && answer->k == moment->lane->at + 1;
}

/* It is none of the connection's, or what comes behind it tells yet. */
static bool is_held_off(struct ft_nccl_moment *moment, const struct ft_nccl_answer *answer,
			bool ends_orphans)
{
	if (is_amid(moment, answer)) {
		ft_nccl_hold_until_next(moment);
		return true;
	}
	if (may_go_nowhere(moment, answer)) {
		if (ft_nccl_successor_goes_on(moment)) {
			ft_nccl_successor_see(moment);
			return true;
		}
		ft_nccl_fault_nowhere(moment, answer->kind == FT_NCCL_ANSWER_NONE);
	}
	if (answer->kind == FT_NCCL_ANSWER_NONE) {
		reject(moment);
		return true;
	}
	if (answer->kind == FT_NCCL_ANSWER_END && !ends_orphans && ft_nccl_fault_end(moment))
		return true;
	if (answer->begins && moment->lane->open && ft_nccl_fault_unended(moment, answer->k))
		return true;
	if (answer->kind == FT_NCCL_ANSWER_SIZES && ft_nccl_fault_sizes(moment, answer->k))
		return true;
	return may_wait(moment, answer) && ft_nccl_hold_back(moment);
}

/* It is of the message that the answer says, which may not be remembered. */
static void join(struct ft_nccl_moment *moment, const struct ft_nccl_answer *answer,
		 bool ends_orphans)
{
	struct ft_nccl_transfer *transfer = ft_nccl_transfer_for(moment, answer);

	if (transfer == NULL) {
		pass_over(moment, answer);
		return;
	}
	if (ends_orphans)
		ft_nccl_orphans_adopt(moment, transfer, true);
	go_on_with(moment, transfer, answer);
}

/* A write begins. False: it is none of the connection's. */
static bool begin(struct ft_nccl_moment *moment)
{
	struct ft_nccl_answer answer;
	bool ends_orphans;

	ft_nccl_order_see(moment, &moment->lane->data_acked);
	ft_nccl_turns_carry(moment);
	ft_nccl_failover_see(moment);
	if (!moment->accepted && ft_nccl_fault_further(moment))
		return false;
	answer = ft_nccl_answer_of(moment);
	ends_orphans = answer.kind == FT_NCCL_ANSWER_END && moment->turn == FT_NCCL_NEXT &&
		       ft_nccl_orphans_are_next(moment, true);
	if (is_held_off(moment, &answer, ends_orphans))
		return false;
	if (answer.begins && !answer.undecided && (!answer.doubtful || is_in_row(moment, &answer)))
		ft_nccl_fault_passed(moment, answer.k);
	if (answer.odd)
		ft_nccl_loosen(moment->lane, FT_NCCL_SLACK_MOST);
	if (ends_orphans) {
		answer.k = moment->lane->next;
		answer.sure = true;
	} else if (ft_nccl_orphans_pass_end(moment, &answer)) {
		return true;
	}
	join(moment, &answer, ends_orphans);
	return true;
}

/* A packet behind the first of a write. */
static void go_on(struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;
	const struct ft_nccl_seen *seen = moment->seen;
	struct ft_nccl_transfer *transfer;

	if (lane->writing && ft_psn_distance(seen->psn, lane->write_end) > 0)
		lane->writing = false;
	if (!lane->writing) {
		ft_nccl_orphans_see(moment);
		if (ft_nccl_has_immediate(seen->opcode))
			ft_nccl_orphans_end(moment);
		return;
	}
	transfer = ft_nccl_ring_find(&moment->followed->ring, lane->at);
	if (ft_nccl_ends(seen->opcode))
		lane->writing = false;
	if (transfer == NULL) { /* it made room for another one */
		lane->open = lane->open && !ft_nccl_has_immediate(seen->opcode);
		return;
	}
	ft_nccl_data_count(moment, transfer);
	if (ft_nccl_has_immediate(seen->opcode))
		ft_nccl_data_end(moment, transfer);
}

void ft_nccl_data_pass_middle(struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;
	struct ft_nccl_transfer *transfer = ft_nccl_ring_find(&moment->followed->ring, lane->at);
	int32_t packets = ft_psn_distance(lane->write_end, lane->data.next);

	if (packets <= 0 || transfer == NULL)
		return;
	lane->data.next = lane->write_end;
	ft_nccl_ring_shares(&moment->followed->ring, transfer)[moment->lane_index].packets +=
		(uint32_t)packets;
	transfer->message.packets += (uint32_t)packets;
}

/* What was missed is of the write under way, which goes on so far from its end; -1: the next one begins, in its place. */
static bool is_rest_missing(const struct ft_nccl_moment *moment, int32_t left)
{
	return moment->turn == FT_NCCL_AHEAD && moment->lane->writing &&
	       ft_psn_distance(moment->lane->write_end, moment->seen->psn) >= left;
}

/*
 * It is known whether the message under way ends with the write that is: by what asked for it, or as those of families A and B
 * have one request.
 */
static bool is_end_known(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_transfer *open = ft_nccl_ring_find(&followed->ring, moment->lane->at);

	return ft_nccl_family_asks_once(followed) || (open != NULL && open->has_cts);
}

/* Each packet that was missed may have been a message. */
static void note_hole(struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;
	uint32_t packets = ft_psn_since(moment->seen->psn, lane->data.next);
	uint32_t step = ft_nccl_split_step(moment->followed);

	lane->counted = false;
	lane->begun_frame = 0;
	ft_nccl_loosen(lane, moment->turn == FT_NCCL_AHEAD && step != 0 ? (uint64_t)packets * step
									: FT_NCCL_SLACK_MOST);
}

/* What was left out is in the hole that begins with this PSN: it was then, too, or was a single one, which is. */
static bool is_left_out_of(const struct ft_nccl_lane *lane, uint32_t from)
{
	return lane->left_out != 0 &&
	       (lane->left_out_at == from ||
		(lane->left_out == 1 && ft_psn_distance(lane->left_out_to, from) >= 0));
}

/* The sequence goes on behind it; what was left out in front of it is not missing. */
static void take_psn(struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;
	const uint32_t expected = lane->data.next;
	const int32_t fewer = ft_nccl_psns_take(&lane->data, moment->seen->psn, moment->turn);

	moment->followed->lacking -= (uint64_t)(int64_t)fewer;
	if (fewer >= 0 || !is_left_out_of(lane, expected) ||
	    ft_psn_distance(moment->seen->psn, lane->left_out_to) <= 0)
		return;
	moment->followed->left_out += lane->left_out;
	lane->left_out = 0;
}

/* What comes behind the packet, if that is not shown. */
static void pass(struct ft_nccl_moment *moment)
{
	if (moment->connections->config.ends_only && moment->seen->opcode == 0x06 &&
	    moment->lane->writing)
		ft_nccl_data_pass_middle(moment);
}

/* A packet from behind the first of a write, where none goes on: what comes in its place tells. */
static bool is_astray(const struct ft_nccl_moment *moment)
{
	return moment->turn == FT_NCCL_NEXT && !moment->accepted &&
	       !ft_nccl_begins(moment->seen->opcode) && ft_nccl_is_misplaced(moment, moment->seen);
}

void ft_nccl_data_take(struct ft_nccl_moment *moment)
{
	const struct ft_nccl_seen *seen = moment->seen;
	bool is_hole, is_in_turn;

	moment->turn = ft_nccl_psns_judge(&moment->lane->data, seen->psn);
	moment->is_behind = moment->turn == FT_NCCL_NEXT || is_rest_missing(moment, 0) ||
			    (is_rest_missing(moment, -1) && is_end_known(moment));
	is_in_turn = moment->turn == FT_NCCL_NEXT || is_rest_missing(moment, 0);
	is_hole =
		!moment->is_behind && moment->turn != FT_NCCL_LATE && moment->turn != FT_NCCL_AGAIN;
	if (is_hole)
		note_hole(moment);
	if (moment->turn == FT_NCCL_AGAIN) {
		ft_nccl_data_again(moment);
		return;
	}
	if (is_astray(moment)) {
		ft_nccl_hold_until_next(moment);
		ft_nccl_leave_out(moment->lane, seen->psn);
		return;
	}
	if (moment->turn == FT_NCCL_LATE)
		ft_nccl_late_see(moment);
	else if (!ft_nccl_begins(seen->opcode))
		go_on(moment);
	else if (!begin(moment)) {
		ft_nccl_leave_out(moment->lane, seen->psn);
		return;
	} else {
		ft_nccl_leap_begin(moment);
	}
	if (is_hole)
		moment->followed->numbered = false;
	ft_nccl_step(moment->followed, is_in_turn);
	take_psn(moment);
	pass(moment);
	ft_nccl_msn_see(moment);
}
