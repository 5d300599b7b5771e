#pragma once

#include <stdatomic.h>

#include "live_device.h"
#include "source_parts.h"

struct ft_live_merge;

struct ft_live {
	struct ft_live_device *devices;
	size_t count;
	struct ft_live_merge *merge; /* NULL: a single device */
	unsigned keep;               /* calls of ft_source_next() */
	unsigned calls_since_look;   /* at the clock */
	uint64_t counted_ns;         /* when the devices were last asked for their losses */
	struct ft_live_stop stop;
	atomic_bool stopping;
};

/* The devices by their drivers, whatever drivers they are. As ft_live_open(). */
int ft_live_open_devices(struct ft_source **source, const struct ft_live_address *addresses,
			 size_t count, const struct ft_live_config *config,
			 struct ft_source_complaint *complaint);

/* For source.c: frames without number, 0 or -ENODATA as ft_source_next(); the rest as there. */
int ft_live_next(struct ft_live *live, struct ft_frame *frames, int room);
void ft_live_close(struct ft_live *live); /* NULL is fine */
