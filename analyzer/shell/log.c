#include "log.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

enum { LINE = 2048 };

void ft_log(const char *format, ...)
{
	char text[LINE], line[4 * LINE];
	size_t used = 0;
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	for (const char *at = text; *at != 0; at++) {
		unsigned char byte = (unsigned char)*at;

		if (iscntrl(byte))
			used += (size_t)snprintf(line + used, sizeof(line) - used, "\\x%02x", byte);
		else
			line[used++] = *at;
	}
	fprintf(stderr, "fabtap: %.*s\n", (int)used, line);
}
