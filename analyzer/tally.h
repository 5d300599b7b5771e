#pragma once

#include "item.h"
#include "judge.h"
#include "totals.h"

/* What one worker counted: tenant pairs, P_Keys, why frames were not judged, copies. */
struct ft_tally {
	struct ft_totals totals;
	uint64_t seed;
	uint64_t duplicates, duplicate_bytes; /* copies, in no other count */
	uint64_t never_judged, not_rdma;      /* frames; the judged ones are in the totals */
	uint64_t unopened[FT_UNOPENED_KINDS]; /* of those that are not RDMA, by enum ft_unopened */
	uint64_t undecided_bad_icrc, undecided_cut, undecided_malformed, undecided_untimed,
		undecided_unread;
	uint64_t truncated;   /* cut below what a rule needs */
	uint64_t unnumbered;  /* judged, but cut before the PSN that their transport may count by */
	uint64_t undecodable; /* claim to be RDMA and are broken */
	uint64_t unsampled;   /* RDMA packets that samples stand for */
};

int ft_tally_init(struct ft_tally *tally, uint32_t tenants, uint64_t seed);
void ft_tally_free(struct ft_tally *tally);

/*
 * Set item->from and item->to; count the frame, once, with its first packet, if it is no copy. `judged`: what
 * ft_judge_frame() returned; `part`: records->part.
 */
void ft_tally_count(struct ft_tally *tally, struct ft_item *item, struct ft_judged *judged,
		    struct ft_flow *part);

/*
 * The same for a frame of which there is nothing to tell: usual, with a time, judged, no rule broken, its flow's
 * cell known. The most frequent case. The frame that the cell was found for had this P_Key, too.
 */
static inline void ft_tally_usual(struct ft_tally *tally, struct ft_item *item, uint32_t index)
{
	struct ft_cell *cell = &tally->totals.cells[index];
	struct ft_pkey_total *pkey = &tally->totals.pkeys[item->observed.pkey];
	uint32_t wire = item->frame->wire;

	item->from = cell->from;
	item->to = cell->to;
	cell->packets++;
	cell->bytes += wire;
	cell->judged++;
	pkey->packets++;
	pkey->bytes += wire;
}

/*
 * Of many tenants, what ft_tally_usual() adds to is seldom in the cache. Hints that it is wanted soon: the P_Key's
 * total, and the cell (UINT32_MAX: none) of a flow.
 */
/* Tenant pairs that stay in the first-level cache, with their P_Keys. */
enum { FT_TALLY_NEAR = 64 };

static inline bool ft_tally_is_large(const struct ft_tally *tally)
{
	return tally->totals.cell_count > FT_TALLY_NEAR;
}

static inline void ft_tally_prefetch_pkey(const struct ft_tally *tally, uint16_t pkey)
{
	__builtin_prefetch(&tally->totals.pkeys[pkey], 1);
}

static inline void ft_tally_prefetch_cell(const struct ft_tally *tally, uint32_t index)
{
	const struct ft_cell *cell = &tally->totals.cells[index == UINT32_MAX ? 0 : index];

	__builtin_prefetch(cell, 1);
	__builtin_prefetch(&cell->judged, 1); /* may be in the next line */
}

/* Count what befell the frame's transport, in its tenant pair: a mark, a notice, or one of these steps. */
#define FT_TALLIED_STEPS (FT_STEP_CNP | FT_STEP_RNR | FT_STEP_RETRANSMITTED | FT_STEP_TOLD_AGAIN)
void ft_tally_transport(struct ft_tally *tally, const struct ft_item *item,
			const struct ft_step *step);

/* A copy that shows its packet marked, which the original was not: in its tenant pair. */
void ft_tally_mark(struct ft_tally *tally, const struct ft_item *item);

/* Packets that were sent again, as the frame tells: in its tenant pair, or `back`: of those that it answers. */
void ft_tally_again(struct ft_tally *tally, const struct ft_item *item, bool back,
		    uint32_t packets);

/* Add another worker's counts. */
void ft_tally_merge(struct ft_tally *into, const struct ft_tally *from);
