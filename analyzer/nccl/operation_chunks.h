#pragma once

#include "operation_ring.h"

/* What a part of a ring's messages is made of, and who of its members waits for whom. */
struct ft_nccl_chunks {
	const struct ft_nccl_circle_part *part;
	uint32_t slices;     /* messages of a chunk */
	uint64_t full_bytes; /* of a full chunk; 0: not one of NCCL's own sizes */
	size_t tail;         /* chunks of the last loop; 0: all are full */
	size_t hops;         /* ranks from one connection to the next: those of a host */
};

/* With no tail yet, and one hop. The part has to stay. */
struct ft_nccl_chunks ft_nccl_chunks_of(const struct ft_nccl_circle_part *part);

/* NULL: not seen. `i`: below the length of the part. */
static inline const struct ft_nccl_message *ft_nccl_chunks_message(
	const struct ft_nccl_chunks *look, uint32_t member, size_t i)
{
	const struct ft_nccl_circle *ring = look->part->ring;

	return ring->tracks[member]->messages[ring->at[member] + i];
}

/* Some data of it was. */
static inline bool ft_nccl_chunks_have(const struct ft_nccl_chunks *look, uint32_t member, size_t i)
{
	const struct ft_nccl_message *message = ft_nccl_chunks_message(look, member, i);

	return message != NULL && message->first_frame != 0;
}

/* All members have as many chunks that are not full: the tail is set. */
bool ft_nccl_chunks_find_loops(struct ft_nccl_chunks *look);

/*
 * In the last `count` messages each member sends on, or adds to, what it was sent: a message follows the one `lag`
 * earlier of the member before. The first ones are its own. Most of them have to be seen.
 */
bool ft_nccl_chunks_follow(const struct ft_nccl_chunks *look, size_t count, size_t lag);

/* The chunks of the last loop do, by as many hops inside hosts as there are ranks; if not, the ring's doubt is counted. */
bool ft_nccl_chunks_tail_follows(const struct ft_nccl_chunks *look);

/* What is sent on is as long as what came, where both were seen: all but what each has of its own, in the last loop. */
bool ft_nccl_chunks_are_sent_on(const struct ft_nccl_chunks *look);

/* Of two ranks: a tree's way down is after its way up, a ring's members begin at once. */
bool ft_nccl_chunks_begin_at_once(const struct ft_nccl_chunks *look);

/* Of two members: each message comes after the same one of the other, always the same way round, as over a tree. */
bool ft_nccl_chunks_are_answered(const struct ft_nccl_chunks *look);
