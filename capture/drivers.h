#pragma once

#include "device.h"

struct ft_driver_kind;

/* What a live source's address asks for. */
struct ft_live_address {
	const char *name;   /* all of it: "pcap:tap0" */
	const char *device; /* "tap0" */
	const struct ft_driver_kind *kind;
	const struct ft_driver *driver; /* at hand already; NULL: that of its kind */
};

/* The driver, loaded if need be; NULL and *complaint: it is not in this build, or cannot be loaded. */
const struct ft_driver *ft_live_driver(const struct ft_live_address *address,
				       struct ft_source_complaint *complaint);

/* False: not the address of a live source. */
bool ft_live_address_read(struct ft_live_address *address, const char *name);
