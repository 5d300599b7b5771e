#pragma once

#include "tenants.h"

/* The sources of tenant sets, for tenants.c. */
bool ft_owners_visit(const struct ft_tenants *set, ft_tenant_visit *visit, void *with);
bool ft_owners_hold(const struct ft_tenants *set, uint32_t tenant);
bool ft_base_visit(const struct ft_tenants *set, ft_tenant_visit *visit, void *with);
struct ft_origin ft_owners_origin(const struct ft_tenants *set);
bool ft_slots_visit(const struct ft_tenants *set, ft_tenant_visit *visit, void *with);
struct ft_origin ft_slots_origin(const struct ft_tenants *set);
