#include "complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ft_complain(char *text, size_t size, const char *name, const char *format, ...)
{
	size_t room = size / 2, length = strlen(name), used;
	va_list values;

	if (length > room)
		snprintf(text, size, "...%s: ", name + length - room);
	else
		snprintf(text, size, "%s: ", name);
	used = strlen(text);
	va_start(values, format);
	vsnprintf(text + used, size - used, format, values);
	va_end(values);
	for (char *c = text; *c != '\0'; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	}
}
