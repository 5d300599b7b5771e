#include "followed.h"
#include "rota.h"

static inline uint8_t *first_of(const struct ft_nccl_way *way, const struct ft_nccl_hint *hint)
{
	static_assert(FT_NCCL_STRAIGHT_LINE == 1 << (32 - FT_NCCL_HINT_LINE_BITS),
		      "what is above the line falls out");
	uint32_t bytes = hint->where << (32 - FT_NCCL_HINT_LINE_BITS);

	return (uint8_t *)way->straights + bytes;
}

static inline uint32_t reach_of(const struct ft_nccl_hint *hint)
{
	return hint->where >> FT_NCCL_HINT_LINE_BITS;
}

static inline uint32_t place_of(const struct ft_nccl_hint *hint)
{
	return reach_of(hint) % FT_NCCL_STRAIGHT_PLACES;
}

static inline enum ft_nccl_straight_kind kind_of(const struct ft_nccl_hint *hint)
{
	return reach_of(hint) / FT_NCCL_STRAIGHT_PLACES;
}

static inline struct ft_nccl_straight *straight_of(const struct ft_nccl_way *way,
						   const struct ft_nccl_hint *hint)
{
	size_t first_at = ft_nccl_straight_first_at(kind_of(hint), place_of(hint));

	return (struct ft_nccl_straight *)(void *)(first_of(way, hint) - first_at);
}

/* Packets go to this place of it from now on. */
static void point_to(const struct ft_nccl_way *way, struct ft_nccl_hint *hint,
		     const struct ft_nccl_straight *straight, uint32_t place)
{
	enum ft_nccl_straight_kind kind = ft_nccl_straight_kind(straight, place);
	size_t first = (size_t)((const uint8_t *)straight - (const uint8_t *)way->straights) +
		       ft_nccl_straight_first_at(kind, place);

	hint->where = (uint32_t)(first / FT_NCCL_STRAIGHT_LINE) |
		      ft_nccl_straight_reach_of(kind, place) << FT_NCCL_HINT_LINE_BITS;
}

struct ft_nccl_way ft_nccl_connections_way(struct ft_nccl_connections *connections)
{
	return (struct ft_nccl_way){ connections, connections->straights, connections->hints };
}

void ft_nccl_prefetch(const struct ft_nccl_way *way, uint32_t number)
{
	const struct ft_nccl_hint *hint = &way->hints[number % FT_NCCL_HINTS];

	if (way->straights != NULL)
		ft_nccl_straight_prefetch(first_of(way, hint),
					  &ft_nccl_straight_reaches[reach_of(hint)],
					  (const uint8_t *)way->straights +
						  (ptrdiff_t)hint->ahead * FT_NCCL_HINT_UNIT);
}

void ft_nccl_prefetch_early(const struct ft_nccl_way *way, uint32_t number)
{
	__builtin_prefetch(&way->hints[number % FT_NCCL_HINTS]);
}

void ft_nccl_prefetch_first(const struct ft_nccl_way *way, uint32_t number)
{
	__builtin_prefetch(first_of(way, &way->hints[number % FT_NCCL_HINTS]), 1);
}

/* Whose it is, and where of it, if it goes straight. */
static struct ft_nccl_straight *look_up(const struct ft_nccl_connections *connections,
					const struct ft_flow_key *key, uint16_t vlan,
					uint32_t *place)
{
	const struct ft_nccl_end *end = ft_nccl_ends_glimpse(&connections->ends, key, vlan);
	struct ft_nccl_straight *straight;

	if (end == NULL || end->any_vni || end->lane >= FT_NCCL_STRAIGHT_LANES)
		return NULL;
	straight = &connections->straights[end->connection];
	*place = ft_nccl_straight_place(end->lane, end->role);
	return straight->is_on && ft_nccl_straight_has(straight, *place, key) ? straight : NULL;
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
	uint32_t place = place_of(hint);
	struct ft_flow_key turned;
	const struct ft_flow_key *key = as_ends_have_it(glimpse->key, &turned);

	hint->sure = 0;
	if ((observed->pkey & 0x7fff) == 0)
		return NULL;
	straight = straight->is_on && ft_nccl_straight_has(straight, place, key)
			   ? straight
			   : look_up(way->connections, key, observed->vlan, &place);
	if (straight == NULL || observed->frame >> 32 != straight->frames)
		return NULL;
	point_to(way, hint, straight, place);
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

	if (ahead <= FT_NCCL_STRAIGHT_STAYS)
		return ahead != 0;
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
	       look_ahead(way, hint, ft_nccl_straight_take(straight, place_of(hint), glimpse));
}

/* Data of a rota asks for the line of its lane alone; its messages are near enough. */
static inline bool take_of_rota(const struct ft_nccl_way *way, struct ft_nccl_hint *hint,
				const struct ft_nccl_glimpse *glimpse)
{
	struct ft_nccl_straight_lane *lane =
		(struct ft_nccl_straight_lane *)(void *)first_of(way, hint);
	uintptr_t ahead;

	if (hint->sure != sure_of(lane->turns, glimpse))
		return false;
	ahead = ft_nccl_rota_take_data(lane, glimpse);
	if (ahead == 0)
		return false;
	hint->ahead = (int32_t)((ahead - (uintptr_t)way->straights) / FT_NCCL_HINT_UNIT);
	return true;
}

/* All that leads to what a packet's operation does is in here: calls on the way took a tenth of its instructions. */
__attribute__((flatten)) bool ft_nccl_glance_again(const struct ft_nccl_way *way,
						   const struct ft_nccl_glimpse *glimpse)
{
	struct ft_nccl_hint *hint = hint_of(way, glimpse);
	struct ft_nccl_straight *straight;

	if (kind_of(hint) == FT_NCCL_STRAIGHT_OF_ROTA)
		return take_of_rota(way, hint, glimpse);
	straight = (struct ft_nccl_straight *)(void *)first_of(way, hint);
	return hint->sure == sure_of(straight->turns, glimpse) &&
	       look_ahead(way, hint, ft_nccl_straight_take(straight, place_of(hint), glimpse));
}
