#include "line.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>

#include "utf8.h"

static const char digits[] = "0123456789abcdef";
static const char pairs_of_digits[] =
	"00010203040506070809101112131415161718192021222324252627282930313233"
	"34353637383940414243444546474849505152535455565758596061626364656667"
	"6869707172737475767778798081828384858687888990919293949596979899";

int ft_line_flush(struct ft_line *line)
{
	size_t used = line->used;

	line->used = 0;
	if (used != 0 && line->error == 0 && fwrite(line->text, 1, used, line->out) != used)
		line->error = errno != 0 ? -errno : -EIO;
	return line->error;
}

void ft_line_bytes(struct ft_line *line, const char *bytes, size_t size)
{
	while (size > 0) {
		size_t part = size < 512 ? size : 512;

		memcpy(ft_line_room(line, part), bytes, part);
		line->used += part;
		bytes += part;
		size -= part;
	}
}

void ft_line_decimal(struct ft_line *line, uint64_t value)
{
	char text[20];
	size_t at = sizeof(text);

	while (value >= 100) {
		memcpy(text + (at -= 2), pairs_of_digits + 2 * (value % 100), 2);
		value /= 100;
	}
	if (value >= 10)
		memcpy(text + (at -= 2), pairs_of_digits + 2 * value, 2);
	else
		text[--at] = digits[value];
	memcpy(ft_line_room(line, sizeof(text)), text + at, sizeof(text) - at);
	line->used += sizeof(text) - at;
}

void ft_line_hex(struct ft_line *line, uint64_t value, unsigned count)
{
	char *to = ft_line_room(line, 18);

	assert(count >= 1 && count <= 16);
	to[0] = '0';
	to[1] = 'x';
	for (unsigned i = 0; i < count; i++)
		to[2 + i] = digits[value >> (4 * (count - 1 - i)) & 0xf];
	line->used += 2 + count;
}

void ft_line_word(struct ft_line *line, const char *lead, const char *word)
{
	ft_line_add(line, lead);
	if (word == NULL) {
		ft_line_add(line, "null");
		return;
	}
	ft_line_char(line, '"');
	ft_line_add(line, word);
	ft_line_char(line, '"');
}

static void octet(char *to, uint8_t byte)
{
	to[0] = digits[byte >> 4];
	to[1] = digits[byte & 0xf];
}

/* Two digits for each byte, a separator between them unless it is 0. */
static size_t pairs(char *to, const uint8_t *bytes, size_t count, char separator)
{
	char *start = to;

	for (size_t i = 0; i < count; i++) {
		if (i > 0 && separator != 0)
			*to++ = separator;
		octet(to, bytes[i]);
		to += 2;
	}
	return (size_t)(to - start);
}

void ft_line_octets(struct ft_line *line, const uint8_t *bytes, size_t count)
{
	assert(count <= 32);
	ft_line_add(line, "0x");
	line->used += pairs(ft_line_room(line, 64), bytes, count, 0);
}

void ft_line_mac(struct ft_line *line, const uint8_t mac[6])
{
	line->used += pairs(ft_line_room(line, 17), mac, 6, ':');
}

void ft_line_ipv4(struct ft_line *line, const uint8_t address[4])
{
	char *to = ft_line_room(line, 16);
	char *start = to;

	for (unsigned i = 0; i < 4; i++) {
		uint8_t value = address[i];

		if (i > 0)
			*to++ = '.';
		if (value >= 100)
			*to++ = digits[value / 100];
		if (value >= 10)
			*to++ = digits[value / 10 % 10];
		*to++ = digits[value % 10];
	}
	line->used += (size_t)(to - start);
}

void ft_line_ipv6_full(struct ft_line *line, const uint8_t address[16])
{
	char *to = ft_line_room(line, 40);

	for (unsigned group = 0; group < 8; group++) {
		pairs(to + 5 * group, address + 2 * group, 2, 0);
		to[5 * group + 4] = ':';
	}
	line->used += 39;
}

void ft_line_ipv6(struct ft_line *line, const uint8_t address[16])
{
	char text[INET6_ADDRSTRLEN];

	if (inet_ntop(AF_INET6, address, text, sizeof(text)) != NULL)
		ft_line_add(line, text);
}

static void two(char *to, unsigned value)
{
	to[0] = digits[value / 10 % 10];
	to[1] = digits[value % 10];
}

void ft_line_clock(struct ft_line *line, uint64_t ts_ns)
{
	char *to = ft_line_room(line, 18);
	unsigned second = (unsigned)(ts_ns / 1000000000 % 86400);
	unsigned ns = (unsigned)(ts_ns % 1000000000);

	memcpy(to, "00:00:00.000000000", 18);
	two(to, second / 3600);
	two(to + 3, second / 60 % 60);
	two(to + 6, second % 60);
	for (unsigned i = 0; i < 9; i++, ns /= 10)
		to[17 - i] = digits[ns % 10];
	line->used += 18;
}

/* Gregorian date of a day since 1970-01-01, counted in eras of 400 years that begin on 1 March. */
static void date(char *to, uint64_t day)
{
	uint64_t shifted = day + 719468;
	uint64_t era = shifted / 146097;
	unsigned of_era = (unsigned)(shifted % 146097);
	unsigned year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	unsigned of_year = of_era - (365 * year + year / 4 - year / 100);
	unsigned march_month = (5 * of_year + 2) / 153;
	unsigned month = march_month < 10 ? march_month + 3 : march_month - 9;

	year += (unsigned)(era * 400) + (month <= 2);
	memcpy(to, "0000-00-00T", 11);
	two(to, year / 100);
	two(to + 2, year % 100);
	two(to + 5, month);
	two(to + 8, of_year - (153 * march_month + 2) / 5 + 1);
}

void ft_line_time(struct ft_line *line, uint64_t ts_ns)
{
	date(ft_line_room(line, 11), ts_ns / 1000000000 / 86400);
	line->used += 11;
	ft_line_clock(line, ts_ns);
	ft_line_char(line, 'Z');
}

static void quoted_ascii(struct ft_line *line, unsigned char byte)
{
	static const char *const escapes[128] = {
		['"'] = "\\\"", ['\\'] = "\\\\", ['\b'] = "\\b", ['\f'] = "\\f",
		['\n'] = "\\n", ['\r'] = "\\r",  ['\t'] = "\\t",
	};

	if (escapes[byte] != NULL) {
		ft_line_add(line, escapes[byte]);
	} else if (byte < 0x20 || byte == 0x7f) {
		ft_line_add(line, "\\u00");
		octet(ft_line_room(line, 2), byte);
		line->used += 2;
	} else {
		ft_line_char(line, (char)byte);
	}
}

void ft_line_quoted(struct ft_line *line, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	ft_line_char(line, '"');
	while (*at != 0) {
		size_t size = ft_utf8_length(at);

		if (size == 0)
			ft_line_add(line, "\\ufffd");
		else if (size == 1)
			quoted_ascii(line, *at);
		else
			ft_line_bytes(line, (const char *)at, size);
		at += size > 0 ? size : 1;
	}
	ft_line_char(line, '"');
}

void ft_line_name(struct ft_line *line, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	while (*at != 0) {
		size_t size = ft_utf8_printable(at);

		if (size == 0) {
			ft_line_add(line, "\\x");
			octet(ft_line_room(line, 2), *at);
			line->used += 2;
			size = 1;
		} else {
			ft_line_bytes(line, (const char *)at, size);
		}
		at += size;
	}
}
