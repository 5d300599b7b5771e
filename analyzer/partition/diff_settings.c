#include "diff_settings.h"

#include <stdlib.h>
#include <string.h>

#include "document.h"

enum { NAME_ROOM = 512 };

static const char *const port_keys[] = { "guid", "gid", "ip", "mac", "lid", "lmc", "leaf" };

#define PORT_KEYS (sizeof port_keys / sizeof *port_keys)

/* The relation is symmetric, and stands once for both. */
static void set_apart(json_t *object, const char *one, const char *other)
{
	bool in_order = strcmp(one, other) <= 0;
	char name[NAME_ROOM];

	snprintf(name, sizeof name, "leaf of %s and %s", in_order ? one : other,
		 in_order ? other : one);
	json_object_set_new(object, name, json_string("not shared"));
}

static void set_of(json_t *object, const char *what, const char *whose, json_t *value)
{
	char name[NAME_ROOM];

	snprintf(name, sizeof name, "%s of %s", what, whose);
	json_object_set_new(object, name, value);
}

static void set_tenant(json_t *object, const struct ft_declared *declared,
		       const struct ft_tenant *tenant)
{
	static const char *const encryptions[] = {
		[FT_ENCRYPTION_REQUIRED] = "required", [FT_ENCRYPTION_NONE] = "none"
	};

	if (tenant->quota_gbps >= 0)
		set_of(object, "quota_gbps", tenant->name, json_real(tenant->quota_gbps));
	if (tenant->encryption != FT_ENCRYPTION_OPTIONAL)
		set_of(object, "encryption", tenant->name,
		       json_string(encryptions[tenant->encryption]));
	for (size_t i = 0; i < tenant->apart_count; i++)
		set_apart(object, tenant->name, declared->tenants[tenant->apart[i]].name);
}

json_t *ft_diff_settings_of(const struct ft_declared *declared)
{
	json_t *object = json_object();
	char base[8];

	if (declared->has_subnet_prefix)
		json_object_set_new(object, "subnet_prefix", ft_json_guid(declared->subnet_prefix));
	for (size_t i = 0; i < declared->tenant_count; i++)
		set_tenant(object, declared, &declared->tenants[i]);
	for (size_t i = 0; i < declared->partition_count; i++) {
		snprintf(base, sizeof base, "0x%04x", declared->partitions[i].base);
		if (declared->partitions[i].ipoib)
			set_of(object, "ipoib", base, json_true());
	}
	return object;
}

/* A string or a number, in the room of a name. */
static const char *value_text(const json_t *value, char text[NAME_ROOM])
{
	if (json_is_string(value))
		return json_string_value(value);
	if (json_is_integer(value))
		snprintf(text, NAME_ROOM, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_real(value))
		snprintf(text, NAME_ROOM, "%.15g", json_real_value(value));
	else
		snprintf(text, NAME_ROOM, "%s", json_is_true(value) ? "true" : "none");
	return text;
}

static const char *known_by(const json_t *port, char text[NAME_ROOM])
{
	for (size_t i = 0; i < PORT_KEYS; i++)
		if (json_object_get(port, port_keys[i]) != NULL)
			return value_text(json_object_get(port, port_keys[i]), text);
	return "?";
}

json_t *ft_diff_ports_of(const struct ft_declared *declared)
{
	json_t *object = json_object();
	char name[NAME_ROOM], text[NAME_ROOM];

	for (size_t i = 0; i < declared->port_count; i++) {
		const char *host = declared->ports[i].host;
		json_t *port = ft_port_document(&declared->ports[i]);

		json_object_del(port, "leaf_port"); /* no verdict goes by it */
		snprintf(name, sizeof name, "%.*s%s%s", NAME_ROOM / 2, host != NULL ? host : "",
			 host != NULL ? " " : "", known_by(port, text));
		json_object_set_new(object, name, port);
	}
	return object;
}

static const char *text_of(const json_t *change, const char *key)
{
	return json_string_value(json_object_get(change, key));
}

void ft_diff_settings_write(const json_t *differences, FILE *out)
{
	char old[NAME_ROOM], new[NAME_ROOM];

	for (size_t i = 0; i < json_array_size(differences); i++) {
		const json_t *change = json_array_get(differences, i);

		fprintf(out, "setting %s: %s -> %s\n", text_of(change, "name"),
			value_text(json_object_get(change, "old"), old),
			value_text(json_object_get(change, "new"), new));
	}
}

static void write_port(const json_t *change, FILE *out)
{
	const json_t *old = json_object_get(change, "old"), *new = json_object_get(change, "new");
	char before[NAME_ROOM], after[NAME_ROOM];
	const char *between = ": ";

	fprintf(out, "port    %s", text_of(change, "name"));
	if (json_is_null(old) || json_is_null(new))
		fprintf(out, " %s", text_of(change, "change"));
	else
		for (size_t i = 0; i < PORT_KEYS; i++) {
			const json_t *left = json_object_get(old, port_keys[i]),
				     *right = json_object_get(new, port_keys[i]);

			if (json_equal(left, right) || (left == NULL && right == NULL))
				continue;
			fprintf(out, "%s%s %s -> %s", between, port_keys[i],
				value_text(left, before), value_text(right, after));
			between = ", ";
		}
	fputc('\n', out);
}

void ft_diff_ports_write(const json_t *differences, FILE *out)
{
	for (size_t i = 0; i < json_array_size(differences); i++)
		write_port(json_array_get(differences, i), out);
}
