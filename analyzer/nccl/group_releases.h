#pragma once

#include <nccl/model.h>

/*
 * Jobs of different releases are different jobs, as NCCL refuses to join them: connections whose ranges of releases have
 * nothing in common get different networks, though those of nets[] are the same. nets[i] is that of connections[i]. One
 * release is left as it was, and so are connections of which none is known. 0 or -ENOMEM.
 */
int ft_nccl_releases_part(uint32_t *nets, struct ft_nccl_connection *const *connections,
			  size_t count);
