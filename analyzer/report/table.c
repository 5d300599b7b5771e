#include "table.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "utf8.h"

void ft_table_init(struct ft_table *table, const char *align)
{
	*table = (struct ft_table){ .align = align, .columns = strlen(align) };
	assert(table->columns <= FT_TABLE_COLUMNS);
}

void ft_table_free(struct ft_table *table)
{
	free(table->text);
}

void ft_table_rewind(struct ft_table *table)
{
	table->cells = 0;
	table->used = 0;
}

static bool reserve(struct ft_table *table, size_t more)
{
	size_t size = table->size > 0 ? table->size : 4096;
	char *text;

	if (more <= table->size - table->used)
		return true;
	while (size - table->used < more)
		size *= 2;
	text = realloc(table->text, size);
	if (text == NULL) {
		table->broken = true;
		return false;
	}
	table->text = text;
	table->size = size;
	return true;
}

static void add_cell(struct ft_table *table, const char *text)
{
	size_t length = strlen(text) + 1;
	size_t columns = ft_utf8_columns(text);
	size_t *width = &table->width[table->cells % table->columns];

	if (table->broken || !reserve(table, length))
		return;
	memcpy(table->text + table->used, text, length);
	table->used += length;
	table->cells++;
	if (columns > *width)
		*width = columns;
}

/* Most names need no escaping. */
static bool is_plain(const char *text)
{
	while (*text >= ' ' && *text <= '~')
		text++;
	return *text == 0;
}

void ft_table_name(struct ft_table *table, const char *text)
{
	char *escaped = NULL;
	size_t size = 0;
	FILE *memory;
	struct ft_line line;

	if (text == NULL || is_plain(text)) {
		add_cell(table, text != NULL ? text : "");
		return;
	}
	memory = open_memstream(&escaped, &size);
	if (memory == NULL) {
		table->broken = true;
		return;
	}
	ft_line_open(&line, memory);
	ft_line_name(&line, text);
	table->broken |= ft_line_flush(&line) != 0;
	if (fclose(memory) == 0 && !table->broken)
		add_cell(table, escaped);
	free(escaped);
}

void ft_table_say(struct ft_table *table, const char *format, ...)
{
	char *text;
	va_list values;
	int size;

	va_start(values, format);
	size = vasprintf(&text, format, values);
	va_end(values);
	if (size < 0) {
		table->broken = true;
		return;
	}
	ft_table_name(table, text);
	free(text);
}

void ft_table_format(struct ft_table *table, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	add_cell(table, text);
}

static void spaces(struct ft_line *line, size_t count)
{
	while (count-- > 0)
		ft_line_char(line, ' ');
}

/* Blanks are written only once something follows them, so that no line ends in them. */
static void write_cell(const struct ft_table *table, struct ft_line *line, size_t column,
		       const char *text, size_t *blank)
{
	size_t rest = table->width[column] - ft_utf8_columns(text);

	if (table->align[column] == '>')
		*blank += rest;
	if (*text != 0) {
		spaces(line, *blank);
		ft_line_add(line, text);
		*blank = 0;
	}
	*blank += 2 + (table->align[column] == '<' ? rest : 0);
}

int ft_table_write(const struct ft_table *table, struct ft_line *line, unsigned indent,
		   const struct ft_table_mark *mark)
{
	const char *text = table->text;

	for (size_t row = 0; row < table->cells / table->columns; row++) {
		const char *code = mark != NULL ? mark->begin(mark->context, row) : NULL;
		size_t blank = 0;

		spaces(line, indent);
		if (code != NULL)
			ft_line_add(line, code);
		for (size_t column = 0; column < table->columns; column++) {
			write_cell(table, line, column, text, &blank);
			text += strlen(text) + 1;
		}
		if (code != NULL)
			ft_line_add(line, "\033[0m");
		ft_line_char(line, '\n');
	}
	return table->broken ? -ENOMEM : 0;
}
