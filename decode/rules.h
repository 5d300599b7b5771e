#pragma once

#include <decode/opcode.h>
#include <decode/packet.h>

/*
 * What nearly every packet keeps of ft_header_rules(), asked at once and in no order. Only for defined opcodes that
 * are neither RD nor UD nor CNP, without pad bytes and with a payload length, whose only extended header with an
 * operand is a RETH; `length` as in struct ft_pass.
 */

enum { FT_MTU_MAX = 4096, FT_MULTICAST_QP = 0xffffff };

#define FT_RETH_LENGTH_MAX (1u << 31)

/* Of the operations with a RETH, only WRITE ONLY and WRITE FIRST bring data along. */
static inline bool ft_reth_length_matches(const struct ft_packet *packet)
{
	switch (packet->opcode & 0x1f) {
	case 0x06: /* WRITE FIRST */
		return packet->reth.length > packet->payload_length;
	case 0x0a: /* WRITE ONLY */
	case 0x0b:
		return packet->reth.length == packet->payload_length;
	default:
		return true;
	}
}

static inline bool ft_payload_fits(uint8_t rule, uint32_t payload)
{
	static const struct {
		uint16_t least, span;
		uint32_t odd; /* all ones if the size is to be a power of two */
	} sizes[] = {
		[FT_PAYLOAD_ANY] = { 0, FT_MTU_MAX, 0 },
		[FT_PAYLOAD_NONE] = { 0, 0, 0 },
		[FT_PAYLOAD_MTU] = { 256, FT_MTU_MAX - 256, UINT32_MAX },
		[FT_PAYLOAD_SOME] = { 1, FT_MTU_MAX - 1, 0 },
		[FT_PAYLOAD_8] = { 8, 0, 0 },
	};

	return payload - sizes[rule].least <= sizes[rule].span &&
	       (payload & (payload - 1) & sizes[rule].odd) == 0;
}

static inline bool ft_usual_rules_hold(const struct ft_packet *packet,
				       const struct ft_opcode_shape *shape, uint32_t length)
{
	if (packet->tver != 0 || (packet->pkey & 0x7fff) == 0 || length % 4 != 0 ||
	    packet->dest_qp - 2 >= FT_MULTICAST_QP - 2 ||
	    !ft_payload_fits(shape->payload, packet->payload_length))
		return false;
	return (shape->headers & FT_HAS_RETH) == 0 ||
	       (packet->reth.length <= FT_RETH_LENGTH_MAX && ft_reth_length_matches(packet));
}
