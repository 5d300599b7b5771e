#include "flow_where_fields.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <nccl/model.h>
#include <partition/check.h>

#include "framing_rules.h"

/* Decimal, or hex after 0x. */
static bool read_number(struct ft_where_value *value)
{
	char *end;

	if (ft_hex_read(value->text, &value->number))
		return true;
	if (!isdigit((unsigned char)value->text[0]))
		return false;
	errno = 0;
	value->number = strtoull(value->text, &end, 10);
	return errno == 0 && *end == 0;
}

static bool read_text(struct ft_where_value *value)
{
	return value->text[0] != 0;
}

static bool read_transport(struct ft_where_value *value)
{
	static const char *const names[] = { "RC", "UC", "UD", "RD", "XRC", "CNP" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcasecmp(names[i], value->text) == 0)
			return true;
	return false;
}

static bool read_class(struct ft_where_value *value)
{
	for (unsigned class = 0; class < FT_NCCL_CLASSES; class ++)
		if (strcmp(ft_nccl_class_name((enum ft_nccl_class) class), value->text) == 0)
			return true;
	return false;
}

static bool is_lid(const char *text)
{
	return strncmp(text, "lid:", 4) == 0;
}

/* An address, a prefix, or lid:17. */
static bool read_address(struct ft_where_value *value)
{
	struct ft_where_value lid = { .text = value->text + 4 };

	if (!is_lid(value->text))
		return ft_prefix_read(value->text, true, &value->prefix);
	if (!read_number(&lid))
		return false;
	value->number = lid.number;
	return true;
}

static bool is_name(const char *wanted, const char *name)
{
	return strcmp(wanted, name != NULL ? name : "unknown") == 0;
}

static bool holds_tenant(const struct ft_where_value *value, const struct ft_report_flow *row)
{
	return is_name(value->text, row->src.tenant) || is_name(value->text, row->dst.tenant);
}

static bool holds_host(const struct ft_where_value *value, const struct ft_report_flow *row)
{
	return is_name(value->text, row->src.host) || is_name(value->text, row->dst.host);
}

/* An IPv4 address stands in ::ffff:0:0/96, but is in no shorter prefix: that is of IPv6 addresses. */
static bool lies_within(const uint8_t octets[16], const struct ft_prefix *prefix)
{
	static const uint8_t ipv4[12] = { [10] = 0xff, [11] = 0xff };
	unsigned whole = prefix->bits / 8, rest = prefix->bits % 8;

	if (prefix->bits < 8 * sizeof ipv4 && memcmp(octets, ipv4, sizeof ipv4) == 0)
		return false;
	return memcmp(octets, prefix->address, whole) == 0 &&
	       (rest == 0 || (octets[whole] ^ prefix->address[whole]) >> (8 - rest) == 0);
}

static bool holds_end(const struct ft_where_value *value, const struct ft_report_flow_end *end)
{
	if (end->by_lid != is_lid(value->text))
		return false;
	if (end->by_lid)
		return (end->octets[14] << 8 | end->octets[15]) == (int)value->number;
	return lies_within(end->octets, &value->prefix);
}

static bool holds_address(const struct ft_where_value *value, const struct ft_report_flow *row)
{
	return holds_end(value, &row->src) || holds_end(value, &row->dst);
}

static bool holds_qp(const struct ft_where_value *value, const struct ft_report_flow *row)
{
	return row->dest_qp == value->number;
}

/* The membership bit is the sender's and may change: the base counts. */
static bool holds_pkey(const struct ft_where_value *value, const struct ft_report_flow *row)
{
	return row->has_pkey && (row->pkey & 0x7fff) == (value->number & 0x7fff);
}

static bool holds_vlan(const struct ft_where_value *value, const struct ft_report_flow *row)
{
	return (row->has_vlan ? row->vlan : 0) == value->number;
}

static bool holds_vni(const struct ft_where_value *value, const struct ft_report_flow *row)
{
	return row->has_vni && row->vni == value->number;
}

static bool holds_transport(const struct ft_where_value *value, const struct ft_report_flow *row)
{
	return row->transport != NULL && strcasecmp(value->text, row->transport) == 0;
}

static bool holds_verdict(const struct ft_where_value *value, const struct ft_report_flow *row)
{
	return row->verdict != NULL && strcmp(value->text, row->verdict) == 0;
}

static bool holds_class(const struct ft_where_value *value, const struct ft_report_flow *row)
{
	return is_name(value->text, row->nccl.class);
}

static bool holds_nccl(const struct ft_where_value *value, const struct ft_report_flow *row)
{
	return row->nccl.class != NULL && row->nccl.connection == value->number;
}

/* A name, or a family of them: spoof.* */
static bool is_rule(const char *wanted, const char *name)
{
	size_t size = strlen(wanted);

	if (size > 2 && strcmp(wanted + size - 2, ".*") == 0)
		return strncmp(wanted, name, size - 1) == 0;
	return strcmp(wanted, name) == 0;
}

static bool holds_rule(const struct ft_where_value *value, const struct ft_report_flow *row)
{
	for (size_t i = 0; i < row->rule_count; i++)
		if (is_rule(value->text, row->rules[i]))
			return true;
	return false;
}

static bool tenant_exists(const struct ft_where_value *value, const struct ft_map *map)
{
	const struct ft_declared *declared = ft_map_declared(map);

	for (size_t i = 0; i < declared->tenant_count; i++)
		if (!declared->tenants[i].retired &&
		    strcmp(declared->tenants[i].name, value->text) == 0)
			return true;
	return strcmp(value->text, "unknown") == 0;
}

static bool host_exists(const struct ft_where_value *value, const struct ft_map *map)
{
	size_t count = ft_map_endpoint_count(map);

	for (size_t i = 0; i < count; i++) {
		const char *host = ft_map_endpoint(map, (uint32_t)i).host;

		if (host != NULL && strcmp(host, value->text) == 0)
			return true;
	}
	return strcmp(value->text, "unknown") == 0;
}

static bool is_of_packets(unsigned rule)
{
	return rule != FT_RULE_MAP_FAIL_OPEN && rule != FT_RULE_TENANT_COTENANCY &&
	       rule != FT_RULE_TENANT_QUOTA;
}

/* `all`: or only of those that packets break. */
static bool names_a_rule(const struct ft_where_value *value, bool all)
{
	for (unsigned rule = 0; rule < FT_RULES + FT_FRAMING_RULES; rule++)
		if ((all || is_of_packets(rule)) &&
		    is_rule(value->text, ft_rule_text((enum ft_rule)rule)->name))
			return true;
	return false;
}

static bool rule_exists(const struct ft_where_value *value, const struct ft_map *map)
{
	(void)map;
	return names_a_rule(value, true);
}

static bool verdict_exists(const struct ft_where_value *value, const struct ft_map *map)
{
	(void)map;
	return strcmp(value->text, "allowed") == 0 || strcmp(value->text, "violated") == 0 ||
	       strcmp(value->text, "unknown") == 0;
}

static const struct ft_where_field fields[] = {
	{ "tenant", "a tenant of the map", 0, read_text, holds_tenant, tenant_exists, false },
	{ "host", "a host of the map", 0, read_text, holds_host, host_exists, false },
	{ "address", "an address, a prefix or lid:N", UINT16_MAX, read_address, holds_address, NULL,
	  false },
	{ "qp", "a queue pair, 24 bits", 0xffffff, read_number, holds_qp, NULL, false },
	{ "pkey", "a P_Key, 16 bits", UINT16_MAX, read_number, holds_pkey, NULL, false },
	{ "rule", "a rule of flows, or a family of them like spoof.*", 0, read_text, holds_rule,
	  rule_exists, false },
	{ "verdict", "allowed, violated or unknown", 0, read_text, holds_verdict, verdict_exists,
	  false },
	{ "vlan", "a VLAN, or 0 for untagged", 4095, read_number, holds_vlan, NULL, false },
	{ "vni", "a VNI, 24 bits", 0xffffff, read_number, holds_vni, NULL, false },
	{ "transport", "RC, UC, UD, RD, XRC or CNP", 0, read_transport, holds_transport, NULL,
	  false },
	{ "class", "a class of queue pairs, as nccl or ucx", 0, read_class, holds_class, NULL,
	  true },
	{ "nccl", "the number of a connection of NCCL", UINT32_MAX - 1, read_number, holds_nccl,
	  NULL, true },
};

enum { FIELDS = sizeof(fields) / sizeof(fields[0]) };

const struct ft_where_field *ft_where_field_find(const char *name, size_t size)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (strlen(fields[i].name) == size && memcmp(fields[i].name, name, size) == 0)
			return &fields[i];
	return NULL;
}

void ft_where_fields_name(char *names, size_t room)
{
	size_t used = 0;

	for (size_t i = 0; i < FIELDS && used < room; i++)
		used += (size_t)snprintf(names + used, room - used, "%s%s", i > 0 ? ", " : "",
					 fields[i].name);
}

bool ft_where_is_of_nccl(const struct ft_where_field *field, const struct ft_where_value *value)
{
	return field->nccl ||
	       (field->exists == rule_exists && strncmp(value->text, "nccl.", 5) == 0);
}

bool ft_where_is_of_no_packet(const struct ft_where_field *field,
			      const struct ft_where_value *value)
{
	return field->exists == rule_exists && !names_a_rule(value, false);
}
