#pragma once

#include <net/if.h>
#include <pcap/pcap.h>

#include "device.h"

/* What the kernel says of an interface since it exists; in the reader's network namespace. */
struct ft_interface_counts {
	uint64_t dropped; /* arrived, no room: in the adapter or on the way to us */
	uint64_t overrun; /* the same, as some drivers count it */
	uint64_t errors;  /* arrived broken */
};

/* A descriptor to read them by, >= 0 or -errno; the name is looked up at each reading. */
int ft_interface_counts_open(void);
bool ft_interface_counts_read(int fd, const char *interface, struct ft_interface_counts *counts);

/* Where frames stay readable: as many slices as calls they stay for, filled in turn. */
struct ft_pcap_ring {
	uint8_t *bytes;
	size_t slice; /* bytes of each */
	unsigned slices, current;
};

/* For slices that hold frames of `longest` bytes. 0 or -ENOMEM. */
int ft_pcap_ring_open(struct ft_pcap_ring *ring, unsigned slices, size_t longest);
void ft_pcap_ring_close(struct ft_pcap_ring *ring);

struct ft_pcap_device {
	pcap_t *handle;
	const char *name; /* "pcap:tap0"; the next points into it */
	const char *interface;
	struct ft_pcap_ring ring;
	size_t longest; /* frame that can come */
	uint16_t link_type;
	bool adapter_stamps, promiscuous;
	uint64_t down_since_ns; /* monotonic; 0: it is up */

	int counts_fd;
	struct ft_interface_counts before; /* the start */
	uint64_t dropped;                  /* by the socket, since the start */
	uint32_t library_dropped;          /* as the library last said, where the socket cannot */

	char driver[64];
	char note[160];
};

/* The driver's functions; contracts in device.h. */
int ft_pcap_open(void **device, const struct ft_device_config *config,
		 struct ft_source_complaint *complaint);
void ft_pcap_close(void *device);
void ft_pcap_count(void *device, struct ft_device_counts *counts);
int ft_pcap_filter_check(const char *name, const char *filter,
			 struct ft_source_complaint *complaint);
int ft_pcap_list(int (*tell)(void *context, const struct ft_device_listing *listing),
		 void *context);

bool ft_pcap_is_rdma_device(const char *name);
void ft_pcap_count_from_now(struct ft_pcap_device *pcap);
