#include "outline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct outlining {
	struct ft_text_cursor cursor;
	struct ft_long_array *arrays;
	const char *copied; /* of the text, what is in the outline so far */
	char *to;           /* end of the outline */
};

static bool at_byte(struct ft_text_cursor *cursor, char byte)
{
	ft_cursor_skip_blanks(cursor);
	if (cursor->at == cursor->end || *cursor->at != byte)
		return false;
	cursor->at++;
	return true;
}

/* Step over a value, brackets of both kinds counted alike: the parser will tell them apart. */
static void skip_value(struct ft_text_cursor *cursor)
{
	size_t depth = 0;

	while (cursor->at < cursor->end) {
		char byte = *cursor->at;

		if (byte == '"') {
			ft_cursor_skip_string(cursor);
			continue;
		}
		if (depth == 0 && (byte == ',' || byte == ']' || byte == '}'))
			return;
		depth += byte == '[' || byte == '{';
		depth -= byte == ']' || byte == '}';
		cursor->line += byte == '\n';
		cursor->at++;
	}
}

static struct ft_long_array *find_array(struct ft_long_array *arrays, const char *key,
					size_t length)
{
	for (; arrays->name != NULL; arrays++)
		if (strlen(arrays->name) == length && memcmp(arrays->name, key, length) == 0)
			return arrays;
	return NULL;
}

static void copy_up_to(struct outlining *outlining, const char *at)
{
	size_t size = (size_t)(at - outlining->copied);

	memcpy(outlining->to, outlining->copied, size);
	outlining->to += size;
	outlining->copied = at;
}

/* The cursor is behind '['. */
static void leave_out(struct outlining *outlining, struct ft_long_array *array)
{
	struct ft_text_cursor *cursor = &outlining->cursor;
	uint32_t line = cursor->line;

	copy_up_to(outlining, cursor->at);
	array->elements = *cursor;
	do
		skip_value(cursor);
	while (cursor->at < cursor->end && *cursor->at == ',' && cursor->at++ != NULL);
	array->elements.end = cursor->at;
	memset(outlining->to, '\n', cursor->line - line);
	outlining->to += cursor->line - line;
	outlining->copied = cursor->at;
}

static bool outline_member(struct outlining *outlining)
{
	struct ft_text_cursor *cursor = &outlining->cursor;
	struct ft_long_array *array;
	const char *key;

	ft_cursor_skip_blanks(cursor);
	if (cursor->at == cursor->end || *cursor->at != '"')
		return false;
	key = cursor->at + 1;
	ft_cursor_skip_string(cursor);
	array = find_array(outlining->arrays, key, (size_t)(cursor->at - key - (cursor->at > key)));
	if (!at_byte(cursor, ':'))
		return false;
	ft_cursor_skip_blanks(cursor);
	if (array != NULL && array->elements.at == NULL && cursor->at < cursor->end &&
	    *cursor->at == '[') {
		cursor->at++;
		leave_out(outlining, array);
		at_byte(cursor, ']');
	} else {
		skip_value(cursor);
	}
	return at_byte(cursor, ',');
}

int ft_outline_make(char **outline, size_t *size, const char *text, size_t text_size,
		    struct ft_long_array *arrays)
{
	struct outlining outlining = { .cursor = { text, text + text_size, 1 },
				       .arrays = arrays,
				       .copied = text };

	*outline = outlining.to = malloc(text_size + 1);
	if (*outline == NULL)
		return -ENOMEM;
	if (at_byte(&outlining.cursor, '{'))
		while (outline_member(&outlining))
			;
	copy_up_to(&outlining, text + text_size);
	*size = (size_t)(outlining.to - *outline);
	return 0;
}

static void refuse_text(struct ft_reading *reading, uint32_t line, const char *text)
{
	ft_diagnose(reading->builder, FT_ERROR, "bad-json",
		    (struct ft_origin){ .file = reading->file, .line = line }, "%s", text);
}

/* Parse and read the element at the cursor, and step over it. */
static int read_element(struct ft_reading *reading, struct ft_text_cursor *cursor,
			ft_read_value *read, void *into)
{
	const char *start = cursor->at;
	uint32_t line = cursor->line;
	json_error_t error;
	json_t *element;
	int failed = ft_places_read(reading->places, cursor);

	if (failed == -E2BIG) {
		refuse_text(reading, line, "nested too deep");
		cursor->at = cursor->end;
		return 0;
	}
	if (failed != 0)
		return failed;
	element = json_loadb(start, (size_t)(cursor->at - start),
			     JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	if (element == NULL) {
		refuse_text(reading, line + (uint32_t)error.line - 1, error.text);
		cursor->at = cursor->end;
		return 0;
	}
	read(reading, (struct ft_value){ element, 0 }, into);
	json_decref(element);
	return 0;
}

int ft_read_elements(struct ft_reading *reading, const struct ft_long_array *array,
		     ft_read_value *read, void *into)
{
	struct ft_text_cursor cursor = array->elements;
	size_t path_length = reading->path_length, index = 0;
	int failed = 0;

	ft_cursor_skip_blanks(&cursor);
	while (failed == 0 && cursor.at < cursor.end) {
		ft_reading_push(reading, index++);
		failed = read_element(reading, &cursor, read, into);
		reading->path_length = path_length;
		ft_cursor_skip_blanks(&cursor);
		if (failed != 0 || cursor.at == cursor.end)
			break;
		if (!at_byte(&cursor, ',') ||
		    (ft_cursor_skip_blanks(&cursor), cursor.at == cursor.end)) {
			refuse_text(reading, cursor.line,
				    "elements are separated by one comma each");
			break;
		}
	}
	return failed;
}
