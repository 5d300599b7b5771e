#include "bind.h"

#include <string.h>

#include "cut_setups.h"
#include "faults.h"
#include "misnamed.h"
#include "source_port.h"
#include "split.h"

/* Messages in a row until all queue pairs were seen; and if none was long enough to be shared. */
enum { MESSAGES_TO_BE_SURE = 8, SHORT_TO_BE_SURE = 32, ROUNDS = 4 };

enum { SEVERAL = 4 /* queue pairs of a connection, mostly, if not one */ };

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

		if (stranger->udp_sport != 0
			    ? is_pair
			    : may_be_first(anchor) || device != 0 || followed->by_grid)
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

bool ft_nccl_awaits_turn(struct ft_nccl_connections *connections,
			 const struct ft_nccl_followed *followed,
			 const struct ft_nccl_stranger *stranger,
			 const struct ft_nccl_anchor *anchor)
{
	return stranger->udp_sport == 0 && anchor->at_start && anchor->k != 0 &&
	       anchor->step == 0 && stranger->log != NULL &&
	       followed->model.receiver.qpns[device_of(followed, stranger)] == FT_NCCL_NONE &&
	       (stranger->log->restarts == 0 || has_rival(connections, followed, stranger));
}

bool ft_nccl_awaits_device(const struct ft_nccl_followed *followed)
{
	uint64_t step = followed->lanes[0].cts_step;

	return step > followed->model.devices &&
	       followed->newest - followed->oldest < ROUNDS * step;
}

/* Queue pairs come one by one: with the second there is room for as many as there mostly are, so that little has to move. */
static uint32_t room_with(const struct ft_nccl_followed *followed, uint32_t lane)
{
	uint32_t count = lane < followed->lane_count ? followed->lane_count : lane + 1;

	return count == 1 || count >= SEVERAL ? count : SEVERAL;
}

/* Room for the lane, and for those in front of it that nothing was seen of yet. */
static int add_lane(struct ft_nccl_followed *followed, uint32_t lane)
{
	struct ft_nccl_connection *model = &followed->model;
	uint32_t count = followed->lane_count, room = room_with(followed, lane);
	int error = ft_nccl_ring_fit(&followed->ring, FT_NCCL_RING_LEAST, 1, room);

	if (error == 0)
		error = ft_nccl_make_lanes(followed, room);
	if (error == 0)
		error = ft_nccl_add_lanes(followed, lane + 1);
	if (error != 0)
		return error;
	for (; count <= lane; count++) {
		model->sender.qpns[count] = model->receiver.qpns[count] = FT_NCCL_NONE;
		model->sender.qp_device[count] = model->receiver.qp_device[count] =
			(uint8_t)(count % model->devices);
	}
	return 0;
}

/* Where it is one of several, data that nobody was seen to ask for was counted as if it was alone. */
static void forget_counts(struct ft_nccl_followed *followed)
{
	const struct ft_nccl_ring *ring = &followed->ring;

	for (uint64_t left = ring->begun; left != 0; left &= left - 1) {
		struct ft_nccl_transfer *transfer = ft_nccl_ring_first(ring, left);

		if (transfer->used && !transfer->has_cts && transfer->message.first_frame != 0)
			transfer->adrift = true;
	}
}

int ft_nccl_bind(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
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
	followed->rivalled = false;
	if (followed->lane_count > 1)
		forget_counts(followed);
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

bool ft_nccl_bind_replay(struct ft_nccl_followed *followed, int lane,
			 struct ft_nccl_stranger *stranger, uint64_t frame,
			 struct ft_nccl_replay *replay)
{
	struct ft_nccl_lane *bound = &followed->lanes[lane];

	bound->blurred = true;
	if (stranger->log == NULL || !ft_nccl_replay_begin(replay, stranger, frame))
		return false;
	ft_nccl_fault_before(followed, stranger->log, &replay->next.seen);
	bound->blurred = !ft_nccl_replay_overtaking(replay);
	bound->bound_at = replay->psn;
	return true;
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
	if (anchor.frame == 0 || ft_nccl_awaits_device(followed) ||
	    ft_nccl_awaits_turn(connections, followed, stranger, &anchor))
		return true; /* one write more will tell */
	lane = ft_nccl_bind(connections, followed, stranger, &anchor);
	if (lane < 0)
		return false;
	if (ft_nccl_bind_replay(followed, lane, stranger, anchor.frame, &replay)) {
		followed->rivalled = has_rival(connections, followed, stranger);
		ft_nccl_replay_all(connections, &replay, 1);
		ft_nccl_bind_blame(connections, followed, (uint8_t)lane);
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
		bool is_between, has_all;

		if (followed->retired || followed->given_up ||
		    !ft_nccl_is_in(followed, stranger->vni))
			continue;
		ft_nccl_straight_leave(followed);
		is_between = ft_nccl_is_between(followed, stranger);
		if (is_between)
			ft_nccl_misnamed_see(connections, followed, stranger, seen);
		has_all = !may_have_more(followed);
		if (!has_all && is_between) {
			if (bind_to(connections, followed, stranger, seen))
				return true;
			followed->rivalled = true;
			continue;
		}
		if (is_between && !is_complete(followed))
			followed->unsure = followed->rivalled = true;
		if (is_between && may_be_missed(followed, stranger->qpn))
			continue;
		has_all = has_all && (is_complete(followed) || !is_between);
		if (has_data(followed) &&
		    ft_nccl_fault_stranger(connections, followed, seen, has_all))
			return true;
	}
	return false;
}
