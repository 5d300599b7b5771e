#include "opensm_resolved.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "effective.h"
#include "keys.h"

/* One partition's share of the tables. */
struct share {
	const struct ft_table_entry *at, *end;
};

bool ft_resolvable(const struct ft_declared *declared)
{
	for (size_t i = 0; i < declared->port_count; i++)
		if (declared->ports[i].is_sm)
			return true;
	return false;
}

static unsigned base_of(const struct ft_table_entry *entry)
{
	return entry->pkey & FT_PKEY_DEFAULT;
}

static int by_base(const void *a, const void *b)
{
	const struct ft_table_entry *left = a, *right = b;

	if (base_of(left) != base_of(right))
		return base_of(left) < base_of(right) ? -1 : 1;
	return (left->port > right->port) - (left->port < right->port);
}

/* GUIDs that rules name -> 0 */
static int index_named(const struct ft_partition *partition, struct ft_keys *named)
{
	const struct ft_interval *interval = partition->intervals;
	int failed = 0;

	for (size_t i = 0; failed == 0 && i < interval->member_count; i++) {
		const uint64_t *guid = &interval->members[i].guid;

		if (interval->members[i].kind == FT_MEMBER_GUID &&
		    ft_keys_find(named, guid, sizeof *guid) == FT_NONE)
			failed = ft_keys_insert(named, guid, sizeof *guid, 0);
	}
	return failed;
}

static int add_port(struct ft_list *ports, struct ft_port port)
{
	struct ft_port *added = ft_list_add(ports);

	if (added == NULL)
		return -ENOMEM;
	*added = port;
	return 0;
}

/* A port for each GUID of the partition's rules that is not known yet. */
static int add_absent(const struct ft_partition *partition, struct ft_keys *known,
		      struct ft_list *ports)
{
	const struct ft_interval *interval = partition->intervals;
	int failed = 0;

	for (size_t i = 0; failed == 0 && i < interval->member_count; i++) {
		const uint64_t *guid = &interval->members[i].guid;

		if (interval->members[i].kind != FT_MEMBER_GUID ||
		    ft_keys_find(known, guid, sizeof *guid) != FT_NONE)
			continue;
		failed = ft_keys_insert(known, guid, sizeof *guid, 0);
		if (failed == 0)
			failed = add_port(ports,
					  (struct ft_port){ .has_guid = true, .guid = *guid });
	}
	return failed;
}

/* The fabric's ports, and behind them one for each GUID that only the rules know. */
static int list_ports(struct ft_resolved *resolved, const struct ft_declared *declared)
{
	struct ft_list ports = { .item_size = sizeof(struct ft_port) };
	struct ft_keys known = { 0 };
	int failed = 0;

	for (size_t i = 0; failed == 0 && i < declared->port_count; i++) {
		failed = add_port(&ports, declared->ports[i]);
		if (failed == 0 && declared->ports[i].has_guid)
			failed = ft_keys_insert(&known, &declared->ports[i].guid, sizeof(uint64_t),
						0);
	}
	for (size_t i = 0; failed == 0 && i < declared->partition_count; i++)
		failed = add_absent(&declared->partitions[i], &known, &ports);
	ft_keys_release(&known);
	resolved->declared.port_count = ports.count;
	resolved->declared.ports = ft_list_settle(&ports, resolved->arena);
	return failed != 0 || resolved->declared.ports == NULL ? -ENOMEM : 0;
}

static enum ft_membership last_for_all(const struct ft_interval *interval)
{
	enum ft_membership last = 0;

	for (size_t i = 0; i < interval->member_count; i++)
		if (interval->members[i].kind == FT_MEMBER_ALL)
			last = interval->members[i].membership;
	return last;
}

/* A port's entry, or the two of `both`. */
static enum ft_membership take_membership(struct share *share)
{
	const struct ft_table_entry *first = share->at;
	unsigned membership = 0;

	for (; share->at < share->end && share->at->port == first->port &&
	       base_of(share->at) == base_of(first);
	     share->at++)
		membership |= share->at->pkey > FT_PKEY_DEFAULT ? FT_FULL : FT_LIMITED;
	return (enum ft_membership)membership;
}

static int add_member(struct ft_list *members, struct ft_member member)
{
	struct ft_member *added = ft_list_add(members);

	if (added == NULL)
		return -ENOMEM;
	*added = member;
	return 0;
}

static int list_ports_of(const struct ft_resolved *resolved, const struct ft_partition *partition,
			 struct share share, const struct ft_keys *named, struct ft_list *members)
{
	enum ft_membership all = last_for_all(partition->intervals);
	int failed = 0;

	while (failed == 0 && share.at < share.end && base_of(share.at) == partition->base) {
		const struct ft_port *port = &resolved->declared.ports[share.at->port];
		enum ft_membership membership = take_membership(&share);
		bool covered = membership == all &&
			       ft_keys_find(named, &port->guid, sizeof port->guid) == FT_NONE;

		if (port->has_guid && !covered)
			failed = add_member(members,
					    (struct ft_member){ .kind = FT_MEMBER_GUID,
								.membership = membership,
								.guid = port->guid,
								.origin = partition->origin });
	}
	return failed;
}

static int list_members(const struct ft_resolved *resolved, const struct ft_partition *partition,
			struct share share, struct ft_list *members)
{
	enum ft_membership all = last_for_all(partition->intervals);
	struct ft_keys named = { 0 };
	int failed = index_named(partition, &named);

	if (failed == 0 && all != 0)
		failed = add_member(members, (struct ft_member){ .kind = FT_MEMBER_ALL,
								 .membership = all,
								 .origin = partition->origin });
	if (failed == 0)
		failed = list_ports_of(resolved, partition, share, &named, members);
	ft_keys_release(&named);
	return failed;
}

static int resolve_partition(struct ft_resolved *resolved, struct ft_partition *partition,
			     const struct ft_tables *tables)
{
	struct ft_list members = { .item_size = sizeof(struct ft_member) };
	struct share share = { tables->entries, tables->entries + tables->count };
	struct ft_interval *interval = ft_arena_take(resolved->arena, sizeof *interval);
	size_t low = 0, high = tables->count;

	while (low < high) { /* the first entry of this base */
		size_t middle = low + (high - low) / 2;

		if (base_of(&tables->entries[middle]) < partition->base)
			low = middle + 1;
		else
			high = middle;
	}
	share.at += low;
	if (interval == NULL || list_members(resolved, partition, share, &members) != 0) {
		ft_list_release(&members);
		return -ENOMEM;
	}
	*interval = *partition->intervals;
	interval->member_count = members.count;
	interval->members = ft_list_settle(&members, resolved->arena);
	partition->intervals = interval;
	return interval->members != NULL ? 0 : -ENOMEM;
}

/* As the map was loaded: without allow_both_pkeys no membership is FT_BOTH. */
static bool both_in_force(const struct ft_declared *declared)
{
	for (size_t i = 0; i < declared->partition_count; i++)
		for (size_t j = 0; j < declared->partitions[i].intervals->member_count; j++)
			if (declared->partitions[i].intervals->members[j].membership == FT_BOTH)
				return true;
	return false;
}

static int resolve_partitions(struct ft_resolved *resolved, const struct ft_declared *original)
{
	size_t size = original->partition_count * sizeof(struct ft_partition);
	struct ft_partition *partitions = ft_arena_take(resolved->arena, size);
	struct ft_tables tables;
	int failed = partitions == NULL ? -ENOMEM
					: ft_tables_resolve(&tables, &resolved->declared,
							    both_in_force(original));

	if (failed != 0)
		return failed;
	if (tables.count != 0)
		qsort(tables.entries, tables.count, sizeof *tables.entries, by_base);
	memcpy(partitions, original->partitions, size);
	for (size_t i = 0; failed == 0 && i < original->partition_count; i++)
		failed = resolve_partition(resolved, &partitions[i], &tables);
	resolved->declared.partitions = partitions;
	ft_tables_release(&tables);
	return failed;
}

int ft_resolve(struct ft_resolved *resolved, const struct ft_declared *declared)
{
	int failed;

	*resolved = (struct ft_resolved){ *declared, ft_arena_create() };
	if (resolved->arena == NULL)
		return -ENOMEM;
	failed = list_ports(resolved, declared);
	if (failed == 0)
		failed = resolve_partitions(resolved, declared);
	resolved->declared.ports = declared->ports;
	resolved->declared.port_count = declared->port_count;
	if (failed != 0)
		ft_resolved_release(resolved);
	return failed;
}

void ft_resolved_release(struct ft_resolved *resolved)
{
	ft_arena_destroy(resolved->arena);
	resolved->arena = NULL;
}
