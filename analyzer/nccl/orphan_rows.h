#pragma once

#include "followed.h"

/*
 * Orphans with PSNs next to each other are a row. A lane remembers the FT_NCCL_ORPHAN_ROWS newest ones until it is known which
 * message they are of.
 */

/* One more: it goes on with a row, behind it or in front, or begins one. `is_end`: it has its message's immediate. */
void ft_nccl_orphan_rows_add(struct ft_nccl_lane *lane, const struct ft_nccl_seen *seen,
			     bool is_end);

/* One that is remembered has its message's immediate: the row that it was the last of ends with it. */
void ft_nccl_orphan_rows_end(struct ft_nccl_lane *lane, const struct ft_nccl_seen *seen);

/*
 * What is known of a message by now reaches over orphans: they are its own, and with an immediate among them it has ended on the
 * lane.
 */
void ft_nccl_orphan_rows_gather(const struct ft_nccl_moment *moment,
				struct ft_nccl_transfer *transfer);
