#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "exit.h"

/* Standard output of the words of `fabtap map`: a document as it is, text without what a terminal may act on or hide. */
struct ft_map_output {
	FILE *out;   /* write here */
	char *text;  /* kept until the end; NULL: a document */
	size_t size; /* of the text */
};

/* 0, or -errno after a line; then nothing is open. */
int ft_map_output_open(struct ft_map_output *output, bool json);

/* `error` is what the writer returned. `status`, or FT_EXIT_FAILED after a line if anything could not be written. */
enum ft_exit ft_map_output_close(struct ft_map_output *output, int error, enum ft_exit status);
