#include "faults_parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "anew.h"
#include "answer.h"

/*
 * Where it is a guess how queue pairs share the messages or take turns, it is not known which message a write is of. One
 * that no clear-to-send asked for, nor the one that comes next, is wrong whichever that is.
 */

/*
 * All that is asked for of late was seen and can be read, and nothing has passed out of order. The queue pair has begun with
 * that: what was asked for before is over there.
 */
static bool may_judge_places(const struct ft_nccl_followed *followed,
			     const struct ft_nccl_lane *lane)
{
	return !followed->model.has_tcp && !followed->unsure && !followed->partial &&
	       !followed->by_grid && followed->unreadable == 0 && followed->has_newest &&
	       lane->carried && lane->at >= followed->oldest && !followed->overtaken &&
	       lane->data_acked.ordered && followed->lanes[0].cts_acked.ordered &&
	       ft_nccl_is_calm(followed) && ft_nccl_saw_all_before(followed, followed->newest + 1);
}

/* Not known of a message whose clear-to-send was missed; the next one's is still to come. */
static bool may_be_asked_for(const struct ft_nccl_followed *followed,
			     const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_ring *ring = &followed->ring;
	uint8_t request;

	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *transfer = &ring->transfers[i];
		uint64_t k = transfer->message.k;
		bool missed = !transfer->has_cts && k >= followed->oldest && k <= followed->newest;

		if (transfer->used &&
		    (missed ||
		     (transfer->has_cts && ft_nccl_answers(followed, transfer, seen, &request))))
			return true;
	}
	return false;
}

bool ft_nccl_goes_nowhere(const struct ft_nccl_moment *moment)
{
	return moment->seen->length != 0 && (moment->seen->has & FT_HAS_RETH) != 0 &&
	       may_judge_places(moment->followed, moment->lane) &&
	       !may_be_asked_for(moment->followed, moment->seen);
}

void ft_nccl_fault_nowhere(struct ft_nccl_moment *moment)
{
	struct ft_nccl_followed *followed = moment->followed;

	if (followed->has_nowhere || moment->turn != FT_NCCL_NEXT ||
	    !ft_nccl_has_guessed_lanes(followed) || !ft_nccl_goes_nowhere(moment))
		return;
	followed->has_nowhere = true;
	followed->nowhere = *moment->seen;
	followed->nowhere_k = followed->newest + 1;
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

static void tell_nowhere(struct ft_nccl_connections *connections,
			 const struct ft_nccl_followed *followed, uint64_t newest, double certainty)
{
	const struct ft_nccl_seen *seen = &followed->nowhere;
	struct ft_nccl_found found =
		ft_nccl_found_in(followed, seen, FT_NCCL_WRITE_OUTSIDE, certainty);

	snprintf(found.text, sizeof found.text,
		 "writes %" PRIu32 " bytes to 0x%" PRIx64
		 ", which none of the clear-to-sends up to message %" PRIu64 " asked for",
		 seen->length, seen->va, newest);
	ft_nccl_tell_surely(connections, &found);
}

void ft_nccl_fault_nowhere_resolve(struct ft_nccl_moment *moment,
				   const struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_followed *followed = moment->followed;
	uint64_t awaited = followed->nowhere_k;
	uint8_t request;

	if (!followed->has_nowhere || transfer->message.k < awaited)
		return;
	followed->has_nowhere = false;
	if (transfer->message.k == awaited && !followed->partial &&
	    !ft_nccl_answers(followed, transfer, &followed->nowhere, &request))
		tell_nowhere(moment->connections, followed, awaited, 0.85);
}

void ft_nccl_fault_nowhere_settle(struct ft_nccl_connections *connections,
				  struct ft_nccl_followed *followed)
{
	if (followed->has_nowhere)
		tell_nowhere(connections, followed, followed->newest, 0.7);
	followed->has_nowhere = false;
}
