#include "human.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <report/render.h>

static const char *scaled(struct ft_human *human, uint64_t value, uint64_t exact,
			  const char *const units[7])
{
	double rest = (double)value;
	unsigned unit = 0;

	if (value <= exact) {
		snprintf(human->text, sizeof(human->text), "%llu%s", (unsigned long long)value,
			 units[0]);
		return human->text;
	}
	while (rest >= 999.5 && unit < 6) {
		rest /= 1000;
		unit++;
	}
	snprintf(human->text, sizeof(human->text), "%.*f%s",
		 rest < 9.995   ? 2
		 : rest < 99.95 ? 1
				: 0,
		 rest, units[unit]);
	return human->text;
}

const char *ft_percent(struct ft_percent *percent, double share)
{
	double rest = 100 * share;
	int decimals = 5;

	if (share >= 0.995 && share < 1) { /* never 100 */
		snprintf(percent->text, sizeof(percent->text), "%.2f",
			 (double)(int)(10000 * share) / 100);
	} else if (share > 0 && rest < 0.0001) {
		for (double digits = 100000 * rest; digits < 9.95 && decimals < 12; decimals++)
			digits *= 10;
		snprintf(percent->text, sizeof(percent->text), "%.*f", decimals, rest);
	} else {
		snprintf(percent->text, sizeof(percent->text), rest < 99.5 ? "%.2g" : "%.0f", rest);
	}
	return percent->text;
}

/* The exponent is that of the number once it is rounded. */
const char *ft_rate(struct ft_rate *rate, double gbps, int digits)
{
	int exponent, decimals;
	char *end;

	snprintf(rate->text, sizeof(rate->text), "%.*e", digits - 1, gbps);
	exponent = atoi(strchr(rate->text, 'e') + 1);
	if (exponent < -15 || exponent >= 15)
		return rate->text;
	decimals = exponent < digits - 1 ? digits - 1 - exponent : 0;
	end = rate->text + snprintf(rate->text, sizeof(rate->text), "%.*f", decimals, gbps);
	while (decimals > 0 && end[-1] == '0') {
		decimals--;
		end--;
	}
	*(decimals > 0 ? end : strchrnul(rate->text, '.')) = 0;
	return rate->text;
}

const char *ft_human_count(struct ft_human *human, uint64_t count)
{
	static const char *const units[7] = { "", " k", " M", " G", " T", " P", " E" };

	return scaled(human, count, 999999, units);
}

const char *ft_human_bytes(struct ft_human *human, uint64_t bytes)
{
	static const char *const units[7] = { " B", " kB", " MB", " GB", " TB", " PB", " EB" };

	return scaled(human, bytes, 999, units);
}

const char *ft_human_duration(struct ft_human *human, uint64_t ns)
{
	static const char *const units[7] = { " ns", " us", " ms", " s", "", "", "" };
	unsigned long long seconds = ns / 1000000000;

	if (seconds < 600)
		return scaled(human, ns, 999, units);
	if (seconds < 172800)
		snprintf(human->text, sizeof(human->text), "%llu h %02llu min", seconds / 3600,
			 seconds / 60 % 60);
	else
		snprintf(human->text, sizeof(human->text), "%llu d %02llu h", seconds / 86400,
			 seconds / 3600 % 24);
	return human->text;
}

void ft_human_parts(char *text, size_t room, const struct ft_human_part *list, size_t count)
{
	size_t used = 0;

	text[0] = 0;
	for (size_t i = 0; i < count; i++) {
		const struct ft_human_part *part = &list[i];
		bool one = part->count == 1 && part->word != NULL;

		if (part->count > 0 && used < room)
			used += (size_t)snprintf(text + used, room - used, "%s%" PRIu64 " %s",
						 used > 0 ? ", " : "", part->count,
						 one ? part->word : part->words);
	}
}
