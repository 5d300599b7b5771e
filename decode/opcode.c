#include <stddef.h>

#include <decode/opcode.h>
#include <decode/packet.h>

#include "extension.h"

/* clang-format off */

/* row(operation, name, extended headers, payload rule, service) for each; `service` is handed through. */
#define OPERATIONS(row, service) \
	row(0x00, "SEND_FIRST",                 0,                              FT_PAYLOAD_MTU,   service) \
	row(0x01, "SEND_MIDDLE",                0,                              FT_PAYLOAD_MTU,   service) \
	row(0x02, "SEND_LAST",                  0,                              FT_PAYLOAD_SOME,  service) \
	row(0x03, "SEND_LAST_IMM",              FT_HAS_IMMDT,                   FT_PAYLOAD_SOME,  service) \
	row(0x04, "SEND_ONLY",                  0,                              FT_PAYLOAD_ANY,   service) \
	row(0x05, "SEND_ONLY_IMM",              FT_HAS_IMMDT,                   FT_PAYLOAD_ANY,   service) \
	row(0x06, "RDMA_WRITE_FIRST",           FT_HAS_RETH,                    FT_PAYLOAD_MTU,   service) \
	row(0x07, "RDMA_WRITE_MIDDLE",          0,                              FT_PAYLOAD_MTU,   service) \
	row(0x08, "RDMA_WRITE_LAST",            0,                              FT_PAYLOAD_SOME,  service) \
	row(0x09, "RDMA_WRITE_LAST_IMM",        FT_HAS_IMMDT,                   FT_PAYLOAD_SOME,  service) \
	row(0x0a, "RDMA_WRITE_ONLY",            FT_HAS_RETH,                    FT_PAYLOAD_ANY,   service) \
	row(0x0b, "RDMA_WRITE_ONLY_IMM",        FT_HAS_RETH | FT_HAS_IMMDT,     FT_PAYLOAD_ANY,   service) \
	row(0x0c, "RDMA_READ_REQUEST",          FT_HAS_RETH,                    FT_PAYLOAD_NONE,  service) \
	row(0x0d, "RDMA_READ_RESPONSE_FIRST",   FT_HAS_AETH,                    FT_PAYLOAD_MTU,   service) \
	row(0x0e, "RDMA_READ_RESPONSE_MIDDLE",  0,                              FT_PAYLOAD_MTU,   service) \
	row(0x0f, "RDMA_READ_RESPONSE_LAST",    FT_HAS_AETH,                    FT_PAYLOAD_SOME,  service) \
	row(0x10, "RDMA_READ_RESPONSE_ONLY",    FT_HAS_AETH,                    FT_PAYLOAD_ANY,   service) \
	row(0x11, "ACKNOWLEDGE",                FT_HAS_AETH,                    FT_PAYLOAD_NONE,  service) \
	row(0x12, "ATOMIC_ACKNOWLEDGE",         FT_HAS_AETH | FT_HAS_ATOMICACK, FT_PAYLOAD_NONE,  service) \
	row(0x13, "COMPARE_SWAP",               FT_HAS_ATOMICETH,               FT_PAYLOAD_NONE,  service) \
	row(0x14, "FETCH_ADD",                  FT_HAS_ATOMICETH,               FT_PAYLOAD_NONE,  service) \
	row(0x15, "RESYNC",                     0,                              FT_PAYLOAD_NONE,  service) \
	row(0x16, "SEND_LAST_INV",              FT_HAS_IETH,                    FT_PAYLOAD_SOME,  service) \
	row(0x17, "SEND_ONLY_INV",              FT_HAS_IETH,                    FT_PAYLOAD_ANY,   service) \
	row(0x1c, "FLUSH",                      FT_HAS_FETH | FT_HAS_RETH,      FT_PAYLOAD_NONE,  service) \
	row(0x1d, "ATOMIC_WRITE",               FT_HAS_RETH,                    FT_PAYLOAD_8,     service)

/*
 * Per service: its operations, a header of all its packets, and one of the operations in ON. Requests are
 * 0x00-0x0c, 0x13-0x17, 0x1c and 0x1d; an RD FLUSH has no DETH: so the only public implementation has it.
 */
enum {
	RC_LEGAL = 0x30dfffff,  RC_ALWAYS = 0,             RC_SOMETIMES = 0,              RC_ON = 0,
	UC_LEGAL = 0x00000fff,  UC_ALWAYS = 0,             UC_SOMETIMES = 0,              UC_ON = 0,
	RD_LEGAL = 0x103fffff,  RD_ALWAYS = FT_HAS_RDETH,  RD_SOMETIMES = FT_HAS_DETH,    RD_ON = 0x00381fff,
	UD_LEGAL = 0x00000030,  UD_ALWAYS = FT_HAS_DETH,   UD_SOMETIMES = 0,              UD_ON = 0,
	XRC_LEGAL = 0x30dfffff, XRC_ALWAYS = 0,            XRC_SOMETIMES = FT_HAS_XRCETH, XRC_ON = 0x30d81fff,
};

#define IS_LEGAL(service, operation) (service##_LEGAL >> (operation) & 1)
#define HEADERS(service, operation, extensions) \
	((extensions) | service##_ALWAYS | (service##_ON >> (operation) & 1 ? service##_SOMETIMES : 0))
#define BYTES_OF(NAME, name, bytes, extensions) + ((FT_HAS_##NAME & (extensions)) != 0 ? bytes : 0)
#define BYTES(extensions) (FT_EXTENSIONS(BYTES_OF, extensions))

#define SHAPE(operation, name, extensions, rule, service) \
	[FT_##service << 5 | (operation)] = { \
		.headers = IS_LEGAL(service, operation) * (uint32_t)HEADERS(service, operation, extensions), \
		.length = IS_LEGAL(service, operation) * BYTES(HEADERS(service, operation, extensions)), \
		.payload = IS_LEGAL(service, operation) * rule, \
		.defined = IS_LEGAL(service, operation), \
		.brief = IS_LEGAL(service, operation) && IS_BRIEF(service, HEADERS(service, operation, extensions)), \
	},

/* The first extended header tells what is asked for, and stands right behind the BTH. */
#define IS_BRIEF(service, headers) \
	((FT_##service == FT_RC || FT_##service == FT_UC || FT_##service == FT_XRC) && \
	 ((headers) & (FT_HAS_XRCETH | FT_HAS_FETH)) == 0)

#define NAME(operation, name, extensions, rule, service) \
	[FT_##service << 5 | (operation)] = IS_LEGAL(service, operation) ? #service "_" name : NULL,

#define CNP_OPCODE (FT_CNP << 5 | 1)

const struct ft_opcode_shape ft_opcode_shapes[256] = {
	OPERATIONS(SHAPE, RC)
	OPERATIONS(SHAPE, UC)
	OPERATIONS(SHAPE, RD)
	OPERATIONS(SHAPE, UD)
	OPERATIONS(SHAPE, XRC)
	[CNP_OPCODE] = { .payload = FT_PAYLOAD_CNP, .defined = true },
};

static const char *const names[256] = {
	OPERATIONS(NAME, RC)
	OPERATIONS(NAME, UC)
	OPERATIONS(NAME, RD)
	OPERATIONS(NAME, UD)
	OPERATIONS(NAME, XRC)
	[CNP_OPCODE] = "CNP",
};

/* clang-format on */

const char *ft_opcode_name(uint8_t opcode)
{
	return names[opcode];
}
