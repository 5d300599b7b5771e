#include "bind.h"

#include <stdlib.h>
#include <string.h>

#include <decode/packet.h>

#include "asked.h"
#include "faults.h"
#include "replies.h"
#include "turns.h"

static bool is_to_receiver(const struct ft_nccl_followed *followed,
			   const struct ft_nccl_stranger *stranger)
{
	const struct ft_nccl_party *receiver = &followed->model.receiver;

	if (!ft_nccl_is_in(followed, stranger->vni))
		return false;
	for (uint8_t i = 0; i < receiver->place_count; i++) {
		if (receiver->places[i].by_lid == stranger->by_lid &&
		    memcmp(receiver->places[i].address, stranger->dst, sizeof stranger->dst) == 0)
			return true;
	}
	return false;
}

/* To a queue pair that its clear-to-sends go to. */
static bool is_to_sender(const struct ft_nccl_followed *followed,
			 const struct ft_nccl_stranger *stranger)
{
	const struct ft_nccl_party *sender = &followed->model.sender;

	for (uint8_t i = 0; i < followed->lane_count; i++) {
		const struct ft_nccl_place *place = &sender->places[sender->qp_device[i]];

		if (sender->qpns[i] == stranger->qpn && place->by_lid == stranger->by_lid &&
		    memcmp(place->address, stranger->dst, sizeof stranger->dst) == 0)
			return ft_nccl_is_in(followed, stranger->vni);
	}
	return false;
}

/* Of the oldest clear-to-send that is remembered. */
static uint64_t first_asked(const struct ft_nccl_followed *followed)
{
	const struct ft_nccl_ring *ring = &followed->ring;
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *transfer = &ring->transfers[i];

		if (transfer->used && transfer->has_cts && transfer->message.cts_frame < first)
			first = transfer->message.cts_frame;
	}
	return first;
}

/* Writes of another address to that queue pair before the connection was known. Before it began it may have had another peer. */
static void blame_asking(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
			 const struct ft_nccl_stranger *stranger)
{
	const uint64_t first = first_asked(followed);
	struct ft_nccl_logged logged;

	for (uint32_t at = 0; ft_nccl_log_next(stranger->log, &at, &logged);) {
		if (logged.seen.frame > first && ft_nccl_begins(logged.seen.opcode) &&
		    (logged.seen.has & FT_HAS_RETH) != 0)
			ft_nccl_fault_stranger(connections, followed, &logged.seen, false);
	}
}

/* Of the first data on the lane that is remembered. */
static uint64_t first_carried(const struct ft_nccl_followed *followed, uint8_t lane)
{
	const struct ft_nccl_ring *ring = &followed->ring;
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_share *share =
			ft_nccl_ring_shares(ring, &ring->transfers[i]) + lane;

		if (ring->transfers[i].used && share->used && share->begun &&
		    share->first.frame < first)
			first = share->first.frame;
	}
	return first;
}

/* Likewise to the queue pair that a lane's data goes to. */
static void blame_writing(struct ft_nccl_connections *connections,
			  struct ft_nccl_followed *followed,
			  const struct ft_nccl_stranger *stranger, uint8_t lane)
{
	const uint64_t first = first_carried(followed, lane);
	struct ft_nccl_logged logged;

	for (uint32_t at = 0; ft_nccl_log_next(stranger->log, &at, &logged);) {
		if (logged.seen.frame > first && ft_nccl_begins(logged.seen.opcode) &&
		    (logged.seen.has & FT_HAS_RETH) != 0)
			ft_nccl_fault_stranger(connections, followed, &logged.seen, false);
	}
}

void ft_nccl_bind_blame(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
			uint8_t lane)
{
	struct ft_nccl_stranger *stranger;
	uint32_t at = 0;

	while ((stranger = ft_nccl_stranger_logged(&connections->strangers, &at)) != NULL) {
		if (stranger->qpn == followed->model.receiver.qpns[lane] &&
		    is_to_receiver(followed, stranger) && !ft_nccl_is_between(followed, stranger))
			blame_writing(connections, followed, stranger, lane);
	}
}

/* Writes of somebody else to what the connection had asked for by then. */
static void blame(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
		  const struct ft_nccl_stranger *stranger)
{
	struct ft_nccl_logged logged;

	for (uint32_t at = 0; ft_nccl_log_next(stranger->log, &at, &logged);) {
		struct ft_nccl_anchor anchor;

		if (ft_nccl_begins(logged.seen.opcode) && (logged.seen.has & FT_HAS_RETH) != 0 &&
		    !ft_nccl_is_bare_end(&logged.seen) &&
		    ft_nccl_asked_by(followed, &logged.seen, &anchor) != NULL)
			ft_nccl_fault_stranger(connections, followed, &logged.seen, false);
	}
}

/* A queue pair whose data was asked for. */
struct candidate {
	struct ft_nccl_stranger *stranger;
	unsigned turn; /* if it is known by what it carried; else 0 */
	struct ft_nccl_anchor anchor;
};

/* Queue pairs are used in their order: for a message together, or one after the other. */
static int by_turn(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	if (left->turn != right->turn)
		return left->turn < right->turn ? -1 : 1;
	if (left->anchor.k != right->anchor.k)
		return left->anchor.k < right->anchor.k ? -1 : 1;
	return left->anchor.frame < right->anchor.frame ? -1
							: left->anchor.frame > right->anchor.frame;
}

/* Its place among them; replies->count: it is none of them. */
static unsigned place_in(const struct ft_nccl_replies *replies,
			 const struct ft_nccl_stranger *stranger)
{
	unsigned place = 0;

	while (place < replies->count && replies->strangers[place] != stranger)
		place++;
	return place;
}

static unsigned find_candidates(struct ft_nccl_connections *connections,
				struct ft_nccl_followed *followed,
				const struct ft_nccl_replies *replies,
				struct candidate candidates[FT_NCCL_REPLAYS])
{
	struct ft_nccl_stranger *stranger;
	unsigned count = 0;
	uint32_t at = 0;

	while (count < FT_NCCL_REPLAYS &&
	       (stranger = ft_nccl_stranger_logged(&connections->strangers, &at)) != NULL) {
		unsigned place = replies != NULL ? place_in(replies, stranger) : 0;
		struct ft_nccl_anchor anchor;

		if (replies != NULL && place == replies->count)
			continue;
		if (!ft_nccl_is_between(followed, stranger)) {
			if (is_to_receiver(followed, stranger))
				blame(connections, followed, stranger);
			if (is_to_sender(followed, stranger))
				blame_asking(connections, followed, stranger);
			continue;
		}
		anchor = replies != NULL ? ft_nccl_anchor_at_write(stranger->log)
					 : ft_nccl_anchor_in(followed, stranger->log,
							     connections->config.ends_only);
		if (anchor.frame != 0)
			candidates[count++] = (struct candidate){
				.stranger = stranger,
				.turn = replies != NULL && replies->in_order ? place : 0,
				.anchor = anchor,
			};
	}
	if (count > 0)
		qsort(candidates, count, sizeof *candidates, by_turn);
	return count;
}

/*
 * Where lanes take turns, they do so in the order in which they were made and begin. What passes on one of them may overtake
 * what passes on another: both orders must be the same.
 */
static bool is_in_order(const struct ft_nccl_followed *followed, const struct candidate *candidates,
			unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint32_t qpn = candidates[i].stranger->qpn;

		if (followed->model.receiver.qpns[i] != qpn ||
		    (i != 0 && qpn < candidates[i - 1].stranger->qpn))
			return false;
	}
	return true;
}

/* Each lane has its data from the first packet on, which answers the first clear-to-sends. */
static bool are_counted(const struct ft_nccl_followed *followed, const struct candidate *candidates,
			unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct ft_nccl_anchor anchor;

		if (!ft_nccl_is_anchored_at_first(followed, candidates[i].stranger->log, &anchor))
			return false;
	}
	return followed->lane_count == count;
}

/* Several queue pairs of which nothing can be read, but how they share messages. */
static void share_out(struct ft_nccl_followed *followed, const struct ft_nccl_replies *replies,
		      const struct candidate *candidates, unsigned count)
{
	bool is_split;

	if (replies == NULL || replies->split == FT_NCCL_UNKNOWN)
		return;
	is_split = replies->split == FT_NCCL_YES;
	followed->model.split = replies->split;
	followed->ways = is_split ? FT_NCCL_WAY_ALL : UINT64_C(1) << count;
	followed->numbered =
		are_counted(followed, candidates, count) &&
		(is_split || replies->in_order || is_in_order(followed, candidates, count));
}

void ft_nccl_bind_all(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
		      const struct ft_nccl_replies *replies)
{
	struct candidate candidates[FT_NCCL_REPLAYS];
	struct ft_nccl_replay replays[FT_NCCL_REPLAYS];
	unsigned found = find_candidates(connections, followed, replies, candidates), count = 0;

	replays[0].has = false;
	for (unsigned i = 0; i < found && !ft_nccl_awaits_device(followed); i++) {
		struct ft_nccl_stranger *stranger = candidates[i].stranger;
		struct ft_nccl_anchor *anchor = &candidates[i].anchor;
		int lane;

		if (replies == NULL && ft_nccl_awaits_turn(connections, followed, stranger, anchor))
			continue;
		lane = ft_nccl_bind(connections, followed, stranger, anchor);
		if (lane >= 0 &&
		    ft_nccl_bind_replay(followed, lane, stranger, anchor->frame, &replays[count]))
			count++;
	}
	share_out(followed, replies, candidates, count);
	ft_nccl_replay_all(connections, replays, count);
	for (uint8_t i = 0; count != 0 && i < followed->lane_count; i++)
		ft_nccl_bind_blame(connections, followed, i);
}
