#pragma once

#include "live_device.h"

/* The frames of several devices in the order of their times, as far as live.h promises. */
struct ft_live_merge;

/* The devices must outlive it. NULL: no memory. */
struct ft_live_merge *ft_live_merge_create(struct ft_live_device *devices, size_t count);
void ft_live_merge_destroy(struct ft_live_merge *merge); /* NULL is fine */

/* For how many calls a driver must keep frames readable, so that those of ft_live_merge_next() are for `calls`. */
unsigned ft_live_merge_keep(unsigned calls);

/*
 * Fetch what is at hand, then hand out at most `room` frames whose turn has come. How many; 0: none now;
 * -ENODATA: every device has ended and all is handed out. Does not wait. *fetched: whether any frame came.
 */
int ft_live_merge_next(struct ft_live_merge *merge, const struct ft_live_stop *stop,
		       struct ft_frame *frames, int room, bool *fetched);
