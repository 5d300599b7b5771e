#pragma once

#include <endian.h>
#include <stdint.h>
#include <string.h>

/*
 * Numbers as hosts keep them in memory and some protocols send them, at any alignment; the caller has made sure that
 * the bytes are there.
 */

static inline uint16_t ft_le16(const uint8_t *b)
{
	uint16_t number;

	memcpy(&number, b, sizeof number);
	return le16toh(number);
}

static inline uint32_t ft_le32(const uint8_t *b)
{
	uint32_t number;

	memcpy(&number, b, sizeof number);
	return le32toh(number);
}

static inline uint64_t ft_le64(const uint8_t *b)
{
	uint64_t number;

	memcpy(&number, b, sizeof number);
	return le64toh(number);
}
