#include "opensm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a member stands for when a later keyword may cover it. */
enum covered {
	A_CA,
	A_SWITCH,
	A_ROUTER,
	THE_MANAGER,
	ALL_CAS,
	ALL_SWITCHES,
	ALL_ROUTERS,
	EVERYONE,
	COVERED
};

/* Which of them a keyword covers wholly, by enum ft_member_kind. */
static const unsigned covers[] = {
	[FT_MEMBER_ALL] = ~0u,
	[FT_MEMBER_ALL_CAS] = 1 << A_CA | 1 << THE_MANAGER | 1 << ALL_CAS,
	[FT_MEMBER_ALL_SWITCHES] = 1 << A_SWITCH | 1 << ALL_SWITCHES,
	[FT_MEMBER_ALL_ROUTERS] = 1 << A_ROUTER | 1 << ALL_ROUTERS,
	[FT_MEMBER_SELF] = 1 << THE_MANAGER,
};

struct review {
	struct ft_opensm *opensm;
	struct ft_keys seen; /* base and GUID -> membership */
	bool topology;
};

static const struct ft_port *find_port(const struct review *review, uint64_t guid)
{
	const struct ft_builder *builder = review->opensm->builder;
	uint32_t number = ft_keys_find(&builder->guids, &guid, sizeof guid);

	return number != FT_NONE ? (const struct ft_port *)builder->ports.items + number : NULL;
}

static enum covered covered_kind(const struct review *review, const struct ft_member *member)
{
	static const enum covered keywords[] = { [FT_MEMBER_ALL] = EVERYONE,
						 [FT_MEMBER_ALL_CAS] = ALL_CAS,
						 [FT_MEMBER_ALL_SWITCHES] = ALL_SWITCHES,
						 [FT_MEMBER_ALL_ROUTERS] = ALL_ROUTERS,
						 [FT_MEMBER_SELF] = THE_MANAGER };
	static const enum covered nodes[] = {
		[FT_NODE_CA] = A_CA, [FT_NODE_SWITCH] = A_SWITCH, [FT_NODE_ROUTER] = A_ROUTER
	};
	const struct ft_port *port;

	if (member->kind != FT_MEMBER_GUID)
		return keywords[member->kind];
	port = find_port(review, member->guid);
	return port != NULL ? nodes[port->kind] : A_CA;
}

static void review_repeats(struct review *review, uint16_t base, const struct ft_member *member)
{
	struct ft_builder *builder = review->opensm->builder;
	struct {
		uint64_t guid, base;
	} key = { member->guid, base };
	uint32_t before = ft_keys_find(&review->seen, &key, sizeof key);
	const char *kept;

	if (before != FT_NONE && before != member->membership)
		ft_diagnose(builder, FT_WARNING, "member-redefined", member->origin,
			    "0x%016lx was another kind of member of 0x%04x before; this line wins",
			    member->guid, base);
	if (before != FT_NONE)
		return;
	kept = ft_builder_text(builder, (const char *)&key, sizeof key);
	if (kept != NULL &&
	    ft_keys_insert(&review->seen, kept, sizeof key, member->membership) != 0)
		builder->out_of_memory = true;
}

static void review_member(struct review *review, const struct ft_opensm_partition *partition,
			  const struct ft_member *member, unsigned earlier[FT_BOTH + 1])
{
	struct ft_builder *builder = review->opensm->builder;

	if (member->kind == FT_MEMBER_GUID) {
		review_repeats(review, partition->base, member);
		if (review->topology && find_port(review, member->guid) == NULL)
			ft_diagnose(builder, FT_NOTE, "member-not-in-fabric", member->origin,
				    "0x%016lx is not in the fabric; OpenSM skips it", member->guid);
	} else {
		for (unsigned other = FT_LIMITED; other <= FT_BOTH; other++)
			if (other != member->membership &&
			    (earlier[other] & covers[member->kind]) != 0) {
				ft_diagnose(builder, FT_WARNING, "earlier-member-overridden",
					    member->origin,
					    "this keyword changes the membership of ports named "
					    "before it in 0x%04x",
					    partition->base);
				break;
			}
	}
	earlier[member->membership] |= 1u << covered_kind(review, member);
}

static void review_partition(struct review *review, const struct ft_opensm_partition *partition)
{
	const struct ft_member *members = partition->members.items;
	unsigned earlier[FT_BOTH + 1] = { 0 };

	if (partition->members.count == 0)
		ft_diagnose(review->opensm->builder, FT_NOTE, "empty-partition", partition->origin,
			    "0x%04x has no members", partition->base);
	for (size_t i = 0; i < partition->members.count; i++)
		review_member(review, partition, &members[i], earlier);
}

/* The tenant is the partition's name; a name that would be misunderstood gets the P_Key behind it. */
static uint32_t tenant_of(struct ft_builder *builder, const struct ft_opensm_partition *partition)
{
	enum ft_tenant_class class =
		partition->base == FT_PKEY_DEFAULT ? FT_MANAGEMENT : FT_CUSTOMER;
	const struct ft_tenant *tenants;
	char name[64];
	uint32_t number;

	snprintf(name, sizeof name, "%s",
		 ft_builder_name(builder, partition->name, strlen(partition->name)));
	if (name[0] == '\0')
		snprintf(name, sizeof name, "0x%04x", partition->base);
	else if (strcmp(name, "unknown") == 0)
		snprintf(name, sizeof name, "unknown (0x%04x)", partition->base);
	number = ft_builder_tenant(builder, name, class, partition->origin);
	tenants = builder->tenants.items;
	if (number == FT_NONE || tenants[number].class == class)
		return number;
	snprintf(name + strlen(name), sizeof name - strlen(name), " (0x%04x)", partition->base);
	return ft_builder_tenant(builder, name, class, partition->origin);
}

/* The partition as declared, with `own` members of OpenSM's before those of the file. */
static void settle(struct ft_opensm *opensm, struct ft_opensm_partition *partition,
		   struct ft_list *into, const struct ft_member *own, size_t own_count)
{
	struct ft_builder *builder = opensm->builder;
	size_t count = own_count + partition->members.count;
	struct ft_member *members = ft_builder_take(builder, count * sizeof *members);
	struct ft_interval *interval = ft_builder_take(builder, sizeof *interval);
	struct ft_partition *added = ft_builder_add(builder, into);
	char *flags = json_dumps(partition->flags, JSON_COMPACT);

	if (members == NULL || interval == NULL || added == NULL || flags == NULL) {
		builder->out_of_memory = true;
		free(flags);
		return;
	}
	if (own_count != 0)
		memcpy(members, own, own_count * sizeof *own);
	if (partition->members.count != 0)
		memcpy(members + own_count, partition->members.items,
		       partition->members.count * sizeof *members);
	*interval = (struct ft_interval){ FT_TIME_MIN, FT_TIME_MAX, NULL,
					  members,     count,       partition->origin };
	*added = (struct ft_partition){
		.base = partition->base,
		.name = partition->name[0] != '\0'
				? ft_builder_name(builder, partition->name, strlen(partition->name))
				: NULL,
		.tenant = tenant_of(builder, partition),
		.ipoib = partition->ipoib,
		.index0 = partition->index0,
		.mtu = partition->mtu,
		.rate = partition->rate,
		.sl = partition->sl,
		.flags_json = ft_builder_text(builder, flags, strlen(flags)),
		.intervals = interval,
		.interval_count = 1,
		.origin = partition->origin,
	};
	free(flags);
}

/*
 * OpenSM's own rules come before the file's: everyone limited in the default partition, the subnet
 * manager's port full. A file that is dropped leaves: everyone full, and nothing else.
 */
static void settle_all(struct ft_opensm *opensm)
{
	struct ft_origin none = { .file = opensm->origin.file };
	struct ft_member own[] = {
		{ .kind = FT_MEMBER_ALL, .membership = FT_LIMITED, .origin = none },
		{ .kind = FT_MEMBER_SELF, .membership = FT_FULL, .origin = none }
	};
	struct ft_member everyone = { .kind = FT_MEMBER_ALL,
				      .membership = FT_FULL,
				      .origin = opensm->origin };
	struct ft_opensm_partition fallback = { .base = FT_PKEY_DEFAULT,
						.name = "Default",
						.mtu = -1,
						.rate = -1,
						.sl = -1,
						.origin = none };
	struct ft_opensm_partition *partitions = opensm->partitions.items;
	struct ft_builder *builder = opensm->builder;
	bool has_default = false;

	fallback.flags = json_object();
	for (size_t i = 0; i < opensm->partitions.count; i++)
		has_default |= partitions[i].base == FT_PKEY_DEFAULT;
	if (opensm->failed)
		settle(opensm, &fallback, &builder->partitions, &everyone, 1);
	else if (!has_default)
		settle(opensm, &fallback, &builder->partitions, own, 2);
	for (size_t i = 0; i < opensm->partitions.count; i++)
		settle(opensm, &partitions[i],
		       opensm->failed ? &builder->intended : &builder->partitions, own,
		       partitions[i].base == FT_PKEY_DEFAULT ? 2 : 0);
	json_decref(fallback.flags);
}

void ft_opensm_finish(struct ft_opensm *opensm, bool topology)
{
	struct ft_opensm_partition *partitions = opensm->partitions.items;
	struct review review = { .opensm = opensm, .topology = topology };

	for (size_t i = 0; i < opensm->partitions.count && !opensm->failed; i++)
		review_partition(&review, &partitions[i]);
	settle_all(opensm);
	if (opensm->failed)
		opensm->builder->declared->verdict = FT_MAP_FAIL_OPEN;
	for (size_t i = 0; i < opensm->partitions.count; i++) {
		ft_list_release(&partitions[i].members);
		json_decref(partitions[i].flags);
	}
	ft_list_release(&opensm->partitions);
	ft_keys_release(&opensm->bases);
	ft_keys_release(&opensm->names);
	ft_keys_release(&review.seen);
}
