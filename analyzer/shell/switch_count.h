#pragma once

#include <stdint.h>

#include <firmware-config/passivity.h>

/*
 * The frames that a switch received from the tap, as a file says that somebody outside keeps up to date: the number
 * it begins with. UINT64_MAX (FT_TX_UNREADABLE) if there is none.
 */
uint64_t ft_switch_count(const char *path);

/* The same, once it was written after `since_ns` of the wall clock; waits for that, a minute or until an interrupt. */
uint64_t ft_switch_count_since(const char *path, uint64_t since_ns);
