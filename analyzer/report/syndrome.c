#include "syndrome.h"

const char *ft_syndrome_kind_name(uint8_t syndrome)
{
	static const char *const names[4] = { "ack", "rnr_nak", "reserved", "nak" };

	return names[ft_syndrome_kind(syndrome)];
}

bool ft_syndrome_credits(uint8_t syndrome, uint32_t *credits)
{
	static const uint16_t counts[31] = { 0,    1,    2,    3,     4,     6,     8,    12,
					     16,   24,   32,   48,    64,    96,    128,  192,
					     256,  384,  512,  768,   1024,  1536,  2048, 3072,
					     4096, 6144, 8192, 12288, 16384, 24576, 32768 };

	if ((syndrome & 0x1f) == 31)
		return false;
	*credits = counts[syndrome & 0x1f];
	return true;
}

uint32_t ft_syndrome_rnr_us(uint8_t syndrome)
{
	static const uint32_t timers[32] = { 655360, 10,     20,     30,    40,    60,    80,
					     120,    160,    240,    320,   480,   640,   960,
					     1280,   1920,   2560,   3840,  5120,  7680,  10240,
					     15360,  20480,  30720,  40960, 61440, 81920, 122880,
					     163840, 245760, 327680, 491520 };

	return timers[syndrome & 0x1f];
}

const char *ft_syndrome_nak_name(uint8_t syndrome)
{
	static const char *const names[5] = { "psn_sequence_error", "invalid_request",
					      "remote_access_error", "remote_operational_error",
					      "invalid_rd_request" };
	unsigned code = syndrome & 0x1f;

	return code < 5 ? names[code] : "reserved";
}
