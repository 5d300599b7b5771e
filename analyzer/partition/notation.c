#include <partition/notation.h>

#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t mapped[12] = { [10] = 0xff, 0xff }; /* ::ffff:0:0/96 */

bool ft_hex_read(const char *text, uint64_t *number)
{
	size_t length = strlen(text);

	if (length < 3 || length > 18 || text[0] != '0' || text[1] != 'x')
		return false;
	for (size_t i = 2; i < length; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	*number = strtoull(text + 2, NULL, 16);
	return true;
}

/* One to three decimal digits, no leading zero. */
static bool read_bits(const char *text, unsigned most, unsigned *bits)
{
	size_t length = strspn(text, "0123456789");

	if (length == 0 || length > 3 || text[length] != '\0' || (length > 1 && text[0] == '0'))
		return false;
	*bits = (unsigned)strtoul(text, NULL, 10);
	return *bits <= most;
}

static bool host_bits_are_zero(const struct ft_prefix *prefix)
{
	for (unsigned bit = prefix->bits; bit < 128; bit++)
		if (prefix->address[bit / 8] >> (7 - bit % 8) & 1)
			return false;
	return true;
}

bool ft_prefix_read(const char *text, bool prefix_allowed, struct ft_prefix *prefix)
{
	char address[INET6_ADDRSTRLEN];
	struct ft_prefix read = { .bits = 128 };
	const char *slash = strchr(text, '/');
	size_t length = slash != NULL ? (size_t)(slash - text) : strlen(text);
	unsigned bits, most = 128;

	if (length >= sizeof address || (slash != NULL && !prefix_allowed))
		return false;
	memcpy(address, text, length);
	address[length] = '\0';
	if (inet_pton(AF_INET, address, read.address + 12) == 1) {
		memcpy(read.address, mapped, sizeof mapped);
		most = 32;
	} else if (inet_pton(AF_INET6, address, read.address) != 1) {
		return false;
	}
	bits = most;
	if (slash != NULL && !read_bits(slash + 1, most, &bits))
		return false;
	read.bits = (uint8_t)(128 - most + bits);
	if (!host_bits_are_zero(&read))
		return false;
	*prefix = read;
	return true;
}

bool ft_mac_read(const char *text, uint8_t mac[6])
{
	uint8_t read[6];

	if (strlen(text) != 17)
		return false;
	for (size_t i = 0; i < 6; i++) {
		const char *pair = text + 3 * i;

		if (!isxdigit((unsigned char)pair[0]) || !isxdigit((unsigned char)pair[1]) ||
		    (i < 5 && pair[2] != ':'))
			return false;
		read[i] = (uint8_t)strtoul((char[]){ pair[0], pair[1], '\0' }, NULL, 16);
	}
	memcpy(mac, read, sizeof read);
	return true;
}

const char *ft_prefix_write(char text[FT_NOTATION_ROOM], const struct ft_prefix *prefix)
{
	bool v4 = memcmp(prefix->address, mapped, sizeof mapped) == 0 && prefix->bits >= 96;
	unsigned most = v4 ? 32 : 128, bits = prefix->bits - (128 - most);
	size_t length;

	inet_ntop(v4 ? AF_INET : AF_INET6, prefix->address + (v4 ? 12 : 0), text, INET6_ADDRSTRLEN);
	length = strlen(text);
	if (bits != most)
		snprintf(text + length, FT_NOTATION_ROOM - length, "/%u", bits);
	return text;
}

const char *ft_mac_write(char text[FT_NOTATION_ROOM], const uint8_t mac[6])
{
	snprintf(text, FT_NOTATION_ROOM, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		 mac[3], mac[4], mac[5]);
	return text;
}

const char *ft_guid_write(char text[FT_NOTATION_ROOM], uint64_t guid)
{
	snprintf(text, FT_NOTATION_ROOM, "0x%016" PRIx64, guid);
	return text;
}

const char *ft_pkey_write(char text[FT_NOTATION_ROOM], unsigned pkey)
{
	snprintf(text, FT_NOTATION_ROOM, "0x%04x", pkey);
	return text;
}

const char *ft_membership_word(enum ft_membership membership)
{
	static const char *const words[] = {
		[FT_LIMITED] = "limited", [FT_FULL] = "full", [FT_BOTH] = "both"
	};

	return words[membership];
}

const char *ft_class_word(enum ft_tenant_class class)
{
	static const char *const words[] = {
		[FT_CUSTOMER] = "customer", [FT_SHARED] = "shared", [FT_MANAGEMENT] = "management"
	};

	return words[class];
}
