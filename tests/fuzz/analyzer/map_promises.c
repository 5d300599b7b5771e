#include "map_promises.h"

#undef NDEBUG /* promises are kept in every build */
#include <assert.h>
#include <string.h>

static void assert_origin(const struct ft_declared *declared, const struct ft_origin *origin)
{
	assert(origin->file < declared->file_count);
}

static void assert_member(const struct ft_declared *declared, const struct ft_member *member)
{
	assert_origin(declared, &member->origin);
	assert(member->membership >= FT_LIMITED && member->membership <= FT_BOTH);
	assert(member->kind != FT_MEMBER_HOST || member->host != NULL);
	assert(member->kind != FT_MEMBER_GUID || member->guid != 0);
	assert(member->kind != FT_MEMBER_PREFIX || member->prefix.bits <= 128);
	assert(member->kind != FT_MEMBER_VLAN || (member->number >= 1 && member->number <= 4094));
	assert(member->kind != FT_MEMBER_VNI || (member->number >= 1 && member->number < 1 << 24));
}

static void assert_intervals(const struct ft_declared *declared,
			     const struct ft_interval *intervals, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		assert(intervals[i].from_ns < intervals[i].to_ns);
		assert(i == 0 || intervals[i - 1].to_ns <= intervals[i].from_ns);
		for (size_t j = 0; j < intervals[i].member_count; j++)
			assert_member(declared, &intervals[i].members[j]);
	}
}

static void assert_ports(const struct ft_declared *declared)
{
	for (size_t i = 0; i < declared->port_count; i++) {
		const struct ft_port *port = &declared->ports[i];

		assert_origin(declared, &port->origin);
		assert(port->has_guid || port->has_lid || port->has_gid || port->has_ip ||
		       port->has_mac);
		assert(!port->has_lid ||
		       (port->lid > 0 && port->lid + (1u << port->lmc) <= 0xc000));
	}
}

void assert_declared(const struct ft_declared *declared)
{
	assert(declared->file_count == 1 && strlen(declared->files[0].sha256) == 64);
	assert(declared->verdict != FT_MAP_REJECT);
	assert_ports(declared);
	for (size_t i = 0; i < declared->partition_count; i++) {
		assert(declared->partitions[i].base >= 1 &&
		       declared->partitions[i].base <= FT_PKEY_DEFAULT);
		assert(declared->partitions[i].tenant < declared->tenant_count);
		assert_intervals(declared, declared->partitions[i].intervals,
				 declared->partitions[i].interval_count);
	}
	for (size_t i = 0; i < declared->segment_count; i++) {
		assert(declared->segments[i].tenant < declared->tenant_count);
		assert_intervals(declared, declared->segments[i].intervals,
				 declared->segments[i].interval_count);
	}
	for (size_t i = 0; i < declared->diagnostic_count; i++)
		assert(declared->diagnostics[i].code != NULL &&
		       declared->diagnostics[i].text[0] != '\0');
}
