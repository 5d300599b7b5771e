#include "map_promises.h"

#undef NDEBUG /* promises are kept in every build */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../holds.h"

/* No two ports share a GUID or a LID, and at most one is the subnet manager's. */
static void assert_distinct(const struct ft_declared *declared)
{
	uint8_t *taken = calloc(0xc000, 1);
	size_t managers = 0;

	if (taken == NULL)
		abort();
	for (size_t i = 0; i < declared->port_count; i++) {
		const struct ft_port *port = &declared->ports[i];

		managers += port->is_sm;
		for (unsigned lid = port->lid; port->has_lid && lid < port->lid + (1u << port->lmc);
		     lid++)
			assert(taken[lid]++ == 0);
		for (size_t j = 0; j < i && j < 64; j++)
			assert(!port->has_guid || !declared->ports[j].has_guid ||
			       declared->ports[j].guid != port->guid);
	}
	assert(managers <= 1);
	free(taken);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct ft_map_complaint complaint;
	struct ft_declared *declared = NULL;
	int failed = ft_map_load_topology(&declared, "net", bytes, size, &complaint);

	if (failed != 0) {
		assert(declared == NULL && strncmp(complaint.text, "net", 3) == 0);
		return;
	}
	assert_declared(declared);
	assert_distinct(declared);
	ft_declared_destroy(declared);
}
