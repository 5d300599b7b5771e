#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * The Internet checksum's one's-complement sum (RFC 1071) in memory byte order, not folded: add
 * several, then fold. ft_sum_words() is for multiples of 4; only a sum's last piece may be odd.
 */
static inline uint64_t ft_sum_words(uint64_t sum, const uint8_t *bytes, size_t size)
{
	uint32_t word;

	for (; size >= 4; size -= 4, bytes += 4) {
		memcpy(&word, bytes, 4);
		sum += word;
	}
	return sum;
}

static inline uint64_t ft_sum_add(uint64_t sum, const uint8_t *bytes, size_t size)
{
	uint32_t word = 0;

	memcpy(&word, bytes + size / 4 * 4, size % 4);
	return ft_sum_words(sum, bytes, size) + word;
}

/* 0xffff for a region that contains its own correct checksum, whatever the byte order. */
static inline uint16_t ft_sum_fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}
