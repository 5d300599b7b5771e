#pragma once

#include <jansson.h>

#include "ports.h"

/* Places and ports whose memberships differ between two maps: nothing else can open or close a pair. */
struct ft_touched {
	/* "0x0101", "segment red-l2", "0xb8cef60300100021": borrowed from the document */
	struct ft_keys words;
	bool everywhere, segments; /* everything counts as touched; some segment does */
};

/* From what ft_diff_members() found. 0 or -ENOMEM. */
int ft_touched_read(struct ft_touched *touched, const json_t *members, bool everywhere);
void ft_touched_release(struct ft_touched *touched);

/* True if the partition, or a port that is in it at any time, is touched. */
bool ft_touches_partition(const struct ft_touched *touched, const struct ft_ports *ports,
			  const struct ft_partition *partition);
