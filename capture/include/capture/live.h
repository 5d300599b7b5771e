#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <capture/source.h>

/*
 * Live sources: devices that frames arrive at while the program runs, by their addresses "pcap:tap0",
 * "dpdk:net_af_packet0,iface=tap0", "verbs:mlx5_0/1". Once open and started they are read as files are,
 * with ft_source_next(). Several are merged by time stamp: a frame is held back at most
 * FT_LIVE_HOLD_NS for others that are silent, and less where FT_LIVE_HOLD_FRAMES of its own device
 * wait behind it, so a silent device never stalls the others; frames that come later still are handed
 * out out of order. A single one is handed on as it comes.
 */

#define FT_LIVE_HOLD_NS UINT64_C(10000000)

enum {
	FT_LIVE_HOLD_FRAMES = 4096,
	FT_LIVE_WAIT_MS = 50,   /* ft_source_next() returns 0 after about so long without a frame */
	FT_LIVE_STOP_MS = 2000, /* at most so long after ft_source_stop() frames are handed out */
	FT_LIVE_DEVICES_MAX = 64,
};

struct ft_live_config {
	uint32_t snap;         /* bytes kept of each frame; 0: all */
	const char *filter;    /* pcap's language; NULL: none */
	uint64_t buffer_bytes; /* receive buffer of each device; 0: the driver's default */
	unsigned keep;         /* the most that ft_source_keep() will be asked for, >= 1 */
	bool allow_tx_queue;   /* consent to a device that cannot be had without a transmit queue */
	bool verbose;          /* libraries' own messages may reach standard error */
};

#define FT_LIVE_DEFAULTS                                                                           \
	{                                                                                          \
		.keep = 1                                                                          \
	}

/* Where the time stamps come from. */
enum ft_stamp_source {
	FT_STAMP_PROGRAM, /* taken when the frame was fetched */
	FT_STAMP_KERNEL,
	FT_STAMP_ADAPTER, /* the device's own clock, converted */
	FT_STAMP_FILE,    /* of the capture file that a virtual device replays */
};

/* "program", "kernel", "adapter", "file" */
const char *ft_stamp_name(enum ft_stamp_source source);

/* What is known of an open device; texts live as long as it does. */
struct ft_device_facts {
	const char *driver;    /* "libpcap 1.10.3", "DPDK net_af_packet", "mlx5" */
	const char *interface; /* kernel interface that it listens on; NULL: none, or not known */
	unsigned transmit_queues; /* 0 wherever the device can be had without */
	bool counts_losses;       /* its counter of lost frames can be believed */
	bool must_poll;           /* it loses frames while its reader sleeps */
	enum ft_stamp_source stamps;
	/* of the time stamps against wall time, as far as known; 0: not known */
	uint64_t clock_error_ns;
	const char *note; /* a sentence for the user on what this device cannot do; NULL: nothing */
	/* what an RDMA port is known as in its fabric, a line each, then NULL; NULL: none */
	const char *const *identities;
};

/* A device that could be opened. */
struct ft_device_listing {
	const char *address; /* with prefix: "pcap:eth0" */
	const char *about;   /* "Ethernet, up", "InfiniBand, port active, 400 Gbit/s" */
	bool usable;         /* false: `about` says why not */
};

/* Whether `name` is a live source's address by its prefix, whatever this build can open. */
bool ft_live_is_address(const char *name);

/*
 * Open devices. 0; or -errno and *complaint, one line, with nothing open: -ENODEV (no such device), -EPERM (no
 * rights, or it needs a transmit queue), -EOPNOTSUPP (it, or this build, cannot), -EINVAL (address, filter, the
 * same device twice), ... Texts of `config` are read here only.
 */
int ft_live_open(struct ft_source **source, const char *const *addresses, size_t count,
		 const struct ft_live_config *config, struct ft_source_complaint *complaint);

/*
 * Nothing that arrives at any of them from now on is missed without being counted. 0, or as ft_live_open(): then
 * the source can only be closed. From here on no file is opened and no right needed.
 */
int ft_live_start(struct ft_source *source, struct ft_source_complaint *complaint);

/*
 * Fetch nothing that arrives after this call: ft_source_next() hands out what is at hand, then returns -ENODATA.
 * May be called by a signal handler or another thread, and for a source of files, where it does nothing.
 */
void ft_source_stop(struct ft_source *source);

/* Of an open live source's input; NULL: no such input, or a file. */
const struct ft_device_facts *ft_live_facts(const struct ft_source *source, size_t index);

/* Every device that could be opened, or why its kind cannot. 0, or -errno that `tell` returned or the system gave. */
int ft_live_list(int (*tell)(void *context, const struct ft_device_listing *listing),
		 void *context);
