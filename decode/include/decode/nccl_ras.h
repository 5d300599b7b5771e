#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <decode/nccl.h>

/*
 * NCCL's bootstrap, by which the processes of a job find each other, and RAS, by which they watch each other (2.24 and
 * later). Both are TCP connections with a hello (nccl_setup.h) in front since 2.16, then messages: length, 32-bit
 * little-endian, and a body that is a C structure of NCCL's releases (src/bootstrap.cc, src/ras/) as a little-endian
 * 64-bit host keeps it in memory.
 */
enum { FT_NCCL_LENGTH_BYTES = 4 };

/* A message without its length. */
struct ft_nccl_body {
	const uint8_t *bytes; /* borrowed of the stream that it was taken from */
	uint32_t length;
};

/*
 * The message that `bytes`, what is there of a stream, begin with; the next one begins FT_NCCL_LENGTH_BYTES + length
 * on. FT_NCCL_CUT if less than all of it is there, FT_NCCL_NOT if it claims more than `most`.
 */
enum ft_nccl_verdict ft_nccl_body_take(const uint8_t *bytes, uint32_t size, uint32_t most,
				       struct ft_nccl_body *body);

/* A sockaddr of 28 bytes. */
enum { FT_NCCL_ADDRESS_BYTES = 28 };

struct ft_nccl_address {
	uint8_t ip[16]; /* IPv4 as ::ffff:a.b.c.d, wire order */
	uint16_t port;
	uint8_t version; /* 4 or 6 */
};

/* FT_NCCL_CUT under 28 bytes; FT_NCCL_NOT if the family is neither Linux's AF_INET (2) nor its AF_INET6 (10). */
enum ft_nccl_verdict ft_nccl_address_read(const uint8_t *bytes, uint32_t size,
					  struct ft_nccl_address *address);

/* A process checks in with the root of its communicator. */
struct ft_nccl_check_in {
	int32_t rank, ranks;                /* 0 <= rank < ranks */
	int32_t root, roots;                /* 2.23 and later: of several; else 0 and 1 */
	int32_t offset;                     /* 2.29 and later; else 0 */
	uint8_t minor_first, minor_last;    /* of the releases 2.x that send this length */
	uint8_t address_count;              /* of listeners, in front */
	struct ft_nccl_address listen_root; /* waits for the root's answer; 2.8 and later */
	/*
	 * Waits for the ring's predecessor; 2.8 and later. Since 2.23 it is one of two only if that ring is of sockets: it
	 * may also be of NCCL's network (NCCL_OOB_NET_ENABLE), whose handle of 128 bytes is not looked at.
	 */
	struct ft_nccl_address listen;
};

/*
 * FT_NCCL_NOT if the body is not as long as that of any release, or its numbers or addresses are impossible. The
 * handles of 2.6 and 2.7 are not looked at.
 */
enum ft_nccl_verdict ft_nccl_check_in_read(const struct ft_nccl_body *body,
					   struct ft_nccl_check_in *check_in);

/*
 * The same of a body of which only so many bytes may be read: what stands in front of its first address, and that one alone, of 2.8
 * and later. FT_NCCL_CUT if they are too few.
 */
enum ft_nccl_verdict ft_nccl_check_in_read_front(const struct ft_nccl_body *body, uint32_t captured,
						 struct ft_nccl_check_in *check_in);

/* A point-to-point message of the bootstrap begins with a body of these 8 bytes; the payload's follows. */
struct ft_nccl_sender {
	int32_t rank, tag;
};

/* FT_NCCL_NOT unless the body has 8 bytes and the rank is not negative; the tag may be any number. */
enum ft_nccl_verdict ft_nccl_sender_read(const struct ft_nccl_body *body,
					 struct ft_nccl_sender *sender);

/* How a process joins RAS. */
struct ft_nccl_ras_member {
	struct ft_nccl_address listen;
	int32_t pid, cuda_device, nvml_device;
	uint64_t host_hash, pid_hash;
};

/*
 * The first block that a process sends to the next one of the ring is about itself: where it listens. 64 bytes also are
 * a check-in of 2.8 - 2.22: try that first.
 */
struct ft_nccl_ring_block {
	uint8_t minor_first, minor_last; /* of the releases 2.x that send this length */
	struct ft_nccl_address peer;     /* for point-to-point messages */
	bool has_proxy;                  /* 2.23 and later */
	struct ft_nccl_address proxy;    /* for the proxy service */
	bool has_ras;                    /* 2.24 and later */
	struct ft_nccl_ras_member ras;
};

/* FT_NCCL_NOT if the body is not as long as that of any release, or has other than addresses where they belong. */
enum ft_nccl_verdict ft_nccl_ring_block_read(const struct ft_nccl_body *body,
					     struct ft_nccl_ring_block *block);

/*
 * The root's answer to a check-in: where the next one of the ring listens. FT_NCCL_NOT for a handle of NCCL's network,
 * and for other lengths than 28 bytes (up to 2.22) and 128 (2.23 and later).
 */
enum ft_nccl_verdict ft_nccl_next_read(const struct ft_nccl_body *body,
				       struct ft_nccl_address *next);

/* RAS */
enum ft_nccl_ras_type {
	FT_NCCL_RAS_INIT = 1, /* the greeting: says the exact release */
	FT_NCCL_RAS_INIT_ACK,
	FT_NCCL_RAS_KEEP_ALIVE,
	FT_NCCL_RAS_PEERS_UPDATE,
	FT_NCCL_RAS_COLLECT,
	FT_NCCL_RAS_COLLECTED,
};

/* A member without meaning for the type is 0. */
struct ft_nccl_ras {
	enum ft_nccl_ras_type type;
	int32_t release;                /* INIT: 22707 is 2.27.7 */
	struct ft_nccl_address listen;  /* INIT */
	int32_t nack;                   /* INIT_ACK, KEEP_ALIVE */
	int32_t links;                  /* KEEP_ALIVE: bits */
	uint64_t peers_hash, dead_hash; /* INIT, KEEP_ALIVE, PEERS_UPDATE */
	uint32_t peers, dead;           /* PEERS_UPDATE: so many records of peers, then addresses */
};

/*
 * FT_NCCL_NOT if the type is none of these, the length not the type's, or INIT's address none. Of COLLECT and COLLECTED
 * only the type is read.
 */
enum ft_nccl_verdict ft_nccl_ras_read(const struct ft_nccl_body *body, struct ft_nccl_ras *ras);

struct ft_nccl_ras_peer {
	struct ft_nccl_address listen;
	int32_t pid;
	uint64_t cuda_devices, nvml_devices; /* bits */
	uint64_t host_hash, pid_hash;
};

/*
 * Record `index` of the `peers` of a PEERS_UPDATE; FT_NCCL_NOT if it is none, has no such record, or no address in it.
 */
enum ft_nccl_verdict ft_nccl_ras_peer_read(const struct ft_nccl_body *body, uint32_t index,
					   struct ft_nccl_ras_peer *peer);

/* The same of its `dead` ones, which are addresses alone, behind the peers. */
enum ft_nccl_verdict ft_nccl_ras_dead_read(const struct ft_nccl_body *body, uint32_t index,
					   struct ft_nccl_address *dead);
