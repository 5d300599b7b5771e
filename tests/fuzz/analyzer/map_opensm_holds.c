#include "map_promises.h"

#undef NDEBUG /* promises are kept in every build */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <partition/show.h>

#include "../holds.h"

static void assert_dropped(const struct ft_declared *declared)
{
	const struct ft_interval *interval = declared->partitions[0].intervals;

	assert(declared->partition_count == 1 && declared->partitions[0].base == FT_PKEY_DEFAULT);
	assert(interval->member_count == 1 && interval->members[0].kind == FT_MEMBER_ALL &&
	       interval->members[0].membership == FT_FULL);
}

static void assert_shown(const struct ft_declared *declared)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		abort();
	assert(ft_map_show(declared, true, out) == 0 && ft_map_show(declared, false, out) == 0);
	fclose(out);
	assert(memchr(text, '\x1b', size) == NULL);
	free(text);
}

/* OpenSM takes any text, if only by dropping it: so does this, and says which. */
void ft_holds(const uint8_t *bytes, size_t size)
{
	struct ft_map_complaint complaint;
	struct ft_declared *declared = NULL;

	assert(ft_map_load_memory(&declared, "map", "opensm", bytes, size, &complaint) == 0);
	assert_declared(declared);
	if (declared->verdict == FT_MAP_FAIL_OPEN)
		assert_dropped(declared);
	assert_shown(declared);
	ft_declared_destroy(declared);
}
