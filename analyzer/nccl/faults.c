#include "faults_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <decode/packet.h>

#include "anew.h"
#include "answer.h"
#include "fifo.h"
#include "order.h"
#include "turns.h"

/*
 * Without a set-up it is a guess how many queue pairs share the messages or take turns, and in which order. One that had
 * all of them, while nobody else between the two addresses wrote to their buffers, is alone. Which message its data is of
 * has to be known.
 */
bool ft_nccl_has_guessed_lanes(const struct ft_nccl_followed *followed)
{
	if (followed->ways != 0)
		return ft_nccl_turns_are_open(followed);
	if (followed->unsure || followed->model.is_set_up)
		return followed->unsure;
	return followed->lane_count > 1 || followed->shared;
}

bool ft_nccl_can_read(const struct ft_nccl_followed *followed)
{
	return !followed->partial &&
	       (followed->plain || (!followed->blind && followed->unreadable == 0));
}

/* Which message data is of will not be known any more. */
static bool has_lost_count(const struct ft_nccl_followed *followed)
{
	return followed->overtaken && !followed->numbered;
}

/* Room is made by those that turned out to be nothing. */
static void let_wait(struct ft_nccl_connections *connections, const struct ft_nccl_found *found,
		     bool is_whichever)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < connections->waiting_count; i++) {
		const struct ft_nccl_waiting *waiting = &connections->waiting[i];

		if (!has_lost_count(connections->all[waiting->found.connection]))
			connections->waiting[kept++] = *waiting;
	}
	if (kept < FT_NCCL_WAITING) {
		connections->waiting[kept++] =
			(struct ft_nccl_waiting){ *found, .is_whichever = is_whichever };
		ft_nccl_hold(connections, found->frame);
	}
	connections->waiting_count = kept;
}

void ft_nccl_tell_surely(struct ft_nccl_connections *connections, const struct ft_nccl_found *found)
{
	if (connections->sink.found == NULL || connections->found >= connections->config.findings)
		return;
	connections->found++;
	connections->sink.found(connections->sink.context, found);
}

/* A clear-to-send, which its queue pair alone has to do with: each has those of its messages in their order. */
static bool is_of_cts(const struct ft_nccl_followed *followed, const struct ft_nccl_found *found)
{
	const struct ft_nccl_party *sender = &followed->model.sender;

	for (uint8_t i = 0; i < followed->lane_count; i++)
		if (sender->qpns[i] == found->dest_qp &&
		    memcmp(sender->places[sender->qp_device[i]].address, found->ends.dst,
			   sizeof found->ends.dst) == 0)
			return true;
	return false;
}

void ft_nccl_tell_of_data(struct ft_nccl_connections *connections,
			  const struct ft_nccl_found *found)
{
	const struct ft_nccl_followed *followed = connections->all[found->connection];

	if (!ft_nccl_has_guessed_lanes(followed) || is_of_cts(followed, found))
		ft_nccl_tell_of_known(connections, found);
}

void ft_nccl_tell_of_known(struct ft_nccl_connections *connections,
			   const struct ft_nccl_found *found)
{
	const struct ft_nccl_followed *followed = connections->all[found->connection];

	if (connections->sink.found == NULL || !ft_nccl_can_read(followed) ||
	    has_lost_count(followed))
		return;
	if (!ft_nccl_has_numbers(followed)) {
		let_wait(connections, found, false);
		return;
	}
	ft_nccl_tell_surely(connections, found);
}

/* The lane that carries data to this queue pair; NULL: none does. */
static const struct ft_nccl_lane *lane_to(const struct ft_nccl_followed *followed, uint32_t qpn)
{
	for (uint8_t i = 0; i < followed->lane_count; i++)
		if (followed->model.receiver.qpns[i] == qpn)
			return &followed->lanes[i];
	return NULL;
}

void ft_nccl_tell_in_order(struct ft_nccl_connections *connections,
			   const struct ft_nccl_found *found)
{
	const struct ft_nccl_followed *followed = connections->all[found->connection];
	const struct ft_nccl_lane *lane = lane_to(followed, found->dest_qp);

	if (followed->overtaken || !ft_nccl_can_read(followed) || lane == NULL)
		return;
	if (ft_nccl_is_in_order(followed, lane))
		ft_nccl_tell_surely(connections, found);
	else
		let_wait(connections, found, true);
}

void ft_nccl_tell(struct ft_nccl_connections *connections, const struct ft_nccl_found *found)
{
	const struct ft_nccl_followed *followed = connections->all[found->connection];

	if (!followed->model.is_set_up) {
		ft_nccl_tell_of_data(connections, found);
		return;
	}
	if (ft_nccl_can_read(followed) &&
	    (!ft_nccl_has_guessed_lanes(followed) || is_of_cts(followed, found)))
		ft_nccl_tell_surely(connections, found);
}

void ft_nccl_tell_of_sender(struct ft_nccl_connections *connections,
			    const struct ft_nccl_found *found)
{
	if (ft_nccl_can_read(connections->all[found->connection]))
		ft_nccl_tell_surely(connections, found);
}

void ft_nccl_fault_release(struct ft_nccl_connections *connections,
			   const struct ft_nccl_followed *followed)
{
	struct ft_nccl_waiting waiting[FT_NCCL_WAITING];
	unsigned count = connections->waiting_count;

	memcpy(waiting, connections->waiting, count * sizeof *waiting);
	connections->waiting_count = 0;
	for (unsigned i = 0; i < count; i++) {
		const struct ft_nccl_found *found = &waiting[i].found;

		if (found->connection != followed->model.connection)
			connections->waiting[connections->waiting_count++] = waiting[i];
		else if (waiting[i].is_whichever)
			ft_nccl_tell_in_order(connections, found);
		else
			ft_nccl_tell_of_data(connections, found);
	}
}

void ft_nccl_fault_forget(const struct ft_nccl_moment *moment)
{
	struct ft_nccl_connections *connections = moment->connections;
	unsigned count = connections->waiting_count, kept = 0;

	ft_nccl_drop_early(moment->lane);
	for (unsigned i = 0; i < count; i++)
		if (connections->waiting[i].found.connection != moment->followed->model.connection)
			connections->waiting[kept++] = connections->waiting[i];
	connections->waiting_count = kept;
}

bool ft_nccl_fault_waits(const struct ft_nccl_connections *connections,
			 const struct ft_nccl_followed *followed)
{
	for (unsigned i = 0; i < connections->waiting_count; i++)
		if (connections->waiting[i].found.connection == followed->model.connection)
			return true;
	return false;
}

struct ft_nccl_found ft_nccl_found_in(const struct ft_nccl_followed *followed,
				      const struct ft_nccl_seen *seen, enum ft_nccl_fault fault,
				      double certainty)
{
	struct ft_nccl_found found = {
		.fault = fault,
		.certainty = certainty,
		.frame = seen->frame,
		.ts_ns = seen->ts_ns,
		.ends = seen->ends,
		.pkey = seen->pkey,
		.vlan = seen->vlan,
		.dest_qp = seen->dest_qp,
		.connection = followed->model.connection,
	};

	if (ft_nccl_is_vlan_apart(found.ends.vni))
		found.ends.vni = UINT32_MAX;
	return found;
}

/* The newest message of late that asked for exactly this, and was answered. */
static const struct ft_nccl_transfer *answered_before(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;
	const struct ft_nccl_transfer *newest = NULL;
	uint8_t request;

	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *transfer = &ring->transfers[i];

		if (transfer->used && transfer->has_cts && transfer->message.first_frame != 0 &&
		    !ft_nccl_is_doubted(transfer) &&
		    ft_nccl_answers(moment->followed, transfer, moment->seen, &request) &&
		    ft_nccl_ring_requests(ring, transfer)[request].has_offered &&
		    (newest == NULL || newest->message.k < transfer->message.k))
			newest = transfer;
	}
	return newest;
}

static void tell_replay(struct ft_nccl_moment *moment, const struct ft_nccl_transfer *before)
{
	struct ft_nccl_found found =
		ft_nccl_found_in(moment->followed, moment->seen, FT_NCCL_REPLAY, 0.9);

	ft_nccl_found_set_k(&found, before->message.k);
	snprintf(found.text, sizeof found.text,
		 "writes %" PRIu32 " bytes to 0x%" PRIx64 ", which message %" PRIu64
		 " had asked for, and had its data from frame %" PRIu64 " on",
		 moment->seen->length, moment->seen->va, before->message.k,
		 before->message.first_frame);
	ft_nccl_tell_of_data(moment->connections, &found);
}

/* One of the requests asked for data there, but under another key. */
static bool has_other_key(const struct ft_nccl_followed *followed,
			  const struct ft_nccl_transfer *asked, const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_request *requests = ft_nccl_ring_requests(&followed->ring, asked);

	for (uint8_t i = 0; i < asked->message.request_count; i++) {
		const uint64_t offset = seen->va - requests[i].va;

		if (requests[i].has_offered && seen->va >= requests[i].va &&
		    offset + seen->length <= requests[i].offered &&
		    !ft_nccl_has_key(followed, &requests[i], seen->rkey))
			return true;
	}
	return false;
}

void ft_nccl_tell_outside(struct ft_nccl_moment *moment, const struct ft_nccl_transfer *asked)
{
	const struct ft_nccl_request *request =
		ft_nccl_ring_requests(&moment->followed->ring, asked);
	const struct ft_nccl_seen *seen = moment->seen;
	struct ft_nccl_found found =
		ft_nccl_found_in(moment->followed, seen, FT_NCCL_WRITE_OUTSIDE, 0.95);

	ft_nccl_found_set_k(&found, asked->message.k);
	if (has_other_key(moment->followed, asked, seen))
		snprintf(found.text, sizeof found.text,
			 "writes %" PRIu32 " bytes to 0x%" PRIx64
			 ", where the clear-to-send in frame %" PRIu64
			 " asked for data under another key",
			 seen->length, seen->va, asked->message.cts_frame);
	else if (asked->message.request_count > 1)
		snprintf(found.text, sizeof found.text,
			 "writes %" PRIu32 " bytes to 0x%" PRIx64
			 ", which none of the %u requests of the clear-to-send in frame %" PRIu64
			 " asked for",
			 seen->length, seen->va, asked->message.request_count,
			 asked->message.cts_frame);
	else
		snprintf(found.text, sizeof found.text,
			 "writes %" PRIu32 " bytes to 0x%" PRIx64
			 ", but the clear-to-send in frame %" PRIu64 " asked for up to %" PRIu64
			 " bytes at 0x%" PRIx64,
			 seen->length, seen->va, asked->message.cts_frame, request->offered,
			 request->va);
	ft_nccl_tell_in_turn(moment, &found, false);
}

/*
 * An empty write that has overtaken data may be the end of a message that a queue pair not known yet shares: then its
 * immediate is not what was written here.
 */
static bool may_be_end_ahead(const struct ft_nccl_moment *moment)
{
	return moment->turn != FT_NCCL_NEXT && moment->seen->length == 0 &&
	       ft_nccl_has_immediate(moment->seen->opcode) && !moment->followed->model.is_set_up;
}

void ft_nccl_fault_write(struct ft_nccl_moment *moment)
{
	const struct ft_nccl_lane *lane = moment->lane;
	const struct ft_nccl_transfer *asked =
		ft_nccl_ring_find(&moment->followed->ring, lane->writing ? lane->at : lane->next);
	const struct ft_nccl_transfer *before = answered_before(moment);

	if (!ft_nccl_is_calm(moment->followed) || may_be_end_ahead(moment) ||
	    ft_nccl_order_is_anothers(moment))
		return;
	if (before != NULL && before->message.k == lane->at &&
	    ft_nccl_ends_oddly(moment->followed, before))
		return;
	if (before != NULL) {
		if (!ft_nccl_fault_rest(moment->connections, moment->followed, before,
					moment->lane_index, moment->seen))
			tell_replay(moment, before);
	} else if (asked != NULL && asked->has_cts)
		ft_nccl_tell_outside(moment, asked);
}

void ft_nccl_fault_apart(struct ft_nccl_moment *moment)
{
	struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_found found =
		ft_nccl_found_in(followed, moment->seen, FT_NCCL_WRITE_UNASKED, 0.9);

	if (!ft_nccl_is_calm(followed))
		return;
	snprintf(found.text, sizeof found.text,
		 "writes %" PRIu32 " bytes to 0x%" PRIx64 " %" PRId32
		 " PSNs ahead of the connection, which goes on where it was",
		 moment->seen->length, moment->seen->va,
		 ft_psn_distance(moment->seen->psn, moment->lane->data.next));
	if (ft_nccl_has_guessed_lanes(followed) && ft_nccl_goes_nowhere(moment))
		ft_nccl_tell_surely(moment->connections, &found);
	else
		ft_nccl_tell_of_data(moment->connections, &found);
}

void ft_nccl_fault_amid(struct ft_nccl_moment *moment)
{
	struct ft_nccl_found found =
		ft_nccl_found_in(moment->followed, moment->seen, FT_NCCL_WRITE_UNASKED, 0.9);

	if (!ft_nccl_is_calm(moment->followed))
		return;
	snprintf(found.text, sizeof found.text,
		 "begins to write %" PRIu32 " bytes to 0x%" PRIx64 " with PSN %" PRIu32
		 ", at which another write has gone on",
		 moment->seen->length, moment->seen->va, moment->seen->psn);
	ft_nccl_tell_of_sender(moment->connections, &found);
}

/*
 * Clear-to-sends so far show that this is how the connection has them: one does behind a set-up, and among those that showed the
 * connection, which are seen once more, unless another job has them in a VLAN of its own. In front of that one nothing is told
 * before it comes. Those on a grid are known by four or more.
 */
static bool is_shown(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const bool is_to_come = followed->model.is_set_up && followed->readable == 0;
	const bool is_agreed = followed->model.has_tcp || (moment->connections->is_replaying &&
							   !ft_nccl_may_be_anothers(followed));

	if (followed->by_grid)
		return followed->plain;
	return is_to_come || followed->readable >= (is_agreed ? 1 : 2);
}

/* All of it, where that tells what it is: not of connections whose clear-to-sends are known by their places. */
static bool was_captured(const struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen)
{
	return followed->by_grid || (followed->unreadable == 0 && (seen->has & FT_HAS_RETH) != 0 &&
				     seen->captured >= seen->length);
}

void ft_nccl_fault_cts(struct ft_nccl_moment *moment, bool is_read, uint64_t k)
{
	struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_found found = ft_nccl_found_in(followed, moment->seen, FT_NCCL_CONTRADICTION,
						      is_read ? 0.95 : 0.9);
	const struct ft_nccl_seen *seen = moment->seen;

	if (!is_shown(moment) || !was_captured(followed, seen))
		return;
	if (is_read)
		ft_nccl_found_set_k(&found, k);
	if (is_read && !ft_nccl_fifo_has_key(followed, seen->rkey)) {
		snprintf(found.text, sizeof found.text,
			 "a clear-to-send for message %" PRIu64 " goes to 0x%" PRIx64
			 " under another key than the FIFO's",
			 k, seen->va);
	} else if (is_read && followed->by_grid) {
		snprintf(found.text, sizeof found.text,
			 "a clear-to-send for message %" PRIu64 ", by its PSN, goes to 0x%" PRIx64
			 ", not to its slot of the FIFO",
			 k, seen->va);
	} else if (is_read) {
		snprintf(found.text, sizeof found.text,
			 "a clear-to-send for message %" PRIu64 " goes to 0x%" PRIx64
			 ", not to its slot of the FIFO at 0x%" PRIx64,
			 k, seen->va, followed->model.fifo.addr);
	} else if (followed->by_grid) {
		snprintf(found.text, sizeof found.text,
			 "a write of %" PRIu32 " bytes to 0x%" PRIx64 " is no clear-to-send",
			 seen->length, seen->va);
	} else {
		snprintf(found.text, sizeof found.text,
			 "a write of %" PRIu32 " bytes to 0x%" PRIx64
			 " is no clear-to-send of family %c",
			 seen->length, seen->va, ft_nccl_family_letter(followed->model.family));
	}
	ft_nccl_tell_in_turn(moment, &found, true);
}

void ft_nccl_fault_replayed(struct ft_nccl_moment *moment, uint64_t k)
{
	struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_transfer *before = ft_nccl_ring_find(&followed->ring, k);
	struct ft_nccl_found found = ft_nccl_found_in(followed, moment->seen, FT_NCCL_REPLAY, 0.9);

	if (!is_shown(moment))
		return;
	ft_nccl_found_set_k(&found, k);
	if (before != NULL && before->has_cts)
		snprintf(found.text, sizeof found.text,
			 "a clear-to-send for message %" PRIu64
			 " comes again with a new PSN (frame %" PRIu64 " had it)",
			 k, before->message.cts_frame);
	else
		snprintf(found.text, sizeof found.text,
			 "a clear-to-send for message %" PRIu64
			 ", which is not in turn by its PSN: the one before was for %" PRIu64,
			 k, moment->lane->cts_k);
	ft_nccl_tell_in_turn(moment, &found, true);
}
