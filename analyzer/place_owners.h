#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <nccl/model.h>

/* Whose each place is: addresses and LIDs, as connections of NCCL name them. All zero but for the seed: nobody's. */
struct ft_place_owners {
	struct ft_place_owner *at;
	size_t mask, count;
	uint64_t seed; /* of hashes */
};

/* False: the place is another tenant's already. A tenant is a number below FT_NONE. Ends the program without memory. */
bool ft_place_owners_add(struct ft_place_owners *owners, const struct ft_nccl_place *place,
			 uint32_t tenant);

void ft_place_owners_free(struct ft_place_owners *owners);
