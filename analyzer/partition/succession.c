#include <partition/succession.h>

#include <errno.h>
#include <string.h>

#include <partition/arena.h>

/* New indices of the new map's own tenants, and how many there are with those that retire. */
struct renumbering {
	struct ft_arena *arena;
	uint32_t *to;
	size_t count;
};

static uint32_t find_tenant(const struct ft_declared *map, const char *name)
{
	for (size_t i = 0; i < map->tenant_count; i++)
		if (strcmp(map->tenants[i].name, name) == 0)
			return (uint32_t)i;
	return FT_NONE;
}

static uint32_t find_exception(const struct ft_declared *map, const char *id)
{
	for (size_t i = 0; i < map->exception_count; i++)
		if (strcmp(map->exceptions[i].id, id) == 0)
			return (uint32_t)i;
	return FT_NONE;
}

static int renumber(struct renumbering *plan, const struct ft_declared *next,
		    const struct ft_declared *before)
{
	plan->count = before->tenant_count;
	plan->to = ft_arena_take(plan->arena, next->tenant_count * sizeof *plan->to);
	if (plan->to == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < next->tenant_count; i++) {
		uint32_t same = find_tenant(before, next->tenants[i].name);

		plan->to[i] = same != FT_NONE ? same : (uint32_t)plan->count++;
	}
	return 0;
}

static uint32_t moved(const struct renumbering *plan, uint32_t tenant)
{
	return tenant == FT_NONE ? FT_NONE : plan->to[tenant];
}

/* The arena is the new map's own: what lies in it may still be written. */
static void move_list(const struct renumbering *plan, const uint32_t *list, size_t count)
{
	uint32_t *writable = (uint32_t *)(uintptr_t)list;

	for (size_t i = 0; i < count; i++)
		writable[i] = moved(plan, writable[i]);
}

static int retire_tenant(const struct renumbering *plan, const struct ft_tenant *gone,
			 struct ft_tenant *tenant)
{
	*tenant = (struct ft_tenant){
		.name = ft_arena_text(plan->arena, gone->name, strlen(gone->name)),
		.class = gone->class,
		.quota_gbps = -1,
		.retired = true,
		.origin = { .file = FT_NONE },
	};
	return tenant->name != NULL ? 0 : -ENOMEM;
}

/* All tenants in their new places: the new map's, and those of before that it lacks. */
static struct ft_tenant *place_tenants(const struct renumbering *plan,
				       const struct ft_declared *next,
				       const struct ft_declared *before)
{
	struct ft_tenant *placed = ft_arena_take(plan->arena, plan->count * sizeof *placed);

	if (placed == NULL)
		return NULL;
	for (size_t i = 0; i < before->tenant_count; i++)
		if (retire_tenant(plan, &before->tenants[i], &placed[i]) != 0)
			return NULL;
	for (size_t i = 0; i < next->tenant_count; i++)
		placed[plan->to[i]] = next->tenants[i];
	return placed;
}

/* The new map's exceptions, then those of before that it lacks. */
static struct ft_exception *place_exceptions(struct ft_arena *arena, const struct ft_declared *next,
					     const struct ft_declared *before,
					     const struct ft_succession *succession, uint32_t *to)
{
	size_t count = next->exception_count;
	struct ft_exception *placed =
		ft_arena_take(arena, (count + succession->exception_count) * sizeof *placed);

	if (placed == NULL)
		return NULL;
	memcpy(placed, next->exceptions, count * sizeof *placed);
	for (size_t i = 0; i < succession->exception_count; i++) {
		const char *id = before->exceptions[i].id;

		to[i] = find_exception(next, id);
		if (to[i] != FT_NONE)
			continue;
		to[i] = (uint32_t)count;
		placed[count] = (struct ft_exception){ .to_tenant = FT_NONE };
		placed[count].id = ft_arena_text(arena, id, strlen(id));
		if (placed[count++].id == NULL)
			return NULL;
	}
	return placed;
}

static void move_partitions(const struct renumbering *plan, const struct ft_partition *list,
			    size_t count)
{
	struct ft_partition *writable = (struct ft_partition *)(uintptr_t)list;

	for (size_t i = 0; i < count; i++)
		writable[i].tenant = moved(plan, writable[i].tenant);
}

static void move_owners(const struct renumbering *plan, struct ft_declared *next)
{
	struct ft_segment *segments = (struct ft_segment *)(uintptr_t)next->segments;
	struct ft_exception *exceptions = (struct ft_exception *)(uintptr_t)next->exceptions;

	for (size_t i = 0; i < next->tenant_count; i++)
		move_list(plan, next->tenants[i].apart, next->tenants[i].apart_count);
	for (size_t i = 0; i < next->segment_count; i++)
		segments[i].tenant = moved(plan, segments[i].tenant);
	for (size_t i = 0; i < next->exception_count; i++) {
		exceptions[i].to_tenant = moved(plan, exceptions[i].to_tenant);
		move_list(plan, exceptions[i].from_tenants, exceptions[i].from_count);
	}
	move_partitions(plan, next->partitions, next->partition_count);
	move_partitions(plan, next->intended, next->intended_count);
}

int ft_declared_succeed(struct ft_declared *next, const struct ft_declared *before,
			struct ft_succession *succession)
{
	struct renumbering plan = { .arena = next->arena };
	const struct ft_exception *exceptions;
	const struct ft_tenant *tenants;
	uint32_t *to;

	succession->exception_count = before->exception_count + before->retired_exceptions;
	to = ft_arena_take(plan.arena, succession->exception_count * sizeof *to);
	if (to == NULL || renumber(&plan, next, before) != 0)
		return -ENOMEM;
	succession->exceptions = to;
	tenants = place_tenants(&plan, next, before);
	exceptions = place_exceptions(plan.arena, next, before, succession, to);
	if (tenants == NULL || exceptions == NULL)
		return -ENOMEM;
	next->exceptions = exceptions;
	move_owners(&plan, next);
	next->retired_count = plan.count - next->tenant_count;
	next->tenants = tenants;
	next->tenant_count = plan.count;
	for (size_t i = 0; i < succession->exception_count; i++)
		next->retired_exceptions += to[i] >= next->exception_count;
	return 0;
}
