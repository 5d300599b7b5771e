#undef NDEBUG

#include "../holds.h"
#include "walk.h"

#include <assert.h>

static const uint8_t headers[4][24] = {
	{ 0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, [20] = 1, 0, 0, 0 },
	{ 0xa1, 0xb2, 0x3c, 0x4d, 0, 2, 0, 4, [20] = 0, 0, 0, 197 },
	{ 0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 3, 0, [20] = 247, 0, 0, 0x24 },
	{ 0xa1, 0xb2, 0xc3, 0xd4, 0, 2, 0, 2, [20] = 0, 0, 0, 113 },
};

/* Any bytes are a file, and any bytes are records after a good file header: one per 16 bytes at most. */
void ft_holds(const uint8_t *bytes, size_t size)
{
	walk_in_bursts(bytes, size);
	for (int i = 0; i < 4; i++) {
		struct walk walk = walk_after(headers[i], sizeof headers[i], bytes, size);

		assert(walk.opened == 0);
		assert(walk.frames <= size / 16);
		assert(walk.damaged || walk.frames > 0 || size == 0);
	}
}
