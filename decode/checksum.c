#include "checksum.h"

typedef uint64_t block __attribute__((vector_size(32)));

static uint64_t sum_blocks(uint64_t sum, const uint8_t *bytes, size_t blocks)
{
	block even = { 0 }, odd = { 0 }, words;

	for (; blocks > 0; blocks--, bytes += sizeof words) {
		memcpy(&words, bytes, sizeof words);
		even += words & 0xffffffff;
		odd += words >> 32;
	}
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		sum += even[i] + odd[i];
	return sum;
}

uint64_t ft_sum_add(uint64_t sum, const uint8_t *bytes, size_t size)
{
	size_t whole = size / sizeof(block) * sizeof(block);
	uint32_t word = 0;

	memcpy(&word, bytes + size / 4 * 4, size % 4);
	sum = sum_blocks(sum, bytes, size / sizeof(block));
	return ft_sum_words(sum, bytes + whole, size - whole) + word;
}
