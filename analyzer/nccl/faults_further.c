#include "faults_parts.h"

#include <inttypes.h>
#include <stdio.h>

#include <decode/packet.h>

#include "asked.h"

/*
 * A further write of the message under way on a queue pair that it cannot have: it has one for each request, in their order, and
 * several requests end apart from their data (nccl-wire, sections 3.2 and 3.3). That is wrong whichever message it is.
 */

bool ft_nccl_is_whole(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_followed *followed = moment->followed;

	return moment->turn == FT_NCCL_NEXT && ft_nccl_is_calm(followed) && !followed->partial &&
	       !followed->failing && moment->lane->exact;
}

const struct ft_nccl_transfer *ft_nccl_whole_under_way(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_transfer *open =
		moment->lane->open ? ft_nccl_ring_find(&moment->followed->ring, moment->lane->at)
				   : NULL;

	if (open == NULL || !open->has_cts || open->partial || ft_nccl_is_doubted(open) ||
	    !ft_nccl_is_whole(moment))
		return NULL;
	return open;
}

/* The one before lacks packets yet. */
static bool is_within_write(const struct ft_nccl_moment *moment)
{
	return moment->lane->writing &&
	       ft_psn_distance(moment->lane->write_end, moment->seen->psn) >= 0;
}

static void tell_end(const struct ft_nccl_moment *moment, uint8_t request)
{
	struct ft_nccl_found found =
		ft_nccl_found_in(moment->followed, moment->seen, FT_NCCL_CONTRADICTION, 0.9);

	snprintf(found.text, sizeof found.text,
		 "writes %" PRIu32 " bytes with an immediate for request %u of several, which end "
		 "apart from their data",
		 moment->seen->length, request);
	ft_nccl_tell_of_known(moment->connections, &found);
}

static void tell_skipping(const struct ft_nccl_moment *moment, uint8_t request, uint8_t next)
{
	struct ft_nccl_found found =
		ft_nccl_found_in(moment->followed, moment->seen, FT_NCCL_CONTRADICTION, 0.9);

	snprintf(found.text, sizeof found.text,
		 "writes %" PRIu32
		 " bytes for request %u of the message under way, where request %u comes next",
		 moment->seen->length, request, next);
	ft_nccl_tell_of_known(moment->connections, &found);
}

static void tell_again(const struct ft_nccl_moment *moment)
{
	struct ft_nccl_found found =
		ft_nccl_found_in(moment->followed, moment->seen, FT_NCCL_WRITE_UNASKED, 0.9);

	snprintf(found.text, sizeof found.text,
		 "writes %" PRIu32 " bytes to 0x%" PRIx64
		 ", where the message under way had its data already",
		 moment->seen->length, moment->seen->va);
	ft_nccl_tell_of_known(moment->connections, &found);
}

static void tell_either(const struct ft_nccl_moment *moment, const struct ft_nccl_begun *first)
{
	struct ft_nccl_found found = ft_nccl_found_in(
		moment->followed, moment->seen, FT_NCCL_WRITE_UNASKED, FT_NCCL_CERTAINTY_OF_BOTH);

	snprintf(found.text, sizeof found.text,
		 "frame %" PRIu64 " writes %" PRIu32 " bytes and frame %" PRIu64 " %" PRIu32
		 " to where one message asked for one write: one of the two is forged",
		 first->frame, first->length, moment->seen->frame, moment->seen->length);
	ft_nccl_tell_of_known(moment->connections, &found);
	found.frame = first->frame;
	found.ts_ns = first->ts_ns;
	ft_nccl_tell_of_known(moment->connections, &found);
}

/* The last write on the queue pair; NULL: it is not remembered. */
static const struct ft_nccl_begun *last_of(const struct ft_nccl_share *share)
{
	if (share->last.frame != 0)
		return &share->last;
	return share->begun ? &share->first : NULL;
}

/*
 * To a request that was written to. `is_last`: no other was since; then the first of the two may be the forged one, if it has less,
 * or the true one has nothing. Otherwise those behind it would have had to be forged, too.
 */
static bool tell_second(const struct ft_nccl_moment *moment, const struct ft_nccl_share *share,
			bool is_last)
{
	const struct ft_nccl_begun *first = last_of(share);

	if (first == NULL)
		return false;
	if (is_last && (moment->seen->length > first->length || moment->seen->length == 0))
		tell_either(moment, first);
	else
		tell_again(moment);
	return true;
}

/* It goes to where the request, or one behind it, was asked for by what can be read. */
static bool goes_to(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *open,
		    uint8_t from, uint8_t *request)
{
	return ft_nccl_answers_from(moment->followed, open, moment->seen, from, request) &&
	       ft_nccl_ring_requests(&moment->followed->ring, open)[*request].has_offered;
}

/* Of one request it may be the end, and an empty part may lie where another request's does. */
static bool may_be_empty(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *open,
			 uint8_t next)
{
	const struct ft_nccl_seen *seen = moment->seen;
	const uint8_t count = open->message.request_count;

	if (seen->length != 0)
		return false;
	return count < 2 || ft_nccl_has_immediate(seen->opcode) ||
	       (next < count &&
		ft_nccl_is_empty_part(moment->followed,
				      ft_nccl_ring_requests(&moment->followed->ring, open) + next,
				      seen));
}

bool ft_nccl_fault_further(struct ft_nccl_moment *moment)
{
	const struct ft_nccl_transfer *open = ft_nccl_whole_under_way(moment);
	const struct ft_nccl_share *share;
	uint8_t request, next = 0;

	if (open == NULL || is_within_write(moment))
		return false;
	share = ft_nccl_ring_shares(&moment->followed->ring, open) + moment->lane_index;
	while (share->requests >> next != 0)
		next++;
	if (next == 0) /* what began it was taken for another one's */
		return false;
	if (may_be_empty(moment, open, next))
		return false;
	if (!goes_to(moment, open, next, &request))
		return goes_to(moment, open, 0, &request) &&
		       tell_second(moment, share, request + 1 == next);
	if (request > next && moment->seen->length != 0)
		tell_skipping(moment, request, next);
	else if (open->message.request_count > 1 && ft_nccl_has_immediate(moment->seen->opcode))
		tell_end(moment, request);
	else
		return false;
	return true;
}
