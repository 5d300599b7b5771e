#pragma once

#include <flow/table.h>

/* Address pairs between which NCCL was seen, by a worker: all that is written between them concerns its follower. */
struct ft_watched_pairs {
	uint64_t *hashes; /* `room` of them, a power of two; 0: free */
	uint32_t count, room;
	uint64_t seed;
};

void ft_watched_pairs_free(struct ft_watched_pairs *pairs);

/* The addresses of a half-connection, in either direction. Without memory, and beyond so many, the pair stays unknown. */
enum { FT_WATCHED_PAIRS = 1 << 15 };
void ft_watched_pairs_add(struct ft_watched_pairs *pairs, const struct ft_flow_key *key);
bool ft_watched_pairs_have(const struct ft_watched_pairs *pairs, const struct ft_flow_key *key);
