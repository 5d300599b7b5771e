#pragma once

#include <report/model.h>

#include "document.h"

/* The blocks with which every document about a capture begins: `tool` and `capture`. */
void ft_tool_json(struct ft_document *json, const char *version, const char *build);

/* From report->sources, the sums and stopped_after; nothing else of the report is read. */
void ft_capture_json(struct ft_document *json, const struct ft_report *report);

/* The member `linktypes`. */
void ft_link_types_json(struct ft_document *json, const uint16_t *link_types, size_t count);
