#include "cut_writes.h"

#include "straight.h"

static bool is_cut(const struct ft_nccl_seen *seen)
{
	return ft_nccl_is_write(seen->opcode) &&
	       ((ft_nccl_begins(seen->opcode) && (seen->has & FT_HAS_RETH) == 0) ||
		(ft_nccl_has_immediate(seen->opcode) && (seen->has & FT_HAS_IMMDT) == 0));
}

bool ft_nccl_leave_out_cut(const struct ft_nccl_connections *connections,
			   const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_end *end;
	struct ft_nccl_followed *followed;

	if (!is_cut(seen))
		return false;
	end = ft_nccl_end_of(connections, seen);
	if (end == NULL || end->role != FT_NCCL_AT_RECEIVER)
		return true;
	followed = connections->all[end->connection];
	if (!followed->given_up && ft_nccl_is_from_peer(followed, end, seen)) {
		ft_nccl_straight_leave(followed);
		ft_nccl_leave_out(&followed->lanes[end->lane], seen->psn);
	}
	return true;
}
