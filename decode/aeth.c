#include <decode/aeth.h>

enum { CODES = 32, NAK_CODES = 5 };

static const uint16_t credits[CODES - 1] = {
	0,    1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
	48,   64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
	2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
};

static const uint32_t rnr_us[CODES] = {
	655360, 10,    20,    30,    40,    60,     80,     120,    160,    240,    320,
	480,    640,   960,   1280,  1920,  2560,   3840,   5120,   7680,   10240,  15360,
	20480,  30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520,
};

static const char *const naks[NAK_CODES] = {
	"psn_sequence_error",       "invalid_request",    "remote_access_error",
	"remote_operational_error", "invalid_rd_request",
};

const char *ft_aeth_kind_name(enum ft_aeth_kind kind)
{
	static const char *const names[] = { "ack", "rnr_nak", "reserved", "nak" };

	return names[kind];
}

int32_t ft_aeth_credits(uint8_t syndrome)
{
	uint8_t code = syndrome & 0x1f;

	return code < CODES - 1 ? credits[code] : -1;
}

uint32_t ft_aeth_rnr_us(uint8_t syndrome)
{
	return rnr_us[syndrome & 0x1f];
}

const char *ft_aeth_nak_name(uint8_t syndrome)
{
	uint8_t code = syndrome & 0x1f;

	return code < NAK_CODES ? naks[code] : "reserved";
}

bool ft_aeth_is_reserved(uint8_t syndrome)
{
	enum ft_aeth_kind kind = ft_aeth_kind(syndrome);

	return (syndrome & 0x80) != 0 || kind == FT_AETH_RESERVED ||
	       (kind == FT_AETH_NAK && (syndrome & 0x1f) >= NAK_CODES);
}
