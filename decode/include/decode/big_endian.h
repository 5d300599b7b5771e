#pragma once

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* Numbers as they stand on the wire, at any alignment; the caller has made sure that the bytes are there. */

static inline uint16_t ft_be16(const uint8_t *b)
{
	uint16_t number;

	memcpy(&number, b, sizeof number);
	return be16toh(number);
}

static inline uint32_t ft_be24(const uint8_t *b)
{
	return (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2];
}

static inline uint32_t ft_be32(const uint8_t *b)
{
	uint32_t number;

	memcpy(&number, b, sizeof number);
	return be32toh(number);
}

static inline uint64_t ft_be64(const uint8_t *b)
{
	uint64_t number;

	memcpy(&number, b, sizeof number);
	return be64toh(number);
}
