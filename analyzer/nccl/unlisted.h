#pragma once

#include "followed.h"

/*
 * How many messages are not listed, as their first packet was missed. Orphans are of one more where they are certainly of none
 * that is listed. See tally.h.
 */

/* The lane's orphans under way are of no message that is listed: the one before on the lane is over. */
bool ft_nccl_unlisted_is_certain(const struct ft_nccl_followed *followed, uint8_t lane);

/* No more of the lane's orphans are to come: they are of one more message, if that is certain. */
void ft_nccl_unlisted_count(const struct ft_nccl_moment *moment);

/* The lane goes on with another message, though they lack their end; what is empty may be that. */
void ft_nccl_unlisted_leave(const struct ft_nccl_moment *moment,
			    const struct ft_nccl_transfer *transfer);

/* A row of orphans makes room for another one: it is not known any more which ones its message had. */
void ft_nccl_unlisted_forget(struct ft_nccl_lane *lane, const struct ft_nccl_orphan_row *row);

/* A row of orphans is of a message that is listed. */
void ft_nccl_unlisted_withdraw(struct ft_nccl_lane *lane, const struct ft_nccl_orphan_row *row);

/* A message is listed, as its first packet came late: it may be that of a row that made room. */
void ft_nccl_unlisted_begin(struct ft_nccl_lane *lane);

/* So many messages on the lane are not listed. */
uint64_t ft_nccl_unlisted_on(const struct ft_nccl_followed *followed, uint8_t lane);
