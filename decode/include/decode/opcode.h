#pragma once

#include <stdbool.h>
#include <stdint.h>

/* BTH opcodes, IBA vol. 1, 9.2.1 and table 38: transport in bits 7..5, operation in 4..0. */

enum ft_service { FT_RC = 0, FT_UC = 1, FT_RD = 2, FT_UD = 3, FT_CNP = 4, FT_XRC = 5, FT_MANUFACTURER = 6 };

static inline enum ft_service ft_opcode_service(uint8_t opcode)
{
	return opcode >= 0xc0 ? FT_MANUFACTURER : (enum ft_service)(opcode >> 5);
}

/* "RC_RDMA_WRITE_ONLY", "CNP", ...; NULL for undefined opcodes. */
const char *ft_opcode_name(uint8_t opcode);

/* Bits of ft_opcode_rules(): what follows the BTH and which payload it allows. */
bool ft_opcode_defined(uint8_t opcode);
