#include "utf8.h"

#include <stdbool.h>
#include <stdint.h>

/* First bytes and the range of the second byte that keeps the sequence shortest and in range. */
static const struct lead {
	unsigned char from, to, second_from, second_to, length;
} leads[] = {
	{ 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
	{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 },
	{ 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
};

static bool continues(const unsigned char *at, const struct lead *lead)
{
	if (at[1] < lead->second_from || at[1] > lead->second_to)
		return false;
	for (unsigned i = 2; i < lead->length; i++)
		if ((at[i] & 0xc0) != 0x80) /* the text's end is not a continuation either */
			return false;
	return true;
}

size_t ft_utf8_length(const unsigned char *at)
{
	if (*at < 0x80)
		return 1;
	for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++)
		if (*at >= leads[i].from && *at <= leads[i].to)
			return continues(at, &leads[i]) ? leads[i].length : 0;
	return 0;
}

static uint32_t code_point(const unsigned char *at, size_t length)
{
	uint32_t code = length == 2 ? at[0] & 0x1fu : length == 3 ? at[0] & 0x0fu : at[0] & 0x07u;

	for (size_t i = 1; i < length; i++)
		code = code << 6 | (at[i] & 0x3fu);
	return code;
}

struct range {
	uint32_t from, to;
};

static bool is_within(uint32_t code, const struct range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (code >= ranges[i].from && code <= ranges[i].to)
			return true;
	return false;
}

/* C1 controls, soft hyphen, zero-width and bidirectional characters, separators, BOM, tags. */
static const struct range hidden[] = {
	{ 0x80, 0x9f },     { 0xad, 0xad },       { 0x61c, 0x61c },   { 0x180e, 0x180e },
	{ 0x200b, 0x200f }, { 0x2028, 0x202e },   { 0x2060, 0x206f }, { 0xfeff, 0xfeff },
	{ 0xfff9, 0xfffb }, { 0xe0000, 0xe0fff },
};

size_t ft_utf8_printable(const unsigned char *at)
{
	size_t length = ft_utf8_length(at);

	if (length == 1)
		return *at >= 0x20 && *at != 0x7f;
	if (length == 0)
		return 0;
	return is_within(code_point(at, length), hidden, sizeof(hidden) / sizeof(hidden[0]))
		       ? 0
		       : length;
}

/* Marks that stand above or below the character before them. */
static const struct range combining[] = {
	{ 0x300, 0x36f },   { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff },
	{ 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },
};

/* Wide and fullwidth (Unicode annex 11): CJK, Hangul, Kana and pictographs. */
static const struct range wide[] = {
	{ 0x1100, 0x115f },   { 0x2e80, 0x303e }, { 0x3041, 0x4dbf },   { 0x4e00, 0xa4cf },
	{ 0xa960, 0xa97c },   { 0xac00, 0xd7a3 }, { 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },
	{ 0xff01, 0xff60 },   { 0xffe0, 0xffe6 }, { 0x1f300, 0x1f64f }, { 0x1f900, 0x1f9ff },
	{ 0x20000, 0x3fffd },
};

static size_t columns_of(uint32_t code)
{
	if (is_within(code, combining, sizeof(combining) / sizeof(combining[0])))
		return 0;
	return is_within(code, wide, sizeof(wide) / sizeof(wide[0])) ? 2 : 1;
}

size_t ft_utf8_columns(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t columns = 0;

	while (*at != 0) {
		size_t length = ft_utf8_printable(at);

		columns += length == 0 ? 4 : length == 1 ? 1 : columns_of(code_point(at, length));
		at += length > 0 ? length : 1;
	}
	return columns;
}
