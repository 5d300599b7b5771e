#pragma once

#include "dpdk.h"

/* Frames that cannot be handed out where they lie, because they are in pieces or a tag was taken out of them. */

int ft_dpdk_joined_open(struct ft_dpdk_joined *joined, unsigned keep); /* 0, -ENOMEM */
void ft_dpdk_joined_close(struct ft_dpdk_joined *joined);

/*
 * Make the frame whole: its tag back where it was, its pieces one after the other. Sets bytes and lengths of
 * *frame; `snap` bytes of it are kept. False if there is no room: the frames of earlier calls have it all.
 */
bool ft_dpdk_joined_add(struct ft_dpdk_joined *joined, struct ft_frame *frame,
			struct rte_mbuf *buffer, uint32_t snap);
