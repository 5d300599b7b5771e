#undef NDEBUG

#include "../holds.h"
#include "walk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t start[] = {
	0x0a, 0x0d, 0x0d, 0x0a, 28,   0,    0,    0,    0x4d, 0x3c, 0x2b, 0x1a, 1,  0, 0, 0,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 28,   0,    0,    0,    1,  0, 0, 0,
	20,   0,    0,    0,    1,    0,    0,    0,    0,    0,    0,    0,    20, 0, 0, 0,
};

static const uint8_t types[8] = { 1, 2, 3, 6, 6, 6, 5, 0x0a };

/*
 * The bytes as the bodies of blocks whose lengths are right, so that all the rest gets its turn: one
 * byte says which type and how many words follow.
 */
static size_t frame_blocks(const uint8_t *bytes, size_t size, uint8_t *file)
{
	size_t at = sizeof start;

	memcpy(file, start, sizeof start);
	for (size_t i = 0; i < size;) {
		uint8_t type = types[bytes[i] & 7];
		size_t body = (size_t)(bytes[i] >> 3) * 4;
		uint8_t length = (uint8_t)(body + 12);

		i++;
		if (body > size - i)
			break;
		memset(file + at, 0, body + 12);
		file[at] = type;
		file[at + 4] = length;
		memcpy(file + at + 8, bytes + i, body);
		file[at + 8 + body] = length;
		i += body;
		at += body + 12;
	}
	return at;
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	uint8_t *file = malloc(sizeof start + 12 * (size + 1));
	struct walk walk;

	assert(file != NULL);
	walk_in_bursts(bytes, size);
	walk = walk_after(start, sizeof start, bytes, size);
	assert(walk.opened == 0 && walk.frames <= size / 16);
	walk = walk_in_bursts(file, frame_blocks(bytes, size, file));
	assert(walk.opened == 0 && walk.frames <= size);
	free(file);
}
