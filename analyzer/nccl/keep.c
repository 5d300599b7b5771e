#include "followed.h"

#include <errno.h>
#include <stdlib.h>

#include "adrift.h"
#include "family.h"
#include "missed.h"
#include "passed.h"
#include "settle.h"
#include "split.h"
#include "tally.h"
#include "turns.h"
#include "written.h"

void ft_nccl_drop_kept(struct ft_nccl_connections *connections)
{
	struct ft_nccl_kept *kept = &connections->kept;

	free(kept->connections);
	free(kept->messages);
	free(connections->kept_parts);
	*kept = (struct ft_nccl_kept){ 0 };
	connections->kept_parts = NULL;
}

/* How many queue pairs a message uses, at least. */
static uint32_t lanes_of(const struct ft_nccl_followed *followed)
{
	const struct ft_nccl_connection *model = &followed->model;

	return model->split == FT_NCCL_YES ? model->qp_count : model->devices;
}

/* Of several requests each queue pair has a write for each, empty ones too: none passed before the first that was seen. */
static bool has_all_requests(const struct ft_nccl_share *share, uint8_t count)
{
	return count == 1 || share->requests == (1u << count) - 1;
}

bool ft_nccl_is_complete(const struct ft_nccl_followed *followed,
			 const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_share *shares = ft_nccl_ring_shares(&followed->ring, transfer);
	uint8_t count = transfer->message.request_count;
	uint32_t used = 0;

	if (transfer->partial || ft_nccl_is_doubted(transfer) || transfer->undecided)
		return false;
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		if (shares[i].packets != 0 &&
		    !(ft_nccl_share_is_whole(&shares[i]) && has_all_requests(&shares[i], count)))
			return false;
		used += shares[i].used ? 1 : 0;
	}
	return used != 0 && used >= lanes_of(followed);
}

/* Each queue pair that a message uses ends it with the same immediate: where these are numbers, its own. */
static bool agree(const struct ft_nccl_followed *followed, const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_share *shares = ft_nccl_ring_shares(&followed->ring, transfer);
	bool is_number = followed->model.imm_content == FT_NCCL_IMM_ID;
	uint32_t immdt = is_number ? (uint32_t)transfer->message.k : transfer->immdt;

	for (uint8_t i = 0; i < followed->lane_count; i++) {
		if (shares[i].used && shares[i].ended && shares[i].immdt != immdt)
			return false;
	}
	return true;
}

/* Where queue pairs may share messages, each had its part, empty or not. */
static bool has_all_parts(const struct ft_nccl_followed *followed,
			  const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_share *shares = ft_nccl_ring_shares(&followed->ring, transfer);
	bool may_share = followed->ways == 0 || (followed->ways & FT_NCCL_WAY_ALL) != 0;

	return followed->model.split != FT_NCCL_UNKNOWN || !may_share ||
	       ft_nccl_shares_used(shares, followed->lane_count) >= followed->model.qp_count;
}

/* Its immediate or its sizes may tell that there was more, on queue pairs that are not known. */
static bool says_so(const struct ft_nccl_followed *followed,
		    const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_message *message = &transfer->message;
	bool is_id = followed->model.imm_content == FT_NCCL_IMM_ID ||
		     (message->has_k && transfer->immdt == (uint32_t)message->k);

	if ((is_id || transfer->written == 0) && !has_all_parts(followed, transfer))
		return false;
	if (transfer->sized)
		return ft_nccl_ring_sum(&followed->ring, transfer) == transfer->written;
	return message->request_count != 1 || !message->has_imm || is_id ||
	       ft_nccl_immediate_orders(transfer->immdt, (uint32_t)transfer->written) != 0;
}

/* What was asked for behind the last clear-to-send that passed is not known yet. */
static bool is_after_last(const struct ft_nccl_followed *followed,
			  const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_transfer *newest =
		ft_nccl_ring_find(&followed->ring, followed->newest);

	return newest != NULL && newest->message.cts_frame < transfer->message.last_frame;
}

/* No ACK that passed was of what had passed by then. */
static bool is_ahead(const struct ft_nccl_acked *acked)
{
	return acked->known && !acked->ordered;
}

/* Over several queue pairs, one of which may have missed messages: as far as clear-to-sends say where it is. */
static bool is_placed(const struct ft_nccl_followed *followed,
		      const struct ft_nccl_transfer *transfer)
{
	if (followed->lane_count == 1 || followed->numbered)
		return true;
	if (followed->trouble != 0 && is_after_last(followed, transfer))
		return false;
	return followed->model.is_set_up || (!is_ahead(&followed->lanes[0].cts_acked) &&
					     !is_ahead(&followed->lanes[0].data_acked));
}

/* Without a set-up: another queue pair may have a part of it, empty or not. */
static bool may_lack_parts(const struct ft_nccl_followed *followed)
{
	bool is_shared = followed->shared && followed->model.split == FT_NCCL_UNKNOWN;

	return ft_nccl_may_be_shared(followed) ||
	       ((followed->rivalled || is_shared) && !followed->model.is_set_up);
}

/*
 * Without set-up it is a guess how queue pairs take turns, and which message data is of that nobody was seen to ask for; and
 * where taps differ in their order, which data is of that was not counted from the first packet on.
 */
static bool is_sure(const struct ft_nccl_followed *followed,
		    const struct ft_nccl_transfer *transfer)
{
	if ((followed->overtaken && transfer->guessed) || may_lack_parts(followed) ||
	    !is_placed(followed, transfer))
		return false;
	return transfer->has_cts || followed->model.is_set_up ||
	       (followed->lane_count == 1 && ft_nccl_split_is_known(followed));
}

static struct ft_nccl_message message_of(const struct ft_nccl_followed *followed,
					 const struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_message message = transfer->message;
	const bool has_ranges = ft_nccl_ranges_settle(followed, transfer, &message);

	message.connection = followed->model.connection;
	message.completed =
		message.has_k &&
		(has_ranges || (ft_nccl_is_complete(followed, transfer) &&
				agree(followed, transfer) && says_so(followed, transfer))) &&
		is_sure(followed, transfer);
	if (!message.completed && !has_ranges)
		ft_nccl_missed_settle(followed, transfer);
	else if (message.protocol == FT_NCCL_PROTOCOL_UNKNOWN && followed->lane_count > 1 &&
		 followed->straight == NULL)
		message.protocol = ft_nccl_protocol_of_whole(followed, transfer);
	message.requests = ft_nccl_ring_requests(&followed->ring, transfer);
	return message;
}

static struct ft_nccl_shares shares_of(const struct ft_nccl_followed *followed,
				       const struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_shares shares = { .at = ft_nccl_ring_shares(&followed->ring, transfer),
					 .count = followed->lane_count,
					 .uncounted = transfer->partial && !transfer->has_cts };

	shares.all = ft_nccl_split_is_known(followed) &&
		     ft_nccl_shares_used(shares.at, shares.count) >= lanes_of(followed);
	return shares;
}

void ft_nccl_keep(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
		  struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_message message;
	struct ft_nccl_shares shares = shares_of(followed, transfer);
	uint64_t told;

	ft_nccl_adrift_settle(followed, transfer);
	ft_nccl_tally_keep(followed, transfer);
	message = message_of(followed, transfer);
	if (ft_nccl_is_adrift(transfer))
		told = ft_nccl_adrift_add(&connections->store, &message, &shares);
	else
		told = ft_nccl_store_add(&connections->store, &message, &shares);
	if (connections->store.most != 0)
		ft_nccl_missed_count(followed, transfer, told);
	if (message.has_k && message.k >= followed->ring.told &&
	    (message.cts_frame != 0 || !ft_nccl_is_adrift(transfer)))
		followed->ring.told = message.k + 1;
	transfer->used = false;
}

struct ft_nccl_transfer *ft_nccl_transfer_of(struct ft_nccl_connections *connections,
					     struct ft_nccl_followed *followed, uint64_t k)
{
	struct ft_nccl_ring *ring = &followed->ring;
	struct ft_nccl_transfer *transfer = ft_nccl_ring_find(ring, k);

	if (transfer != NULL)
		return transfer;
	for (transfer = ft_nccl_ring_holder(ring, k);
	     transfer != NULL && ft_nccl_is_waiting(followed, transfer) &&
	     ring->slots < FT_NCCL_RING_MOST;
	     transfer = ft_nccl_ring_holder(ring, k)) {
		if (ft_nccl_ring_fit(ring, 2 * ring->slots, 1, 1) != 0)
			return NULL;
	}
	if (transfer != NULL && transfer->message.k > k)
		return NULL;
	if (transfer != NULL)
		ft_nccl_keep(connections, followed, transfer);
	return ft_nccl_ring_begin(ring, k);
}

static uint64_t frame_of(const struct ft_nccl_message *message)
{
	return message->first_frame != 0 ? message->first_frame : message->cts_frame;
}

static int by_frame(const void *a, const void *b)
{
	const struct ft_nccl_message *one = a, *other = b;
	uint64_t frame = frame_of(one), other_frame = frame_of(other);

	if (frame != other_frame)
		return frame < other_frame ? -1 : 1;
	if (one->connection != other->connection)
		return one->connection < other->connection ? -1 : 1;
	return one->k < other->k ? -1 : one->k > other->k;
}

static int by_first_frame(const void *a, const void *b)
{
	const struct ft_nccl_connection *one = *(struct ft_nccl_connection *const *)a;
	const struct ft_nccl_connection *other = *(struct ft_nccl_connection *const *)b;

	if (one->first_frame != other->first_frame)
		return one->first_frame < other->first_frame ? -1 : 1;
	return one->connection < other->connection ? -1 : one->connection > other->connection;
}

/* Messages under way, and the queue pairs they use. */
static void count_open(const struct ft_nccl_connections *connections, size_t *messages,
		       size_t *parts)
{
	*messages = *parts = 0;
	for (uint32_t i = 0; i < connections->count; i++) {
		const struct ft_nccl_followed *followed = connections->all[i];

		for (uint32_t at = 0; at < followed->ring.slots; at++) {
			if (!followed->ring.transfers[at].used)
				continue;
			++*messages;
			*parts += ft_nccl_shares_used(
				ft_nccl_ring_shares(&followed->ring, &followed->ring.transfers[at]),
				followed->lane_count);
		}
	}
}

static void add_open(const struct ft_nccl_followed *followed, struct ft_nccl_kept *kept,
		     struct ft_nccl_part **parts)
{
	for (uint32_t at = 0; at < followed->ring.slots; at++) {
		const struct ft_nccl_transfer *transfer = &followed->ring.transfers[at];
		struct ft_nccl_shares shares;
		struct ft_nccl_message message;

		if (!transfer->used)
			continue;
		message = message_of(followed, transfer);
		shares = shares_of(followed, transfer);
		message.part_count = ft_nccl_shares_used(shares.at, shares.count);
		message.parts = *parts;
		ft_nccl_shares_tell(&shares, &message, *parts);
		*parts += message.part_count;
		kept->messages[kept->message_count++] = message;
	}
}

/* Of those under way, too, what becomes several rows. */
static void keep_adrift(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed)
{
	for (uint32_t at = 0; at < followed->ring.slots; at++) {
		struct ft_nccl_transfer *transfer = &followed->ring.transfers[at];

		if (transfer->used && ft_nccl_is_adrift(transfer))
			ft_nccl_keep(connections, followed, transfer);
	}
}

static int keep_messages(struct ft_nccl_connections *connections, struct ft_nccl_kept *kept)
{
	const struct ft_nccl_store *store = &connections->store;
	struct ft_nccl_part *parts;
	size_t open, part_count;

	if (store->most == 0)
		return 0;
	for (uint32_t i = 0; i < connections->count; i++)
		keep_adrift(connections, connections->all[i]);
	count_open(connections, &open, &part_count);
	kept->messages = calloc(store->count + open + 1, sizeof *kept->messages);
	connections->kept_parts = calloc(part_count + 1, sizeof *parts);
	if (kept->messages == NULL || connections->kept_parts == NULL)
		return -ENOMEM;
	parts = connections->kept_parts;
	for (uint32_t i = 0; i < connections->count; i++)
		add_open(connections->all[i], kept, &parts);
	for (size_t i = 0; i < store->count; i++)
		kept->messages[kept->message_count++] = store->messages[i];
	qsort(kept->messages, kept->message_count, sizeof *kept->messages, by_frame);
	return 0;
}

static void count_open_missed(struct ft_nccl_followed *followed)
{
	for (uint32_t at = 0; at < followed->ring.slots; at++) {
		struct ft_nccl_transfer *transfer = &followed->ring.transfers[at];
		struct ft_nccl_message message;

		if (!transfer->used)
			continue;
		message = message_of(followed, transfer);
		ft_nccl_missed_count(followed, transfer, ft_nccl_bytes_told(&message));
	}
}

static void settle_open(const struct ft_nccl_followed *followed)
{
	for (uint32_t at = 0; at < followed->ring.slots; at++) {
		if (followed->ring.transfers[at].used)
			ft_nccl_adrift_settle(followed, &followed->ring.transfers[at]);
	}
}

static int keep_connections(struct ft_nccl_connections *connections, struct ft_nccl_kept *kept)
{
	ft_nccl_settle(connections, true);
	kept->connections = calloc(connections->count + 1u, sizeof(struct ft_nccl_connection *));
	if (kept->connections == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < connections->count; i++) {
		struct ft_nccl_followed *followed = connections->all[i];

		if (followed->given_up)
			continue;
		ft_nccl_family_tell(followed);
		followed->model.lacks_devices =
			!followed->model.is_set_up &&
			followed->lanes[0].cts_step > followed->model.devices;
		followed->model.lacks_qps = !ft_nccl_tally_knows_qps(followed);
		settle_open(followed);
		ft_nccl_tally_tell(followed);
		followed->model.missing_packets = ft_nccl_passed_missing(followed);
		if (connections->store.most != 0)
			count_open_missed(followed);
		kept->connections[kept->connection_count++] = &followed->model;
	}
	qsort(kept->connections, kept->connection_count, sizeof(struct ft_nccl_connection *),
	      by_first_frame);
	return 0;
}

int ft_nccl_connections_keep(struct ft_nccl_connections *connections, struct ft_nccl_kept *kept)
{
	int error;

	ft_nccl_drop_kept(connections);
	error = keep_connections(connections, &connections->kept);
	if (error == 0)
		error = keep_messages(connections, &connections->kept);
	if (error != 0) {
		ft_nccl_drop_kept(connections);
		return error;
	}
	connections->kept.connections_dropped = connections->dropped;
	connections->kept.messages_dropped = connections->store.dropped;
	*kept = connections->kept;
	return 0;
}
