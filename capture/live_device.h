#pragma once

#include "device.h"
#include "drivers.h"

/* One device of a live source, and how it comes to its end. */
struct ft_live_device {
	const struct ft_driver *driver;
	void *device;
	/* brought up to date here but for what is told by the frames */
	struct ft_source_input *known;
	uint32_t index;
	struct ft_device_facts facts;
	bool ended; /* no frame will come any more */
};

/* When the source was told to stop; both 0: it was not. */
struct ft_live_stop {
	uint64_t monotonic_ns, wall_ns;
};

/* 0, or -errno and *complaint; `config->address` is taken from the address. */
int ft_live_device_open(struct ft_live_device *device, const struct ft_live_address *address,
			const struct ft_device_config *config,
			struct ft_source_complaint *complaint);
void ft_live_device_close(struct ft_live_device *device); /* one that was not opened is fine */

/*
 * At most `room` frames, all but numbered: how many; 0: none at hand, or the device has ended, by
 * itself or because all that arrived before the stop is handed out.
 */
int ft_live_device_receive(struct ft_live_device *device, const struct ft_live_stop *stop,
			   struct ft_frame *frames, int room);

/* Ask it what it lost. */
void ft_live_device_count(struct ft_live_device *device);

uint64_t ft_live_now(void); /* ns, monotonic */
struct ft_live_stop ft_live_stop_now(void);
