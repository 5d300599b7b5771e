#pragma once

#include <report/model.h>

#include "page.h"

/* The paragraph SEEN: how much was judged, and what is known of the rest. */
void ft_coverage_text(struct ft_page *page, const struct ft_report_coverage *seen);

/* Its second half, which needs no map: loss, one-sided views, silences, clocks. No blank line after it. */
void ft_loss_text(struct ft_page *page, const struct ft_report_coverage *seen);
