#pragma once

#include <report/model.h>

#include "document.h"

/* The block `coverage`, the same in every document about a capture. */
void ft_coverage_json(struct ft_document *json, const struct ft_report_coverage *seen);

/* Its member `lost_by` alone. */
void ft_lost_by_json(struct ft_document *json, const struct ft_report_coverage *seen);
