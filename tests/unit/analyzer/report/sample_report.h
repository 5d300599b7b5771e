#pragma once

#include <report/model.h>

/*
 * A report made by hand: two tenants and a shared storage, three findings, one damaged source, names
 * that try to fool a terminal. The texts that tests expect of it are written by hand too.
 */
struct ft_report sample_report(void);
