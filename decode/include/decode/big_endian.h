#pragma once

#include <stdint.h>

/* Numbers as they stand on the wire, at any alignment. */

static inline uint16_t ft_be16(const uint8_t *b)
{
	return (uint16_t)(b[0] << 8 | b[1]);
}

static inline uint32_t ft_be24(const uint8_t *b)
{
	return (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2];
}

static inline uint32_t ft_be32(const uint8_t *b)
{
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static inline uint64_t ft_be64(const uint8_t *b)
{
	return (uint64_t)ft_be32(b) << 32 | ft_be32(b + 4);
}
