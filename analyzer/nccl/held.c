#include "followed.h"

#include "anew.h"
#include "faults.h"
#include "leap.h"
#include "misplaced.h"
#include "order.h"
#include "replay.h"
#include "split.h"
#include "written.h"

bool ft_nccl_is_far_ahead(const struct ft_nccl_moment *moment)
{
	return moment->turn == FT_NCCL_AHEAD && ft_nccl_is_calm(moment->followed) &&
	       ft_psn_distance(moment->seen->psn, moment->lane->data.next) > FT_NCCL_OVERTAKE_MOST;
}

void ft_nccl_hold_until_next(struct ft_nccl_moment *moment)
{
	moment->lane->has_odd = true;
	moment->lane->odd = *moment->seen;
	ft_nccl_hold(moment->connections, moment->seen->frame);
}

bool ft_nccl_hold_back(struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;

	if (!lane->exact || (lane->open && moment->turn == FT_NCCL_NEXT))
		return false;
	if (moment->turn == FT_NCCL_NEXT)
		ft_nccl_fault_odd(moment);
	else
		ft_nccl_hold_until_next(moment);
	return true;
}

/* The write that was held back is farther ahead than packets overtake each other. */
static bool is_far(const struct ft_nccl_lane *lane)
{
	return ft_psn_distance(lane->odd.psn, lane->data.next) > FT_NCCL_OVERTAKE_MOST;
}

/* The write that was held back: it was right if the sequence went on behind it. */
static void decide(struct ft_nccl_moment *moment, bool is_right)
{
	struct ft_nccl_lane *lane = moment->lane;
	struct ft_nccl_moment held = *moment;
	struct ft_nccl_seen odd = lane->odd;

	lane->has_odd = false;
	held.seen = &odd;
	odd.captured = 0;
	if (is_right) {
		held.accepted = true;
		ft_nccl_data_take(&held);
	} else if (!ft_nccl_begins(odd.opcode)) {
		if (odd.psn == moment->seen->psn)
			ft_nccl_fault_misplaced(&held, moment->seen);
	} else if (odd.psn == moment->seen->psn && !ft_nccl_begins(moment->seen->opcode)) {
		ft_nccl_fault_amid(&held);
	} else if (is_far(lane)) {
		ft_nccl_fault_apart(&held);
	} else {
		ft_nccl_fault_odd(&held);
	}
}

/* The rest of a write that is none of the connection's. */
static bool is_alien(struct ft_nccl_lane *lane, const struct ft_nccl_seen *seen)
{
	if (!lane->alien || ft_nccl_begins(seen->opcode) ||
	    ft_psn_distance(seen->psn, lane->alien_to) > 0) {
		lane->alien = false;
		return false;
	}
	lane->alien = !ft_nccl_ends(seen->opcode);
	return true;
}

/* It may have overtaken those that come now: the sequence has not got to where it is. */
static bool is_held(const struct ft_nccl_lane *lane, const struct ft_nccl_seen *seen)
{
	int32_t ahead = ft_psn_distance(lane->odd.psn, lane->data.next);

	if (!ft_nccl_begins(lane->odd.opcode)) /* what is sent again tells nothing of it */
		return ft_psn_distance(seen->psn, lane->data.next) < 0;
	return ahead > 0 && ahead <= FT_NCCL_OVERTAKE_MOST &&
	       ft_psn_distance(seen->psn, lane->data.next) <= 0;
}

/* The next write of the sequence goes on where the one that was held back begins. */
static bool goes_over_held(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_lane *lane = moment->lane;

	return ft_nccl_begins(lane->odd.opcode) && moment->seen->psn == lane->data.next &&
	       ft_nccl_write_goes_over(moment->followed, moment->seen, &lane->odd);
}

/* .. which then is none of the connection's. */
static void tell_held(struct ft_nccl_moment *moment)
{
	struct ft_nccl_moment held = *moment;

	moment->lane->has_odd = false;
	held.seen = &moment->lane->odd;
	ft_nccl_fault_amid(&held);
}

void ft_nccl_data_see(struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;
	uint32_t next = lane->data.next;

	ft_nccl_anew_go_on(moment);
	ft_nccl_leap_see(moment);
	if (!ft_nccl_split_admits(moment) || is_alien(lane, moment->seen)) {
		ft_nccl_leave_out(lane, moment->seen->psn);
		return;
	}
	if (lane->has_odd && goes_over_held(moment))
		tell_held(moment);
	if (lane->has_odd && !is_held(lane, moment->seen))
		decide(moment, moment->seen->psn != lane->data.next);
	ft_nccl_data_take(moment);
	if (moment->turn == FT_NCCL_NEXT && lane->data.next != next)
		ft_nccl_anew_refute(moment, false);
}

void ft_nccl_data_settle(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed)
{
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		struct ft_nccl_moment moment = {
			.connections = connections,
			.followed = followed,
			.lane = &followed->lanes[i],
			.lane_index = i,
		};

		if (followed->lanes[i].has_odd)
			decide(&moment, true);
	}
	ft_nccl_order_end(followed);
}
