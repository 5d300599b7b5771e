#pragma once

#include <report/sources.h>

#include "document.h"
#include "line.h"

/* The live part of what sources.c tells. */
void ft_devices_text(struct ft_line *line, const struct ft_sources *sources);
void ft_devices_json(struct ft_document *json, const struct ft_sources *sources);
void ft_trials_json(struct ft_document *json, const struct ft_sources *sources);
