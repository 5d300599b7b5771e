#pragma once

#include <stdbool.h>
#include <stdint.h>

/* BTH opcodes, IBA vol. 1, 9.2.1 and table 38: transport in bits 7..5, operation in 4..0. */

enum ft_service {
	FT_RC = 0,
	FT_UC = 1,
	FT_RD = 2,
	FT_UD = 3,
	FT_CNP = 4,
	FT_XRC = 5,
	FT_MANUFACTURER = 6
};

/* By its range, defined or not: 0x80..0x9f are FT_CNP's, 0xc0 and above the manufacturers'. */
static inline enum ft_service ft_opcode_service(uint8_t opcode)
{
	return opcode >= 0xc0 ? FT_MANUFACTURER : (enum ft_service)(opcode >> 5);
}

/* How much payload an operation carries; M is the path MTU: 256, 512, 1024, 2048 or 4096. */
enum ft_payload_rule {
	FT_PAYLOAD_ANY, /* 0..M */
	FT_PAYLOAD_NONE,
	FT_PAYLOAD_MTU,  /* exactly M */
	FT_PAYLOAD_SOME, /* 1..M */
	FT_PAYLOAD_8,    /* ATOMIC WRITE */
	FT_PAYLOAD_CNP,  /* 16 reserved bytes */
};

/* What follows the BTH. For an undefined opcode everything is 0. */
struct ft_opcode_shape {
	/* FT_HAS_ bits of the extended headers; in wire order from the lowest bit up */
	uint32_t headers;
	uint8_t length;  /* their bytes: 0..40 */
	uint8_t payload; /* enum ft_payload_rule */
	bool defined;
	bool brief; /* of a connection, and its extended headers such as decode/brief.h describes */
};

/* By opcode; read through ft_opcode_shape(). */
extern const struct ft_opcode_shape ft_opcode_shapes[256];

/* Static, never NULL. RD opcodes in IBA's reading: RDETH, and DETH in requests. */
static inline const struct ft_opcode_shape *ft_opcode_shape(uint8_t opcode)
{
	return &ft_opcode_shapes[opcode];
}

/* "RC_RDMA_WRITE_ONLY", "CNP", ..., static; NULL for undefined opcodes. */
const char *ft_opcode_name(uint8_t opcode);
