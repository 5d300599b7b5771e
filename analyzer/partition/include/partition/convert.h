#pragma once

#include <stdio.h>

#include <partition/load.h>

/*
 * `map convert`: any map as a tapmap/1 document that gives every port the same entries. Rules whose
 * last one wins (OpenSM) are resolved against the ports of the topology, since tapmap's most
 * specific entry wins. The document is unsigned, has no serial, and holds from 1970 on, as the
 * source has no times.
 * 0, -ENOMEM, why it could not be written, or -EINVAL with *complaint set: a map that OpenSM drops
 * is not converted, nor is one that cannot be resolved without a topology.
 */
int ft_map_convert(const struct ft_declared *declared, FILE *out,
		   struct ft_map_complaint *complaint);
