#pragma once

#include <stddef.h>
#include <stdint.h>

/* What a source handed out, in one number per aspect. */
struct walk {
	int opened; /* 0, or what the open returned */
	uint64_t frames;
	uint64_t wire;   /* bytes on the wire */
	uint64_t digest; /* of all frames: bytes, lengths, times, places */
	int damaged;
};

/*
 * Open the bytes as a capture and read it to its end, every byte of every frame, in bursts of `room`
 * that are kept for `keep` calls, asserting what source.h and frame.h promise.
 */
struct walk walk_source(const uint8_t *bytes, size_t size, int room, unsigned keep);

/* The same in bursts of 1, of 64, and of 5 kept for 3 calls, which must not differ. */
struct walk walk_in_bursts(const uint8_t *bytes, size_t size);

/* The same over a prefix and the bytes. */
struct walk walk_after(const uint8_t *prefix, size_t prefix_size, const uint8_t *bytes,
		       size_t size);
