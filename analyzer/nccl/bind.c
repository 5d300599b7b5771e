#include "lock.h"

#include <stdlib.h>
#include <string.h>

#include <decode/packet.h>

#include "answer.h"
#include "faults.h"
#include "source_port.h"
#include "split.h"

/* Where in a log the connection's data begins, and the message that it begins with. */
struct anchor {
	uint64_t frame; /* 0: nothing in it was asked for */
	uint64_t k;
	bool at_start; /* the write that tells goes to the start of what was asked for */
};

/* The first message that asked for this write before it was made. */
static const struct ft_nccl_transfer *asked_by(const struct ft_nccl_followed *followed,
					       const struct ft_nccl_seen *seen, bool *at_start)
{
	const struct ft_nccl_ring *ring = &followed->ring;
	const struct ft_nccl_transfer *found = NULL;
	uint8_t request;

	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *transfer = &ring->transfers[i];

		if (!transfer->used || !transfer->has_cts ||
		    transfer->message.cts_frame > seen->frame ||
		    (found != NULL && transfer->message.k > found->message.k) ||
		    !ft_nccl_answers(followed, transfer, seen, &request))
			continue;
		found = transfer;
		*at_start = ft_nccl_ring_requests(ring, transfer)[request].va == seen->va;
	}
	return found;
}

/* Messages before the first one that is known, without a hole between, are those before it. */
static struct anchor anchor_in(const struct ft_nccl_followed *followed,
			       const struct ft_nccl_log *log)
{
	struct ft_nccl_logged logged;
	struct anchor anchor = { 0 };
	uint64_t before = 0, from = 0;
	uint32_t next = 0;

	for (uint32_t at = 0; ft_nccl_log_next(log, &at, &logged);) {
		const struct ft_nccl_seen *seen = &logged.seen;
		const struct ft_nccl_transfer *transfer = NULL;

		if (from == 0 || seen->psn != next) {
			from = seen->frame;
			before = 0;
		}
		next = ft_nccl_psn_add(seen->psn, logged.run);
		if (ft_nccl_begins(seen->opcode) && (seen->has & FT_HAS_RETH) != 0 &&
		    !ft_nccl_is_bare_end(seen))
			transfer = asked_by(followed, seen, &anchor.at_start);
		if (transfer != NULL) {
			anchor.frame = before <= transfer->message.k ? from : seen->frame;
			anchor.k =
				transfer->message.k - (before <= transfer->message.k ? before : 0);
			return anchor;
		}
		before += ft_nccl_has_immediate(seen->opcode) ? 1 : 0;
	}
	return anchor;
}

/* The first lane is that of the clear-to-sends: their packets have the same port, or a message starts on it. */
static bool is_first_lane(const struct ft_nccl_followed *followed,
			  const struct ft_nccl_stranger *stranger, const struct anchor *anchor)
{
	const struct ft_nccl_connection *model = &followed->model;

	if (model->receiver.qpns[0] != FT_NCCL_NONE)
		return false;
	return anchor->at_start || stranger->udp_sport == followed->lanes[0].udp_sport ||
	       stranger->udp_sport == ft_nccl_source_port(model->sender.qpns[0], stranger->qpn);
}

static int bind(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
		const struct ft_nccl_stranger *stranger, const struct anchor *anchor)
{
	struct ft_nccl_connection *model = &followed->model;
	uint8_t lane = is_first_lane(followed, stranger, anchor) ? 0 : followed->lane_count;
	struct ft_nccl_end end = { .qpn = stranger->qpn,
				   .vni = stranger->vni,
				   .connection = model->connection,
				   .lane = lane,
				   .role = FT_NCCL_AT_RECEIVER,
				   .by_lid = stranger->by_lid };
	int error;

	if (lane >= FT_NCCL_QPS_MAX)
		return -1;
	memcpy(end.address, stranger->dst, sizeof end.address);
	error = ft_nccl_add_lanes(followed, lane + 1u);
	if (error == 0)
		error = ft_nccl_ring_fit(&followed->ring, FT_NCCL_RING_LEAST, 1, lane + 1u);
	if (error == 0)
		error = ft_nccl_claim(connections, &end);
	if (error != 0)
		return error;
	if (lane != 0)
		model->sender.qpns[lane] = FT_NCCL_NONE;
	model->receiver.qpns[lane] = stranger->qpn;
	model->qp_count = followed->lane_count;
	model->qps_per_device = (uint8_t)(model->qp_count / model->devices);
	followed->lanes[lane].next = anchor->k;
	followed->lanes[lane].udp_sport = stranger->udp_sport;
	if (lane != 0)
		ft_nccl_await_pair(connections, followed, lane);
	return 0;
}

static bool is_between(const struct ft_nccl_followed *followed,
		       const struct ft_nccl_stranger *stranger)
{
	const struct ft_nccl_connection *model = &followed->model;

	return model->sender.places[0].by_lid == stranger->by_lid &&
	       memcmp(stranger->src, model->sender.places[0].address, sizeof stranger->src) == 0 &&
	       memcmp(stranger->dst, model->receiver.places[0].address, sizeof stranger->dst) == 0;
}

/* Logs of queue pairs that are bound, to be replayed together in the order of their frames. */
struct replay {
	struct ft_nccl_stranger *stranger;
	uint32_t at;
	bool has;
	struct ft_nccl_logged next;
};

enum { REPLAYS = 16 };

static void replay_all(struct ft_nccl_connections *connections, struct replay *replays,
		       unsigned count)
{
	for (;;) {
		struct replay *first = NULL;

		for (unsigned i = 0; i < count; i++) {
			if (replays[i].has &&
			    (first == NULL || replays[i].next.seen.frame < first->next.seen.frame))
				first = &replays[i];
		}
		if (first == NULL)
			break;
		ft_nccl_replay(connections, &first->next);
		first->has = ft_nccl_log_next(first->stranger->log, &first->at, &first->next);
	}
	for (unsigned i = 0; i < count; i++)
		ft_nccl_stranger_forget(&connections->strangers, replays[i].stranger);
}

static bool begin_replay(struct replay *replay, struct ft_nccl_stranger *stranger, uint64_t from)
{
	*replay = (struct replay){ .stranger = stranger };
	do
		replay->has = ft_nccl_log_next(stranger->log, &replay->at, &replay->next);
	while (replay->has && replay->next.seen.frame < from);
	return replay->has;
}

void ft_nccl_bind_all(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
		      const struct ft_nccl_stranger *partner)
{
	struct ft_nccl_stranger_table *table = &connections->strangers;
	struct replay replays[REPLAYS];
	unsigned count = 0;

	for (unsigned i = 0; i < FT_NCCL_STRANGERS && count < REPLAYS; i++) {
		struct ft_nccl_stranger *stranger = &table->strangers[i];
		struct anchor anchor;

		if (!stranger->used || stranger->log == NULL || !is_between(followed, stranger) ||
		    (partner != NULL && stranger != partner))
			continue;
		anchor = anchor_in(followed, stranger->log);
		if (anchor.frame != 0 && bind(connections, followed, stranger, &anchor) == 0 &&
		    begin_replay(&replays[count], stranger, anchor.frame))
			count++;
	}
	replay_all(connections, replays, count);
}

/*
 * Metadata tells of all queue pairs; a queue pair that had messages in a row shares them with no other; and which data is
 * asked for must be known.
 */
static bool may_have_more(const struct ft_nccl_followed *followed)
{
	return !followed->model.has_tcp && !ft_nccl_split_is_known(followed) &&
	       (!followed->by_grid || followed->plain);
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
	struct anchor anchor = { 0 };
	const struct ft_nccl_transfer *transfer = asked_by(followed, seen, &anchor.at_start);
	struct replay replay;

	if (transfer == NULL || is_taken(followed, transfer, anchor.at_start))
		return false;
	anchor.frame = seen->frame;
	anchor.k = transfer->message.k;
	if (stranger->log != NULL)
		anchor = anchor_in(followed, stranger->log);
	if (bind(connections, followed, stranger, &anchor) != 0)
		return false;
	if (stranger->log != NULL && begin_replay(&replay, stranger, anchor.frame)) {
		replay_all(connections, &replay, 1);
		return true;
	}
	ft_nccl_stranger_forget(&connections->strangers, stranger);
	ft_nccl_replay(connections, &(struct ft_nccl_logged){ *seen, 1, seen->frame, seen->ts_ns });
	return true;
}

/* Whose data goes to the buffers is known. */
static bool has_data(const struct ft_nccl_followed *followed)
{
	return followed->model.receiver.qpns[0] != FT_NCCL_NONE && followed->model.messages != 0;
}

bool ft_nccl_bind_one(struct ft_nccl_connections *connections, struct ft_nccl_stranger *stranger,
		      const struct ft_nccl_seen *seen)
{
	size_t at = SIZE_MAX;
	uint32_t id;

	while ((id = ft_nccl_keys_next(&connections->keys, seen->ends.dst, seen->rkey, &at)) !=
	       FT_NCCL_NONE) {
		struct ft_nccl_followed *followed = connections->all[id];

		if (followed->retired || followed->given_up)
			continue;
		if (may_have_more(followed) && is_between(followed, stranger) &&
		    bind_to(connections, followed, stranger, seen))
			return true;
		if (has_data(followed) && ft_nccl_fault_stranger(connections, followed, seen))
			return true;
	}
	return false;
}
