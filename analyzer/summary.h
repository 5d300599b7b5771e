#pragma once

#include <capture/source.h>
#include <flow/table.h>
#include <report/model.h>

#include "account.h"

/* Makes the report model from the accounts. */
struct ft_summary;

int ft_summary_create(struct ft_summary **summary); /* 0 or -ENOMEM */
void ft_summary_destroy(struct ft_summary *summary);

/*
 * The report so far; it and all its strings stay until the next call. Aborts when memory ends.
 * `min_coverage`: share of the RDMA frames that must be decided for `compliant`.
 */
const struct ft_report *ft_summary_make(struct ft_summary *summary, struct ft_account *account,
					const struct ft_flow_table *flows,
					const struct ft_source *source, double min_coverage);
