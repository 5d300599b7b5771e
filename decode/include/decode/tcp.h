#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The header of a TCP segment (RFC 9293, 3.1). */
enum { FT_TCP_LEN = 20, FT_TCP_PROTOCOL = 6 };

struct ft_tcp {
	uint16_t sport, dport;
	uint32_t sequence;       /* of the first byte of payload, or of the SYN */
	uint32_t acknowledgment; /* next byte wanted; without meaning unless `ack` */
	uint8_t header_bytes; /* with options: 20..60; more than were there if options were cut off */
	bool fin, syn, rst, ack;
};

/* False, and *tcp as it was, if the header is not whole up to its options, or claims to be shorter than it can be. */
bool ft_tcp_read(const uint8_t *bytes, uint32_t size, struct ft_tcp *tcp);
