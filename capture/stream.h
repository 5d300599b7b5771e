#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pieces.h"
#include "unpacker.h"

/*
 * The bytes of one input, unpacked, as a window that moves on. Files are read in pieces instead of
 * being mapped, which would spare the copy: but a file that shrinks meanwhile then just ends, bytes
 * that others write into it cannot change between a check and what relies on it, memory stays the
 * same however large it is, and a piece is still in the cache when its frames are looked at.
 */
struct ft_stream {
	const uint8_t *at, *end;            /* the window; readers move `at` */
	uint64_t taken;                     /* packed bytes read from the input so far */
	uint64_t total;                     /* its size, 0: not known */
	const struct ft_unpacker *unpacker; /* NULL: not packed */
	char fault[128]; /* why the bytes ended before their end; empty if they did not */
	bool stopped;    /* they ended because that was asked for */

	/* the rest belongs to stream.c */
	int fd;                /* -1: memory */
	const uint8_t *memory; /* not yet read */
	size_t memory_left;
	uint8_t *buffer; /* the window lies in it, or in `current` */
	size_t capacity;
	struct ft_pieces *pieces; /* NULL: earlier ones are not kept */
	struct ft_piece *current; /* NULL: `buffer` */
	bool lent; /* bytes of the one in which the window lies were handed out in frames */
	const uint64_t *call; /* with pieces: number of the caller's current call */
	uint64_t turned;      /* call in which one was left that was lent; 0: none */
	size_t piece;
	uint64_t made; /* offset of the window's end */
	bool ended;
	const volatile sig_atomic_t *stop; /* NULL: nothing stops it */
	uint64_t stop_by_ns;               /* monotonic; 0: not yet asked for */
	void *unpacking;
	uint8_t *packed_buffer;
	struct ft_packed_bytes packed;
};

/*
 * Start reading a descriptor (which stays the caller's) or memory in pieces of about `piece` bytes, and
 * find out whether it is packed. 0 or -ENOMEM; close it in either case. What is wrong with the bytes
 * shows in `fault` once they are asked for. Once *stop is not 0, which a signal may set and must outlive the stream, the
 * descriptor is read for FT_SOURCE_STOP_MS more at most, however little arrives; `stop` is NULL for plain files.
 */
int ft_stream_open_fd(struct ft_stream *stream, int fd, size_t piece,
		      const volatile sig_atomic_t *stop);
int ft_stream_open_memory(struct ft_stream *stream, const uint8_t *bytes, size_t size);
void ft_stream_close(struct ft_stream *stream);

/*
 * Keep bytes that were lent readable for `calls` (> 1) calls, the one that lends them included. *call
 * numbers the calls from 1 and outlives the stream. The window then goes on in other pieces, of about
 * `piece` bytes (where memory is read, as before), instead of moving in one buffer. Before
 * anything is lent. 0, or -ENOMEM and as before.
 */
int ft_stream_keep(struct ft_stream *stream, unsigned calls, const uint64_t *call, size_t piece);

/* Bytes were handed out in frames: they stay where they are as long as was asked for. */
static inline void ft_stream_lend(struct ft_stream *stream)
{
	stream->lent = true;
}

/* Whether ft_stream_need() leaves bytes lent in the current call readable. */
static inline bool ft_stream_may_turn(const struct ft_stream *stream)
{
	return stream->pieces != NULL && stream->turned != *stream->call;
}

static inline size_t ft_stream_left(const struct ft_stream *stream)
{
	return (size_t)(stream->end - stream->at);
}

/* Offset of stream->at in the unpacked bytes. */
uint64_t ft_stream_offset(const struct ft_stream *stream);

/*
 * Make at least `size` bytes readable at stream->at; false if the stream ends before. Moves the
 * window in memory, so bytes lent before are gone unless they are kept; where they are kept, at most
 * once per call when bytes were lent since. The caller bounds `size`.
 */
bool ft_stream_need(struct ft_stream *stream, size_t size);

/* Step over `size` bytes without keeping them; false if the stream ends before. Moves the window. */
bool ft_stream_skip(struct ft_stream *stream, uint64_t size);

/*
 * Read on in a plain file whose pieces are kept, for the calls to come. Several threads may call it beside the one that
 * does all else. False: there was nothing to do.
 */
bool ft_stream_read_ahead(struct ft_stream *stream);
