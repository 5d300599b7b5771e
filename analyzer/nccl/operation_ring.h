#pragma once

#include "operation_list.h"

/*
 * Operations of a ring, one channel at a time. Every member sends to the next; what all of them send in an operation
 * tells which one it can be: an all-reduce has 2(N-1) chunks in every loop, all-gather and reduce-scatter N-1; broadcast
 * and reduce leave one member out. Only the last loop has chunks that are not full, and so shows how many there are.
 */
struct ft_nccl_circle {
	const struct ft_nccl_track **tracks; /* of the connections in the order of the ring */
	uint32_t ranks;                      /* so many, 2 at least */
	size_t *at;                          /* the next message of each; room for as many */
	/* an operation begins there; else one may have begun before, unseen */
	bool begun;
	bool of_hosts; /* which may have several ranks each */
	bool has_others; /* something passed between these on connections that are not its: a chain may be a part of that */
	/* only loops of so many ranks count; 0: of any number, or there are none; FT_NCCL_NONE: they disagree */
	uint32_t loop_ranks;
	uint32_t
		shown; /* ranks that the operations stepped over show; 0: none does; FT_NCCL_NONE: they disagree */
	/* loops that it could have, of one rank each or several, but for who waits for whom; NULL: nobody asks */
	struct ft_nccl_doubt {
		size_t of_one, of_several;
	} * doubt;
	/* not NULL: it is no ring; tracks are of its edges, up and down in turn, all of which have the same messages */
	const struct ft_nccl_tree *tree;
};

void ft_nccl_circle_operations(struct ft_nccl_operations *operations, struct ft_nccl_circle *ring);

/*
 * Asks all operations of a ring how many ranks there are, and sets loop_ranks; counts in *ring->doubt. False: it is none.
 * Where ranks do not follow each other as in NCCL's rings, or hosts have several, connections may be of different rings whose
 * ports follow each other in a ring, too: then messages do not wait for each other in most operations that could be loops.
 * Nor is one whose ranks do not follow each other if no operation shows it.
 */
bool ft_nccl_circle_ask(struct ft_nccl_circle *ring);

/* One operation, from `at` on, and step over it; false: there is none, or it does not end in the capture. */
bool ft_nccl_circle_step(struct ft_nccl_operations *operations, struct ft_nccl_circle *ring);

/* What is left: an operation that ends in the middle. */
void ft_nccl_circle_end(struct ft_nccl_operations *operations, const struct ft_nccl_circle *ring);

/* The next `length` messages of all members, all of which are there. */
struct ft_nccl_circle_part {
	const struct ft_nccl_circle *ring;
	size_t length;
	struct ft_nccl_stretch sum; /* of all members */
	bool undivided;             /* no operation can end inside */
};

/* Fills the row; false: together they are nothing that a ring does. */
bool ft_nccl_circle_recognize(const struct ft_nccl_circle_part *part,
			      struct ft_nccl_collective *row);

/* The same of a tree, if they are an all-reduce: each chunk goes up, and then down again. */
bool ft_nccl_circle_climbs(const struct ft_nccl_circle_part *part, struct ft_nccl_collective *row);

/* A broadcast or reduce, whichever: all members but one send the same on. Steps over it. */
bool ft_nccl_circle_chain(struct ft_nccl_circle *ring, struct ft_nccl_collective *row);
