#pragma once

#include "input.h"

/* The frames of several inputs in the order of their times; ties and missing times as in source.h. */
struct ft_merge;

/* The inputs must outlive it; nothing is read of them yet. NULL: out of memory. */
struct ft_merge *ft_merge_create(struct ft_input *inputs, size_t count);

/* At most `room` frames, readable as those of ft_input_next(); 0 when every input has ended. */
int ft_merge_next(struct ft_merge *merge, struct ft_frame *frames, int room);

void ft_merge_destroy(struct ft_merge *merge); /* NULL is fine */
