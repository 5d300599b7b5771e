#pragma once

#include "findings.h"
#include "totals.h"
#include "worker.h"

/*
 * spoof.qp-scan where nothing that the other side sends is in view: a job that starts, mirrored in one direction, begins as
 * many connections, and its requests look unanswered, too. But it goes on to use them. So what holds is told for each report.
 */

/* Of all findings of the kind: how many queue pairs were used further. */
void ft_searches_settle(struct ft_findings *findings, struct ft_worker *const *workers,
			unsigned count);

/* Settled: what was counted is still known, and too little of it was left alone. */
bool ft_search_may_be_start(const struct ft_finding *finding);

/* Add the packets that break no other rule, of searches that hold, to those of their tenant pair: violating[i] of cell i. */
void ft_searches_violate(const struct ft_findings *findings, const struct ft_totals *totals,
			 uint64_t *violating);
