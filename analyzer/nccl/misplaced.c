#include "misplaced.h"

#include <inttypes.h>
#include <stdio.h>

#include "faults_parts.h"

/* Within the write under way, or its last packet, as far as its length tells where that is. */
static bool fits_write(const struct ft_nccl_lane *lane, const struct ft_nccl_seen *seen)
{
	if (ft_psn_distance(lane->write_end, seen->psn) < 0)
		return true; /* it is over, or the path MTU is not known */
	return !ft_nccl_begins(seen->opcode) &&
	       ft_nccl_ends(seen->opcode) == (seen->psn == lane->write_end);
}

bool ft_nccl_is_misplaced(const struct ft_nccl_moment *moment, const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_lane *lane = moment->lane;
	const bool is_known = lane->carried || moment->followed->model.is_set_up;

	if (lane->writing)
		return !fits_write(lane, seen);
	return !ft_nccl_begins(seen->opcode) && is_known && lane->orphans == 0 &&
	       lane->ended_to == seen->psn;
}

bool ft_nccl_may_resume(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;
	struct ft_nccl_transfer *open = ft_nccl_ring_find(ring, moment->lane->at);
	const struct ft_nccl_begun *begun;
	uint64_t ahead;

	if (open == NULL)
		return true;
	begun = &ft_nccl_ring_shares(ring, open)[moment->lane_index].last;
	ahead = (uint64_t)ft_psn_since(moment->seen->psn, begun->psn) * moment->followed->pmtu;
	return begun->va == 0 || ahead == 0 || ahead >= begun->length ||
	       moment->seen->va == begun->va + ahead;
}

void ft_nccl_fault_misplaced(struct ft_nccl_moment *moment, const struct ft_nccl_seen *seen)
{
	struct ft_nccl_found found =
		ft_nccl_found_in(moment->followed, moment->seen, FT_NCCL_CONTRADICTION, 0.9);

	if (!ft_nccl_is_calm(moment->followed) || ft_nccl_may_be_anothers(moment->followed) ||
	    ft_nccl_is_misplaced(moment, seen))
		return;
	snprintf(found.text, sizeof found.text,
		 "a packet from behind the first of a write has PSN %" PRIu32
		 ", where none goes on so; frame %" PRIu64 ", which has it too, fits",
		 moment->seen->psn, seen->frame);
	ft_nccl_tell_of_sender(moment->connections, &found);
}
