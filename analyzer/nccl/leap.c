#include "leap.h"

#include <inttypes.h>
#include <stdio.h>

#include <decode/packet.h>

#include "faults_parts.h"
#include "order.h"
#include "replay.h"
#include "written.h"

void ft_nccl_leap_begin(struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;
	const struct ft_nccl_seen *seen = moment->seen;

	lane->has_leapt = moment->turn == FT_NCCL_AHEAD && !moment->accepted &&
			  !moment->connections->is_replaying && lane->data.known &&
			  (seen->has & FT_HAS_RETH) != 0 && ft_nccl_is_calm(moment->followed) &&
			  ft_psn_distance(seen->psn, lane->data.next) <= FT_NCCL_OVERTAKE_MOST;
	if (!lane->has_leapt)
		return;
	lane->leapt = *seen;
	lane->leapt.captured = 0;
	lane->leapt_first = lane->leapt_from = lane->data.next;
}

/* As far as it was captured. */
static bool is_other(const struct ft_nccl_seen *seen, const struct ft_nccl_seen *leapt)
{
	return seen->opcode != leapt->opcode ||
	       ((seen->has & FT_HAS_RETH) != 0 &&
		(seen->va != leapt->va || seen->length != leapt->length));
}

static void tell(struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;
	const struct ft_nccl_seen *leapt = &lane->leapt;
	struct ft_nccl_found found =
		ft_nccl_found_in(moment->followed, leapt, FT_NCCL_WRITE_UNASKED, 0.85);

	lane->has_leapt = false;
	if (ft_nccl_may_be_anothers(moment->followed) ||
	    !ft_nccl_is_soon(leapt->ts_ns, moment->seen->ts_ns))
		return;
	snprintf(found.text, sizeof found.text,
		 "begins to write %" PRIu32 " bytes to 0x%" PRIx64 " %" PRId32
		 " PSNs ahead of the connection, where frame %" PRIu64
		 " has another packet when the sequence gets there",
		 leapt->length, leapt->va, ft_psn_distance(leapt->psn, lane->leapt_first),
		 moment->seen->frame);
	ft_nccl_tell_of_sender(moment->connections, &found);
	moment->followed->numbered = false;
	ft_nccl_order_distrust(moment->followed, moment->lane_index, leapt->frame);
}

/* What is between a write's first packet and its last is not shown. */
static uint32_t behind(struct ft_nccl_moment *moment)
{
	if (moment->connections->config.ends_only && moment->seen->opcode == 0x06 &&
	    moment->followed->pmtu != 0)
		return ft_nccl_write_end(moment->followed, moment->seen);
	return ft_psn_add(moment->seen->psn, 1);
}

void ft_nccl_leap_see(struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;
	const struct ft_nccl_seen *seen = moment->seen;

	if (!lane->has_leapt || moment->connections->is_replaying)
		return;
	if (seen->psn != lane->leapt_from) {
		lane->has_leapt = false;
		return;
	}
	if (seen->psn == lane->leapt.psn) {
		if (is_other(seen, &lane->leapt))
			tell(moment);
		lane->has_leapt = false;
	} else if (ft_nccl_write_goes_over(moment->followed, seen, &lane->leapt)) {
		tell(moment);
	}
	lane->leapt_from = behind(moment);
}
