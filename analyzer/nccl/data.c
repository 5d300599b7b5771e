#include "followed.h"

#include <decode/packet.h>

#include "answer.h"
#include "faults.h"
#include "groups.h"
#include "immediates.h"
#include "split.h"
#include "stray.h"

/* Messages next to each other, each with its clear-to-send, that are no accident. */
enum { ASKED_EACH = 3 };

/* Packets that one may have overtaken. */
enum { REORDERED_MOST = 64 };

void ft_nccl_data_count(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_message *message = &transfer->message;
	struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;

	share->packets++;
	message->packets++;
	if (message->first_frame == 0)
		moment->followed->model.messages++;
	ft_nccl_message_reach(message, moment->seen->frame, moment->seen->ts_ns);
}

uint32_t ft_nccl_write_end(struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen)
{
	uint32_t packets;

	if (seen->opcode != 0x06 || (seen->has & FT_HAS_RETH) == 0)
		return seen->psn;
	if ((seen->has & FT_HAS_PAYLOAD_LENGTH) != 0 && seen->payload_length >= 256)
		followed->pmtu = (uint16_t)seen->payload_length;
	if (followed->pmtu == 0)
		return seen->psn;
	packets = (seen->length + followed->pmtu - 1) / followed->pmtu;
	return ft_nccl_psn_add(seen->psn, packets != 0 ? packets - 1 : 0);
}

static uint32_t length_of(const struct ft_nccl_seen *seen)
{
	return (seen->has & FT_HAS_RETH) != 0 ? seen->length : seen->payload_length;
}

/* The first data packet of a message tells its protocol. */
static void sign(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
		 const struct ft_nccl_request *request)
{
	const struct ft_nccl_seen *seen = moment->seen;
	const struct ft_nccl_sign sign = {
		.offered = request->offered,
		.has_offered = request->has_offered,
		.written = seen->length,
		.has_written = moment->followed->lane_count == 1,
		.va = seen->va,
		.write = { seen->payload, seen->captured, length_of(seen) },
	};

	if (transfer->message.request_count != 1 || (seen->has & FT_HAS_RETH) == 0)
		return;
	transfer->message.protocol = ft_nccl_protocol_of(&sign, &transfer->message.flag);
	if (transfer->message.flag != 0)
		ft_nccl_note(moment->connections, moment->followed, moment->lane_index,
			     FT_NCCL_N10);
}

/* Without a clear-to-send a message has a request per range written. */
static struct ft_nccl_request *request_of(struct ft_nccl_moment *moment,
					  struct ft_nccl_transfer *transfer, uint8_t *request)
{
	struct ft_nccl_request *requests = ft_nccl_ring_requests(&moment->followed->ring, transfer);

	if (!transfer->has_cts && transfer->message.request_count == 0) {
		transfer->message.request_count = 1;
		*request = 0;
	}
	if (requests[*request].va == 0)
		requests[*request].va = moment->seen->va;
	return &requests[*request];
}

void ft_nccl_data_write(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
			uint8_t request)
{
	struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_share *share =
		ft_nccl_ring_shares(&followed->ring, transfer) + moment->lane_index;
	uint32_t length = length_of(moment->seen);
	struct ft_nccl_request *written = request_of(moment, transfer, &request);

	if (transfer->message.first_frame == 0)
		sign(moment, transfer, written);
	share->requests |= (uint8_t)(1u << request);
	share->bytes += length;
	transfer->written += length;
	followed->model.payload_bytes += length;
	if (!transfer->sized)
		written->written += length;
	if (length != 0 || moment->seen->immdt == 0 || transfer->message.request_count != 1)
		written->has_written = true;
	if (transfer->has_cts && written->rkey_count != 0)
		ft_nccl_note(moment->connections, followed, moment->lane_index, FT_NCCL_N4);
}

void ft_nccl_data_end(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_message *message = &transfer->message;
	struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;
	uint32_t immdt = moment->seen->immdt;

	share->ended = true;
	share->immdt = immdt;
	share->imm_frame = moment->seen->frame;
	if (moment->lane->open && moment->lane->at == message->k)
		moment->lane->open = moment->lane->writing = false;
	message->has_imm = true;
	for (unsigned i = 0; i < 4; i++)
		message->imm[i] = (uint8_t)(immdt >> (24 - 8 * i));
	transfer->immdt = immdt;
	if (transfer->has_cts && moment->followed->in_a_row >= ASKED_EACH)
		ft_nccl_note(moment->connections, moment->followed, moment->lane_index, FT_NCCL_N8);
	if (message->request_count == 1 && transfer->has_cts &&
	    ft_nccl_split_is_known(moment->followed) &&
	    ft_nccl_is_complete(moment->followed, transfer))
		ft_nccl_fault_immediate(moment, transfer);
	ft_nccl_immediate_learn(moment, transfer);
}

/* The lane goes on to a message. */
static void enter(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
		  enum ft_nccl_answer_kind kind)
{
	struct ft_nccl_lane *lane = moment->lane;
	struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;
	bool exact = lane->exact && moment->turn == FT_NCCL_NEXT && lane->data.known;

	if (!share->used) {
		share->used = true;
		if (share->packets == 0) {
			share->begun = kind == FT_NCCL_ANSWER_DATA;
			share->from = moment->seen->psn;
			share->va = moment->seen->va;
		}
		ft_nccl_split_learn(moment->followed, transfer, moment->lane_index, exact);
	}
	lane->open = true;
	lane->writing = false;
	if (lane->carried && lane->exact && transfer->has_cts &&
	    transfer->message.k == lane->at + 1)
		moment->followed->in_a_row++;
	lane->exact = transfer->message.has_k;
	lane->carried = true;
	lane->at = transfer->message.k;
	if (lane->exact)
		lane->next = lane->at + 1;
	lane->orphans = 0;
}

/* A message whose number is a guess makes room, unless the write goes on with it. */
static bool is_under_way(const struct ft_nccl_moment *moment,
			 const struct ft_nccl_transfer *transfer)
{
	return moment->lane->open && moment->lane->at == transfer->message.k;
}

static struct ft_nccl_transfer *transfer_for(struct ft_nccl_moment *moment,
					     const struct ft_nccl_answer *answer)
{
	struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_transfer *transfer;
	bool is_new;

	if (ft_nccl_ring_fit(&followed->ring, FT_NCCL_RING_LEAST, 1, followed->lane_count) != 0)
		return NULL;
	transfer = ft_nccl_ring_find(&followed->ring, answer->k);
	is_new = transfer == NULL;
	if (transfer != NULL && !transfer->message.has_k && !is_under_way(moment, transfer)) {
		ft_nccl_keep(moment->connections, followed, transfer);
		is_new = true;
	}
	transfer = ft_nccl_transfer_of(moment->connections, followed, answer->k);
	if (transfer != NULL && is_new)
		transfer->message.has_k = answer->sure;
	return transfer;
}

static void learn_sizes(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer)
{
	if (!moment->followed->model.has_tcp && transfer->message.has_k)
		ft_nccl_sizes_place(moment->followed, moment->seen, transfer->message.k);
	ft_nccl_sizes_learn(moment, transfer);
}

static void reject(struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;

	ft_nccl_fault_write(moment);
	if (lane->writing)
		return; /* what goes on from here is the write that it came between */
	lane->exact = false;
	lane->alien_to = ft_nccl_write_end(moment->followed, moment->seen);
	lane->alien = lane->alien_to != moment->seen->psn;
}

/* The rest of a write that is none of the connection's. */
static bool is_alien(struct ft_nccl_lane *lane, const struct ft_nccl_seen *seen)
{
	if (!lane->alien || ft_nccl_begins(seen->opcode) ||
	    ft_nccl_psn_distance(seen->psn, lane->alien_to) > 0) {
		lane->alien = false;
		return false;
	}
	lane->alien = !ft_nccl_ends(seen->opcode);
	return true;
}

/*
 * A write that nobody is known to have asked for. Out of sequence it is held back: the next packet tells whether the
 * sequence moved on. In sequence it waits for the next clear-to-send, as an early one does.
 */
static bool hold_back(struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;

	if (!lane->exact || (lane->open && moment->turn == FT_NCCL_NEXT))
		return false;
	if (moment->turn == FT_NCCL_NEXT) {
		ft_nccl_fault_odd(moment->followed, lane, moment->seen);
	} else {
		lane->has_odd = true;
		lane->odd = *moment->seen;
	}
	return true;
}

/* What it says of the message that it is of. */
static void take_in(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
		    const struct ft_nccl_answer *answer)
{
	const struct ft_nccl_seen *seen = moment->seen;
	struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;

	share->to = ft_nccl_write_end(moment->followed, seen);
	if (answer->kind == FT_NCCL_ANSWER_DATA)
		ft_nccl_data_write(moment, transfer, answer->request);
	else if (answer->kind == FT_NCCL_ANSWER_SIZES)
		learn_sizes(moment, transfer);
	else if (answer->kind == FT_NCCL_ANSWER_END)
		transfer->bare = true;
	if (ft_nccl_is_bare_end(seen))
		ft_nccl_note(moment->connections, moment->followed, moment->lane_index, FT_NCCL_N3);
	moment->lane->writing = seen->opcode == 0x06;
	moment->lane->write_end = share->to;
}

/* A write begins. False: it is none of the connection's. */
static bool begin(struct ft_nccl_moment *moment)
{
	struct ft_nccl_answer answer = ft_nccl_answer_of(moment);
	struct ft_nccl_transfer *transfer;
	bool is_stray = answer.kind == FT_NCCL_ANSWER_END && moment->lane->orphans != 0 &&
			moment->turn == FT_NCCL_NEXT && ft_nccl_stray_is_next(moment, true);

	if (answer.kind == FT_NCCL_ANSWER_NONE) {
		reject(moment);
		return false;
	}
	if (answer.odd && !answer.sure && !moment->accepted && hold_back(moment))
		return false;
	if (is_stray) {
		answer.k = moment->lane->next;
		answer.sure = true;
	}
	transfer = transfer_for(moment, &answer);
	if (transfer == NULL)
		return true;
	if (is_stray)
		ft_nccl_stray_adopt(moment, transfer, true);
	enter(moment, transfer, answer.kind);
	if (answer.doubtful) {
		transfer->doubtful = true;
		moment->lane->exact = false;
	}
	take_in(moment, transfer, &answer);
	if (!transfer->has_cts && transfer->message.has_k)
		ft_nccl_fault_early(moment, transfer);
	ft_nccl_data_count(moment, transfer);
	if (ft_nccl_has_immediate(moment->seen->opcode))
		ft_nccl_data_end(moment, transfer);
	return true;
}

/* The message of packets whose first was missed ends. */
static void end_stray(struct ft_nccl_moment *moment)
{
	struct ft_nccl_answer answer = { .kind = FT_NCCL_ANSWER_END, .k = moment->lane->next };
	struct ft_nccl_transfer *transfer;

	answer.sure = ft_nccl_stray_is_next(moment, false);
	transfer = transfer_for(moment, &answer);
	if (transfer == NULL)
		return;
	ft_nccl_stray_adopt(moment, transfer, answer.sure);
	enter(moment, transfer, answer.kind);
	ft_nccl_ring_shares(&moment->followed->ring, transfer)[moment->lane_index].to =
		moment->seen->psn;
	ft_nccl_data_end(moment, transfer);
}

/* A packet behind the first of a write. */
static void go_on(struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;
	const struct ft_nccl_seen *seen = moment->seen;
	struct ft_nccl_transfer *transfer;

	if (lane->writing && ft_nccl_psn_distance(seen->psn, lane->write_end) > 0)
		lane->writing = false;
	if (!lane->writing) {
		ft_nccl_stray_see(moment);
		if (ft_nccl_has_immediate(seen->opcode))
			end_stray(moment);
		return;
	}
	transfer = ft_nccl_ring_find(&moment->followed->ring, lane->at);
	if (transfer == NULL)
		return;
	ft_nccl_data_count(moment, transfer);
	if (ft_nccl_ends(seen->opcode))
		lane->writing = false;
	if (ft_nccl_has_immediate(seen->opcode))
		ft_nccl_data_end(moment, transfer);
}

/* What is between a write's first packet and its last is not shown: it counts as seen. */
static void pass_middle(struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;
	struct ft_nccl_transfer *transfer = ft_nccl_ring_find(&moment->followed->ring, lane->at);
	int32_t packets = ft_nccl_psn_distance(lane->write_end, lane->data.next);

	if (packets <= 0 || transfer == NULL)
		return;
	lane->data.next = lane->write_end;
	ft_nccl_ring_shares(&moment->followed->ring, transfer)[moment->lane_index].packets +=
		(uint32_t)packets;
	transfer->message.packets += (uint32_t)packets;
}

/* What was sent again has the place of a write that nobody asked for: one of the two is forged. */
static bool is_twin(const struct ft_nccl_lane *lane, const struct ft_nccl_seen *seen)
{
	return lane->has_early && lane->early.psn == seen->psn;
}

static void see(struct ft_nccl_moment *moment)
{
	const struct ft_nccl_seen *seen = moment->seen;
	struct ft_nccl_psns *psns = &moment->lane->data;
	struct ft_nccl_connection *model = &moment->followed->model;

	moment->turn = ft_nccl_psns_judge(psns, seen->psn);
	if (moment->turn == FT_NCCL_AGAIN) {
		model->retransmitted_data++;
		if (ft_nccl_begins(seen->opcode))
			ft_nccl_fault_again(moment);
		ft_nccl_step(moment->followed, is_twin(moment->lane, seen));
		return;
	}
	if (moment->turn == FT_NCCL_LATE)
		ft_nccl_late_see(moment);
	else if (!ft_nccl_begins(seen->opcode))
		go_on(moment);
	else if (!begin(moment))
		return;
	ft_nccl_step(moment->followed, moment->turn == FT_NCCL_NEXT);
	model->missing_packets -=
		(uint64_t)(int64_t)ft_nccl_psns_take(psns, seen->psn, moment->turn);
	if (moment->connections->config.ends_only && seen->opcode == 0x06 && moment->lane->writing)
		pass_middle(moment);
}

/* The write that was held back: it was right if the sequence went on behind it. */
static void decide(struct ft_nccl_moment *moment, bool is_right)
{
	struct ft_nccl_lane *lane = moment->lane;
	struct ft_nccl_moment held = *moment;
	struct ft_nccl_seen odd = lane->odd;

	lane->has_odd = false;
	held.seen = &odd;
	odd.captured = 0;
	if (is_right) {
		held.accepted = true;
		see(&held);
	} else if (ft_nccl_psn_distance(odd.psn, lane->data.next) > REORDERED_MOST) {
		ft_nccl_fault_apart(&held);
	} else {
		ft_nccl_fault_odd(moment->followed, lane, &odd);
	}
}

void ft_nccl_data_see(struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;

	if (!ft_nccl_split_admits(moment) || is_alien(lane, moment->seen))
		return;
	if (lane->has_odd)
		decide(moment, moment->seen->psn != lane->data.next);
	see(moment);
}

void ft_nccl_data_settle(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed)
{
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		struct ft_nccl_moment moment = {
			.connections = connections,
			.followed = followed,
			.lane = &followed->lanes[i],
			.lane_index = i,
		};

		if (followed->lanes[i].has_odd)
			decide(&moment, true);
	}
}
