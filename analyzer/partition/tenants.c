/* Sets of tenants: how they are asked. Where they come from: owners.c, segments.c. */
#include "tenants.h"

#include "sets.h"

bool ft_tenants_visit(const struct ft_tenants *set, ft_tenant_visit *visit, void *with)
{
	switch (set->kind) {
	case FT_ONE:
		return visit(with, set->tenant);
	case FT_OWNERS:
		return ft_owners_visit(set, visit, with);
	case FT_OF_BASE:
		return ft_base_visit(set, visit, with);
	case FT_HERE:
	case FT_ELSEWHERE:
		return ft_slots_visit(set, visit, with);
	default:
		return false;
	}
}

static bool is_tenant(void *with, uint32_t tenant)
{
	return tenant == *(const uint32_t *)with;
}

bool ft_tenants_hold(const struct ft_tenants *set, uint32_t tenant)
{
	if (set->kind == FT_OWNERS)
		return ft_owners_hold(set, tenant);
	return ft_tenants_visit(set, is_tenant, &tenant);
}

static bool is_held(void *with, uint32_t tenant)
{
	return ft_tenants_hold(with, tenant);
}

/* Owners are found by search, so the other set is walked. */
bool ft_tenants_meet(const struct ft_tenants *a, const struct ft_tenants *b)
{
	const struct ft_tenants *searched = a->kind == FT_OWNERS ? a : b;
	const struct ft_tenants *walked = searched == a ? b : a;

	return ft_tenants_visit(walked, is_held, (void *)(uintptr_t)searched);
}

static bool is_second(void *with, uint32_t tenant)
{
	uint32_t *first = with;

	if (*first == FT_NONE)
		*first = tenant;
	return *first != tenant;
}

uint32_t ft_tenants_single(const struct ft_tenants *set)
{
	uint32_t first = FT_NONE;

	return ft_tenants_visit(set, is_second, &first) ? FT_NONE : first;
}

struct ft_origin ft_tenants_origin(const struct ft_tenants *set)
{
	switch (set->kind) {
	case FT_ONE:
	case FT_OWNERS:
		return ft_owners_origin(set);
	case FT_OF_BASE:
		return set->map->declared->partitions[set->partition].origin;
	case FT_HERE:
	case FT_ELSEWHERE:
		return ft_slots_origin(set);
	default:
		return (struct ft_origin){ .file = FT_NONE };
	}
}
