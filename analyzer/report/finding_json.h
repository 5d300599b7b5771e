#pragma once

#include <report/model.h>

#include "document.h"

/* A list of strings. */
void ft_texts_json(struct ft_document *json, const char *name, const char *const *values,
		   size_t count);

/* A finding, the same in every document; `name` is NULL inside a list. */
void ft_finding_json(struct ft_document *json, const char *name,
		     const struct ft_report_finding *finding);
