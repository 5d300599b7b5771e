#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <report/model.h>

struct ft_render_options {
	bool colour;                    /* terminal escape codes */
	unsigned width;                 /* columns; 0: 100 */
	const char *only;               /* NULL, or a finding's id (explain) */
};

/* Each writes the whole report; 0 or -errno of the handle. */
int ft_render_text(FILE *out, const struct ft_report *report, const struct ft_render_options *options);
int ft_render_json(FILE *out, const struct ft_report *report); /* fabtap.audit/1 */

/* One finding at length: rule, meaning, map line, frames, arithmetic. -ENOENT if there is no such id. */
int ft_render_finding_text(FILE *out, const struct ft_report *report, const char *id, const struct ft_render_options *options);
int ft_render_finding_json(FILE *out, const struct ft_report *report, const char *id);
