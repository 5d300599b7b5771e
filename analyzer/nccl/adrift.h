#pragma once

#include "store.h"

/*
 * A message and data that may have been another one's, kept as two rows: what asked for the message, as if nothing had
 * answered; and the data, of no number. The latter are requests as they were written to, not as they were asked for.
 */
void ft_nccl_adrift_add(struct ft_nccl_store *store, const struct ft_nccl_message *message,
			const struct ft_nccl_shares *shares);
