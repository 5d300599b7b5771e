#pragma once

#include "device.h"

/* What a live source's address asks for. */
struct ft_live_address {
	const char *name;               /* all of it: "pcap:tap0" */
	const char *device;             /* "tap0" */
	const struct ft_driver *driver; /* NULL: not in this build */
	const char *library;            /* "libpcap": what the build lacks then */
};

/* False: not the address of a live source. */
bool ft_live_address_read(struct ft_live_address *address, const char *name);
