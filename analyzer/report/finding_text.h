#pragma once

#include "page.h"

const char *ft_severity_word(unsigned severity); /* "info" ... "critical" */

/* The first `most` findings: one line each, and at length under their rules. */
void ft_findings_table(struct ft_page *page, const struct ft_report *report, size_t most);
void ft_findings_at_length(struct ft_page *page, const struct ft_report *report, size_t most);
