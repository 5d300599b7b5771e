#include <partition/show.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <partition/moment.h>

#include "document.h"
#include "effective.h"
#include "show_text.h"

const char *ft_map_verdict_word(enum ft_map_verdict verdict)
{
	static const char *const words[] = { [FT_MAP_OK] = "ok",
					     [FT_MAP_WARN] = "warn",
					     [FT_MAP_FAIL_OPEN] = "fail_open",
					     [FT_MAP_REJECT] = "reject" };

	return words[verdict];
}

const char *ft_diagnostic_severity_word(enum ft_diagnostic_severity severity)
{
	static const char *const words[] = {
		[FT_NOTE] = "info", [FT_WARNING] = "warning", [FT_ERROR] = "error"
	};

	return words[severity];
}

static bool is_opensm(const struct ft_declared *declared)
{
	return declared->last_rule_wins;
}

/* What the file says, not what OpenSM adds by itself. */
static bool written(const struct ft_origin *origin)
{
	return origin->line != 0;
}

static json_t *rules_of(const struct ft_declared *declared, const struct ft_interval *interval,
			bool segment)
{
	json_t *rules = json_array();
	char text[FT_NOTATION_ROOM];

	for (size_t i = 0; i < interval->member_count; i++) {
		const struct ft_member *member = &interval->members[i];
		json_t *rule;

		if (!written(&member->origin))
			continue;
		rule = json_pack("{s:o}", "who",
				 ft_json_text(ft_member_word(text, member, is_opensm(declared))));
		if (!segment)
			json_object_set_new(
				rule, "membership",
				json_string(ft_membership_word(
					member->written_both ? FT_BOTH : member->membership)));
		json_array_append_new(rules, rule);
	}
	return rules;
}

static json_t *intervals_of(const struct ft_declared *declared, const struct ft_interval *intervals,
			    size_t count, bool segment)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_pack("{s:o, s:o, s:o, s:o}", "from",
						       ft_json_moment(intervals[i].from_ns), "to",
						       ft_json_moment(intervals[i].to_ns), "reason",
						       ft_json_text(intervals[i].reason), "rules",
						       rules_of(declared, &intervals[i], segment)));
	return array;
}

static json_t *flags_of(const struct ft_partition *partition)
{
	json_t *flags;

	if (partition->flags_json != NULL)
		return json_loads(partition->flags_json, 0, NULL);
	flags = json_object();
	if (partition->ipoib)
		json_object_set_new(flags, "ipoib", json_true());
	if (partition->mtu >= 0)
		json_object_set_new(flags, "mtu", json_integer(partition->mtu));
	if (partition->sl >= 0)
		json_object_set_new(flags, "sl", json_integer(partition->sl));
	return flags;
}

static json_t *partition_document(const struct ft_declared *declared,
				  const struct ft_partition *partition)
{
	json_t *object =
		json_pack("{s:o, s:o, s:o, s:i}", "pkey_base", ft_json_pkey(partition->base),
			  "name", ft_json_text(partition->name), "tenant",
			  ft_json_text(ft_owner_name(declared, partition->tenant)), "line",
			  (int)partition->origin.line);

	if (is_opensm(declared))
		json_object_set_new(object, "rules",
				    rules_of(declared, partition->intervals, false));
	else
		json_object_set_new(object, "intervals",
				    intervals_of(declared, partition->intervals,
						 partition->interval_count, false));
	json_object_set_new(object, "flags", flags_of(partition));
	return object;
}

static json_t *partitions_document(const struct ft_declared *declared,
				   const struct ft_partition *partitions, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		if (written(&partitions[i].origin))
			json_array_append_new(array, partition_document(declared, &partitions[i]));
	return array;
}

static json_t *segments_document(const struct ft_declared *declared)
{
	json_t *array = json_array();

	for (size_t i = 0; i < declared->segment_count; i++) {
		const struct ft_segment *segment = &declared->segments[i];

		json_array_append_new(
			array,
			json_pack("{s:o, s:o, s:i, s:o}", "name", ft_json_text(segment->name),
				  "tenant", ft_json_text(ft_owner_name(declared, segment->tenant)),
				  "line", (int)segment->origin.line, "intervals",
				  intervals_of(declared, segment->intervals,
					       segment->interval_count, true)));
	}
	return array;
}

static json_t *tenants_document(const struct ft_declared *declared)
{
	json_t *array = json_array();

	for (size_t i = 0; i < declared->tenant_count; i++)
		json_array_append_new(array,
				      json_pack("{s:o, s:s}", "name",
						ft_json_text(declared->tenants[i].name), "class",
						ft_class_word(declared->tenants[i].class)));
	return array;
}

static json_t *exceptions_document(const struct ft_declared *declared)
{
	static const char *const kinds[] = { [FT_EXCEPT_SHARED_SERVICE] = "shared-service",
					     [FT_EXCEPT_MANAGEMENT] = "management",
					     [FT_EXCEPT_MULTICAST] = "multicast" };
	json_t *array = json_array();

	for (size_t i = 0; i < declared->exception_count; i++)
		json_array_append_new(array,
				      json_pack("{s:o, s:s, s:i}", "id",
						ft_json_text(declared->exceptions[i].id), "kind",
						kinds[declared->exceptions[i].kind], "line",
						(int)declared->exceptions[i].origin.line));
	return array;
}

static json_t *diagnostics_document(const struct ft_declared *declared)
{
	json_t *array = json_array();

	for (size_t i = 0; i < declared->diagnostic_count; i++)
		json_array_append_new(array,
				      ft_json_diagnostic(declared, &declared->diagnostics[i]));
	return array;
}

/* GUID -> table, for every port that has a GUID, those without entries too. */
static json_t *tables_document(const struct ft_declared *declared, const struct ft_tables *tables)
{
	json_t *ports = json_object();
	char text[FT_NOTATION_ROOM];
	size_t next = 0;

	for (uint32_t i = 0; i < declared->port_count; i++) {
		json_t *entries = json_array();

		for (; next < tables->count && tables->entries[next].port == i; next++)
			json_array_append_new(entries, ft_json_pkey(tables->entries[next].pkey));
		if (declared->ports[i].has_guid)
			json_object_set(ports, ft_guid_write(text, declared->ports[i].guid),
					entries);
		json_decref(entries);
	}
	return ports;
}

static int add_effective(json_t *array, const struct ft_declared *declared, bool allow_both)
{
	struct ft_tables tables;
	int failed = ft_tables_resolve(&tables, declared, allow_both);

	if (failed != 0)
		return failed;
	json_array_append_new(array, json_pack("{s:b, s:o}", "allow_both_pkeys", allow_both,
					       "ports", tables_document(declared, &tables)));
	ft_tables_release(&tables);
	return 0;
}

/* The option allow_both_pkeys makes a difference only where "both" is written. */
static bool both_is_written(const struct ft_declared *declared)
{
	for (size_t i = 0; i < declared->partition_count; i++)
		for (size_t j = 0; j < declared->partitions[i].intervals->member_count; j++)
			if (declared->partitions[i].intervals->members[j].written_both)
				return true;
	return false;
}

static int add_tables(json_t *document, const struct ft_declared *declared)
{
	json_t *effective = json_array();
	int failed = add_effective(effective, declared, false);

	if (failed == 0 && both_is_written(declared))
		failed = add_effective(effective, declared, true);
	json_object_set_new(document, "effective", effective);
	return failed;
}

static json_t *head_document(const struct ft_declared *declared)
{
	return json_pack(
		"{s:s, s:s?, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
		"pmap-normalised/1", "format", declared->format, "file",
		ft_json_text(ft_base_name(declared->files[0].path)), "sha256",
		declared->files[0].sha256, "verdict", ft_map_verdict_word(declared->verdict),
		"map_id", ft_json_text(declared->map_id), "serial",
		declared->serial != 0 ? json_integer((json_int_t)declared->serial) : json_null(),
		"signed_by",
		declared->signed_by[0] != '\0' ? ft_json_text(declared->signed_by) : json_null(),
		"tenants", tenants_document(declared), "diagnostics",
		diagnostics_document(declared), "exceptions", exceptions_document(declared));
}

static int show_json(const struct ft_declared *declared, FILE *out)
{
	bool dropped = declared->verdict == FT_MAP_FAIL_OPEN;
	json_t *document = head_document(declared);
	int failed = 0;

	if (document == NULL)
		return -ENOMEM;
	json_object_set_new(document, "partitions",
			    partitions_document(declared, declared->partitions,
						dropped ? 0 : declared->partition_count));
	json_object_set_new(document, "segments", segments_document(declared));
	if (dropped)
		json_object_set_new(document, "intended",
				    partitions_document(declared, declared->intended,
							declared->intended_count));
	if (is_opensm(declared) && declared->port_count != 0 && declared->verdict != FT_MAP_REJECT)
		failed = add_tables(document, declared);
	if (failed != 0) {
		json_decref(document);
		return failed;
	}
	return ft_json_write(document, out);
}

int ft_map_show(const struct ft_declared *declared, bool json, FILE *out)
{
	return json ? show_json(declared, out) : ft_show_text(declared, out);
}

static json_t *check_document(const struct ft_declared *declared)
{
	return json_pack("{s:s, s:o, s:s?, s:s, s:o}", "schema", "fabtap.map-check/1", "file",
			 ft_json_text(ft_base_name(declared->files[0].path)), "format",
			 declared->format, "verdict", ft_map_verdict_word(declared->verdict),
			 "diagnostics", diagnostics_document(declared));
}

int ft_map_check_write(const struct ft_declared *declared, bool json, FILE *out)
{
	if (json)
		return ft_json_write(check_document(declared), out);
	for (size_t i = 0; i < declared->diagnostic_count; i++)
		ft_diagnostic_write(declared, &declared->diagnostics[i], out);
	fprintf(out, "%s: %s%s\n", declared->files[0].path, ft_map_verdict_word(declared->verdict),
		declared->verdict == FT_MAP_FAIL_OPEN
			? ": OpenSM drops this file and makes every port a full member of 0x7fff"
			: "");
	return ft_written(out);
}
