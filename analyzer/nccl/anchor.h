#pragma once

#include "followed.h"

/* Where in a log the connection's data begins, and the message that it begins with. */
struct ft_nccl_anchor {
	uint64_t frame; /* 0: nothing in it was asked for */
	uint64_t k;
	uint64_t spread; /* .. or one of so many before it */
	uint64_t step;   /* to the next one on the queue pair; 0: not known */
	bool at_start;   /* the write that tells goes to the start of what was asked for */
	bool missed;     /* before it packets are missing */
};

/*
 * The last message that asked for this write before it was made, since a buffer is not offered anew before it was filled;
 * NULL: none. Fills in all of *anchor but the frame.
 */
const struct ft_nccl_transfer *ft_nccl_asked_by(const struct ft_nccl_followed *followed,
						const struct ft_nccl_seen *seen,
						struct ft_nccl_anchor *anchor);

/*
 * Messages before the first one that is known, without a hole between, have the numbers before it, by the step that the
 * queue pair has from one to the next: until that is known, there is no anchor. `ends_only`: as in struct ft_nccl_config.
 */
struct ft_nccl_anchor ft_nccl_anchor_in(const struct ft_nccl_followed *followed,
					const struct ft_nccl_log *log, bool ends_only);

/* The log begins with the first packet of all, which fits the first message: in whichever order the two passed. */
bool ft_nccl_is_anchored_at_first(const struct ft_nccl_followed *followed,
				  const struct ft_nccl_log *log, struct ft_nccl_anchor *anchor);

/* The first write in the log that was seen to begin: data of a connection that is known by lengths alone. */
struct ft_nccl_anchor ft_nccl_anchor_at_write(const struct ft_nccl_log *log);
