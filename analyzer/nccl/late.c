#include "followed.h"

#include "answer.h"
#include "order.h"
#include "orphan_rows.h"
#include "orphans.h"
#include "replay.h"
#include "split.h"
#include "unlisted.h"
#include "written.h"

/* Whether the PSN lies within what is known of a share. */
static bool is_within(const struct ft_nccl_share *share, uint32_t psn)
{
	return share->used && ft_psn_distance(psn, share->from) >= 0 &&
	       ft_psn_distance(share->to, psn) >= 0;
}

/* It was the next one of a message that lacks its end. */
static bool is_behind(const struct ft_nccl_share *share, uint32_t psn)
{
	return share->used && !share->ended && ft_psn_add(share->to, 1) == psn;
}

static struct ft_nccl_transfer *find(const struct ft_nccl_moment *moment,
				     bool (*is_it)(const struct ft_nccl_share *, uint32_t))
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;

	for (uint32_t i = 0; i < ring->slots; i++) {
		struct ft_nccl_transfer *transfer = &ring->transfers[i];

		if (transfer->used &&
		    is_it(ft_nccl_ring_shares(ring, transfer) + moment->lane_index,
			  moment->seen->psn))
			return transfer;
	}
	return NULL;
}

/* Messages on both sides of the hole, which the one that fills it lies between. */
struct gap {
	uint64_t first, last;
	bool is_next; /* it goes on right behind the one before */
};

static struct gap gap_of(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;
	struct gap gap = { .last = UINT64_MAX };

	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *transfer = &ring->transfers[i];
		const struct ft_nccl_share *share =
			ft_nccl_ring_shares(ring, transfer) + moment->lane_index;
		uint64_t k = transfer->message.k;

		if (!transfer->used || !share->used || !transfer->message.has_k ||
		    ft_nccl_is_doubted(transfer))
			continue;
		if (ft_psn_distance(share->from, moment->seen->psn) > 0) {
			gap.last = k != 0 && k - 1 < gap.last ? k - 1 : gap.last;
		} else if (k + 1 >= gap.first) {
			gap.first = k + 1;
			gap.is_next = ft_psn_add(share->to, 1) == moment->seen->psn;
		}
	}
	return gap;
}

static bool is_asking(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer,
		      uint8_t *request)
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;

	return transfer->used && transfer->has_cts &&
	       transfer->message.cts_frame < moment->seen->frame &&
	       ft_nccl_split_uses(moment->followed, moment->lane_index, transfer->message.k) &&
	       !ft_nccl_ring_shares(ring, transfer)[moment->lane_index].used &&
	       ft_nccl_answers(moment->followed, transfer, moment->seen, request);
}

/* The last message that anything on the lane may be of by now. */
static uint64_t last_of(const struct ft_nccl_moment *moment, const struct gap *gap)
{
	const struct ft_nccl_lane *lane = moment->lane;
	uint64_t newest = moment->followed->newest, reach = lane->next + lane->slack;
	uint64_t last = newest > reach ? newest : reach;

	return last < gap->last ? last : gap->last;
}

/* Nobody was seen to ask for this message of the gap, but for the buffer of message k if that recurs. */
static bool may_be_missed(const struct ft_nccl_moment *moment, uint64_t missed, uint64_t k,
			  uint64_t period)
{
	const struct ft_nccl_transfer *transfer =
		ft_nccl_ring_find(&moment->followed->ring, missed);
	uint64_t apart = missed > k ? missed - k : k - missed;

	return (transfer == NULL || !transfer->has_cts) && (period == 0 || apart % period == 0) &&
	       ft_nccl_split_uses(moment->followed, moment->lane_index, missed);
}

/* The data that it has may be another one's. */
static bool is_doubted(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;
	uint8_t request;

	return ft_nccl_is_doubted(transfer) && transfer->has_cts &&
	       ft_nccl_ring_shares(ring, transfer)[moment->lane_index].used &&
	       ft_nccl_answers(moment->followed, transfer, moment->seen, &request);
}

/* No other message of the gap can have asked for this write than message k. */
static bool is_lone(const struct ft_nccl_moment *moment, const struct gap *gap, uint64_t k)
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;
	uint64_t last = last_of(moment, gap), period = ft_nccl_ring_period(ring);

	for (uint64_t missed = gap->first; missed <= last; missed++)
		if (may_be_missed(moment, missed, k, period))
			return false;
	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *transfer = &ring->transfers[i];

		if (transfer->used && transfer->message.k >= gap->first &&
		    transfer->message.k <= last && is_doubted(moment, transfer))
			return false;
	}
	return true;
}

/* The first message that asked for this write and has nothing on the lane yet; in doubt if it may be of another one. */
static struct ft_nccl_transfer *find_asking(const struct ft_nccl_moment *moment, uint8_t *request,
					    bool *is_sure)
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;
	const struct gap gap = gap_of(moment);
	struct ft_nccl_transfer *found = NULL;
	unsigned count = 0;

	for (uint32_t i = 0; i < ring->slots; i++) {
		struct ft_nccl_transfer *transfer = &ring->transfers[i];
		uint8_t answered;

		if (transfer->message.k < gap.first || transfer->message.k > gap.last ||
		    !is_asking(moment, transfer, &answered))
			continue;
		count++;
		if (found != NULL && transfer->message.k > found->message.k)
			continue;
		found = transfer;
		*request = answered;
	}
	*is_sure = found != NULL && !moment->followed->failing &&
		   ((gap.is_next && found->message.k == gap.first) ||
		    (count == 1 && is_lone(moment, &gap, found->message.k)));
	return found;
}

/* The newest packet on the lane is the message's, though its first came behind it: it is under way. */
static void go_under_way(const struct ft_nccl_moment *moment,
			 const struct ft_nccl_transfer *transfer, bool is_sure)
{
	struct ft_nccl_lane *lane = moment->lane;
	const struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;
	const uint32_t newest = ft_psn_back(lane->data.next, 1);

	if (!is_within(share, newest))
		return;
	lane->orphans = 0;
	lane->open = !share->ended;
	lane->writing = newest != share->to;
	lane->write_end = share->to;
	lane->at = transfer->message.k;
	if (!is_sure)
		return;
	lane->exact = true;
	lane->slack = 0;
	lane->next = lane->at + 1;
}

/* It may be sent again, and have passed before. */
static bool may_be_copy(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_lane *lane = moment->lane;

	return lane->blurred &&
	       ft_psn_distance(moment->seen->psn, lane->bound_at) <= FT_NCCL_OVERTAKE_MOST;
}

/* A write of the message, and packets of it that came ahead. */
static void take_write(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
		       uint8_t request, bool is_sure)
{
	ft_nccl_ring_shares(&moment->followed->ring, transfer)[moment->lane_index].to =
		ft_nccl_write_end(moment->followed, moment->seen);
	ft_nccl_data_write(moment, transfer, request);
	ft_nccl_data_count(moment, transfer);
	transfer->doubtful = transfer->doubtful || may_be_copy(moment);
	transfer->adrift = transfer->adrift || !is_sure;
	ft_nccl_orphan_rows_gather(moment, transfer);
	go_under_way(moment, transfer, is_sure);
	if (ft_nccl_has_immediate(moment->seen->opcode))
		ft_nccl_data_end(moment, transfer);
}

static void begin(struct ft_nccl_moment *moment)
{
	uint8_t request = 0;
	bool is_sure;
	struct ft_nccl_transfer *transfer = find_asking(moment, &request, &is_sure);
	struct ft_nccl_share *share;

	if (transfer == NULL)
		return;
	share = ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;
	share->used = share->begun = true;
	share->from = moment->seen->psn;
	transfer->guessed = transfer->guessed || !moment->followed->numbered;
	ft_nccl_share_begin(share, moment->seen);
	take_write(moment, transfer, request, is_sure);
	ft_nccl_unlisted_begin(moment->lane);
}

/* A message goes on until its immediate: what is behind a write of it is its next one. False: nobody asked for that. */
static bool go_on(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;
	uint8_t from = 0, request;

	while (share->requests >> from != 0)
		from++;
	if (!transfer->has_cts || transfer->message.request_count < 2 ||
	    !ft_nccl_answers_from(moment->followed, transfer, moment->seen, from, &request))
		return false;
	share->last = ft_nccl_begun_by(moment->seen);
	take_write(moment, transfer, request, !ft_nccl_is_doubted(transfer));
	return true;
}

/* Its first packet, behind the others. */
static void take_beginning(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_seen *seen = moment->seen;
	struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;
	uint8_t request = 0;

	if (share->first.frame != 0 || share->from != seen->psn || seen->length == 0 ||
	    !ft_nccl_begins(seen->opcode) ||
	    (transfer->has_cts && !ft_nccl_answers(moment->followed, transfer, seen, &request)))
		return;
	ft_nccl_share_begin(share, seen);
	ft_nccl_data_write(moment, transfer, request);
}

/* It comes right before what is known of a share. */
static bool is_in_front(const struct ft_nccl_share *share, uint32_t psn)
{
	return share->used && share->begun && ft_psn_add(psn, 1) == share->from;
}

/* A whole write to one of several requests that the lane has not written to, as far as is known. */
static bool is_of_request(const struct ft_nccl_moment *moment,
			  const struct ft_nccl_transfer *transfer, uint8_t *request)
{
	const struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;

	return moment->seen->opcode == 0x0a && transfer->has_cts &&
	       transfer->message.request_count > 1 &&
	       ft_nccl_answers(moment->followed, transfer, moment->seen, request) &&
	       (share->requests >> *request & 1) == 0;
}

/* What comes behind it has overtaken it: the write to another one of several requests. */
static void take_between(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer)
{
	uint8_t request;

	if (is_of_request(moment, transfer, &request))
		ft_nccl_data_write(moment, transfer, request);
}

/*
 * Without an immediate it ends nothing: of several requests the message that begins behind it on the lane has it, as the first of
 * those that it wrote to. False: it is none of such a message.
 */
static bool go_in_front(struct ft_nccl_moment *moment)
{
	struct ft_nccl_transfer *transfer = find(moment, is_in_front);
	struct ft_nccl_share *share;
	uint8_t request;

	if (transfer == NULL || !is_of_request(moment, transfer, &request))
		return false;
	share = ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;
	if ((share->requests & ((1u << request) - 1)) != 0)
		return false;
	share->from = moment->seen->psn;
	ft_nccl_share_begin(share, moment->seen);
	ft_nccl_data_write(moment, transfer, request);
	ft_nccl_data_count(moment, transfer);
	transfer->doubtful = transfer->doubtful || may_be_copy(moment);
	return true;
}

/*
 * The write goes on over the beginning of a message, which then is none of the connection's: what was counted from there on may be
 * wrong.
 */
static void distrust_overlapped(struct ft_nccl_moment *moment)
{
	struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_ring *ring = &followed->ring;
	const struct ft_nccl_seen *seen = moment->seen;
	const int32_t ahead = ft_psn_distance(ft_nccl_write_end(followed, seen), seen->psn);

	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_share *share =
			ft_nccl_ring_shares(ring, &ring->transfers[i]) + moment->lane_index;
		const int32_t behind = ft_psn_distance(share->first.psn, seen->psn);

		if (!ring->transfers[i].used || !share->begun || share->first.frame == 0 ||
		    behind <= 0 || behind > ahead)
			continue;
		followed->numbered = false;
		ft_nccl_order_distrust(followed, moment->lane_index, share->first.frame);
	}
}

static void see(struct ft_nccl_moment *moment)
{
	struct ft_nccl_transfer *transfer = find(moment, is_within);
	struct ft_nccl_transfer *before = transfer == NULL ? find(moment, is_behind) : NULL;
	const struct ft_nccl_seen *seen = moment->seen;

	if (before != NULL && (!ft_nccl_begins(seen->opcode) || ft_nccl_is_bare_end(seen))) {
		transfer = before;
		ft_nccl_ring_shares(&moment->followed->ring, transfer)[moment->lane_index].to =
			seen->psn;
	}
	if (transfer == NULL && !ft_nccl_begins(seen->opcode))
		ft_nccl_orphans_see_late(moment);
	else if (transfer == NULL && (before == NULL || !go_on(moment, before)) &&
		 !go_in_front(moment))
		begin(moment);
	if (transfer == NULL)
		return;
	take_beginning(moment, transfer);
	take_between(moment, transfer);
	ft_nccl_data_count(moment, transfer);
	ft_nccl_orphan_rows_gather(moment, transfer);
	transfer->doubtful = transfer->doubtful || may_be_copy(moment);
	if (ft_nccl_is_bare_end(seen))
		transfer->bare = true;
	if (ft_nccl_has_immediate(seen->opcode))
		ft_nccl_data_end(moment, transfer);
}

void ft_nccl_late_see(struct ft_nccl_moment *moment)
{
	see(moment);
	if (moment->seen->opcode == 0x06)
		distrust_overlapped(moment);
}
