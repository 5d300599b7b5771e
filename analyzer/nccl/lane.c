#include "lane.h"

#include <stddef.h>
#include <string.h>

/* Up to here all is touched: the rest, some 1.5 KB, only as far as it is used. */
#define ALWAYS offsetof(struct ft_nccl_lane, data)

static void clear(struct ft_nccl_lane *lane)
{
	memset(lane, 0, ALWAYS);
	ft_nccl_psns_clear(&lane->data);
	ft_nccl_psns_clear(&lane->cts);
	ft_nccl_psns_clear(&lane->data_before);
	ft_nccl_psns_clear(&lane->cts_before);
}

void ft_nccl_lane_begin(struct ft_nccl_lane *lane, bool is_zero)
{
	if (!is_zero)
		clear(lane);
	lane->exact = true;
}

void ft_nccl_lane_move(struct ft_nccl_lane *to, const struct ft_nccl_lane *from)
{
	memcpy(to, from, ALWAYS);
	ft_nccl_psns_copy(&to->data, &from->data);
	ft_nccl_psns_copy(&to->cts, &from->cts);
	ft_nccl_psns_copy(&to->data_before, &from->data_before);
	ft_nccl_psns_copy(&to->cts_before, &from->cts_before);
	memcpy(to->orphan_rows, from->orphan_rows,
	       from->orphan_row_count * sizeof from->orphan_rows[0]);
	if (from->has_odd)
		to->odd = from->odd;
	if (from->has_leapt) {
		to->leapt = from->leapt;
		to->leapt_first = from->leapt_first;
		to->leapt_from = from->leapt_from;
	}
	if (from->skipping)
		to->skipping_k = from->skipping_k;
	if (!from->has_early && !from->early_waits)
		return;
	to->early = from->early;
	to->early_step = from->early_step;
	to->early_k = from->early_k;
}
