#include "foreign.h"

#include <stdbool.h>
#include <string.h>

struct sign {
	const char *begins, *format;
};

static const char ufm[] = "P_Keys of UFM", kubernetes[] = "an object of Kubernetes",
		  slurm[] = "jobs of Slurm", sonic[] = "a configuration of SONiC",
		  ports[] = "names of ports, for --topology";

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
	bool json = at < size && (text[at] == '{' || text[at] == '[');

	if (json && marked != 0)
		return "JSON behind a byte order mark, which JSON has none of";
	if (json) {
		at = skip(text, size, at, "[{ \t\r\n");
		if (at == size || text[at] != '"')
			return NULL;
		return find(keys, sizeof keys / sizeof *keys, text + at + 1, size - at - 1);
	}
	while (at < size && text[at] == '#') {
		const char *end = memchr(text + at, '\n', size - at);

		at = skip(text, size, end != NULL ? (size_t)(end - text) : size, " \t\r\n");
	}
	return find(lines, sizeof lines / sizeof *lines, text + at, size - at);
}
