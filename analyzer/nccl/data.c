#include "followed.h"

#include <decode/packet.h>

#include "answer.h"
#include "faults.h"
#include "groups.h"
#include "immediates.h"
#include "order.h"
#include "sizes.h"
#include "split.h"
#include "stray.h"
#include "turns.h"

/* Messages next to each other, each with its clear-to-send, that are no accident. */
enum { ASKED_EACH = 3 };

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
		.write = { seen->payload, moment->followed->blind ? 0 : seen->captured,
			   length_of(seen) },
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
	if (requests[*request].va == 0 ||
	    (requests[*request].by_data && moment->seen->va < requests[*request].va)) {
		requests[*request].va = moment->seen->va;
		requests[*request].by_data = true;
	}
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
	ft_nccl_split_weigh(moment->followed, transfer);
	ft_nccl_split_weigh_sizes(moment->followed, transfer);
	if (moment->lane_index == 0)
		ft_nccl_split_count(moment->followed, transfer);
	if (transfer->has_cts && moment->followed->in_a_row >= ASKED_EACH)
		ft_nccl_note(moment->connections, moment->followed, moment->lane_index, FT_NCCL_N8);
	if (message->request_count == 1 && transfer->has_cts &&
	    ft_nccl_split_is_known(moment->followed) &&
	    ft_nccl_is_complete(moment->followed, transfer))
		ft_nccl_fault_immediate(moment, transfer);
	ft_nccl_immediate_learn(moment, transfer);
	ft_nccl_turns_weigh(moment, transfer);
}

static bool is_under_way(const struct ft_nccl_moment *moment,
			 const struct ft_nccl_transfer *transfer)
{
	return moment->lane->open && moment->lane->at == transfer->message.k;
}

/* The first packet of it on this lane. */
static void open_share(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
		       enum ft_nccl_answer_kind kind)
{
	struct ft_nccl_lane *lane = moment->lane;
	struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;
	bool exact = lane->exact && moment->turn == FT_NCCL_NEXT && lane->data.known;

	if (share->used)
		return;
	share->used = true;
	if (share->packets == 0) {
		share->begun = kind == FT_NCCL_ANSWER_DATA;
		share->from = moment->seen->psn;
		ft_nccl_share_begin(share, moment->seen);
	}
	share->counted = lane->counted;
	share->turn = lane->open && lane->turns != 0 ? lane->turns - 1 : lane->turns;
	ft_nccl_split_learn(moment->followed, transfer, moment->lane_index, exact);
}

/* The lane goes on to a message. */
static void enter(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
		  const struct ft_nccl_answer *answer)
{
	struct ft_nccl_lane *lane = moment->lane;
	uint32_t step = ft_nccl_split_step(moment->followed);

	open_share(moment, transfer, answer->kind);
	lane->writing = false;
	lane->orphans = 0;
	if (is_under_way(moment, transfer))
		return;
	if (!lane->open || answer->kind == FT_NCCL_ANSWER_DATA)
		lane->turns++;
	lane->open = true;
	if (lane->carried && lane->exact && transfer->has_cts &&
	    transfer->message.k == lane->at + 1)
		moment->followed->in_a_row++;
	lane->exact = transfer->message.has_k && answer->sure;
	lane->carried = true;
	lane->at = transfer->message.k;
	lane->begun_frame = moment->seen->frame;
	if (lane->exact) {
		lane->next = lane->at + 1;
		lane->slack = 0;
	} else {
		ft_nccl_loosen(lane, step != 0 ? step : FT_NCCL_SLACK_MOST);
	}
}

static struct ft_nccl_transfer *transfer_for(struct ft_nccl_moment *moment,
					     const struct ft_nccl_answer *answer)
{
	struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_transfer *transfer;
	bool is_new;

	if (ft_nccl_ring_fit(
		    &followed->ring, FT_NCCL_RING_LEAST,
		    answer->kind == FT_NCCL_ANSWER_SIZES ? ft_nccl_sizes_count(moment->seen) : 1,
		    followed->lane_count) != 0)
		return NULL;
	transfer = ft_nccl_ring_find(&followed->ring, answer->k);
	is_new = transfer == NULL;
	/* whose number is a guess makes room, unless the write goes on with it */
	if (transfer != NULL && !transfer->message.has_k &&
	    (answer->begins || !is_under_way(moment, transfer))) {
		ft_nccl_keep(moment->connections, followed, transfer);
		is_new = true;
	}
	transfer = ft_nccl_transfer_of(moment->connections, followed, answer->k);
	if (transfer != NULL && is_new)
		transfer->message.has_k = answer->sure;
	else if (transfer != NULL && !answer->sure && !answer->undecided &&
		 !is_under_way(moment, transfer))
		transfer->doubtful = transfer->adrift = true;
	return transfer;
}

static void reject(struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;

	ft_nccl_fault_write(moment);
	if (lane->writing) { /* what goes on from here is the write that it came between */
		ft_nccl_step(moment->followed, false);
		return;
	}
	lane->exact = false;
	lane->begun_frame = 0;
	lane->alien_to = ft_nccl_write_end(moment->followed, moment->seen);
	lane->alien = lane->alien_to != moment->seen->psn;
}

/* Which request it answers is not known. */
static void take_more(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer)
{
	uint32_t length = length_of(moment->seen);

	transfer->partial = true;
	transfer->written += length;
	moment->followed->model.payload_bytes += length;
	ft_nccl_ring_requests(&moment->followed->ring, transfer)->has_written = false;
}

/* What it says of the message that it is of. */
static void take_in(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
		    const struct ft_nccl_answer *answer)
{
	const struct ft_nccl_seen *seen = moment->seen;
	struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;

	share->to = ft_nccl_write_end(moment->followed, seen);
	share->searched = share->searched || answer->searched;
	if (answer->kind != FT_NCCL_ANSWER_RESUMED)
		share->last = ft_nccl_begun_by(seen);
	if (answer->kind == FT_NCCL_ANSWER_DATA)
		ft_nccl_data_write(moment, transfer, answer->request);
	else if (answer->kind == FT_NCCL_ANSWER_MORE)
		take_more(moment, transfer);
	else if (answer->kind == FT_NCCL_ANSWER_SIZES)
		ft_nccl_sizes_take(moment, transfer);
	else if (answer->kind == FT_NCCL_ANSWER_END)
		transfer->bare = true;
	if (ft_nccl_is_bare_end(seen))
		ft_nccl_note(moment->connections, moment->followed, moment->lane_index, FT_NCCL_N3);
	moment->lane->writing = seen->opcode == 0x06;
	moment->lane->write_end = share->to;
}

/* It may be of another message: the lane is at one of several. */
static void doubt(struct ft_nccl_lane *lane, struct ft_nccl_transfer *transfer,
		  const struct ft_nccl_answer *answer)
{
	transfer->doubtful = transfer->adrift = true;
	lane->exact = false;
	lane->next = answer->low + 1;
	lane->slack = 0;
	ft_nccl_loosen(lane, answer->high - answer->low);
}

/* What begins is of this message. */
static void go_on_with(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
		       const struct ft_nccl_answer *answer)
{
	enter(moment, transfer, answer);
	transfer->undecided = transfer->undecided || answer->undecided;
	if (answer->doubtful)
		doubt(moment->lane, transfer, answer);
	if (answer->kind == FT_NCCL_ANSWER_DATA && ft_nccl_order_contradicts(moment, answer->k))
		ft_nccl_order_distrust(moment->followed, moment->lane_index, 0);
	take_in(moment, transfer, answer);
	if (answer->kind == FT_NCCL_ANSWER_DATA && !transfer->has_cts && transfer->message.has_k &&
	    !transfer->undecided)
		ft_nccl_fault_early(moment, transfer);
	ft_nccl_data_count(moment, transfer);
	if (ft_nccl_has_immediate(moment->seen->opcode))
		ft_nccl_data_end(moment, transfer);
}

static bool ends_strays(const struct ft_nccl_lane *lane, const struct ft_nccl_answer *answer)
{
	return answer->kind == FT_NCCL_ANSWER_END && lane->orphans != 0 &&
	       !(lane->open && lane->at == answer->k);
}

/* Of which message the packets were that end here is not known: of the one before, or that one's end was missed. */
static void pass_stray_end(struct ft_nccl_lane *lane)
{
	lane->orphans = 0;
	lane->open = lane->writing = false;
}

/* Nobody was seen to ask for it. */
static bool may_go_nowhere(const struct ft_nccl_moment *moment, const struct ft_nccl_answer *answer)
{
	if (moment->accepted)
		return false;
	return answer->kind == FT_NCCL_ANSWER_NONE || answer->odd ||
	       (answer->kind == FT_NCCL_ANSWER_DATA && answer->k > moment->followed->newest);
}

/* A write begins. False: it is none of the connection's. */
static bool begin(struct ft_nccl_moment *moment)
{
	struct ft_nccl_answer answer;
	struct ft_nccl_transfer *transfer;
	bool is_stray;

	ft_nccl_order_see(moment, &moment->lane->data_acked);
	ft_nccl_turns_carry(moment);
	answer = ft_nccl_answer_of(moment);
	is_stray = answer.kind == FT_NCCL_ANSWER_END && moment->lane->orphans != 0 &&
		   moment->turn == FT_NCCL_NEXT && ft_nccl_stray_is_next(moment, true);
	if (may_go_nowhere(moment, &answer))
		ft_nccl_fault_nowhere(moment);
	if (answer.kind == FT_NCCL_ANSWER_NONE) {
		reject(moment);
		return false;
	}
	if (((answer.odd && !answer.sure) || ft_nccl_is_far_ahead(moment)) && !moment->accepted &&
	    ft_nccl_hold_back(moment))
		return false;
	if (answer.odd)
		ft_nccl_loosen(moment->lane, FT_NCCL_SLACK_MOST);
	if (!is_stray && ends_strays(moment->lane, &answer)) {
		pass_stray_end(moment->lane);
		return true;
	}
	if (is_stray) {
		answer.k = moment->lane->next;
		answer.sure = true;
	}
	transfer = transfer_for(moment, &answer);
	if (transfer == NULL) {
		moment->lane->counted = false;
		return true;
	}
	if (is_stray)
		ft_nccl_stray_adopt(moment, transfer, true);
	go_on_with(moment, transfer, &answer);
	return true;
}

/* The message of packets whose first was missed ends. */
static void end_stray(struct ft_nccl_moment *moment)
{
	struct ft_nccl_answer answer = { .kind = FT_NCCL_ANSWER_END };
	struct ft_nccl_transfer *transfer;

	answer.k = ft_nccl_split_first(moment->followed, moment->lane_index, moment->lane->next);
	answer.sure = ft_nccl_stray_is_next(moment, false);
	transfer = ft_nccl_ring_find(&moment->followed->ring, answer.k);
	if (!answer.sure && transfer != NULL &&
	    (transfer->has_cts || is_under_way(moment, transfer))) {
		pass_stray_end(moment->lane);
		return;
	}
	transfer = transfer_for(moment, &answer);
	if (transfer == NULL)
		return;
	ft_nccl_stray_adopt(moment, transfer, answer.sure);
	enter(moment, transfer, &answer);
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
	if (ft_nccl_ends(seen->opcode))
		lane->writing = false;
	if (transfer == NULL) { /* it made room for another one */
		lane->open = lane->open && !ft_nccl_has_immediate(seen->opcode);
		return;
	}
	ft_nccl_data_count(moment, transfer);
	if (ft_nccl_has_immediate(seen->opcode))
		ft_nccl_data_end(moment, transfer);
}

void ft_nccl_data_pass_middle(struct ft_nccl_moment *moment)
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

/* What was missed is of the write under way, which goes on so far from its end; -1: the next one begins, in its place. */
static bool is_rest_missing(const struct ft_nccl_moment *moment, int32_t left)
{
	return moment->turn == FT_NCCL_AHEAD && moment->lane->writing &&
	       ft_nccl_psn_distance(moment->lane->write_end, moment->seen->psn) >= left;
}

/* Each packet that was missed may have been a message. */
static void note_hole(struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;
	uint32_t packets = (moment->seen->psn - lane->data.next) & 0xffffff;
	uint32_t step = ft_nccl_split_step(moment->followed);

	lane->counted = false;
	lane->begun_frame = 0;
	ft_nccl_loosen(lane, moment->turn == FT_NCCL_AHEAD && step != 0 ? (uint64_t)packets * step
									: FT_NCCL_SLACK_MOST);
}

void ft_nccl_data_take(struct ft_nccl_moment *moment)
{
	const struct ft_nccl_seen *seen = moment->seen;
	struct ft_nccl_psns *psns = &moment->lane->data;
	struct ft_nccl_connection *model = &moment->followed->model;
	bool is_hole, is_in_turn;

	moment->turn = ft_nccl_psns_judge(psns, seen->psn);
	moment->is_behind = moment->turn == FT_NCCL_NEXT || is_rest_missing(moment, -1);
	is_in_turn = moment->turn == FT_NCCL_NEXT || is_rest_missing(moment, 0);
	is_hole =
		!moment->is_behind && moment->turn != FT_NCCL_LATE && moment->turn != FT_NCCL_AGAIN;
	if (is_hole)
		note_hole(moment);
	if (moment->turn == FT_NCCL_AGAIN) {
		ft_nccl_data_again(moment);
		return;
	}
	if (moment->turn == FT_NCCL_LATE)
		ft_nccl_late_see(moment);
	else if (!ft_nccl_begins(seen->opcode))
		go_on(moment);
	else if (!begin(moment))
		return;
	if (is_hole)
		moment->followed->numbered = false;
	ft_nccl_step(moment->followed, is_in_turn);
	model->missing_packets -=
		(uint64_t)(int64_t)ft_nccl_psns_take(psns, seen->psn, moment->turn);
	if (moment->connections->config.ends_only && seen->opcode == 0x06 && moment->lane->writing)
		ft_nccl_data_pass_middle(moment);
}
