#pragma once

#include <stdio.h>

#include <partition/load.h>
#include <partition/map.h>

/*
 * `map ask`: what the map says of one port, or of two, at an instant. A port is named by GUID
 * (0x and 1 to 16 digits), LID ("lid:5" or "5"), host, IP address or GID, or MAC. A host's name stands
 * for its first port; a node description like "a1 mlx5_0" also answers to "a1".
 */
struct ft_question {
	int64_t at_ns;
	const char *port;
	const char *other; /* NULL: about `port` alone; else: may the two talk? */
};

/*
 * Writes the answer as text or as JSON, fabtap.map-answer/1 (`at`, then `port`, `host`, `owner`,
 * `owners[]`, `entries[]`, `in_grace_for`, `grace[]`; or `pair`, `allowed`, `grace`, `via`,
 * `exception`, `because`). 0, -ENOMEM, -ENOENT with *complaint set if a port is not declared,
 * or why it could not be written.
 * Names in text stand as the map and the question have them: for a terminal see report/plain.h.
 */
int ft_map_ask(const struct ft_map *map, const struct ft_question *question, bool json, FILE *out,
	       struct ft_map_complaint *complaint);
