#include "lint.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <partition/moment.h>

static bool overlap(const struct ft_partition *a, const struct ft_partition *b)
{
	for (size_t i = 0; i < a->interval_count; i++)
		for (size_t j = 0; j < b->interval_count; j++)
			if (a->intervals[i].from_ns < b->intervals[j].to_ns &&
			    b->intervals[j].from_ns < a->intervals[i].to_ns)
				return true;
	return false;
}

/* Two partitions on one base at one time are one partition to the fabric. */
static void lint_collisions(struct ft_lint *lint)
{
	const struct ft_partition *partitions = lint->declared->partitions;
	struct ft_keys bases = { 0 };

	for (uint32_t i = 0; i < lint->declared->partition_count && !lint->failed; i++) {
		uint32_t before =
			ft_keys_find(&bases, &partitions[i].base, sizeof partitions[i].base);

		if (before == FT_NONE)
			lint->failed |= ft_keys_insert(&bases, &partitions[i].base,
						       sizeof partitions[i].base, i) != 0;
		else if (partitions[before].tenant != partitions[i].tenant &&
			 overlap(&partitions[before], &partitions[i]))
			ft_lint_say(lint, FT_ERROR, "two-tenants-on-one-pkey", partitions[i].origin,
				    "0x%04x is %.60s's since line %u and %.60s's too: their "
				    "members can talk",
				    partitions[i].base,
				    ft_lint_tenant(lint, partitions[before].tenant),
				    partitions[before].origin.line,
				    ft_lint_tenant(lint, partitions[i].tenant));
	}
	ft_keys_release(&bases);
}

static bool all_limited(const struct ft_interval *interval)
{
	for (size_t i = 0; i < interval->member_count; i++)
		if ((interval->members[i].membership & FT_FULL) != 0)
			return false;
	return interval->member_count != 0;
}

static void lint_limited_only(struct ft_lint *lint, const struct ft_partition *partition)
{
	for (size_t i = 0; i < partition->interval_count; i++)
		if (all_limited(&partition->intervals[i]))
			ft_lint_say(lint, FT_WARNING, "limited-only",
				    partition->intervals[i].origin,
				    "0x%04x has limited members only, so nobody in it can talk",
				    partition->base);
}

static void lint_past(struct ft_lint *lint, const struct ft_interval *intervals, size_t count)
{
	char to[FT_MOMENT_ROOM];

	for (size_t i = 0; i < count; i++)
		if (intervals[i].to_ns <= lint->declared->issued_at_ns)
			ft_lint_say(lint, FT_NOTE, "interval-past", intervals[i].origin,
				    "it ended at %s, before this map was issued",
				    ft_moment_write(to, intervals[i].to_ns));
}

/* Words by which operators name what everyone uses. */
static const char *service_word(const char *name)
{
	static const char *const words[] = { "storage", "nas",    "nfs",    "lustre",  "ceph",
					     "gpfs",    "backup", "shared", "scratch", "common",
					     "mgmt",    "manage", "admin" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const char *at = strcasestr(name, words[i]);

		if (at != NULL && (at == name || !isalpha((unsigned char)at[-1])))
			return words[i];
	}
	return NULL;
}

static void lint_service(struct ft_lint *lint, const char *name, uint32_t tenant,
			 struct ft_origin origin)
{
	const char *word = name != NULL ? service_word(name) : NULL;

	if (word != NULL && tenant != FT_NONE &&
	    lint->declared->tenants[tenant].class == FT_CUSTOMER)
		ft_lint_say(lint, FT_NOTE, "service-by-name", origin,
			    "\"%.60s\" sounds like a service for several tenants, but %.60s counts "
			    "as a customer",
			    name, ft_lint_tenant(lint, tenant));
}

static void lint_unused(struct ft_lint *lint)
{
	const struct ft_declared *declared = lint->declared;
	bool *used = calloc(declared->tenant_count + 1, sizeof *used);

	lint->failed |= used == NULL;
	for (size_t i = 0; used != NULL && i < declared->partition_count; i++)
		if (declared->partitions[i].tenant != FT_NONE)
			used[declared->partitions[i].tenant] = true;
	for (size_t i = 0; used != NULL && i < declared->segment_count; i++)
		used[declared->segments[i].tenant] = true;
	for (size_t i = 0;
	     used != NULL && i < declared->tenant_count && declared->verdict != FT_MAP_FAIL_OPEN;
	     i++)
		if (!used[i])
			ft_lint_say(lint, FT_NOTE, "tenant-without-partition",
				    declared->tenants[i].origin,
				    "%.80s has neither a partition nor a segment",
				    declared->tenants[i].name);
	free(used);
}

void ft_lint_partitions(struct ft_lint *lint)
{
	const struct ft_declared *declared = lint->declared;

	lint_collisions(lint);
	for (size_t i = 0; i < declared->partition_count; i++) {
		const struct ft_partition *partition = &declared->partitions[i];

		lint_limited_only(lint, partition);
		lint_past(lint, partition->intervals, partition->interval_count);
		lint_service(lint,
			     partition->name != NULL ? partition->name
						     : ft_lint_tenant(lint, partition->tenant),
			     partition->tenant, partition->origin);
	}
	for (size_t i = 0; i < declared->segment_count; i++) {
		lint_past(lint, declared->segments[i].intervals,
			  declared->segments[i].interval_count);
		lint_service(lint, declared->segments[i].name, declared->segments[i].tenant,
			     declared->segments[i].origin);
	}
	lint_unused(lint);
}
