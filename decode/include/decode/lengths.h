#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <decode/opcode.h>
#include <decode/verdict.h>

/* Which lengths packets may have: the first rule of IBA vol. 1, chapter 9 that is broken, or FT_OK. */

enum { FT_MTU_LEAST = 256, FT_MTU_MOST = 4096 };

#define FT_RETH_LENGTH_MOST (UINT32_C(1) << 31)

static inline bool ft_is_mtu(uint32_t bytes)
{
	return bytes >= FT_MTU_LEAST && bytes <= FT_MTU_MOST && (bytes & (bytes - 1)) == 0;
}

/* Of a payload, by the rule of its opcode; that of CNPs is not here: it asks for the whole packet. */
static inline enum ft_malformed ft_payload_broken(uint8_t rule, uint32_t payload)
{
	if (rule == FT_PAYLOAD_NONE && payload > 0)
		return FT_PAYLOAD_NOT_ALLOWED;
	if (rule == FT_PAYLOAD_8 && payload != 8)
		return FT_ATOMIC_WRITE_LENGTH;
	if (payload > FT_MTU_MOST)
		return FT_PAYLOAD_OVER_MTU;
	if (rule == FT_PAYLOAD_MTU && !ft_is_mtu(payload))
		return FT_PAYLOAD_NOT_MTU;
	if (rule == FT_PAYLOAD_SOME && payload == 0)
		return FT_PAYLOAD_ZERO_LAST;
	return FT_OK;
}

/* Of the length in a RETH: of the operations with one, only WRITE ONLY and WRITE FIRST bring data along. */
static inline enum ft_malformed ft_reth_broken(uint8_t opcode, uint32_t length, uint32_t payload)
{
	const bool is_first = (opcode & 0x1f) == 0x06, is_only = (opcode & 0x1e) == 0x0a;

	if (length > FT_RETH_LENGTH_MOST)
		return FT_RETH_LEN_TOO_BIG;
	if ((is_first && length <= payload) || (is_only && length != payload))
		return FT_RETH_LEN_MISMATCH;
	return FT_OK;
}
