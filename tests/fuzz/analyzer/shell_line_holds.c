#include "../holds.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

/*
 * A number of the command line is taken only if it is written as the plain digits of a value within the
 * bounds: then printing the value gives the digits back, but for leading zeros.
 */
static void whole_number_holds(const char *text)
{
	uint64_t value = 77;
	char digits[24];

	if (!ft_number_read(text, 5, 1000000, &value)) {
		assert(value == 77);
		return;
	}
	assert(value >= 5 && value <= 1000000);
	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
	assert(strcmp(text + strspn(text, "0"), digits) == 0);
}

static void share_holds(const char *text)
{
	double value = -7;

	if (ft_share_read(text, &value))
		assert(value >= 0 && value <= 1 && strspn(text, "0123456789.") == strlen(text));
	else
		assert(isless(value, 0));
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	static const char alphabet[] = "0123456789.-+ex ";
	char text[40];
	size_t length = size < sizeof(text) - 1 ? size : sizeof(text) - 1;

	for (size_t i = 0; i < length; i++)
		text[i] = size % 2 != 0 ? alphabet[bytes[i] % (sizeof(alphabet) - 1)]
					: (char)bytes[i];
	text[length] = 0;
	whole_number_holds(text);
	share_holds(text);
}
