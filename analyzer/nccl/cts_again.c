#include "followed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <decode/packet.h>

#include "anew.h"
#include "cts_parts.h"
#include "dispute.h"
#include "faults_parts.h"
#include "fifo.h"
#include "grid.h"
#include "lock.h"
#include "order.h"
#include "passed.h"

bool ft_nccl_cts_asks_for_same(const struct ft_nccl_request *request,
			       const struct ft_nccl_cts *entry)
{
	uint8_t keys =
		request->rkey_count < entry->rkey_count ? request->rkey_count : entry->rkey_count;

	return request->va == entry->addr && request->offered == entry->size &&
	       memcmp(request->rkeys, entry->rkeys, keys * sizeof entry->rkeys[0]) == 0;
}

/* Of one whose place is not known by its content, what every layout has at the same place. */
static bool read_ask(const struct ft_nccl_followed *followed, const struct ft_nccl_ask *ask,
		     struct ft_nccl_cts *entry)
{
	if (followed->plain)
		return ft_nccl_plain_entry(followed, &ask->write, 0, entry);
	*entry = ask->first;
	return ask->is_read && (ask->first.has & FT_NCCL_CTS_SIZE) != 0;
}

bool ft_nccl_cts_dispute(struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask)
{
	struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_transfer *before = ft_nccl_ring_find(&followed->ring, ask->k);
	const struct ft_nccl_request *request;
	struct ft_nccl_request second = { 0 };
	struct ft_nccl_cts entry;

	if (before == NULL || !before->has_cts || ft_nccl_is_doubted(before) ||
	    ft_nccl_order_is_anothers(moment) || !read_ask(followed, ask, &entry))
		return false;
	request = ft_nccl_ring_requests(&followed->ring, before);
	if (!request->has_offered || ft_nccl_cts_asks_for_same(request, &entry))
		return false;
	ft_nccl_cts_fill(&second, &entry);
	ft_nccl_dispute_begin(moment, before, &second);
	return true;
}

/*
 * It goes to no slot of the FIFO; or, long behind the last message, has none of its keys: where the FIFO begins may not be known
 * yet.
 */
static bool is_elsewhere(const struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_target *fifo = &followed->model.fifo;
	const uint64_t bytes = (uint64_t)ft_nccl_fifo_slots_most(followed) * fifo->slot_bytes;
	bool has_key = fifo->rkey_count == 0 || !ft_nccl_order_is_over(followed, seen->ts_ns);

	if ((seen->has & FT_HAS_RETH) == 0)
		return false;
	for (uint8_t i = 0; i < fifo->rkey_count; i++)
		has_key = has_key || fifo->rkeys[i] == seen->rkey;
	return !has_key || (fifo->is_known && bytes != 0 && seen->va - fifo->addr >= bytes);
}

/*
 * Each PSN from the first one on was a clear-to-send, as the newest one's number shows: an older one's number follows from its PSN,
 * though its message is not remembered.
 */
static bool is_miscounted(const struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_lane *lane = moment->lane;
	const uint32_t newest = ft_psn_back(lane->cts.next, 1), psn = moment->seen->psn;

	return followed->model.devices == 1 && lane->cts_step == 1 &&
	       ft_psn_distance(psn, lane->cts.origin) >= 0 &&
	       lane->cts_k == followed->oldest + ft_psn_since(newest, lane->cts.origin) &&
	       ask->k != followed->oldest + ft_psn_since(psn, lane->cts.origin);
}

/* For a message that another PSN asked for, or none has yet. */
static bool is_misplaced(const struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask)
{
	const struct ft_nccl_transfer *before = ft_nccl_ring_find(&moment->followed->ring, ask->k);

	if (!ask->has_k || !moment->lane->asked || moment->followed->failing)
		return false;
	if (before == NULL || !before->has_cts)
		return ask->k > moment->lane->cts_k || is_miscounted(moment, ask);
	return before->cts_psn != moment->seen->psn;
}

/* The first ones have overtaken it: its number is as far before theirs as its PSN. */
static bool is_before_first(const struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask)
{
	const struct ft_nccl_lane *lane = moment->lane;
	const uint32_t psn = moment->seen->psn;
	const int32_t packets = ft_psn_distance(lane->cts.next, psn) - 1;
	const uint64_t apart = lane->cts_k - ask->k;

	if (!lane->asked || ft_psn_distance(lane->cts.origin, psn) <= 0)
		return false;
	if (moment->followed->by_grid) /* the PSN is what it is numbered by */
		return true;
	if (lane->cts_step != 0)
		return apart == (uint64_t)packets * lane->cts_step;
	return ask->k < lane->cts_k && apart % (uint64_t)packets == 0 &&
	       apart / (uint64_t)packets <= FT_NCCL_DEVICES_MAX;
}

/*
 * What was asked for under this PSN is not remembered, but all keys that ever were asked with are, and this is none of them: what
 * is sent again has one.
 */
static bool has_foreign_key(const struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask)
{
	const struct ft_nccl_followed *followed = moment->followed;

	if (!ask->has_first || ask->first.rkey_count == 0 || ask->first.rkeys[0] == 0 ||
	    followed->key_count == 0 || followed->key_count > FT_NCCL_KEYS ||
	    followed->unreadable != 0 || !ft_nccl_is_calm(followed))
		return false;
	return ft_psn_distance(moment->seen->psn, moment->lane->cts.origin) >= 0 &&
	       !ft_nccl_is_announced(followed, ask->first.rkeys[0]);
}

static void tell_foreign_key(struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask)
{
	struct ft_nccl_found found =
		ft_nccl_found_in(moment->followed, moment->seen, FT_NCCL_CONTRADICTION, 0.8);

	ft_nccl_found_set_k(&found, ask->k);
	snprintf(found.text, sizeof found.text,
		 "a clear-to-send for message %" PRIu64 ", under a PSN that passed, asks for data "
		 "under a key that none before had",
		 ask->k);
	ft_nccl_tell_in_turn(moment, &found, true);
}

/* By its PSN, if that counts clear-to-sends alone. */
static void fault_on_grid(struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask)
{
	if (moment->lane->strays == 0)
		ft_nccl_cts_fault_on_grid(moment, ask);
}

void ft_nccl_cts_again(struct ft_nccl_moment *moment)
{
	const struct ft_nccl_seen *seen = moment->seen;
	struct ft_nccl_ask ask = { 0 };
	bool is_read, has_passed;

	ft_nccl_anew_see(moment, true);
	if (is_elsewhere(moment->followed, seen)) {
		/* nor may data under an old PSN be this one's */
		ft_nccl_step(moment->followed, false);
		ft_nccl_stranger_see(moment->connections, seen);
		return;
	}
	is_read = ft_nccl_begins(seen->opcode) &&
		  ft_nccl_cts_understand(moment->followed, seen, moment->lane_index, &ask);
	if (is_read && ft_nccl_cts_dispute(moment, &ask))
		return;
	has_passed = ft_nccl_passed_repeats(moment->followed, &moment->lane->cts,
					    &moment->lane->cts_before, seen->psn);
	if (!is_read || has_passed)
		moment->followed->model.retransmitted_cts++;
	if (is_read && !has_passed && is_before_first(moment, &ask)) {
		moment->turn = FT_NCCL_LATE;
		ft_nccl_cts_take(moment);
		return;
	}
	if (!has_passed || !ft_nccl_begins(seen->opcode) || ft_nccl_order_is_anothers(moment))
		return;
	if (!is_read && moment->followed->by_grid)
		fault_on_grid(moment, &ask);
	else if (!is_read)
		ft_nccl_fault_cts(moment, ask.has_k, ask.k);
	else if (is_misplaced(moment, &ask))
		ft_nccl_fault_replayed(moment, ask.k);
	else if (has_foreign_key(moment, &ask))
		tell_foreign_key(moment, &ask);
}
