#pragma once

#include <stddef.h>
#include <stdint.h>

/* Numbers for people. Each fills the caller's text and returns it. */
struct ft_human {
	char text[32];
};

/* 999999 and below as they are, above with three significant digits and a unit: 1.23 M. */
const char *ft_human_count(struct ft_human *human, uint64_t count);
/* 1.2 kB, 3.4 GB: powers of 1000. */
const char *ft_human_bytes(struct ft_human *human, uint64_t bytes);
/* 1.5 ms, 61.2 s, 2 h 03 min. */
const char *ft_human_duration(struct ft_human *human, uint64_t ns);

/* What a noun has behind so many: "", "s". */
static inline const char *ft_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* "3 with a wrong ICRC, 1 copy": those of the list that are not zero; "" if all are. */
struct ft_human_part {
	uint64_t count;
	const char *words, *word; /* for one, where it differs; else NULL */
};
void ft_human_parts(char *text, size_t room, const struct ft_human_part *list, size_t count);
