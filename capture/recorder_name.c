#include "recorder_name.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Where the extension of the last component begins; a name may begin with a dot. */
static size_t stem_length(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	return dot != NULL && dot != name ? (size_t)(dot - path) : strlen(path);
}

char *ft_recorder_name(const char *path, uint64_t number, uint64_t now_ns)
{
	size_t stem = stem_length(path);
	time_t seconds = (time_t)(now_ns / 1000000000);
	struct tm utc;
	char moment[32], *name;

	if (gmtime_r(&seconds, &utc) == NULL)
		return NULL;
	strftime(moment, sizeof moment, "%Y%m%dT%H%M%S", &utc);
	if (asprintf(&name, "%.*s_%05llu_%s%s", (int)stem, path, (unsigned long long)number, moment,
		     path + stem) < 0)
		return NULL;
	return name;
}

char *ft_recorder_other_name(const char *path, unsigned number)
{
	size_t stem = stem_length(path);
	char *name;

	return asprintf(&name, "%.*s_%u%s", (int)stem, path, number, path + stem) < 0 ? NULL : name;
}
