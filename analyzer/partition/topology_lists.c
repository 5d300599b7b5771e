#include "topology.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *word;
	enum ft_node_kind kind;
} kinds[] = { { "CA", FT_NODE_CA },    { "SW", FT_NODE_SWITCH },    { "RT", FT_NODE_ROUTER },
	      { "CA-SM", FT_NODE_CA }, { "SW-SM", FT_NODE_SWITCH }, { "RT-SM", FT_NODE_ROUTER } };

static bool read_kind(const char *word, struct ft_sighting *seen)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strcmp(kinds[i].word, word) == 0) {
			seen->port.kind = kinds[i].kind;
			seen->has_kind = true;
			return true;
		}
	}
	return false;
}

static void set_lid(struct ft_sighting *seen, unsigned lid)
{
	seen->port.has_lid = lid < FT_LIDS;
	seen->port.lid = (uint16_t)lid;
}

/* ( 'st2 mlx5_0' - 'leaf2' ), or 'leaf2' alone where nothing is connected */
static void read_names(struct ft_topology *topology, const char *text, struct ft_sighting *seen,
		       bool *linked, const char **peer)
{
	const char *first = strchr(text, '\''),
		   *between = first != NULL ? strstr(first + 1, "' - '") : NULL;
	const char *last = strrchr(text, '\'');

	*linked = between != NULL && between + 5 <= last;
	if (first == NULL || last <= first)
		return;
	seen->port.host = ft_topology_name(topology, first + 1, *linked ? between : last);
	*peer = *linked ? ft_topology_name(topology, between + 5, last) : NULL;
}

/* CA    12  1 0xb8cef60300100091 4x SDR - SW     3  5 0xb8cef60300aa0200 ( 'st2 mlx5_0' - 'leaf2' ) */
bool ft_topology_port_list(struct ft_topology *topology, const char *line)
{
	struct ft_sighting seen = { .port.has_guid = true };
	char kind[6], peer_kind[3];
	unsigned lid, peer_port;
	const char *link, *peer = NULL;
	bool linked = false;

	if (sscanf(line, "%2s %5u %*u 0x%16lx %*s", kind, &lid, &seen.port.guid) != 3 ||
	    !read_kind(kind, &seen))
		return false;
	set_lid(&seen, lid);
	read_names(topology, line, &seen, &linked, &peer);
	link = strstr(line, " - ");
	if (linked && link != NULL && seen.port.kind != FT_NODE_SWITCH &&
	    sscanf(link, " - %2s %*u %5u", peer_kind, &peer_port) == 2 &&
	    strcmp(peer_kind, "SW") == 0) {
		seen.port.leaf = peer;
		seen.port.leaf_port = peer_port;
	}
	ft_topology_see(topology, &seen);
	return true;
}

/* 0xb8cef60300aa0300 0x0004 0x0007: the LIDs first to last; their number is a power of two */
bool ft_topology_guid2lid(struct ft_topology *topology, const char *line)
{
	struct ft_sighting seen = { .port.has_guid = true, .has_lmc = true };
	unsigned first, last;
	int length = 0;

	if (sscanf(line, "0x%16lx 0x%4x 0x%4x%n", &seen.port.guid, &first, &last, &length) != 3 ||
	    line[length + (int)strspn(line + length, " \t")] != '\0')
		return false;
	set_lid(&seen, first);
	while (seen.port.lmc < 7 && first + (1u << seen.port.lmc) - 1 < last)
		seen.port.lmc++;
	if (first + (1u << seen.port.lmc) - 1 != last) {
		ft_diagnose(topology->builder, FT_WARNING, "lid-range-odd", topology->origin,
			    "LIDs %u to %u are no power of two; the line is not used", first, last);
		return true;
	}
	ft_topology_see(topology, &seen);
	return true;
}

/* CA-SM Ports:01 … PortGUID:b8cef60300100011 … {sm1 mlx5_0} LID:0001 PN:01 } */
static bool read_end(struct ft_topology *topology, const char *text, struct ft_sighting *seen,
		     unsigned *port)
{
	char kind[6];
	unsigned lid;
	const char *guid = strstr(text, "PortGUID:"), *name = strchr(text, '{');
	const char *close = name != NULL ? strstr(name, "} LID:") : NULL;

	*seen = (struct ft_sighting){ .port.has_guid = true };
	if (guid == NULL || close == NULL || sscanf(text, "%5s", kind) != 1 ||
	    !read_kind(kind, seen) || sscanf(guid, "PortGUID:%16lx", &seen->port.guid) != 1 ||
	    sscanf(close, "} LID:%4x PN:%2x", &lid, port) != 2)
		return false;
	set_lid(seen, lid);
	seen->port.host = ft_topology_name(topology, name + 1, close);
	seen->sm = strstr(kind, "-SM") != NULL ? FT_SM_CAPABLE : FT_SM_NO;
	return true;
}

static void set_leaf(struct ft_sighting *seen, const struct ft_sighting *peer, unsigned port)
{
	if (seen->port.kind == FT_NODE_SWITCH || peer->port.kind != FT_NODE_SWITCH)
		return;
	seen->port.leaf = peer->port.host;
	seen->port.leaf_port = port;
}

bool ft_topology_subnet_list(struct ft_topology *topology, const char *line)
{
	struct ft_sighting left, right;
	unsigned left_port, right_port;
	const char *second = strstr(line, " } { ");

	if (strncmp(line, "{ ", 2) != 0 || second == NULL ||
	    !read_end(topology, line + 2, &left, &left_port) ||
	    !read_end(topology, second + 5, &right, &right_port))
		return false;
	set_leaf(&left, &right, right_port);
	set_leaf(&right, &left, left_port);
	ft_topology_see(topology, &left);
	ft_topology_see(topology, &right);
	return true;
}

bool ft_topology_sminfo(struct ft_topology *topology, const char *line)
{
	struct ft_sighting seen = { .port.has_guid = true, .sm = FT_SM_ANSWERED };
	unsigned lid;

	if (sscanf(line, "sminfo: sm lid %5u sm guid 0x%16lx", &lid, &seen.port.guid) != 2)
		return false;
	set_lid(&seen, lid);
	ft_topology_see(topology, &seen);
	return true;
}
