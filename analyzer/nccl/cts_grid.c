#include "cts_parts.h"

#include <decode/packet.h>

#include "anew.h"
#include "faults.h"
#include "fifo.h"
#include "grid.h"

/* What goes to the sender of a connection whose clear-to-sends have a layout of its own, and has not the place that its PSN says. */

enum {
	REPEATED_MOST = 4, /* messages ago: of 8 slots, those behind are nearer to the one before */
	STRAYS_MOST = 3,   /* until such writes are a habit of the build */
	USUAL = 16,        /* clear-to-sends until writes of other lengths are none */
};

/* It has the slot of message k. */
static const struct ft_nccl_transfer *in_slot_of(const struct ft_nccl_moment *moment, uint64_t k)
{
	const struct ft_nccl_transfer *transfer = ft_nccl_ring_find(&moment->followed->ring, k);

	if (transfer == NULL || !transfer->has_cts || ft_nccl_is_doubted(transfer) ||
	    !ft_nccl_fifo_may_place(moment->followed, moment->seen->va, k))
		return NULL;
	return transfer;
}

/* The clear-to-send of one of the last messages, by its slot and what it asks for. */
static bool repeats(const struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask, uint64_t *k)
{
	const struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_cts entry;

	if (!ft_nccl_plain_entry(followed, &ask->write, 0, &entry))
		return false;
	for (uint64_t back = 1; back <= REPEATED_MOST && back <= ask->k; back++) {
		const struct ft_nccl_transfer *before = in_slot_of(moment, ask->k - back);

		if (before == NULL)
			continue;
		*k = before->message.k;
		return ft_nccl_cts_asks_for_same(ft_nccl_ring_requests(&followed->ring, before),
						 &entry);
	}
	return false;
}

/* It goes to where the one before did, and asks for something else. */
static bool disputes(struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask)
{
	struct ft_nccl_ask before = *ask;

	before.k--;
	return ask->k != 0 && in_slot_of(moment, before.k) != NULL &&
	       ft_nccl_cts_dispute(moment, &before);
}

/*
 * In the first or the last slot. Where PSNs do not begin with the FIFO each round has one there that seems to be in the wrong one: the
 * round before has to show that it has not.
 */
static bool is_at_seam(const struct ft_nccl_followed *followed, uint64_t k)
{
	for (uint32_t slots = ft_nccl_fifo_slots_least(followed);
	     slots != 0 && slots <= ft_nccl_fifo_slots_most(followed); slots *= 2) {
		const struct ft_nccl_transfer *before =
			k < slots ? NULL : ft_nccl_ring_find(&followed->ring, k - slots);

		if ((k + 1) % slots <= 1 && (before == NULL || !before->has_cts))
			return true;
	}
	return false;
}

static void fault_slot(struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask)
{
	uint64_t k;

	if (repeats(moment, ask, &k))
		ft_nccl_fault_replayed(moment, k);
	else if (!disputes(moment, ask) && !is_at_seam(moment->followed, ask->k))
		ft_nccl_fault_cts(moment, true, ask->k);
}

void ft_nccl_cts_fault_on_grid(struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_seen *seen = moment->seen;

	if (!followed->plain || (seen->has & FT_HAS_RETH) == 0 ||
	    moment->lane->strays >= STRAYS_MOST)
		return;
	if (seen->length % followed->model.fifo.entry_bytes != 0) {
		if (followed->model.cts >= USUAL)
			ft_nccl_fault_cts(moment, false, ask->k);
	} else if (ft_nccl_fifo_has_key(followed, seen->rkey)) {
		fault_slot(moment, ask);
	} else {
		ft_nccl_fault_cts(moment, true, ask->k);
	}
}

/* Several in a row may as well be on a grid of their own. */
void ft_nccl_cts_refuse_on_grid(struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask)
{
	if (moment->followed->misfits != 0)
		ft_nccl_anew_doubt(moment, true);
	else if (moment->turn == FT_NCCL_NEXT)
		ft_nccl_cts_fault_on_grid(moment, ask);
}

/* It is right behind the one that was refused, or has its PSN. */
static bool is_right_behind(const struct ft_nccl_moment *moment)
{
	const uint32_t packets = ft_psn_since(moment->seen->psn, moment->lane->skipping_psn);

	return moment->lane->refused == 1 && packets <= 1;
}

void ft_nccl_cts_accept_on_grid(struct ft_nccl_moment *moment)
{
	if (moment->followed->misfits != 0 && !is_right_behind(moment))
		ft_nccl_anew_doubt(moment, true);
	moment->followed->misfits = 0;
	if (moment->turn != FT_NCCL_LATE)
		moment->lane->refused = 0;
}
