#pragma once

#include <report/model.h>

#include "page.h"

/* The paragraph SEEN: how much was judged, and what is known of the rest. */
void ft_coverage_text(struct ft_page *page, const struct ft_report_coverage *seen);

/* The same where nothing need be judged: how much is here, what of it could not be read, and what is missing. No blank
 * line after it. */
void ft_seen_text(struct ft_page *page, const struct ft_report_coverage *seen);
