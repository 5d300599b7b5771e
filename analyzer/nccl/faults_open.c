#include "faults_parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "turns.h"

/*
 * Data before its clear-to-send, while ways of taking turns are left that disagree about which message it is of. By each way the
 * clear-to-send of another message tells. If none that is left asked for it, its queue pair was sent more than is its own.
 */

void ft_nccl_fault_open(struct ft_nccl_moment *moment)
{
	const struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_lane *lane = moment->lane;

	if (followed->unsure || lane->turns == 0)
		return;
	lane->early_open = true;
	lane->calm = ft_nccl_is_calm(followed);
	lane->early_step = followed->steps;
	lane->early = *moment->seen;
	lane->early_turn = lane->turns - 1;
	lane->early_wrong = ft_nccl_turns_elsewhere(followed, moment->lane_index, NULL);
	ft_nccl_hold(moment->connections, moment->seen->frame);
}

/* What the queue pair has next is not known any more: it was sent more than is its own. */
static void tell(struct ft_nccl_connections *connections, const struct ft_nccl_followed *followed,
		 struct ft_nccl_lane *lane)
{
	struct ft_nccl_found found =
		ft_nccl_found_in(followed, &lane->early, FT_NCCL_WRITE_UNASKED, 0.9);

	lane->counted = false;
	lane->exact = false;
	lane->slack = FT_NCCL_SLACK_MOST;
	if (!ft_nccl_was_calm(followed, lane) || followed->overtaken ||
	    ft_nccl_is_nowhere(followed, lane->early.frame))
		return;
	snprintf(found.text, sizeof found.text,
		 "writes %" PRIu32 " bytes to 0x%" PRIx64
		 " before the clear-to-send of the next message on its queue pair, which asked "
		 "for none there",
		 lane->early.length, lane->early.va);
	ft_nccl_tell_of_known(connections, &found);
}

/* No way is left by which what asked for it, or may do so yet, is not elsewhere. */
static bool is_wrong(const struct ft_nccl_followed *followed, const struct ft_nccl_lane *lane)
{
	return lane->early_open && (followed->ways & ~lane->early_wrong) == 0;
}

void ft_nccl_fault_in_way(struct ft_nccl_connections *connections,
			  struct ft_nccl_followed *followed, uint8_t lane)
{
	struct ft_nccl_lane *at = &followed->lanes[lane];

	if (is_wrong(followed, at))
		tell(connections, followed, at);
	at->early_open = false;
}

void ft_nccl_fault_open_resolve(struct ft_nccl_moment *moment, uint8_t lane,
				const struct ft_nccl_transfer *transfer, uint64_t told)
{
	struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_lane *at = &followed->lanes[lane];

	if (!at->early_open)
		return;
	at->early_open = moment->turn == FT_NCCL_NEXT && !followed->partial;
	at->early_wrong |= ft_nccl_turns_elsewhere(followed, lane, transfer);
	if (!is_wrong(followed, at) && at->early.frame != told)
		return;
	tell(moment->connections, followed, at);
	at->early_open = false;
}
