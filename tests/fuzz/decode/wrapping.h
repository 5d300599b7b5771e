#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <decode/decode.h>

/* Frames in tunnels: mirrors and overlays around the bytes of an Ethernet frame, right and wrong, several deep. */

/* Numbers that the bytes of a fuzz input decide on. */
struct dice {
	uint64_t state;
};

struct dice dice_of(const uint8_t *bytes, size_t size);

/* 0 .. sides - 1 */
uint32_t dice_roll(struct dice *dice, uint32_t sides);

enum { WRAPPING_DEEPEST = 5 }; /* one more than is decoded */

struct wrapping {
	uint8_t *bytes; /* exactly as many as were captured; free() them */
	struct ft_decode_input input;
	uint32_t headers; /* bytes in front of the frame inside */
	unsigned depth;
	bool plain; /* nothing is wrong with the tunnels, all of which hold Ethernet, and nothing was cut or added */
	bool cut; /* nothing but that: at the end, by a mirror or by the capture */
};

/* So many tunnels around the frame; what they are, and what is wrong with them, the dice say. */
struct wrapping wrap(const struct ft_decode_input *frame, unsigned depth, struct dice *dice);
