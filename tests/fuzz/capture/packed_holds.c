#undef NDEBUG

#include "packed_holds.h"

#include "../holds.h"
#include "walk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t pcap[24] = { 0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, [20] = 1 };

/* A stream cut short or with one bit turned gives no frame that the whole one does not. */
static void damage(uint8_t *packed, size_t size, const struct walk *whole, size_t at)
{
	struct walk walk = walk_in_bursts(packed, at % size);

	assert(walk.frames <= whole->frames);
	packed[at % size] ^= 4;
	walk_in_bursts(packed, size);
	packed[at % size] ^= 4;
}

/* Packing changes nothing; bytes that only claim to be packed are refused or damaged. */
void ft_holds(const uint8_t *bytes, size_t size)
{
	uint8_t *plain = malloc(sizeof pcap + size), *packed;
	size_t packed_size;
	struct walk before, after;

	assert(plain != NULL);
	walk_in_bursts(bytes, size);
	walk_after(packed_magic, packed_magic_size, bytes, size);
	memcpy(plain, pcap, sizeof pcap);
	if (size > 0)
		memcpy(plain + sizeof pcap, bytes, size);
	packed = pack(plain, sizeof pcap + size, &packed_size);
	before = walk_in_bursts(plain, sizeof pcap + size);
	after = walk_in_bursts(packed, packed_size);
	assert(after.opened == 0 && after.frames == before.frames);
	assert(after.digest == before.digest && after.damaged == before.damaged);
	damage(packed, packed_size, &before, size > 0 ? bytes[size / 2] * 7u : 1);
	free(packed);
	free(plain);
}
