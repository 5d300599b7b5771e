#pragma once

#include "answer.h"

/*
 * Packets of a write whose first packet was missed: counted until the message's immediate tells how long it is, and so
 * where it began.
 */

/* One more such packet. */
void ft_nccl_stray_see(struct ft_nccl_moment *moment);

/* Likewise, but others came before it that are of behind it. */
void ft_nccl_stray_see_late(const struct ft_nccl_moment *moment);

/*
 * What is known of a message by now reaches over such packets: they are its own, and with an immediate among them it has ended
 * on the lane.
 */
void ft_nccl_stray_gather(const struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer);

/* The immediate came, in the last packet or, `bare`, behind it: whether the packets are the lane's next message. */
bool ft_nccl_stray_is_next(const struct ft_nccl_moment *moment, bool bare);

/* They are of this message, which lacks data on the lane so far. `is_whole`: but for what is missing in between. */
void ft_nccl_stray_adopt(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
			 bool is_whole);

/* The immediate came in their last packet: their message ends, or it is not known which that is. */
void ft_nccl_stray_end(struct ft_nccl_moment *moment);

/* The lane goes on with another message, though they lack their end; what is empty may be that. */
void ft_nccl_stray_leave(const struct ft_nccl_moment *moment,
			 const struct ft_nccl_transfer *transfer);

/* One whose packets were such ones is listed after all, as its first packet came. */
void ft_nccl_stray_is_listed(struct ft_nccl_lane *lane);

/* So many messages on the lane are not listed as theirs were such ones. */
uint64_t ft_nccl_stray_unlisted(const struct ft_nccl_followed *followed, uint8_t lane);

/* An empty write ends them, but of which message they are is not known. False: it ends none. */
bool ft_nccl_stray_pass_end(struct ft_nccl_moment *moment, const struct ft_nccl_answer *answer);
