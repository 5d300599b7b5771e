#pragma once

#include <stddef.h>

/* Bytes of the well-formed UTF-8 sequence that starts at `at` (Unicode 15, table 3-7); 0 if there is none. */
size_t ft_utf8_length(const unsigned char *at);

/*
 * The same, but 0 for what a terminal may act on or hide: C0 and C1 controls, DEL, and the format
 * characters that reorder or join text (bidirectional marks, zero width, line separators, BOM).
 */
size_t ft_utf8_printable(const unsigned char *at);

/*
 * Columns that ft_line_name() takes for `text`: two for each wide character, none for a mark on the one before, four for
 * each escaped byte, else one.
 */
size_t ft_utf8_columns(const char *text);
