#include "verb.h"

#include <stddef.h>
#include <string.h>

static const struct ft_verb *const verbs[] = {
	&ft_verb_audit,   &ft_verb_decode,  &ft_verb_flows, &ft_verb_nccl,
	&ft_verb_explain, &ft_verb_capture, &ft_verb_map,   &ft_verb_sources,
	&ft_verb_probe,   &ft_verb_help,    NULL,
};

const struct ft_verb *ft_verb_find(const char *name)
{
	for (size_t i = 0; verbs[i] != NULL; i++)
		if (strcmp(verbs[i]->name, name) == 0)
			return verbs[i];
	return NULL;
}

const struct ft_verb *const *ft_verb_list(void)
{
	return verbs;
}
