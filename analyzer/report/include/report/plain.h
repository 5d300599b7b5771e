#pragma once

#include <stdio.h>

/*
 * Text in which there are names that others chose, on its way to a terminal. What a terminal may act on or hide (controls,
 * characters that reorder text or have no width), and what is no UTF-8, comes out byte by byte as \x1b. For text only:
 * documents keep names as they are.
 */

/* One line: `lead`, which is ours, then `text`, an end of line in it likewise as \x0a, and the end of the line. */
void ft_plain_line(FILE *out, const char *lead, const char *text);

/* Lines, whose ends stay; they are overwritten in `text`. 0 or the first -errno of the handle. */
int ft_plain_lines(FILE *out, char *text);
