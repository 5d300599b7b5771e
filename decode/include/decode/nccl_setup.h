#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <decode/nccl.h>

/*
 * How NCCL's InfiniBand transport sets a connection up over TCP, where both sides name their queue pairs in clear text:
 *
 *     connecting side (sends data later)       listening side (receives data later)
 *     hello             12 bytes, 2.16+   ->
 *     device list   20 or 37, 2.24+       ->
 *                                         <-   device list, of the same size
 *     metadata                            ->
 *                                         <-   metadata, of the same size
 *     ready             4 bytes           ->
 *
 * The messages are C structures of NCCL's releases (src/include/socket.h, src/transport/net_ib.cc and net_ib/) as a
 * little-endian 64-bit host keeps them in memory; nothing on the wire says where one ends. The readers take what one
 * side has sent, put together again from its segments.
 */

/* The first bytes of every TCP connection of NCCL 2.16 and later. */
enum ft_nccl_socket {
	FT_NCCL_SOCKET_UNKNOWN,
	FT_NCCL_SOCKET_BOOTSTRAP,
	FT_NCCL_SOCKET_PROXY,
	FT_NCCL_SOCKET_NET,
	FT_NCCL_SOCKET_IB, /* this header's set-up */
	FT_NCCL_SOCKET_RAS,
	FT_NCCL_SOCKET_KINDS
};

/* of kinds NET, IB and RAS, unless set otherwise (2.30.7) */
#define FT_NCCL_MAGIC_SOCKET UINT64_C(0x564ab9f2fc4b9d6c)
/* of a communicator made by NCCL_COMM_ID; else random */
#define FT_NCCL_MAGIC_COMM UINT64_C(0x0280028002800280)

enum { FT_NCCL_HELLO_BYTES = 12, FT_NCCL_READY_BYTES = 4 };

struct ft_nccl_hello {
	uint64_t magic;
	enum ft_nccl_socket kind;
};

/*
 * FT_NCCL_CUT under 12 bytes; FT_NCCL_NOT if the kind is none of these. With another magic than the two it is weak
 * evidence.
 */
enum ft_nccl_verdict ft_nccl_hello_read(const uint8_t *bytes, uint32_t size,
					struct ft_nccl_hello *hello);

enum { FT_NCCL_DEVICES_MAX = 8, FT_NCCL_QPS_MAX = 128, FT_NCCL_GID_BYTES = 16 };

/* Devices merged into one: local numbers of the side that sends them. */
struct ft_nccl_device_list {
	int32_t devices[FT_NCCL_DEVICES_MAX];
	uint8_t count;
	bool out_of_order; /* 2.30: every device has an out-of-order receive queue */
};

/*
 * A list with room for 4 devices (2.24 - 2.29, 20 bytes) or 8 (2.30, 37 bytes). FT_NCCL_CUT if fewer are there;
 * FT_NCCL_NOT if the count is 0 or above `room`, a device negative, what is behind the last one not 0, or the flag
 * neither 0 nor 1.
 */
enum ft_nccl_verdict ft_nccl_device_list_read(const uint8_t *bytes, uint32_t size, uint32_t room,
					      struct ft_nccl_device_list *list);

/* Metadata of one size. */
struct ft_nccl_form {
	uint16_t bytes;
	uint8_t minor_first,
		minor_last; /* of the releases 2.x that send it; 2.29 sends two sizes */
	uint8_t families;   /* of clear-to-send entries, bits 1 << family */
	uint8_t devices;    /* room for so many */
	uint8_t list_room;  /* of the device list in front; 0: none */
	uint8_t hello;      /* bits: 1 sent without, 2 sent with a hello */
};

/* All forms by `index` from 0, the shortest metadata first; NULL behind the last. Static. */
const struct ft_nccl_form *ft_nccl_form_at(uint32_t index);

/*
 * The one whose metadata has so many bytes, without list, hello and ready word; NULL: no release sends so many.
 * Static.
 */
const struct ft_nccl_form *ft_nccl_form_find(uint32_t bytes);

struct ft_nccl_device {
	uint8_t gid[FT_NCCL_GID_BYTES];
	uint32_t lid; /* 0 on Ethernet */
	/* of what `addr` points at, on this device. A key: not for printing unasked */
	uint32_t rkey;
	uint8_t port;
	uint8_t link_layer; /* 1 InfiniBand, 2 Ethernet, 0 not told */
	uint16_t mtu; /* bytes, 256..4096; the connection uses the smaller one of both sides */
};

struct ft_nccl_metadata {
	const struct ft_nccl_form *form;
	/* connecting side: its FIFO. Listening: its array of sizes since 2.20, else nothing */
	uint64_t addr;
	struct ft_nccl_device devices[FT_NCCL_DEVICES_MAX];
	uint8_t device_count;
	/*
	 * Queue pairs in use, and the device of each. Releases before 2.27 may leave stack bytes behind those in use,
	 * which can look like more: with them the count is what could be, and traffic tells.
	 */
	uint32_t qpns[FT_NCCL_QPS_MAX];
	uint8_t qp_count;
	uint32_t probe_qpns[FT_NCCL_DEVICES_MAX];    /* by device, 2.29.7 and later; 0: none */
	uint32_t recovery_qpns[FT_NCCL_DEVICES_MAX]; /* by device, 2.30 */
	/* in the bytes read, any but NUL; merged ones joined by '+'. NULL before 2.20 */
	const char *name;
	uint32_t name_length;
	bool has_service;
	int32_t traffic_class, service_level; /* 2.26 and later */
};

/* FT_NCCL_CUT if fewer than form->bytes are there; FT_NCCL_NOT if a queue pair, port, MTU or count is impossible. */
enum ft_nccl_verdict ft_nccl_metadata_read(const struct ft_nccl_form *form, const uint8_t *bytes,
					   uint32_t size, struct ft_nccl_metadata *metadata);

/*
 * The first queue pair of metadata of which no more than its beginning is there: FT_NCCL_CUT if not even that is;
 * FT_NCCL_NOT if it is none.
 */
enum ft_nccl_verdict ft_nccl_first_qp_read(const struct ft_nccl_form *form, const uint8_t *bytes,
					   uint32_t size, uint32_t *qpn);

enum ft_nccl_side { FT_NCCL_CONNECTING, FT_NCCL_LISTENING };

/* Where things stand in what one side sent. */
struct ft_nccl_setup {
	const struct ft_nccl_form *form;
	uint32_t list_at, metadata_at;
	bool has_hello;
};

/*
 * Find the messages in all that a side has sent by the end of the set-up: the sizes of no two releases add up to the
 * same, a ready word in the end or not. FT_NCCL_CUT if there is no such sum, but longer ones; FT_NCCL_NOT if hello or
 * device list are not what they would have to be. The metadata is not looked at.
 */
enum ft_nccl_verdict ft_nccl_setup_find(enum ft_nccl_side side, const uint8_t *bytes, uint32_t size,
					struct ft_nccl_setup *setup);

/*
 * The same of `size` bytes of which slices left no more than the first `ready`: the hello has to be there, and of a device
 * list that is not there to its end nothing is held against it. FT_NCCL_CUT if there is no such sum, or no hello.
 */
enum ft_nccl_verdict ft_nccl_setup_find_cut(enum ft_nccl_side side, const uint8_t *bytes,
					    uint32_t ready, uint32_t size,
					    struct ft_nccl_setup *setup);
