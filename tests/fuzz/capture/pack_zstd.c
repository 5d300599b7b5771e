#undef NDEBUG

#include "packed_holds.h"

#include <assert.h>
#include <stdlib.h>
#include <zstd.h>

const uint8_t packed_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
const size_t packed_magic_size = sizeof packed_magic;

uint8_t *pack(const uint8_t *bytes, size_t size, size_t *packed_size)
{
	size_t room = ZSTD_compressBound(size);
	uint8_t *packed = malloc(room);

	assert(packed != NULL);
	*packed_size = ZSTD_compress(packed, room, bytes, size, 1);
	assert(!ZSTD_isError(*packed_size));
	return packed;
}
