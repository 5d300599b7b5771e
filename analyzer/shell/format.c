#include "format.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "options.h"

enum { NAMES_ROOM = 64 };

static const char *const names[FT_FORMATS] = {
	[FT_FORMAT_TEXT] = "text",
	[FT_FORMAT_JSON] = "json",
	[FT_FORMAT_FIELDS] = "fields",
	[FT_FORMAT_INSPECTOR] = "inspector",
};

/* "text, json or fields" */
static void name_all(unsigned formats, char text[NAMES_ROOM])
{
	size_t used = 0;

	for (unsigned format = FT_FORMAT_TEXT; formats >> format != 0; format++) {
		bool last = formats >> format == 1;

		if ((formats >> format & 1) != 0)
			used += (size_t)snprintf(text + used, NAMES_ROOM - used, "%s%s",
						 used == 0 ? ""
						 : last    ? " or "
							   : ", ",
						 names[format]);
	}
}

static enum ft_format find(unsigned formats, const char *name)
{
	for (unsigned format = FT_FORMAT_TEXT; format < FT_FORMATS; format++)
		if ((formats >> format & 1) != 0 && strcmp(names[format], name) == 0)
			return (enum ft_format)format;
	return FT_FORMAT_UNSET;
}

int ft_format_take(const struct ft_verb *verb, unsigned formats, enum ft_format *format,
		   const char *name)
{
	enum ft_format found = find(formats, name);
	char all[NAMES_ROOM];

	if (found == FT_FORMAT_UNSET) {
		name_all(formats, all);
		ft_usage_error(verb, "-o %s: not %s", name, all);
		return -EINVAL;
	}
	if (*format != FT_FORMAT_UNSET && *format != found) {
		ft_usage_error(verb, "both -o %s and -o %s", names[*format], name);
		return -EINVAL;
	}
	*format = found;
	return 0;
}
