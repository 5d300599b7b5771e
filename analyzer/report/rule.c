#include "rule.h"

#include <string.h>

#include <partition/check.h>

const char *ft_rule_meaning(const char *name)
{
	for (int rule = 0; rule < FT_ALL_RULES; rule++)
		if (strcmp(ft_rule_text((enum ft_rule)rule)->name, name) == 0)
			return ft_rule_text((enum ft_rule)rule)->meaning;
	return NULL;
}

#define ABBREVIATION_MIN 8

const struct ft_report_finding *ft_report_find(const struct ft_report *report, const char *id)
{
	const struct ft_report_finding *found = NULL;
	size_t length = strlen(id);
	size_t matches = 0;

	for (size_t i = 0; i < report->finding_count; i++) {
		if (strcmp(report->findings[i].id, id) == 0)
			return &report->findings[i];
		if (length >= ABBREVIATION_MIN &&
		    strncmp(report->findings[i].id, id, length) == 0) {
			found = &report->findings[i];
			matches++;
		}
	}
	return matches == 1 ? found : NULL;
}
