#include <report/plain.h>

#include <string.h>

#include "line.h"

void ft_plain_line(FILE *out, const char *lead, const char *text)
{
	struct ft_line line;

	ft_line_open(&line, out);
	ft_line_add(&line, lead);
	ft_line_name(&line, text);
	ft_line_char(&line, '\n');
	ft_line_flush(&line);
}

int ft_plain_lines(FILE *out, char *text)
{
	struct ft_line line;
	char *end;

	ft_line_open(&line, out);
	while ((end = strchr(text, '\n')) != NULL) {
		*end = 0;
		ft_line_name(&line, text);
		ft_line_char(&line, '\n');
		text = end + 1;
	}
	ft_line_name(&line, text);
	return ft_line_flush(&line);
}
