#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Instants as maps and reports write them: RFC 3339 in UTC, `Z` only, with at most nine digits of
 * fraction. No leap seconds. Years 1970 to 2261, so that nanoseconds fit 64 bits.
 */

/* Reads all of `text`. False leaves *ns as it was. */
bool ft_moment_read(const char *text, int64_t *ns);

enum { FT_MOMENT_ROOM = 40 };

/* "2026-11-20T10:00:00Z", with a fraction of nine digits unless it is zero. Returns `text`. */
const char *ft_moment_write(char text[FT_MOMENT_ROOM], int64_t ns);
