#include "options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "log.h"

enum { LETTERS = 64, COMPLAINT = 1024 };

enum ft_exit ft_usage_error(const struct ft_verb *verb, const char *format, ...)
{
	char text[COMPLAINT];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	ft_log("%s: %s", verb->name, text);
	return FT_EXIT_FAILED;
}

enum ft_exit ft_usage_print(const struct ft_verb *verb)
{
	fputs(verb->usage, stdout);
	return FT_EXIT_CLEAN;
}

/* What is wrong with a long option that getopt does not take. */
static const char *fault(const struct option *words, const char *name)
{
	size_t size = strcspn(name, "=");
	unsigned matches = 0;

	for (; words->name != NULL; words++)
		matches += strncmp(words->name, name, size) == 0;
	if (matches == 0)
		return "no such option";
	return matches == 1 ? "takes no value" : "could be several options";
}

static int unknown(const struct ft_options *options, const char *given)
{
	const char *name = options->verb->name;

	if (strncmp(given, "--", 2) == 0)
		ft_log("%s: %s: %s; see `fabtap help %s`", name, given,
		       fault(options->words, given + 2), name);
	else
		ft_log("%s: -%c: no such option; see `fabtap help %s`", name, optopt, name);
	return FT_OPTION_BAD;
}

int ft_options_next(struct ft_options *options)
{
	char letters[LETTERS];
	int code;

	if (!options->started)
		optind = 0; /* glibc: begin anew, also for a second command line */
	options->started = true;
	opterr = 0;
	snprintf(letters, sizeof(letters), ":h%s", options->letters);
	code = getopt_long(options->argc, options->argv, letters, options->words, NULL);
	if (code == ':') {
		ft_log("%s: option %s needs a value", options->verb->name,
		       options->argv[optind - 1]);
		return FT_OPTION_BAD;
	}
	return code == '?' ? unknown(options, options->argv[optind - 1]) : code;
}
