#include "fifo.h"

#include "family.h"

enum { SLOT_MOST = 4096 }; /* bytes */

static const uint16_t counts[FT_NCCL_SLOT_COUNTS] = { 8, 16, 32, 64, 128, 256 };

bool ft_nccl_fifo_agrees(uint16_t slot_bytes, uint64_t va, uint64_t k, uint64_t other_va,
			 uint64_t other)
{
	for (unsigned i = 0; i < FT_NCCL_SLOT_COUNTS; i++) {
		if (va - k % counts[i] * slot_bytes == other_va - other % counts[i] * slot_bytes)
			return true;
	}
	return false;
}

static uint16_t slot_bytes_of(const struct ft_nccl_followed *followed)
{
	int32_t family = ft_nccl_family_taken(followed);

	return family >= 0 ? ft_nccl_slot_bytes(followed, (enum ft_nccl_family)family)
			   : followed->model.fifo.slot_bytes;
}

/* Of NCCL's releases; NULL: it is of none, or not known. */
static const struct ft_nccl_fifo *release_of(const struct ft_nccl_followed *followed)
{
	int32_t family = ft_nccl_family_taken(followed);

	return family >= 0 && followed->slot_bytes == 0 ? ft_nccl_fifo((enum ft_nccl_family)family)
							: NULL;
}

/* The one place left; of several that of NCCL's releases, if there is only one of it. -1: not known. */
static int place_of(const struct ft_nccl_followed *followed)
{
	const struct ft_nccl_fifo *release = release_of(followed);
	int left = -1, released = -1;

	for (int i = 0; i < FT_NCCL_SLOT_COUNTS; i++) {
		if ((followed->base_bits & 1u << i) == 0)
			continue;
		left = left == -1 ? i : -2;
		if (release != NULL &&
		    (counts[i] == release->slots || counts[i] == release->slots_first))
			released = released == -1 ? i : -2;
	}
	return left >= 0 ? left : released;
}

/* All places left begin at the same address. */
static bool is_one_address(const struct ft_nccl_followed *followed, unsigned *at)
{
	bool found = false;

	for (unsigned i = 0; i < FT_NCCL_SLOT_COUNTS; i++) {
		if ((followed->base_bits & 1u << i) == 0)
			continue;
		if (found && followed->bases[i] != followed->bases[*at])
			return false;
		*at = i;
		found = true;
	}
	return found;
}

void ft_nccl_fifo_tell(struct ft_nccl_followed *followed)
{
	struct ft_nccl_target *fifo = &followed->model.fifo;
	unsigned at = 0;
	int place;

	if (followed->base_bits == 0)
		return;
	place = place_of(followed);
	fifo->slots = place >= 0 ? counts[place] : 0;
	followed->has_base = place >= 0 || is_one_address(followed, &at);
	fifo->addr = followed->has_base ? followed->bases[place >= 0 ? (unsigned)place : at] : 0;
}

static bool is_where_told(const struct ft_nccl_followed *followed, uint64_t va, uint64_t k)
{
	const struct ft_nccl_target *fifo = &followed->model.fifo;

	return va == fifo->addr + k % fifo->slots * slot_bytes_of(followed);
}

bool ft_nccl_fifo_may_place(const struct ft_nccl_followed *followed, uint64_t va, uint64_t k)
{
	const uint16_t slot_bytes = slot_bytes_of(followed);

	if (followed->base_bits == 0)
		return followed->has_base && followed->model.fifo.slots != 0 &&
		       is_where_told(followed, va, k);
	for (unsigned i = 0; i < FT_NCCL_SLOT_COUNTS; i++) {
		if ((followed->base_bits & 1u << i) != 0 &&
		    va - k % counts[i] * slot_bytes == followed->bases[i])
			return true;
	}
	return false;
}

bool ft_nccl_fifo_place(struct ft_nccl_followed *followed, uint64_t va, uint32_t rkey, uint64_t k)
{
	uint64_t bases[FT_NCCL_SLOT_COUNTS];
	uint16_t slot_bytes;
	uint8_t bits = 0;

	if (followed->base_bits == 0 && followed->has_base && followed->model.fifo.slots != 0)
		return is_where_told(followed, va, k);
	slot_bytes = slot_bytes_of(followed);
	for (unsigned i = 0; i < FT_NCCL_SLOT_COUNTS; i++) {
		bases[i] = va - k % counts[i] * slot_bytes;
		if (followed->base_bits == 0 ||
		    ((followed->base_bits & 1u << i) != 0 && bases[i] == followed->bases[i]))
			bits |= (uint8_t)(1u << i);
	}
	if (bits == 0)
		return false;
	if (followed->base_bits == 0) {
		for (unsigned i = 0; i < FT_NCCL_SLOT_COUNTS; i++)
			followed->bases[i] = bases[i];
		if (followed->model.fifo.rkey_count == 0) {
			followed->model.fifo.rkeys[0] = rkey;
			followed->model.fifo.rkey_count = 1;
		}
	}
	followed->base_bits = bits;
	ft_nccl_fifo_tell(followed);
	return true;
}

bool ft_nccl_fifo_may_step(uint64_t slot_bytes, uint16_t entry_bytes)
{
	return slot_bytes != 0 && slot_bytes <= SLOT_MOST && slot_bytes % entry_bytes == 0;
}

bool ft_nccl_fifo_learn(struct ft_nccl_followed *followed, enum ft_nccl_family family, uint64_t va,
			uint64_t k)
{
	const struct ft_nccl_fifo *layout = ft_nccl_fifo(family);
	const struct ft_nccl_target *fifo = &followed->model.fifo;
	uint64_t first;

	if (followed->model.is_set_up || followed->slot_bytes != 0 || followed->model.cts != 1 ||
	    followed->base_bits == 0 || fifo->slots == 0 || layout->number_bytes != 8 ||
	    k != followed->newest + 1)
		return false;
	first = fifo->addr + followed->newest % fifo->slots * layout->slot_bytes;
	if (!ft_nccl_fifo_may_step(va - first, layout->entry_bytes))
		return false;
	followed->slot_bytes = (uint16_t)(va - first);
	followed->base_bits = 0;
	followed->has_base = false;
	return ft_nccl_fifo_place(followed, va, fifo->rkeys[0], k);
}

bool ft_nccl_fifo_narrow(struct ft_nccl_followed *followed, uint16_t slots)
{
	for (unsigned i = 0; i < FT_NCCL_SLOT_COUNTS; i++) {
		if (counts[i] != slots || (followed->base_bits & 1u << i) == 0)
			continue;
		followed->base_bits = (uint8_t)(1u << i);
		ft_nccl_fifo_tell(followed);
		return true;
	}
	return false;
}

bool ft_nccl_fifo_has(const struct ft_nccl_followed *followed, uint64_t va)
{
	const struct ft_nccl_target *fifo = &followed->model.fifo;
	uint64_t slots = fifo->slots != 0 ? fifo->slots : counts[0];

	return followed->has_base && va >= fifo->addr &&
	       va - fifo->addr < slots * slot_bytes_of(followed);
}

bool ft_nccl_fifo_has_key(const struct ft_nccl_followed *followed, uint32_t rkey)
{
	const struct ft_nccl_target *fifo = &followed->model.fifo;
	bool has_key = fifo->rkey_count == 0;

	for (uint8_t i = 0; i < fifo->rkey_count; i++)
		has_key = has_key || fifo->rkeys[i] == rkey;
	return has_key;
}

static bool is_one_bit(uint32_t bits)
{
	return bits != 0 && (bits & (bits - 1)) == 0;
}

uint16_t ft_nccl_fifo_slots_sure(const struct ft_nccl_followed *followed)
{
	const struct ft_nccl_target *fifo = &followed->model.fifo;

	if (followed->base_bits == 0)
		return followed->has_base && is_one_bit(fifo->slots) ? (uint16_t)fifo->slots : 0;
	return is_one_bit(followed->base_bits) ? counts[__builtin_ctz(followed->base_bits)] : 0;
}

uint32_t ft_nccl_fifo_slots_least(const struct ft_nccl_followed *followed)
{
	if (followed->base_bits == 0)
		return followed->has_base ? followed->model.fifo.slots : 0;
	return counts[__builtin_ctz(followed->base_bits)];
}

uint32_t ft_nccl_fifo_slots_most(const struct ft_nccl_followed *followed)
{
	if (followed->base_bits == 0)
		return ft_nccl_fifo_slots_least(followed);
	return counts[31 - __builtin_clz(followed->base_bits)];
}
