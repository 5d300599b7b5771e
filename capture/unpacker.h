#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Packed bytes not yet used. */
struct ft_packed_bytes {
	const uint8_t *at;
	size_t left;
};

/* A compression: unpacks a stream piece by piece, in bounded memory whatever the stream says. */
struct ft_unpacker {
	const char *name;
	/* Whether a file that starts with these bytes is of this kind. */
	bool (*recognises)(const uint8_t *bytes, size_t size);
	void *(*create)(void); /* NULL: out of memory */
	/*
	 * Take from *packed, write at most `room` bytes. Returns how many; 0 when it wants more packed
	 * bytes; -EBADMSG when the stream is corrupt, and *why says how.
	 */
	ssize_t (*unpack)(void *state, struct ft_packed_bytes *packed, uint8_t *into, size_t room,
			  const char **why);
	/* Whether the stream may end here. */
	bool (*complete)(const void *state);
	void (*destroy)(void *state);
};

/* RFC 1952, concatenated members, zero padding at the end */
extern const struct ft_unpacker ft_gzip;
/* RFC 8878, concatenated and skippable frames, windows to 128 MiB */
extern const struct ft_unpacker ft_zstd;
