#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unpacker.h"

/*
 * The bytes of one input, unpacked, as a window that moves on. Files are read in pieces instead of
 * being mapped: memory stays the same however large the file is, one that shrinks meanwhile just
 * ends, and a piece is still in the cache when its frames are looked at.
 */
struct ft_stream {
	const uint8_t *at, *end;            /* the window; readers move `at` */
	uint64_t taken;                     /* packed bytes read from the input so far */
	uint64_t total;                     /* its size, 0: not known */
	const struct ft_unpacker *unpacker; /* NULL: not packed */
	char fault[128]; /* why the bytes ended before their end; empty if they did not */

	/* the rest belongs to stream.c */
	int fd;                /* -1: memory */
	const uint8_t *memory; /* not yet read */
	size_t memory_left;
	uint8_t *buffer;
	size_t capacity, piece;
	uint64_t base; /* offset of buffer[0] */
	bool ended;
	void *unpacking;
	uint8_t *packed_buffer;
	struct ft_span packed;
};

/*
 * Start reading a descriptor (which stays the caller's) or memory in pieces of about `piece` bytes, and
 * find out whether it is packed. 0 or -ENOMEM; close it in either case. What is wrong with the bytes
 * shows in `fault` once they are asked for.
 */
int ft_stream_open_fd(struct ft_stream *stream, int fd, size_t piece);
int ft_stream_open_memory(struct ft_stream *stream, const uint8_t *bytes, size_t size);
void ft_stream_close(struct ft_stream *stream);

static inline size_t ft_stream_left(const struct ft_stream *stream)
{
	return (size_t)(stream->end - stream->at);
}

/* Offset of stream->at in the unpacked bytes. */
uint64_t ft_stream_offset(const struct ft_stream *stream);

/*
 * Make at least `size` bytes readable at stream->at; false if the stream ends before. Moves the
 * window in memory, so bytes handed out before are gone. The caller bounds `size`.
 */
bool ft_stream_need(struct ft_stream *stream, size_t size);

/* Step over `size` bytes without keeping them; false if the stream ends before. Moves the window. */
bool ft_stream_skip(struct ft_stream *stream, uint64_t size);
