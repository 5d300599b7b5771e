#pragma once

#include "answer.h"

/*
 * When a port fails, parts of messages go over other queue pairs than the rule says, and some are sent again. The lanes of such
 * a connection are `failing` from then on: what they carry has no number, and nothing is held against it, until both ends
 * are seen to go by the rule again.
 */

/* A probe or a handshake was seen: data may go other ways from here on. What is not complete may be another message's. */
void ft_nccl_failover_begin(struct ft_nccl_followed *followed);

/*
 * A write begins. If the set-up names queue pairs for a failing port, and it is a part of a message of late that the lane does
 * not have by the rule, this begins.
 */
void ft_nccl_failover_see(const struct ft_nccl_moment *moment);

/*
 * A lane has the end of a message: one with another message's number begins this. It ends where each lane last had its own part
 * of the same message, as numbers say.
 */
void ft_nccl_failover_end_at(const struct ft_nccl_moment *moment,
			     struct ft_nccl_transfer *transfer);

/* The answer of a lane that is failing: a message of no number. */
struct ft_nccl_answer ft_nccl_failover_answer(const struct ft_nccl_moment *moment);
