#pragma once

#include "account.h"

/* Findings of an account: which ones a frame is of, what it adds to them, and what of it is kept as evidence. */

/* Room for so many. 0 or -ENOMEM; ft_account_findings_free() them in either case. */
int ft_account_findings_init(struct ft_account *account, uint32_t most);
void ft_account_findings_free(struct ft_account *account);

/* Rules and subjects are judged by another map from now on. */
void ft_account_findings_change_map(struct ft_account *account);

/* A frame that breaks rules. 0 or -errno of the evidence writer. */
int ft_account_findings_add(struct ft_account *account, const struct ft_source *source,
			    const struct ft_item *item, const struct ft_item_more *more);
