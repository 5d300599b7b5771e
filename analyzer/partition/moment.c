#include <partition/moment.h>

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { NS_PER_S = 1000000000, FIRST_YEAR = 1970, LAST_YEAR = 2261 };

/* The shape: `d` is a digit, anything else is itself. */
static const char shape[] = "dddd-dd-ddTdd:dd:dd";

static bool shaped(const char *text)
{
	for (size_t i = 0; shape[i] != '\0'; i++) {
		bool fits = shape[i] == 'd' ? isdigit((unsigned char)text[i]) != 0
					    : text[i] == shape[i];

		if (!fits)
			return false;
	}
	return true;
}

static int digits(const char *text, int count)
{
	int number = 0;

	while (count-- > 0)
		number = 10 * number + (*text++ - '0');
	return number;
}

static int days_in(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && leap);
}

/* ".25" -> 250000000; steps over it. False: a dot without digits, or more than nine. */
static bool read_fraction(const char **text, int64_t *ns)
{
	int64_t unit = NS_PER_S;

	if (**text != '.')
		return true;
	if (!isdigit((unsigned char)*++*text))
		return false;
	for (; isdigit((unsigned char)**text); ++*text) {
		unit /= 10;
		*ns += unit * (**text - '0');
	}
	return unit > 0;
}

bool ft_moment_read(const char *text, int64_t *ns)
{
	int64_t fraction = 0;
	struct tm when;
	int year, month, day;
	const char *rest;

	if (!shaped(text))
		return false;
	year = digits(text, 4);
	month = digits(text + 5, 2);
	day = digits(text + 8, 2);
	when = (struct tm){ .tm_year = year - 1900,
			    .tm_mon = month - 1,
			    .tm_mday = day,
			    .tm_hour = digits(text + 11, 2),
			    .tm_min = digits(text + 14, 2),
			    .tm_sec = digits(text + 17, 2) };
	if (year < FIRST_YEAR || year > LAST_YEAR || month < 1 || month > 12 || day < 1 ||
	    day > days_in(year, month) || when.tm_hour > 23 || when.tm_min > 59 || when.tm_sec > 59)
		return false;
	rest = text + sizeof shape - 1;
	if (!read_fraction(&rest, &fraction) || strcmp(rest, "Z") != 0)
		return false;
	*ns = (int64_t)timegm(&when) * NS_PER_S + fraction;
	return true;
}

const char *ft_moment_write(char text[FT_MOMENT_ROOM], int64_t ns)
{
	int64_t fraction = ns % NS_PER_S;
	time_t seconds = ns / NS_PER_S;
	struct tm when;
	size_t length;

	if (fraction < 0) {
		fraction += NS_PER_S;
		seconds--;
	}
	gmtime_r(&seconds, &when);
	length = strftime(text, FT_MOMENT_ROOM, "%Y-%m-%dT%H:%M:%S", &when);
	if (fraction != 0)
		length += (size_t)snprintf(text + length, FT_MOMENT_ROOM - length, ".%09" PRId64,
					   fraction);
	snprintf(text + length, FT_MOMENT_ROOM - length, "Z");
	return text;
}
