#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <flow/observed.h>

/* What is observed of every frame of a capture, in order. */
struct captured {
	struct ft_observed *at;
	size_t count;
};

/*
 * In tests/data/captures, in tests/data, or among the shared reference captures (FT_SHARED). False, and
 * said aloud: it is in none of them.
 */
bool captures_read(const char *name, struct captured *captured);
void captures_free(struct captured *captured);
