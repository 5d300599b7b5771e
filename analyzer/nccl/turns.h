#pragma once

#include "followed.h"

/*
 * In which way the queue pairs of a connection take turns, where its set-up was seen: each message uses all of them, or
 * sets of as many as there are devices take turns. Metadata does not tell, and that of old releases not even how many queue
 * pairs there are. The messages on a queue pair are counted from its first packet on, so each way says which message the
 * j-th one there is: ways are ruled out by where writes go, and by immediates that are lengths. Until one is left nothing
 * that was found depends on it.
 */

/* One bit each in `ways` of a connection; 0: they are not asked for. */
/* each message uses all queue pairs; bit n: n sets of them take turns */
#define FT_NCCL_WAY_ALL UINT64_C(1)
enum { FT_NCCL_WAY_SETS_MOST = 62 }; /* the top bit stays free, so that no shift goes beyond it */

/*
 * The set-up told of so many sets of queue pairs, or, where metadata is not sure, of as many at most. Of more than
 * FT_NCCL_WAY_SETS_MOST it is not sure either, and the ways are not asked for.
 */
void ft_nccl_turns_begin(struct ft_nccl_followed *followed, unsigned sets);

/* They are asked for, and more than one is left. */
bool ft_nccl_turns_are_open(const struct ft_nccl_followed *followed);

/* How many sets take turns; 0: each message uses all queue pairs. Only where one way is left. */
unsigned ft_nccl_turns_sets(const struct ft_nccl_followed *followed);

/* The messages of a lane are counted: the number of the next one, by each way, is known. */
bool ft_nccl_turns_count(const struct ft_nccl_moment *moment);

/* Whichever way is left, what the lane carries now is of message 0: it has no other one yet. */
bool ft_nccl_turns_agree(const struct ft_nccl_followed *followed, uint8_t lane);

/* Which of the ways left have, of a write that begins the lane's next message, it asked for; the others are ruled out. */
struct ft_nccl_turn_fit {
	bool fits;      /* by one way at least */
	bool undecided; /* ways that are left disagree */
	bool unasked;   /* no clear-to-send was seen of one of them */
	uint64_t k;     /* by the first way left */
};
struct ft_nccl_turn_fit ft_nccl_turns_fit(struct ft_nccl_moment *moment, bool any_write);

/*
 * Ways left by which the early write that is open is of a message that asked for data elsewhere: of any one that asked so far, or,
 * unless that is NULL, of `asked`.
 */
uint64_t ft_nccl_turns_elsewhere(const struct ft_nccl_followed *followed, uint8_t lane,
				 const struct ft_nccl_transfer *asked);

/* What a queue pair carried of a message of one request, against the length that its immediate says. */
void ft_nccl_turns_weigh(struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer);

/* The lane's message ends with a write to this slot of the array of sizes. */
void ft_nccl_turns_end_at(struct ft_nccl_moment *moment, uint32_t slot, uint32_t slots);

/* A queue pair of this set carries data. */
void ft_nccl_turns_carry(struct ft_nccl_moment *moment);
