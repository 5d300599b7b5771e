#include "subject.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <flow/hash.h>

static const uint8_t ipv4_prefix[12] = { [10] = 0xff, [11] = 0xff };
static const uint8_t link_local[8] = { 0xfe, 0x80 };

void ft_address_text(const uint8_t address[16], char text[FT_END_TEXT])
{
	if (memcmp(address, ipv4_prefix, sizeof ipv4_prefix) == 0)
		inet_ntop(AF_INET, address + 12, text, FT_END_TEXT);
	else
		inet_ntop(AF_INET6, address, text, FT_END_TEXT);
}

void ft_end_text(const uint8_t address[16], bool by_lid, char text[FT_END_TEXT])
{
	if (by_lid)
		snprintf(text, FT_END_TEXT, "lid:%u", (unsigned)ft_flow_lid(address));
	else
		ft_address_text(address, text);
}

/* A GID from beyond a router: its LID is the router's, so the GID names the end. */
static bool is_remote(const struct ft_map *map, const uint8_t gid[16])
{
	const struct ft_declared *declared = map == NULL ? NULL : ft_map_declared(map);
	uint8_t own[8];

	if (declared == NULL || !declared->has_subnet_prefix ||
	    memcmp(gid, link_local, sizeof link_local) == 0)
		return false;
	for (int i = 0; i < 8; i++)
		own[i] = (uint8_t)(declared->subnet_prefix >> (56 - 8 * i));
	return memcmp(gid, own, sizeof own) != 0;
}

static void end_of(const struct ft_map *map, const struct ft_check_key *key, bool source,
		   struct ft_subject_end *end)
{
	const uint8_t *address = source ? key->src : key->dst;
	const uint8_t *mac = source ? key->smac : key->dmac;

	if ((key->known & FT_NEED_ADDRESSES) == 0 && !key->has_gids && !key->has_macs)
		snprintf(end->address, sizeof end->address, "unknown");
	else if (key->native && !(key->has_gids && is_remote(map, address)))
		snprintf(end->address, sizeof end->address, "lid:%u",
			 (unsigned)(source ? key->slid : key->dlid));
	else if (key->has_gids)
		ft_address_text(address, end->address);
	else
		snprintf(end->address, sizeof end->address, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0],
			 mac[1], mac[2], mac[3], mac[4], mac[5]);
}

static void name_end(const struct ft_map *map, const struct ft_end *known,
		     struct ft_subject_end *end)
{
	end->tenant = known->tenant;
	end->group = known->group;
	if (known->endpoint != FT_NONE)
		end->host = ft_map_endpoint(map, known->endpoint).host;
}

void ft_subject_of(const struct ft_map *map, const struct ft_check_key *key,
		   const struct ft_verdict *verdict, struct ft_subject *subject)
{
	*subject = (struct ft_subject){
		.src = { .tenant = FT_NONE },
		.dst = { .tenant = FT_NONE },
		.pkey = key->pkey,
		.vlan = key->vlan,
		.has_vni = key->has_vni,
		.vni = key->has_vni ? key->vni : 0,
	};
	end_of(map, key, true, &subject->src);
	end_of(map, key, false, &subject->dst);
	if (verdict == NULL)
		return;
	name_end(map, &verdict->src, &subject->src);
	name_end(map, &verdict->dst, &subject->dst);
}

static uint64_t digest_of_ends(const struct ft_verdict *verdict)
{
	return ft_mix(verdict->src.endpoint, verdict->dst.endpoint) ^
	       ((uint64_t)verdict->src.tenant << 32 | verdict->dst.tenant);
}

uint64_t ft_subject_digest(const struct ft_check_key *key, const struct ft_verdict *verdict,
			   uint64_t seed)
{
	uint64_t ends = verdict != NULL ? digest_of_ends(verdict) : ft_mix(FT_NONE, FT_NONE);

	return (ft_hash(key, sizeof *key, seed) ^ ft_mix(ends, seed | 1)) | 1;
}
