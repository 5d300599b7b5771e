#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * A file in the making. A regular file appears under its name only when it is complete: bytes go to
 * a new file beside it, which takes its place on commit. Anything else ("-", a pipe, a device) is
 * written to directly. The first error is kept; later writes do nothing.
 */
struct ft_output;

/* 0, or -errno and a one-line complaint. */
int ft_output_create(struct ft_output **output, const char *path, char *complaint, size_t size);

/* Append. 0, or -errno of the first error. */
int ft_output_put(struct ft_output *output, const void *bytes, size_t size);

/* Make it durable under its name, and free. 0, or -errno and a complaint, and nothing is left. */
int ft_output_commit(struct ft_output *output, char *complaint, size_t size);

/* Drop what was written, and free. */
void ft_output_abandon(struct ft_output *output);
