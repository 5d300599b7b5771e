#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <capture/live.h>

/*
 * A device that frames arrive at while the program runs: one driver each for libpcap, DPDK and libibverbs.
 * A device is opened with the rights of whoever started the program, started, and from then on used by
 * one thread at a time with hardly any rights: receive, counts and close need no new descriptor, no
 * file and no privilege. No driver has a way to transmit.
 */

#define FT_LOST_UNKNOWN UINT64_MAX

struct ft_device_config {
	const char *address;   /* what follows "pcap:", "dpdk:" or "verbs:" */
	uint32_t snap;         /* bytes kept of each frame; 0: all */
	const char *filter;    /* pcap's language; NULL: none */
	uint64_t buffer_bytes; /* receive buffer; 0: the driver's default */
	unsigned keep;         /* how long frames stay readable: see receive(); >= 1 */
	bool allow_tx_queue;   /* consent to a device that cannot be had without a transmit queue */
	bool verbose;          /* the libraries' own messages may reach standard error */
};

/* Since the start. */
struct ft_device_counts {
	uint64_t lost;   /* arrived and not handed out for want of room; FT_LOST_UNKNOWN */
	uint64_t errors; /* arrived broken, not handed out (bad FCS, too long for a buffer) */
};

struct ft_driver {
	const char *kind; /* "pcap": also the prefix of its addresses */

	/*
	 * 0 and *device; or -errno and *complaint, one line that names the source and says what to do or use instead,
	 * with nothing open: -ENODEV (no such device), -EACCES/-EPERM, -EOPNOTSUPP (device or link layer cannot do it),
	 * -EINVAL (address, filter), -EBUSY, -ENOMEM. A device that needs consent to a transmit queue: -EPERM.
	 */
	int (*open)(void **device, const struct ft_device_config *config,
		    struct ft_source_complaint *complaint);

	/* Nothing that arrives after this call is missed without being counted. 0 or as open(). */
	int (*start)(void *device, struct ft_source_complaint *complaint);

	/*
	 * At most `room` frames, without waiting: how many, 0: none at hand; -ENODATA: there will be no more (a virtual
	 * device's file has ended); -ENODEV: the device has vanished. Fills all of a frame but number and input. Frames
	 * of the last config->keep calls that returned any, this one included, stay readable. `wire` and `original`
	 * include VLAN tags that the device took out; `bytes` have them put back.
	 */
	int (*receive)(void *device, struct ft_frame *frames, int room);

	/* Sleep until frames may be at hand or a signal came, at most `ms` milliseconds. */
	void (*wait)(void *device, int ms);

	void (*count)(void *device, struct ft_device_counts *counts);
	void (*describe)(const void *device, struct ft_device_facts *facts);

	/* Frames may arrive up to this call. Gives back all memory; frames are unreadable. NULL device is fine. */
	void (*close)(void *device);

	/* Every device of this kind that could be opened, for a listing: 0, or -errno that `tell` returned or the system gave. */
	int (*list)(int (*tell)(void *context, const struct ft_device_listing *listing),
		    void *context);

	/* Without a device: 0, or -EINVAL and *complaint, which names `name`. NULL: this kind takes no filter. */
	int (*check_filter)(const char *name, const char *filter,
			    struct ft_source_complaint *complaint);
};

/* Those that were built: whole files chosen by FT_PCAP, FT_DPDK and FT_VERBS (ft_driver() in CMakeLists.txt). */
extern const struct ft_driver ft_driver_pcap, ft_driver_dpdk, ft_driver_verbs;
