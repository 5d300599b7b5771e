#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <report/model.h>

struct ft_render_options {
	bool colour;           /* terminal escape codes */
	unsigned width;        /* columns; 0: 100 */
	const char *arguments; /* what to add to `fabtap explain ID`; NULL: do not say how */
};

/* Room for a share in words. */
struct ft_percent {
	char text[24];
};

/* A share of 0 to 1 in percent, for people: "0.5", "48", "99.97"; 100 only if it is all. Fills `percent` and returns its text. */
const char *ft_percent(struct ft_percent *percent, double share);

/* Room for a rate in figures. */
struct ft_rate {
	char text[48];
};

/* Gbit/s with so many significant digits (1..17), never with an exponent below 1e15: "12.5", "0.000000512", "25600". */
const char *ft_rate(struct ft_rate *rate, double gbps, int digits);

/* The whole report for people: a screen that answers, then the worst findings. 0, -ENOMEM or -errno of the handle. */
int ft_render_text(FILE *out, const struct ft_report *report,
		   const struct ft_render_options *options);

/* The whole report as fabtap.audit/1; the same report gives the same bytes. 0 or -errno of the handle. */
int ft_render_json(FILE *out, const struct ft_report *report);

/* Whether `id` is the finding's, or 8 characters and more that it begins with. */
bool ft_finding_is_named(const struct ft_report_finding *finding, const char *id);

/*
 * One finding at length: rule, meaning, map line, frames. `id` may be cut to 8 characters or more that name
 * one finding. 0, -ENOENT if there is no such finding, -ENOTUNIQ if there are several, -ENOMEM, or -errno of the
 * handle.
 */
int ft_render_finding_text(FILE *out, const struct ft_report *report, const char *id,
			   const struct ft_render_options *options);

/* The same as the document fabtap.finding/1. 0, -ENOENT, -ENOTUNIQ or -errno of the handle. */
int ft_render_finding_json(FILE *out, const struct ft_report *report, const char *id);
