#include "stream.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MAGIC = 4,              /* bytes that tell a compression */
	MEMORY_PIECE = 4 << 10, /* small, so that tests meet the seams between pieces */
	PACKED_PIECE = 128 << 10,
};

static void fail(struct ft_stream *stream, const char *what, const char *why)
{
	stream->ended = true;
	snprintf(stream->fault, sizeof stream->fault, "%s (input byte %llu): %s", what,
		 (unsigned long long)(stream->taken - stream->packed.left), why);
}

/* A descriptor that somebody set to non-blocking is waited for. */
static ssize_t read_patiently(int fd, uint8_t *into, size_t room)
{
	for (;;) {
		ssize_t got = read(fd, into, room);

		if (got >= 0 || (errno != EINTR && errno != EAGAIN))
			return got;
		if (errno == EAGAIN)
			poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, -1);
	}
}

/* Bytes as they come from the input; 0 at its end or when it cannot be read on. */
static size_t read_input(struct ft_stream *stream, uint8_t *into, size_t room)
{
	ssize_t got;

	if (stream->fd < 0) {
		got = (ssize_t)(room < stream->memory_left ? room : stream->memory_left);
		if (got == 0)
			return 0;
		memcpy(into, stream->memory, (size_t)got);
		stream->memory += got;
		stream->memory_left -= (size_t)got;
	} else {
		got = read_patiently(stream->fd, into, room);
	}
	if (got < 0) {
		fail(stream, "read error", strerror(errno));
		return 0;
	}
	stream->taken += (size_t)got;
	return (size_t)got;
}

static size_t unpack_input(struct ft_stream *stream, uint8_t *into, size_t room)
{
	const struct ft_unpacker *unpacker = stream->unpacker;

	for (;;) {
		const char *why = "";
		ssize_t made =
			unpacker->unpack(stream->unpacking, &stream->packed, into, room, &why);

		if (made > 0)
			return (size_t)made;
		if (made < 0) {
			fail(stream, unpacker->name, why);
			return 0;
		}
		stream->packed.at = stream->packed_buffer;
		stream->packed.left = read_input(stream, stream->packed_buffer, PACKED_PIECE);
		if (stream->packed.left > 0)
			continue;
		if (!stream->ended && !unpacker->complete(stream->unpacking))
			fail(stream, unpacker->name, "ends in the middle of the packed data");
		return 0;
	}
}

static size_t read_some(struct ft_stream *stream, uint8_t *into, size_t room)
{
	return stream->unpacker != NULL ? unpack_input(stream, into, room)
					: read_input(stream, into, room);
}

static bool hold(struct ft_stream *stream, struct ft_buffer *buffer, size_t size)
{
	size_t capacity = size + stream->piece;
	uint8_t *larger;

	if (size <= buffer->capacity)
		return true;
	larger = realloc(buffer->bytes, capacity);
	if (larger == NULL) {
		fail(stream, "no memory", "for a large record");
		return false;
	}
	buffer->bytes = larger;
	buffer->capacity = capacity;
	return true;
}

/* Go on in the next buffer of the ring; the current one stays as it is. */
static bool turn(struct ft_stream *stream, size_t size)
{
	unsigned next = (stream->current + 1) % stream->ring_size;
	size_t left = ft_stream_left(stream);

	assert(ft_stream_may_turn(stream));
	if (!hold(stream, &stream->ring[next], size))
		return false;
	stream->base = ft_stream_offset(stream);
	memcpy(stream->ring[next].bytes, stream->at, left);
	stream->current = next;
	stream->turned = *stream->call;
	stream->lent = false;
	stream->at = stream->ring[next].bytes;
	stream->end = stream->at + left;
	return true;
}

/* Bring the window to the front of a buffer that holds `size` bytes. */
static bool make_room(struct ft_stream *stream, size_t size)
{
	struct ft_buffer *buffer = &stream->ring[stream->current];
	size_t left = ft_stream_left(stream);
	bool holds;

	if (stream->lent && stream->ring_size > 1)
		return turn(stream, size);
	stream->base = ft_stream_offset(stream);
	if (left > 0)
		memmove(buffer->bytes, stream->at, left);
	holds = hold(stream, buffer, size);
	stream->at = buffer->bytes;
	stream->end = buffer->bytes + left;
	return holds;
}

uint64_t ft_stream_offset(const struct ft_stream *stream)
{
	return stream->base + (uint64_t)(stream->at - stream->ring[stream->current].bytes);
}

bool ft_stream_need(struct ft_stream *stream, size_t size)
{
	if (ft_stream_left(stream) >= size)
		return true;
	if (stream->ended || !make_room(stream, size))
		return false;
	while (ft_stream_left(stream) < size && !stream->ended) {
		const struct ft_buffer *buffer = &stream->ring[stream->current];
		size_t left = ft_stream_left(stream);
		size_t got = read_some(stream, buffer->bytes + left, buffer->capacity - left);

		stream->end += got;
		stream->ended |= got == 0;
	}
	return ft_stream_left(stream) >= size;
}

bool ft_stream_skip(struct ft_stream *stream, uint64_t size)
{
	while (size > ft_stream_left(stream)) {
		size -= ft_stream_left(stream);
		stream->at = stream->end;
		if (!ft_stream_need(stream, 1))
			return false;
	}
	stream->at += size;
	return true;
}

/* The first bytes decide; if they are packed they become packed bytes instead of the window. */
static int start_unpacking(struct ft_stream *stream)
{
	static const struct ft_unpacker *const unpackers[] = { &ft_gzip, &ft_zstd };
	size_t size;

	ft_stream_need(stream, MAGIC);
	size = ft_stream_left(stream);
	for (size_t i = 0; i < sizeof unpackers / sizeof unpackers[0]; i++) {
		if (unpackers[i]->recognises(stream->at, size))
			stream->unpacker = unpackers[i];
	}
	if (stream->unpacker == NULL)
		return 0;
	stream->packed_buffer = malloc(size > PACKED_PIECE ? size : PACKED_PIECE);
	stream->unpacking = stream->unpacker->create();
	if (stream->packed_buffer == NULL || stream->unpacking == NULL)
		return -ENOMEM;
	memcpy(stream->packed_buffer, stream->at, size);
	stream->packed = (struct ft_packed_bytes){ stream->packed_buffer, size };
	stream->at = stream->end = stream->ring[0].bytes;
	stream->ended = false;
	return 0;
}

static int start(struct ft_stream *stream)
{
	uint8_t *bytes = malloc(stream->piece);

	stream->ring = calloc(1, sizeof *stream->ring);
	if (bytes == NULL || stream->ring == NULL) {
		free(bytes);
		return -ENOMEM;
	}
	stream->ring[0] = (struct ft_buffer){ bytes, stream->piece };
	stream->ring_size = 1;
	stream->at = stream->end = bytes;
	return start_unpacking(stream);
}

static void free_buffers(struct ft_stream *stream, unsigned from)
{
	while (stream->ring_size > from)
		free(stream->ring[--stream->ring_size].bytes);
}

int ft_stream_keep(struct ft_stream *stream, unsigned calls, const uint64_t *call, size_t piece)
{
	struct ft_buffer *ring;

	assert(calls > 1 && !stream->lent && stream->current == 0);
	free_buffers(stream, 1);
	ring = reallocarray(stream->ring, calls + 1, sizeof *ring);
	if (ring == NULL)
		return -ENOMEM;
	stream->ring = ring;
	stream->call = call;
	if (stream->fd >= 0)
		stream->piece = piece;
	while (stream->ring_size <= calls) {
		uint8_t *bytes = malloc(stream->piece);

		if (bytes == NULL) {
			free_buffers(stream, 1);
			return -ENOMEM;
		}
		ring[stream->ring_size++] = (struct ft_buffer){ bytes, stream->piece };
	}
	return 0;
}

int ft_stream_open_fd(struct ft_stream *stream, int fd, size_t piece)
{
	*stream = (struct ft_stream){ .fd = fd, .piece = piece };
	posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return start(stream);
}

int ft_stream_open_memory(struct ft_stream *stream, const uint8_t *bytes, size_t size)
{
	*stream = (struct ft_stream){
		.fd = -1,
		.memory = bytes,
		.memory_left = size,
		.total = size,
		.piece = MEMORY_PIECE,
	};
	return start(stream);
}

void ft_stream_close(struct ft_stream *stream)
{
	if (stream->unpacking != NULL)
		stream->unpacker->destroy(stream->unpacking);
	free(stream->packed_buffer);
	free_buffers(stream, 0);
	free(stream->ring);
	*stream = (struct ft_stream){ .fd = -1 };
}
