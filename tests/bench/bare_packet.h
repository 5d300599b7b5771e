#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What the bare loop reads of a frame. */

enum { BTH = 12 };

struct bare_key {
	uint8_t src[16], dst[16];
	uint32_t dest_qp;
	uint32_t pkey;
};
_Static_assert(sizeof(struct bare_key) == 40, "hashed and compared as bytes");

struct bare_packet {
	struct bare_key key;
	uint32_t asked;
	bool ack;
	const uint8_t *covered; /* by the ICRC */
	uint32_t covered_size;
};

static inline uint16_t be16(const uint8_t *b)
{
	return (uint16_t)(b[0] << 8 | b[1]);
}

static inline uint32_t be24(const uint8_t *b)
{
	return (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2];
}

static inline uint32_t be32(const uint8_t *b)
{
	return (uint32_t)b[0] << 24 | be24(b + 1);
}

/* Bit per operation of a reliable connection. */
static inline bool has_reth(uint8_t opcode)
{
	return opcode < 32 && (0x00001c40u >> opcode & 1) != 0;
}

static inline bool has_aeth(uint8_t opcode)
{
	return opcode < 32 && (0x0007a000u >> opcode & 1) != 0;
}

/* From the BTH on. */
static inline void read_transport(const uint8_t *bth, const uint8_t *end,
				  struct bare_packet *packet)
{
	packet->key.pkey = be16(bth + 2) & 0x7fff;
	packet->key.dest_qp = be24(bth + 5);
	packet->ack = has_aeth(bth[0]) && end - bth >= BTH + 4;
	packet->asked = has_reth(bth[0]) && end - bth >= BTH + 16 ? be32(bth + BTH + 12) : 0;
}

/* False: not RDMA, or cut before the end of its BTH. */
bool bare_packet_read(const uint8_t *frame, uint32_t size, struct bare_packet *packet);
