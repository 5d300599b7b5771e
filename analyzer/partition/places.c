#include "places.h"

#include <errno.h>
#include <stdlib.h>

struct scan {
	struct ft_places *places;
	struct ft_text_cursor cursor;
	uint32_t open[FT_PLACES_DEPTH]; /* places of the containers around */
	unsigned depth;
};

static int grow(struct ft_places *places)
{
	size_t room = places->room != 0 ? 2 * places->room : 256;
	struct ft_value_place *items = reallocarray(places->items, room, sizeof *items);

	if (items == NULL)
		return -ENOMEM;
	places->items = items;
	places->room = room;
	return 0;
}

static int add_place(struct scan *scan)
{
	struct ft_places *places = scan->places;
	uint32_t number = (uint32_t)places->count;

	if (places->count == places->room && grow(places) != 0)
		return -ENOMEM;
	places->items[number] = (struct ft_value_place){ scan->cursor.line, number + 1 };
	places->count++;
	return 0;
}

static int open_container(struct scan *scan)
{
	if (scan->depth == FT_PLACES_DEPTH)
		return -E2BIG;
	scan->open[scan->depth++] = (uint32_t)scan->places->count;
	scan->cursor.at++;
	return add_place(scan);
}

static void close_container(struct scan *scan)
{
	if (scan->depth > 0)
		scan->places->items[scan->open[--scan->depth]].end = (uint32_t)scan->places->count;
	scan->cursor.at++;
}

static bool blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

void ft_cursor_skip_blanks(struct ft_text_cursor *cursor)
{
	for (; cursor->at < cursor->end && blank(*cursor->at); cursor->at++)
		cursor->line += *cursor->at == '\n';
}

void ft_cursor_skip_string(struct ft_text_cursor *cursor)
{
	const char *at = cursor->at + 1;

	while (at < cursor->end && *at != '"')
		at += *at == '\\' ? 2 : 1;
	cursor->at = at < cursor->end ? at + 1 : cursor->end;
}

/* A string is a key, and no value, if a colon follows. */
static int take_string(struct scan *scan)
{
	struct ft_text_cursor *cursor = &scan->cursor;
	const char *at;

	ft_cursor_skip_string(cursor);
	for (at = cursor->at; at < cursor->end && blank(*at);)
		at++;
	return at < cursor->end && *at == ':' && scan->depth != 0 ? 0 : add_place(scan);
}

/* A number, true, false or null. */
static int take_word(struct scan *scan)
{
	struct ft_text_cursor *cursor = &scan->cursor;

	while (cursor->at < cursor->end && *cursor->at != ',' && *cursor->at != ']' &&
	       *cursor->at != '}' && !blank(*cursor->at))
		cursor->at++;
	return add_place(scan);
}

static int take(struct scan *scan)
{
	switch (*scan->cursor.at) {
	case '{':
	case '[':
		return open_container(scan);
	case '}':
	case ']':
		close_container(scan);
		return 0;
	case '"':
		return take_string(scan);
	case '\n':
		scan->cursor.line++;
		scan->cursor.at++;
		return 0;
	case ' ':
	case '\t':
	case '\r':
	case ',':
	case ':':
		scan->cursor.at++;
		return 0;
	default:
		return take_word(scan);
	}
}

int ft_places_read(struct ft_places *places, struct ft_text_cursor *cursor)
{
	struct scan scan = { .places = places, .cursor = *cursor };
	int failed = 0;

	places->count = 0;
	do
		failed = scan.cursor.at < scan.cursor.end ? take(&scan) : 0;
	while (failed == 0 && scan.depth > 0 && scan.cursor.at < scan.cursor.end);
	*cursor = scan.cursor;
	return failed;
}

void ft_places_release(struct ft_places *places)
{
	free(places->items);
	*places = (struct ft_places){ 0 };
}
