#include "known_verb.h"

static enum ft_exit run(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return FT_EXIT_CLEAN;
}

const struct ft_verb known_verb = { "audit", "for tests", "usage: fabtap audit\n", run };
