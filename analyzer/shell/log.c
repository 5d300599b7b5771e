#include "log.h"

#include <stdarg.h>
#include <stdio.h>

#include <report/plain.h>

enum { LINE = 2048 };

void ft_log(const char *format, ...)
{
	char text[LINE];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	ft_plain_line(stderr, "fabtap: ", text);
}
