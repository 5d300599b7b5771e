#include "followed.h"
#include "rota.h"

static inline struct ft_nccl_straight *straight_of(const struct ft_nccl_way *way,
						   const struct ft_nccl_hint *hint)
{
	return &way->straights[hint->at];
}

struct ft_nccl_way ft_nccl_connections_way(struct ft_nccl_connections *connections)
{
	return (struct ft_nccl_way){ connections, connections->straights, connections->hints };
}

void ft_nccl_prefetch(const struct ft_nccl_way *way, uint32_t number)
{
	const struct ft_nccl_hint *hint = &way->hints[number % FT_NCCL_HINTS];

	if (way->straights != NULL)
		ft_nccl_straight_prefetch(straight_of(way, hint), hint->kind, hint->place,
					  (uintptr_t)way->straights +
						  (uintptr_t)hint->ahead * FT_NCCL_HINT_UNIT);
}

void ft_nccl_prefetch_early(const struct ft_nccl_way *way, uint32_t number)
{
	__builtin_prefetch(&way->hints[number % FT_NCCL_HINTS], 1);
}

/* Whose it is, if it goes straight; the hint will do next time. */
static struct ft_nccl_straight *look_up(const struct ft_nccl_connections *connections,
					const struct ft_flow_key *key, uint16_t vlan,
					struct ft_nccl_hint *hint)
{
	const struct ft_nccl_end *end = ft_nccl_ends_glimpse(&connections->ends, key, vlan);
	struct ft_nccl_straight *straight;
	uint32_t place;

	if (end == NULL || end->any_vni || end->lane >= FT_NCCL_STRAIGHT_LANES)
		return NULL;
	straight = &connections->straights[end->connection];
	place = ft_nccl_straight_place(end->lane, end->role);
	if (!straight->is_on || !ft_nccl_straight_has(straight, place, key))
		return NULL;
	hint->at = end->connection % FT_NCCL_HINT_CONNECTIONS;
	hint->place = place % FT_NCCL_STRAIGHT_PLACES;
	return straight;
}

/* Flows have LIDs as numbers of the host, ends as they are on the wire. */
static const struct ft_flow_key *as_ends_have_it(const struct ft_flow_key *key,
						 struct ft_flow_key *turned)
{
	if (!key->by_lid)
		return key;
	*turned = *key;
	ft_nccl_put_lid(turned->src, ft_flow_lid(key->src));
	ft_nccl_put_lid(turned->dst, ft_flow_lid(key->dst));
	return turned;
}

/* Stays the same as long as the number stands for one half-connection, and the connection goes straight. */
static inline uint64_t sure_of(uint32_t turns, const struct ft_nccl_glimpse *glimpse)
{
	return (uint64_t)glimpse->number << 32 | (turns + glimpse->since);
}

/* Its place is where the last packet of its number went, though that was not sure; or it is looked up. */
static struct ft_nccl_straight *find(const struct ft_nccl_way *way,
				     const struct ft_nccl_glimpse *glimpse,
				     struct ft_nccl_hint *hint)
{
	const struct ft_observed *observed = glimpse->observed;
	struct ft_nccl_straight *straight = straight_of(way, hint);
	struct ft_flow_key turned;
	const struct ft_flow_key *key = as_ends_have_it(glimpse->key, &turned);

	hint->sure = 0;
	if ((observed->pkey & 0x7fff) == 0)
		return NULL;
	straight = straight->is_on && ft_nccl_straight_has(straight, hint->place, key)
			   ? straight
			   : look_up(way->connections, key, observed->vlan, hint);
	if (straight == NULL || observed->frame >> 32 != straight->frames)
		return NULL;
	hint->kind = ft_nccl_straight_kind(straight, hint->place) % 4u;
	if (glimpse->since != 0)
		hint->sure = sure_of(straight->turns, glimpse);
	return straight;
}

static inline struct ft_nccl_hint *hint_of(const struct ft_nccl_way *way,
					   const struct ft_nccl_glimpse *glimpse)
{
	return &way->hints[glimpse->number % FT_NCCL_HINTS];
}

/* Taken, if this is not 0: and where the next message is likely to be, if that is near enough. */
static inline bool look_ahead(const struct ft_nccl_way *way, struct ft_nccl_hint *hint,
			      uintptr_t ahead)
{
	intptr_t units = ((intptr_t)ahead - (intptr_t)way->straights) / FT_NCCL_HINT_UNIT;

	if (ahead == 0)
		return false;
	hint->ahead = (int32_t)units == units ? (int32_t)units : 0;
	return true;
}

bool ft_nccl_glance(const struct ft_nccl_way *way, const struct ft_nccl_glimpse *glimpse)
{
	struct ft_nccl_straight *straight;
	struct ft_nccl_hint *hint;

	if (way->straights == NULL)
		return false;
	hint = hint_of(way, glimpse);
	straight = find(way, glimpse, hint);
	return straight != NULL &&
	       look_ahead(way, hint, ft_nccl_straight_take(straight, hint->place, glimpse));
}

/* Data of a rota asks for the line of its lane alone. */
static inline bool take_of_rota(const struct ft_nccl_way *way, struct ft_nccl_hint *hint,
				struct ft_nccl_straight *straight,
				const struct ft_nccl_glimpse *glimpse)
{
	struct ft_nccl_straight_lane *lane = &straight->lanes[ft_nccl_straight_lane(hint->place)];

	return hint->sure == sure_of(lane->turns, glimpse) &&
	       look_ahead(way, hint, ft_nccl_rota_take_data(straight, lane, glimpse));
}

/* All that leads to what a packet's operation does is in here: calls on the way took a tenth of its instructions. */
__attribute__((flatten)) bool ft_nccl_glance_again(const struct ft_nccl_way *way,
						   const struct ft_nccl_glimpse *glimpse)
{
	struct ft_nccl_hint *hint = hint_of(way, glimpse);
	struct ft_nccl_straight *straight = straight_of(way, hint);

	if (hint->kind == FT_NCCL_STRAIGHT_OF_ROTA)
		return take_of_rota(way, hint, straight, glimpse);
	return hint->sure == sure_of(straight->turns, glimpse) &&
	       look_ahead(way, hint, ft_nccl_straight_take(straight, hint->place, glimpse));
}
