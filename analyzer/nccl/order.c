#include "order.h"

#include <capture/frame.h>

#include "faults.h"
#include "msn.h"
#include "split.h"

#define LONG_NS UINT64_C(1000000000)

void ft_nccl_order_acknowledge(const struct ft_nccl_moment *moment, bool is_data)
{
	struct ft_nccl_lane *lane = moment->lane;

	if (is_data)
		ft_nccl_acknowledge(&lane->cts_acked, &lane->cts, moment->seen->psn);
	else
		ft_nccl_acknowledge(&lane->data_acked, &lane->data, moment->seen->psn);
	if (!is_data)
		ft_nccl_msn_acknowledge(moment);
	if (moment->connections->waiting_count != 0 && ft_nccl_has_numbers(moment->followed))
		ft_nccl_fault_release(moment->connections, moment->followed);
}

void ft_nccl_order_see(const struct ft_nccl_moment *moment, const struct ft_nccl_acked *acked)
{
	struct ft_nccl_followed *followed = moment->followed;
	uint32_t lag = ft_psn_since(acked->psn, moment->seen->psn) + 1;

	if (moment->connections->is_replaying ||
	    !ft_nccl_is_acknowledged(acked, moment->seen->psn, moment->turn))
		return;
	followed->overtaken = true;
	followed->lag = lag > followed->lag ? lag : followed->lag;
}

bool ft_nccl_order_refutes(const struct ft_nccl_moment *moment, uint64_t k)
{
	const struct ft_nccl_lane *lane = moment->lane;
	uint32_t step = ft_nccl_split_step(moment->followed);
	const struct ft_nccl_transfer *before;

	if (lane->slack == 0 || lane->begun_frame == 0 || moment->turn != FT_NCCL_NEXT ||
	    step == 0 || k < step)
		return false;
	before = ft_nccl_ring_find(&moment->followed->ring, k - step);
	return before != NULL && before->has_cts && before->message.cts_frame > lane->begun_frame;
}

/* Memory that a message goes to was offered anew, or as many more messages asked for as wait at a time. */
static bool is_over(const struct ft_nccl_ring *ring, const struct ft_nccl_transfer *transfer,
		    const struct ft_nccl_transfer *later)
{
	return later->message.k >= transfer->message.k + FT_NCCL_ASKED_AHEAD ||
	       ft_nccl_ring_requests(ring, later)->va == ft_nccl_ring_requests(ring, transfer)->va;
}

static bool is_over_by(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer,
		       const struct ft_nccl_transfer *later)
{
	return later != NULL && later->has_cts && later->message.cts_frame < moment->seen->frame &&
	       is_over(&moment->followed->ring, transfer, later);
}

bool ft_nccl_order_contradicts(const struct ft_nccl_moment *moment, uint64_t k)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_ring *ring = &followed->ring;
	const struct ft_nccl_transfer *transfer = ft_nccl_ring_find(ring, k);

	if (followed->lane_count == 1 || followed->numbered || transfer == NULL ||
	    !transfer->has_cts)
		return false;
	for (uint64_t later = followed->newest; later > k && followed->newest - later < ring->slots;
	     later--) {
		if (is_over_by(moment, transfer, ft_nccl_ring_find(ring, later)))
			return true;
	}
	return false;
}

void ft_nccl_order_miscounted(struct ft_nccl_followed *followed)
{
	for (uint32_t i = 0; i < followed->ring.slots; i++)
		followed->ring.transfers[i].guessed = true;
	followed->numbered = false;
}

void ft_nccl_order_forget(struct ft_nccl_followed *followed, uint8_t lane)
{
	struct ft_nccl_ring *ring = &followed->ring;

	for (uint32_t i = 0; i < ring->slots; i++) {
		struct ft_nccl_transfer *transfer = &ring->transfers[i];

		if (transfer->used && transfer->guessed &&
		    ft_nccl_ring_shares(ring, transfer)[lane].used)
			transfer->adrift = true;
	}
	followed->lanes[lane].exact = false;
	followed->lanes[lane].slack = FT_NCCL_SLACK_MOST;
}

void ft_nccl_order_distrust(struct ft_nccl_followed *followed, uint8_t lane, uint64_t frame)
{
	struct ft_nccl_ring *ring = &followed->ring;

	for (uint32_t i = 0; i < ring->slots; i++) {
		struct ft_nccl_transfer *transfer = &ring->transfers[i];
		const struct ft_nccl_share *share = ft_nccl_ring_shares(ring, transfer) + lane;

		if (transfer->used && share->used && share->first.frame >= frame)
			transfer->adrift = true;
	}
	followed->lanes[lane].exact = false;
	followed->lanes[lane].slack = FT_NCCL_SLACK_MOST;
}

/* Clear-to-sends that were missed: from message `first` on, before `end`; none of them passed before this frame. */
struct missed {
	uint64_t first, end, frame;
	uint64_t period; /* after so many messages a buffer is offered again; 0: not known */
};

/* What the queue pair carried of message k may be what one of them asked for. */
static bool may_be_of(const struct missed *missed, const struct ft_nccl_share *share, uint64_t k)
{
	uint64_t from = k < missed->first ? missed->first - k : 1;

	if (!share->used || !share->searched || share->first.frame < missed->frame ||
	    k + from >= missed->end)
		return false;
	return missed->period == 0 ||
	       (missed->end - 1 - k) / missed->period * missed->period >= from;
}

static void doubt_from(struct ft_nccl_followed *followed, uint8_t lane, const struct missed *missed)
{
	const struct ft_nccl_ring *ring = &followed->ring;
	uint64_t first = 0;

	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *transfer = &ring->transfers[i];
		const struct ft_nccl_share *share = ft_nccl_ring_shares(ring, transfer) + lane;

		if (transfer->used && may_be_of(missed, share, transfer->message.k) &&
		    (first == 0 || share->first.frame < first))
			first = share->first.frame;
	}
	if (first != 0)
		ft_nccl_order_distrust(followed, lane, first);
}

/* Those behind message `last`, and before message `end`. */
static void miss(struct ft_nccl_followed *followed, uint64_t last, uint64_t end)
{
	const struct ft_nccl_transfer *before = ft_nccl_ring_find(&followed->ring, last);
	struct missed missed = { .first = last + 1, .end = end };

	if (followed->numbered || before == NULL)
		return;
	missed.frame = before->message.cts_frame;
	missed.period = ft_nccl_ring_period(&followed->ring);
	for (uint8_t i = 0; i < followed->lane_count; i++)
		doubt_from(followed, i, &missed);
}

void ft_nccl_order_miss(const struct ft_nccl_moment *moment, uint64_t before)
{
	miss(moment->followed, before, moment->lane->cts_k);
}

void ft_nccl_order_end(struct ft_nccl_followed *followed)
{
	uint64_t most = 0;

	for (uint8_t i = 0; followed->has_newest && i < followed->model.devices; i++) {
		const struct ft_nccl_lane *lane = &followed->lanes[i];
		int32_t ahead = ft_psn_distance(lane->cts_acked.psn, lane->cts.next) + 1;

		if (lane->asked && lane->cts_acked.known && ahead > 0 &&
		    ahead < FT_NCCL_PSN_WINDOW && (uint64_t)ahead > most)
			most = (uint64_t)ahead;
	}
	if (most != 0)
		miss(followed, followed->newest,
		     followed->newest + 1 + most * followed->model.devices);
}

/* When the newest write that a message that is remembered began with was sent; FT_TS_UNKNOWN: none was. */
static uint64_t last_begun(const struct ft_nccl_ring *ring)
{
	uint64_t last = FT_TS_UNKNOWN;

	for (uint32_t i = 0; i < ring->slots * ring->share_room; i++) {
		const struct ft_nccl_share *share = &ring->shares[i];

		if (!ring->transfers[i / ring->share_room].used || !share->used || !share->begun ||
		    share->first.frame == 0 || share->first.ts_ns == FT_TS_UNKNOWN)
			continue;
		if (last == FT_TS_UNKNOWN || share->first.ts_ns > last)
			last = share->first.ts_ns;
	}
	return last;
}

bool ft_nccl_is_soon(uint64_t from_ns, uint64_t to_ns)
{
	return from_ns != FT_TS_UNKNOWN && to_ns != FT_TS_UNKNOWN &&
	       (to_ns <= from_ns || to_ns - from_ns <= LONG_NS);
}

bool ft_nccl_order_is_over(const struct ft_nccl_followed *followed, uint64_t ts_ns)
{
	const uint64_t last = last_begun(&followed->ring);

	return ts_ns != FT_TS_UNKNOWN && last != FT_TS_UNKNOWN && !ft_nccl_is_soon(last, ts_ns);
}

bool ft_nccl_order_is_recent(const struct ft_nccl_followed *followed, uint64_t ts_ns)
{
	return ft_nccl_is_soon(last_begun(&followed->ring), ts_ns);
}

bool ft_nccl_order_is_anothers(const struct ft_nccl_moment *moment)
{
	return moment->turn != FT_NCCL_NEXT &&
	       ft_nccl_order_is_over(moment->followed, moment->seen->ts_ns);
}
