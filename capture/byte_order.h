#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Unaligned numbers of files whose byte order is known only when they are opened. */

static inline uint16_t ft_le16(const uint8_t *b)
{
	return (uint16_t)(b[0] | b[1] << 8);
}

static inline uint16_t ft_be16(const uint8_t *b)
{
	return (uint16_t)(b[0] << 8 | b[1]);
}

static inline uint32_t ft_le32(const uint8_t *b)
{
	return (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

static inline uint32_t ft_be32(const uint8_t *b)
{
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static inline uint16_t ft_u16(const uint8_t *b, bool big)
{
	return big ? ft_be16(b) : ft_le16(b);
}

static inline uint32_t ft_u32(const uint8_t *b, bool big)
{
	return big ? ft_be32(b) : ft_le32(b);
}

static inline uint64_t ft_u64(const uint8_t *b, bool big)
{
	uint64_t first = ft_u32(b, big), second = ft_u32(b + 4, big);

	return big ? first << 32 | second : second << 32 | first;
}
