#include "tapmap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Parts are noted first and read in the order of their dependencies, not of the file. */
struct document {
	struct ft_value tenants, nodes, partitions, segments, exceptions;
	struct ft_value supersedes;
};

enum { MOST_GRACE_MS = 24 * 3600 * 1000, NS_PER_MS = 1000000 };

static struct ft_declared *declared_of(struct ft_reading *reading)
{
	return reading->builder->declared;
}

static void read_schema(struct ft_reading *reading, struct ft_value value, void *into)
{
	const char *text = ft_read_string(reading, value);

	(void)into;
	if (text != NULL && strcmp(text, "tapmap/1") != 0)
		ft_refuse(reading, value, "schema-not-supported", "\"%.40s\" is not tapmap/1",
			  text);
}

static void read_map_id(struct ft_reading *reading, struct ft_value value, void *into)
{
	(void)into;
	declared_of(reading)->map_id = ft_read_name(reading, value);
}

static void read_issuer(struct ft_reading *reading, struct ft_value value, void *into)
{
	(void)into;
	declared_of(reading)->issuer = ft_read_name(reading, value);
}

static void read_serial(struct ft_reading *reading, struct ft_value value, void *into)
{
	int64_t serial;

	(void)into;
	if (ft_read_integer(reading, value, 1, INT64_MAX, &serial))
		declared_of(reading)->serial = (uint64_t)serial;
}

static void read_supersedes(struct ft_reading *reading, struct ft_value value, void *into)
{
	int64_t serial;

	((struct document *)into)->supersedes = value;
	if (json_is_null(value.json))
		return;
	if (ft_read_integer(reading, value, 0, INT64_MAX, &serial))
		declared_of(reading)->supersedes = (uint64_t)serial;
}

static void read_issued_at(struct ft_reading *reading, struct ft_value value, void *into)
{
	(void)into;
	ft_read_moment(reading, value, &declared_of(reading)->issued_at_ns);
}

static void read_grace(struct ft_reading *reading, struct ft_value value, void *into)
{
	int64_t ms;

	(void)into;
	if (ft_read_integer(reading, value, 0, MOST_GRACE_MS, &ms))
		declared_of(reading)->grace_ns = ms * NS_PER_MS;
}

static void read_fabric_kind(struct ft_reading *reading, struct ft_value value, void *into)
{
	static const char *const kinds[] = { "infiniband", "roce", NULL };

	(void)into;
	declared_of(reading)->is_roce = ft_read_word(reading, value, kinds) == 1;
}

static void read_subnet_prefix(struct ft_reading *reading, struct ft_value value, void *into)
{
	(void)into;
	declared_of(reading)->has_subnet_prefix =
		ft_read_hex(reading, value, 0, UINT64_MAX, "out-of-range",
			    &declared_of(reading)->subnet_prefix);
}

static void read_fabric(struct ft_reading *reading, struct ft_value value, void *into)
{
	static const struct ft_field fields[] = {
		{ "kind", true, read_fabric_kind },
		{ "subnet_prefix", false, read_subnet_prefix },
		{ 0 },
	};

	ft_read_object(reading, value, fields, into, NULL);
}

static void note_tenants(struct ft_reading *reading, struct ft_value value, void *into)
{
	(void)reading;
	((struct document *)into)->tenants = value;
}

static void note_nodes(struct ft_reading *reading, struct ft_value value, void *into)
{
	(void)reading;
	((struct document *)into)->nodes = value;
}

static void note_partitions(struct ft_reading *reading, struct ft_value value, void *into)
{
	(void)reading;
	((struct document *)into)->partitions = value;
}

static void note_segments(struct ft_reading *reading, struct ft_value value, void *into)
{
	(void)reading;
	((struct document *)into)->segments = value;
}

static void note_exceptions(struct ft_reading *reading, struct ft_value value, void *into)
{
	(void)reading;
	((struct document *)into)->exceptions = value;
}

static void read_part(struct ft_reading *reading, const char *name, struct ft_value part,
		      void (*read)(struct ft_reading *, struct ft_value))
{
	if (part.json == NULL)
		return;
	reading->path_length = (size_t)snprintf(reading->path, FT_PATH_ROOM, "/%s", name);
	read(reading, part);
	reading->path_length = 0;
}

static void check_serials(struct ft_reading *reading, struct ft_value supersedes)
{
	const struct ft_declared *declared = declared_of(reading);

	if (supersedes.json == NULL || declared->serial == 0 ||
	    declared->supersedes < declared->serial)
		return;
	reading->path_length = (size_t)snprintf(reading->path, FT_PATH_ROOM, "/supersedes");
	ft_refuse(reading, supersedes, "serial-not-growing", "a map cannot supersede a later one");
	reading->path_length = 0;
}

static void read_document(struct ft_reading *reading, struct ft_value root)
{
	static const struct ft_field fields[] = {
		{ "schema", true, read_schema },        { "map_id", false, read_map_id },
		{ "serial", false, read_serial },       { "supersedes", false, read_supersedes },
		{ "issued_at", false, read_issued_at }, { "issuer", false, read_issuer },
		{ "fabric", false, read_fabric },       { "nodes", false, note_nodes },
		{ "tenants", true, note_tenants },      { "partitions", false, note_partitions },
		{ "segments", false, note_segments },   { "exceptions", false, note_exceptions },
		{ "grace_ms", false, read_grace },      { 0 },
	};
	struct document document = { 0 };

	ft_read_object(reading, root, fields, &document, NULL);
	check_serials(reading, document.supersedes);
	read_part(reading, "tenants", document.tenants, ft_tapmap_tenants);
	read_part(reading, "nodes", document.nodes, ft_tapmap_nodes);
	read_part(reading, "partitions", document.partitions, ft_tapmap_partitions);
	read_part(reading, "segments", document.segments, ft_tapmap_segments);
	read_part(reading, "exceptions", document.exceptions, ft_tapmap_exceptions);
	if (ft_array_size(document.partitions) + ft_array_size(document.segments) == 0)
		ft_refuse(reading, root, "declares-nothing",
			  "a map needs partitions or segments, this one has neither");
}

/* A document of another schema is not judged by the rules of this one. */
static bool other_schema(const json_t *root)
{
	const char *schema = json_string_value(json_object_get(root, "schema"));

	return schema != NULL && strncmp(schema, "tapmap/", 7) == 0 &&
	       strcmp(schema, "tapmap/1") != 0;
}

static void refuse_schema(struct ft_reading *reading, struct ft_value root)
{
	json_t *object = (json_t *)root.json; /* jansson's iterators take no const */
	uint32_t place = root.place + 1;

	for (void *at = json_object_iter(object); at != NULL;
	     at = json_object_iter_next(object, at)) {
		if (strcmp(json_object_iter_key(at), "schema") == 0)
			break;
		place = reading->places->items[place].end;
	}
	reading->path_length = (size_t)snprintf(reading->path, FT_PATH_ROOM, "/schema");
	read_schema(reading, (struct ft_value){ json_object_get(root.json, "schema"), place },
		    NULL);
}

static int read_places(struct ft_builder *builder, uint32_t file, const char *text, size_t size,
		       struct ft_places *places)
{
	int failed = ft_places_read(places, text, size);

	if (failed == -E2BIG)
		ft_diagnose(builder, FT_ERROR, "too-deep", (struct ft_origin){ .file = file },
			    "nested deeper than %d levels", FT_PLACES_DEPTH);
	return failed;
}

int ft_tapmap_read(struct ft_builder *builder, uint32_t file, const char *text, size_t size)
{
	struct ft_places places = { 0 };
	struct ft_reading reading = { .builder = builder, .places = &places, .file = file };
	json_error_t error;
	json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	struct ft_value value = { root, 0 };
	int failed;

	builder->declared->format = "tapmap";
	if (root == NULL) {
		ft_diagnose(builder, FT_ERROR, "bad-json",
			    (struct ft_origin){ .file = file, .line = (uint32_t)error.line },
			    "column %d: %s", error.column, error.text);
		return 0;
	}
	failed = read_places(builder, file, text, size, &places);
	if (failed == 0 && other_schema(root))
		refuse_schema(&reading, value);
	else if (failed == 0)
		read_document(&reading, value);
	ft_places_release(&places);
	json_decref(root);
	return failed == -ENOMEM || builder->out_of_memory ? -ENOMEM : 0;
}
