#pragma once

#include "verb.h"

/* What a verb prints, as -o names it; --json is short for -o json. */
enum ft_format {
	FT_FORMAT_UNSET, /* text */
	FT_FORMAT_TEXT,
	FT_FORMAT_JSON,
	FT_FORMAT_FIELDS,
	FT_FORMAT_INSPECTOR,
	FT_FORMATS
};

/* Sets of them, bits 1 << enum ft_format. */
enum { FT_TEXT_OR_JSON = 1 << FT_FORMAT_TEXT | 1 << FT_FORMAT_JSON };

/* One of a verb's `formats`. 0; -EINVAL, told: it is none of them, or another one was given before. */
int ft_format_take(const struct ft_verb *verb, unsigned formats, enum ft_format *format,
		   const char *name);
