#include "document.h"

#include <math.h>

enum { IN_ONE_LINE = 3 }; /* depth from which on members follow each other in a line */

static void new_line(struct ft_document *json)
{
	ft_line_char(&json->line, '\n');
	for (unsigned i = 0; i < json->depth; i++)
		ft_line_add(&json->line, "  ");
}

static void lead(struct ft_document *json, const char *name)
{
	if (!json->first)
		ft_line_char(&json->line, ',');
	if (json->depth < IN_ONE_LINE)
		new_line(json);
	else if (!json->first)
		ft_line_char(&json->line, ' ');
	json->first = false;
	if (name == NULL)
		return;
	ft_line_quoted(&json->line, name);
	ft_line_add(&json->line, ": ");
}

void ft_document_open(struct ft_document *json, FILE *out)
{
	ft_line_open(&json->line, out);
	ft_line_char(&json->line, '{');
	json->depth = 1;
	json->first = true;
}

int ft_document_close(struct ft_document *json)
{
	ft_line_add(&json->line, "\n}\n");
	return ft_line_flush(&json->line);
}

void ft_records_open(struct ft_document *json, FILE *out)
{
	ft_line_open(&json->line, out);
	json->depth = IN_ONE_LINE;
}

void ft_record_begin(struct ft_document *json)
{
	json->first = true;
	ft_member_begin(json, NULL, '{');
}

void ft_record_end(struct ft_document *json)
{
	ft_member_end(json, '}');
	ft_line_char(&json->line, '\n');
}

int ft_records_close(struct ft_document *json)
{
	return ft_line_flush(&json->line);
}

void ft_member_begin(struct ft_document *json, const char *name, char bracket)
{
	lead(json, name);
	ft_line_char(&json->line, bracket);
	json->depth++;
	json->first = true;
}

void ft_member_end(struct ft_document *json, char bracket)
{
	json->depth--;
	if (json->depth == 1 && !json->first)
		new_line(json);
	ft_line_char(&json->line, bracket);
	json->first = false;
}

void ft_member_null(struct ft_document *json, const char *name)
{
	lead(json, name);
	ft_line_add(&json->line, "null");
}

void ft_member_bool(struct ft_document *json, const char *name, bool value)
{
	lead(json, name);
	ft_line_add(&json->line, value ? "true" : "false");
}

void ft_member_text(struct ft_document *json, const char *name, const char *value)
{
	if (value == NULL) {
		ft_member_null(json, name);
		return;
	}
	lead(json, name);
	ft_line_quoted(&json->line, value);
}

void ft_member_number(struct ft_document *json, const char *name, uint64_t value)
{
	if (value == UINT64_MAX) {
		ft_member_null(json, name);
		return;
	}
	lead(json, name);
	ft_line_decimal(&json->line, value);
}

void ft_member_signed(struct ft_document *json, const char *name, int64_t value)
{
	lead(json, name);
	if (value < 0)
		ft_line_char(&json->line, '-');
	ft_line_decimal(&json->line, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void ft_member_real(struct ft_document *json, const char *name, double value)
{
	char text[32];

	if (!isfinite(value) || value < 0) {
		ft_member_null(json, name);
		return;
	}
	snprintf(text, sizeof(text), "%.9g", value);
	lead(json, name);
	ft_line_add(&json->line, text);
}

void ft_member_hex(struct ft_document *json, const char *name, uint64_t value, unsigned digits)
{
	lead(json, name);
	ft_line_char(&json->line, '"');
	ft_line_hex(&json->line, value, digits);
	ft_line_char(&json->line, '"');
}

void ft_member_address(struct ft_document *json, const char *name, uint64_t value)
{
	unsigned digits = 1;

	while (digits < 16 && value >> (4 * digits) != 0)
		digits++;
	ft_member_hex(json, name, value, digits);
}

void ft_member_time(struct ft_document *json, const char *name, uint64_t ts_ns)
{
	if (ts_ns == UINT64_MAX) {
		ft_member_null(json, name);
		return;
	}
	lead(json, name);
	ft_line_char(&json->line, '"');
	ft_line_time(&json->line, ts_ns);
	ft_line_char(&json->line, '"');
}
