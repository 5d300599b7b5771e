#pragma once

#include <firmware-config/machine.h>

/* The addresses of one family (AF_INET, AF_INET6), "10.0.0.1, 10.0.0.2", cut where they do not fit. How many, or -errno. */
int ft_addresses_read(const struct ft_machine *machine, const char *interface, int family,
		      char *list, size_t size);
