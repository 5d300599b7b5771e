#pragma once

#include "page.h"

/*
 * What would let the next report say more, where this one does not know enough for a verdict: about frames that were
 * undecided or lost, or not there at all. Nothing under another verdict.
 */
void ft_advice_text(struct ft_page *page, const struct ft_report *report);
