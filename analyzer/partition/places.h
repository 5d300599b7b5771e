#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where each value of a JSON text stands. jansson keeps no positions; one pass over the text gives
 * every value, in document order (an object or array before what is inside it), its line and the
 * place after its last inner value.
 */
struct ft_place {
	uint32_t line; /* from 1 */
	uint32_t end;  /* place of the next value that is not inside this one */
};

struct ft_places {
	struct ft_place *items;
	size_t count;
};

enum { FT_PLACES_DEPTH = 64 };

/*
 * `text` is valid JSON (the parser took it). 0, -ENOMEM, or -E2BIG if it is nested deeper than
 * FT_PLACES_DEPTH.
 */
int ft_places_read(struct ft_places *places, const char *text, size_t size);
void ft_places_release(struct ft_places *places);
