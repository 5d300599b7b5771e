#include <stdio.h>
#include <string.h>

#include "extcap_line.h"
#include "log.h"
#include "options.h"

static const char usage[] = "usage: fabtap help [VERB]\n"
			    "\n"
			    "What a verb does and which options it takes.\n";

static enum ft_exit overview(void)
{
	const struct ft_verb *const *verb;

	fputs("usage: fabtap VERB [options] [FILE...]\n"
	      "\n"
	      "A passive witness for RDMA fabrics: did what crossed the wire agree with the "
	      "declared\n"
	      "tenant partition map, and how sure can we be?\n"
	      "\n",
	      stdout);
	for (verb = ft_verb_list(); *verb != NULL; verb++)
		printf("  %-9s %s\n", (*verb)->name, (*verb)->summary);
	fputs("\n"
	      "`fabtap help VERB` tells more. `fabtap --version` tells the version and how it was "
	      "built.\n"
	      "exit status: 0 clean, 1 findings, 2 could not do it, 3 not evidenced\n",
	      stdout);
	return FT_EXIT_CLEAN;
}

static const struct ft_verb *find(const char *name)
{
	return strcmp(name, ft_extcap_verb.name) == 0 ? &ft_extcap_verb : ft_verb_find(name);
}

static enum ft_exit run(int argc, char **argv)
{
	const struct ft_verb *verb;

	if (argc < 2)
		return overview();
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return ft_usage_print(&ft_verb_help);
	verb = find(argv[1]);
	if (verb == NULL || argc > 2) {
		ft_log("help: no verb %s; `fabtap help` lists them", argv[verb == NULL ? 1 : 2]);
		return FT_EXIT_FAILED;
	}
	fputs(verb->usage, stdout);
	return FT_EXIT_CLEAN;
}

const struct ft_verb ft_verb_help = { "help", "what a verb does", usage, run };
