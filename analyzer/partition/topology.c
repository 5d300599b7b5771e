#include "topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <partition/notation.h>

static bool (*const readers[])(struct ft_topology *, const char *) = {
	ft_topology_ibnetdiscover, ft_topology_port_list, ft_topology_guid2lid,
	ft_topology_subnet_list,   ft_topology_sminfo,    ft_topology_record,
};

void ft_topology_open(struct ft_topology *topology, struct ft_builder *builder)
{
	*topology = (struct ft_topology){
		.builder = builder,
		.sightings.item_size = sizeof(struct ft_sighting),
	};
}

void ft_topology_see(struct ft_topology *topology, const struct ft_sighting *sighting)
{
	struct ft_sighting *added = ft_builder_add(topology->builder, &topology->sightings);

	if (added == NULL)
		return;
	*added = *sighting;
	added->port.origin = topology->origin;
	if (added->port.has_lid && (added->port.lid == 0 || added->port.lid >= FT_LIDS))
		added->port.has_lid = false;
}

const char *ft_topology_name(struct ft_topology *topology, const char *from, const char *to)
{
	return to > from ? ft_builder_name(topology->builder, from, (size_t)(to - from)) : NULL;
}

static bool read_line(struct ft_topology *topology, const char *line)
{
	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
		if (readers[i](topology, line))
			return true;
	return false;
}

void ft_topology_read(struct ft_topology *topology, uint32_t file, char *text, size_t size)
{
	char *end = text + size, *next;
	size_t understood = 0;

	topology->origin = (struct ft_origin){ .file = file };
	memset(&topology->node, 0, sizeof topology->node);
	memset(&topology->record, 0, sizeof topology->record);
	for (char *line = text; line < end; line = next) {
		next = memchr(line, '\n', (size_t)(end - line));
		next = next != NULL ? next : end;
		if (next > line && next[-1] == '\r')
			next[-1] = '\0';
		*next++ = '\0';
		topology->origin.line++;
		understood += read_line(topology, line);
	}
	topology->origin.line = 0;
	if (understood == 0)
		ft_diagnose(topology->builder, FT_ERROR, "topology-unknown", topology->origin,
			    "this is no output of ibnetdiscover, smpquery, saquery or sminfo, and "
			    "no guid2lid");
}

/* Merging: what the map declares stays; what nobody said yet is added; the rest is a complaint. */
struct merge {
	struct ft_topology *topology;
	struct ft_builder *builder;
	bool *lmc_known; /* per port */
};

static struct ft_port *port_at(struct ft_builder *builder, uint32_t number)
{
	return (struct ft_port *)builder->ports.items + number;
}

static uint32_t find_port(const struct ft_builder *builder, const struct ft_port *seen)
{
	if (seen->has_guid)
		return ft_keys_find(&builder->guids, &seen->guid, sizeof seen->guid);
	return seen->has_lid ? ft_builder_at_lid(builder, seen->lid) : FT_NONE;
}

static const char *name_of(const struct ft_port *port, char text[FT_NOTATION_ROOM])
{
	return port->host != NULL ? port->host : ft_guid_write(text, port->guid);
}

/* True if the whole range is free or the port's own. */
static bool lids_free(const struct ft_builder *builder, uint32_t number, unsigned lid, unsigned lmc)
{
	for (unsigned i = 0; i < 1u << lmc; i++)
		if (lid + i >= FT_LIDS ||
		    (builder->lids[lid + i] != 0 && builder->lids[lid + i] != number + 1))
			return false;
	return true;
}

static void take_lids(struct merge *merge, uint32_t number, const struct ft_sighting *seen)
{
	struct ft_builder *builder = merge->builder;
	struct ft_port *port = port_at(builder, number);
	unsigned lmc = seen->has_lmc ? seen->port.lmc : port->lmc;
	char text[FT_NOTATION_ROOM];

	if (!lids_free(builder, number, seen->port.lid, lmc)) {
		ft_diagnose(builder, FT_WARNING, "lid-taken", seen->port.origin,
			    "LID %u (LMC %u) of %.80s belongs to another port; it is left without",
			    seen->port.lid, lmc, name_of(port, text));
		if (port->has_guid || lmc == 0)
			return;
		lmc = 0; /* it is known by that LID alone, which nobody else has */
	}
	port->has_lid = true;
	port->lid = seen->port.lid;
	port->lmc = (uint8_t)lmc;
	merge->lmc_known[number] |= seen->has_lmc;
	for (unsigned i = 0; i < 1u << lmc; i++)
		builder->lids[port->lid + i] = number + 1;
}

static void merge_lid(struct merge *merge, uint32_t number, const struct ft_sighting *seen)
{
	struct ft_port *port = port_at(merge->builder, number);
	char text[FT_NOTATION_ROOM];

	if (!seen->port.has_lid)
		return;
	if (port->has_lid && port->lid != seen->port.lid)
		ft_diagnose(merge->builder, FT_WARNING, "lid-differs", seen->port.origin,
			    "LID %u here, LID %u by line %u for %.80s; the first one is used",
			    seen->port.lid, port->lid, port->origin.line, name_of(port, text));
	else if (!port->has_lid || (seen->has_lmc && !merge->lmc_known[number]))
		take_lids(merge, number, seen);
	else if (seen->has_lmc && port->lmc != seen->port.lmc)
		ft_diagnose(merge->builder, FT_WARNING, "lmc-differs", seen->port.origin,
			    "LMC %u here, LMC %u by line %u for %.80s; the first one is used",
			    seen->port.lmc, port->lmc, port->origin.line, name_of(port, text));
}

static void merge_leaf(struct merge *merge, struct ft_port *port, const struct ft_port *seen)
{
	char text[FT_NOTATION_ROOM];

	if (seen->leaf == NULL)
		return;
	if (port->leaf == NULL) {
		port->leaf = seen->leaf;
		port->leaf_port = seen->leaf_port;
	} else if (strcmp(port->leaf, seen->leaf) != 0) {
		ft_diagnose(merge->builder, FT_WARNING, "leaf-differs", seen->origin,
			    "leaf \"%.40s\" here, \"%.40s\" by line %u for %.40s; the first one is "
			    "used",
			    seen->leaf, port->leaf, port->origin.line, name_of(port, text));
	}
}

static uint32_t add_port(struct merge *merge, const struct ft_sighting *seen)
{
	struct ft_builder *builder = merge->builder;
	uint32_t number = (uint32_t)builder->ports.count, owner;
	struct ft_port *port = ft_builder_add(builder, &builder->ports);

	if (port == NULL)
		return FT_NONE;
	*port = seen->port;
	port->has_lid = false; /* taken with its range, by merge_lid() */
	port->lmc = 0;
	ft_builder_claim(builder, number, &owner);
	return number;
}

static void merge_sighting(struct merge *merge, const struct ft_sighting *seen)
{
	uint32_t number = find_port(merge->builder, &seen->port);
	struct ft_port *port;

	if (number == FT_NONE && (seen->port.has_guid || seen->port.has_lid))
		number = add_port(merge, seen);
	if (number == FT_NONE)
		return;
	port = port_at(merge->builder, number);
	merge_lid(merge, number, seen);
	merge_leaf(merge, port, &seen->port);
	if (port->host == NULL)
		port->host = seen->port.host;
	if (seen->has_kind)
		port->kind = seen->port.kind;
}

/* GUID with LIDs first, LID alone last: so records without a GUID find their port. */
static int rank(const struct ft_sighting *seen)
{
	if (!seen->port.has_guid)
		return 3;
	return seen->port.has_lid ? !seen->has_lmc : 2;
}

static void find_subnet_manager(struct ft_topology *topology)
{
	struct ft_builder *builder = topology->builder;
	const struct ft_sighting *seen = topology->sightings.items, *best = NULL;
	uint32_t number;

	for (size_t i = 0; i < topology->sightings.count; i++)
		if (seen[i].sm != FT_SM_NO && (best == NULL || seen[i].sm > best->sm) &&
		    find_port(builder, &seen[i].port) != FT_NONE)
			best = &seen[i];
	if (best == NULL)
		return;
	number = find_port(builder, &best->port);
	port_at(builder, number)->is_sm = true;
	for (size_t i = 0; i < topology->sightings.count; i++) {
		uint32_t other = find_port(builder, &seen[i].port);

		if (seen[i].sm == best->sm && other != FT_NONE && other != number) {
			ft_diagnose(builder, FT_WARNING, "several-subnet-managers",
				    seen[i].port.origin,
				    "another port is named as the subnet manager's; the one of "
				    "line %u is used",
				    best->port.origin.line);
			return;
		}
	}
}

static void merge_all(struct merge *merge)
{
	const struct ft_sighting *seen = merge->topology->sightings.items;

	for (int now = 0; now <= 3; now++)
		for (size_t i = 0; i < merge->topology->sightings.count; i++)
			if (rank(&seen[i]) == now)
				merge_sighting(merge, &seen[i]);
	find_subnet_manager(merge->topology);
}

void ft_topology_close(struct ft_topology *topology)
{
	struct ft_builder *builder = topology->builder;
	size_t declared = builder->ports.count;
	struct merge merge = {
		.topology = topology,
		.builder = builder,
		.lmc_known = calloc(declared + topology->sightings.count + 1, sizeof(bool)),
	};

	if (merge.lmc_known == NULL || builder->out_of_memory) {
		builder->out_of_memory = true;
	} else {
		for (uint32_t i = 0; i < declared; i++)
			merge.lmc_known[i] = port_at(builder, i)->has_lid;
		merge_all(&merge);
	}
	free(merge.lmc_known);
	ft_list_release(&topology->sightings);
}
