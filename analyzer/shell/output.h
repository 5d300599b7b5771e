#pragma once

#include <stddef.h>

#include "exit.h"

/*
 * Standard output. ft_output_failed() is for an error that a writer met: it says it once, in one
 * line (nothing for a closed pipe: the reader had enough), and is FT_EXIT_FAILED.
 */
enum ft_exit ft_output_failed(int error);

/* What a writer returned: 0 is `status`, -errno is ft_output_failed(). */
enum ft_exit ft_output_status(int error, enum ft_exit status);

/*
 * Hand on what was written so far: where both go to one place, a line on standard error then stands behind it. `status`
 * unless that fails.
 */
enum ft_exit ft_output_flush(enum ft_exit status);

/* Flush and close standard output; `status` unless that fails. The last thing a program does. */
enum ft_exit ft_output_finish(enum ft_exit status);

/* Colour is for a terminal whose owner did not ask for none (NO_COLOR, TERM=dumb). */
int ft_output_colour(void);

/* Columns of a page on standard output: those of a terminal that is too narrow for a usual one; 0: a usual one. */
unsigned ft_output_width(void);

/*
 * Would writing to `path` (NULL: standard output) overwrite one of `inputs`, under whatever name?
 * Returns that input, or NULL. Only files count: a terminal may be both.
 */
const char *ft_output_overwrites(const char *path, const char *const *inputs, size_t count);
