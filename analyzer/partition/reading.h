#pragma once

#include <jansson.h>

#include "builder.h"
#include "places.h"

/*
 * Strict reading of a JSON document by tables of fields: every value is visited once, in document
 * order, so that its line (places.h) and its JSON pointer are known when something is wrong with it.
 * Everything refused goes into the builder's diagnostics as an error; reading goes on.
 */
struct ft_value {
	const json_t *json;
	uint32_t place;
};

enum { FT_PATH_ROOM = 256 };

struct ft_reading {
	struct ft_builder *builder;
	struct ft_places *places; /* of the document, or of the element at hand */
	uint32_t file;
	char path[FT_PATH_ROOM]; /* JSON pointer of the value being read */
	size_t path_length;
};

typedef void ft_read_value(struct ft_reading *reading, struct ft_value value, void *into);

struct ft_object_field {
	const char *name;
	bool required;
	ft_read_value *read;
};

/*
 * Read an object: each key must be in `fields` (at most 32), each required field must be there.
 * False if something in it or below it was refused. *seen (may be NULL): bit per field.
 */
bool ft_read_object(struct ft_reading *reading, struct ft_value value,
		    const struct ft_object_field *fields, void *into, uint32_t *seen);

/* Read one key of an object ahead of the others; nothing if it is not there, or that is no object. */
void ft_read_key(struct ft_reading *reading, struct ft_value value, const char *key,
		 ft_read_value *read, void *into);

/* Read every element of an array with `element`, which finds its index in *into by itself. */
bool ft_read_array(struct ft_reading *reading, struct ft_value value, ft_read_value *element,
		   void *into);

/* Append "/number" to the path. */
void ft_reading_push(struct ft_reading *reading, size_t number);

/* How many elements; 0 if it is no array. */
size_t ft_array_size(struct ft_value value);

struct ft_origin ft_reading_origin(struct ft_reading *reading, struct ft_value value);

__attribute__((format(printf, 4, 5))) void ft_refuse(struct ft_reading *reading,
						     struct ft_value value, const char *code,
						     const char *format, ...);

/* A name: 1 to 255 bytes without control characters. NULL: refused. */
const char *ft_read_name(struct ft_reading *reading, struct ft_value value);
/* A string, borrowed from the document. NULL: refused. */
const char *ft_read_string(struct ft_reading *reading, struct ft_value value);
bool ft_read_integer(struct ft_reading *reading, struct ft_value value, int64_t least, int64_t most,
		     int64_t *number);
/* A string "0x…" within [least, most], else refused with `code`. */
bool ft_read_hex(struct ft_reading *reading, struct ft_value value, uint64_t least, uint64_t most,
		 const char *code, uint64_t *number);
bool ft_read_bool(struct ft_reading *reading, struct ft_value value, bool *yes);
bool ft_read_moment(struct ft_reading *reading, struct ft_value value, int64_t *ns);
/* One of `words` (ends with NULL); -1: refused. */
int ft_read_word(struct ft_reading *reading, struct ft_value value, const char *const *words);
bool ft_read_address(struct ft_reading *reading, struct ft_value value, bool prefix_allowed,
		     struct ft_prefix *prefix);
bool ft_read_mac(struct ft_reading *reading, struct ft_value value, uint8_t mac[6]);
/* A tenant that was declared; FT_NONE: refused. */
uint32_t ft_read_tenant(struct ft_reading *reading, struct ft_value value);
