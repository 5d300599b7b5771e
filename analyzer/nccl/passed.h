#pragma once

#include "followed.h"

/*
 * Packets of before the first that a connection takes as its own, on one way of a lane: overtaken by that, or logged before it
 * was known where data begins. They are of no message, but what is missing among them, or was sent again, counts.
 */

/* Where a sequence begins in `log`, whose entries are taken from the offset `from` on, with this PSN. False: it has begun. */
bool ft_nccl_passed_begin(struct ft_nccl_followed *followed, const struct ft_nccl_end *end,
			  const struct ft_nccl_log *log, uint32_t from, uint32_t psn);

/* Once these entries were taken: one of before them, which is of behind the first of them, was seen all the same. */
void ft_nccl_passed_settle(struct ft_nccl_followed *followed, const struct ft_nccl_end *end,
			   const struct ft_nccl_logged *logged);

/* Likewise what the log has no more. */
void ft_nccl_passed_settle_cleared(struct ft_nccl_followed *followed, const struct ft_nccl_end *end,
				   const struct ft_nccl_log *log);

/* One that is not new to `psns`; `before` has those of before these. True: it had passed. */
bool ft_nccl_passed_repeats(struct ft_nccl_followed *followed, const struct ft_nccl_psns *psns,
			    struct ft_nccl_psns *before, uint32_t psn);

/* Packets that are missing from the first one on that passed; where the set-up was seen, from PSN 0 on. */
uint64_t ft_nccl_passed_missing(const struct ft_nccl_followed *followed);
