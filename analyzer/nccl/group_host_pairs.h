#pragma once

#include "group_host_channels.h"

/*
 * Between two hosts, which are next to each other in both trees: connections whose messages are answered on another one,
 * always the same way round, and that take a tree's steps. Those that answer soonest are of one channel. 0 or -ENOMEM.
 */
int ft_nccl_host_pairs_take(struct ft_nccl_host_channels *channels);
