#include "unpacker.h"

#include "byte_order.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

enum {
	WINDOW_LOG_MAX = 27, /* 128 MiB, what the zstd program accepts by default */
	FRAME_START = 5,     /* bytes the library asks for first */
};

struct zstd {
	ZSTD_DStream *stream;
	size_t wanted; /* packed bytes up to the end of the current block; 0 between frames */
	bool flushing; /* the library may hold back unpacked bytes for want of room */
};

static bool recognises(const uint8_t *bytes, size_t size)
{
	uint32_t magic = size >= 4 ? ft_le32(bytes) : 0;

	return magic == ZSTD_MAGICNUMBER ||
	       (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

static void *create(void)
{
	struct zstd *zstd = calloc(1, sizeof *zstd);

	if (zstd == NULL)
		return NULL;
	zstd->stream = ZSTD_createDStream();
	if (zstd->stream == NULL || ZSTD_isError(ZSTD_DCtx_setParameter(
					    zstd->stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX))) {
		ZSTD_freeDStream(zstd->stream);
		free(zstd);
		return NULL;
	}
	return zstd;
}

/*
 * Packed bytes to offer: block by block, and none before all is flushed, because on an error the
 * library forgets what else it unpacked in the same call.
 */
static size_t offer(const struct zstd *zstd, const struct ft_packed_bytes *packed)
{
	size_t wanted = zstd->wanted != 0 ? zstd->wanted : FRAME_START;

	if (zstd->flushing)
		return 0;
	return wanted < packed->left ? wanted : packed->left;
}

static ssize_t unpack(void *state, struct ft_packed_bytes *packed, uint8_t *into, size_t room,
		      const char **why)
{
	struct zstd *zstd = state;
	ZSTD_outBuffer out = { into, room, 0 };

	while (out.pos == 0 && (packed->left > 0 || zstd->flushing)) {
		ZSTD_inBuffer in = { packed->at, offer(zstd, packed), 0 };
		size_t wanted = ZSTD_decompressStream(zstd->stream, &out, &in);

		packed->at += in.pos;
		packed->left -= in.pos;
		if (ZSTD_isError(wanted)) {
			*why = ZSTD_getErrorName(wanted);
			return -EBADMSG;
		}
		zstd->wanted = wanted;
		zstd->flushing = out.pos == room;
	}
	return (ssize_t)out.pos;
}

static bool complete(const void *state)
{
	return ((const struct zstd *)state)->wanted == 0;
}

static void destroy(void *state)
{
	struct zstd *zstd = state;

	ZSTD_freeDStream(zstd->stream);
	free(zstd);
}

const struct ft_unpacker ft_zstd = {
	.name = "zstd",
	.recognises = recognises,
	.create = create,
	.unpack = unpack,
	.complete = complete,
	.destroy = destroy,
};
