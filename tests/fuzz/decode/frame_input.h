#pragma once

#include <stddef.h>
#include <stdint.h>

#include <decode/decode.h>

/*
 * How a fuzz input is read as a captured frame: link type, flags, bytes cut off at the end (u16), then
 * the frame's bytes. `bytes` is an exact-size copy; free() it.
 */
struct frame_input {
	struct ft_decode_config config;
	struct ft_decode_input input;
	uint8_t *bytes;
};

enum { FRAME_INPUT_HEADER = 4 };

/* False: too short to be one. */
bool frame_input_read(const uint8_t *bytes, size_t size, struct frame_input *frame);
