#include "gzipped.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <zlib.h>

#include <cmocka.h>

void put_gzip(struct building *packed, const uint8_t *bytes, size_t size)
{
	z_stream stream = { 0 };
	size_t bound = size + size / 100 + 1000;
	uint8_t *out = malloc(bound);

	assert_int_equal(
		deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
	stream.next_in = (z_const Bytef *)bytes;
	stream.avail_in = (uInt)size;
	stream.next_out = out;
	stream.avail_out = (uInt)bound;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	put_bytes(packed, out, stream.total_out);
	deflateEnd(&stream);
	free(out);
}
