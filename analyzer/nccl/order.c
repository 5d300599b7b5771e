#include "order.h"

#include "anchor.h"
#include "faults.h"
#include "split.h"

void ft_nccl_order_acknowledge(const struct ft_nccl_moment *moment, bool is_data)
{
	struct ft_nccl_lane *lane = moment->lane;

	if (is_data)
		ft_nccl_acknowledge(&lane->cts_acked, &lane->cts, moment->seen->psn);
	else
		ft_nccl_acknowledge(&lane->data_acked, &lane->data, moment->seen->psn);
	if (!is_data && moment->followed->blind)
		ft_nccl_anchor_at_msn(moment);
	if (moment->connections->waiting_count != 0 && ft_nccl_has_numbers(moment->followed))
		ft_nccl_fault_release(moment->connections, moment->followed);
}

void ft_nccl_order_see(const struct ft_nccl_moment *moment, const struct ft_nccl_acked *acked)
{
	if (!moment->connections->is_replaying &&
	    ft_nccl_is_acknowledged(acked, moment->seen->psn, moment->turn))
		moment->followed->overtaken = true;
}

bool ft_nccl_order_refutes(const struct ft_nccl_moment *moment, uint64_t k)
{
	const struct ft_nccl_lane *lane = moment->lane;
	uint32_t step = ft_nccl_split_step(moment->followed);
	const struct ft_nccl_transfer *before;

	if (lane->slack == 0 || lane->begun_frame == 0 || moment->turn != FT_NCCL_NEXT ||
	    step == 0 || k < step)
		return false;
	before = ft_nccl_ring_find(&moment->followed->ring, k - step);
	return before != NULL && before->has_cts && before->message.cts_frame > lane->begun_frame;
}
