#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * The Internet checksum's one's-complement sum (RFC 1071) in memory byte order, not folded: add
 * several, then ask. ft_sum_words() is for multiples of 4; only a sum's last piece may be odd.
 */
static inline uint64_t ft_sum_word(const uint8_t *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof word);
	return word;
}

static inline uint64_t ft_sum_words(uint64_t sum, const uint8_t *bytes, size_t size)
{
	for (; size >= 4; size -= 4, bytes += 4)
		sum += ft_sum_word(bytes);
	return sum;
}

/* Any size, and fast for payloads. */
uint64_t ft_sum_add(uint64_t sum, const uint8_t *bytes, size_t size);

/* A region that contains its own checksum folds to 0xffff, in either byte order; all zeros do not count. */
static inline bool ft_sum_is_good(uint64_t sum)
{
	return sum != 0 && sum % 0xffff == 0;
}
