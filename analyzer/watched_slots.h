#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <flow/observed.h>

/*
 * The newest write of half-connections that began of late, by a worker: two that lie as clear-to-sends in the slots of a FIFO
 * show NCCL where these cannot be read, because payload is encrypted, or a build of NCCL has a layout of its own. Nothing else
 * is asked of them: what is NCCL is for its follower to say.
 */
enum { FT_WATCHED_SLOTS = 1024 }; /* half-connections that may begin at once */

struct ft_watched_slots {
	struct {
		uint64_t va;
		uint32_t number; /* of the half-connection's record; 0: none */
		uint32_t psn, rkey;
	} newest[FT_WATCHED_SLOTS];
};

/*
 * A write of the half-connection with this record, as long as a clear-to-send. Whether the one before it went to another slot
 * of the same FIFO, as far from it as their PSNs say.
 */
bool ft_watched_slots_see(struct ft_watched_slots *slots, uint32_t number,
			  const struct ft_observed *observed);
