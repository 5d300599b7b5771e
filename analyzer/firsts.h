#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <capture/frame.h>
#include <flow/observed.h>

#include "cut_frame.h"

/*
 * The packets that half-connections began with, or began anew with behind a silence, the last FT_FIRSTS of them: which of two
 * came first, and with what.
 */
enum { FT_FIRSTS = 1 << 14 };

struct ft_first {
	uint64_t frame, ts_ns; /* number, time */
	/* of the flow table; it may hold another half-connection by now, which began later */
	uint32_t record;
	uint32_t psn;
	uint16_t pkey, vlan;
	uint8_t opcode;
};

struct ft_firsts {
	struct ft_first *items;      /* a ring */
	struct ft_cut_frame *frames; /* beside items; NULL: they are not kept */
	uint64_t count;              /* that there ever were */
};

int ft_firsts_init(struct ft_firsts *firsts); /* 0 or -ENOMEM */
void ft_firsts_free(struct ft_firsts *firsts);

/* Keep frames of those to come, too. 0 or -ENOMEM. */
int ft_firsts_keep_frames(struct ft_firsts *firsts);

/* Of the one added last. */
void ft_firsts_keep(struct ft_firsts *firsts, const struct ft_frame *frame);

/* Record number `record` begins with this packet. */
static inline void ft_firsts_add(struct ft_firsts *firsts, uint32_t record,
				 const struct ft_observed *observed, const struct ft_frame *frame)
{
	firsts->items[firsts->count++ % FT_FIRSTS] = (struct ft_first){
		.frame = observed->frame,
		.ts_ns = observed->ts_ns,
		.record = record,
		.psn = observed->psn,
		.pkey = observed->pkey,
		.vlan = observed->vlan,
		.opcode = observed->opcode,
	};
	if (firsts->frames != NULL)
		ft_firsts_keep(firsts, frame);
}

/* The frame of one of them; false: it was not kept. Its bytes are good until it is no longer. */
bool ft_firsts_frame(const struct ft_firsts *firsts, const struct ft_first *first,
		     struct ft_frame *frame);

/* How many are kept. */
static inline uint64_t ft_firsts_kept(const struct ft_firsts *firsts)
{
	return firsts->count < FT_FIRSTS ? firsts->count : FT_FIRSTS;
}

/* From the newest on, which is 1, to the oldest kept. */
static inline const struct ft_first *ft_firsts_at(const struct ft_firsts *firsts, uint64_t nth)
{
	return &firsts->items[(firsts->count - nth) % FT_FIRSTS];
}

/* What the half-connection in this record began with last; NULL: that was too long ago. */
const struct ft_first *ft_firsts_find(const struct ft_firsts *firsts, uint32_t record);

/* Number of a frame before which everything began that is not found; 0: nothing is missing. */
uint64_t ft_firsts_since(const struct ft_firsts *firsts);
