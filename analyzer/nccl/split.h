#pragma once

#include "followed.h"

/* Which queue pairs a message uses: all of them, or as many as there are devices, in turn. */

/* Whether lanes take messages in a known order: one set, or the rule is known. */
bool ft_nccl_split_is_known(const struct ft_nccl_followed *followed);

/* Clear-to-sends take turns with devices that were not met: whose queue pairs have which messages is not known. */
bool ft_nccl_has_unmet_devices(const struct ft_nccl_followed *followed);

/* From one message on a lane to the next; 0: not known. */
uint32_t ft_nccl_split_step(const struct ft_nccl_followed *followed);

/* Whether message k can have data on the lane. */
bool ft_nccl_split_uses(const struct ft_nccl_followed *followed, uint8_t lane, uint64_t k);

/* From message k on, the first that the lane is used for. */
uint64_t ft_nccl_split_first(const struct ft_nccl_followed *followed, uint8_t lane, uint64_t k);

/* All of a message of one request has come, as its immediate says. */
bool ft_nccl_split_came_whole(const struct ft_nccl_followed *followed,
			      const struct ft_nccl_transfer *transfer);

/*
 * The message came whole on other lanes, and this write is not what a queue pair gets that nothing was left for: nothing
 * of the message is to be expected on this lane.
 */
bool ft_nccl_split_is_done(const struct ft_nccl_followed *followed,
			   const struct ft_nccl_transfer *transfer, uint8_t lane,
			   const struct ft_nccl_seen *seen);

/* Without a set-up: a message that ends, and is longer than what its only queue pair had, is shared with others. */
void ft_nccl_split_weigh(struct ft_nccl_followed *followed,
			 const struct ft_nccl_transfer *transfer);

/* Likewise a message of several requests, by the sizes that it ends with. */
void ft_nccl_split_weigh_sizes(struct ft_nccl_followed *followed,
			       const struct ft_nccl_transfer *transfer);

/* Without a set-up: what the first queue pair had of a message tells how many share it, at most. */
void ft_nccl_split_count(struct ft_nccl_followed *followed,
			 const struct ft_nccl_transfer *transfer);

/* Without a set-up: messages are shared, maybe by more queue pairs than those known. */
bool ft_nccl_split_may_have_more(const struct ft_nccl_followed *followed);

/* Message `transfer` has data on the lane now, which begins with `seen`; `exact`: it is the next that is there. */
void ft_nccl_split_learn(struct ft_nccl_followed *followed, const struct ft_nccl_transfer *transfer,
			 uint8_t lane, const struct ft_nccl_seen *seen, bool exact);

/*
 * A write on a lane that metadata may have named by accident: false as long as it neither has the first PSN of all nor fits
 * what was asked for. Else the connection has this lane, and those before it.
 */
bool ft_nccl_split_admits(struct ft_nccl_moment *moment);
