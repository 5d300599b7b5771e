#include "congestion.h"

#include <errno.h>
#include <stdlib.h>

#include <flow/hash.h>

enum {
	/* at most half of them are used: further receivers are not remembered */
	RECEIVERS = 1 << 18,
};

struct ft_marked {
	uint64_t receiver; /* digest of who it is; 0: none */
	uint32_t tenant;
};

int ft_congestion_init(struct ft_congestion *congestion, uint32_t tenants, uint64_t seed)
{
	*congestion = (struct ft_congestion){
		.marked = calloc(RECEIVERS, sizeof *congestion->marked),
		.caused = calloc(tenants + 1, sizeof *congestion->caused),
		.tenants = tenants,
		.seed = seed,
	};
	return congestion->marked == NULL || congestion->caused == NULL ? -ENOMEM : 0;
}

void ft_congestion_free(struct ft_congestion *congestion)
{
	free(congestion->marked);
	free(congestion->caused);
}

int ft_congestion_grow(struct ft_congestion *congestion, uint32_t tenants)
{
	uint64_t *larger = reallocarray(congestion->caused, tenants + 1, sizeof *larger);

	if (larger == NULL)
		return -ENOMEM;
	congestion->caused = larger;
	for (; congestion->tenants < tenants; congestion->tenants++)
		larger[congestion->tenants] = 0;
	return 0;
}

static uint64_t digest_of(const struct ft_congestion *congestion, const struct ft_item *item,
			  const uint8_t address[16], uint32_t tenant)
{
	bool by_tenant = congestion->by_segment && item->flow_key.by_lid == 0;
	uint64_t realm = by_tenant ? tenant : item->flow_key.vni;

	return ft_hash(address, 16, ft_mix(realm, congestion->seed)) | 1;
}

/* The receiver's place, or the empty one where it belongs. */
static struct ft_marked *place_of(const struct ft_congestion *congestion, uint64_t receiver)
{
	uint32_t at = (uint32_t)(receiver >> 32) % RECEIVERS;

	while (congestion->marked[at].receiver != 0 && congestion->marked[at].receiver != receiver)
		at = (at + 1) % RECEIVERS;
	return &congestion->marked[at];
}

static void note_marked(struct ft_congestion *congestion, const struct ft_item *item)
{
	uint64_t receiver = digest_of(congestion, item, item->flow_key.dst, item->to);
	struct ft_marked *place = place_of(congestion, receiver);

	if (place->receiver == 0 && congestion->receivers == RECEIVERS / 2)
		return;
	congestion->receivers += place->receiver == 0;
	*place = (struct ft_marked){ .receiver = receiver, .tenant = item->from };
}

static void blame(struct ft_congestion *congestion, const struct ft_item *item)
{
	uint64_t receiver = digest_of(congestion, item, item->flow_key.src, item->from);
	const struct ft_marked *marked = place_of(congestion, receiver);
	uint32_t tenant = marked->receiver == receiver ? marked->tenant : item->to;

	if (tenant < congestion->tenants)
		congestion->caused[tenant]++;
}

void ft_congestion_see(struct ft_congestion *congestion, const struct ft_item *item)
{
	if ((item->observed.has & FT_OBSERVED_BTH) == 0)
		return;
	if (ft_is_notice(&item->observed))
		blame(congestion, item);
	if (ft_is_marked(&item->observed))
		note_marked(congestion, item);
}
