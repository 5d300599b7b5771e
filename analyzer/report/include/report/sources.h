#pragma once

#include <stddef.h>
#include <stdio.h>

#include <capture/source.h>

/* What can be captured from, and what capture files are. 0 or -errno of the handle. */

/* Formats, compressions and link types that are read. */
int ft_sources_text(FILE *out);

/* Inputs that were read to their end. */
int ft_sources_inputs_text(FILE *out, const struct ft_source_input *const *inputs, size_t count);

/* Both, as the document fabtap.sources/1. */
int ft_sources_json(FILE *out, const struct ft_source_input *const *inputs, size_t count);
