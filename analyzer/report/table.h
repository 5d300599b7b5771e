#pragma once

#include "line.h"

/*
 * Cells in aligned columns. Every cell is text for a terminal already: names go through
 * ft_line_name() on their way in. Filled row by row, written once.
 */
#define FT_TABLE_COLUMNS 20

struct ft_table {
	const char *align; /* one of '<', '>' for each column */
	size_t columns;
	size_t width[FT_TABLE_COLUMNS];
	size_t cells; /* so far; row = cells / columns */
	char *text;   /* all cells, each ended by a zero byte; NULL until the first */
	size_t used, size;
	bool broken; /* memory ran out: what is there is written, the error told */
};

void ft_table_init(struct ft_table *table, const char *align);
void ft_table_free(struct ft_table *table);

/* Forget the rows and keep the widths: a table too long for memory is measured first, then written piece by piece. */
void ft_table_rewind(struct ft_table *table);

void ft_table_name(struct ft_table *table, const char *text); /* escaped; NULL: empty */
/* What the format makes, of any length, escaped. */
void ft_table_say(struct ft_table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Not escaped, and at most 255 bytes. */
void ft_table_format(struct ft_table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Rows with `indent` spaces before them. 0 or -ENOMEM. `mark` (may be NULL) wraps a row, by its number, in codes. */
struct ft_table_mark {
	const char *(*begin)(const void *context, size_t row); /* NULL: unmarked */
	const void *context;
};
int ft_table_write(const struct ft_table *table, struct ft_line *line, unsigned indent,
		   const struct ft_table_mark *mark);
