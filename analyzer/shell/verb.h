#pragma once

#include "exit.h"

/* One word of the command line. `run` gets the arguments from the verb on and returns an exit status. */
struct ft_verb {
	const char *name;
	const char *summary; /* a few words, for the list of verbs */
	const char *usage;   /* the help text */
	enum ft_exit (*run)(int argc, char **argv);
};

extern const struct ft_verb ft_verb_audit, ft_verb_decode, ft_verb_flows, ft_verb_nccl,
	ft_verb_explain, ft_verb_capture, ft_verb_map, ft_verb_sources, ft_verb_probe, ft_verb_help;

const struct ft_verb *ft_verb_find(const char *name); /* NULL: no such verb */
const struct ft_verb *const *ft_verb_list(void);      /* ends with NULL */
