#include "stream.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <capture/clock.h>
#include <capture/source.h>

enum {
	MAGIC = 4,              /* bytes that tell a compression */
	MEMORY_PIECE = 4 << 10, /* small, so that tests meet the seams between pieces */
	PACKED_PIECE = 128 << 10,
	GLANCE_MS = 100, /* between looks whether to stop, while nothing arrives */
};

static void fail(struct ft_stream *stream, const char *what, const char *why)
{
	stream->ended = true;
	snprintf(stream->fault, sizeof stream->fault, "%s (input byte %llu): %s", what,
		 (unsigned long long)(stream->taken - stream->packed.left), why);
}

/* It was asked to stop, and the time for what was on its way is over. */
static bool time_is_over(struct ft_stream *stream)
{
	uint64_t now_ns;

	if (*stream->stop == 0)
		return false;
	now_ns = ft_clock_monotonic_ns();
	if (stream->stop_by_ns == 0)
		stream->stop_by_ns = now_ns + FT_SOURCE_STOP_MS * UINT64_C(1000000);
	return now_ns >= stream->stop_by_ns;
}

/* Until there is something to read, its end, or a reason for read() to fail. False: it is to stop. */
static bool wait_for_bytes(struct ft_stream *stream)
{
	struct pollfd input = { .fd = stream->fd, .events = POLLIN };
	int ready;

	do {
		stream->stopped = time_is_over(stream);
		if (stream->stopped)
			return false;
		ready = poll(&input, 1, GLANCE_MS);
	} while (ready == 0 || (ready < 0 && errno == EINTR));
	return true;
}

/* A descriptor that somebody set to non-blocking is waited for. */
static ssize_t read_patiently(struct ft_stream *stream, uint8_t *into, size_t room)
{
	for (;;) {
		ssize_t got;

		if (stream->stop != NULL && !wait_for_bytes(stream))
			return 0;
		got = read(stream->fd, into, room);
		if (got >= 0 || (errno != EINTR && errno != EAGAIN))
			return got;
		if (errno == EAGAIN)
			poll(&(struct pollfd){ .fd = stream->fd, .events = POLLIN }, 1, -1);
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
		got = read_patiently(stream, into, room);
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
		if (!stream->ended && !stream->stopped && !unpacker->complete(stream->unpacking))
			fail(stream, unpacker->name, "ends in the middle of the packed data");
		return 0;
	}
}

static size_t read_some(struct ft_stream *stream, uint8_t *into, size_t room)
{
	return stream->unpacker != NULL ? unpack_input(stream, into, room)
					: read_input(stream, into, room);
}

/* The buffer holds `size` bytes, and the window stands at its front. */
static bool make_room(struct ft_stream *stream, size_t size)
{
	size_t left = ft_stream_left(stream), capacity = size + stream->piece;
	bool holds = true;

	if (left > 0)
		memmove(stream->buffer, stream->at, left);
	if (size > stream->capacity) {
		uint8_t *larger = realloc(stream->buffer, capacity);

		holds = larger != NULL;
		if (holds) {
			stream->buffer = larger;
			stream->capacity = capacity;
		} else {
			fail(stream, "no memory", "for a large record");
		}
	}
	stream->at = stream->buffer;
	stream->end = stream->buffer + left;
	return holds;
}

static void read_on(struct ft_stream *stream, size_t size)
{
	if (!make_room(stream, size))
		return;
	while (ft_stream_left(stream) < size && !stream->ended) {
		size_t left = ft_stream_left(stream);
		size_t got = read_some(stream, stream->buffer + left, stream->capacity - left);

		stream->end += got;
		stream->made += got;
		stream->ended |= got == 0;
	}
}

static bool is_plain(const struct ft_stream *stream)
{
	struct stat status;

	return stream->fd >= 0 && stream->unpacker == NULL && fstat(stream->fd, &status) == 0 &&
	       S_ISREG(status.st_mode);
}

static void fill_piece(void *context, struct ft_piece *piece, size_t most)
{
	piece->size = read_some(context, piece->bytes, most);
}

/* The window goes on in the next piece, with what is left of the one in which it is; that one stays as it is. */
static void turn(struct ft_stream *stream)
{
	struct ft_piece *piece = ft_pieces_take(stream->pieces, *stream->call);
	size_t left = ft_stream_left(stream);

	if (!ft_piece_make_room(stream->pieces, piece, left)) {
		fail(stream, "no memory", "for a large record");
		return;
	}
	if (left > 0)
		memcpy(piece->bytes - left, stream->at, left);
	if (stream->current != NULL)
		ft_pieces_leave(stream->pieces, stream->current, stream->lent, *stream->call);
	if (stream->lent)
		stream->turned = *stream->call;
	stream->lent = false;
	stream->current = piece;
	stream->at = piece->bytes - left;
	stream->end = piece->bytes + piece->size;
	stream->made += piece->size;
	if (stream->pieces->fill == NULL)
		stream->taken += piece->size;
	if (piece->error != 0)
		fail(stream, "read error", strerror(piece->error));
	stream->ended |= piece->size == 0 ||
			 (stream->pieces->fill == NULL && piece->size < stream->pieces->most);
}

uint64_t ft_stream_offset(const struct ft_stream *stream)
{
	return stream->made - ft_stream_left(stream);
}

bool ft_stream_need(struct ft_stream *stream, size_t size)
{
	if (ft_stream_left(stream) >= size)
		return true;
	if (stream->pieces == NULL && !stream->ended)
		read_on(stream, size);
	while (stream->pieces != NULL && ft_stream_left(stream) < size && !stream->ended)
		turn(stream);
	return ft_stream_left(stream) >= size;
}

bool ft_stream_read_ahead(struct ft_stream *stream)
{
	return stream->pieces != NULL && ft_pieces_read_ahead(stream->pieces);
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
	stream->at = stream->end = stream->buffer;
	stream->made = 0;
	stream->ended = false;
	return 0;
}

static int start(struct ft_stream *stream)
{
	stream->buffer = malloc(stream->piece);
	if (stream->buffer == NULL)
		return -ENOMEM;
	stream->capacity = stream->piece;
	stream->at = stream->end = stream->buffer;
	return start_unpacking(stream);
}

int ft_stream_keep(struct ft_stream *stream, unsigned calls, const uint64_t *call, size_t piece)
{
	size_t most = stream->fd >= 0 ? piece : stream->piece;
	struct ft_pieces *pieces;
	int error;

	assert(calls > 1 && !stream->lent && stream->current == NULL);
	error = ft_pieces_create(&pieces, calls, most, stream->fd,
				 is_plain(stream) ? NULL : fill_piece, stream);
	if (error != 0)
		return error;
	ft_pieces_destroy(stream->pieces);
	stream->pieces = pieces;
	stream->call = call;
	return 0;
}

int ft_stream_open_fd(struct ft_stream *stream, int fd, size_t piece,
		      const volatile sig_atomic_t *stop)
{
	*stream = (struct ft_stream){ .fd = fd, .piece = piece, .stop = stop };
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
	ft_pieces_destroy(stream->pieces);
	free(stream->buffer);
	*stream = (struct ft_stream){ .fd = -1 };
}
