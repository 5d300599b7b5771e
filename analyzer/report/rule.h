#pragma once

#include <report/model.h>

/* What a rule means, one sentence; NULL for a name that is no rule's. */
const char *ft_rule_meaning(const char *name);

/*
 * The finding with this id, or the only one whose id begins with it (8 characters and more): 0 and *finding;
 * -ENOENT: there is none; -ENOTUNIQ: the ids of several begin so.
 */
int ft_report_find(const struct ft_report *report, const char *id,
		   const struct ft_report_finding **finding);
