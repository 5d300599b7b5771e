#pragma once

#include <stdint.h>

#include <decode/packet.h>

/* The syndrome of an AETH, IBA vol. 1, 9.7.5.1.1: bit 7 reserved, kind in bits 6..5, value in 4..0. */

static inline enum ft_aeth_kind ft_aeth_kind(uint8_t syndrome)
{
	return (enum ft_aeth_kind)(syndrome >> 5 & 3);
}

const char *ft_aeth_kind_name(enum ft_aeth_kind kind); /* "ack", "rnr_nak", "reserved", "nak" */

/* ACK: end-to-end credits granted; -1: the sender gives none away. */
int32_t ft_aeth_credits(uint8_t syndrome);

/* RNR NAK: wait before the retry; code 0 is the longest. */
uint32_t ft_aeth_rnr_us(uint8_t syndrome);

const char *ft_aeth_nak_name(
	uint8_t syndrome); /* "psn_sequence_error" ...; "reserved" for undefined codes */

/* Bit 7 set, kind reserved, or an undefined NAK code. */
bool ft_aeth_is_reserved(uint8_t syndrome);
