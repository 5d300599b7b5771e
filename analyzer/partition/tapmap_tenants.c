#include "tapmap.h"

#include <string.h>

static struct ft_tenant *tenant_at(struct ft_reading *reading, uint32_t number)
{
	return (struct ft_tenant *)reading->builder->tenants.items + number;
}

static void read_element(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct ft_tenant_list *list = into;
	uint32_t tenant = ft_read_tenant(reading, value);

	if (tenant != FT_NONE)
		list->tenants[list->count++] = tenant;
}

void ft_tapmap_tenant_list(struct ft_reading *reading, struct ft_value value,
			   struct ft_tenant_list *list)
{
	list->tenants =
		ft_builder_take(reading->builder, ft_array_size(value) * sizeof *list->tenants);
	if (list->tenants != NULL)
		ft_read_array(reading, value, read_element, list);
}

static void skip(struct ft_reading *reading, struct ft_value value, void *into)
{
	(void)reading;
	(void)value;
	(void)into;
}

static void read_class(struct ft_reading *reading, struct ft_value value, void *into)
{
	static const char *const classes[] = { "customer", "shared", "management", NULL };
	int class = ft_read_word(reading, value, classes);

	if (class >= 0)
		tenant_at(reading, *(uint32_t *)into)->class = (enum ft_tenant_class) class;
}

static void read_encryption(struct ft_reading *reading, struct ft_value value, void *into)
{
	static const char *const words[] = { "optional", "required", "none", NULL };
	int word = ft_read_word(reading, value, words);

	if (word >= 0)
		tenant_at(reading, *(uint32_t *)into)->encryption = (enum ft_encryption)word;
}

static void read_quota(struct ft_reading *reading, struct ft_value value, void *into)
{
	if (json_is_null(value.json))
		return;
	if (!json_is_number(value.json) || json_number_value(value.json) < 0)
		ft_refuse(reading, value, "out-of-range", "a quota is a number from 0, or null");
	else
		tenant_at(reading, *(uint32_t *)into)->quota_gbps = json_number_value(value.json);
}

static void read_apart(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct ft_tenant_list list = { 0 };
	uint32_t number = *(uint32_t *)into;

	ft_tapmap_tenant_list(reading, value, &list);
	for (size_t i = 0; i < list.count; i++)
		if (list.tenants[i] == number)
			ft_refuse(reading, value, "apart-from-itself",
				  "a tenant cannot be kept apart from itself");
	tenant_at(reading, number)->apart = list.tenants;
	tenant_at(reading, number)->apart_count = list.count;
}

static void read_options(struct ft_reading *reading, struct ft_value value, void *into)
{
	static const struct ft_object_field fields[] = {
		{ "encryption", false, read_encryption },
		{ "quota_gbps", false, read_quota },
		{ "no_leaf_sharing_with", false, read_apart },
		{ 0 },
	};

	ft_read_object(reading, value, fields, into, NULL);
}

static const struct ft_object_field tenant_names[] = {
	{ "name", true, skip },
	{ "class", true, read_class },
	{ "options", false, skip },
	{ 0 },
};

static const struct ft_object_field tenant_options[] = {
	{ "name", true, skip },
	{ "class", true, skip },
	{ "options", false, read_options },
	{ 0 },
};

/* Reports mean "no tenant" by this name. */
static bool usable_name(struct ft_reading *reading, struct ft_value value, const char *name)
{
	const struct ft_builder *builder = reading->builder;

	if (strcmp(name, "unknown") == 0)
		ft_refuse(reading, value, "reserved-name",
			  "\"unknown\" is what reports call no tenant");
	else if (ft_keys_find(&builder->tenant_names, name, strlen(name)) != FT_NONE)
		ft_refuse(reading, value, "duplicate-tenant", "tenant \"%.80s\" is declared twice",
			  name);
	else
		return true;
	return false;
}

static void read_tenant_name(struct ft_reading *reading, struct ft_value value, void *into)
{
	const char **name = into;

	*name = ft_read_name(reading, value);
}

static void read_tenant(struct ft_reading *reading, struct ft_value value, void *into)
{
	const char *name = NULL;
	uint32_t tenant = FT_NONE;

	(void)into;
	ft_read_key(reading, value, "name", read_tenant_name, &name);
	if (name != NULL && usable_name(reading, value, name))
		tenant = ft_builder_tenant(reading->builder, name, FT_CUSTOMER,
					   ft_reading_origin(reading, value));
	if (tenant != FT_NONE)
		ft_read_object(reading, value, tenant_names, &tenant, NULL);
	else if (name == NULL && json_object_get(value.json, "name") == NULL)
		ft_refuse(reading, value, "missing-key", "a tenant is an object with a \"name\"");
}

/* Options name other tenants, so they wait until all are known. */
static void read_tenant_options(struct ft_reading *reading, struct ft_value value, void *into)
{
	uint32_t *tenant = into;

	ft_read_object(reading, value, tenant_options, tenant, NULL);
	++*tenant;
}

int ft_tapmap_tenants(struct ft_reading *reading, const struct ft_long_array *tenants)
{
	unsigned errors = reading->builder->errors;
	uint32_t first = 0;
	int failed = ft_read_elements(reading, tenants, read_tenant, NULL);

	if (failed == 0 && reading->builder->errors == errors)
		failed = ft_read_elements(reading, tenants, read_tenant_options, &first);
	return failed;
}
