#pragma once

#include "group_apart_parts.h"

/*
 * What comes in at a site of this ring over the one connection may be sent on over the other, as far as operations of both show: a
 * message is on its way only once what it passes on has come in. One rank sends nothing on: nothing speaks against it.
 */
bool ft_nccl_may_wait_for(const struct ft_nccl_apart_finder *finder,
			  const struct ft_nccl_cluster *ring, uint32_t before, uint32_t behind);
