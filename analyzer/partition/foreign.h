#pragma once

#include <stddef.h>

/*
 * What a file is that declares partitions, or names ports, in a format that no map is read from: by its first key, or the
 * beginning of its first line that is no comment; also JSON that an editor has put a byte order mark before. A few words for
 * a complaint, static; NULL: nothing known.
 */
const char *ft_foreign_format(const char *text, size_t size);
