#include "missed.h"

#include "adrift.h"
#include "split.h"
#include "tally.h"

/* An empty write ends messages of several requests, too; nobody was seen to say how many this one has. */
static bool may_be_several(const struct ft_nccl_followed *followed,
			   const struct ft_nccl_transfer *transfer)
{
	return transfer->partial ||
	       (transfer->bare && !transfer->has_cts && followed->model.adaptive != FT_NCCL_YES);
}

/* Without a number each queue pair's part is listed by itself, and the immediate tells of all of them. */
static bool is_part(const struct ft_nccl_followed *followed,
		    const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_shares shares = { .at = ft_nccl_ring_shares(&followed->ring, transfer),
					       .count = followed->lane_count };

	return !ft_nccl_has_number(transfer) && followed->model.split != FT_NCCL_NO &&
	       (ft_nccl_shares_used(shares.at, shares.count) < followed->lane_count ||
		ft_nccl_are_apart(&shares));
}

/* Queue pairs that have a part of each request; more than are known, where others may not have been met. */
static uint8_t sharers_of(const struct ft_nccl_followed *followed)
{
	if (!followed->model.is_set_up && followed->model.split == FT_NCCL_UNKNOWN &&
	    !ft_nccl_had_all(followed))
		return UINT8_MAX;
	if (followed->model.split == FT_NCCL_NO)
		return followed->model.devices;
	return followed->lane_count;
}

/* Where queue pairs share a request, and a part was missed, the others' are not all of it. */
static void forget_parts(const struct ft_nccl_followed *followed,
			 const struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_request *requests = ft_nccl_ring_requests(&followed->ring, transfer);
	const struct ft_nccl_share *shares = ft_nccl_ring_shares(&followed->ring, transfer);

	if (transfer->sized || !ft_nccl_has_number(transfer))
		return;
	for (uint8_t i = 0; i < transfer->message.request_count; i++) {
		uint8_t parts = 0;

		for (uint8_t lane = 0; lane < followed->lane_count; lane++)
			parts = (uint8_t)(parts + (shares[lane].requests >> i & 1));
		if (parts < sharers_of(followed))
			requests[i].has_written = false;
	}
}

/* What was missed of a message of one request, its immediate tells. */
static void settle_length(const struct ft_nccl_followed *followed,
			  const struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_request *request = ft_nccl_ring_requests(&followed->ring, transfer);
	uint32_t length;

	if (transfer->message.request_count != 1 || may_be_several(followed, transfer) ||
	    is_part(followed, transfer) || !transfer->message.has_imm ||
	    !ft_nccl_tells_length(followed, transfer->immdt, &length))
		return;
	request->written = length;
	request->has_written = true;
}

/* The sizes may be of ranges that other packets wrote to, too, which are listed apart, or, without a number, were missed. */
static void forget_sizes(const struct ft_nccl_followed *followed,
			 const struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_request *requests = ft_nccl_ring_requests(&followed->ring, transfer);

	bool is_alone = transfer->has_cts || ft_nccl_has_number(transfer);

	if ((is_alone && !transfer->parted) || !transfer->sized ||
	    ft_nccl_ring_sum(&followed->ring, transfer) == transfer->written)
		return;
	for (uint8_t i = 0; i < transfer->message.request_count; i++)
		requests[i].has_written = false;
}

/*
 * Of several requests those that were not shown are told apart by the order of their data, and of several queue pairs the first
 * has the lowest part: not where some of it is missing.
 */
static void forget_order(const struct ft_nccl_followed *followed,
			 const struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_request *requests = ft_nccl_ring_requests(&followed->ring, transfer);

	if (!transfer->has_cts ||
	    (transfer->message.request_count == 1 && followed->lane_count == 1))
		return;
	for (uint8_t i = 0; i < transfer->message.request_count; i++) {
		if (!requests[i].by_data)
			continue;
		requests[i].va = 0;
		if (transfer->message.request_count > 1)
			requests[i].has_written = requests[i].has_written && transfer->sized;
	}
}

/* Of 2.12 the immediate tells of the first four alone. */
static bool is_as_said(const struct ft_nccl_request *requests, uint32_t count, uint32_t immdt)
{
	uint8_t filled = 0, bits, bytes;

	for (uint32_t i = 0; i < count; i++)
		filled |= (uint8_t)((requests[i].written != 0 ? 1u : 0u) << i);
	return (ft_nccl_mask_read(immdt, FT_NCCL_MASK_BITS, count, &bits) == FT_NCCL_READ &&
		bits == filled) ||
	       (ft_nccl_mask_read(immdt, FT_NCCL_MASK_BYTES, count, &bytes) == FT_NCCL_READ &&
		bytes == (filled & 0x0f));
}

static bool has_ranges(const struct ft_nccl_followed *followed,
		       const struct ft_nccl_transfer *transfer)
{
	const uint32_t count = transfer->more + 1u;

	return transfer->partial && !transfer->has_cts && transfer->bare && !transfer->sized &&
	       ft_nccl_has_number(transfer) && !ft_nccl_is_doubted(transfer) &&
	       !transfer->undecided && followed->lane_count == 1 && followed->model.qp_count == 1 &&
	       transfer->message.request_count == 1 && count > 1 && count <= FT_NCCL_REQUESTS_MAX &&
	       ft_nccl_share_is_whole(ft_nccl_ring_shares(&followed->ring, transfer)) &&
	       is_as_said(ft_nccl_ring_requests(&followed->ring, transfer), count, transfer->immdt);
}

bool ft_nccl_ranges_settle(const struct ft_nccl_followed *followed,
			   const struct ft_nccl_transfer *transfer, struct ft_nccl_message *message)
{
	if (!has_ranges(followed, transfer))
		return false;
	ft_nccl_ring_requests(&followed->ring, transfer)->has_written = true;
	message->request_count = (uint8_t)(transfer->more + 1);
	return true;
}

void ft_nccl_missed_settle(const struct ft_nccl_followed *followed,
			   const struct ft_nccl_transfer *transfer)
{
	forget_parts(followed, transfer);
	settle_length(followed, transfer);
	forget_sizes(followed, transfer);
	forget_order(followed, transfer);
}

void ft_nccl_missed_count(struct ft_nccl_followed *followed, struct ft_nccl_transfer *transfer,
			  uint64_t told)
{
	followed->model.payload_bytes += told - transfer->written - transfer->missed;
	transfer->missed = told - transfer->written;
}
