#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Seeded multiply-mix of a fixed-size key without padding. Keys are chosen by whoever sends, so the
 * seed must differ from run to run; nothing that is reported depends on it.
 */

/* The two halves of the 128-bit product, one XORed with the other. */
static inline uint64_t ft_mix(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 wide;
	wide product = (wide)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Of a key of `size` bytes: what ft_hash_step() goes on with, 16 bytes at a time. */
static inline uint64_t ft_hash_begin(size_t size, uint64_t seed)
{
	return seed ^ size * 0x9e3779b97f4a7c15u;
}

/* With the next 16 bytes of the key. */
static inline uint64_t ft_hash_step(uint64_t hash, uint64_t word, uint64_t next, uint64_t seed)
{
	return ft_mix(word + hash, next ^ 0xa0761d6478bd642fu ^ seed);
}

/* Of all `size` bytes, any number of them: begin, steps, and what is less than 16 bytes at the end. */
static inline uint64_t ft_hash(const void *key, size_t size, uint64_t seed)
{
	const uint8_t *bytes = key;
	const size_t whole = size;
	uint64_t hash = ft_hash_begin(size, seed);
	uint64_t word[2] = { 0, 0 };

	for (; size >= sizeof word; bytes += sizeof word, size -= sizeof word) {
		memcpy(word, bytes, sizeof word);
		hash = ft_hash_step(hash, word[0], word[1], seed);
	}
	if (size != 0) {
		/* not by way of a padded copy, which would have to be stored before it is read */
		if (whole >= sizeof word)
			memcpy(word, bytes + size - sizeof word, sizeof word);
		else
			memcpy(word, bytes, size);
		hash = ft_mix(word[0] ^ hash, word[1] ^ 0xd6e8feb86659fd93u ^ seed);
	}
	return hash;
}
