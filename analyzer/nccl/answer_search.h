#pragma once

#include "answer.h"

/* Which of the messages that were asked for a write can be of. */

/* What one of them has to do with it. */
enum ft_nccl_fit {
	FT_NCCL_FIT,
	FT_NCCL_MAY_FIT, /* what it asks for was cut off */
	FT_NCCL_NO_CTS,  /* nobody was seen to ask for it */
	FT_NCCL_NOT_YET, /* asked for behind the write */
	FT_NCCL_NO_FIT,
	FT_NCCL_NOT_HERE, /* not on this lane, or done */
};

/* Of message k; `any_write`: wherever it goes. *request, if it fits: which of the message's requests. */
enum ft_nccl_fit ft_nccl_fit_of(const struct ft_nccl_moment *moment, uint64_t k, bool any_write,
				uint8_t *request);

/*
 * The message from the lane's next one on: where a hole came between, or the order in which lanes take turns is not known;
 * `exact`: no hole did.
 */
struct ft_nccl_answer ft_nccl_answer_search(const struct ft_nccl_moment *moment, bool any_write,
					    bool exact);
