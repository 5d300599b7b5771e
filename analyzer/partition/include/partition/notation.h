#pragma once

#include <partition/declared.h>

/* How addresses and numbers are written in maps, topology files and on the command line. */

/* "0x" and 1 to 16 hex digits, all of the text. False leaves *number as it was. */
bool ft_hex_read(const char *text, uint64_t *number);

/*
 * An IPv4 or IPv6 address, with "/bits" if `prefix_allowed`. Bits below the prefix length must be
 * zero. An IPv4 prefix lies in ::ffff:0:0/96. False leaves *prefix as it was.
 */
bool ft_prefix_read(const char *text, bool prefix_allowed, struct ft_prefix *prefix);

/* "02:4e:61:00:00:71", digits of either case, all of the text. False leaves `mac` as it was. */
bool ft_mac_read(const char *text, uint8_t mac[6]);

enum { FT_NOTATION_ROOM = 64 };

/* As ft_prefix_read() takes it, IPv4 dotted; bits only if not all. Returns `text`, as the next three do. */
const char *ft_prefix_write(char text[FT_NOTATION_ROOM], const struct ft_prefix *prefix);

/* Lower case, with colons. */
const char *ft_mac_write(char text[FT_NOTATION_ROOM], const uint8_t mac[6]);

/* "0x" and 16 digits; also of other numbers of 64 bits. */
const char *ft_guid_write(char text[FT_NOTATION_ROOM], uint64_t guid);

/* "0x" and 4 digits: a P_Key of 16 bits or a base of 15. */
const char *ft_pkey_write(char text[FT_NOTATION_ROOM], unsigned pkey);

/* "limited", "full", "both", static; 0, no member, has no word. */
const char *ft_membership_word(enum ft_membership membership);

/* "customer", "shared", "management", as tapmap/1 writes it. Static. */
const char *ft_class_word(enum ft_tenant_class class);
