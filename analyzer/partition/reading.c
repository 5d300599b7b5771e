#include "reading.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <partition/moment.h>
#include <partition/notation.h>

struct ft_origin ft_reading_origin(struct ft_reading *reading, struct ft_value value)
{
	return (struct ft_origin){
		.file = reading->file,
		.line = value.place < reading->places->count
				? reading->places->items[value.place].line
				: 0,
		.path = ft_builder_text(reading->builder, reading->path, reading->path_length),
	};
}

void ft_refuse(struct ft_reading *reading, struct ft_value value, const char *code,
	       const char *format, ...)
{
	char text[160];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	ft_diagnose(reading->builder, FT_ERROR, code, ft_reading_origin(reading, value), "%s",
		    text);
}

static const char *kind_of(const json_t *json)
{
	static const char *const kinds[] = {
		[JSON_OBJECT] = "an object",
		[JSON_ARRAY] = "an array",
		[JSON_STRING] = "a string",
		[JSON_INTEGER] = "an integer",
		[JSON_REAL] = "a number with a fraction",
		[JSON_TRUE] = "true",
		[JSON_FALSE] = "false",
		[JSON_NULL] = "null",
	};

	return kinds[json_typeof(json)];
}

static void refuse_kind(struct ft_reading *reading, struct ft_value value, const char *wanted)
{
	ft_refuse(reading, value, "wrong-type", "must be %s, is %s", wanted, kind_of(value.json));
}

static void push_byte(struct ft_reading *reading, char byte)
{
	if (reading->path_length < FT_PATH_ROOM)
		reading->path[reading->path_length++] = byte;
}

/* RFC 6901: "~" is "~0", "/" is "~1". */
static void push_key(struct ft_reading *reading, const char *key)
{
	push_byte(reading, '/');
	for (; *key != '\0'; key++) {
		if (*key == '~' || *key == '/')
			push_byte(reading, '~');
		push_byte(reading, (char)(*key == '~' ? '0' : *key == '/' ? '1' : *key));
	}
}

void ft_reading_push(struct ft_reading *reading, size_t number)
{
	char digits[20];
	size_t count = 0;

	do
		digits[count++] = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	push_byte(reading, '/');
	while (count > 0)
		push_byte(reading, digits[--count]);
}

static uint32_t next_place(const struct ft_reading *reading, uint32_t place)
{
	return place < reading->places->count ? reading->places->items[place].end : place;
}

static int find_field(const struct ft_object_field *fields, const char *key)
{
	for (int i = 0; fields[i].name != NULL; i++)
		if (strcmp(fields[i].name, key) == 0)
			return i;
	return -1;
}

static void read_member(struct ft_reading *reading, struct ft_value value,
			const struct ft_object_field *field, void *into)
{
	if (field != NULL)
		field->read(reading, value, into);
	else
		ft_refuse(reading, value, "unknown-key", "this key is not part of schema tapmap/1");
}

static void refuse_missing(struct ft_reading *reading, struct ft_value value,
			   const struct ft_object_field *fields, uint32_t seen)
{
	for (int i = 0; fields[i].name != NULL; i++)
		if (fields[i].required && (seen >> i & 1) == 0)
			ft_refuse(reading, value, "missing-key", "\"%s\" is missing",
				  fields[i].name);
}

bool ft_read_object(struct ft_reading *reading, struct ft_value value,
		    const struct ft_object_field *fields, void *into, uint32_t *seen)
{
	unsigned errors = reading->builder->errors;
	size_t path_length = reading->path_length;
	uint32_t place = value.place + 1, have = 0;
	/* jansson's iterators take no const; nothing is changed */
	json_t *object = (json_t *)value.json;

	if (!json_is_object(value.json)) {
		refuse_kind(reading, value, "an object");
		return false;
	}
	for (void *at = json_object_iter(object); at != NULL;
	     at = json_object_iter_next(object, at)) {
		int field = find_field(fields, json_object_iter_key(at));

		push_key(reading, json_object_iter_key(at));
		read_member(reading, (struct ft_value){ json_object_iter_value(at), place },
			    field >= 0 ? &fields[field] : NULL, into);
		reading->path_length = path_length;
		have |= field >= 0 ? UINT32_C(1) << field : 0;
		place = next_place(reading, place);
	}
	refuse_missing(reading, value, fields, have);
	if (seen != NULL)
		*seen = have;
	return reading->builder->errors == errors;
}

void ft_read_key(struct ft_reading *reading, struct ft_value value, const char *key,
		 ft_read_value *read, void *into)
{
	size_t path_length = reading->path_length;
	uint32_t place = value.place + 1;
	json_t *object = (json_t *)value.json; /* as above */

	for (void *at = json_object_iter(object); at != NULL;
	     at = json_object_iter_next(object, at)) {
		if (strcmp(json_object_iter_key(at), key) == 0) {
			push_key(reading, key);
			read(reading, (struct ft_value){ json_object_iter_value(at), place }, into);
			reading->path_length = path_length;
			return;
		}
		place = next_place(reading, place);
	}
}

bool ft_read_array(struct ft_reading *reading, struct ft_value value, ft_read_value *element,
		   void *into)
{
	unsigned errors = reading->builder->errors;
	size_t path_length = reading->path_length;
	uint32_t place = value.place + 1;

	if (!json_is_array(value.json)) {
		refuse_kind(reading, value, "an array");
		return false;
	}
	for (size_t i = 0; i < json_array_size(value.json); i++) {
		ft_reading_push(reading, i);
		element(reading, (struct ft_value){ json_array_get(value.json, i), place }, into);
		reading->path_length = path_length;
		place = next_place(reading, place);
	}
	return reading->builder->errors == errors;
}

size_t ft_array_size(struct ft_value value)
{
	return json_array_size(value.json);
}

const char *ft_read_string(struct ft_reading *reading, struct ft_value value)
{
	if (!json_is_string(value.json)) {
		refuse_kind(reading, value, "a string");
		return NULL;
	}
	return json_string_value(value.json);
}

const char *ft_read_name(struct ft_reading *reading, struct ft_value value)
{
	const char *text = ft_read_string(reading, value);
	size_t length;

	if (text == NULL)
		return NULL;
	length = strlen(text);
	if (length == 0 || length > 255) {
		ft_refuse(reading, value, "bad-name", "a name has 1 to 255 bytes, this one %zu",
			  length);
		return NULL;
	}
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f) {
			ft_refuse(reading, value, "bad-name", "a name has no control characters");
			return NULL;
		}
	}
	return ft_builder_text(reading->builder, text, length);
}

bool ft_read_integer(struct ft_reading *reading, struct ft_value value, int64_t least, int64_t most,
		     int64_t *number)
{
	if (!json_is_integer(value.json)) {
		refuse_kind(reading, value, "an integer");
		return false;
	}
	if (json_integer_value(value.json) < least || json_integer_value(value.json) > most) {
		ft_refuse(reading, value, "out-of-range",
			  "%" JSON_INTEGER_FORMAT " is not within %" PRId64 "..%" PRId64,
			  json_integer_value(value.json), least, most);
		return false;
	}
	*number = json_integer_value(value.json);
	return true;
}

bool ft_read_hex(struct ft_reading *reading, struct ft_value value, uint64_t least, uint64_t most,
		 const char *code, uint64_t *number)
{
	const char *text = ft_read_string(reading, value);
	uint64_t read;

	if (text == NULL)
		return false;
	if (!ft_hex_read(text, &read)) {
		ft_refuse(reading, value, "bad-number",
			  "\"%.40s\" is not a number of the form 0x1234", text);
		return false;
	}
	if (read < least || read > most) {
		ft_refuse(reading, value, code, "%s is not within 0x%" PRIx64 "..0x%" PRIx64, text,
			  least, most);
		return false;
	}
	*number = read;
	return true;
}

bool ft_read_bool(struct ft_reading *reading, struct ft_value value, bool *yes)
{
	if (!json_is_boolean(value.json)) {
		refuse_kind(reading, value, "true or false");
		return false;
	}
	*yes = json_is_true(value.json);
	return true;
}

bool ft_read_moment(struct ft_reading *reading, struct ft_value value, int64_t *ns)
{
	const char *text = ft_read_string(reading, value);

	if (text == NULL)
		return false;
	if (ft_moment_read(text, ns))
		return true;
	ft_refuse(reading, value, "bad-time",
		  "\"%.40s\" is not a UTC time like 2026-11-20T10:00:00Z", text);
	return false;
}

int ft_read_word(struct ft_reading *reading, struct ft_value value, const char *const *words)
{
	const char *text = ft_read_string(reading, value);

	if (text == NULL)
		return -1;
	for (int i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], text) == 0)
			return i;
	ft_refuse(reading, value, "unknown-word",
		  "\"%.40s\" is none of the words allowed here (\"%s\" …)", text, words[0]);
	return -1;
}

bool ft_read_address(struct ft_reading *reading, struct ft_value value, bool prefix_allowed,
		     struct ft_prefix *prefix)
{
	const char *text = ft_read_string(reading, value);

	if (text == NULL)
		return false;
	if (ft_prefix_read(text, prefix_allowed, prefix))
		return true;
	ft_refuse(reading, value, "bad-address", "\"%.60s\" is no %s%s", text, "IP address or GID",
		  prefix_allowed ? ", or prefix without bits beyond its length" : "");
	return false;
}

bool ft_read_mac(struct ft_reading *reading, struct ft_value value, uint8_t mac[6])
{
	const char *text = ft_read_string(reading, value);

	if (text == NULL)
		return false;
	if (ft_mac_read(text, mac))
		return true;
	ft_refuse(reading, value, "bad-address",
		  "\"%.60s\" is no MAC address like 02:4e:61:00:00:71", text);
	return false;
}

uint32_t ft_read_tenant(struct ft_reading *reading, struct ft_value value)
{
	const char *text = ft_read_string(reading, value);
	uint32_t tenant;

	if (text == NULL)
		return FT_NONE;
	tenant = ft_keys_find(&reading->builder->tenant_names, text, strlen(text));
	if (tenant == FT_NONE)
		ft_refuse(reading, value, "unknown-tenant", "no tenant is named \"%.80s\"", text);
	return tenant;
}
