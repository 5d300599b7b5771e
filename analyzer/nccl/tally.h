#pragma once

#include "followed.h"

/*
 * How many messages there were. Data that has no number is listed by the queue pair that brought it, or as it was taken
 * together: parts of one message may be several rows. Those on one queue pair are of different messages, so that there
 * were as many as one queue pair had, at least. Of several requests each is a write that may look like another message's
 * behind a hole: then it is those with different numbers, or those with an immediate, of which a message has one. Such as
 * are not listed, as their first packet was missed, count where they are certainly others: unlisted.h.
 */

/* The message is listed under its number. */
bool ft_nccl_has_number(const struct ft_nccl_transfer *transfer);

/* A message is kept: it will not change any more. */
void ft_nccl_tally_keep(struct ft_nccl_followed *followed, const struct ft_nccl_transfer *transfer);

/* With those under way: fills in what the model tells. */
void ft_nccl_tally_tell(struct ft_nccl_followed *followed);

/* All queue pairs were met: there are several, or nothing that was seen leaves room for more. */
bool ft_nccl_tally_knows_qps(const struct ft_nccl_followed *followed);
