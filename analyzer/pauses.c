#include "pauses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <capture/frame.h>
#include <partition/check.h>

enum {
	SENDERS = 1024, /* adapters and switch ports; further ones are not counted */
	OPCODE_PAUSE = 0x0001,
	OPCODE_PFC = 0x0101,
	QUANTUM_BITS = 512,
	PRIORITIES = 8,
};

struct ft_pause {
	uint8_t mac[6];
	bool used;
	uint32_t tenant;          /* FT_NONE: none; by this map, from .. up to .. */
	const struct ft_map *map; /* NULL: not asked yet */
	int64_t since_ns, before_ns;
	uint64_t from_ns;              /* of its newest frame: time before that is counted */
	uint64_t until_ns[PRIORITIES]; /* of the pauses in force then; no later than that: none */
};

int ft_pauses_init(struct ft_pauses *pauses, const struct ft_map *map, double link_gbps)
{
	*pauses = (struct ft_pauses){
		.map = map,
		.tenants = (uint32_t)ft_map_declared(map)->tenant_count,
		.quantum_ns = link_gbps > 0 ? QUANTUM_BITS / link_gbps : 0,
	};
	pauses->senders = calloc(SENDERS, sizeof *pauses->senders);
	pauses->tenant_ns = calloc(pauses->tenants + 1, sizeof *pauses->tenant_ns);
	return pauses->senders == NULL || pauses->tenant_ns == NULL ? -ENOMEM : 0;
}

void ft_pauses_free(struct ft_pauses *pauses)
{
	free(pauses->senders);
	free(pauses->tenant_ns);
}

int ft_pauses_change_map(struct ft_pauses *pauses, const struct ft_map *map)
{
	uint32_t tenants = (uint32_t)ft_map_declared(map)->tenant_count;
	uint64_t *larger = reallocarray(pauses->tenant_ns, tenants + 1, sizeof *larger);

	if (larger == NULL)
		return -ENOMEM;
	pauses->tenant_ns = larger;
	for (; pauses->tenants < tenants; pauses->tenants++)
		larger[pauses->tenants] = 0;
	pauses->map = map;
	return 0;
}

/*
 * A pause frame has a MAC address and no other: the map may know its tenant, or the port's, which
 * then tells by the port's address.
 */
static uint32_t tenant_of(const struct ft_pauses *pauses, const uint8_t mac[6], uint64_t ts_ns)
{
	const struct ft_declared *declared = ft_map_declared(pauses->map);
	struct ft_check_key key = { .qp_kind = 2,
				    .has_macs = 1,
				    .known = FT_NEED_ADDRESSES | FT_NEED_TAGS };
	const struct ft_port *port;
	struct ft_verdict verdict;

	memcpy(key.smac, mac, sizeof key.smac);
	ft_check(pauses->map, &key, (int64_t)ts_ns, &verdict);
	if (verdict.src.tenant != FT_NONE || verdict.src.endpoint >= declared->port_count)
		return verdict.src.tenant;
	port = &declared->ports[verdict.src.endpoint];
	if (!port->has_ip && !port->has_gid)
		return FT_NONE;
	key.has_gids = 1;
	memcpy(key.src, port->has_ip ? port->ip.address : port->gid.address, sizeof key.src);
	ft_check(pauses->map, &key, (int64_t)ts_ns, &verdict);
	return verdict.src.tenant;
}

/* Ports change hands, by the map's intervals and with another map. */
static void ask_whose(const struct ft_pauses *pauses, struct ft_pause *sender, uint64_t ts_ns)
{
	int64_t now_ns = (int64_t)ts_ns;

	if (sender->map == pauses->map && now_ns >= sender->since_ns && now_ns < sender->before_ns)
		return;
	ft_map_epoch(pauses->map, now_ns, &sender->since_ns, &sender->before_ns);
	sender->map = pauses->map;
	sender->tenant = tenant_of(pauses, sender->mac, ts_ns);
}

static struct ft_pause *sender_of(struct ft_pauses *pauses, const uint8_t mac[6])
{
	for (unsigned i = 0; i < SENDERS; i++) {
		struct ft_pause *sender = &pauses->senders[i];

		if (sender->used && memcmp(sender->mac, mac, sizeof sender->mac) == 0)
			return sender;
		if (sender->used)
			continue;
		sender->used = true;
		sender->tenant = FT_NONE;
		memcpy(sender->mac, mac, sizeof sender->mac);
		return sender;
	}
	return NULL;
}

/* How long the longest pause in force lasted, if it ends now at the latest. */
static uint64_t lasted(const struct ft_pause *sender, uint64_t now_ns)
{
	uint64_t until_ns = sender->from_ns;

	for (unsigned i = 0; i < PRIORITIES; i++)
		if (sender->until_ns[i] > until_ns)
			until_ns = sender->until_ns[i];
	if (now_ns < until_ns)
		until_ns = now_ns;
	return until_ns > sender->from_ns ? until_ns - sender->from_ns : 0;
}

/* A PFC frame says nothing of the priorities that it does not enable: their pauses go on. */
static void hold(const struct ft_pauses *pauses, struct ft_pause *sender,
		 const struct ft_packet *packet, uint64_t ts_ns)
{
	bool by_priority = packet->macctrl.opcode == OPCODE_PFC;

	for (unsigned i = 0; i < PRIORITIES; i++) {
		unsigned at = by_priority ? i : 0;

		if (at >= packet->macctrl.quanta_count ||
		    (by_priority && (packet->macctrl.enable >> i & 1) == 0))
			continue;
		sender->until_ns[i] =
			ts_ns + (uint64_t)(packet->macctrl.quanta[at] * pauses->quantum_ns);
	}
}

void ft_pauses_see(struct ft_pauses *pauses, const struct ft_packet *packet, uint64_t ts_ns)
{
	bool pause = packet->macctrl.opcode == OPCODE_PAUSE || packet->macctrl.opcode == OPCODE_PFC;
	struct ft_pause *sender;

	if (pauses->quantum_ns == 0 || !pause || ts_ns == FT_TS_UNKNOWN)
		return;
	sender = sender_of(pauses, packet->smac);
	if (sender == NULL)
		return;
	if (sender->tenant < pauses->tenants)
		pauses->tenant_ns[sender->tenant] += lasted(sender, ts_ns);
	if (ts_ns > sender->from_ns)
		sender->from_ns = ts_ns;
	ask_whose(pauses, sender, ts_ns);
	hold(pauses, sender, packet, ts_ns);
}

uint64_t ft_pauses_ns(const struct ft_pauses *pauses, uint32_t tenant)
{
	uint64_t sum = pauses->tenant_ns[tenant];

	if (pauses->quantum_ns == 0)
		return UINT64_MAX;
	for (unsigned i = 0; i < SENDERS && pauses->senders[i].used; i++)
		if (pauses->senders[i].tenant == tenant)
			sum += lasted(&pauses->senders[i], UINT64_MAX);
	return sum;
}
