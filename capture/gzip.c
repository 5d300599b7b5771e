#include "unpacker.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

enum { GZIP_ONLY = 16 + MAX_WBITS };

struct gzip {
	z_stream stream;
	bool between; /* members: the stream may end, or be padded with zeros */
};

static bool recognises(const uint8_t *bytes, size_t size)
{
	return size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

static void *create(void)
{
	struct gzip *gzip = calloc(1, sizeof *gzip);

	if (gzip != NULL && inflateInit2(&gzip->stream, GZIP_ONLY) == Z_OK)
		return gzip;
	free(gzip);
	return NULL;
}

static void skip_padding(struct ft_packed_bytes *packed)
{
	while (packed->left > 0 && packed->at[0] == 0) {
		packed->at++;
		packed->left--;
	}
}

/* One call of inflate(); its verdict, with *packed moved on and *made set. */
static int inflate_some(z_stream *stream, struct ft_packed_bytes *packed, uint8_t *into,
			size_t room, size_t *made)
{
	uInt offered_in = (uInt)packed->left, offered_out = (uInt)room;
	int verdict;

	stream->next_in = (z_const Bytef *)packed->at;
	stream->avail_in = offered_in;
	stream->next_out = into;
	stream->avail_out = offered_out;
	verdict = inflate(stream, Z_NO_FLUSH);
	packed->at += offered_in - stream->avail_in;
	packed->left -= offered_in - stream->avail_in;
	*made = offered_out - stream->avail_out;
	return verdict;
}

static ssize_t unpack(void *state, struct ft_packed_bytes *packed, uint8_t *into, size_t room,
		      const char **why)
{
	struct gzip *gzip = state;
	size_t made = 0;

	while (made == 0) {
		int verdict;

		if (gzip->between)
			skip_padding(packed);
		if (packed->left == 0 && gzip->between)
			return 0;
		gzip->between = false;
		verdict = inflate_some(&gzip->stream, packed, into, room, &made);
		if (verdict == Z_STREAM_END) {
			gzip->between = inflateReset(&gzip->stream) == Z_OK;
		} else if (verdict == Z_BUF_ERROR || (verdict == Z_OK && packed->left == 0)) {
			break;
		} else if (verdict != Z_OK && made == 0) {
			*why = gzip->stream.msg != NULL ? gzip->stream.msg : "not unpackable";
			return -EBADMSG;
		}
	}
	return (ssize_t)made;
}

static bool complete(const void *state)
{
	return ((const struct gzip *)state)->between;
}

static void destroy(void *state)
{
	struct gzip *gzip = state;

	inflateEnd(&gzip->stream);
	free(gzip);
}

const struct ft_unpacker ft_gzip = {
	.name = "gzip",
	.recognises = recognises,
	.create = create,
	.unpack = unpack,
	.complete = complete,
	.destroy = destroy,
};
