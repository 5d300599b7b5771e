#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <capture/source.h>

/* What follows "dpdk:", taken apart and judged before DPDK itself has been started. */

/* What is known of a driver and cannot be asked of it. */
struct ft_dpdk_kind {
	const char *driver;    /* as DPDK names it; the name of a virtual device begins with it */
	const char *own;       /* arguments given in addition, unless one with that key is there */
	const char *queues;    /* key for the number of queues; NULL: none, or counted otherwise */
	const char *interface; /* key that names a kernel interface; NULL: no such */
	uint32_t frame_bytes;  /* room of a buffer; 0: for jumbo frames */
	bool pairs_queues;     /* demands a transmit queue for every receive queue */
	bool program;          /* attaches one to the interface */
	bool counts_losses;    /* its counters can be believed */
	bool ring;             /* of the kernel, whose size is an argument */
	const char *note;      /* for the user; NULL: nothing */
};

struct ft_dpdk_address {
	char name[64];                   /* "0000:81:00.0", "net_pcap0": unique in the process */
	char arguments[1024];            /* for the driver, joined by commas; "" none */
	unsigned queues;                 /* 0: not said */
	const struct ft_dpdk_kind *kind; /* of a virtual device; NULL: a PCI device */
	char interface[16];              /* kernel interface; "" none */
	char file[512];                  /* capture file that is replayed; "" none */
	bool endless;                    /* the file is replayed again and again */
};

/*
 * 0; or -EINVAL: not an address; -EOPNOTSUPP: a device that could transmit, or one that nobody can vouch for.
 * `text` is what the user wrote after "dpdk:"; complaints name the source "dpdk:<text>".
 */
int ft_dpdk_address_read(struct ft_dpdk_address *address, const char *text,
			 struct ft_source_complaint *complaint);

/* Set or replace an argument: false if there is no room for it. */
bool ft_dpdk_address_add(struct ft_dpdk_address *address, const char *key, const char *value);
