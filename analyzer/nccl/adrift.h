#pragma once

#include "followed.h"

/* Data of the message may be another one's: nobody knows which number it has. */
bool ft_nccl_is_adrift(const struct ft_nccl_transfer *transfer);

/*
 * Queue pairs brought parts of different messages: they end differently, or one is as long as its immediate says, and another
 * is not empty.
 */
bool ft_nccl_are_apart(const struct ft_nccl_shares *shares);

/*
 * A clear-to-send has come of a message that had data before. If it went elsewhere, it is another one's, or forged: its queue pairs
 * may have the message before them yet.
 */
void ft_nccl_adrift_asked(struct ft_nccl_followed *followed, struct ft_nccl_transfer *transfer);

/* Before it is kept, with all that its neighbours tell: whether it is. */
void ft_nccl_adrift_settle(const struct ft_nccl_followed *followed,
			   struct ft_nccl_transfer *transfer);

/*
 * What came as a message whose number is in doubt is kept as a row of its own: another one begins that may have that number.
 * What asked for it waits for data again. One that had no data yet stays as it is.
 */
void ft_nccl_adrift_part(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
			 struct ft_nccl_transfer *transfer);

/*
 * A message and data that may have been another one's, kept as two rows: what asked for the message, as if nothing had
 * answered; and the data, of no number: a row for each queue pair if they are apart. These are requests as they were written
 * to, not as they were asked for. The bytes that the rows tell.
 */
uint64_t ft_nccl_adrift_add(struct ft_nccl_store *store, const struct ft_nccl_message *message,
			    const struct ft_nccl_shares *shares);
