#pragma once

#include <capture/source.h>

#include "input.h"

struct ft_live;
struct ft_merge;

/* A source of files has streams in its inputs; of a live one only what is known of them is used. */
struct ft_source {
	struct ft_input *inputs;
	size_t count;
	struct ft_merge *merge; /* of files: NULL until frames of several are asked for */
	struct ft_live *live;   /* NULL: files */
	uint64_t frames;
	uint64_t calls; /* of ft_source_next(), the current one included */
	bool in_order;  /* ft_source_in_order() */
};

/* Room for `count` inputs, none of them open. NULL: no memory. */
struct ft_source *ft_source_create(size_t count);
