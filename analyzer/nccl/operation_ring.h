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
	bool of_hosts;         /* which may have several ranks each */
	const bool *is_shared; /* by member: its connection is a tree's, too; NULL: none is */
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
	/* the only tree of two hosts, of which one rank each is known: a ring may be of the same connections */
	bool of_two;
};

void ft_nccl_circle_operations(struct ft_nccl_operations *operations, struct ft_nccl_circle *ring);

/* To the first message that all members have. Returns what is before: the end of an operation. */
struct ft_nccl_stretch ft_nccl_circle_begin(struct ft_nccl_circle *ring);

/* Nothing was under way where it is: all was asked for in the capture, or nothing is before. */
bool ft_nccl_circle_is_idle(const struct ft_nccl_circle *ring);

/* Steps over the next operation; of one with a name *row is filled, of another *sum. */
enum ft_nccl_step { FT_NCCL_NO_MORE, FT_NCCL_NAMED, FT_NCCL_OTHER };
enum ft_nccl_step ft_nccl_circle_take(struct ft_nccl_circle *ring, struct ft_nccl_collective *row,
				      struct ft_nccl_stretch *sum);

/* One operation, from `at` on, and step over it; false: there is none, or it does not end in the capture. */
bool ft_nccl_circle_step(struct ft_nccl_operations *operations, struct ft_nccl_circle *ring);

/* What is left: an operation that ends in the middle. */
void ft_nccl_circle_end(struct ft_nccl_operations *operations, const struct ft_nccl_circle *ring);

/* The next `length` messages of all members, all of which are there. */
struct ft_nccl_circle_part {
	const struct ft_nccl_circle *ring;
	size_t length;
	struct ft_nccl_stretch sum; /* of all members */
	struct ft_nccl_stretch
		any;     /* of the first one of whom all was seen; else of the last one */
	bool same_bytes; /* all of whom all was seen have as much as that */
	bool undivided;  /* no operation can end inside, as far as borders are known */
};

enum ft_nccl_ring_fit {
	FT_NCCL_RING_FITS_NOTHING, /* that a ring does */
	FT_NCCL_RING_MAY_FIT, /* too little of it was seen, or it could be something else as well */
	FT_NCCL_RING_FITS,    /* the row is filled */
};
enum ft_nccl_ring_fit ft_nccl_circle_recognize(const struct ft_nccl_circle_part *part,
					       struct ft_nccl_collective *row);

/* The same of a tree, if they are an all-reduce: each chunk goes up, and then down again. */
bool ft_nccl_circle_climbs(const struct ft_nccl_circle_part *part, struct ft_nccl_collective *row);

/* A broadcast or reduce, whichever: all members but one send the same on. Steps over it. */
bool ft_nccl_circle_chain(struct ft_nccl_circle *ring, struct ft_nccl_collective *row);
