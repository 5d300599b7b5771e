#include "topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * ibnetdiscover:
 *
 *	switchguid=0xb8cef60300aa0200(b8cef60300aa0200)
 *	Switch	8 "S-b8cef60300aa0200"		# "leaf2" enhanced port 0 lid 3 lmc 0
 *	[2]	"H-b8cef60300100060"[1](b8cef60300100061) 		# "a2 mlx5_0" lid 9 4xSDR
 *
 *	caguid=0xb8cef60300100090
 *	Ca	1 "H-b8cef60300100090"		# "st2 mlx5_0"
 *	[1](b8cef60300100091) 	"S-b8cef60300aa0200"[5]		# lid 12 lmc 0 "leaf2" lid 3 4xSDR
 *
 * A channel adapter's own section says all of it; the switch's lines repeat some.
 */
static const struct {
	const char *word;
	enum ft_node_kind kind;
} sections[] = { { "Switch\t", FT_NODE_SWITCH },
		 { "Ca\t", FT_NODE_CA },
		 { "Rt\t", FT_NODE_ROUTER } };

/* What is between the quotes after `from`, if anything; *rest is behind it. */
static const char *quoted(struct ft_topology *topology, const char *from, const char **rest)
{
	const char *open = strchr(from, '"'), *close = open != NULL ? strchr(open + 1, '"') : NULL;

	*rest = close != NULL ? close + 1 : from + strlen(from);
	return close != NULL ? ft_topology_name(topology, open + 1, close) : NULL;
}

/* "lid 12 lmc 0" */
static void read_lid(const char *text, struct ft_sighting *seen)
{
	unsigned lid, lmc;
	const char *at = strstr(text, "lid ");
	int fields = at != NULL ? sscanf(at, "lid %5u lmc %1u", &lid, &lmc) : 0;

	seen->port.has_lid = fields >= 1 && lid < FT_LIDS;
	seen->has_lmc = fields == 2 && lmc <= 7;
	if (seen->port.has_lid)
		seen->port.lid = (uint16_t)lid;
	if (seen->has_lmc)
		seen->port.lmc = (uint8_t)lmc;
}

static void start_section(struct ft_topology *topology, const char *line, enum ft_node_kind kind)
{
	struct ft_sighting seen = { .port.kind = kind, .has_kind = true };
	const char *comment = strchr(line, '#'), *rest;

	topology->node.kind = kind;
	topology->node.host = comment != NULL ? quoted(topology, comment, &rest) : NULL;
	if (kind != FT_NODE_SWITCH || comment == NULL || topology->node.guid == 0)
		return;
	seen.port.has_guid = true;
	seen.port.guid = topology->node.guid;
	seen.port.host = topology->node.host;
	read_lid(rest, &seen);
	ft_topology_see(topology, &seen);
}

/* [1](b8cef60300100091) 	"S-b8cef60300aa0200"[5]		# lid 12 lmc 0 "leaf2" lid 3 4xSDR */
static void read_port(struct ft_topology *topology, const char *line)
{
	struct ft_sighting seen = { .port = { .host = topology->node.host,
					      .kind = topology->node.kind,
					      .has_guid = true },
				    .has_kind = true };
	const char *comment = strchr(line, '#'), *peer, *peer_port, *rest;
	char *end;

	if (topology->node.kind == FT_NODE_SWITCH ||
	    sscanf(line, "[%*u](%16lx)", &seen.port.guid) != 1 || comment == NULL)
		return;
	read_lid(comment, &seen);
	peer = strchr(line, '"');
	peer_port = peer != NULL && peer[1] == 'S' ? strstr(peer, "\"[") : NULL;
	if (peer_port != NULL && peer_port < comment) {
		seen.port.leaf = quoted(topology, comment, &rest);
		seen.port.leaf_port = (uint32_t)strtoul(peer_port + 2, &end, 10);
	}
	ft_topology_see(topology, &seen);
}

static bool read_initiator(struct ft_topology *topology, const char *line)
{
	struct ft_sighting seen = { .port.has_guid = true, .sm = FT_SM_STARTED_HERE };

	if (sscanf(line, "# Initiated from node %*16x port %16lx", &seen.port.guid) != 1)
		return false;
	ft_topology_see(topology, &seen);
	return true;
}

bool ft_topology_ibnetdiscover(struct ft_topology *topology, const char *line)
{
	if (line[0] == '[' && topology->node.guid != 0) {
		read_port(topology, line);
		return true;
	}
	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
		if (strncmp(line, sections[i].word, strlen(sections[i].word)) == 0 &&
		    topology->node.guid != 0) {
			start_section(topology, line, sections[i].kind);
			return true;
		}
	}
	if (sscanf(line, "switchguid=0x%*16x(%16lx)", &topology->node.guid) == 1 ||
	    sscanf(line, "caguid=0x%16lx", &topology->node.guid) == 1 ||
	    sscanf(line, "rtguid=0x%16lx", &topology->node.guid) == 1)
		return true;
	return read_initiator(topology, line);
}
