#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t ft_sum_block __attribute__((vector_size(32)));

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

/* The same in vector registers: for payloads. */
static inline uint64_t ft_sum_blocks(uint64_t sum, const uint8_t *bytes, size_t blocks)
{
	ft_sum_block even = { 0 }, odd = { 0 }, block;

	for (; blocks > 0; blocks--, bytes += sizeof block) {
		memcpy(&block, bytes, sizeof block);
		even += block & 0xffffffff;
		odd += block >> 32;
	}
	for (size_t i = 0; i < sizeof block / sizeof block[0]; i++)
		sum += even[i] + odd[i];
	return sum;
}

static inline uint64_t ft_sum_add(uint64_t sum, const uint8_t *bytes, size_t size)
{
	size_t whole = size / sizeof(ft_sum_block) * sizeof(ft_sum_block);
	uint32_t word = 0;

	memcpy(&word, bytes + size / 4 * 4, size % 4);
	sum = ft_sum_blocks(sum, bytes, size / sizeof(ft_sum_block));
	return ft_sum_words(sum, bytes + whole, size - whole) + word;
}

/* 0xffff for a region that contains its own correct checksum, whatever the byte order. */
static inline uint16_t ft_sum_fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}
