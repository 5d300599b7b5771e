#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <decode/packet.h>

/*
 * What a communication management message says of the connection it sets up: REQ and REP, IBA vol. 1,
 * 12.6.5 and 12.6.8. A connection is named by the number each end gives it.
 */
enum ft_setup_kind { FT_SETUP_NONE, FT_SETUP_REQUEST, FT_SETUP_REPLY };

struct ft_connection_setup {
	uint8_t kind;        /* enum ft_setup_kind; NONE: nothing below means anything */
	bool elsewhere;      /* REQ: the path is not the one between the packet's own addresses */
	uint32_t local_id;   /* the sender's number of the connection */
	uint32_t remote_id;  /* REP: the receiver's */
	uint32_t qpn;        /* 24-bit: the sender's queue pair */
	uint64_t service_id; /* REQ: what the receiver is asked for; 0 in a REP */
};

/* Service IDs of the RDMA CM's port space for TCP: this, and the port in the low 16 bits; IBA vol. 1, annex A11. */
#define FT_SERVICE_TCP UINT64_C(0x0000000001060000)

/* Read the packet's message. Kind NONE if it is no REQ or REP, or was cut before its queue pair. */
struct ft_connection_setup ft_connection_setup_read(const struct ft_packet *packet,
						    const uint8_t *frame);

/* Addresses that carried a message: IP (IPv4 in ::ffff:0:0/96) or GID; LIDs in the last two bytes. */
struct ft_setup_carrier {
	const uint8_t *src, *dst; /* 16 bytes each */
	bool by_lid;
};

/* The same of a MAD from its common header on, of which `captured` bytes may be read. */
struct ft_connection_setup ft_connection_setup_of(const uint8_t *mad, uint32_t captured,
						  const struct ft_setup_carrier *carrier);
