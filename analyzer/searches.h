#pragma once

#include "findings.h"
#include "totals.h"
#include "worker.h"

/*
 * spoof.qp-scan: a job that starts begins as many connections, and its requests look unanswered, too, if it is mirrored in one
 * direction, if the mirror loses the answers for a while, or if they take long. But it goes on to use them. So what holds is
 * told for each report.
 */

/* Of all findings of the kind: how many queue pairs were used further, or answered later. */
void ft_searches_settle(struct ft_findings *findings, struct ft_worker *const *workers,
			unsigned count);

/* Settled: what was counted is still known, and too little of it was left alone. */
bool ft_search_may_be_start(const struct ft_finding *finding);

/*
 * Correct the packets that break a rule of their tenant pair by those that break no other one: violating[i] is to be added to
 * what cell i has, and may be negative (modulo 2^64).
 */
void ft_searches_violate(const struct ft_findings *findings, const struct ft_totals *totals,
			 uint64_t *violating);
