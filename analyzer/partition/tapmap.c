#include "tapmap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Long arrays are read in the order of their dependencies, not of the file. */
enum { TENANTS, NODES, PARTITIONS, SEGMENTS, EXCEPTIONS, LONG_ARRAYS };

struct document {
	struct ft_long_array arrays[LONG_ARRAYS + 1];
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
	static const struct ft_object_field fields[] = {
		{ "kind", true, read_fabric_kind },
		{ "subnet_prefix", false, read_subnet_prefix },
		{ 0 },
	};

	ft_read_object(reading, value, fields, into, NULL);
}

/* Long arrays are empty here; their elements wait in document->arrays. */
static void read_long_array(struct ft_reading *reading, struct ft_value value, void *into)
{
	(void)into;
	if (!json_is_array(value.json))
		ft_refuse(reading, value, "wrong-type", "must be an array");
	else if (json_array_size(value.json) != 0)
		ft_refuse(reading, value, "escaped-key", "this key is written without escapes");
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

static void read_head(struct ft_reading *reading, struct ft_value root, struct document *document)
{
	static const struct ft_object_field fields[] = {
		{ "schema", true, read_schema },        { "map_id", false, read_map_id },
		{ "serial", false, read_serial },       { "supersedes", false, read_supersedes },
		{ "issued_at", false, read_issued_at }, { "issuer", false, read_issuer },
		{ "fabric", false, read_fabric },       { "nodes", false, read_long_array },
		{ "tenants", true, read_long_array },   { "partitions", false, read_long_array },
		{ "segments", false, read_long_array }, { "exceptions", false, read_long_array },
		{ "grace_ms", false, read_grace },      { 0 },
	};

	ft_read_object(reading, root, fields, document, NULL);
	check_serials(reading, document->supersedes);
}

static int read_arrays(struct ft_reading *reading, const struct document *document)
{
	static int (*const readers[LONG_ARRAYS])(struct ft_reading *,
						 const struct ft_long_array *) = {
		[TENANTS] = ft_tapmap_tenants,       [NODES] = ft_tapmap_nodes,
		[PARTITIONS] = ft_tapmap_partitions, [SEGMENTS] = ft_tapmap_segments,
		[EXCEPTIONS] = ft_tapmap_exceptions,
	};
	int failed = 0;

	for (size_t i = 0; failed == 0 && i < LONG_ARRAYS; i++) {
		reading->path_length = (size_t)snprintf(reading->path, FT_PATH_ROOM, "/%s",
							document->arrays[i].name);
		failed = readers[i](reading, &document->arrays[i]);
	}
	reading->path_length = 0;
	return failed;
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

static void refuse(struct ft_reading *reading, const char *code, uint32_t line, const char *text)
{
	ft_diagnose(reading->builder, FT_ERROR, code,
		    (struct ft_origin){ .file = reading->file, .line = line }, "%s", text);
}

static int read_root(struct ft_reading *reading, const json_t *root, struct document *document)
{
	const struct ft_builder *builder = reading->builder;
	struct ft_value value = { root, 0 };
	int failed;

	if (other_schema(root)) {
		refuse_schema(reading, value);
		return 0;
	}
	read_head(reading, value, document);
	failed = read_arrays(reading, document);
	if (failed == 0 && builder->errors == 0 &&
	    builder->partitions.count + builder->segments.count == 0)
		refuse(reading, "declares-nothing", 1,
		       "a map needs partitions or segments, this one has neither");
	return failed;
}

/* The outline of what is no JSON may hide the place, so the whole text is asked. */
static void refuse_text(struct ft_reading *reading, const char *text, size_t size)
{
	json_error_t error = { .line = 1, .text = "this is no JSON object" };

	json_decref(json_loadb(text, size, JSON_REJECT_DUPLICATES, &error));
	refuse(reading, "bad-json", (uint32_t)error.line, error.text);
}

static int read_outline(struct ft_reading *reading, const char *outline, size_t size,
			struct document *document)
{
	struct ft_text_cursor cursor = { outline, outline + size, 1 };
	json_t *root = json_loadb(outline, size, JSON_REJECT_DUPLICATES, NULL);
	int failed;

	if (root == NULL)
		return -EBADMSG;
	ft_cursor_skip_blanks(&cursor);
	failed = ft_places_read(reading->places, &cursor);
	if (failed == -E2BIG)
		refuse(reading, "bad-json", 1, "nested too deep");
	else if (failed == 0)
		failed = read_root(reading, root, document);
	json_decref(root);
	return failed == -E2BIG ? 0 : failed;
}

int ft_tapmap_read(struct ft_builder *builder, uint32_t file, const char *text, size_t size)
{
	struct document document = { .arrays = { [TENANTS] = { .name = "tenants" },
						 [NODES] = { .name = "nodes" },
						 [PARTITIONS] = { .name = "partitions" },
						 [SEGMENTS] = { .name = "segments" },
						 [EXCEPTIONS] = { .name = "exceptions" } } };
	struct ft_places places = { 0 };
	struct ft_reading reading = { .builder = builder, .places = &places, .file = file };
	char *outline;
	size_t outline_size;
	int failed = ft_outline_make(&outline, &outline_size, text, size, document.arrays);

	builder->declared->format = "tapmap";
	if (failed == 0)
		failed = read_outline(&reading, outline, outline_size, &document);
	if (failed == -EBADMSG)
		refuse_text(&reading, text, size);
	free(outline);
	ft_places_release(&places);
	return failed == -ENOMEM || builder->out_of_memory ? -ENOMEM : 0;
}
