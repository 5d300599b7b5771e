#include "lock.h"

#include <stdlib.h>
#include <string.h>

#include <decode/packet.h>

#include "anchor.h"
#include "answer.h"
#include "cut_setups.h"
#include "faults.h"
#include "replay.h"
#include "replies.h"
#include "source_port.h"
#include "split.h"
#include "turns.h"

/* Messages in a row until all queue pairs were seen; and if none was long enough to be shared. */
enum { MESSAGES_TO_BE_SURE = 8, SHORT_TO_BE_SURE = 32, ROUNDS = 4 };

/* The device whose two ends it is between; -1: it is between others. */
static int device_of(const struct ft_nccl_followed *followed,
		     const struct ft_nccl_stranger *stranger)
{
	const struct ft_nccl_connection *model = &followed->model;

	if (!ft_nccl_is_in(followed, stranger->vni))
		return -1;
	for (uint8_t i = 0; i < model->sender.place_count; i++) {
		const struct ft_nccl_place *from = &model->sender.places[i];
		const struct ft_nccl_place *to = &model->receiver.places[i];

		if (from->by_lid == stranger->by_lid &&
		    memcmp(stranger->src, from->address, sizeof stranger->src) == 0 &&
		    memcmp(stranger->dst, to->address, sizeof stranger->dst) == 0)
			return i;
	}
	return -1;
}

bool ft_nccl_is_between(const struct ft_nccl_followed *followed,
			const struct ft_nccl_stranger *stranger)
{
	return device_of(followed, stranger) >= 0;
}

/* Queue pairs that take turns do so from the first message on. */
static bool may_be_first(const struct ft_nccl_anchor *anchor)
{
	return anchor->at_start &&
	       (anchor->step < 2 || anchor->spread != 0 || anchor->k % anchor->step == 0);
}

/* The lane of the device's clear-to-sends, if it lacks its other end; else the device's next one: they take turns. */
static uint32_t lane_for(const struct ft_nccl_followed *followed,
			 const struct ft_nccl_stranger *stranger,
			 const struct ft_nccl_anchor *anchor)
{
	const struct ft_nccl_connection *model = &followed->model;
	uint32_t device = (uint32_t)device_of(followed, stranger), lane = device;

	if (device < followed->lane_count && model->receiver.qpns[device] == FT_NCCL_NONE) {
		bool is_pair =
			stranger->udp_sport == followed->lanes[device].udp_sport ||
			stranger->udp_sport ==
				ft_nccl_source_port(model->sender.qpns[device], stranger->qpn);

		if (stranger->udp_sport != 0 ? is_pair : may_be_first(anchor) || device != 0)
			return device;
	}
	do
		lane += model->devices;
	while (lane < followed->lane_count && model->receiver.qpns[lane] != FT_NCCL_NONE);
	return lane;
}

/* Another queue pair between the two carries what the connection asked for, too. */
static bool has_rival(struct ft_nccl_connections *connections,
		      const struct ft_nccl_followed *followed,
		      const struct ft_nccl_stranger *stranger)
{
	const struct ft_nccl_stranger *other;
	uint32_t at = 0;

	while ((other = ft_nccl_stranger_logged(&connections->strangers, &at)) != NULL) {
		if (other != stranger && ft_nccl_is_between(followed, other) &&
		    ft_nccl_anchor_in(followed, other->log, connections->config.ends_only).frame !=
			    0)
			return true;
	}
	return false;
}

/*
 * No UDP port tells which queue pair the clear-to-sends go to, and where the capture begins later it may be another one. How
 * they take turns will, once a second message has come: of which nothing may be left of the first, if packets came twice or
 * out of order.
 */
static bool awaits_turn(struct ft_nccl_connections *connections,
			const struct ft_nccl_followed *followed,
			const struct ft_nccl_stranger *stranger,
			const struct ft_nccl_anchor *anchor)
{
	return stranger->udp_sport == 0 && anchor->at_start && anchor->k != 0 &&
	       anchor->step == 0 && stranger->log != NULL &&
	       followed->model.receiver.qpns[device_of(followed, stranger)] == FT_NCCL_NONE &&
	       (stranger->log->restarts == 0 || has_rival(connections, followed, stranger));
}

/*
 * Clear-to-sends take turns with devices that were not met: what those asked for is not known, nor where further queue
 * pairs belong. A few rounds show them all, unless the tap is at one of the ports.
 */
static bool awaits_device(const struct ft_nccl_followed *followed)
{
	uint64_t step = followed->lanes[0].cts_step;

	return step > followed->model.devices &&
	       followed->newest - followed->oldest < ROUNDS * step;
}

/* Room for the lane, and for those in front of it that nothing was seen of yet. */
static int add_lane(struct ft_nccl_followed *followed, uint32_t lane)
{
	struct ft_nccl_connection *model = &followed->model;
	uint32_t count = followed->lane_count;
	int error = ft_nccl_add_lanes(followed, lane + 1);

	if (error != 0)
		return error;
	for (; count <= lane; count++) {
		model->sender.qpns[count] = model->receiver.qpns[count] = FT_NCCL_NONE;
		model->sender.qp_device[count] = model->receiver.qp_device[count] =
			(uint8_t)(count % model->devices);
	}
	return ft_nccl_ring_fit(&followed->ring, FT_NCCL_RING_LEAST, 1, followed->lane_count);
}

/* The lane, or below 0. */
static int bind(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
		const struct ft_nccl_stranger *stranger, struct ft_nccl_anchor *anchor)
{
	struct ft_nccl_connection *model = &followed->model;
	uint32_t lane = lane_for(followed, stranger, anchor);
	struct ft_nccl_end end = { .qpn = stranger->qpn,
				   .vni = stranger->vni,
				   .told_vni = stranger->vni,
				   .connection = model->connection,
				   .lane = (uint8_t)lane,
				   .role = FT_NCCL_AT_RECEIVER,
				   .by_lid = stranger->by_lid };
	int error;

	if (lane >= FT_NCCL_QPS_MAX)
		return -1;
	memcpy(end.address, stranger->dst, sizeof end.address);
	error = add_lane(followed, lane);
	if (error == 0)
		error = ft_nccl_claim(connections, &end);
	if (error != 0)
		return error;
	followed->numbered = followed->lane_count == 1 &&
			     ft_nccl_is_anchored_at_first(followed, stranger->log, anchor);
	model->receiver.qpns[lane] = stranger->qpn;
	model->qp_count = followed->lane_count;
	model->qps_per_device = (uint8_t)((model->qp_count + model->devices - 1) / model->devices);
	followed->lanes[lane].next = anchor->k > anchor->spread ? anchor->k - anchor->spread : 0;
	followed->lanes[lane].exact = anchor->spread == 0;
	followed->lanes[lane].anchored = stranger->log != NULL && stranger->log->restarts == 0;
	followed->lanes[lane].slack = (uint32_t)anchor->spread;
	followed->lanes[lane].udp_sport = stranger->udp_sport;
	if (anchor->missed)
		ft_nccl_step(followed, false);
	if (model->sender.qpns[lane] == FT_NCCL_NONE)
		ft_nccl_await_pair(connections, followed, (uint8_t)lane);
	else
		ft_nccl_cut_setup_find(connections, followed);
	return (int)lane;
}

/* Go on with what was kept of it; or with the write that has shown it, if nothing was. */
static bool begin_replay(struct ft_nccl_followed *followed, int lane,
			 struct ft_nccl_stranger *stranger, uint64_t frame,
			 struct ft_nccl_replay *replay)
{
	struct ft_nccl_lane *bound = &followed->lanes[lane];

	bound->blurred = true;
	if (stranger->log == NULL || !ft_nccl_replay_begin(replay, stranger, frame))
		return false;
	bound->blurred = !ft_nccl_replay_overtaking(replay);
	bound->bound_at = replay->psn;
	return true;
}

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

/* Writes of somebody else to what the connection had asked for by then. */
static void blame(struct ft_nccl_connections *connections, const struct ft_nccl_followed *followed,
		  const struct ft_nccl_stranger *stranger)
{
	struct ft_nccl_logged logged;

	for (uint32_t at = 0; ft_nccl_log_next(stranger->log, &at, &logged);) {
		struct ft_nccl_anchor anchor;

		if (ft_nccl_begins(logged.seen.opcode) && (logged.seen.has & FT_HAS_RETH) != 0 &&
		    !ft_nccl_is_bare_end(&logged.seen) &&
		    ft_nccl_asked_by(followed, &logged.seen, &anchor) != NULL)
			ft_nccl_fault_stranger(connections, followed, &logged.seen);
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
				const struct ft_nccl_followed *followed,
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
	for (unsigned i = 0; i < found && !awaits_device(followed); i++) {
		struct ft_nccl_stranger *stranger = candidates[i].stranger;
		struct ft_nccl_anchor *anchor = &candidates[i].anchor;
		int lane;

		if (replies == NULL && awaits_turn(connections, followed, stranger, anchor))
			continue;
		lane = bind(connections, followed, stranger, anchor);
		if (lane >= 0 &&
		    begin_replay(followed, lane, stranger, anchor->frame, &replays[count]))
			count++;
	}
	share_out(followed, replies, candidates, count);
	ft_nccl_replay_all(connections, replays, count);
}

/* A set-up, or many messages, have shown all queue pairs between the two. */
static bool is_complete(const struct ft_nccl_followed *followed)
{
	return followed->model.is_set_up ||
	       followed->in_a_row >=
		       (ft_nccl_had_all(followed) ? MESSAGES_TO_BE_SURE : SHORT_TO_BE_SURE);
}

/* One that is before others, or has clear-to-sends, has not had data yet. */
static bool has_vacant_lane(const struct ft_nccl_followed *followed)
{
	uint8_t i = 0;

	while (i < followed->lane_count && followed->model.receiver.qpns[i] != FT_NCCL_NONE)
		i++;
	return i < followed->lane_count;
}

/*
 * Metadata tells of all queue pairs; a queue pair that had messages in a row shares them with no other, unless another one
 * writes there, too; those that share them are all, once one of them was long enough to tell; and which data is asked for
 * must be known.
 */
static bool may_have_more(const struct ft_nccl_followed *followed)
{
	return !followed->model.is_set_up && !followed->blind &&
	       (!ft_nccl_split_is_known(followed) || ft_nccl_split_may_have_more(followed) ||
		has_vacant_lane(followed) ||
		(ft_nccl_may_be_shared(followed) && !is_complete(followed)));
}

/* Somebody else has begun to write there: it is no part of the same message. */
static bool is_taken(const struct ft_nccl_followed *followed,
		     const struct ft_nccl_transfer *transfer, bool at_start)
{
	return at_start && transfer->message.first_frame != 0 &&
	       followed->model.receiver.qpns[0] != FT_NCCL_NONE;
}

static bool bind_to(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
		    struct ft_nccl_stranger *stranger, const struct ft_nccl_seen *seen)
{
	struct ft_nccl_anchor anchor = { 0 };
	const struct ft_nccl_transfer *transfer = ft_nccl_asked_by(followed, seen, &anchor);
	struct ft_nccl_replay replay;
	int lane;

	if (transfer == NULL || is_taken(followed, transfer, anchor.at_start))
		return false;
	anchor.frame = seen->frame;
	if (stranger->log != NULL)
		anchor = ft_nccl_anchor_in(followed, stranger->log, connections->config.ends_only);
	if (anchor.frame == 0 || awaits_device(followed) ||
	    awaits_turn(connections, followed, stranger, &anchor))
		return true; /* one write more will tell */
	lane = bind(connections, followed, stranger, &anchor);
	if (lane < 0)
		return false;
	if (begin_replay(followed, lane, stranger, anchor.frame, &replay)) {
		ft_nccl_replay_all(connections, &replay, 1);
		return true;
	}
	followed->lanes[lane].bound_at = seen->psn;
	ft_nccl_stranger_forget(&connections->strangers, stranger);
	ft_nccl_replay(connections, &(struct ft_nccl_logged){ *seen, 1, seen->frame, seen->ts_ns });
	return true;
}

/* Its set-up names the queue pair, though another connection's does, too. */
static bool is_named(const struct ft_nccl_followed *followed, uint32_t qpn)
{
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		if (followed->model.receiver.qpns[i] == qpn)
			return true;
	}
	return false;
}

/* It may be one of the connection's that is not known yet. */
static bool may_be_missed(const struct ft_nccl_followed *followed, uint32_t qpn)
{
	return followed->unsure && (!followed->named || is_named(followed, qpn));
}

/* Whose data goes to the buffers is known. */
static bool has_data(const struct ft_nccl_followed *followed)
{
	return followed->named ||
	       (followed->model.receiver.qpns[0] != FT_NCCL_NONE && followed->model.messages != 0);
}

bool ft_nccl_bind_one(struct ft_nccl_connections *connections, struct ft_nccl_stranger *stranger,
		      const struct ft_nccl_seen *seen)
{
	size_t at = SIZE_MAX;
	uint32_t id;

	while ((id = ft_nccl_keys_next(&connections->keys, seen->ends.dst, seen->rkey, &at)) !=
	       FT_NCCL_NONE) {
		struct ft_nccl_followed *followed = connections->all[id];

		if (followed->retired || followed->given_up ||
		    !ft_nccl_is_in(followed, stranger->vni))
			continue;
		ft_nccl_straight_leave(followed);
		if (may_have_more(followed) && ft_nccl_is_between(followed, stranger)) {
			if (bind_to(connections, followed, stranger, seen))
				return true;
			continue;
		}
		if (ft_nccl_is_between(followed, stranger) && !is_complete(followed))
			followed->unsure = true;
		if (ft_nccl_is_between(followed, stranger) &&
		    may_be_missed(followed, stranger->qpn))
			continue;
		if (has_data(followed) && ft_nccl_fault_stranger(connections, followed, seen))
			return true;
	}
	return false;
}
