#pragma once

#include <stddef.h>

/*
 * Write "NAME: what is wrong" into text, as one line: control characters of the name become '?',
 * a long name loses its beginning so that the reason always fits.
 */
void ft_complain(char *text, size_t size, const char *name, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
