#pragma once

#include <assert.h>
#include <stddef.h>

#include <decode/opcode.h>

#include "item.h"
#include "observe_digest.h"

/*
 * Usual frames in one go, from what stands in them: of the form of decode/brief.h. Nearly all are. Returns how many there
 * are up to the first that is not, or `count`; the item of that one may be anything: it is to be decoded. Those whose ICRC
 * is wrong are as ft_item_fill() would have them. *mirrored is set if some are FT_OBSERVED_MIRROR.
 */
unsigned ft_items_fill_usual(struct ft_item *items, const struct ft_frame *frames, unsigned count,
			     const struct ft_decode_config *config, uint64_t seed, bool *mirrored);

/* A packet on its way to its owner: which it is, and what a glance at its frame has told. */
struct ft_parcel {
	uint64_t pair;    /* as in struct ft_observed */
	uint32_t number;  /* of the packet in the block */
	uint16_t frame;   /* of the block */
	uint8_t ip_at;    /* struct ft_glance; 0 if decoded */
	bool decoded : 1; /* already: its item stands elsewhere */
	bool checked : 1; /* its ICRC is good */
};
static_assert(sizeof(struct ft_parcel) == 16, "four in a cache line");

/*
 * The same for the frames of parcels, up to the first that is decoded already; `frames`: of the block. Meanwhile those
 * further on are fetched: so many parcels more than `count` must be readable and name a place in the block, but what is
 * there need not mean anything.
 */
enum { FT_PARCELS_AHEAD = 24 };
unsigned ft_items_fill_parcels(struct ft_item *items, const struct ft_frame *frames,
			       const struct ft_parcel *parcels, unsigned count,
			       const struct ft_decode_config *config, uint64_t seed,
			       bool *mirrored);

/*
 * A usual item, the ICRC of which is wrong after all: as ft_item_fill() has it. `bytes`: extended headers but an AETH, and
 * payload.
 */
void ft_item_damage(struct ft_item *item, const uint8_t *bytes, uint32_t size);

/* Any packet, as the decoder says it is; the `sub`th of its frame, from 0. `seed`: of the engine's tables. */
void ft_item_fill(struct ft_item *item, const struct ft_frame *frame,
		  const struct ft_packet *packet, unsigned sub, uint64_t seed);

/* What differs, in check keys, among the usual packets of a half-connection. */
struct ft_tags {
	struct {
		uint64_t first;
		uint32_t last;
	} macs; /* destination, source, as they stand in memory */
	uint16_t pkey, vlan;
	uint8_t service;
};

/* Where the MAC addresses are the same, another digest for each of the others, whatever the seed, above the lowest 32 bits. */
static inline uint64_t ft_tags_digest(const struct ft_tags *tags, uint64_t seed)
{
	uint32_t word = ((uint32_t)tags->vlan << 16 | tags->pkey) ^ (uint32_t)tags->service << 29;

	return ft_mix(tags->macs.first + seed, tags->macs.last ^ FT_SALT_SRC ^ seed) ^
	       (uint64_t)word << 32;
}
