#include <assert.h>
#include <stddef.h>

#include <decode/opcode.h>
#include <decode/packet.h>

enum { OPERATIONS = 32, SERVICES = 8, FIRST_EXTENSION_BIT = 7 };

#define BIT(operation) (1u << (operation))

/* clang-format off */
/* row(operation, name, headers, payload rule, with) for every operation; `with` is handed through */
#define OPERATION_ROWS(row, with) \
	row(0x00, "SEND_FIRST", 0, FT_PAYLOAD_MTU, with) \
	row(0x01, "SEND_MIDDLE", 0, FT_PAYLOAD_MTU, with) \
	row(0x02, "SEND_LAST", 0, FT_PAYLOAD_SOME, with) \
	row(0x03, "SEND_LAST_IMM", FT_HAS_IMMDT, FT_PAYLOAD_SOME, with) \
	row(0x04, "SEND_ONLY", 0, FT_PAYLOAD_ANY, with) \
	row(0x05, "SEND_ONLY_IMM", FT_HAS_IMMDT, FT_PAYLOAD_ANY, with) \
	row(0x06, "RDMA_WRITE_FIRST", FT_HAS_RETH, FT_PAYLOAD_MTU, with) \
	row(0x07, "RDMA_WRITE_MIDDLE", 0, FT_PAYLOAD_MTU, with) \
	row(0x08, "RDMA_WRITE_LAST", 0, FT_PAYLOAD_SOME, with) \
	row(0x09, "RDMA_WRITE_LAST_IMM", FT_HAS_IMMDT, FT_PAYLOAD_SOME, with) \
	row(0x0a, "RDMA_WRITE_ONLY", FT_HAS_RETH, FT_PAYLOAD_ANY, with) \
	row(0x0b, "RDMA_WRITE_ONLY_IMM", FT_HAS_RETH | FT_HAS_IMMDT, FT_PAYLOAD_ANY, with) \
	row(0x0c, "RDMA_READ_REQUEST", FT_HAS_RETH, FT_PAYLOAD_NONE, with) \
	row(0x0d, "RDMA_READ_RESPONSE_FIRST", FT_HAS_AETH, FT_PAYLOAD_MTU, with) \
	row(0x0e, "RDMA_READ_RESPONSE_MIDDLE", 0, FT_PAYLOAD_MTU, with) \
	row(0x0f, "RDMA_READ_RESPONSE_LAST", FT_HAS_AETH, FT_PAYLOAD_SOME, with) \
	row(0x10, "RDMA_READ_RESPONSE_ONLY", FT_HAS_AETH, FT_PAYLOAD_ANY, with) \
	row(0x11, "ACKNOWLEDGE", FT_HAS_AETH, FT_PAYLOAD_NONE, with) \
	row(0x12, "ATOMIC_ACKNOWLEDGE", FT_HAS_AETH | FT_HAS_ATOMICACK, FT_PAYLOAD_NONE, with) \
	row(0x13, "COMPARE_SWAP", FT_HAS_ATOMICETH, FT_PAYLOAD_NONE, with) \
	row(0x14, "FETCH_ADD", FT_HAS_ATOMICETH, FT_PAYLOAD_NONE, with) \
	row(0x15, "RESYNC", 0, FT_PAYLOAD_NONE, with) \
	row(0x16, "SEND_LAST_INV", FT_HAS_IETH, FT_PAYLOAD_SOME, with) \
	row(0x17, "SEND_ONLY_INV", FT_HAS_IETH, FT_PAYLOAD_ANY, with) \
	row(0x1c, "FLUSH", FT_HAS_FETH | FT_HAS_RETH, FT_PAYLOAD_NONE, with) \
	row(0x1d, "ATOMIC_WRITE", FT_HAS_RETH, FT_PAYLOAD_8, with)

#define SHAPE(operation, name, headers, payload, with)        [operation] = { headers, payload },
#define NAME_WITH(operation, name, headers, payload, service) [operation] = service "_" name,
/* clang-format on */

static const struct operation {
	uint32_t headers;
	enum ft_payload_rule payload;
} operations[OPERATIONS] = { OPERATION_ROWS(SHAPE, ) };

static const char *const names[SERVICES][OPERATIONS] = {
	[FT_RC] = { OPERATION_ROWS(NAME_WITH, "RC") },
	[FT_UC] = { OPERATION_ROWS(NAME_WITH, "UC") },
	[FT_RD] = { OPERATION_ROWS(NAME_WITH, "RD") },
	[FT_UD] = { OPERATION_ROWS(NAME_WITH, "UD") },
	[FT_CNP] = { [0x01] = "CNP" },
	[FT_XRC] = { OPERATION_ROWS(NAME_WITH, "XRC") },
};

/*
 * Requests are 0x00-0x0c, 0x13-0x17, 0x1c and 0x1d. An RD FLUSH has no DETH: that is how the only
 * public implementation writes it.
 */
static const struct service {
	uint32_t legal;     /* operations */
	uint32_t always;    /* a header of every packet */
	uint32_t sometimes; /* a header of the operations in `on` */
	uint32_t on;
} services[SERVICES] = {
	[FT_RC] = { .legal = 0x30dfffff },
	[FT_UC] = { .legal = 0x00000fff },
	[FT_RD] = { .legal = 0x103fffff,
		    .always = FT_HAS_RDETH,
		    .sometimes = FT_HAS_DETH,
		    .on = 0x00381fff },
	[FT_UD] = { .legal = 0x00000030, .always = FT_HAS_DETH },
	[FT_CNP] = { .legal = 0x00000002 },
	[FT_XRC] = { .legal = 0x30dfffff, .sometimes = FT_HAS_XRCETH, .on = 0x30d81fff },
};

static const uint8_t extension_bytes[] = { 4, 8, 4, 4, 16, 28, 4, 8, 4, 4 }; /* RDETH .. IETH */
static_assert(FT_HAS_RDETH == BIT(FIRST_EXTENSION_BIT) &&
		      FT_HAS_IETH == BIT(FIRST_EXTENSION_BIT + 9),
	      "extension_bytes starts at RDETH and ends at IETH");

static bool is_defined(uint8_t opcode)
{
	return (services[opcode >> 5].legal >> (opcode & 0x1f) & 1) != 0;
}

static uint8_t bytes_of(uint32_t headers)
{
	uint8_t bytes = 0;

	for (headers >>= FIRST_EXTENSION_BIT; headers != 0; headers &= headers - 1)
		bytes = (uint8_t)(bytes + extension_bytes[__builtin_ctz(headers)]);
	return bytes;
}

struct ft_opcode_shape ft_opcode_shape(uint8_t opcode)
{
	const struct operation *operation = &operations[opcode & 0x1f];
	const struct service *service = &services[opcode >> 5];
	uint32_t headers;

	if (!is_defined(opcode))
		return (struct ft_opcode_shape){ 0 };
	if (ft_opcode_service(opcode) == FT_CNP)
		return (struct ft_opcode_shape){ .payload = FT_PAYLOAD_CNP, .defined = true };
	headers = operation->headers | service->always;
	if ((service->on & BIT(opcode & 0x1f)) != 0)
		headers |= service->sometimes;
	return (struct ft_opcode_shape){ headers, bytes_of(headers), (uint8_t)operation->payload,
					 true };
}

const char *ft_opcode_name(uint8_t opcode)
{
	return is_defined(opcode) ? names[opcode >> 5][opcode & 0x1f] : NULL;
}
