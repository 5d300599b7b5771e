#pragma once

#include "connections.h"

/*
 * Packets of a connection by hand: the sender is 10.0.0.1 with queue pair 17, the receiver 10.0.0.2 with 18. Message k is
 * asked for by a clear-to-send as the specification lays it out (section 3.1), of one MiB in one of eight buffers, and
 * answered in packets of 1024 bytes.
 */
enum {
	SENDER = 1,
	RECEIVER = 2,
	STRANGER = 3,
	SENDER_QP = 17,
	RECEIVER_QP = 18,
	FIFO_KEY = 0x201b44,
	DATA_KEY = 0x18a3c5,
	OFFERED = 1 << 20,
	BUFFERS = 8,
	MTU = 1024,
	TAG = 3
};
#define FIFO_AT   UINT64_C(0x00007f10a0002000)
#define BUFFER_AT UINT64_C(0x00007f3a5c530000)

struct packet {
	uint8_t from, to, opcode;
	uint32_t qpn, psn;
	uint64_t va;
	uint32_t rkey, length, immdt, msn;
	uint8_t bytes[512];
	uint32_t captured, payload;
	uint16_t sport; /* 0: that of all others */
	bool by_lid;    /* over native InfiniBand: hosts are LIDs */
	bool in_overlay;
};

uint64_t buffer_of(uint64_t k);

/* The clear-to-send of message k, as a family ('A' to 'F') lays it out. */
struct packet clear_to_send(char family, uint64_t k, uint32_t psn);

/* As the follower is shown it, in no VLAN; its payload is the packet's. */
struct ft_nccl_seen seen_of(const struct packet *packet, uint64_t frame);

/*
 * It is offered as the flow stage has it; false: it does not go straight, and nothing has changed. `number`, `since`: as in
 * struct ft_nccl_glimpse.
 */
bool goes_straight(struct ft_nccl_connections *connections, const struct ft_nccl_seen *seen,
		   uint32_t number, uint32_t since);

/* Likewise, but only where the last packet of its number went, without looking it up. */
bool goes_again(struct ft_nccl_connections *connections, const struct ft_nccl_seen *seen,
		uint32_t number, uint32_t since);

/* The connection's set-up over TCP. */
struct set_up {
	uint8_t queue_pairs;     /* numbered by twos from SENDER_QP and RECEIVER_QP on; 0: one */
	uint32_t metadata_bytes; /* tells the versions */
	uint64_t fifo;
	uint32_t vni;       /* as in struct ft_nccl_exchange */
	uint64_t frames[2]; /* likewise */
	/* of the sender; the receiver's have one more; 0: none */
	uint32_t probe_qpn, recovery_qpn;
};
void learn_set_up(struct ft_nccl_connections *connections, const struct set_up *set_up);
