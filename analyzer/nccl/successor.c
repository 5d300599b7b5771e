#include "successor.h"

#include <decode/packet.h>

#include "faults.h"
#include "lock.h"
#include "order.h"

/* For data, or for sizes. */
static bool is_its_own(const struct ft_nccl_followed *followed, uint32_t rkey)
{
	const struct ft_nccl_target *sizes = &followed->model.sizes;

	for (uint8_t i = 0; i < sizes->rkey_count; i++)
		if (sizes->rkeys[i] == rkey)
			return true;
	return ft_nccl_is_announced(followed, rkey);
}

/* Memory of the connection is known, and this is none of it. */
static bool goes_elsewhere(const struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen)
{
	return (seen->has & FT_HAS_RETH) != 0 && seen->rkey != 0 && ft_nccl_is_read(followed) &&
	       followed->key_count != 0 && !is_its_own(followed, seen->rkey);
}

void ft_nccl_successor_see(const struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;
	const struct ft_nccl_seen *seen = moment->seen;

	if (ft_nccl_begins(seen->opcode))
		lane->succeeded = goes_elsewhere(moment->followed, seen);
	else if (seen->psn != lane->succeeded_to)
		lane->succeeded = false;
	if (!lane->succeeded)
		return;
	lane->succeeded_to = ft_psn_add(seen->psn, 1);
	ft_nccl_stranger_see(moment->connections, seen);
}

bool ft_nccl_successor_goes_on(const struct ft_nccl_moment *moment)
{
	return moment->lane->succeeded && moment->seen->psn == moment->lane->succeeded_to &&
	       goes_elsewhere(moment->followed, moment->seen);
}

void ft_nccl_successor_see_other(struct ft_nccl_connections *connections,
				 struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen)
{
	const bool begins = ft_nccl_is_write(seen->opcode) && (seen->has & FT_HAS_RETH) != 0;

	if (begins && ft_nccl_fault_stranger(connections, followed, seen, true))
		return;
	if (ft_nccl_order_is_over(followed, seen->ts_ns))
		ft_nccl_stranger_see(connections, seen);
}
