#pragma once

#include <stdint.h>

/* What an opcode's low five bits mean to the connection; IBA vol. 1, table 38. */

enum ft_role {
	FT_ROLE_NONE,
	FT_ROLE_REQUEST,
	FT_ROLE_RESPONSE,    /* READ response, ATOMIC ACKNOWLEDGE */
	FT_ROLE_ACKNOWLEDGE, /* and NAK */
};

enum ft_part { FT_PART_FIRST = 1u << 0, FT_PART_LAST = 1u << 1 };

struct ft_operation {
	uint8_t role;     /* enum ft_role */
	uint8_t part;     /* enum ft_part; both: Only */
	uint8_t kind;     /* enum ft_message_kind; FT_MESSAGE_KINDS: none */
	uint8_t answered; /* the peer owes more than an ACKNOWLEDGE */
};

const struct ft_operation *ft_operation(uint8_t opcode);
