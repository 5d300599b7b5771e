#include "faults_parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "asked.h"
#include "order.h"
#include "split.h"
#include "turns.h"

/* Ends of messages that come before all of their data has. */

static bool has_all_requests(const struct ft_nccl_share *share, uint8_t count)
{
	return share->requests == (1u << count) - 1;
}

/* It is more than there was for one of the requests on the queue pair, or the first for it. */
static bool exceeds(const struct ft_nccl_followed *followed,
		    const struct ft_nccl_transfer *transfer, uint8_t lane,
		    const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_ring *ring = &followed->ring;
	const struct ft_nccl_share *share = ft_nccl_ring_shares(ring, transfer) + lane;
	uint64_t written;
	uint8_t request;

	if (!ft_nccl_answers(followed, transfer, seen, &request))
		return false;
	if (transfer->message.request_count != 1)
		written = ft_nccl_ring_requests(ring, transfer)[request].written;
	else if (ft_nccl_split_came_whole(followed, transfer))
		return seen->length > transfer->written;
	else
		written = share->bytes;
	return (share->requests >> request & 1) == 0 || seen->length > written;
}

bool ft_nccl_may_be_rest(const struct ft_nccl_followed *followed,
			 const struct ft_nccl_transfer *transfer, uint8_t lane,
			 const struct ft_nccl_seen *seen)
{
	return transfer->has_cts && ft_nccl_ring_shares(&followed->ring, transfer)[lane].ended &&
	       exceeds(followed, transfer, lane, seen);
}

void ft_nccl_tell_either(struct ft_nccl_connections *connections, const struct ft_nccl_found *found,
			 const struct ft_nccl_begun *begun)
{
	struct ft_nccl_found other = *found;

	other.frame = begun->frame;
	other.ts_ns = begun->ts_ns;
	ft_nccl_tell_of_data(connections, found);
	ft_nccl_tell_of_data(connections, &other);
}

/* What the message began with on the queue pair, and the write. */
static void tell_both(struct ft_nccl_connections *connections,
		      const struct ft_nccl_followed *followed,
		      const struct ft_nccl_transfer *transfer, uint8_t lane,
		      const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_share *share = ft_nccl_ring_shares(&followed->ring, transfer) + lane;
	struct ft_nccl_found found =
		ft_nccl_found_in(followed, seen, FT_NCCL_WRITE_UNASKED, FT_NCCL_CERTAINTY_OF_BOTH);

	if (!share->begun)
		return;
	ft_nccl_found_set_k(&found, transfer->message.k);
	snprintf(found.text, sizeof found.text,
		 "message %" PRIu64 " from frame %" PRIu64 " on had ended, and frame %" PRIu64
		 " writes %" PRIu32 " bytes to 0x%" PRIx64 " for it: one of the two is forged",
		 transfer->message.k, share->first.frame, seen->frame, seen->length, seen->va);
	ft_nccl_tell_either(connections, &found, &share->first);
}

bool ft_nccl_fault_rest(struct ft_nccl_connections *connections,
			const struct ft_nccl_followed *followed,
			const struct ft_nccl_transfer *transfer, uint8_t lane,
			const struct ft_nccl_seen *seen)
{
	if (!ft_nccl_may_be_rest(followed, transfer, lane, seen))
		return false;
	if (!ft_nccl_is_doubted(transfer))
		tell_both(connections, followed, transfer, lane, seen);
	return true;
}

bool ft_nccl_fault_rest_before(struct ft_nccl_connections *connections,
			       const struct ft_nccl_followed *followed, uint8_t lane, uint64_t k,
			       const struct ft_nccl_seen *seen)
{
	const uint32_t step = ft_nccl_split_step(followed);
	const struct ft_nccl_transfer *before =
		step != 0 && k >= step ? ft_nccl_ring_find(&followed->ring, k - step) : NULL;

	return before != NULL && ft_nccl_fault_rest(connections, followed, before, lane, seen);
}

bool ft_nccl_ended_early(const struct ft_nccl_transfer *transfer, const struct ft_nccl_share *share)
{
	const uint8_t count = transfer->message.request_count;

	if (count > 1)
		return !has_all_requests(share, count) ||
		       (share->immdt == 0 && !transfer->sized && transfer->written != 0);
	return transfer->bare &&
	       ft_nccl_immediate_orders(share->immdt, (uint32_t)transfer->written) == 0;
}

/* What the message asked for, and what the queue pair had of it, is all that there was, and it is known which message it is. */
static bool is_exact(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_followed *followed = moment->followed;

	return ft_nccl_is_whole(moment) &&
	       (followed->model.is_set_up || ft_nccl_had_all(followed)) && !followed->overtaken &&
	       followed->numbered && !followed->unsure && !ft_nccl_turns_are_open(followed);
}

void ft_nccl_fault_few(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_share *share =
		ft_nccl_ring_shares(&followed->ring, transfer) + moment->lane_index;
	const uint8_t count = transfer->message.request_count;
	struct ft_nccl_found found =
		ft_nccl_found_in(followed, moment->seen, FT_NCCL_CONTRADICTION, 0.9);

	if (count < 2 || !is_exact(moment) || !transfer->has_cts || !transfer->message.has_k ||
	    ft_nccl_is_doubted(transfer) || !share->begun || has_all_requests(share, count))
		return;
	ft_nccl_found_set_k(&found, transfer->message.k);
	snprintf(found.text, sizeof found.text,
		 "ends the message with %d of its %u requests written to on the queue pair",
		 __builtin_popcount(share->requests), count);
	ft_nccl_tell_of_data(moment->connections, &found);
	transfer->doubtful = true;
}

/* Sizes of a message none of which is under way, right behind the end of another one: each of its requests has a write before them. */
static bool fault_lone_sizes(struct ft_nccl_moment *moment)
{
	struct ft_nccl_found found =
		ft_nccl_found_in(moment->followed, moment->seen, FT_NCCL_CONTRADICTION, 0.9);

	if (!moment->lane->carried || moment->lane->ended_to != moment->seen->psn ||
	    !ft_nccl_is_whole(moment))
		return false;
	snprintf(found.text, sizeof found.text,
		 "writes %" PRIu32 " bytes to the array of sizes, with no message under way",
		 moment->seen->length);
	ft_nccl_tell_of_known(moment->connections, &found);
	return true;
}

bool ft_nccl_fault_sizes(struct ft_nccl_moment *moment, uint64_t k)
{
	struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_lane *lane = moment->lane;
	struct ft_nccl_found found =
		ft_nccl_found_in(followed, moment->seen, FT_NCCL_CONTRADICTION, 0.9);

	if (!lane->open)
		return fault_lone_sizes(moment);
	if (k == lane->at || !is_exact(moment))
		return false;
	ft_nccl_found_set_k(&found, lane->at);
	snprintf(found.text, sizeof found.text,
		 "ends message %" PRIu64 " with a write to the place of message %" PRIu64
		 " in the array of sizes",
		 lane->at, k);
	ft_nccl_tell_of_data(moment->connections, &found);
	ft_nccl_order_distrust(followed, moment->lane_index, lane->begun_frame);
	lane->open = lane->writing = false;
	lane->next = lane->at;
	return true;
}

bool ft_nccl_fault_unended(struct ft_nccl_moment *moment, uint64_t begins)
{
	const struct ft_nccl_transfer *open = ft_nccl_whole_under_way(moment);
	struct ft_nccl_found found =
		ft_nccl_found_in(moment->followed, moment->seen, FT_NCCL_WRITE_UNASKED, 0.9);

	if (begins <= moment->lane->at || open == NULL || !is_exact(moment))
		return false;
	snprintf(found.text, sizeof found.text,
		 "writes %" PRIu32 " bytes to 0x%" PRIx64 ", with all of message %" PRIu64
		 " written but no end of it yet",
		 moment->seen->length, moment->seen->va, moment->lane->at);
	ft_nccl_tell_of_data(moment->connections, &found);
	return true;
}
