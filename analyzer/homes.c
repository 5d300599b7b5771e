#include "homes.h"

#include <errno.h>
#include <stdlib.h>

#include <decode/big_endian.h>
#include <flow/hash.h>

#include "observe_digest.h"

enum {
	WAYS = 2, /* in a bucket */
	LINE = 64,
	HOMES_LEAST = 1 << 8,
	HOMES_MOST = 1 << 15, /* 1 MiB: where more ends come and go it only has to cost little */
	HOMES_PER_PORT = 8,   /* so that hardly ever three ends share a bucket */
	PKEY_FULL = 0x8000,
	IN_OVERLAY = 0x8000, /* beside a VLAN */
};
static_assert(WAYS * sizeof(struct ft_home) == LINE, "one line to look into");

#define NO_EPOCH UINT32_MAX

int ft_homes_init(struct ft_homes *homes, const struct ft_map *map, uint64_t seed)
{
	const struct ft_declared *declared = ft_map_declared(map);
	uint32_t room = HOMES_LEAST;

	while (room < HOMES_MOST && room < HOMES_PER_PORT * declared->port_count)
		room *= 2;
	*homes = (struct ft_homes){
		.homes = aligned_alloc(LINE, room * sizeof *homes->homes),
		.seed = seed,
		.mask = room / WAYS - 1,
		.by_segment = declared->segment_count != 0,
	};
	if (homes->homes == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < room; i++)
		homes->homes[i] = (struct ft_home){ .epoch = NO_EPOCH };
	return 0;
}

void ft_homes_free(struct ft_homes *homes)
{
	free(homes->homes);
}

static bool is_in_overlay(const struct ft_item *item)
{
	return item->flow_key.vni != FT_FLOW_NO_VNI;
}

/*
 * Two limited members may not talk, so of what they send neither end says enough by itself. LIDs are not told from addresses
 * here; and beside IPv6 addresses there is no room for a VNI, which only segments ask for.
 */
static bool is_told_by_ends(const struct ft_homes *homes, const struct ft_item *item)
{
	uint16_t pkey = item->observed.pkey;

	if (item->flow_key.by_lid != 0)
		return false;
	if (!homes->by_segment)
		return (pkey & PKEY_FULL) != 0;
	return (pkey & ~PKEY_FULL) == FT_PKEY_DEFAULT &&
	       (!is_in_overlay(item) || (item->observed.has & FT_OBSERVED_IPV4) != 0);
}

static struct ft_home_end end_of(const struct ft_homes *homes, const struct ft_item *item,
				 bool source)
{
	const struct ft_observed *observed = &item->observed;
	const uint8_t *address = source ? item->flow_key.src : item->flow_key.dst;
	const uint8_t *mac = source ? observed->smac : observed->dmac;
	uint64_t tags = homes->by_segment ? observed->vlan : observed->pkey;
	uint64_t prefix = ft_load64(address);

	if (homes->by_segment && is_in_overlay(item)) {
		tags |= IN_OVERLAY;
		prefix = item->flow_key.vni;
	}
	return (struct ft_home_end){
		.prefix = prefix,
		.interface = ft_load64(address + sizeof(uint64_t)),
		.mac_and_tags = tags << 48 | (uint64_t)ft_be16(mac + 4) << 32 | ft_load32(mac),
	};
}

static struct ft_home *bucket_of(const struct ft_homes *homes, const struct ft_home_end *end)
{
	uint64_t hash = ft_mix(end->prefix ^ homes->seed, end->interface ^ 0xa0761d6478bd642fu);

	hash = ft_mix(hash ^ end->mac_and_tags, homes->seed ^ 0xe7037ed1a0b428dbu);
	return &homes->homes[(hash & homes->mask) * WAYS];
}

static bool is_of(const struct ft_home *home, const struct ft_home_end *end, uint32_t epoch)
{
	return home->end.prefix == end->prefix && home->end.interface == end->interface &&
	       home->end.mac_and_tags == end->mac_and_tags && home->epoch == epoch;
}

static const struct ft_home *find(const struct ft_homes *homes, const struct ft_item *item,
				  bool source, uint32_t epoch)
{
	const struct ft_home_end end = end_of(homes, item, source);
	const struct ft_home *bucket = bucket_of(homes, &end);

	for (unsigned i = 0; i < WAYS; i++)
		if (is_of(&bucket[i], &end, epoch))
			return &bucket[i];
	return NULL;
}

void ft_homes_prefetch(const struct ft_homes *homes, const struct ft_item *item)
{
	const struct ft_home_end src = end_of(homes, item, true), dst = end_of(homes, item, false);

	__builtin_prefetch(bucket_of(homes, &src));
	__builtin_prefetch(bucket_of(homes, &dst));
}

uint32_t ft_homes_find(const struct ft_homes *homes, const struct ft_item *item, uint32_t epoch)
{
	const struct ft_home *src, *dst;

	if (!is_told_by_ends(homes, item))
		return FT_NONE;
	src = find(homes, item, true, epoch);
	dst = find(homes, item, false, epoch);
	if (src == NULL || dst == NULL || !src->sends || src->cell != dst->cell)
		return FT_NONE;
	return src->cell;
}

static void learn(struct ft_homes *homes, const struct ft_item *item, bool source,
		  struct ft_home known)
{
	struct ft_home *bucket, *home;

	known.end = end_of(homes, item, source);
	bucket = bucket_of(homes, &known.end);
	home = is_of(&bucket[0], &known.end, known.epoch) ? &bucket[0] : &bucket[1];
	known.sends = source || (is_of(home, &known.end, known.epoch) && home->sends);
	*home = bucket[0];
	bucket[0] = known;
}

void ft_homes_learn(struct ft_homes *homes, const struct ft_item *item, uint32_t epoch,
		    uint32_t cell)
{
	const struct ft_home known = { .epoch = epoch, .cell = cell & INT32_MAX };

	if (!is_told_by_ends(homes, item))
		return;
	learn(homes, item, true, known);
	learn(homes, item, false, known);
}
