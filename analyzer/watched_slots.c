#include "watched_slots.h"

#include <decode/nccl.h>
#include <decode/psn.h>

enum {
	APART_MOST = 8, /* PSNs: the mirror may have lost those between, or swapped the two */
	/* that take turns; 4096 bytes, where others have a page for each, are never a step */
	DEVICES_MOST = 4,
	STEP_MOST = DEVICES_MOST * 512, /* bytes */
};

/* Of a FIFO whose slots have room for more requests: messages one behind the other are none. */
static bool are_slots(const struct ft_nccl_fifo *fifo, uint32_t length, uint64_t step)
{
	return fifo->entries > 1 && length % fifo->entry_bytes == 0 &&
	       length <= fifo->slot_bytes / 2 && step % fifo->slot_bytes == 0 &&
	       step / fifo->slot_bytes <= DEVICES_MOST;
}

static bool may_be_slots(uint32_t length, uint64_t step)
{
	for (unsigned i = 0; i < FT_NCCL_FAMILIES; i++) {
		if (are_slots(ft_nccl_fifo((enum ft_nccl_family)i), length, step))
			return true;
	}
	return false;
}

/* By how much the address is farther for each PSN; 0: it does not come out even, is not, or is by too much. */
static uint64_t step_of(int64_t bytes, int32_t psns)
{
	if (psns == 0 || psns < -APART_MOST || psns > APART_MOST ||
	    bytes < -APART_MOST * STEP_MOST || bytes > APART_MOST * STEP_MOST || bytes % psns != 0)
		return 0;
	bytes /= psns;
	return bytes > 0 && bytes <= STEP_MOST ? (uint64_t)bytes : 0;
}

bool ft_watched_slots_see(struct ft_watched_slots *slots, uint32_t number,
			  const struct ft_observed *observed)
{
	const uint32_t at = number % FT_WATCHED_SLOTS;
	uint64_t step = 0;

	if (slots->newest[at].number == number && slots->newest[at].rkey == observed->rkey)
		step = step_of((int64_t)(observed->va - slots->newest[at].va),
			       ft_psn_distance(observed->psn, slots->newest[at].psn));
	slots->newest[at].number = number;
	slots->newest[at].va = observed->va;
	slots->newest[at].psn = observed->psn;
	slots->newest[at].rkey = observed->rkey;
	return step != 0 && may_be_slots(observed->payload, step);
}
