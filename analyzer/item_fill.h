#pragma once

#include <stddef.h>

#include <decode/opcode.h>

#include "item.h"
#include "observe_digest.h"

/*
 * The usual packet in one go: RoCEv2 over Ethernet in no tunnel, a whole BTH to an ordinary queue pair of a
 * connection, a payload of known length, and no ICRC known to be wrong. Nearly all are.
 */
void ft_item_fill_usual(struct ft_item *item, const struct ft_frame *frame,
			const struct ft_packet *packet, uint64_t seed);

/* The same for any packet, part by part. Both leave `sub` alone. */
void ft_item_fill_any(struct ft_item *item, const struct ft_frame *frame,
		      const struct ft_packet *packet, uint64_t seed);

/* Headers that each usual packet has beside those of its network, and those that it may have. */
#define FT_USUAL_HEADERS                                                                           \
	(FT_HAS_ETH | FT_HAS_UDP | FT_HAS_BTH | FT_HAS_PAYLOAD_LENGTH | FT_HAS_PAYLOAD)
#define FT_USUAL_EXTENSIONS                                                                        \
	(FT_HAS_XRCETH | FT_HAS_RETH | FT_HAS_ATOMICETH | FT_HAS_AETH | FT_HAS_ATOMICACK |         \
	 FT_HAS_IMMDT | FT_HAS_IETH | FT_HAS_ICRC)

static inline bool ft_item_is_usual(const struct ft_packet *packet)
{
	const uint32_t free = FT_USUAL_EXTENSIONS | FT_HAS_IPV4 | FT_HAS_IPV6;
	const uint32_t services = 1u << FT_RC | 1u << FT_UC | 1u << FT_XRC;

	return (packet->has & ~free) == FT_USUAL_HEADERS && packet->dest_qp >= 2 &&
	       packet->icrc_check != FT_CHECK_BAD && (services >> (packet->opcode >> 5) & 1) != 0;
}

/* Fill an item from a decoded packet; `seed`: of the engine's tables. */
static inline void ft_item_fill(struct ft_item *item, const struct ft_frame *frame,
				const struct ft_packet *packet, unsigned sub, uint64_t seed)
{
	item->sub = (uint16_t)sub;
	if (ft_item_is_usual(packet))
		ft_item_fill_usual(item, frame, packet, seed);
	else
		ft_item_fill_any(item, frame, packet, seed);
}

/* What differs, in check keys, among the usual packets of a half-connection. */
struct ft_tags {
	struct {
		uint64_t first;
		uint32_t last;
	} macs; /* destination, source, as they stand in memory */
	uint16_t pkey, vlan;
	uint8_t service;
};

static inline uint64_t ft_tags_digest(const struct ft_tags *tags, uint64_t seed)
{
	uint32_t word = ((uint32_t)tags->vlan << 16 | tags->pkey) ^ (uint32_t)tags->service << 29;

	return ft_mix(tags->macs.first + seed,
		      ((uint64_t)word << 32 | tags->macs.last) ^ FT_SALT_SRC ^ seed);
}
