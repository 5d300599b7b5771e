#include "failover.h"

#include <decode/packet.h>

#include "split.h"

static bool may_fail(const struct ft_nccl_followed *followed)
{
	return followed->model.failover.probes_named && followed->lane_count > 1;
}

void ft_nccl_failover_begin(struct ft_nccl_followed *followed)
{
	struct ft_nccl_ring *ring = &followed->ring;

	if (followed->lane_count < 2)
		return;
	followed->failing = true;
	followed->numbered = false;
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		struct ft_nccl_lane *lane = &followed->lanes[i];

		lane->exact = lane->orphan_exact = lane->counted = false;
		lane->has_odd = false;
		ft_nccl_drop_early(lane);
		lane->slack = FT_NCCL_SLACK_MOST;
	}
	for (uint32_t i = 0; i < ring->slots; i++) {
		struct ft_nccl_transfer *transfer = &ring->transfers[i];

		if (transfer->used && transfer->message.first_frame != 0 &&
		    !ft_nccl_is_complete(followed, transfer))
			transfer->adrift = true;
	}
}

/* What a write has to do with a message of late. */
enum place {
	NOWHERE,
	ANOTHERS,
	ANOTHER_PART,
	RIGHT,
	AWAITED /* RIGHT, and nothing has answered it */
};

/* The newest message of which the lane has a part, by where that went; NULL: none that tells. */
static const struct ft_nccl_transfer *last_part(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;
	const struct ft_nccl_transfer *last = NULL;

	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *transfer = &ring->transfers[i];
		const struct ft_nccl_share *share =
			ft_nccl_ring_shares(ring, transfer) + moment->lane_index;

		if (transfer->used && transfer->has_cts && transfer->message.request_count == 1 &&
		    share->used && share->first.frame != 0 && share->first.length != 0 &&
		    (last == NULL || transfer->message.k > last->message.k))
			last = transfer;
	}
	return last;
}

/*
 * The first part of a message lies at the start of its buffer, and no other one does that has bytes. Whether the lane has
 * first parts; UNKNOWN: nothing tells.
 */
static enum ft_nccl_known has_first_parts(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const uint8_t lane = moment->lane_index, of_device = lane % followed->model.devices;
	const struct ft_nccl_transfer *last;
	uint64_t va;

	if (lane == 0 || of_device != 0 || followed->model.split == FT_NCCL_YES)
		return lane == 0 ? FT_NCCL_YES : FT_NCCL_NO;
	if (followed->model.split == FT_NCCL_NO)
		return FT_NCCL_YES;
	last = last_part(moment);
	if (last == NULL)
		return FT_NCCL_UNKNOWN;
	va = ft_nccl_ring_shares(&followed->ring, last)[lane].first.va;
	return va == ft_nccl_ring_requests(&followed->ring, last)->va ? FT_NCCL_YES : FT_NCCL_NO;
}

/* In message k, if it is remembered and has one request. */
static enum place place_in(const struct ft_nccl_moment *moment, uint64_t k,
			   enum ft_nccl_known is_first)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_transfer *transfer = ft_nccl_ring_find(&followed->ring, k);
	bool is_start;
	uint8_t request;

	if (transfer == NULL || !transfer->has_cts || transfer->message.request_count != 1)
		return NOWHERE;
	if (!ft_nccl_answers(followed, transfer, moment->seen, &request))
		return ANOTHERS;
	is_start = ft_nccl_ring_requests(&followed->ring, transfer)->va == moment->seen->va;
	if (is_start != (is_first == FT_NCCL_YES) ||
	    !ft_nccl_split_uses(followed, moment->lane_index, k))
		return ANOTHER_PART;
	if (transfer->message.first_frame == 0 &&
	    transfer->message.k + FT_NCCL_ASKED_AHEAD > followed->newest)
		return AWAITED;
	return RIGHT;
}

/* The best place among all that are remembered. */
static enum place place_among(const struct ft_nccl_moment *moment, enum ft_nccl_known is_first)
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;
	enum place best = NOWHERE;

	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *transfer = &ring->transfers[i];
		enum place place = NOWHERE;

		if (transfer->used)
			place = place_in(moment, transfer->message.k, is_first);
		best = place > best ? place : best;
	}
	return best;
}

/*
 * It lies where the lane's next message asked for it; or, where it is not known which one that is, or its clear-to-send has not
 * passed, where one of late did. What is of none of those is not of a port that failed.
 */
static bool goes_by_the_rule(const struct ft_nccl_moment *moment, enum ft_nccl_known is_first)
{
	const struct ft_nccl_followed *followed = moment->followed;
	enum place among = place_among(moment, is_first), next = NOWHERE;

	if (among == NOWHERE || among == ANOTHERS)
		return true;
	if (ft_nccl_split_is_known(followed))
		next = place_in(
			moment,
			ft_nccl_split_first(followed, moment->lane_index, moment->lane->next),
			is_first);
	if (ft_nccl_split_is_known(followed) && among == AWAITED)
		return next == AWAITED; /* another queue pair's, if it is not the next one here */
	return next >= RIGHT || (next == NOWHERE && among >= RIGHT);
}

/* Which message the lane has next is known, or those that it had so far are counted. */
static bool is_followed_closely(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_lane *lane = moment->lane;

	return !lane->open && moment->turn == FT_NCCL_NEXT &&
	       (ft_nccl_split_is_known(moment->followed) ? lane->exact : lane->counted);
}

void ft_nccl_failover_see(const struct ft_nccl_moment *moment)
{
	struct ft_nccl_followed *followed = moment->followed;
	enum ft_nccl_known is_first;

	if (!may_fail(followed) || followed->failing || !is_followed_closely(moment) ||
	    (moment->seen->has & FT_HAS_RETH) == 0 || moment->seen->length == 0)
		return;
	is_first = has_first_parts(moment);
	if (is_first != FT_NCCL_UNKNOWN && !goes_by_the_rule(moment, is_first))
		ft_nccl_failover_begin(followed);
}

/* All of the lane's part of message k, by where it went. */
static bool is_part_of(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *part,
		       uint64_t k)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_transfer *asked = ft_nccl_ring_find(&followed->ring, k);
	const struct ft_nccl_share *share =
		ft_nccl_ring_shares(&followed->ring, part) + moment->lane_index;
	const struct ft_nccl_request *request;
	bool is_start;

	if (asked == NULL || !asked->has_cts || asked->message.request_count != 1 ||
	    !ft_nccl_share_is_whole(share) || share->first.length == 0)
		return false;
	request = ft_nccl_ring_requests(&followed->ring, asked);
	is_start = share->first.va == request->va;
	return share->first.va - request->va < request->offered &&
	       is_start == (moment->lane_index == 0);
}

/* Each lane comes to the same message next. */
static bool all_go_on_at(const struct ft_nccl_followed *followed, uint64_t next)
{
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		const struct ft_nccl_lane *lane = &followed->lanes[i];

		if (lane->open || lane->slack != 0 || lane->next != next)
			return false;
	}
	return true;
}

static void resume(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer,
		   uint64_t k)
{
	struct ft_nccl_followed *followed = moment->followed;

	if (followed->model.split != FT_NCCL_YES || !is_part_of(moment, transfer, k))
		return;
	moment->lane->at = k;
	moment->lane->next = k + 1;
	moment->lane->slack = 0;
	if (!all_go_on_at(followed, k + 1))
		return;
	followed->failing = false;
	for (uint8_t i = 0; i < followed->lane_count; i++)
		followed->lanes[i].exact = true;
}

void ft_nccl_failover_end_at(const struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_followed *followed = moment->followed;
	uint64_t k =
		followed->newest - (uint32_t)((uint32_t)followed->newest - moment->seen->immdt);

	if (!may_fail(followed) || followed->model.imm_content != FT_NCCL_IMM_ID)
		return;
	if (followed->failing)
		resume(moment, transfer, k);
	else if (transfer->message.has_k && moment->seen->immdt != (uint32_t)transfer->message.k) {
		transfer->adrift = true;
		ft_nccl_failover_begin(followed);
	}
}

struct ft_nccl_answer ft_nccl_failover_answer(const struct ft_nccl_moment *moment)
{
	/* a number that no clear-to-send has while this is under way */
	const uint64_t beyond = FT_NCCL_ASKED_AHEAD + 1 + (uint64_t)moment->lane_index;

	return (struct ft_nccl_answer){
		.kind = FT_NCCL_ANSWER_DATA,
		.k = moment->followed->newest + beyond,
		.begins = true,
	};
}
