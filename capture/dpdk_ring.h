#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dpdk_address.h"

/*
 * Size the ring of net_af_packet, unless the user did: whole jumbo frames, as many as fit into `bytes` (0: a default)
 * and into the memory that this process may lock, of which the driver takes twice as much. False: the address has no
 * room for it.
 */
bool ft_dpdk_ring_size(struct ft_dpdk_address *address, uint64_t bytes);
