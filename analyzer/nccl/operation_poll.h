#pragma once

#include "operation_ring.h"

/*
 * How many ranks the rings of a communicator have, which see the same operations: each number that some operation shows is
 * held against all that passed on all channels.
 */
enum { FT_NCCL_VOTES = 8 };

struct ft_nccl_poll {
	struct ft_nccl_vote {
		uint32_t ranks;       /* 0: none */
		uint64_t explained;   /* messages of operations that have loops of so many ranks */
		uint64_t unexplained; /* of others that begin and end in view, and were seen */
	} votes[FT_NCCL_VOTES];
};

/*
 * Asks the operations of one ring how many ranks there are. False: it is none, and nothing is asked. Where ranks do not follow
 * each other as in NCCL's rings, or hosts have several, connections may be of different rings whose ports follow each other in
 * a ring, too: then messages do not wait for each other in most operations that could be loops. Nor is one whose ranks do not
 * follow each other if no operation shows it, where more than a little passed, or they may be several ranks of fewer hosts.
 */
bool ft_nccl_poll_ask(struct ft_nccl_poll *poll, const struct ft_nccl_circle *ring);

/* Holds a ring's operations against the numbers that were told, once all rings were asked. */
void ft_nccl_poll_weigh(struct ft_nccl_poll *poll, struct ft_nccl_circle *ring);

/*
 * As of loop_ranks, for this ring. A number has to explain more than any other does, and a quarter of what could be: who takes
 * part in a ring may be taken for who takes part in another one, whose messages do not always contradict that. Rings of several
 * communicators of the same processes may be here: one that another number explains for the most part has that. *silent: no
 * operation of this ring shows it.
 */
uint32_t ft_nccl_poll_ranks(const struct ft_nccl_poll *poll, struct ft_nccl_circle *ring,
			    bool *silent);
