#pragma once

#include "ethtool.h"

/* As their namesakes of ethtool.h, of a saved machine: what ethtool -S, -a and -i printed. */
int ft_saved_statistics(const struct ft_machine *machine, const char *interface,
			void (*tell)(void *context, const char *name, uint64_t value),
			void *context);
int ft_saved_pause(const struct ft_machine *machine, const char *interface,
		   struct ft_ethtool_pause *pause);
int ft_saved_driver(const struct ft_machine *machine, const char *interface,
		    struct ft_ethtool_driver *driver);
