#pragma once

#include <partition/check.h>

/* Small maps and frames made of any bytes, with few values of everything, so that the parts of both meet. */

enum {
	TENANTS = 4,
	PORTS = 4,
	PARTITIONS = 3,
	SEGMENTS = 3,
	INTERVALS = 3,
	MEMBERS = 3,
	EXCEPTIONS = 2
};
#define SECOND INT64_C(1000000000)

struct world {
	const uint8_t *bytes;
	size_t left;
	struct ft_tenant tenants[TENANTS];
	struct ft_port ports[PORTS];
	struct ft_partition partitions[PARTITIONS];
	struct ft_segment segments[SEGMENTS];
	struct ft_interval intervals[PARTITIONS + SEGMENTS][INTERVALS];
	struct ft_member members[PARTITIONS + SEGMENTS][INTERVALS][MEMBERS];
	struct ft_exception exceptions[EXCEPTIONS];
	uint32_t named[EXCEPTIONS];
	struct ft_declared declared;
};

/* A world made of these bytes, with a declared map, and the key of a frame in it; free() it. */
struct world *world_of(const uint8_t *bytes, size_t size, struct ft_check_key *key);

/* The next byte's remainder; 0 when there are no more bytes. */
unsigned draw(struct world *world, unsigned below);
