#include "tapmap.h"

#include <string.h>

enum { LARGEST_LID = FT_LIDS - 1, LARGEST_LEAF_PORT = 65535 };

static void read_guid(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct ft_port *port = into;

	port->has_guid = ft_read_hex(reading, value, 1, UINT64_MAX, "out-of-range", &port->guid);
}

static void read_lid(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct ft_port *port = into;
	int64_t lid;

	port->has_lid = ft_read_integer(reading, value, 1, LARGEST_LID, &lid);
	if (port->has_lid)
		port->lid = (uint16_t)lid;
}

static void read_lmc(struct ft_reading *reading, struct ft_value value, void *into)
{
	int64_t lmc;

	if (ft_read_integer(reading, value, 0, 7, &lmc))
		((struct ft_port *)into)->lmc = (uint8_t)lmc;
}

static void read_gid(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct ft_port *port = into;

	port->has_gid = ft_read_address(reading, value, false, &port->gid);
}

static void read_ip(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct ft_port *port = into;

	port->has_ip = ft_read_address(reading, value, true, &port->ip);
}

static void read_mac(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct ft_port *port = into;

	port->has_mac = ft_read_mac(reading, value, port->mac);
}

static void read_leaf(struct ft_reading *reading, struct ft_value value, void *into)
{
	((struct ft_port *)into)->leaf = ft_read_name(reading, value);
}

static void read_leaf_port(struct ft_reading *reading, struct ft_value value, void *into)
{
	int64_t number;

	if (ft_read_integer(reading, value, 1, LARGEST_LEAF_PORT, &number))
		((struct ft_port *)into)->leaf_port = (uint32_t)number;
}

static const struct ft_object_field port_fields[] = {
	{ "guid", false, read_guid },
	{ "lid", false, read_lid },
	{ "lmc", false, read_lmc },
	{ "gid", false, read_gid },
	{ "ip", false, read_ip },
	{ "mac", false, read_mac },
	{ "leaf", false, read_leaf },
	{ "leaf_port", false, read_leaf_port },
	{ 0 },
};
enum { SEEN_GUID = 1, SEEN_LID = 2, SEEN_LMC = 4, SEEN_GID = 8, SEEN_IP = 16, SEEN_MAC = 32 };

static bool complete(struct ft_reading *reading, struct ft_value value, const struct ft_port *port,
		     uint32_t seen)
{
	if ((seen & (SEEN_GUID | SEEN_LID | SEEN_GID | SEEN_IP | SEEN_MAC)) == 0)
		ft_refuse(reading, value, "missing-key",
			  "a port needs at least one of guid, lid, gid, ip, mac");
	else if ((seen & SEEN_LMC) != 0 && (seen & SEEN_LID) == 0)
		ft_refuse(reading, value, "missing-key", "\"lmc\" without \"lid\"");
	else if (port->lid + (1u << port->lmc) - 1 > LARGEST_LID)
		ft_refuse(reading, value, "out-of-range", "LIDs %u..%u leave the unicast range",
			  port->lid, port->lid + (1u << port->lmc) - 1);
	else
		return true;
	return false;
}

static void claim(struct ft_reading *reading, struct ft_value value, uint32_t number)
{
	static const struct {
		const char *what, *code;
	} codes[] = { { "guid", "duplicate-guid" },
		      { "lid", "duplicate-lid" },
		      { "gid", "duplicate-gid" },
		      { "mac", "duplicate-mac" } };
	const struct ft_port *ports = reading->builder->ports.items;
	uint32_t owner;
	const char *what = ft_builder_claim(reading->builder, number, &owner);

	for (size_t i = 0; what != NULL && i < sizeof codes / sizeof *codes; i++)
		if (strcmp(codes[i].what, what) == 0)
			ft_refuse(reading, value, codes[i].code,
				  "its %s belongs to \"%.80s\" of line %u", what, ports[owner].host,
				  ports[owner].origin.line);
}

static void read_port(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct ft_port read = { .host = *(const char **)into };
	struct ft_port *port;
	uint32_t seen;

	if (!ft_read_object(reading, value, port_fields, &read, &seen) ||
	    !complete(reading, value, &read, seen))
		return;
	port = ft_builder_add(reading->builder, &reading->builder->ports);
	if (port == NULL)
		return;
	*port = read;
	port->origin = ft_reading_origin(reading, value);
	claim(reading, value, (uint32_t)reading->builder->ports.count - 1);
}

static void read_host(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct ft_builder *builder = reading->builder;
	const char *name = ft_read_name(reading, value);

	*(const char **)into = name;
	if (name == NULL)
		return;
	if (ft_keys_find(&builder->hosts, name, strlen(name)) != FT_NONE)
		ft_refuse(reading, value, "duplicate-host", "host \"%.80s\" is declared twice",
			  name);
	else if (ft_keys_insert(&builder->hosts, name, strlen(name),
				(uint32_t)builder->ports.count) != 0)
		builder->out_of_memory = true;
}

static void skip(struct ft_reading *reading, struct ft_value value, void *into)
{
	(void)reading;
	(void)value;
	(void)into;
}

static void read_ports(struct ft_reading *reading, struct ft_value value, void *into)
{
	if (ft_array_size(value) == 0 && json_is_array(value.json))
		ft_refuse(reading, value, "empty-node", "a node needs at least one port");
	else
		ft_read_array(reading, value, read_port, into);
}

/* The host's name comes first, wherever it stands in the object. */
static void read_node(struct ft_reading *reading, struct ft_value value, void *into)
{
	static const struct ft_object_field names[] = { { "host", true, read_host },
							{ "ports", true, skip },
							{ 0 } };
	static const struct ft_object_field ports[] = { { "host", true, skip },
							{ "ports", true, read_ports },
							{ 0 } };
	const char *host = NULL;

	(void)into;
	if (ft_read_object(reading, value, names, &host, NULL) && host != NULL)
		ft_read_object(reading, value, ports, &host, NULL);
}

int ft_tapmap_nodes(struct ft_reading *reading, const struct ft_long_array *nodes)
{
	return ft_read_elements(reading, nodes, read_node, NULL);
}
