#pragma once

#include <report/render.h>

#include "line.h"

/* A page of text: a label in the margin, sentences wrapped beside it, colour where it is wanted. */

enum { FT_PAGE_MARGIN = 10, FT_PAGE_WIDTH = 100 };

struct ft_page {
	struct ft_line line;
	bool colour;
	unsigned width;
	int error; /* of a table; the handle's is in `line` */
};

void ft_page_open(struct ft_page *page, FILE *out, const struct ft_render_options *options);
int ft_page_close(struct ft_page *page); /* 0 or the first error */

/* A label in the margin ("" for none) that begins a line. */
void ft_page_label(struct ft_page *page, const char *label);

/* Words from `format`, escaped, wrapped at the page's width and indented to the margin; ends the line. */
void ft_page_say(struct ft_page *page, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ft_page_label() and ft_page_say(). */
#define ft_page_row(page, label, ...) (ft_page_label(page, label), ft_page_say(page, __VA_ARGS__))

/* Escape codes for a severity (0..4) and for a verdict; "" without colour. */
const char *ft_page_severity_code(const struct ft_page *page, unsigned severity);
const char *ft_page_verdict_code(const struct ft_page *page, enum ft_report_verdict verdict);
const char *ft_page_plain_code(const struct ft_page *page);
