#pragma once

#include "asked.h"

/* Which message a write to the receiver is of. */

enum ft_nccl_answer_kind {
	FT_NCCL_ANSWER_DATA,
	FT_NCCL_ANSWER_END, /* a zero-length write whose immediate says that the message is there */
	FT_NCCL_ANSWER_SIZES,   /* into the receiver's array of sizes, with the immediate */
	FT_NCCL_ANSWER_RESUMED, /* the transport goes on in the middle of a write, as if it began */
	FT_NCCL_ANSWER_MORE, /* of one that nobody was seen to ask for: it has several requests */
	FT_NCCL_ANSWER_NONE, /* nobody asked for it */
};

struct ft_nccl_answer {
	enum ft_nccl_answer_kind kind;
	uint64_t k;
	bool sure;          /* of k */
	bool begins;        /* another message than the one under way on the queue pair */
	bool searched;      /* by where it goes alone */
	bool doubtful;      /* another message fits, too: */
	uint64_t low, high; /* the first and the last one that do */
	bool alone;         /* it is not long over, and nothing asked for since goes there */
	bool undecided;     /* ways of taking turns are left that disagree about k */
	bool odd; /* it fits none of those asked for, and no clear-to-send is known to be missing */
	uint8_t request; /* DATA: which of the message's requests */
};

struct ft_nccl_answer ft_nccl_answer_of(struct ft_nccl_moment *moment);
