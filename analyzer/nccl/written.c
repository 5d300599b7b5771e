#include "written.h"

#include <decode/packet.h>

#include "failover.h"
#include "faults.h"
#include "immediates.h"
#include "numbered.h"
#include "protocol.h"
#include "split.h"
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
	return ft_psn_add(seen->psn, packets != 0 ? packets - 1 : 0);
}

bool ft_nccl_write_goes_over(struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen,
			     const struct ft_nccl_seen *other)
{
	const int32_t ahead = ft_psn_distance(other->psn, seen->psn);

	return ft_nccl_begins(seen->opcode) && (seen->has & other->has & FT_HAS_RETH) != 0 &&
	       ahead > 0 && ft_psn_distance(ft_nccl_write_end(followed, seen), other->psn) >= 0 &&
	       other->va != seen->va + (uint64_t)ahead * followed->pmtu;
}

static uint32_t length_of(const struct ft_nccl_seen *seen)
{
	return (seen->has & FT_HAS_RETH) != 0 ? seen->length : seen->payload_length;
}

/* Before 2.12 queue pairs share a message without regard to what is in it: a part may begin and end within a line. */
static bool is_cut_anywhere(const struct ft_nccl_followed *followed)
{
	return followed->lane_count > 1 && followed->model.has_family &&
	       followed->model.family == FT_NCCL_B;
}

/* Where the message begins; 0: not known. */
static uint64_t begin_of(const struct ft_nccl_moment *moment, const struct ft_nccl_request *request)
{
	if (request->va != 0 && !request->by_data)
		return request->va;
	return is_cut_anywhere(moment->followed) ? 0 : moment->seen->va;
}

/* How much of a part can be read as lines. */
static uint32_t readable(const struct ft_nccl_moment *moment)
{
	if (!ft_nccl_may_be_read(moment->followed) || is_cut_anywhere(moment->followed))
		return 0;
	return moment->seen->captured;
}

/* The first data packet of a message tells its protocol. That there are no lines in it, only if it can be read. */
static void sign(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
		 const struct ft_nccl_request *request)
{
	const struct ft_nccl_seen *seen = moment->seen;
	struct ft_nccl_message_signs signs = {
		.offered = request->offered,
		.has_offered = request->has_offered,
		.written = seen->length,
		.has_written = moment->followed->lane_count == 1,
		.va = begin_of(moment, request),
		.write = { seen->payload, readable(moment), length_of(seen) },
	};

	if (transfer->message.request_count != 1 || (seen->has & FT_HAS_RETH) == 0)
		return;
	transfer->message.protocol = ft_nccl_protocol_of(&signs, &transfer->message.flag);
	if (transfer->message.flag == 0 && !ft_nccl_is_read(moment->followed)) {
		signs.write.captured = 0;
		transfer->message.protocol = ft_nccl_protocol_of(&signs, &transfer->message.flag);
	}
	if (transfer->message.flag != 0)
		ft_nccl_note(moment->connections, moment->followed, moment->lane_index,
			     FT_NCCL_N10);
}

enum ft_nccl_protocol ft_nccl_protocol_of_whole(const struct ft_nccl_followed *followed,
						const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_request *request = ft_nccl_ring_requests(&followed->ring, transfer);
	const struct ft_nccl_message_signs signs = {
		.offered = request->offered,
		.has_offered = request->has_offered,
		.written = request->written,
		.has_written = request->has_written,
		.va = request->by_data ? 0 : request->va,
	};
	uint64_t flag;

	if (transfer->message.request_count != 1 || request->written == 0)
		return FT_NCCL_PROTOCOL_UNKNOWN;
	return ft_nccl_protocol_of(&signs, &flag);
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

	if (transfer->message.first_frame == 0 && moment->connections->straights == NULL)
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

/* What was written, beside what was before: a request, if nobody was seen to ask for it. */
static void add_range(const struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
		      uint32_t length)
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;

	if (transfer->more + 1u >= ring->request_room) {
		transfer->more = UINT8_MAX;
		return;
	}
	transfer->more++;
	ft_nccl_ring_requests(ring, transfer)[transfer->more] = (struct ft_nccl_request){
		.va = moment->seen->va,
		.by_data = true,
		.has_written = true,
		.written = length,
	};
}

void ft_nccl_data_write_more(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_psns *psns = &moment->lane->data;
	struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;
	uint32_t length = length_of(moment->seen);

	share->bytes += length;
	if (share->from == psns->origin && psns->origin != 0)
		share->begun = false; /* other writes may have passed before the capture */
	transfer->partial = true;
	transfer->written += length;
	if (!transfer->has_cts)
		add_range(moment, transfer, length);
	moment->followed->model.payload_bytes += length;
	ft_nccl_ring_requests(&moment->followed->ring, transfer)->has_written = false;
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
	moment->lane->ended_to = ft_psn_add(moment->seen->psn, 1);
	if (moment->lane->open && moment->lane->at == message->k)
		moment->lane->open = moment->lane->writing = false;
	message->has_imm = true;
	ft_nccl_put_immediate(message->imm, immdt);
	transfer->immdt = immdt;
	transfer = ft_nccl_numbered(moment, transfer);
	message = &transfer->message;
	ft_nccl_split_weigh(moment->followed, transfer);
	ft_nccl_split_weigh_sizes(moment->followed, transfer);
	if (moment->lane_index == 0)
		ft_nccl_split_count(moment->followed, transfer);
	if (transfer->has_cts && moment->followed->in_a_row >= ASKED_EACH)
		ft_nccl_note(moment->connections, moment->followed, moment->lane_index, FT_NCCL_N8);
	if (message->request_count == 1 && transfer->has_cts &&
	    ft_nccl_is_complete(moment->followed, transfer))
		ft_nccl_fault_immediate(moment, transfer);
	if (message->request_count > 1)
		ft_nccl_fault_few(moment, transfer);
	ft_nccl_immediate_learn(moment, transfer);
	if (moment->followed->first_end_count != 0)
		ft_nccl_fault_first_ends(moment);
	ft_nccl_turns_weigh(moment, transfer);
	ft_nccl_failover_end_at(moment, transfer);
	ft_nccl_numbered_weigh(moment, immdt);
}
