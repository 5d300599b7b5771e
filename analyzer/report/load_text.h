#pragma once

#include "page.h"

/*
 * What each tenant sent at most, and the congestion it met and caused: nothing where there was none and
 * no tenant has a quota.
 */
void ft_load_text(struct ft_page *page, const struct ft_report *report);
