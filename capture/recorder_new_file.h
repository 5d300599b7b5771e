#pragma once

#include <stdbool.h>

/*
 * A file of a recorder that comes into being. It has its name only from its first blocks on, so that one of that name
 * without a section is never seen; until then it is called `NAME.part`.
 */
struct ft_new_file {
	char *part;   /* what it is called until it is named; NULL: it has its name */
	char *target; /* what it will be called: where its name leads, if that is a link */
};

/*
 * Create it: a descriptor, or -errno. Standard output ("-"), pipes and devices are written to as they are, and what
 * a link leads to is replaced, not the link. `fresh`: no file that is there is touched; *path, allocated, is then changed
 * to a name that nobody has.
 */
int ft_new_file_open(struct ft_new_file *file, char **path, bool fresh);

/* Its first blocks were written, or (`empty`) none: then nothing is left of it. 0 or -errno. */
int ft_new_file_name(struct ft_new_file *file, bool empty);

void ft_new_file_forget(struct ft_new_file *file); /* what is there stays */
