#include "topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * smpquery and saquery print records of dotted lines:
 *
 *	# Node info: Lid 1			NodeRecord dump:
 *	NodeType:............Switch			lid.....................2
 *	PortGuid:............0x0002c90300a00011		node_type...............Switch
 *							port_guid...............0x0002c90300a08000
 *	# Port info: Lid 2 port 0			NodeDescription.........leaf1
 *	Lid:.................2
 *	SMLid:...............1			PortInfoRecord dump: as smpquery's port info
 *	LMC:.................0
 *
 * A record is noted when its last interesting line comes.
 */
static void read_lid(struct ft_topology *topology, const char *value)
{
	unsigned long lid = strtoul(value, NULL, 0);

	topology->record.port.has_lid = lid > 0 && lid < FT_LIDS;
	topology->record.port.lid = (uint16_t)(lid < FT_LIDS ? lid : 0);
}

static void read_kind(struct ft_topology *topology, const char *value)
{
	static const struct {
		const char *word;
		enum ft_node_kind kind;
	} kinds[] = { { "Switch", FT_NODE_SWITCH },
		      { "Channel Adapter", FT_NODE_CA },
		      { "Router", FT_NODE_ROUTER } };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strcmp(kinds[i].word, value) == 0) {
			topology->record.port.kind = kinds[i].kind;
			topology->record.has_kind = true;
		}
	}
}

static void read_guid(struct ft_topology *topology, const char *value)
{
	topology->record.port.guid = strtoull(value, NULL, 16);
	topology->record.port.has_guid = topology->record.port.guid != 0;
}

static void read_guid_and_note(struct ft_topology *topology, const char *value)
{
	read_guid(topology, value);
	ft_topology_see(topology, &topology->record);
}

static void read_name_and_note(struct ft_topology *topology, const char *value)
{
	topology->record.port.host = ft_topology_name(topology, value, value + strlen(value));
	ft_topology_see(topology, &topology->record);
	memset(&topology->record, 0, sizeof topology->record);
}

static void read_sm_lid(struct ft_topology *topology, const char *value)
{
	struct ft_sighting manager = { .port.has_lid = true, .sm = FT_SM_LID };
	unsigned long lid = strtoul(value, NULL, 10);

	manager.port.lid = (uint16_t)lid;
	if (lid > 0 && lid < FT_LIDS)
		ft_topology_see(topology, &manager);
}

/* A switch's outer ports have no LID of their own, and no LMC. */
static void read_lmc_and_note(struct ft_topology *topology, const char *value)
{
	unsigned long lmc = strtoul(value, NULL, 10);

	topology->record.has_lmc = lmc <= 7;
	topology->record.port.lmc = (uint8_t)(lmc & 7);
	if (topology->record.port.has_lid)
		ft_topology_see(topology, &topology->record);
	memset(&topology->record, 0, sizeof topology->record);
}

static const struct {
	const char *key;
	void (*read)(struct ft_topology *, const char *value);
} lines[] = {
	{ "NodeType", read_kind },
	{ "PortGuid", read_guid_and_note },
	{ "Lid", read_lid },
	{ "SMLid", read_sm_lid },
	{ "LMC", read_lmc_and_note },
	{ "lid", read_lid },
	{ "node_type", read_kind },
	{ "port_guid", read_guid },
	{ "NodeDescription", read_name_and_note },
	{ "Node Description", read_name_and_note },
};

/* "# Node info: Lid 1", "NodeRecord dump:", "$ smpquery nodedesc 5": a new record, perhaps with its LID */
static bool start_record(struct ft_topology *topology, const char *line)
{
	static const char *const starts[] = { "# Node info: Lid %5u%n",
					      "# Port info: Lid %5u port%n",
					      "$ smpquery nodedesc %5u%n" };
	unsigned lid;
	int length = 0;

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
		if (sscanf(line, starts[i], &lid, &length) != 1 || length == 0)
			continue;
		memset(&topology->record, 0, sizeof topology->record);
		topology->record.port.has_lid = strncmp(line, "# Port", 6) != 0;
		topology->record.port.lid = (uint16_t)(lid < FT_LIDS ? lid : 0);
		return true;
	}
	if (strcmp(line, "NodeRecord dump:") != 0 && strcmp(line, "PortInfoRecord dump:") != 0)
		return false;
	memset(&topology->record, 0, sizeof topology->record);
	return true;
}

/* P_Key tables name no port that would not be known; they are known, not used. */
static bool skip_pkeys(const char *line)
{
	unsigned index, pkey, pkeys;
	int length = 0;

	return sscanf(line, "%5u: 0x%4x 0x%*4x", &index, &pkey) == 2 ||
	       (sscanf(line, "%5u pkeys capacity%n", &pkeys, &length) == 1 && length != 0);
}

bool ft_topology_record(struct ft_topology *topology, const char *line)
{
	size_t length;

	if (start_record(topology, line) || skip_pkeys(line))
		return true;
	if (strncmp(line, "smpquery: iberror:", 18) == 0) {
		ft_diagnose(topology->builder, FT_WARNING, "query-failed", topology->origin,
			    "a query failed, so this file does not show all ports");
		return true;
	}
	line += strspn(line, " \t");
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		length = strlen(lines[i].key);
		if (strncmp(line, lines[i].key, length) != 0 ||
		    strchr(".:", line[length]) == NULL || line[length] == '\0')
			continue;
		lines[i].read(topology, line + length + strspn(line + length, ".:"));
		return true;
	}
	return false;
}
