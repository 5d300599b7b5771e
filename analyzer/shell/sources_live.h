#pragma once

#include <stdint.h>

#include <report/sources.h>

#include "exit.h"

/* Devices that could be opened, as a list of one's own. 0 or -errno, told. */
struct ft_device_list {
	struct ft_device_listing *rows;
	size_t count, room;
};

int ft_device_list_fill(struct ft_device_list *list);
void ft_device_list_free(struct ft_device_list *list);

/*
 * Open each source by itself, receive for `duration_ns`, close it; print what worked. FT_EXIT_FAILED, and a
 * line for each, if one could not be opened or vanished.
 */
enum ft_exit ft_sources_try(const char *const *addresses, size_t count,
			    const struct ft_live_config *config, uint64_t duration_ns, bool json);
