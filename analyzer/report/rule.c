#include "rule.h"

#include <errno.h>
#include <string.h>

#include <partition/check.h>
#include <report/render.h>

const char *ft_rule_meaning(const char *name)
{
	for (int rule = 0; rule < FT_ALL_RULES; rule++)
		if (strcmp(ft_rule_text((enum ft_rule)rule)->name, name) == 0)
			return ft_rule_text((enum ft_rule)rule)->meaning;
	return NULL;
}

enum { ABBREVIATION_MIN = 8 };

bool ft_finding_is_named(const struct ft_report_finding *finding, const char *id)
{
	const size_t length = strlen(id);

	return length >= ABBREVIATION_MIN && strncmp(finding->id, id, length) == 0;
}

int ft_report_find(const struct ft_report *report, const char *id,
		   const struct ft_report_finding **finding)
{
	const struct ft_report_finding *found = NULL;
	size_t matches = 0;

	for (size_t i = 0; i < report->finding_count; i++) {
		const struct ft_report_finding *one = &report->findings[i];

		if (strcmp(one->id, id) == 0) {
			*finding = one;
			return 0;
		}
		if (ft_finding_is_named(one, id)) {
			found = one;
			matches++;
		}
	}
	if (matches != 1)
		return matches == 0 ? -ENOENT : -ENOTUNIQ;
	*finding = found;
	return 0;
}
