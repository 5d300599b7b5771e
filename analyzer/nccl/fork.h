#pragma once

#include "followed.h"

/*
 * Builds of NCCL whose FIFO has other slots than the release has that their set-up shows: another size of slots from the first
 * clear-to-sends on, or fewer slots where it wraps. One clear-to-send at another place than its slot may be forged; two in a row,
 * with no other one between, that are both where another FIFO has theirs, are not.
 */
struct ft_nccl_fork {
	/* the other FIFO: bytes of a slot, or how many there are; 0: as the set-up's release has it */
	uint16_t slot_bytes, slots;
	uint64_t k; /* of the first of the two */
	uint8_t lane;
	struct ft_nccl_seen seen; /* its payload is the one here */
	uint8_t payload[FT_NCCL_REQUESTS_MAX * 64 /* bytes of an entry */];
};

/*
 * The clear-to-send of message k, which can be read, is not in its slot. True: it is the second in a row, the connection has other
 * slots from now on, and the first one is to be seen with ft_nccl_fork_see_first().
 */
bool ft_nccl_fork_see(const struct ft_nccl_moment *moment, enum ft_nccl_family family, uint64_t k);

/* What the first of the two asked for: it passed in its turn. */
void ft_nccl_fork_see_first(const struct ft_nccl_moment *moment);

/* Nothing is kept any more. */
void ft_nccl_fork_drop(struct ft_nccl_followed *followed);
