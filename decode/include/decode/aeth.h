#pragma once

#include <stdint.h>

#include <decode/packet.h>

/* The syndrome of an AETH, IBA vol. 1, 9.7.5.1.1: bit 7 reserved, kind in bits 6..5, value in 4..0. */

/* Bits 6..5; bit 7 is not looked at. */
static inline enum ft_aeth_kind ft_aeth_kind(uint8_t syndrome)
{
	return (enum ft_aeth_kind)(syndrome >> 5 & 3);
}

/* "ack", "rnr_nak", "reserved", "nak": one for each of the four, static. */
const char *ft_aeth_kind_name(enum ft_aeth_kind kind);

/* ACK: end-to-end credits granted, 0..32768; -1: the sender gives none away (code 31). */
int32_t ft_aeth_credits(uint8_t syndrome);

/* RNR NAK: wait before the retry in microseconds, 10..655360; code 0 is the longest. */
uint32_t ft_aeth_rnr_us(uint8_t syndrome);

/* NAK: the code in bits 4..0, "psn_sequence_error" ...; "reserved" for undefined codes. Static, never NULL. */
const char *ft_aeth_nak_name(uint8_t syndrome);

/* Bit 7 set, kind reserved, or an undefined NAK code. */
bool ft_aeth_is_reserved(uint8_t syndrome);
