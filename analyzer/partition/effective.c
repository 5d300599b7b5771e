#include "effective.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <partition/arena.h>
#include "keys.h"

struct resolving {
	const struct ft_declared *declared;
	bool allow_both;
	struct ft_keys guids; /* -> index into ports */
	uint8_t *memberships; /* per port, in the partition at hand; 0: none */
	struct ft_list entries;
};

static bool names_kind(const struct ft_member *member, const struct ft_port *port)
{
	switch (member->kind) {
	case FT_MEMBER_ALL:
		return true;
	case FT_MEMBER_ALL_CAS:
		return port->kind == FT_NODE_CA;
	case FT_MEMBER_ALL_SWITCHES:
		return port->kind == FT_NODE_SWITCH;
	case FT_MEMBER_ALL_ROUTERS:
		return port->kind == FT_NODE_ROUTER;
	default:
		return member->kind == FT_MEMBER_SELF && port->is_sm;
	}
}

static enum ft_membership membership_of(const struct resolving *resolving,
					const struct ft_member *member)
{
	if (!member->written_both)
		return member->membership;
	return resolving->allow_both ? FT_BOTH : FT_FULL;
}

static void apply(struct resolving *resolving, const struct ft_member *member)
{
	const struct ft_declared *declared = resolving->declared;
	uint8_t membership = (uint8_t)membership_of(resolving, member);
	uint32_t port;

	if (member->kind == FT_MEMBER_GUID) {
		port = ft_keys_find(&resolving->guids, &member->guid, sizeof member->guid);
		if (port != FT_NONE)
			resolving->memberships[port] = membership;
		return;
	}
	for (port = 0; port < declared->port_count; port++)
		if (names_kind(member, &declared->ports[port]))
			resolving->memberships[port] = membership;
}

static int add_entry(struct resolving *resolving, uint32_t port, unsigned pkey)
{
	struct ft_table_entry *entry = ft_list_add(&resolving->entries);

	if (entry == NULL)
		return -ENOMEM;
	*entry = (struct ft_table_entry){ port, (uint16_t)pkey };
	return 0;
}

static int resolve_partition(struct resolving *resolving, const struct ft_partition *partition)
{
	const struct ft_interval *interval = partition->intervals;
	int failed = 0;

	memset(resolving->memberships, 0, resolving->declared->port_count);
	for (size_t i = 0; i < interval->member_count; i++)
		apply(resolving, &interval->members[i]);
	for (uint32_t port = 0; failed == 0 && port < resolving->declared->port_count; port++) {
		if ((resolving->memberships[port] & FT_LIMITED) != 0)
			failed = add_entry(resolving, port, partition->base);
		if (failed == 0 && (resolving->memberships[port] & FT_FULL) != 0)
			failed = add_entry(resolving, port, partition->base | 0x8000u);
	}
	return failed;
}

static int by_port(const void *a, const void *b)
{
	const struct ft_table_entry *left = a, *right = b;

	if (left->port != right->port)
		return left->port < right->port ? -1 : 1;
	return left->pkey - right->pkey;
}

static int index_guids(struct resolving *resolving)
{
	const struct ft_port *ports = resolving->declared->ports;
	int failed = 0;

	for (uint32_t i = 0; failed == 0 && i < resolving->declared->port_count; i++)
		if (ports[i].has_guid)
			failed = ft_keys_insert(&resolving->guids, &ports[i].guid,
						sizeof ports[i].guid, i);
	return failed;
}

int ft_tables_resolve(struct ft_tables *tables, const struct ft_declared *declared, bool allow_both)
{
	struct resolving resolving = {
		.declared = declared,
		.allow_both = allow_both,
		.memberships = malloc(declared->port_count + 1),
		.entries.item_size = sizeof(struct ft_table_entry),
	};
	int failed = resolving.memberships == NULL ? -ENOMEM : index_guids(&resolving);

	for (size_t i = 0; failed == 0 && i < declared->partition_count; i++)
		failed = resolve_partition(&resolving, &declared->partitions[i]);
	free(resolving.memberships);
	ft_keys_release(&resolving.guids);
	if (failed != 0) {
		ft_list_release(&resolving.entries);
		return failed;
	}
	if (resolving.entries.count != 0)
		qsort(resolving.entries.items, resolving.entries.count, resolving.entries.item_size,
		      by_port);
	*tables = (struct ft_tables){ resolving.entries.items, resolving.entries.count };
	return 0;
}

void ft_tables_release(struct ft_tables *tables)
{
	free(tables->entries);
	*tables = (struct ft_tables){ 0 };
}
