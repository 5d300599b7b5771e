#include "framing_parts.h"

#include "place_owners.h"

uint32_t ft_framing_tenant_of(const struct ft_map *map, const struct ft_nccl_place *place,
			      const struct ft_framing_tags *tags, uint64_t ts_ns)
{
	struct ft_check_key key;
	struct ft_verdict verdict;

	ft_framing_key(place, place->address, tags, &key);
	ft_check(map, &key, (int64_t)ts_ns, &verdict);
	return verdict.src.tenant;
}

/* All places are one tenant's, `*tenant` unless that is FT_NONE, and none was another's before. */
static bool are_of_one(struct ft_framing *framing, const struct ft_nccl_connection *row,
		       const struct ft_nccl_party *party, struct ft_place_owners *owners,
		       uint32_t *tenant)
{
	const struct ft_framing_tags tags = ft_framing_line_of(framing, row->connection)->tags;

	for (uint8_t i = 0; i < party->place_count; i++) {
		uint32_t owner = ft_framing_tenant_of(framing->map, &party->places[i], &tags,
						      row->first_ts_ns);

		if (owner == FT_NONE || (*tenant != FT_NONE && owner != *tenant) ||
		    !ft_place_owners_add(owners, &party->places[i], owner))
			return false;
		*tenant = owner;
	}
	return true;
}

bool ft_framing_may_mix_tenants(struct ft_framing *framing)
{
	struct ft_place_owners owners = { .seed = framing->marks.seed };
	const struct ft_nccl_connection *row;
	bool mixed = false;

	for (uint32_t id = 0;
	     !mixed && (row = ft_nccl_follower_connection(framing->follower, id)) != NULL; id++) {
		uint32_t tenant = FT_NONE;

		mixed = !are_of_one(framing, row, &row->sender, &owners, &tenant) ||
			!are_of_one(framing, row, &row->receiver, &owners, &tenant);
	}
	ft_place_owners_free(&owners);
	return mixed;
}
