#pragma once

#include <capture/source.h>
#include <report/model.h>

/* What a report says of an input so far; texts are the source's. */
struct ft_report_source ft_report_source_of(const struct ft_source_input *input);

/* The input's own count of losses, where there is something to say: true and *row. */
bool ft_report_source_loss(const struct ft_source_input *input, struct ft_report_loss *row);
