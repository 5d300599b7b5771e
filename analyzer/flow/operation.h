#pragma once

#include <stdint.h>

/* What an opcode means to the connection it is sent on; IBA vol. 1, table 38. */

enum ft_role {
	FT_ROLE_NONE, /* says nothing about a sequence: UD, RD and DC (many senders share one), unknown ones */
	FT_ROLE_REQUEST,     /* SEND, WRITE: the peer owes an ACKNOWLEDGE */
	FT_ROLE_QUESTION,    /* READ, atomics, FLUSH: it owes a response */
	FT_ROLE_RESPONSE,    /* READ response, ATOMIC ACKNOWLEDGE */
	FT_ROLE_ACKNOWLEDGE, /* and NAK */
	FT_ROLE_CNP,
};

enum ft_part { FT_PART_FIRST = 1u << 0, FT_PART_LAST = 1u << 1 };

struct ft_operation {
	_Alignas(4) uint8_t role; /* enum ft_role */
	uint8_t part;             /* enum ft_part; both: Only */
	uint8_t kind;             /* enum ft_message_kind; FT_MESSAGE_KINDS: none */
};

extern const struct ft_operation ft_operations[256];

static inline const struct ft_operation *ft_operation(uint8_t opcode)
{
	return &ft_operations[opcode];
}
