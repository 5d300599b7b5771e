#include <partition/convert.h>

#include <errno.h>
#include <string.h>

#include <partition/moment.h>

#include "document.h"
#include "opensm_resolved.h"

static const char *const directions[] = {
	[FT_DIR_BOTH] = "both", [FT_DIR_TO] = "to", [FT_DIR_FROM] = "from"
};
static const char *const kinds[] = { [FT_EXCEPT_SHARED_SERVICE] = "shared-service",
				     [FT_EXCEPT_MANAGEMENT] = "management",
				     [FT_EXCEPT_MULTICAST] = "multicast" };
static const char *const encryptions[] = { [FT_ENCRYPTION_OPTIONAL] = "optional",
					   [FT_ENCRYPTION_REQUIRED] = "required",
					   [FT_ENCRYPTION_NONE] = "none" };
static const char *const classes[] = { "sm", "sa", "pm", "bm", "dm", "cm", "snmp", "cc", "vendor" };

static json_t *prefix_text(const struct ft_prefix *prefix)
{
	char text[FT_NOTATION_ROOM];

	return json_string(ft_prefix_write(text, prefix));
}

static json_t *mac_text(const uint8_t mac[6])
{
	char text[FT_NOTATION_ROOM];

	return json_string(ft_mac_write(text, mac));
}

json_t *ft_port_document(const struct ft_port *port)
{
	json_t *object = json_object();

	if (port->has_guid)
		json_object_set_new(object, "guid", ft_json_guid(port->guid));
	if (port->has_lid)
		json_object_set_new(object, "lid", json_integer(port->lid));
	if (port->has_lid && port->lmc != 0)
		json_object_set_new(object, "lmc", json_integer(port->lmc));
	if (port->has_gid)
		json_object_set_new(object, "gid", prefix_text(&port->gid));
	if (port->has_ip)
		json_object_set_new(object, "ip", prefix_text(&port->ip));
	if (port->has_mac)
		json_object_set_new(object, "mac", mac_text(port->mac));
	if (port->leaf != NULL)
		json_object_set_new(object, "leaf", ft_json_text(port->leaf));
	if (port->leaf_port != 0)
		json_object_set_new(object, "leaf_port", json_integer(port->leaf_port));
	return object;
}

/* A port without a name is a node of its own. */
static const char *host_of(const struct ft_port *port, char text[FT_NOTATION_ROOM])
{
	if (port->host != NULL)
		return port->host;
	if (port->has_guid)
		return ft_guid_write(text, port->guid);
	snprintf(text, FT_NOTATION_ROOM, "lid:%u", port->lid);
	return text;
}

/* Ports of one host become one node, at the place of the first. */
static json_t *nodes_document(const struct ft_declared *declared)
{
	json_t *nodes = json_array(), *by_host = json_object();
	char text[FT_NOTATION_ROOM];

	for (size_t i = 0; i < declared->port_count; i++) {
		const struct ft_port *port = &declared->ports[i];
		const char *host = host_of(port, text);
		json_t *ports = json_object_get(by_host, host);

		if (ports == NULL) {
			ports = json_array();
			json_object_set(by_host, host, ports);
			json_array_append_new(nodes, json_pack("{s:o, s:o}", "host",
							       ft_json_text(host), "ports", ports));
		}
		json_array_append_new(ports, ft_port_document(port));
	}
	json_decref(by_host);
	return nodes;
}

static json_t *tenant_names(const struct ft_declared *declared, const uint32_t *tenants,
			    size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, ft_json_text(declared->tenants[tenants[i]].name));
	return array;
}

static json_t *tenants_document(const struct ft_declared *declared)
{
	json_t *array = json_array();

	for (size_t i = 0; i < declared->tenant_count; i++) {
		const struct ft_tenant *tenant = &declared->tenants[i];
		json_t *options = json_pack(
			"{s:s, s:o, s:o}", "encryption", encryptions[tenant->encryption],
			"quota_gbps",
			tenant->quota_gbps >= 0 ? json_real(tenant->quota_gbps) : json_null(),
			"no_leaf_sharing_with",
			tenant_names(declared, tenant->apart, tenant->apart_count));

		json_array_append_new(array,
				      json_pack("{s:o, s:s, s:o}", "name",
						ft_json_text(tenant->name), "class",
						ft_class_word(tenant->class), "options", options));
	}
	return array;
}

static json_t *member_document(const struct ft_member *member)
{
	switch (member->kind) {
	case FT_MEMBER_HOST:
		return json_pack("{s:o}", "host", ft_json_text(member->host));
	case FT_MEMBER_GUID:
		return json_pack("{s:o}", "guid", ft_json_guid(member->guid));
	case FT_MEMBER_LID:
		return json_pack("{s:i}", "lid", (int)member->number);
	case FT_MEMBER_PREFIX:
		return json_pack("{s:o}",
				 member->is_gid      ? "gid"
				 : member->is_subnet ? "subnet"
						     : "ip",
				 prefix_text(&member->prefix));
	case FT_MEMBER_MAC:
		return json_pack("{s:o}", "mac", mac_text(member->mac));
	case FT_MEMBER_VLAN:
		return json_pack("{s:i}", "vlan", (int)member->number);
	case FT_MEMBER_VNI:
		return json_pack("{s:i}", "vni", (int)member->number);
	default:
		return json_pack("{s:b}", "all", 1);
	}
}

/* A tapmap's intervals have a beginning. */
static json_t *first_moment(int64_t ns)
{
	char text[FT_MOMENT_ROOM];

	return json_string(ft_moment_write(text, ns > 0 ? ns : 0));
}

static json_t *interval_document(const struct ft_interval *interval, json_t *members)
{
	json_t *object = json_object();

	json_object_set_new(object, "from", first_moment(interval->from_ns));
	json_object_set_new(object, "to", ft_json_moment(interval->to_ns));
	if (interval->reason != NULL)
		json_object_set_new(object, "reason", ft_json_text(interval->reason));
	json_object_set_new(object, "members", members);
	return object;
}

/* OpenSM writes the IBTA code, tapmap bytes; 0: no such code. */
static int mtu_bytes(const struct ft_declared *declared, int mtu)
{
	if (!declared->last_rule_wins)
		return mtu;
	return mtu >= 1 && mtu <= 5 ? 128 << mtu : 0;
}

static json_t *members_document(const struct ft_interval *interval, bool segment)
{
	json_t *array = json_array();

	for (size_t i = 0; i < interval->member_count; i++) {
		json_t *member = member_document(&interval->members[i]);

		if (!segment)
			json_object_set_new(
				member, "membership",
				json_string(ft_membership_word(interval->members[i].membership)));
		json_array_append_new(array, member);
	}
	return array;
}

static json_t *intervals_document(const struct ft_interval *intervals, size_t count, bool segment)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(
			array,
			interval_document(&intervals[i], members_document(&intervals[i], segment)));
	return array;
}

static json_t *partitions_document(const struct ft_declared *declared)
{
	json_t *array = json_array();

	for (size_t i = 0; i < declared->partition_count; i++) {
		const struct ft_partition *partition = &declared->partitions[i];
		json_t *object =
			json_pack("{s:o, s:o}", "pkey", ft_json_pkey(partition->base), "tenant",
				  ft_json_text(declared->tenants[partition->tenant].name));

		if (partition->ipoib)
			json_object_set_new(object, "ipoib", json_true());
		if (partition->mtu >= 0 && mtu_bytes(declared, partition->mtu) != 0)
			json_object_set_new(object, "mtu",
					    json_integer(mtu_bytes(declared, partition->mtu)));
		if (partition->sl >= 0)
			json_object_set_new(object, "sl", json_integer(partition->sl));
		json_object_set_new(
			object, "intervals",
			intervals_document(partition->intervals, partition->interval_count, false));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *segments_document(const struct ft_declared *declared)
{
	json_t *array = json_array();

	for (size_t i = 0; i < declared->segment_count; i++) {
		const struct ft_segment *segment = &declared->segments[i];

		json_array_append_new(
			array,
			json_pack("{s:o, s:o, s:o}", "name", ft_json_text(segment->name), "tenant",
				  ft_json_text(declared->tenants[segment->tenant].name),
				  "intervals",
				  intervals_document(segment->intervals, segment->interval_count,
						     true)));
	}
	return array;
}

static json_t *class_words(uint32_t set)
{
	json_t *array = json_array();

	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
		if ((set >> i & 1) != 0)
			json_array_append_new(array, json_string(classes[i]));
	return array;
}

json_t *ft_exception_document(const struct ft_declared *declared,
			      const struct ft_exception *exception)
{
	json_t *object = json_pack("{s:o, s:s}", "id", ft_json_text(exception->id), "kind",
				   kinds[exception->kind]);
	json_t *from = tenant_names(declared, exception->from_tenants, exception->from_count);

	if (exception->kind == FT_EXCEPT_MULTICAST) {
		json_object_set_new(object, "mgid", prefix_text(&exception->mgid));
		json_object_set_new(object, "tenants", from);
		return object;
	}
	if (!exception->any_from)
		json_object_set(object, "from_tenants", from);
	json_decref(from);
	if (exception->to_tenant != FT_NONE) {
		json_object_set_new(object, "to_tenant",
				    ft_json_text(declared->tenants[exception->to_tenant].name));
		json_object_set_new(object, "direction",
				    json_string(directions[exception->direction]));
	}
	if (exception->has_pkey)
		json_object_set_new(object, "pkey", ft_json_pkey(exception->base));
	if (exception->has_classes)
		json_object_set_new(object, "classes", class_words(exception->classes));
	return object;
}

static json_t *exceptions_document(const struct ft_declared *declared)
{
	json_t *array = json_array();

	for (size_t i = 0; i < declared->exception_count; i++)
		json_array_append_new(array,
				      ft_exception_document(declared, &declared->exceptions[i]));
	return array;
}

static json_t *fabric_document(const struct ft_declared *declared)
{
	char text[FT_NOTATION_ROOM];
	json_t *fabric = json_pack("{s:s}", "kind", declared->is_roce ? "roce" : "infiniband");

	if (declared->has_subnet_prefix)
		json_object_set_new(fabric, "subnet_prefix",
				    json_string(ft_guid_write(text, declared->subnet_prefix)));
	return fabric;
}

static json_t *map_document(const struct ft_declared *declared)
{
	json_t *document = json_pack("{s:s}", "schema", "tapmap/1");

	if (declared->map_id != NULL)
		json_object_set_new(document, "map_id", ft_json_text(declared->map_id));
	json_object_set_new(document, "fabric", fabric_document(declared));
	json_object_set_new(document, "nodes", nodes_document(declared));
	json_object_set_new(document, "tenants", tenants_document(declared));
	if (declared->partition_count != 0)
		json_object_set_new(document, "partitions", partitions_document(declared));
	if (declared->segment_count != 0)
		json_object_set_new(document, "segments", segments_document(declared));
	json_object_set_new(document, "exceptions", exceptions_document(declared));
	json_object_set_new(document, "grace_ms", json_integer(declared->grace_ns / 1000000));
	return document;
}

static int refuse(const struct ft_declared *declared, struct ft_map_complaint *complaint,
		  const char *why)
{
	snprintf(complaint->text, sizeof complaint->text, "%.200s: %s", declared->files[0].path,
		 why);
	return -EINVAL;
}

int ft_map_convert(const struct ft_declared *declared, FILE *out,
		   struct ft_map_complaint *complaint)
{
	struct ft_resolved resolved;
	int failed;

	if (declared->verdict == FT_MAP_FAIL_OPEN)
		return refuse(declared, complaint,
			      "OpenSM drops this file, so there is no policy to convert");
	if (!declared->last_rule_wins)
		return ft_json_write(map_document(declared), out);
	if (!ft_resolvable(declared))
		return refuse(declared, complaint,
			      "OpenSM's rules name the subnet manager's port: give a --topology "
			      "that shows it");
	failed = ft_resolve(&resolved, declared);
	if (failed == 0) {
		failed = ft_json_write(map_document(&resolved.declared), out);
		ft_resolved_release(&resolved);
	}
	return failed;
}
