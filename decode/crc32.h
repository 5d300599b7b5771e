#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * CRC-32 of Ethernet and of the ICRC: polynomial 0x04c11db7, reflected, all ones before and after.
 * `seed` is 0, or the result for the bytes in front of these.
 */
uint32_t ft_crc32(uint32_t seed, const uint8_t *bytes, size_t size);

#define FT_CRC32_CHUNK         16
#define FT_CRC32_CHUNKS_MASKED 4

/* What is ORed into the first bytes; whole chunks of them are readable, even if they reach beyond `size`. */
struct ft_crc32_mask {
	uint32_t chunks; /* 1 .. FT_CRC32_CHUNKS_MASKED */
	uint8_t ones[FT_CRC32_CHUNKS_MASKED * FT_CRC32_CHUNK];
};

/* The CRC-32 of bytes | mask. */
uint32_t ft_crc32_masked(uint32_t seed, const struct ft_crc32_mask *mask, const uint8_t *bytes,
			 size_t size);

/* Does a CRC lie at `stored`? Both fields have the low byte first, unlike all others. */
static inline bool ft_crc32_is(const uint8_t *stored, uint32_t crc)
{
	return stored[0] == (crc & 0xff) && stored[1] == (crc >> 8 & 0xff) &&
	       stored[2] == (crc >> 16 & 0xff) && stored[3] == crc >> 24;
}
