#pragma once

#include <stddef.h>
#include <stdint.h>

#include <nccl/model.h>

/*
 * Which connections announced a key of memory at an address: for writes by queue pairs that are nobody's. Several may
 * have announced the same, as connections of one process share buffers.
 */
struct ft_nccl_key {
	uint8_t address[16];
	uint32_t rkey;
	uint32_t connection;
};

struct ft_nccl_keys {
	struct ft_nccl_key *keys; /* connection FT_NCCL_NONE: free */
	size_t slots, used;
	uint64_t seed;
};

void ft_nccl_keys_free(struct ft_nccl_keys *keys);

/* 0 or -ENOMEM. */
int ft_nccl_keys_put(struct ft_nccl_keys *keys, const struct ft_nccl_key *key);
void ft_nccl_keys_remove(struct ft_nccl_keys *keys, const struct ft_nccl_key *key);

/* The connections, one per call; begin with *at = SIZE_MAX. FT_NCCL_NONE: no more. */
uint32_t ft_nccl_keys_next(const struct ft_nccl_keys *keys, const uint8_t address[16],
			   uint32_t rkey, size_t *at);
