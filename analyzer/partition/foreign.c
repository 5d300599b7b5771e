#include "foreign.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

struct sign {
	const char *begins, *format;
};

static const char ufm[] = "P_Keys of UFM", kubernetes[] = "an object of Kubernetes",
		  slurm[] = "jobs of Slurm", sonic[] = "a configuration of SONiC",
		  ports[] = "names of ports, for --topology", tables[] = "P_Key tables of ports",
		  groups[] = "multicast groups of OpenSM";

/* The rest of a first key: what stands behind its quotation mark. None of them is a key of tapmap/1. */
static const struct sign keys[] = {
	{ "0x", ufm },
	{ "partition\"", ufm },
	{ "ip_over_ib\"", ufm },
	{ "guids\"", ufm },
	{ "apiVersion\"", kubernetes },
	{ "kind\"", kubernetes },
	{ "jobs\"", slurm },
	{ "VLAN", sonic },
	{ "VRF\"", sonic },
	{ "VXLAN_", sonic },
	{ "DEVICE_METADATA\"", sonic },
};

/* OpenSM would find no partition in any of them. */
static const struct sign lines[] = {
	{ "ib partition ", "partition lines of MLNX-OS" },
	{ "apiVersion:", kubernetes },
	{ "SwitchName=", "a topology of Slurm" },
	{ "vendid=", ports },
	{ "Ca\t: ", ports },
	{ "Switch\t: ", ports },
	{ "CA  ", ports },
	{ "SW  ", ports },
	{ "PKeyTableRecord dump:", tables },
	{ "MCMemberRecord ", groups },
	{ "MC Group 0x", groups },
	{ "{ SW Ports:", ports }, /* opensm-subnet.lst */
	{ "{ CA Ports:", ports },
	{ "PortSelect:...", "counters of a port" },
	{ "Mkey:...", "the state of a port" },
};

/* Rows of numbers, as a digit stands for it; blanks between numbers part nothing in OpenSM's lists. */
static const struct sign rows[] = {
	{ "0: 0x0000 0x0000 ", tables },           /* smpquery pkeys */
	{ "0x0000000000000000 0x0000 0x", ports }, /* guid2lid */
};

static const char *find(const struct sign *signs, size_t count, const char *text, size_t size)
{
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(signs[i].begins);

		if (length <= size && memcmp(signs[i].begins, text, length) == 0)
			return signs[i].format;
	}
	return NULL;
}

static bool is_row(const char *row, const char *text)
{
	for (size_t i = 0; row[i] != '\0'; i++) {
		bool digit = row[i] == '0' && row[i + 1] != 'x' && row[i + 1] != ':';

		if (digit ? !isxdigit((unsigned char)text[i]) : text[i] != row[i])
			return false;
	}
	return true;
}

static const char *find_row(const char *text, size_t size)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strlen(rows[i].begins) <= size && is_row(rows[i].begins, text))
			return rows[i].format;
	return NULL;
}

static size_t skip(const char *text, size_t size, size_t at, const char *what)
{
	while (at < size && text[at] != '\0' && strchr(what, text[at]) != NULL)
		at++;
	return at;
}

const char *ft_foreign_format(const char *text, size_t size)
{
	size_t marked = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	size_t at = skip(text, size, marked, " \t\r\n");
	size_t begin = at;
	const char *found;
	bool json = at < size && (text[at] == '{' || text[at] == '[');

	if (json && marked != 0)
		return "JSON behind a byte order mark, which JSON has none of";
	if (json) {
		at = skip(text, size, at, "[{ \t\r\n");
		if (at == size || text[at] != '"')
			return find(lines, sizeof lines / sizeof *lines, text + begin,
				    size - begin);
		return find(keys, sizeof keys / sizeof *keys, text + at + 1, size - at - 1);
	}
	while (at < size && text[at] == '#') {
		const char *end = memchr(text + at, '\n', size - at);

		at = skip(text, size, end != NULL ? (size_t)(end - text) : size, " \t\r\n");
	}
	found = find(lines, sizeof lines / sizeof *lines, text + at, size - at);
	return found != NULL ? found : find_row(text + at, size - at);
}
