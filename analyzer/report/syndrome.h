#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <decode/packet.h>

/* What an AETH syndrome says, IBA vol. 1, 9.7.5.1: bits 6..5 the kind, bits 4..0 its value. */
static inline enum ft_aeth_kind ft_syndrome_kind(uint8_t syndrome)
{
	return (enum ft_aeth_kind)(syndrome >> 5 & 3);
}

const char *ft_syndrome_kind_name(uint8_t syndrome); /* "ack", "rnr_nak", "reserved", "nak" */
bool ft_syndrome_credits(uint8_t syndrome,
			 uint32_t *credits); /* false: no credit information (code 31) */
uint32_t ft_syndrome_rnr_us(uint8_t syndrome);
const char *ft_syndrome_nak_name(uint8_t syndrome); /* "psn_sequence_error" ... "reserved" */
