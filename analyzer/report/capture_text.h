#pragma once

#include <report/model.h>

#include "page.h"

/* The paragraph CAPTURE: the sources, their damage, and the time they span. No blank line after it. */
void ft_capture_text(struct ft_page *page, const struct ft_report *report);
