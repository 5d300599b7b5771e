#pragma once

#include "reading.h"

/*
 * A large document, taken apart: what is inside its long top-level arrays is left out of the
 * outline, and each element of them is parsed, read and forgotten by itself. So a map's document
 * tree is never in memory as a whole, which would cost more than reading it.
 */
struct ft_long_array {
	const char *name; /* its key */
	struct ft_text_cursor
		elements; /* from behind '[' up to ']'; at NULL: the document has none */
};

/*
 * Make the outline: `text` without the elements of the arrays named by `arrays` (ends with a NULL
 * name), but with their line feeds, so that lines stay what they are. The caller frees *outline.
 * Text that is no JSON object comes out as it is. 0 or -ENOMEM.
 */
int ft_outline_make(char **outline, size_t *size, const char *text, size_t text_size,
		    struct ft_long_array *arrays);

/*
 * Read every element with `read` (reading->path is the array's pointer). What is no JSON is refused
 * as bad-json, and ends it. 0 or -ENOMEM.
 */
int ft_read_elements(struct ft_reading *reading, const struct ft_long_array *array,
		     ft_read_value *read, void *into);
