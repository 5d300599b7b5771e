#include "place_owners.h"

#include <stdlib.h>
#include <string.h>

#include <engine/no_memory.h>
#include <flow/hash.h>
#include <partition/map.h>

enum { ROOM_LEAST = 64 /* a power of two */ };

struct ft_place_owner {
	uint8_t address[16];
	uint32_t tenant; /* FT_NONE: nobody is here */
	bool by_lid;
};

static bool is_at(const struct ft_place_owner *owner, const uint8_t address[16], bool by_lid)
{
	return owner->by_lid == by_lid &&
	       memcmp(owner->address, address, sizeof owner->address) == 0;
}

/* Where the place is, or belongs. */
static struct ft_place_owner *find(const struct ft_place_owners *owners, const uint8_t address[16],
				   bool by_lid)
{
	size_t at = ft_hash(address, sizeof owners->at->address, owners->seed) & owners->mask;

	while (owners->at[at].tenant != FT_NONE && !is_at(&owners->at[at], address, by_lid))
		at = (at + 1) & owners->mask;
	return &owners->at[at];
}

/* For one more: at most half of the room is taken. */
static void make_room(struct ft_place_owners *owners)
{
	const struct ft_place_owners before = *owners;
	size_t had = before.at == NULL ? 0 : before.mask + 1;
	size_t room = had == 0 ? ROOM_LEAST : 2 * had;

	if (2 * (before.count + 1) <= had)
		return;
	owners->at = reallocarray(NULL, room, sizeof *owners->at);
	if (owners->at == NULL)
		ft_no_memory();
	owners->mask = room - 1;
	for (size_t i = 0; i < room; i++)
		owners->at[i].tenant = FT_NONE;
	for (size_t i = 0; i < had; i++)
		if (before.at[i].tenant != FT_NONE)
			*find(owners, before.at[i].address, before.at[i].by_lid) = before.at[i];
	free(before.at);
}

bool ft_place_owners_add(struct ft_place_owners *owners, const struct ft_nccl_place *place,
			 uint32_t tenant)
{
	struct ft_place_owner *owner;

	make_room(owners);
	owner = find(owners, place->address, place->by_lid);
	if (owner->tenant != FT_NONE)
		return owner->tenant == tenant;
	*owner = (struct ft_place_owner){ .tenant = tenant, .by_lid = place->by_lid };
	memcpy(owner->address, place->address, sizeof owner->address);
	owners->count++;
	return true;
}

void ft_place_owners_free(struct ft_place_owners *owners)
{
	free(owners->at);
	*owners = (struct ft_place_owners){ .seed = owners->seed };
}
