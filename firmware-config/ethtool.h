#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <firmware-config/machine.h>

/* What an interface's driver tells, by the kernel's ethtool requests or as the program ethtool printed it. */

struct ft_ethtool_pause {
	bool autoneg, rx, tx;
};

struct ft_ethtool_driver {
	char name[33], version[33], firmware[33], bus[33];
};

/* Each of the driver's own counters; as many as there are (0: it has none), or -errno: it has some, unreadable. */
int ft_ethtool_statistics(const struct ft_machine *machine, const char *interface,
			  void (*tell)(void *context, const char *name, uint64_t value),
			  void *context);

/* 0, or -errno; -EOPNOTSUPP: the driver does not tell. */
int ft_ethtool_pause(const struct ft_machine *machine, const char *interface,
		     struct ft_ethtool_pause *pause);
int ft_ethtool_driver(const struct ft_machine *machine, const char *interface,
		      struct ft_ethtool_driver *driver);
