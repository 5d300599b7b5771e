#pragma once

#include <stddef.h>

/*
 * The machine that is asked: this one, or what was saved of one, so that an answer can be had again later and tests
 * need no device. Nothing here is ever written to, and no device is set.
 *
 * Below the root of a saved machine stand parts of /proc and /sys as they were, and for what no file tells the
 * output of programs: `ethtool/IF/statistics` (ethtool -S), `ethtool/IF/pause` (-a), `ethtool/IF/driver` (-i), and
 * `ip/IF/addresses` (ip -o address show dev IF). What is not there is not known.
 */
struct ft_machine {
	const char *root; /* "" is this machine */
};

enum { FT_INTERFACE_NAME = 16 }; /* with its end, as IFNAMSIZ */

/*
 * The names of all interfaces, for the caller to free(); as many as are returned, or -errno with *names as it was.
 * They are those of the network namespace that the caller is in, or of the saved machine's proc/net/dev.
 */
int ft_interfaces_list(const struct ft_machine *machine, char (**names)[FT_INTERFACE_NAME]);
