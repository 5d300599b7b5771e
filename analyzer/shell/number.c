#include "number.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool ft_number_read(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
	char *end;
	unsigned long long number;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno != 0 || *end != 0 || number < least || number > most)
		return false;
	*value = number;
	return true;
}

/* All of the text as a decimal number, without sign or exponent. */
static bool read_decimal(const char *text, double *value)
{
	char *end;

	if (*text == 0 || strspn(text, "0123456789.") != strlen(text))
		return false;
	*value = strtod(text, &end);
	return *end == 0;
}

bool ft_share_read(const char *text, double *value)
{
	double number;

	if (!read_decimal(text, &number) || !(number >= 0 && number <= 1))
		return false;
	*value = number;
	return true;
}

bool ft_positive_read(const char *text, double *value)
{
	double number;

	if (!read_decimal(text, &number) || !(number > 0 && number <= 1e6))
		return false;
	*value = number;
	return true;
}
