#pragma once

#include "builder.h"

/*
 * What the fabric's own tools print, read for the ports it names: GUID, LID range, host, kind, leaf,
 * and which port the subnet manager runs on. Every line is offered to every reader, so files may be
 * concatenated and may hold prompts and comments.
 */

/* How sure a source is that a port is the subnet manager's; the surest wins. */
enum ft_sm_hint { FT_SM_NO, FT_SM_STARTED_HERE, FT_SM_CAPABLE, FT_SM_LID, FT_SM_ANSWERED };

/* What one line, or one record, says of one port. */
struct ft_sighting {
	struct ft_port port;
	bool has_lmc, has_kind;
	enum ft_sm_hint sm;
};

struct ft_topology {
	struct ft_builder *builder;
	struct ft_list sightings;
	struct ft_origin origin; /* of the line being read */
	struct {                 /* ibnetdiscover: the node whose section this is */
		uint64_t guid;
		const char *host;
		enum ft_node_kind kind;
	} node;
	struct ft_sighting record; /* smpquery, saquery: the record being read */
};

void ft_topology_open(struct ft_topology *topology, struct ft_builder *builder);

/* Read one file; its bytes are changed. A file in which no line is understood gets an error. */
void ft_topology_read(struct ft_topology *topology, uint32_t file, char *text, size_t size);

/* Give all that was seen to the builder's ports, and find the subnet manager. */
void ft_topology_close(struct ft_topology *topology);

/* For the readers: note what the current line says. Names are copied. */
void ft_topology_see(struct ft_topology *topology, const struct ft_sighting *sighting);
const char *ft_topology_name(struct ft_topology *topology, const char *from, const char *to);

/* The readers. True: the line is theirs. */
bool ft_topology_ibnetdiscover(struct ft_topology *topology, const char *line);
bool ft_topology_port_list(struct ft_topology *topology, const char *line); /* ibnetdiscover -p */
bool ft_topology_guid2lid(struct ft_topology *topology, const char *line);
/* opensm-subnet.lst */
bool ft_topology_subnet_list(struct ft_topology *topology, const char *line);
bool ft_topology_sminfo(struct ft_topology *topology, const char *line);
bool ft_topology_record(struct ft_topology *topology, const char *line); /* smpquery, saquery */
