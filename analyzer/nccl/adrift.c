#include "adrift.h"

#include <capture/frame.h>

#include "asked.h"

/* Clear-to-sends, the first buffer of which has not come again: then each message has its own. */
enum { UNIQUE = 128 };

static bool are_of_one_device(const struct ft_nccl_connection *model, uint8_t one, uint8_t other)
{
	return model->sender.qp_device[one] == model->sender.qp_device[other] &&
	       model->receiver.qp_device[one] == model->receiver.qp_device[other];
}

/* ACKs of data show that it passes before them: on the queue pair, or if none is known, on another one of the same devices. */
static bool is_data_in_order(const struct ft_nccl_followed *followed, uint8_t index)
{
	const struct ft_nccl_acked *acked = &followed->lanes[index].data_acked;
	bool shown = acked->ordered;

	for (uint8_t i = 0; !acked->known && i < followed->lane_count; i++)
		shown = shown || (followed->lanes[i].data_acked.ordered &&
				  are_of_one_device(&followed->model, index, i));
	return shown;
}

/*
 * Messages that were counted have shown that packets pass in order; or ACKs that what asks passes before it is acknowledged, and
 * so does data, on the queue pairs that have some of it.
 */
static bool is_in_order(const struct ft_nccl_followed *followed,
			const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_share *shares = ft_nccl_ring_shares(&followed->ring, transfer);

	if (followed->came_in_order && !followed->came_astray)
		return true;
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		const struct ft_nccl_lane *lane = &followed->lanes[i];

		if ((lane->asked && !lane->cts_acked.ordered) ||
		    (shares[i].used && !is_data_in_order(followed, i)))
			return false;
	}
	return true;
}

/* Buffers have come again, or nothing shows that they will not. */
static bool may_recur(const struct ft_nccl_followed *followed)
{
	return followed->recurs || followed->model.cts < UNIQUE;
}

/*
 * Where taps differ in their order, or nothing shows that they do not, data may be of the message before or behind that goes
 * to the same buffer. If that is more messages away than are remembered, only where as many packets as wait for their data
 * at a time were late, as far as is known.
 */
static bool is_guess(const struct ft_nccl_followed *followed,
		     const struct ft_nccl_transfer *transfer)
{
	bool is_far = followed->overtaken ? followed->lag >= FT_NCCL_ASKED_AHEAD
					  : !is_in_order(followed, transfer);

	return transfer->guessed && followed->model.imm_content != FT_NCCL_IMM_ID &&
	       ((is_far && may_recur(followed)) ||
		((is_far || followed->overtaken) &&
		 ft_nccl_ring_recurs(&followed->ring, transfer)));
}

bool ft_nccl_is_adrift(const struct ft_nccl_transfer *transfer)
{
	return transfer->adrift && transfer->message.has_k && transfer->message.first_frame != 0;
}

/* Immediates are numbers, and one that ends it is another message's. */
static bool ends_otherwise(const struct ft_nccl_followed *followed,
			   const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_share *shares = ft_nccl_ring_shares(&followed->ring, transfer);

	for (uint8_t i = 0; i < followed->lane_count; i++) {
		if (shares[i].used && shares[i].ended &&
		    shares[i].immdt != (uint32_t)transfer->message.k)
			return followed->model.imm_content == FT_NCCL_IMM_ID;
	}
	return false;
}

void ft_nccl_adrift_settle(const struct ft_nccl_followed *followed,
			   struct ft_nccl_transfer *transfer)
{
	transfer->adrift = transfer->adrift || transfer->undecided ||
			   is_guess(followed, transfer) || ends_otherwise(followed, transfer);
}

void ft_nccl_adrift_asked(struct ft_nccl_followed *followed, struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_share *shares = ft_nccl_ring_shares(&followed->ring, transfer);
	const uint64_t k = transfer->message.k;

	if (ft_nccl_asked_for_all(followed, transfer))
		return;
	transfer->adrift = true;
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		struct ft_nccl_lane *lane = &followed->lanes[i];

		if (!shares[i].used || lane->next <= k)
			continue;
		lane->exact = false;
		lane->next = k;
		ft_nccl_loosen(lane, FT_NCCL_ASKED_AHEAD);
		lane->open = lane->open && (lane->writing || lane->at != k);
	}
}

static void add_asking(struct ft_nccl_store *store, const struct ft_nccl_message *message)
{
	const struct ft_nccl_shares none = { .at = NULL };
	struct ft_nccl_request requests[FT_NCCL_REQUESTS_MAX];
	struct ft_nccl_message asking = {
		.connection = message->connection,
		.has_k = true,
		.k = message->k,
		.cts_frame = message->cts_frame,
		.cts_ts_ns = message->cts_ts_ns,
		.first_ts_ns = FT_TS_UNKNOWN,
		.last_ts_ns = FT_TS_UNKNOWN,
		.request_count = message->request_count,
		.requests = requests,
	};

	for (uint8_t i = 0; i < message->request_count; i++) {
		requests[i] = message->requests[i];
		requests[i].written = 0;
		requests[i].has_written = false;
		if (requests[i].by_data)
			requests[i].va = 0;
	}
	ft_nccl_store_add(store, &asking, &none);
}

/* Requests that were written to; the lowest of the shares' first addresses is that of a single one. */
static uint8_t requests_of(const struct ft_nccl_message *message,
			   const struct ft_nccl_shares *shares,
			   struct ft_nccl_request requests[FT_NCCL_REQUESTS_MAX])
{
	bool is_one = ft_nccl_shares_used(shares->at, shares->count) == 1;
	uint8_t written = 0, count = 0;
	uint64_t lowest = UINT64_MAX;

	for (uint32_t i = 0; i < shares->count; i++) {
		const struct ft_nccl_share *share = &shares->at[i];

		if (!share->used)
			continue;
		written |= share->requests;
		if (share->first.frame != 0 && share->first.va < lowest)
			lowest = share->first.va;
	}
	for (uint8_t i = 0; i < message->request_count; i++) {
		if ((written >> i & 1) == 0)
			continue;
		requests[count++] = (struct ft_nccl_request){
			.written = message->requests[i].written,
			.has_written = message->requests[i].has_written && is_one,
			.by_data = true,
		};
	}
	if (message->request_count == 1 && count == 1 && lowest != UINT64_MAX)
		requests[0].va = lowest;
	return count;
}

/* Queue pairs may have brought parts of different messages, which end differently. */
static bool is_same_end(const struct ft_nccl_shares *shares)
{
	const struct ft_nccl_share *ended = NULL;

	for (uint32_t i = 0; i < shares->count; i++) {
		const struct ft_nccl_share *share = &shares->at[i];

		if (!share->used || !share->ended)
			continue;
		if (ended != NULL && ended->immdt != share->immdt)
			return false;
		ended = share;
	}
	return true;
}

/* The queue pair has all of a message of one request. */
static bool is_alone(const struct ft_nccl_share *share)
{
	return share->bytes != 0 && ft_nccl_share_is_whole(share) &&
	       ft_nccl_immediate_orders(share->immdt, (uint32_t)share->bytes) != 0;
}

bool ft_nccl_are_apart(const struct ft_nccl_shares *shares)
{
	uint32_t written = 0;
	bool has_alone = false;

	if (!is_same_end(shares))
		return true;
	for (uint32_t i = 0; i < shares->count; i++) {
		const struct ft_nccl_share *share = &shares->at[i];

		written += share->used && share->bytes != 0 ? 1 : 0;
		has_alone = has_alone || (share->used && is_alone(share));
	}
	return has_alone && written > 1;
}

/* What one queue pair brought, by itself. */
static uint64_t add_part(struct ft_nccl_store *store, const struct ft_nccl_message *message,
			 const struct ft_nccl_share *share, uint32_t lane, bool uncounted)
{
	const struct ft_nccl_shares alone = {
		.at = share, .count = 1, .first = lane, .uncounted = uncounted
	};
	struct ft_nccl_request requests[FT_NCCL_REQUESTS_MAX];
	struct ft_nccl_message part = *message;

	part.packets = share->packets;
	if (share->first.frame != 0) {
		part.first_frame = share->first.frame;
		part.first_ts_ns = share->first.ts_ns;
	}
	if (share->ended)
		part.last_frame = share->imm_frame;
	part.has_imm = share->ended;
	ft_nccl_put_immediate(part.imm, share->immdt);
	part.request_count = requests_of(message, &alone, requests);
	for (uint8_t i = 0; i < part.request_count; i++) {
		requests[i].written = share->bytes;
		requests[i].has_written = part.request_count == 1 && share->begun;
	}
	part.requests = requests;
	return ft_nccl_store_add(store, &part, &alone);
}

/* Several requests have no length as their immediate: nothing shows that what queue pairs had is of one message. */
static bool may_be_apart(const struct ft_nccl_message *message, const struct ft_nccl_shares *shares)
{
	return ft_nccl_are_apart(shares) ||
	       (message->request_count > 1 && ft_nccl_shares_used(shares->at, shares->count) > 1);
}

static uint64_t add_data(struct ft_nccl_store *store, const struct ft_nccl_message *message,
			 const struct ft_nccl_shares *shares)
{
	struct ft_nccl_request requests[FT_NCCL_REQUESTS_MAX];
	struct ft_nccl_message data = *message;
	uint64_t told = 0;

	data.has_k = false;
	data.cts_frame = 0;
	data.cts_ts_ns = FT_TS_UNKNOWN;
	if (data.flag == 0)
		data.protocol = FT_NCCL_PROTOCOL_UNKNOWN;
	if (may_be_apart(message, shares)) {
		for (uint32_t i = 0; i < shares->count; i++)
			if (shares->at[i].used)
				told += add_part(store, &data, &shares->at[i], i,
						 shares->uncounted);
		return told;
	}
	data.request_count = requests_of(message, shares, requests);
	data.requests = requests;
	return ft_nccl_store_add(store, &data, shares);
}

uint64_t ft_nccl_adrift_add(struct ft_nccl_store *store, const struct ft_nccl_message *message,
			    const struct ft_nccl_shares *shares)
{
	if (message->cts_frame != 0)
		add_asking(store, message);
	return add_data(store, message, shares);
}

void ft_nccl_adrift_part(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
			 struct ft_nccl_transfer *transfer)
{
	const uint64_t cts_frame = transfer->message.cts_frame;

	if (transfer->message.first_frame == 0)
		return;
	transfer->adrift = true;
	transfer->message.cts_frame = 0;
	ft_nccl_keep(connections, followed, transfer);
	transfer->message.cts_frame = cts_frame;
	ft_nccl_ring_ask_again(&followed->ring, transfer);
}
