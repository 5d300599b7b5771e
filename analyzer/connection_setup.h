#pragma once

#include <stdbool.h>

#include <decode/packet.h>

/*
 * What a communication management message says of the connection it sets up: REQ and REP, IBA vol. 1,
 * 12.6.5 and 12.6.8. A connection is named by the number each end gives it.
 */
enum ft_setup_kind { FT_SETUP_NONE, FT_SETUP_REQUEST, FT_SETUP_REPLY };

struct ft_connection_setup {
	uint8_t kind;       /* enum ft_setup_kind; NONE: nothing below means anything */
	bool elsewhere;     /* REQ: the path is not the one between the packet's own addresses */
	uint32_t local_id;  /* the sender's number of the connection */
	uint32_t remote_id; /* REP: the receiver's */
	uint32_t qpn;       /* 24-bit: the sender's queue pair */
};

/* Read the packet's message. Kind NONE if it is no REQ or REP, or was cut before its queue pair. */
struct ft_connection_setup ft_connection_setup_read(const struct ft_packet *packet,
						    const uint8_t *frame);
