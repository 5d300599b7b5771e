#pragma once

#include "outline.h"

/*
 * The project's own map format, schema tapmap/1 (docs/formats.md). What is refused is in the
 * builder's diagnostics as errors. 0 or -ENOMEM.
 */
int ft_tapmap_read(struct ft_builder *builder, uint32_t file, const char *text, size_t size);

/* The parts of a document, in the order in which they depend on each other. 0 or -ENOMEM. */
int ft_tapmap_tenants(struct ft_reading *reading, const struct ft_long_array *tenants);
int ft_tapmap_nodes(struct ft_reading *reading, const struct ft_long_array *nodes);
int ft_tapmap_partitions(struct ft_reading *reading, const struct ft_long_array *partitions);
int ft_tapmap_segments(struct ft_reading *reading, const struct ft_long_array *segments);
int ft_tapmap_exceptions(struct ft_reading *reading, const struct ft_long_array *exceptions);

/* Lists of tenants by name (options, exceptions). */
struct ft_tenant_list {
	uint32_t *tenants;
	size_t count;
};
void ft_tapmap_tenant_list(struct ft_reading *reading, struct ft_value value,
			   struct ft_tenant_list *list);

/* intervals[] of a partition or a segment, put in order of time. */
struct ft_interval_list {
	struct ft_interval *intervals;
	size_t count;
	bool segment; /* members: which kinds, and with membership or without */
};
void ft_tapmap_intervals(struct ft_reading *reading, struct ft_value value,
			 struct ft_interval_list *list);
