#include "sizes.h"

#include <decode/little_endian.h>
#include <decode/packet.h>

#include "asked.h"
#include "family.h"
#include "immediates.h"

int64_t ft_nccl_sizes_slot(const struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_target *sizes = &followed->model.sizes;
	uint64_t offset = seen->va - sizes->addr;

	if (seen->opcode != 0x0b || !sizes->is_known || (seen->has & FT_HAS_RETH) == 0 ||
	    seen->va < sizes->addr || offset % sizes->slot_bytes != 0 ||
	    offset / sizes->slot_bytes >= 256)
		return -1;
	return (int64_t)(offset / sizes->slot_bytes);
}

/* Each request of the message was written to on the lane. */
static bool has_all_requests(const struct ft_nccl_moment *moment,
			     const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;

	return share->requests == (1u << transfer->message.request_count) - 1;
}

bool ft_nccl_is_sizes(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *open)
{
	const struct ft_nccl_seen *seen = moment->seen;
	const struct ft_nccl_request *first;

	if (moment->followed->model.sizes.is_known || seen->opcode != 0x0b ||
	    (seen->has & FT_HAS_RETH) == 0 || open->message.request_count < 2 ||
	    seen->length != (uint32_t)FT_NCCL_SIZE_BYTES * open->message.request_count)
		return false;
	if (moment->followed->blind)
		return has_all_requests(moment, open);
	first = ft_nccl_ring_requests(&moment->followed->ring, open);
	return first->rkey_count != 0 && !ft_nccl_has_key(moment->followed, first, seen->rkey);
}

/* Nothing, or the first of the sizes; a number of the message it may be, too. */
static bool has_sizes_immediate(const struct ft_nccl_seen *seen)
{
	return seen->immdt == 0 ||
	       (seen->captured >= FT_NCCL_SIZE_BYTES && ft_le32(seen->payload) == seen->immdt);
}

bool ft_nccl_is_lone_sizes(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_seen *seen = moment->seen;
	const uint8_t families = 1u << FT_NCCL_D | 1u << FT_NCCL_E | 1u << FT_NCCL_F;

	return !followed->by_grid && !followed->model.sizes.is_known &&
	       (followed->families & families) != 0 && seen->opcode == 0x0b &&
	       (seen->has & FT_HAS_RETH) != 0 && seen->length % FT_NCCL_SIZE_BYTES == 0 &&
	       seen->length >= 2 * FT_NCCL_SIZE_BYTES &&
	       seen->length <= FT_NCCL_REQUESTS_MAX * FT_NCCL_SIZE_BYTES && followed->by_id == 0 &&
	       has_sizes_immediate(seen) &&
	       ft_nccl_immediate_orders(seen->immdt, seen->length) == 0 &&
	       followed->key_count != 0 && !ft_nccl_is_announced(followed, seen->rkey);
}

uint32_t ft_nccl_sizes_count(const struct ft_nccl_seen *seen)
{
	uint32_t count = seen->length / FT_NCCL_SIZE_BYTES;

	return count != 0 && count <= FT_NCCL_REQUESTS_MAX ? count : 1;
}

static uint8_t strides_of(const struct ft_nccl_followed *followed)
{
	int32_t family = ft_nccl_family_taken(followed);

	if (family == FT_NCCL_D)
		return 1;
	return family == FT_NCCL_F ? 2 : 3;
}

/* Keys are those of the devices, from the first one on. */
static void learn_key(struct ft_nccl_target *sizes, uint8_t device, uint32_t rkey)
{
	if (device == sizes->rkey_count)
		sizes->rkeys[sizes->rkey_count++] = rkey;
}

static void find_place(const struct ft_nccl_moment *moment, uint64_t k)
{
	struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_seen *seen = moment->seen;
	static const uint16_t strides[2] = { FT_NCCL_SIZES_BYTES, FT_NCCL_RECORD_BYTES };
	struct ft_nccl_target *sizes = &followed->model.sizes;
	uint32_t slots = followed->model.fifo.slots != 0 ? followed->model.fifo.slots : 256;
	uint8_t bits = followed->sizes_bits != 0 ? followed->sizes_bits : strides_of(followed);

	for (unsigned i = 0; i < 2; i++) {
		uint64_t base = seen->va - k % slots * strides[i];

		if (followed->sizes_bits == 0)
			followed->sizes_bases[i] = base;
		else if (followed->sizes_bases[i] != base)
			bits &= (uint8_t) ~(1u << i);
	}
	followed->sizes_bits = bits;
	if (bits != 1 && bits != 2)
		return;
	sizes->is_known = true;
	sizes->addr = followed->sizes_bases[bits - 1];
	sizes->slot_bytes = strides[bits - 1];
	learn_key(sizes, followed->model.receiver.qp_device[moment->lane_index], seen->rkey);
}

static void read_sizes(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_write write = { .bytes = moment->seen->payload,
					     .captured = moment->seen->captured,
					     .length = moment->seen->length };
	struct ft_nccl_request *requests = ft_nccl_ring_requests(&moment->followed->ring, transfer);
	struct ft_nccl_sizes sizes;

	ft_nccl_note(moment->connections, moment->followed, moment->lane_index, FT_NCCL_N13);
	if (!ft_nccl_may_be_read(moment->followed) ||
	    ft_nccl_sizes_read(&write, &sizes) != FT_NCCL_READ)
		return;
	transfer->sized = sizes.captured >= transfer->message.request_count;
	for (uint8_t i = 0; i < sizes.captured && i < transfer->message.request_count; i++) {
		requests[i].written = sizes.sizes[i];
		requests[i].has_written = true;
	}
	if (moment->seen->immdt != 0 && sizes.sizes[0] != 0) {
		ft_nccl_immediate_narrow(
			moment->followed,
			ft_nccl_immediate_orders(moment->seen->immdt, sizes.sizes[0]));
	}
}

/* Nobody was seen to ask for it: which one was written to before the end is not known, only how many there are. */
static void know_requests(const struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
			  uint32_t count)
{
	struct ft_nccl_request *requests = ft_nccl_ring_requests(&moment->followed->ring, transfer);

	transfer->message.request_count = (uint8_t)count;
	for (uint32_t i = 0; i < count; i++)
		requests[i] = (struct ft_nccl_request){ 0 };
}

void ft_nccl_sizes_take(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer)
{
	if (!transfer->has_cts)
		know_requests(moment, transfer, ft_nccl_sizes_count(moment->seen));
	if (!moment->followed->model.has_tcp && transfer->message.has_k &&
	    !ft_nccl_is_doubted(transfer) && ft_nccl_has_numbers(moment->followed))
		find_place(moment, transfer->message.k);
	read_sizes(moment, transfer);
}
