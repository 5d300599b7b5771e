#include "places.h"

#include <errno.h>
#include <stdlib.h>

struct scan {
	struct ft_places places;
	size_t room;
	const char *at, *end;
	uint32_t line;
	uint32_t open[FT_PLACES_DEPTH]; /* places of the containers around */
	unsigned depth;
};

static int grow(struct scan *scan)
{
	size_t room = scan->room != 0 ? 2 * scan->room : 1024;
	struct ft_place *items = reallocarray(scan->places.items, room, sizeof *items);

	if (items == NULL)
		return -ENOMEM;
	scan->places.items = items;
	scan->room = room;
	return 0;
}

static int add_place(struct scan *scan)
{
	uint32_t number = (uint32_t)scan->places.count;

	if (scan->places.count == scan->room && grow(scan) != 0)
		return -ENOMEM;
	scan->places.items[number] = (struct ft_place){ scan->line, number + 1 };
	scan->places.count++;
	return 0;
}

static int open_container(struct scan *scan)
{
	if (scan->depth == FT_PLACES_DEPTH)
		return -E2BIG;
	scan->open[scan->depth++] = (uint32_t)scan->places.count;
	scan->at++;
	return add_place(scan);
}

static void close_container(struct scan *scan)
{
	if (scan->depth > 0)
		scan->places.items[scan->open[--scan->depth]].end = (uint32_t)scan->places.count;
	scan->at++;
}

static bool blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/* A string is a key, and no value, if a colon follows. */
static int take_string(struct scan *scan)
{
	const char *at = scan->at + 1;

	while (at < scan->end && *at != '"')
		at += *at == '\\' ? 2 : 1;
	scan->at = ++at;
	while (at < scan->end && blank(*at))
		at++;
	return at < scan->end && *at == ':' ? 0 : add_place(scan);
}

/* A number, true, false or null. */
static int take_word(struct scan *scan)
{
	while (scan->at < scan->end && *scan->at != ',' && *scan->at != ']' && *scan->at != '}' &&
	       !blank(*scan->at))
		scan->at++;
	return add_place(scan);
}

static int take(struct scan *scan)
{
	switch (*scan->at) {
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
		scan->line++;
		scan->at++;
		return 0;
	case ' ':
	case '\t':
	case '\r':
	case ',':
	case ':':
		scan->at++;
		return 0;
	default:
		return take_word(scan);
	}
}

int ft_places_read(struct ft_places *places, const char *text, size_t size)
{
	struct scan scan = { .at = text, .end = text + size, .line = 1 };
	int failed = 0;

	while (failed == 0 && scan.at < scan.end)
		failed = take(&scan);
	if (failed != 0)
		ft_places_release(&scan.places);
	*places = scan.places;
	return failed;
}

void ft_places_release(struct ft_places *places)
{
	free(places->items);
	*places = (struct ft_places){ 0 };
}
