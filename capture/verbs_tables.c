#include "verbs_tables.h"

#include <arpa/inet.h>
#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const gid_types[] = {
	[IBV_GID_TYPE_IB] = "InfiniBand",
	[IBV_GID_TYPE_ROCE_V1] = "RoCE v1",
	[IBV_GID_TYPE_ROCE_V2] = "RoCE v2",
};

/* Lines as they are put together. */
struct writing {
	struct ft_verbs_tables *tables;
	size_t lines, used;
};

static __attribute__((format(printf, 2, 3))) void add(struct writing *writing, const char *format,
						      ...)
{
	struct ft_verbs_tables *tables = writing->tables;
	size_t left = sizeof tables->text - writing->used;
	char *line = tables->text + writing->used;
	va_list values;
	int length;

	if (writing->lines + 1 >= sizeof tables->lines / sizeof tables->lines[0])
		return;
	va_start(values, format);
	length = vsnprintf(line, left, format, values);
	va_end(values);
	if (length < 0 || (size_t)length >= left)
		return;
	tables->lines[writing->lines++] = line;
	writing->used += (size_t)length + 1;
}

static void add_pkeys(struct writing *writing, const struct ft_verbs_port *port)
{
	unsigned told = 0;

	for (int i = 0; i < port->attr.pkey_tbl_len && told < FT_VERBS_TOLD; i++) {
		__be16 pkey;

		if (ibv_query_pkey(port->context, port->number, i, &pkey) == 0 && pkey != 0) {
			add(writing, "P_Key 0x%04x", be16toh(pkey));
			told++;
		}
	}
}

static void add_gids(struct writing *writing, const struct ft_verbs_port *port)
{
	unsigned told = 0;

	for (int i = 0; i < port->attr.gid_tbl_len && told < FT_VERBS_TOLD; i++) {
		char address[INET6_ADDRSTRLEN];
		struct ibv_gid_entry entry = { 0 };
		const char *type = "?";

		if (ibv_query_gid_ex(port->context, port->number, (uint32_t)i, &entry, 0) != 0)
			continue;
		if (entry.gid_type < sizeof gid_types / sizeof gid_types[0])
			type = gid_types[entry.gid_type];
		inet_ntop(AF_INET6, entry.gid.raw, address, sizeof address);
		add(writing, "GID %d %s, %s", i, address, type);
		told++;
	}
}

void ft_verbs_tables_read(struct ft_verbs_tables *tables, const struct ft_verbs_port *port)
{
	struct writing writing = { .tables = tables };

	*tables = (struct ft_verbs_tables){ 0 };
	add(&writing, "GUID 0x%016llx",
	    (unsigned long long)be64toh(port->limits.orig_attr.node_guid));
	if (!ft_verbs_is_ethernet(port) && port->attr.lid != 0)
		add(&writing, "LID %u", port->attr.lid);
	add_pkeys(&writing, port);
	add_gids(&writing, port);
}

/* Lanes by active_width, 100 Mbit/s per lane by active_speed: each a single bit (IBA vol. 1, PortInfo). */
static const uint8_t lanes[] = { 1, 4, 8, 12, 2 };
static const uint16_t speeds[] = { 25, 50, 100, 100, 140, 250, 500, 1000 };

static unsigned bit_of(unsigned value)
{
	return value != 0 ? (unsigned)__builtin_ctz(value) : 32;
}

void ft_verbs_about(const struct ibv_port_attr *attr, char *text, size_t size)
{
	unsigned width = bit_of(attr->active_width), speed = bit_of(attr->active_speed), rate = 0;
	const char *layer =
		attr->link_layer == IBV_LINK_LAYER_INFINIBAND ? "InfiniBand" : "Ethernet";
	const char *state = attr->state == IBV_PORT_ACTIVE ? "active" : "not active";

	if (attr->state == IBV_PORT_DOWN)
		state = "down";
	if (width < sizeof lanes && speed < sizeof speeds / sizeof speeds[0])
		rate = lanes[width] * speeds[speed];
	if (rate != 0)
		snprintf(text, size, "%s, %s, %g Gbit/s", layer, state, rate / 10.0);
	else
		snprintf(text, size, "%s, %s", layer, state);
}
