#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <decode/big_endian.h>

/* Inside a mirror copy nobody knows how long the packet was: the switch may have cut it unmarked. */
#define FT_WIRE_UNKNOWN UINT32_MAX

/*
 * Where reading stands in a frame, and the bounds of the layer being read. Positions count from the
 * frame's first byte. Always at <= captured <= wire.
 */
struct ft_cursor {
	const uint8_t *bytes;
	uint32_t at;       /* next byte to read */
	uint32_t captured; /* end of what the capture holds */
	uint32_t wire;     /* end of what existed, or FT_WIRE_UNKNOWN */
};

static inline uint32_t ft_captured_left(const struct ft_cursor *cursor)
{
	return cursor->captured - cursor->at;
}

static inline uint32_t ft_wire_left(const struct ft_cursor *cursor)
{
	return cursor->wire - cursor->at;
}

/* `size` bytes, or NULL and no move if the capture does not hold them. */
static inline const uint8_t *ft_take(struct ft_cursor *cursor, uint32_t size)
{
	const uint8_t *taken = cursor->bytes + cursor->at;

	if (size > ft_captured_left(cursor))
		return NULL;
	cursor->at += size;
	return taken;
}

/* The layer ends `size` <= ft_wire_left() bytes from here. */
static inline void ft_narrow(struct ft_cursor *cursor, uint32_t size)
{
	cursor->wire = cursor->at + size;
	if (cursor->captured > cursor->wire)
		cursor->captured = cursor->wire;
}
