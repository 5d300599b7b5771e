#pragma once

#include <report/flows.h>

/*
 * Three half-connections made by hand: two that are a connection, the first with a NAK and losses, and a
 * third of a tenant whose name tries to fool a terminal. `judged`: as with a map.
 */
struct ft_report_flows sample_flows(const struct ft_report *about, bool judged);
