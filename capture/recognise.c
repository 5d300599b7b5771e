#include "input.h"

#include <ctype.h>
#include <string.h>

/* Files that people pass by mistake, by their first bytes. */
static const struct {
	const char *magic;
	size_t size;
	const char *name;
} known[] = {
	{ "\xa1\xb2\xcd\x34", 4, "a \"modified\" pcap (convert it with editcap -F pcap)" },
	{ "\x34\xcd\xb2\xa1", 4, "a \"modified\" pcap (convert it with editcap -F pcap)" },
	{ "\x0a\x0d\x0d\x0a", 4, "a pcapng section header that is cut or has no byte-order magic" },
	{ "snoop\0\0", 7, "a snoop capture (convert it with editcap)" },
	{ "GMBU", 4, "a Network Monitor capture (convert it with editcap)" },
	{ "RTSS", 4, "a Network Monitor capture (convert it with editcap)" },
	{ "TRSNIFF data", 12, "a Sniffer capture (convert it with editcap)" },
	{ "XCP", 4, "a NetXray capture (convert it with editcap)" },
	{ "\x7f"
	  "ELF",
	  4, "an ELF program" },
	{ "PK\x03\x04", 4, "a ZIP archive" },
	{ "\x1f\x8b", 2, "gzip data" },
	{ "\x28\xb5\x2f\xfd", 4, "zstd data" },
	{ "\xfd"
	  "7zXZ",
	  5, "xz data (unpack it first)" },
	{ "BZh", 3, "bzip2 data (unpack it first)" },
	{ "\x04\x22\x4d\x18", 4, "lz4 data (unpack it first)" },
	{ "7z\xbc\xaf", 4, "a 7z archive" },
	{ "%PDF", 4, "a PDF document" },
	{ "#!", 2, "a script" },
	{ "{", 1, "text that looks like JSON" },
	{ "<", 1, "text that looks like XML or HTML" },
};

static bool all_zero(const uint8_t *bytes, size_t size)
{
	while (size > 0 && bytes[size - 1] == 0)
		size--;
	return size == 0;
}

static bool all_text(const uint8_t *bytes, size_t size)
{
	while (size > 0 && (isprint(bytes[size - 1]) || isspace(bytes[size - 1])))
		size--;
	return size == 0;
}

const char *ft_recognise(const uint8_t *bytes, size_t size)
{
	if (size == 0)
		return "it is empty";
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		if (size >= known[i].size && memcmp(bytes, known[i].magic, known[i].size) == 0)
			return known[i].name;
	}
	if (all_zero(bytes, size))
		return "zero bytes";
	if (all_text(bytes, size))
		return "text";
	return "bytes of no known kind";
}
