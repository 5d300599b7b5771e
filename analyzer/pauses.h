#pragma once

#include <decode/packet.h>
#include <partition/map.h>

/*
 * How long pause frames told the other end of a link to be silent (IEEE 802.3 annex 31B, and 31D for
 * priorities): quanta of 512 bit times from the frame on, until it runs out, a newer frame says otherwise or,
 * with no quanta, ends it. Each priority has a pause of its own, of which only frames that enable it speak; time in
 * which any is in force counts once. Held against the tenant whose adapter sent the frame, at that time: it could not take what
 * came.
 * Needs the speed of the link.
 */
struct ft_pauses {
	const struct ft_map *map;
	struct ft_pause *senders;
	uint64_t *tenant_ns; /* by tenant, of pauses that are over */
	uint32_t tenants;
	double quantum_ns; /* 0: the speed is not known */
};

/* `link_gbps` 0: not known, nothing is counted. 0 or -ENOMEM. */
int ft_pauses_init(struct ft_pauses *pauses, const struct ft_map *map, double link_gbps);
void ft_pauses_free(struct ft_pauses *pauses);

/* From now on tenants are looked up here; there are no fewer than before. 0; or -ENOMEM and all as before. */
int ft_pauses_change_map(struct ft_pauses *pauses, const struct ft_map *map);

/* A frame with FT_HAS_MACCTRL, in capture order. */
void ft_pauses_see(struct ft_pauses *pauses, const struct ft_packet *packet, uint64_t ts_ns);

/* Time so far in which the tenant held others up; UINT64_MAX: not known. */
uint64_t ft_pauses_ns(const struct ft_pauses *pauses, uint32_t tenant);
