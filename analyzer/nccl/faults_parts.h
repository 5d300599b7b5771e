#pragma once

#include "faults.h"

/* A finding of a followed connection, to be completed and told; told unless what is asked for cannot be read. */
struct ft_nccl_found ft_nccl_found_in(const struct ft_nccl_followed *followed,
				      const struct ft_nccl_seen *seen, enum ft_nccl_fault fault,
				      double certainty);
void ft_nccl_tell(struct ft_nccl_connections *connections, const struct ft_nccl_found *found);

/* What is asked for can be read, of messages of several requests, too. */
bool ft_nccl_can_read(const struct ft_nccl_followed *followed);

/*
 * Likewise what depends on which message data is of: it waits until packets are known to pass in order, and is forgotten if
 * they do not. Without a set-up all does.
 */
void ft_nccl_tell_of_data(struct ft_nccl_connections *connections,
			  const struct ft_nccl_found *found);

/* Likewise of data of which it is known, however queue pairs take turns, which message it is of. */
void ft_nccl_tell_of_known(struct ft_nccl_connections *connections,
			   const struct ft_nccl_found *found);

/* Likewise what shows by who sends to one of its queue pairs, whichever message it is of and whoever else may be to answer. */
void ft_nccl_tell_of_sender(struct ft_nccl_connections *connections,
			    const struct ft_nccl_found *found);

/* faults_immediate.c: nobody else has data of its messages, as far as a set-up or what was said of them tells. */
bool ft_nccl_is_alone(const struct ft_nccl_followed *followed);

static inline void ft_nccl_found_set_k(struct ft_nccl_found *found, uint64_t k)
{
	found->has_k = true;
	found->k = k;
}

/* Whatever message it is of. */
void ft_nccl_tell_surely(struct ft_nccl_connections *connections,
			 const struct ft_nccl_found *found);

/*
 * Likewise of data, but once packets are known to pass in order, of its queue pair and of clear-to-sends; forgotten if they do
 * not.
 */
void ft_nccl_tell_in_order(struct ft_nccl_connections *connections,
			   const struct ft_nccl_found *found);

/* ACKs have shown that. */
static inline bool ft_nccl_is_in_order(const struct ft_nccl_followed *followed,
				       const struct ft_nccl_lane *lane)
{
	return lane->data_acked.ordered && followed->lanes[0].cts_acked.ordered &&
	       !followed->overtaken;
}

/* Without a set-up, what has a tag may be another job's in a VLAN of its own, with the same addresses and queue pairs. */
static inline bool ft_nccl_may_be_anothers(const struct ft_nccl_followed *followed)
{
	return !followed->model.has_tcp && followed->model.net_count != 0;
}

/* faults_early.c: the clear-to-sends before message k were all seen, as far as they are remembered and the capture reaches. */
bool ft_nccl_saw_all_before(const struct ft_nccl_followed *followed, uint64_t k);

/* faults_ends.c: likewise the packet that a write began with, and the one that was found: one of the two is forged. */
#define FT_NCCL_CERTAINTY_OF_BOTH 0.6
void ft_nccl_tell_either(struct ft_nccl_connections *connections, const struct ft_nccl_found *found,
			 const struct ft_nccl_begun *begun);

/*
 * faults_ends.c: a write may be what the message should have had on the queue pair before its end came: more than there was for one
 * of its requests, or the first for it; of a message that came whole, more than all of it.
 */
bool ft_nccl_may_be_rest(const struct ft_nccl_followed *followed,
			 const struct ft_nccl_transfer *transfer, uint8_t lane,
			 const struct ft_nccl_seen *seen);

/*
 * Then that end, or what went there, was forged, or this is: both are told, unless something else is told of the message. False: it
 * may not be.
 */
bool ft_nccl_fault_rest(struct ft_nccl_connections *connections,
			const struct ft_nccl_followed *followed,
			const struct ft_nccl_transfer *transfer, uint8_t lane,
			const struct ft_nccl_seen *seen);

/* Likewise of the message before k on the queue pair. */
bool ft_nccl_fault_rest_before(struct ft_nccl_connections *connections,
			       const struct ft_nccl_followed *followed, uint8_t lane, uint64_t k,
			       const struct ft_nccl_seen *seen);

/* faults_ends.c: what ended the message on the queue pair does not fit what there was of it. */
bool ft_nccl_ended_early(const struct ft_nccl_transfer *transfer,
			 const struct ft_nccl_share *share);

/* Of early data: all was in sequence before it and since. */
static inline bool ft_nccl_was_calm(const struct ft_nccl_followed *followed,
				    const struct ft_nccl_lane *lane)
{
	return lane->calm && followed->trouble <= lane->early_step;
}

/* faults_open.c: data before its clear-to-send, where it is not known which message's it is; one of each queue pair at a time. */
void ft_nccl_fault_open(struct ft_nccl_moment *moment);

/* faults_open.c: the clear-to-send of a message came, that it may be of; the write of frame `told` was told by then. */
void ft_nccl_fault_open_resolve(struct ft_nccl_moment *moment, uint8_t lane,
				const struct ft_nccl_transfer *transfer, uint64_t told);

/* faults_nowhere.c: the clear-to-send of a message came. The frame of the write that waited for it and is told; 0: none is. */
uint64_t ft_nccl_fault_nowhere_resolve(struct ft_nccl_moment *moment,
				       const struct ft_nccl_transfer *transfer);

/* Likewise at the end, where no clear-to-send can have been missed. */
uint64_t ft_nccl_fault_nowhere_settle(struct ft_nccl_connections *connections,
				      struct ft_nccl_followed *followed);

/* The write of this frame is the one that waits for a clear-to-send, or was told when none asked for it. */
static inline bool ft_nccl_is_nowhere(const struct ft_nccl_followed *followed, uint64_t frame)
{
	return followed->nowhere.frame == frame;
}

/* faults_nowhere.c: a write to where no clear-to-send asked for it, as far as can be told. */
bool ft_nccl_goes_nowhere(const struct ft_nccl_moment *moment);

/*
 * faults_nowhere.c: likewise under a PSN that passed, where it is a guess which message had it; told once the sequence goes on.
 * False: it is none, or may be what went there before.
 */
bool ft_nccl_fault_nowhere_again(const struct ft_nccl_moment *moment);

/* It is not in what the message asked for. */
void ft_nccl_tell_outside(struct ft_nccl_moment *moment, const struct ft_nccl_transfer *asked);

/* faults_further.c: nothing of what the queue pair had of the message under way was missed, and all that asked for it can be read. */
bool ft_nccl_is_whole(const struct ft_nccl_moment *moment);

/* faults_further.c: then that message; NULL: there is none, or it is not sure what belongs to it. */
const struct ft_nccl_transfer *ft_nccl_whole_under_way(const struct ft_nccl_moment *moment);
