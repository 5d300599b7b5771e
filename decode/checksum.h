#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * The Internet checksum's one's-complement sum (RFC 1071) in memory byte order, not folded: add
 * several, then fold. Only the last piece of a sum may have an odd size.
 */
static inline uint64_t ft_sum_add(uint64_t sum, const uint8_t *bytes, size_t size)
{
	uint32_t word;

	for (; size >= 4; size -= 4, bytes += 4) {
		memcpy(&word, bytes, 4);
		sum += word;
	}
	word = 0;
	memcpy(&word, bytes, size);
	return sum + word;
}

/* 0xffff for a region that contains its own correct checksum, whatever the byte order. */
static inline uint16_t ft_sum_fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}
