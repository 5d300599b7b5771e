#include "page.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "utf8.h"

void ft_page_open(struct ft_page *page, FILE *out, const struct ft_render_options *options)
{
	ft_line_open(&page->line, out);
	page->colour = options->colour;
	page->width = options->width > 2 * FT_PAGE_MARGIN ? options->width : FT_PAGE_WIDTH;
	page->error = 0;
}

int ft_page_close(struct ft_page *page)
{
	int error = ft_line_flush(&page->line);

	return error != 0 ? error : page->error;
}

static void spaces(struct ft_page *page, size_t count)
{
	while (count-- > 0)
		ft_line_char(&page->line, ' ');
}

void ft_page_label(struct ft_page *page, const char *label)
{
	size_t size = strlen(label);

	ft_line_add(&page->line, label);
	spaces(page, size < FT_PAGE_MARGIN ? FT_PAGE_MARGIN - size : 1);
}

/* Bytes up to the next space, and their columns on the terminal. */
static size_t next_word(char *text, size_t *columns)
{
	size_t size = strcspn(text, " ");
	char end = text[size];

	text[size] = 0;
	*columns = ft_utf8_columns(text);
	text[size] = end;
	return size;
}

static void wrap(struct ft_page *page, char *text)
{
	size_t column = FT_PAGE_MARGIN;

	while (*text != 0) {
		size_t columns, size = next_word(text, &columns);
		bool last = text[size] == 0;

		if (column > FT_PAGE_MARGIN && column + 1 + columns > page->width) {
			ft_line_char(&page->line, '\n');
			spaces(page, FT_PAGE_MARGIN);
			column = FT_PAGE_MARGIN;
		} else if (column > FT_PAGE_MARGIN) {
			ft_line_char(&page->line, ' ');
			column++;
		}
		text[size] = 0;
		ft_line_name(&page->line, text);
		column += columns;
		text += size + !last;
	}
	ft_line_char(&page->line, '\n');
}

void ft_page_say(struct ft_page *page, const char *format, ...)
{
	char *text;
	va_list values;
	int size;

	va_start(values, format);
	size = vasprintf(&text, format, values);
	va_end(values);
	if (size < 0) {
		page->error = -ENOMEM;
		return;
	}
	wrap(page, text);
	free(text);
}

const char *ft_page_severity_code(const struct ft_page *page, unsigned severity)
{
	static const char *const codes[] = { "\033[36m", "\033[36m", "\033[33m", "\033[31m",
					     "\033[1;31m" };

	return page->colour ? codes[severity] : "";
}

const char *ft_page_verdict_code(const struct ft_page *page, enum ft_report_verdict verdict)
{
	static const char *const codes[] = {
		[FT_COMPLIANT] = "\033[1;32m",
		[FT_VIOLATED] = "\033[1;31m",
		[FT_NOT_EVIDENCED] = "\033[1;33m",
	};

	return page->colour ? codes[verdict] : "";
}

const char *ft_page_plain_code(const struct ft_page *page)
{
	return page->colour ? "\033[0m" : "";
}
