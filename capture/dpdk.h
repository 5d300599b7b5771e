#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>

#include "device.h"
#include "dpdk_address.h"
#include "dpdk_clock.h"
#include "dpdk_file.h"
#include "dpdk_interface.h"

/* A DPDK port that is read: receive queues, no transmit queue, buffers on loan to whoever reads its frames. */

enum {
	FT_DPDK_CALL = 256,        /* frames that one call of receive() hands out, at most */
	FT_DPDK_BURST = 64,        /* frames that the driver is asked for at once */
	FT_DPDK_FRAME_MAX = 10240, /* room of a buffer: 9216 bytes and what encapsulation adds */
	FT_DPDK_KEY = 64,          /* longest key of a hash over addresses */
};

enum ft_dpdk_stamps {
	FT_DPDK_STAMPS_PROGRAM,
	FT_DPDK_STAMPS_MICROSECONDS, /* since 1970, in the frame's buffer */
	FT_DPDK_STAMPS_NANOSECONDS,  /* since 1970, in the frame's buffer */
	FT_DPDK_STAMPS_TICKS,        /* of the adapter's clock, in the frame's buffer */
	FT_DPDK_STAMPS_UNSURE,       /* ticks or nanoseconds: the first frame will tell */
};

/* Frames that one call of receive() handed out. */
struct ft_dpdk_call {
	struct rte_mbuf *buffers[FT_DPDK_CALL];
	unsigned count;
	uint64_t joined_end; /* of the bytes joined up to and with this call */
};

/* A ring of bytes for frames that a driver delivered in pieces. */
struct ft_dpdk_joined {
	uint8_t *bytes;
	uint64_t size, head, tail; /* head and tail only grow */
};

struct ft_dpdk {
	/* receive() */
	uint16_t port, queues, queue; /* `queue` is the next to be asked */
	enum ft_dpdk_stamps stamps;
	int stamp_offset;    /* in struct rte_mbuf */
	uint64_t stamp_flag; /* ol_flags of a buffer that has one */
	uint32_t snap;       /* UINT32_MAX: all */
	unsigned call, call_count;
	struct ft_dpdk_call *calls; /* call_count: config.keep and the one that is being filled */
	struct ft_dpdk_clock clock;
	struct ft_dpdk_joined joined;
	bool may_join; /* a thread that reads may get a cache of buffers */
	bool ends;     /* when the file does */
	atomic_bool gone;
	struct ft_dpdk_file file; /* that is replayed */
	uint64_t file_next;       /* frame of it that comes next */
	uint64_t unjoined;        /* frames dropped for want of room to join their pieces */

	/* the rest */
	struct ft_dpdk_address address;
	struct ft_device_config config; /* its texts are the caller's: not used after open */
	struct rte_eth_dev_info about;
	struct rte_mempool *pool;
	uint32_t frame_bytes, buffer_count;
	uint16_t descriptors, transmit_queues;
	uint8_t hash_key[FT_DPDK_KEY]; /* drivers keep a pointer to it */
	bool attached;
	uint64_t lost_before, errors_before; /* the device's counters at the start */
	uint64_t discards_id;                /* xstat of what the port itself threw away */
	bool has_discards;
	struct ft_dpdk_interface interface;
	int program;       /* descriptor that holds an XDP program; -1: none */
	char source[1100]; /* "dpdk:..." for complaints */
	char driver[80], interface_name[16];
	unsigned waits;
};

/* Write "SOURCE: ..." and return `error`. */
int ft_dpdk_refuse(const struct ft_dpdk *dpdk, struct ft_source_complaint *complaint, int error,
		   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Buffers that the configuration asks for, before DPDK runs: how many, how large. */
void ft_dpdk_port_plan(struct ft_dpdk *dpdk);

/* Configure the attached port: 0, -errno with *complaint and nothing of it left. */
int ft_dpdk_port_open(struct ft_dpdk *dpdk, struct ft_source_complaint *complaint);
int ft_dpdk_port_start(struct ft_dpdk *dpdk, struct ft_source_complaint *complaint);
void ft_dpdk_port_close(struct ft_dpdk *dpdk);

/* Which time stamps this port has. After its queues are set up. */
void ft_dpdk_stamps_open(struct ft_dpdk *dpdk);

/* Decide FT_DPDK_STAMPS_UNSURE by the first stamp that was seen. */
void ft_dpdk_stamps_decide(struct ft_dpdk *dpdk, uint64_t stamp);

int ft_dpdk_receive_open(struct ft_dpdk *dpdk); /* 0, -ENOMEM */
int ft_dpdk_receive(void *device, struct ft_frame *frames, int room);
void ft_dpdk_receive_close(struct ft_dpdk *dpdk);

void ft_dpdk_counts_open(struct ft_dpdk *dpdk);
bool ft_dpdk_counts_are_believed(const struct ft_dpdk *dpdk);
void ft_dpdk_count(void *device, struct ft_device_counts *counts);

int ft_dpdk_list(int (*tell)(void *context, const struct ft_device_listing *listing),
		 void *context);
