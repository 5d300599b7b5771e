#include "fork.h"

#include <stdlib.h>
#include <string.h>

#include <decode/packet.h>

#include "anew.h"
#include "family.h"
#include "fifo.h"

enum { SLOTS_LEAST = 8, SLOTS_MOST = 128 /* fewer than releases have now */ };

/* A set-up told where the FIFO is; nothing of its slots was learnt otherwise. */
static bool may_differ(const struct ft_nccl_followed *followed, enum ft_nccl_family family)
{
	const struct ft_nccl_target *fifo = &followed->model.fifo;

	return followed->model.has_tcp && followed->slot_bytes == 0 && followed->has_base &&
	       fifo->slots != 0 && ft_nccl_fifo(family)->number_bytes == 8 && !followed->failing;
}

static bool has_key(const struct ft_nccl_target *fifo, uint32_t rkey)
{
	for (uint8_t i = 0; i < fifo->rkey_count; i++) {
		if (fifo->rkeys[i] == rkey)
			return true;
	}
	return false;
}

/* Another size of slots: only the connection's first clear-to-send was where it is to be. */
static uint16_t other_size(const struct ft_nccl_followed *followed, enum ft_nccl_family family,
			   uint64_t offset, uint64_t k)
{
	if (followed->model.cts != 1 || followed->newest != 0 || k == 0 || k >= SLOTS_LEAST ||
	    offset % k != 0 ||
	    !ft_nccl_fifo_may_step(offset / k, ft_nccl_fifo(family)->entry_bytes))
		return 0;
	return (uint16_t)(offset / k);
}

/* Fewer slots: those before were in the first round, and this one begins the second. */
static uint16_t other_count(const struct ft_nccl_followed *followed, enum ft_nccl_family family,
			    uint64_t offset, uint64_t k)
{
	uint16_t slots = SLOTS_LEAST;

	while (slots < SLOTS_MOST && 2u * slots <= k)
		slots *= 2;
	if (slots >= followed->model.fifo.slots || followed->newest >= slots || k < slots ||
	    offset != (k - slots) * ft_nccl_fifo(family)->slot_bytes)
		return 0;
	return slots;
}

static void keep(const struct ft_nccl_moment *moment, const struct ft_nccl_fork *fork)
{
	struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_seen *seen = moment->seen;
	struct ft_nccl_fork *kept = followed->fork;

	if (kept == NULL)
		kept = followed->fork = calloc(1, sizeof *kept);
	if (kept == NULL || seen->captured > sizeof kept->payload)
		return;
	*kept = *fork;
	kept->lane = moment->lane_index;
	kept->seen = *seen;
	memcpy(kept->payload, seen->payload, seen->captured);
	kept->seen.payload = kept->payload;
}

static void adopt(struct ft_nccl_followed *followed, const struct ft_nccl_fork *fork)
{
	const uint64_t addr = followed->model.fifo.addr;

	ft_nccl_straight_leave(followed);
	followed->slot_bytes = fork->slot_bytes;
	followed->base_bits = (1u << FT_NCCL_SLOT_COUNTS) - 1;
	for (unsigned i = 0; i < FT_NCCL_SLOT_COUNTS; i++)
		followed->bases[i] = addr;
	if (fork->slots != 0)
		ft_nccl_fifo_narrow(followed, fork->slots);
	ft_nccl_fifo_tell(followed);
	ft_nccl_family_tell(followed);
}

bool ft_nccl_fork_see(const struct ft_nccl_moment *moment, enum ft_nccl_family family, uint64_t k)
{
	struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_seen *seen = moment->seen;
	const struct ft_nccl_fork *before = followed->fork;
	const uint64_t offset = seen->va - followed->model.fifo.addr;
	struct ft_nccl_fork fork = { .k = k };

	if (!may_differ(followed, family) || (seen->has & FT_HAS_RETH) == 0 ||
	    !has_key(&followed->model.fifo, seen->rkey) || seen->captured == 0)
		return false;
	fork.slot_bytes = other_size(followed, family, offset, k);
	if (fork.slot_bytes == 0)
		fork.slots = other_count(followed, family, offset, k);
	if (fork.slot_bytes == 0 && fork.slots == 0)
		return false;
	if (before == NULL || before->k + 1 != k || before->slot_bytes != fork.slot_bytes ||
	    before->slots != fork.slots || followed->newest + 2 != k) {
		keep(moment, &fork);
		return false;
	}
	adopt(followed, before);
	return true;
}

void ft_nccl_fork_see_first(const struct ft_nccl_moment *moment)
{
	struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_fork *fork = followed->fork;
	struct ft_nccl_moment first = *moment;
	const bool overtaken = followed->overtaken;

	followed->fork = NULL;
	ft_nccl_anew_settle(moment->connections, followed, true);
	first.seen = &fork->seen;
	first.lane_index = fork->lane;
	first.lane = &followed->lanes[fork->lane];
	ft_nccl_cts_see(&first);
	followed->overtaken = overtaken;
	free(fork);
}

void ft_nccl_fork_drop(struct ft_nccl_followed *followed)
{
	free(followed->fork);
	followed->fork = NULL;
}
