#pragma once

#include "followed.h"

/*
 * Whether packets pass here in the order in which they were sent: taps on several ports may show one direction, or one
 * queue pair, later than another one.
 */

/* An ACK of data, or of clear-to-sends where data goes. */
void ft_nccl_order_acknowledge(const struct ft_nccl_moment *moment, bool is_data);

/*
 * A write begins, of which `acked` says how far they were acknowledged. One that was before it passed may have been answered,
 * and its buffer offered anew, by then.
 */
void ft_nccl_order_see(const struct ft_nccl_moment *moment, const struct ft_nccl_acked *acked);

/* It followed the one before without a hole, and that one had passed before it was asked for. */
bool ft_nccl_order_refutes(const struct ft_nccl_moment *moment, uint64_t k);

/*
 * Over several queue pairs, behind a hole: the receiver has message k whole, as what it asked for since shows, so that a
 * write is none of it.
 */
bool ft_nccl_order_contradicts(const struct ft_nccl_moment *moment, uint64_t k);

/* Which messages the queue pair carried from this frame on is in doubt, and which one is next. */
void ft_nccl_order_distrust(struct ft_nccl_followed *followed, uint8_t lane, uint64_t frame);

/* Messages were taken for counted, and were not: their numbers were guesses. */
void ft_nccl_order_miscounted(struct ft_nccl_followed *followed);

/* Likewise of what it carried while messages were not counted. */
void ft_nccl_order_forget(struct ft_nccl_followed *followed, uint8_t lane);

/*
 * Clear-to-sends were missed between that of message `before` and the one that passes: what came since, and was found by
 * where it goes, may be what they asked for.
 */
void ft_nccl_order_miss(const struct ft_nccl_moment *moment, uint64_t before);

/*
 * At the end: clear-to-sends that were acknowledged behind the last one that was seen were missed, too; what came since may be
 * what they asked for.
 */
void ft_nccl_order_end(struct ft_nccl_followed *followed);

/* The later one is no more than a second behind: longer than packets are under way, and hardly any job starts in less. */
bool ft_nccl_is_soon(uint64_t from_ns, uint64_t to_ns);

/* So long behind its last message that another job may have its queue pairs. */
bool ft_nccl_order_is_over(const struct ft_nccl_followed *followed, uint64_t ts_ns);

/* So soon behind a message that no other job has its queue pairs; false also where it is not known when packets came. */
bool ft_nccl_order_is_recent(const struct ft_nccl_followed *followed, uint64_t ts_ns);

/*
 * Its PSN is not the next one, and it comes so long behind the last message that it is neither late nor sent again: another job
 * may have the queue pairs, whose set-up and first packets were missed.
 */
bool ft_nccl_order_is_anothers(const struct ft_nccl_moment *moment);
