#include "followed.h"

#include <assert.h>
#include <string.h>

#include <decode/packet.h>

#include "adrift.h"
#include "anew.h"
#include "cts_parts.h"
#include "family.h"
#include "faults.h"
#include "fifo.h"
#include "fork.h"
#include "grid.h"
#include "lock.h"
#include "order.h"

enum { MISFITS = 8 }; /* in a row, of a connection that was none */

static_assert(sizeof((struct ft_nccl_request *)NULL)->rkeys ==
		      sizeof((struct ft_nccl_cts *)NULL)->rkeys,
	      "copied as they are, those of no device too");

void ft_nccl_cts_fill(struct ft_nccl_request *request, const struct ft_nccl_cts *entry)
{
	request->va = entry->addr;
	request->by_data = false;
	request->has_offered = (entry->has & FT_NCCL_CTS_SIZE) != 0;
	request->offered = entry->size;
	request->has_tag = (entry->has & FT_NCCL_CTS_TAG) != 0;
	request->tag = entry->tag;
	request->rkey_count = entry->rkey_count;
	memcpy(request->rkeys, entry->rkeys, sizeof request->rkeys);
}

/* The first has been read, mostly. */
static bool read_entry(const struct ft_nccl_ask *ask, uint32_t index, struct ft_nccl_cts *entry)
{
	if (index != 0 || !ask->has_first)
		return ft_nccl_cts_read(ask->family, &ask->write, index, entry) == FT_NCCL_READ;
	*entry = ask->first;
	return true;
}

static void fill_requests(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
			  const struct ft_nccl_ask *ask)
{
	struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_request *requests = ft_nccl_ring_requests(&followed->ring, transfer);
	bool is_several = followed->by_grid && ask->requests > 1;
	struct ft_nccl_cts entry;

	transfer->message.request_count = (uint8_t)ask->requests;
	/* where nothing can be read, what is written in their order tells which request it is */
	transfer->partial = transfer->partial || (is_several && !followed->blind);
	followed->partial = followed->partial || is_several;
	if (followed->plain)
		ft_nccl_plain_read(moment, &ask->write, requests);
	for (uint32_t i = 0; ask->is_read && i < ask->requests; i++) {
		if (!read_entry(ask, i, &entry)) {
			followed->partial = followed->partial || followed->lane_count > 1;
			break;
		}
		ft_nccl_cts_fill(&requests[i], &entry);
		for (uint8_t device = 0; device < entry.rkey_count; device++) {
			if (entry.rkeys[device] != 0)
				ft_nccl_announce_key(moment->connections, followed, device,
						     entry.rkeys[device]);
		}
	}
}

/* Data that came before, without a clear-to-send, waits for no earlier one any more. */
static void pass_by(struct ft_nccl_followed *followed, uint64_t k)
{
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		struct ft_nccl_lane *lane = &followed->lanes[i];

		if (lane->has_early && lane->early_k < k)
			ft_nccl_drop_early(lane);
	}
}

/* Data whose message was a guess went to where this one says. */
static bool is_for(const struct ft_nccl_followed *followed, const struct ft_nccl_transfer *transfer,
		   const struct ft_nccl_ask *ask)
{
	const struct ft_nccl_request *request = ft_nccl_ring_requests(&followed->ring, transfer);

	return ask->is_read && (ask->first.has & FT_NCCL_CTS_SIZE) != 0 &&
	       request->va - ask->first.addr + request->written <= ask->first.size;
}

/* The message's place; NULL: it has been asked for before, or is long over. */
static struct ft_nccl_transfer *place_for(struct ft_nccl_moment *moment,
					  const struct ft_nccl_ask *ask)
{
	struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_transfer *transfer = ft_nccl_ring_find(&followed->ring, ask->k);

	if (transfer != NULL && !transfer->message.has_k &&
	    (followed->failing || !is_for(followed, transfer, ask)))
		ft_nccl_keep(moment->connections, followed, transfer);
	transfer = ft_nccl_transfer_of(moment->connections, followed, ask->k);
	return transfer != NULL && !transfer->has_cts ? transfer : NULL;
}

/* The first buffer that was asked for comes again, after however many others. */
static void compare_with_first(struct ft_nccl_followed *followed, uint64_t va)
{
	if (followed->first_va == 0)
		followed->first_va = va;
	else
		followed->recurs = followed->recurs || va == followed->first_va;
}

static void count(struct ft_nccl_followed *followed, const struct ft_nccl_ask *ask)
{
	followed->model.cts++;
	if (ask->is_read)
		compare_with_first(followed, ask->first.addr);
	if (ask->is_read)
		followed->readable++;
	else
		followed->unreadable++;
	if (!followed->has_newest || ask->k > followed->newest)
		followed->newest = ask->k;
	if (!followed->has_newest || ask->k < followed->oldest)
		followed->oldest = ask->k;
	followed->has_newest = true;
}

static bool is_asked(const struct ft_nccl_ring *ring, uint64_t k)
{
	const struct ft_nccl_transfer *transfer = ft_nccl_ring_find(ring, k);

	return transfer != NULL && transfer->has_cts;
}

/* False: it repeats another one. */
static bool announce(struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask)
{
	struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_transfer *transfer;

	if (ft_nccl_ring_fit(&followed->ring, FT_NCCL_RING_LEAST, ask->requests,
			     followed->lane_count) != 0)
		return true;
	transfer = place_for(moment, ask);
	if (transfer == NULL && (!ask->is_further || is_asked(&followed->ring, ask->k)))
		return moment->turn != FT_NCCL_NEXT;
	if (transfer == NULL) { /* its data came so long before that it is not remembered */
		followed->overtaken = true;
		count(followed, ask);
		return true;
	}
	fill_requests(moment, transfer, ask);
	ft_nccl_order_see(moment, &moment->lane->cts_acked);
	if (!ft_nccl_fault_resolve(moment, transfer)) {
		transfer = ft_nccl_transfer_of(moment->connections, followed, ask->k);
		fill_requests(moment, transfer, ask);
	}
	followed->overtaken = followed->overtaken || transfer->message.first_frame != 0;
	ft_nccl_adrift_asked(followed, transfer);
	pass_by(followed, ask->k);
	transfer->has_cts = true;
	transfer->message.has_k = true;
	transfer->message.cts_frame = moment->seen->frame;
	transfer->message.cts_ts_ns = moment->seen->ts_ns;
	transfer->cts_psn = moment->seen->psn;
	count(followed, ask);
	return true;
}

static void tell_evidence(struct ft_nccl_moment *moment)
{
	struct ft_nccl_followed *followed = moment->followed;

	moment->lane->asked = true;
	if (followed->by_grid)
		ft_nccl_note(moment->connections, followed, moment->lane_index, FT_NCCL_N5);
	else if (followed->readable >= 2)
		ft_nccl_note(moment->connections, followed, moment->lane_index, FT_NCCL_N2);
	ft_nccl_family_tell(followed);
}

/* A connection that has ended may have left its queue pairs to another one, which begins at PSN 0. */
static bool begins_anew(const struct ft_nccl_moment *moment)
{
	return moment->seen->psn == 0 || ft_nccl_order_is_anothers(moment);
}

/* Of another sequence than transport can have got to: its number still tells how many PSNs went by. */
static bool is_far_in_turn(const struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask)
{
	const struct ft_nccl_lane *lane = moment->lane;
	uint32_t packets = ft_psn_since(moment->seen->psn, lane->cts.next) + 1;
	uint32_t messages;

	if (!lane->asked || lane->cts_step == 0 || !ask->has_k || moment->followed->failing ||
	    begins_anew(moment))
		return true;
	messages = (uint32_t)((ask->k - lane->cts_k) / lane->cts_step);
	return ft_psn_since(packets, messages) <= lane->refused;
}

/* Numbers go up by as many as there are devices, with each PSN: one packet is a clear-to-send. */
static bool is_by_steps(const struct ft_nccl_lane *lane, uint64_t apart, uint64_t missed)
{
	return apart != 0 && apart <= (missed + 1) * lane->cts_step &&
	       apart % lane->cts_step == 0 && apart / lane->cts_step + lane->refused > missed;
}

/* .. so the second one tells how many there are; behind a hole it may not, and is taken as it is. */
static bool shows_step(struct ft_nccl_lane *lane, uint64_t apart, uint64_t missed)
{
	const uint64_t packets = missed + 1;
	const bool is_step =
		apart != 0 && apart % packets == 0 && apart / packets <= FT_NCCL_DEVICES_MAX;

	if (is_step)
		lane->cts_step = (uint8_t)(apart / packets);
	return is_step || missed != 0;
}

static bool follows_last(const struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask)
{
	struct ft_nccl_lane *lane = moment->lane;
	const uint64_t apart = ask->k - lane->cts_k;
	const uint64_t missed = (uint64_t)ft_psn_distance(moment->seen->psn, lane->cts.next);

	if (moment->turn == FT_NCCL_APART)
		return is_far_in_turn(moment, ask);
	if (!lane->asked)
		return true;
	if (lane->cts_step != 0)
		return is_by_steps(lane, apart, missed);
	return (missed != 0 && lane->refused != 0) || shows_step(lane, apart, missed);
}

/* What comes behind has to show whether it was forged. */
static void note_skipping(const struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask)
{
	struct ft_nccl_lane *lane = moment->lane;

	if (moment->turn != FT_NCCL_NEXT || lane->cts_step == 0 || ask->k <= lane->cts_k)
		return;
	lane->skipping = true;
	lane->skipping_k = ask->k;
	lane->skipping_psn = moment->seen->psn;
}

/*
 * One that skipped a number was the connection's own, in the wrong place: the one it skipped came behind it and this is the next of
 * both, or numbers and PSNs go on as from that one.
 */
static bool follows_skipping(const struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask)
{
	const struct ft_nccl_lane *lane = moment->lane;
	const int32_t packets = ft_psn_distance(moment->seen->psn, lane->skipping_psn);

	if (!lane->skipping || packets <= 0 || ask->k <= lane->skipping_k ||
	    moment->turn == FT_NCCL_APART)
		return false;
	if (moment->turn == FT_NCCL_NEXT && lane->skipping_k == lane->cts_k + lane->cts_step)
		return ask->k == lane->skipping_k + lane->cts_step;
	return ask->k - lane->skipping_k == (uint64_t)packets * lane->cts_step;
}

static bool is_in_turn(struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask)
{
	struct ft_nccl_lane *lane = moment->lane;

	if (moment->turn == FT_NCCL_LATE || !ask->is_read)
		return true;
	if (!follows_last(moment, ask) && !follows_skipping(moment, ask)) {
		note_skipping(moment, ask);
		return false;
	}
	lane->cts_k = ask->k;
	lane->refused = 0;
	lane->skipping = lane->skipping && ask->k < lane->skipping_k;
	return true;
}

/*
 * Where clear-to-sends are known by their lengths alone: a ring that goes on wrapping where no FIFO does is another
 * library's.
 */
static void doubt(struct ft_nccl_moment *moment)
{
	struct ft_nccl_followed *followed = moment->followed;

	if (!followed->by_grid || followed->misfits == MISFITS)
		return;
	if (++followed->misfits == MISFITS && !followed->plain)
		ft_nccl_give_up(moment->connections, followed);
}

static bool shows_other_slots(struct ft_nccl_moment *moment, struct ft_nccl_ask *ask)
{
	if (!ask->has_k || !ft_nccl_fork_see(moment, ask->family, ask->k))
		return false;
	ft_nccl_fork_see_first(moment);
	moment->turn = ft_nccl_psns_judge(&moment->lane->cts, moment->seen->psn);
	return ft_nccl_cts_understand(moment->followed, moment->seen, moment->lane_index, ask);
}

/* The place of the first clear-to-send of all, which a set-up tells. */
static bool is_first_of_all(const struct ft_nccl_moment *moment)
{
	return moment->followed->model.is_set_up && !moment->lane->asked &&
	       moment->turn == FT_NCCL_NEXT;
}

/* It may be of another connection, which begins. */
static void refuse(struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask)
{
	const bool is_anew = begins_anew(moment) && !is_first_of_all(moment);

	if (!is_anew && moment->followed->by_grid)
		ft_nccl_cts_refuse_on_grid(moment, ask);
	else if (!is_anew)
		ft_nccl_fault_cts(moment, ask->has_k, ask->k);
	if (!is_anew && moment->turn != FT_NCCL_APART)
		doubt(moment);
	if (is_anew || (!moment->followed->given_up &&
			(moment->turn == FT_NCCL_AHEAD || moment->turn == FT_NCCL_APART ||
			 ft_nccl_order_is_over(moment->followed, moment->seen->ts_ns))))
		ft_nccl_stranger_see(moment->connections, moment->seen);
}

bool ft_nccl_cts_take(struct ft_nccl_moment *moment)
{
	struct ft_nccl_ask ask = { 0 };
	uint64_t before;

	if (!ft_nccl_cts_understand(moment->followed, moment->seen, moment->lane_index, &ask) &&
	    !shows_other_slots(moment, &ask)) {
		refuse(moment, &ask);
		return false;
	}
	if (moment->followed->by_grid)
		ft_nccl_cts_accept_on_grid(moment);
	before = moment->lane->cts_k;
	ask.is_further = !moment->lane->asked || ask.k > before;
	if (!is_in_turn(moment, &ask) || !announce(moment, &ask)) {
		if (!ft_nccl_cts_dispute(moment, &ask))
			ft_nccl_fault_replayed(moment, ask.k);
		return false;
	}
	if (moment->turn == FT_NCCL_AHEAD && moment->lane->asked)
		ft_nccl_order_miss(moment, before);
	tell_evidence(moment);
	if (ask.has_k && ask.requests == 1 && moment->followed->straight != NULL)
		ft_nccl_straight_note(moment->followed, moment->seen, ask.k);
	return true;
}

/* It may have taken a PSN, as what comes behind it shows. */
static void note_refused(const struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;

	if (moment->turn != FT_NCCL_NEXT)
		return;
	if (moment->followed->by_grid)
		lane->skipping_psn = moment->seen->psn;
	if (lane->refused < UINT8_MAX)
		lane->refused++;
}

void ft_nccl_cts_see(struct ft_nccl_moment *moment)
{
	struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_seen *seen = moment->seen;
	struct ft_nccl_psns *psns = &moment->lane->cts;

	moment->turn = ft_nccl_psns_judge(psns, seen->psn);
	if (moment->turn == FT_NCCL_AGAIN) {
		ft_nccl_cts_again(moment);
		return;
	}
	if (ft_nccl_begins(seen->opcode) && !ft_nccl_cts_take(moment)) {
		note_refused(moment);
		return;
	}
	/* what has no address may be of a write by another job, which has this end by now */
	if (moment->turn == FT_NCCL_NEXT && ft_nccl_begins(seen->opcode))
		ft_nccl_anew_refute(moment, true);
	ft_nccl_step(followed, moment->turn == FT_NCCL_NEXT);
	followed->lacking -= (uint64_t)(int64_t)ft_nccl_psns_take(psns, seen->psn, moment->turn);
}
