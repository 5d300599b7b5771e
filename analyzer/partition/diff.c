#include <partition/diff.h>

#include <errno.h>
#include <string.h>

#include "diff_members.h"
#include "diff_pairs.h"
#include "diff_settings.h"
#include "document.h"

/* {"what": changed | appears | vanishes} for every name of either object of documents. */
static void compare_named(json_t *found, json_t *old, json_t *new)
{
	const char *name;
	json_t *value;

	json_object_foreach(old, name, value)
	{
		json_t *other = json_object_get(new, name);

		if (other == NULL)
			json_array_append_new(found,
					      json_pack("{s:s, s:s, s:O, s:n}", "name", name,
							"change", "vanishes", "old", value, "new"));
		else if (!json_equal(value, other))
			json_array_append_new(found, json_pack("{s:s, s:s, s:O, s:O}", "name", name,
							       "change", "changes", "old", value,
							       "new", other));
	}
	json_object_foreach(new, name, value) if (json_object_get(old, name) == NULL)
		json_array_append_new(found, json_pack("{s:s, s:s, s:n, s:O}", "name", name,
						       "change", "appears", "old", "new", value));
}

static json_t *exceptions_of(const struct ft_declared *declared)
{
	json_t *object = json_object();

	for (size_t i = 0; i < declared->exception_count; i++)
		json_object_set_new(object, declared->exceptions[i].id,
				    ft_exception_document(declared, &declared->exceptions[i]));
	return object;
}

static json_t *tenants_of(const struct ft_declared *declared)
{
	json_t *object = json_object();

	for (size_t i = 0; i < declared->tenant_count; i++)
		json_object_set_new(object, declared->tenants[i].name,
				    json_string(ft_class_word(declared->tenants[i].class)));
	return object;
}

static json_t *differences(json_t *(*of)(const struct ft_declared *), const struct ft_declared *old,
			   const struct ft_declared *new)
{
	json_t *left = of(old), *right = of(new), *found = json_array();

	compare_named(found, left, right);
	json_decref(left);
	json_decref(right);
	return found;
}

static json_t *map_document(const struct ft_declared *declared)
{
	return json_pack(
		"{s:o, s:s, s:s, s:o}", "file", ft_json_text(ft_base_name(declared->files[0].path)),
		"format", declared->format, "sha256", declared->files[0].sha256, "serial",
		declared->serial != 0 ? json_integer((json_int_t)declared->serial) : json_null());
}

static const char *text_at(const json_t *object, const char *key, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : otherwise;
}

static void write_span(const json_t *object, FILE *out)
{
	const char *from = text_at(object, "from", NULL), *to = text_at(object, "to", NULL);

	if (from != NULL)
		fprintf(out, ", from %s", from);
	if (to != NULL)
		fprintf(out, ", to %s", to);
	fputc('\n', out);
}

static void write_pair(const json_t *pair, FILE *out)
{
	const char *via = text_at(pair, "via", NULL), *exception = text_at(pair, "exception", NULL);
	const char *through = text_at(pair, "through", NULL);

	fprintf(out, "%-7s %s and %s", text_at(pair, "change", ""), text_at(pair, "a", ""),
		text_at(pair, "b", ""));
	fprintf(out, "%s%s%s%s%s%s", via != NULL ? " via " : "", via != NULL ? via : "",
		exception != NULL ? " by exception " : "", exception != NULL ? exception : "",
		through != NULL ? " through " : "", through != NULL ? through : "");
	write_span(pair, out);
}

static void write_membership(const json_t *change, FILE *out)
{
	const char *host = text_at(change, "host", NULL), *tenant = text_at(change, "tenant", NULL);

	fprintf(out, "member  %s%s%s%s in %s%s%s%s: %s -> %s", text_at(change, "who", ""),
		host != NULL ? " (" : "", host != NULL ? host : "", host != NULL ? ")" : "",
		text_at(change, "in", ""), tenant != NULL ? " (" : "", tenant != NULL ? tenant : "",
		tenant != NULL ? ")" : "", text_at(change, "old", "none"),
		text_at(change, "new", "none"));
	write_span(change, out);
}

static void write_named(const json_t *document, const char *key, const char *what, FILE *out)
{
	const json_t *found = json_object_get(document, key);

	for (size_t i = 0; i < json_array_size(found); i++)
		fprintf(out, "%s %s %s\n", what, text_at(json_array_get(found, i), "name", ""),
			text_at(json_array_get(found, i), "change", ""));
}

static void write_grace(const json_t *change, FILE *out)
{
	if (change != NULL)
		fprintf(out, "grace   %" JSON_INTEGER_FORMAT " ms -> %" JSON_INTEGER_FORMAT " ms\n",
			json_integer_value(json_object_get(change, "old")),
			json_integer_value(json_object_get(change, "new")));
}

static int write_text(const json_t *document, size_t changes, FILE *out)
{
	const json_t *pairs = json_object_get(document, "pairs"),
		     *members = json_object_get(document, "memberships");

	for (size_t i = 0; i < json_array_size(pairs); i++)
		write_pair(json_array_get(pairs, i), out);
	for (size_t i = 0; i < json_array_size(members); i++)
		write_membership(json_array_get(members, i), out);
	write_named(document, "exceptions", "exception", out);
	write_named(document, "tenants", "tenant", out);
	ft_diff_settings_write(json_object_get(document, "settings"), out);
	ft_diff_ports_write(json_object_get(document, "ports"), out);
	write_grace(json_object_get(document, "grace_ms"), out);
	if (changes == 0)
		fputs("the two maps permit the same\n", out);
	return ft_written(out);
}

static size_t count(const json_t *document)
{
	return json_array_size(json_object_get(document, "pairs")) +
	       json_array_size(json_object_get(document, "memberships")) +
	       json_array_size(json_object_get(document, "exceptions")) +
	       json_array_size(json_object_get(document, "tenants")) +
	       json_array_size(json_object_get(document, "settings")) +
	       json_array_size(json_object_get(document, "ports")) +
	       (json_object_get(document, "grace_ms") != NULL);
}

static void add_grace(json_t *document, const struct ft_declared *old,
		      const struct ft_declared *new)
{
	if (old->grace_ns != new->grace_ns)
		json_object_set_new(document, "grace_ms",
				    json_pack("{s:I, s:I}", "old",
					      (json_int_t)(old->grace_ns / 1000000), "new",
					      (json_int_t)(new->grace_ns / 1000000)));
}

int ft_map_diff(const struct ft_map *old, const struct ft_map *new, bool json, FILE *out,
		size_t *changes)
{
	const struct ft_declared *left = ft_map_declared(old), *right = ft_map_declared(new);
	json_t *exceptions = differences(exceptions_of, left, right),
	       *tenants = differences(tenants_of, left, right);
	json_t *members = ft_diff_members(left, right);
	bool everywhere = json_array_size(exceptions) + json_array_size(tenants) != 0;
	json_t *document = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
				     "fabtap.map-diff/1", "old", map_document(left), "new",
				     map_document(right), "pairs",
				     ft_diff_pairs(old, new, members, everywhere), "memberships",
				     members, "exceptions", exceptions, "tenants", tenants,
				     "settings", differences(ft_diff_settings_of, left, right),
				     "ports", differences(ft_diff_ports_of, left, right));
	int failed;

	if (document == NULL)
		return -ENOMEM;
	add_grace(document, left, right);
	*changes = count(document);
	if (json)
		return ft_json_write(document, out);
	failed = write_text(document, *changes, out);
	json_decref(document);
	return failed;
}
