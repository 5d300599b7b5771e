#pragma once

#include "item.h"

/*
 * Who brought about a notice: a CNP or, on InfiniBand, BECN on any packet. It tells a sender that packets to a receiver met
 * congestion; the queue was filled by whoever else sent there, too. The tenant whose packet to that receiver was the last one
 * marked (ECN CE) before the notice left it is held to have caused it; if none was seen, the one that is told.
 * Two tenants may use the same address: receivers are told apart by their tenants where segments isolate (a route leads from
 * one VLAN or VNI to another), else by their VNI (in partitions a service is of whichever tenant it talks to).
 */
struct ft_congestion {
	struct ft_marked *marked; /* a set of receivers, open addressing */
	uint32_t receivers;       /* in it */
	uint32_t tenants;
	uint64_t *caused; /* by tenant */
	uint64_t seed;    /* changes no result */
	bool by_segment;  /* the map has segments: as said above; the caller sets it */
};

/* 0 or -ENOMEM. */
int ft_congestion_init(struct ft_congestion *congestion, uint32_t tenants, uint64_t seed);
void ft_congestion_free(struct ft_congestion *congestion);

/* From now on there are so many tenants, no fewer than before. 0 or -ENOMEM. */
int ft_congestion_grow(struct ft_congestion *congestion, uint32_t tenants);

/* A marked packet, or a notice: what ft_congestion_see() has to be shown, in order. */
static inline bool ft_tells_of_congestion(const struct ft_item *item)
{
	return item->has_flow && (ft_is_notice(&item->observed) || ft_is_marked(&item->observed));
}
void ft_congestion_see(struct ft_congestion *congestion, const struct ft_item *item);
