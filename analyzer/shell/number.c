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

/* The text without its last letter, if that is a unit: what the unit counts. */
static uint64_t take_unit(const char *text, const char *units, const uint64_t *counts,
			  char number[32])
{
	size_t length = strlen(text);
	const char *unit = length != 0 ? strchr(units, text[length - 1]) : NULL;

	if (unit != NULL)
		length--;
	if (length == 0 || length >= 32)
		return 0;
	memcpy(number, text, length);
	number[length] = 0;
	return unit != NULL ? counts[unit - units] : 1;
}

bool ft_size_read(const char *text, uint64_t *bytes)
{
	static const uint64_t counts[] = { 1 << 10, 1 << 20, 1 << 30 };
	char number[32];
	uint64_t unit = take_unit(text, "KMG", counts, number);

	if (unit == 0 || !ft_number_read(number, 1, UINT64_MAX / unit, bytes))
		return false;
	*bytes *= unit;
	return true;
}

bool ft_duration_read(const char *text, uint64_t *ns)
{
	static const uint64_t counts[] = { 1, 60, 3600 };
	char number[32];
	uint64_t unit = take_unit(text, "smh", counts, number);
	double seconds;

	if (unit == 0 || !ft_positive_read(number, &seconds))
		return false;
	*ns = (uint64_t)(seconds * (double)unit * 1e9);
	return *ns != 0;
}
