#include "followed.h"

#include <decode/packet.h>

#include "answer.h"
#include "spares.h"

/* What a packet that was just followed is: found again among the messages of late, so that following keeps nothing for it. */

static const struct ft_nccl_transfer *find(const struct ft_nccl_followed *followed, uint8_t lane,
					   const struct ft_nccl_seen *seen,
					   bool (*is_it)(const struct ft_nccl_followed *followed,
							 const struct ft_nccl_transfer *transfer,
							 uint8_t lane,
							 const struct ft_nccl_seen *seen))
{
	const struct ft_nccl_transfer *found = NULL;

	for (uint32_t i = 0; i < followed->ring.slots; i++) {
		const struct ft_nccl_transfer *transfer = &followed->ring.transfers[i];

		if (transfer->used && is_it(followed, transfer, lane, seen) &&
		    (found == NULL || transfer->message.k > found->message.k))
			found = transfer;
	}
	return found;
}

static void tell_message(struct ft_nccl_shown *shown, const struct ft_nccl_transfer *transfer)
{
	shown->has_k = transfer->message.has_k;
	shown->k = transfer->message.k;
	shown->protocol = transfer->message.protocol;
}

static void tell_requests(struct ft_nccl_shown *shown, const struct ft_nccl_followed *followed,
			  const struct ft_nccl_transfer *transfer)
{
	shown->requests = ft_nccl_ring_requests(&followed->ring, transfer);
	shown->request_count = transfer->message.request_count;
}

static bool was_asked_here(const struct ft_nccl_followed *followed,
			   const struct ft_nccl_transfer *transfer, uint8_t lane,
			   const struct ft_nccl_seen *seen)
{
	(void)followed;
	(void)lane;
	return transfer->has_cts && transfer->message.cts_frame == seen->frame;
}

/* The newest whose slot of the FIFO it is. */
static bool has_slot(const struct ft_nccl_followed *followed,
		     const struct ft_nccl_transfer *transfer, uint8_t lane,
		     const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_target *fifo = &followed->model.fifo;

	(void)lane;
	return transfer->has_cts && fifo->is_known && fifo->slots != 0 &&
	       (seen->has & FT_HAS_RETH) != 0 &&
	       seen->va == fifo->addr + transfer->message.k % fifo->slots * fifo->slot_bytes;
}

static bool tell_cts(struct ft_nccl_shown *shown, const struct ft_nccl_followed *followed,
		     uint8_t lane, const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_transfer *transfer = find(followed, lane, seen, was_asked_here);

	shown->role = FT_NCCL_FRAME_CTS;
	if (transfer == NULL &&
	    ft_nccl_psns_judge(&followed->lanes[lane].cts, seen->psn) != FT_NCCL_AGAIN)
		return false;
	if (transfer == NULL && ft_nccl_begins(seen->opcode)) {
		shown->again = true;
		transfer = find(followed, lane, seen, has_slot);
	}
	if (transfer == NULL)
		return true;
	tell_message(shown, transfer);
	tell_requests(shown, followed, transfer);
	return true;
}

static bool was_written_here(const struct ft_nccl_followed *followed,
			     const struct ft_nccl_transfer *transfer, uint8_t lane,
			     const struct ft_nccl_seen *seen)
{
	return ft_nccl_ring_shares(&followed->ring, transfer)[lane].used &&
	       transfer->message.last_frame == seen->frame;
}

static bool has_psn(const struct ft_nccl_followed *followed,
		    const struct ft_nccl_transfer *transfer, uint8_t lane,
		    const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_share *share = &ft_nccl_ring_shares(&followed->ring, transfer)[lane];

	return share->used && ft_psn_distance(seen->psn, share->from) >= 0 &&
	       ft_psn_distance(share->to, seen->psn) >= 0;
}

static bool is_sizes(const struct ft_nccl_followed *followed,
		     const struct ft_nccl_transfer *transfer, const struct ft_nccl_seen *seen)
{
	const uint32_t count = transfer->message.request_count;
	uint8_t request;

	return seen->opcode == 0x0b && count > 1 && seen->length == 4 * count &&
	       !ft_nccl_answers(followed, transfer, seen, &request);
}

static bool is_empty(const struct ft_nccl_seen *seen)
{
	return seen->opcode == 0x0b && (seen->has & FT_HAS_RETH) != 0 && seen->length == 0;
}

/* Packets whose first one was missed are of the connection, but of which message may not be known. */
static bool tell_data(struct ft_nccl_shown *shown, const struct ft_nccl_followed *followed,
		      uint8_t lane, const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_transfer *transfer = find(followed, lane, seen, was_written_here);

	shown->role = is_empty(seen) ? FT_NCCL_FRAME_COMPLETION : FT_NCCL_FRAME_DATA;
	if (transfer == NULL &&
	    ft_nccl_psns_judge(&followed->lanes[lane].data, seen->psn) != FT_NCCL_AGAIN)
		return false;
	if (transfer == NULL) {
		transfer = find(followed, lane, seen, has_psn);
		shown->again = transfer != NULL;
	}
	if (transfer == NULL)
		return true;
	tell_message(shown, transfer);
	shown->has_k = shown->has_k && !transfer->adrift;
	if (is_sizes(followed, transfer, seen)) {
		shown->role = FT_NCCL_FRAME_SIZES;
		tell_requests(shown, followed, transfer);
	}
	return true;
}

bool ft_nccl_connections_shown(const struct ft_nccl_connections *connections,
			       const struct ft_nccl_seen *seen, struct ft_nccl_shown *shown)
{
	const struct ft_nccl_end *end = ft_nccl_end_of(connections, seen);
	const struct ft_nccl_followed *followed;

	if (end == NULL)
		return ft_nccl_spares_shown(connections, seen, shown);
	if (!ft_nccl_is_write(seen->opcode))
		return false;
	followed = connections->all[end->connection];
	if (followed->given_up || !ft_nccl_is_from_peer(followed, end, seen))
		return false;
	*shown = (struct ft_nccl_shown){ .connection = &followed->model };
	return end->role == FT_NCCL_AT_SENDER ? tell_cts(shown, followed, end->lane, seen)
					      : tell_data(shown, followed, end->lane, seen);
}
