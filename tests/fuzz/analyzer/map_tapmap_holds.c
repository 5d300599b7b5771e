#include "map_promises.h"

#undef NDEBUG /* promises are kept in every build */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <partition/convert.h>
#include <partition/show.h>

#include "../holds.h"

static void assert_shown(const struct ft_declared *declared)
{
	FILE *out = fopen("/dev/null", "w");

	if (out == NULL)
		abort();
	assert(ft_map_show(declared, true, out) == 0 && ft_map_show(declared, false, out) == 0);
	fclose(out);
}

/* What was taken can be written, and what was written is taken again. */
static void assert_written(const struct ft_declared *declared)
{
	struct ft_map_complaint complaint;
	struct ft_declared *again = NULL;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		abort();
	assert(ft_map_convert(declared, out, &complaint) == 0);
	fclose(out);
	assert(ft_map_load_memory(&again, "again", "tapmap", (uint8_t *)text, size, &complaint) ==
	       0);
	assert(again->partition_count == declared->partition_count &&
	       again->port_count == declared->port_count);
	ft_declared_destroy(again);
	free(text);
}

/* A map is taken whole and sound, or refused with a reason; nothing in between. */
void ft_holds(const uint8_t *bytes, size_t size)
{
	struct ft_map_complaint complaint;
	struct ft_declared *declared = NULL;
	int failed = ft_map_load_memory(&declared, "map", "tapmap", bytes, size, &complaint);

	if (failed != 0) {
		assert(declared == NULL && strncmp(complaint.text, "map", 3) == 0);
		return;
	}
	assert_declared(declared);
	assert_shown(declared);
	assert_written(declared);
	ft_declared_destroy(declared);
}
