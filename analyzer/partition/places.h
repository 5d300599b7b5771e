#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where each value of a JSON text stands. jansson keeps no positions; one pass over the text gives
 * every value, in document order (an object or array before what is inside it), its line and the
 * place after its last inner value. Zero-initialise; the memory is used again by the next reading.
 */
struct ft_value_place {
	uint32_t line; /* from 1 */
	uint32_t end;  /* place of the next value that is not inside this one */
};

struct ft_places {
	struct ft_value_place *items;
	size_t count, room;
};

enum { FT_PLACES_DEPTH = 64 };

/* A position in a text: the next byte, the end, and the line of the next byte. */
struct ft_text_cursor {
	const char *at, *end;
	uint32_t line;
};

/*
 * Read the places of the one value that begins at the cursor, and step over it. Any text is safe;
 * of text that is no JSON the result means nothing. 0, -ENOMEM, or -E2BIG if it is nested deeper
 * than FT_PLACES_DEPTH.
 */
int ft_places_read(struct ft_places *places, struct ft_text_cursor *cursor);
void ft_places_release(struct ft_places *places);

/* Step over white space. */
void ft_cursor_skip_blanks(struct ft_text_cursor *cursor);
/* Step over a string, from its opening quote on, or to the end. */
void ft_cursor_skip_string(struct ft_text_cursor *cursor);
