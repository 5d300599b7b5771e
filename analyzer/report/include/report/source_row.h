#pragma once

#include <capture/source.h>
#include <report/model.h>

/* What a report says of an input so far; texts and link types are the source's. */
struct ft_report_source ft_report_source_of(const struct ft_source_input *input);

/*
 * The input's own count of losses, FT_UNKNOWN if it cannot count them. False if there is nothing to say: it counted
 * none. *row is written either way; its texts are the input's.
 */
bool ft_report_source_loss(const struct ft_source_input *input, struct ft_report_loss *row);

/* The times of a report's first and last frame by its sources, copies and all; FT_UNKNOWN if no frame has one. */
void ft_report_span(struct ft_report *report);
