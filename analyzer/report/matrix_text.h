#pragma once

#include "page.h"

/* Who talked to whom: a grid for a few tenants, a list of the busiest pairs for many. */
void ft_matrix_text(struct ft_page *page, const struct ft_report *report);
