#include "msn.h"

#include <decode/packet.h>

#include "faults.h"
#include "order.h"
#include "split.h"
#include "turns.h"

/* Messages before it that were next to each other, until one queue pair is believed to have all. */
enum { IN_A_ROW = 2 };

/*
 * No message so far took two requests, a long write and its end: long ones are not sent so, or there was none, as each
 * request took one packet.
 */
static bool are_one_request_each(const struct ft_nccl_followed *followed,
				 const struct ft_nccl_counted *counted)
{
	if (followed->model.adaptive == FT_NCCL_UNKNOWN)
		return counted->msn == ft_psn_add(counted->psn, 1);
	return followed->model.adaptive == FT_NCCL_NO;
}

/* One queue pair has all messages, each of them of one request. */
static bool may_count(const struct ft_nccl_followed *followed)
{
	if (followed->partial || followed->lane_count != 1 || !followed->has_newest)
		return false;
	if (followed->blind)
		return !followed->crowded;
	return !followed->by_grid && followed->ring.request_room == 1 && !followed->shared &&
	       !ft_nccl_may_be_shared(followed) && !ft_nccl_turns_are_open(followed);
}

/* How many messages have come, by what was asked for. False: it cannot be so many. */
static bool read_count(const struct ft_nccl_followed *followed,
		       const struct ft_nccl_counted *counted, uint64_t *count)
{
	uint64_t asked = followed->newest + 1;
	int32_t waiting = ft_psn_distance((uint32_t)asked, counted->msn);

	if (!are_one_request_each(followed, counted) || waiting < 0 ||
	    waiting > FT_NCCL_ASKED_AHEAD || (uint64_t)waiting > asked)
		return false;
	*count = asked - (uint64_t)waiting;
	return true;
}

/* The messages from here on are counted. Where they had others, so had what waits to be told of those before. */
static void go_on_at(const struct ft_nccl_moment *moment, uint64_t next)
{
	if (!ft_nccl_has_numbers(moment->followed) && moment->lane->next != next)
		ft_nccl_fault_forget(moment);
	moment->lane->next = next;
	moment->lane->exact = true;
	moment->lane->slack = 0;
	moment->followed->numbered = true;
}

/* Nothing of the messages was seen to ask for it: it is that of all data so far. */
static void count_blindly(const struct ft_nccl_moment *moment,
			  const struct ft_nccl_counted *counted)
{
	const struct ft_nccl_lane *lane = moment->lane;
	uint64_t count;

	if (!lane->open && lane->data.known && lane->data.next == ft_psn_add(counted->psn, 1) &&
	    read_count(moment->followed, counted, &count))
		go_on_at(moment, count);
}

static struct ft_nccl_share *share_of(const struct ft_nccl_moment *moment,
				      const struct ft_nccl_transfer *transfer)
{
	return ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;
}

/* The message that ended with this PSN, and was seen to begin; NULL: none. */
static struct ft_nccl_transfer *ended_at(const struct ft_nccl_moment *moment, uint32_t psn)
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;

	for (uint32_t i = 0; i < ring->slots; i++) {
		struct ft_nccl_transfer *transfer = &ring->transfers[i];
		const struct ft_nccl_share *share = share_of(moment, transfer);

		if (transfer->used && share->used && share->begun && share->ended &&
		    share->to == psn)
			return transfer;
	}
	return NULL;
}

/* Message k asked for what came as this one. */
static bool is_asked_by(const struct ft_nccl_moment *moment,
			const struct ft_nccl_transfer *transfer, uint64_t k)
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;
	const struct ft_nccl_transfer *asking = ft_nccl_ring_find(ring, k);
	const struct ft_nccl_begun *first = &share_of(moment, transfer)->first;
	const struct ft_nccl_request *request;

	if (asking == NULL || !asking->has_cts)
		return false;
	request = ft_nccl_ring_requests(ring, asking);
	return request->has_offered && request->va == first->va &&
	       first->length <= request->offered;
}

/*
 * No other queue pair that was not met yet has messages in between: those right before it are the ones before message k, by
 * where they went.
 */
static bool are_in_a_row(const struct ft_nccl_moment *moment,
			 const struct ft_nccl_transfer *transfer, uint64_t k)
{
	for (unsigned i = 0; i < IN_A_ROW; i++) {
		const struct ft_nccl_transfer *before =
			ended_at(moment, ft_psn_back(share_of(moment, transfer)->from, 1));

		if (before == NULL || k == 0 || !is_asked_by(moment, before, k - 1) ||
		    is_asked_by(moment, before, k))
			return false;
		transfer = before;
		k--;
	}
	return true;
}

/* The next message in the ring began right behind this one; NULL: it did not. */
static struct ft_nccl_transfer *behind(const struct ft_nccl_moment *moment,
				       const struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_transfer *next =
		ft_nccl_ring_find(&moment->followed->ring, transfer->message.k + 1);
	const struct ft_nccl_share *share;

	if (next == NULL)
		return NULL;
	share = share_of(moment, next);
	return share->used && share->begun &&
			       share->from == ft_psn_add(share_of(moment, transfer)->to, 1)
		       ? next
		       : NULL;
}

/* Up to the last packet seen no hole came behind the message, which has this number: those behind it are counted. */
static void count_on(const struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
		     uint64_t k)
{
	bool is_it = transfer->message.k == k;
	const uint32_t last = ft_psn_back(moment->lane->data.next, 1);

	for (;;) {
		if (is_it)
			transfer->adrift = transfer->guessed = false;
		if (ft_psn_distance(share_of(moment, transfer)->to, last) >= 0)
			break;
		transfer = behind(moment, transfer);
		if (transfer == NULL)
			return;
		k++;
	}
	go_on_at(moment, k + 1);
}

static void count_seen(const struct ft_nccl_moment *moment, const struct ft_nccl_counted *counted)
{
	struct ft_nccl_transfer *transfer = ended_at(moment, counted->psn);
	uint64_t count;

	if (transfer == NULL || !read_count(moment->followed, counted, &count) || count == 0 ||
	    !is_asked_by(moment, transfer, count - 1))
		return;
	if (!ft_nccl_split_is_known(moment->followed) && !are_in_a_row(moment, transfer, count - 1))
		return;
	if (transfer->message.k != count - 1)
		ft_nccl_order_forget(moment->followed, moment->lane_index);
	count_on(moment, transfer, count - 1);
}

static void count(const struct ft_nccl_moment *moment, const struct ft_nccl_counted *counted)
{
	if (moment->followed->numbered || !may_count(moment->followed))
		return;
	if (moment->followed->blind)
		count_blindly(moment, counted);
	else
		count_seen(moment, counted);
}

/* What it counts has passed, or is to pass yet. */
static bool has_passed(const struct ft_nccl_lane *lane, uint32_t psn)
{
	return lane->data.known && ft_psn_distance(lane->data.next, psn) > 0;
}

void ft_nccl_msn_acknowledge(const struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;
	const struct ft_nccl_counted counted = { true, moment->seen->psn, moment->seen->msn };

	if ((moment->seen->has & FT_HAS_AETH) == 0)
		return;
	if (has_passed(lane, counted.psn))
		count(moment, &counted);
	else if (!lane->counted_ahead.known || has_passed(lane, lane->counted_ahead.psn))
		lane->counted_ahead = counted;
}

void ft_nccl_msn_see(const struct ft_nccl_moment *moment)
{
	struct ft_nccl_counted *ahead = &moment->lane->counted_ahead;

	if (!ahead->known || !has_passed(moment->lane, ahead->psn))
		return;
	if (moment->seen->psn == ahead->psn)
		count(moment, ahead);
	ahead->known = false;
}
