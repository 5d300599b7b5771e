#undef NDEBUG

#include "packed_holds.h"

#include <assert.h>
#include <stdlib.h>
#include <zlib.h>

const uint8_t packed_magic[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3 };
const size_t packed_magic_size = sizeof packed_magic;

uint8_t *pack(const uint8_t *bytes, size_t size, size_t *packed_size)
{
	z_stream stream = { 0 };
	size_t room = size + size / 100 + 100;
	uint8_t *packed = malloc(room);

	assert(packed != NULL);
	assert(deflateInit2(&stream, 1, Z_DEFLATED, 16 + MAX_WBITS, 1, Z_DEFAULT_STRATEGY) == Z_OK);
	stream.next_in = (z_const Bytef *)bytes;
	stream.avail_in = (uInt)size;
	stream.next_out = packed;
	stream.avail_out = (uInt)room;
	assert(deflate(&stream, Z_FINISH) == Z_STREAM_END);
	*packed_size = stream.total_out;
	deflateEnd(&stream);
	return packed;
}
