#include "run.h"

#include <string.h>

static struct ft_nccl_run *run_of(struct ft_nccl_connections *connections,
				  const struct ft_nccl_seen *seen)
{
	uint32_t host;

	memcpy(&host, seen->ends.dst + 12, sizeof host);
	return &connections->runs[(seen->dest_qp ^ host >> 24 ^ host >> 16) & (FT_NCCL_RUNS - 1)];
}

static bool is_same(const struct ft_nccl_run *run, const struct ft_nccl_connections *connections,
		    const struct ft_nccl_seen *seen)
{
	return run->qpn == seen->dest_qp && run->changes == connections->ends.changes &&
	       memcmp(&run->ends, &seen->ends, sizeof run->ends) == 0;
}

bool ft_nccl_run_on(struct ft_nccl_connections *connections, const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_run *run = run_of(connections, seen);
	const struct ft_nccl_ring *ring;
	struct ft_nccl_transfer *transfer;
	struct ft_nccl_lane *lane;

	if (seen->opcode != 0x07 || !is_same(run, connections, seen))
		return false;
	lane = &run->followed->lanes[run->lane];
	if (!lane->writing || lane->has_odd || lane->alien || seen->psn != lane->data.next ||
	    seen->psn == lane->write_end)
		return false;
	ring = &run->followed->ring;
	transfer = &ring->transfers[lane->at & (ring->slots - 1)];
	if (!transfer->used || transfer->message.k != lane->at)
		return false;
	lane->data.next = ft_psn_add(seen->psn, 1);
	ring->shares[(size_t)(transfer - ring->transfers) * ring->share_room + run->lane].packets++;
	transfer->message.packets++;
	ft_nccl_message_reach(&transfer->message, seen->frame, seen->ts_ns);
	return true;
}

void ft_nccl_run_note(struct ft_nccl_connections *connections, const struct ft_nccl_seen *seen,
		      uint32_t connection, uint8_t lane)
{
	*run_of(connections, seen) = (struct ft_nccl_run){
		.ends = seen->ends,
		.qpn = seen->dest_qp,
		.changes = connections->ends.changes,
		.followed = connections->all[connection],
		.lane = lane,
	};
}
