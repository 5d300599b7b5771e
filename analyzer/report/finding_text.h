#pragma once

#include "page.h"

const char *ft_severity_word(unsigned severity); /* "info" ... "critical" */

/* One line for each of the first `most` findings, and one at length. */
void ft_findings_table(struct ft_page *page, const struct ft_report *report, size_t most);
void ft_finding_at_length(struct ft_page *page, const struct ft_report *report,
			  const struct ft_report_finding *finding);
