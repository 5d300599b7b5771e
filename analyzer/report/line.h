#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/*
 * Text on its way to a handle, through one buffer on the caller's stack. Appending never fails; the
 * first error of the handle is kept and told by ft_line_flush(). One line of a frame is one write.
 */
struct ft_line {
	FILE *out;
	size_t used;
	int error;       /* 0 or the first -errno */
	char text[8192]; /* only [0, used) means something */
};

static inline void ft_line_open(struct ft_line *line, FILE *out)
{
	line->out = out;
	line->used = 0;
	line->error = 0;
}

/* Hand everything to the handle. 0 or the first -errno met. */
int ft_line_flush(struct ft_line *line);

/* Room for `size` more bytes (at most 512): where they go; the caller adds what it wrote to `used`. */
static inline char *ft_line_room(struct ft_line *line, size_t size)
{
	if (size > sizeof(line->text) - line->used)
		ft_line_flush(line);
	return line->text + line->used;
}

void ft_line_bytes(struct ft_line *line, const char *bytes, size_t size);

static inline void ft_line_add(struct ft_line *line, const char *text)
{
	size_t size = strlen(text);

	if (size > sizeof(line->text) - line->used) {
		ft_line_bytes(line, text, size);
		return;
	}
	memcpy(line->text + line->used, text, size);
	line->used += size;
}

static inline void ft_line_char(struct ft_line *line, char byte)
{
	*ft_line_room(line, 1) = byte;
	line->used++;
}

void ft_line_decimal(struct ft_line *line, uint64_t value);
/* 0x and `count` digits, 1..16 */
void ft_line_hex(struct ft_line *line, uint64_t value, unsigned count);

/* `lead` (a name and what stands around it), then the value. */
static inline void ft_line_number(struct ft_line *line, const char *lead, uint64_t value)
{
	ft_line_add(line, lead);
	if (value < 10)
		ft_line_char(line, (char)('0' + value));
	else
		ft_line_decimal(line, value);
}

/* `lead`, then in quotes a word of ours that needs no escaping, or null. */
void ft_line_word(struct ft_line *line, const char *lead, const char *word);

/* Wire order in. */
/* 0xf480d43b; at most 32 */
void ft_line_octets(struct ft_line *line, const uint8_t *bytes, size_t count);
void ft_line_mac(struct ft_line *line, const uint8_t mac[6]);
void ft_line_ipv4(struct ft_line *line, const uint8_t address[4]);
/* all eight groups of four digits */
void ft_line_ipv6_full(struct ft_line *line, const uint8_t address[16]);
void ft_line_ipv6(struct ft_line *line, const uint8_t address[16]); /* RFC 5952 */

/* 2026-11-21T15:45:04.000000000Z, and the part after the T without the Z. */
void ft_line_time(struct ft_line *line, uint64_t ts_ns);
void ft_line_clock(struct ft_line *line, uint64_t ts_ns);

/* A JSON string in quotes: control characters escaped, bytes that are no UTF-8 replaced by U+FFFD. */
void ft_line_quoted(struct ft_line *line, const char *text);

/*
 * A name from a map, a file or the wire, for a terminal: control characters and whatever is not
 * UTF-8 come out as \x1b, so that no name can move the cursor or fake a line.
 */
void ft_line_name(struct ft_line *line, const char *text);
