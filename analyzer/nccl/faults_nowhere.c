#include "faults_parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "anew.h"
#include "answer.h"
#include "order.h"
#include "split.h"

/*
 * Where it is a guess how queue pairs share the messages or take turns, it is not known which message a write is of. One
 * that no clear-to-send asked for, or only those of messages that have all of their data, and that the next one does
 * not ask for either, is wrong whichever that is.
 */

/*
 * All that is asked for of late was seen and can be read, and nothing was seen to pass out of order. The queue pair has begun
 * with that: what was asked for before is over there.
 */
static bool may_judge_places(const struct ft_nccl_followed *followed,
			     const struct ft_nccl_lane *lane)
{
	return ft_nccl_can_read(followed) && followed->has_newest && lane->placed &&
	       lane->at >= followed->oldest && !followed->overtaken && ft_nccl_is_calm(followed) &&
	       ft_nccl_saw_all_before(followed, followed->newest + 1);
}

/* What the clear-to-sends of late say of a write; of those that are over, *k is the newest. */
enum asking { NOBODY, OVER, MAYBE };

/*
 * No more of it is to come on the queue pair, which has brought all of its part; or on any: it has one request, and all that its
 * immediate says is there. Of a layout of no release an end of which nothing was written before may as well be forged.
 */
static bool is_over(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_share *share =
		ft_nccl_ring_shares(&followed->ring, transfer) + moment->lane_index;

	if (ft_nccl_is_doubted(transfer) || transfer->undecided ||
	    ft_nccl_ends_oddly(followed, transfer) ||
	    (transfer->message.request_count > 1 &&
	     ft_nccl_may_be_rest(followed, transfer, moment->lane_index, moment->seen)))
		return false;
	return (ft_nccl_share_is_whole(share) && (share->bytes != 0 || !followed->by_grid)) ||
	       (followed->model.imm_content == FT_NCCL_IMM_LENGTH &&
		ft_nccl_split_came_whole(followed, transfer));
}

/* Not known of a message whose clear-to-send was missed; the next one's is still to come. */
static enum asking asking_of(const struct ft_nccl_moment *moment,
			     const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_followed *followed = moment->followed;
	uint64_t k = transfer->message.k;
	uint8_t request;

	if (!transfer->has_cts)
		return k >= followed->oldest && k <= followed->newest ? MAYBE : NOBODY;
	if (!ft_nccl_answers(followed, transfer, moment->seen, &request))
		return NOBODY;
	return is_over(moment, transfer) ? OVER : MAYBE;
}

static enum asking who_asked(const struct ft_nccl_moment *moment, uint64_t *k)
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;
	enum asking most = NOBODY;

	*k = 0;
	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *transfer = &ring->transfers[i];
		enum asking asking = transfer->used ? asking_of(moment, transfer) : NOBODY;

		most = asking > most ? asking : most;
		if (asking == OVER && transfer->message.k > *k)
			*k = transfer->message.k;
	}
	return most;
}

/* A write of some bytes of which it can be told where it may go. */
static bool is_judged(const struct ft_nccl_moment *moment)
{
	return moment->seen->length != 0 && (moment->seen->has & FT_HAS_RETH) != 0 &&
	       may_judge_places(moment->followed, moment->lane);
}

bool ft_nccl_goes_nowhere(const struct ft_nccl_moment *moment)
{
	uint64_t k;

	return is_judged(moment) && ft_nccl_is_in_order(moment->followed, moment->lane) &&
	       who_asked(moment, &k) == NOBODY;
}

/*
 * Which message a write is of is a guess, as long as queue pairs that were not met yet may take turns with this one. What was
 * rejected is judged elsewhere then.
 */
static bool may_be_anyones(const struct ft_nccl_followed *followed, bool is_rejected)
{
	return ft_nccl_has_guessed_lanes(followed) || (!is_rejected && !ft_nccl_is_alone(followed));
}

/* Waits for the next clear-to-send: *k is of the newest message that asked for it, but is over. */
static void let_wait(struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen,
		     const uint64_t *k)
{
	followed->has_nowhere = true;
	followed->nowhere = *seen;
	followed->nowhere_k = followed->newest + 1;
	followed->nowhere_over = k != NULL;
	followed->nowhere_over_k = k != NULL ? *k : 0;
}

void ft_nccl_fault_nowhere(struct ft_nccl_moment *moment, bool is_rejected)
{
	struct ft_nccl_followed *followed = moment->followed;
	enum asking asking;
	uint64_t k;

	if (followed->has_nowhere || moment->turn != FT_NCCL_NEXT ||
	    !may_be_anyones(followed, is_rejected) || !is_judged(moment))
		return;
	asking = who_asked(moment, &k);
	if (asking == MAYBE)
		return;
	let_wait(followed, moment->seen, asking == OVER ? &k : NULL);
	ft_nccl_hold(moment->connections, moment->seen->frame);
}

/* Nor may it be the end of a message of several requests, whose sizes go elsewhere. */
static bool may_be_sizes(const struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_ring *ring = &followed->ring;

	for (uint32_t i = 0; i < ring->slots; i++) {
		if (ring->transfers[i].used && ring->transfers[i].message.request_count != 1)
			return ft_nccl_has_immediate(seen->opcode);
	}
	return false;
}

bool ft_nccl_fault_nowhere_again(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_seen *seen = moment->seen;
	struct ft_nccl_found found = ft_nccl_found_in(followed, seen, FT_NCCL_WRITE_OUTSIDE, 0.8);

	if (!ft_nccl_has_guessed_lanes(followed) || !ft_nccl_goes_nowhere(moment) ||
	    may_be_sizes(followed, seen))
		return false;
	snprintf(found.text, sizeof found.text,
		 "writes %" PRIu32 " bytes to 0x%" PRIx64
		 " with a PSN that passed, which none of the clear-to-sends up to message %" PRIu64
		 " asked for",
		 seen->length, seen->va, followed->newest);
	ft_nccl_tell_whichever(moment, &found);
	return true;
}

static bool was_asked_for(const struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_ring *ring = &followed->ring;
	uint8_t request;

	for (uint32_t i = 0; i < ring->slots; i++) {
		if (ring->transfers[i].used && ring->transfers[i].has_cts &&
		    ft_nccl_answers(followed, &ring->transfers[i], seen, &request))
			return true;
	}
	return false;
}

/*
 * It is none of what the queue pair carried for an earlier connection, which would have ended before this one was set up: it comes
 * just before the first packet of all, and has the PSN of that or of one behind it.
 */
static bool is_of_beginning(const struct ft_nccl_seen *seen, const struct ft_nccl_seen *first)
{
	return first->psn == 0 && ft_psn_distance(seen->psn, first->psn) >= 0 &&
	       ft_nccl_is_soon(seen->ts_ns, first->ts_ns);
}

/* All that was asked for is known, from the first message on. */
static bool knows_all_asked(const struct ft_nccl_followed *followed)
{
	return ft_nccl_can_read(followed) && followed->has_newest && followed->oldest == 0 &&
	       ft_nccl_saw_all_before(followed, followed->newest + 1);
}

void ft_nccl_fault_before(struct ft_nccl_followed *followed, const struct ft_nccl_log *log,
			  const struct ft_nccl_seen *first)
{
	struct ft_nccl_logged logged;
	unsigned odd = 0;

	if (followed->has_nowhere || !knows_all_asked(followed))
		return;
	for (uint32_t at = 0;
	     ft_nccl_log_next(log, &at, &logged) && logged.seen.frame < first->frame;) {
		const struct ft_nccl_seen *seen = &logged.seen;

		if ((seen->has & FT_HAS_RETH) == 0 || seen->length == 0 ||
		    was_asked_for(followed, seen))
			continue;
		if (odd++ == 0 && is_of_beginning(seen, first) && !may_be_sizes(followed, seen))
			let_wait(followed, seen, NULL);
	}
	followed->has_nowhere = followed->has_nowhere && odd == 1;
}

static void tell_nowhere(struct ft_nccl_connections *connections,
			 const struct ft_nccl_followed *followed, uint64_t newest, double certainty)
{
	const struct ft_nccl_seen *seen = &followed->nowhere;
	struct ft_nccl_found found = ft_nccl_found_in(
		followed, seen,
		followed->nowhere_over ? FT_NCCL_WRITE_UNASKED : FT_NCCL_WRITE_OUTSIDE, certainty);

	if (followed->nowhere_over)
		snprintf(found.text, sizeof found.text,
			 "writes %" PRIu32 " bytes to 0x%" PRIx64 ", where message %" PRIu64
			 " has had all of its data, and none of the clear-to-sends up to message "
			 "%" PRIu64 " asks for more",
			 seen->length, seen->va, followed->nowhere_over_k, newest);
	else
		snprintf(found.text, sizeof found.text,
			 "writes %" PRIu32 " bytes to 0x%" PRIx64
			 ", which none of the clear-to-sends up to message %" PRIu64 " asked for",
			 seen->length, seen->va, newest);
	ft_nccl_tell_in_order(connections, &found);
}

uint64_t ft_nccl_fault_nowhere_resolve(struct ft_nccl_moment *moment,
				       const struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_followed *followed = moment->followed;
	uint64_t awaited = followed->nowhere_k;
	uint8_t request;

	if (!followed->has_nowhere || transfer->message.k < awaited)
		return 0;
	followed->has_nowhere = false;
	if (transfer->message.k != awaited || followed->partial ||
	    ft_nccl_answers(followed, transfer, &followed->nowhere, &request))
		return 0;
	tell_nowhere(moment->connections, followed, awaited, 0.85);
	return followed->nowhere.frame;
}

uint64_t ft_nccl_fault_nowhere_settle(struct ft_nccl_connections *connections,
				      struct ft_nccl_followed *followed)
{
	if (!followed->has_nowhere)
		return 0;
	followed->has_nowhere = false;
	tell_nowhere(connections, followed, followed->newest, 0.7);
	return followed->nowhere.frame;
}
