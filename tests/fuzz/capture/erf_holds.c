#undef NDEBUG

#include "../holds.h"
#include "walk.h"

#include <assert.h>
#include <string.h>

/* Two good records, so that whatever follows is read as ERF. */
static const uint8_t start[48] = {
	[7] = 0x60, [8] = 21, [11] = 24, [15] = 8, [31] = 0x60, [32] = 2, [35] = 24, [39] = 8,
};

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct walk walk;

	walk_in_bursts(bytes, size);
	walk = walk_after(start, sizeof start, bytes, size);
	assert(walk.opened == 0);
	assert(walk.frames >= 2 && walk.frames <= 2 + size / 16);
	assert(walk.damaged || walk.frames > 2 || size == 0 || size >= 16);
}
