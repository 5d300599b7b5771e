#include <decode/nccl.h>

#include <decode/little_endian.h>

enum { SIZE_BYTES = 4, MASK_BYTES_TOLD = 4 };

uint32_t ft_nccl_immediate(uint32_t immdt, enum ft_nccl_order order)
{
	return order == FT_NCCL_BIG ? immdt : __builtin_bswap32(immdt);
}

uint8_t ft_nccl_immediate_orders(uint32_t immdt, uint32_t number)
{
	unsigned little = ft_nccl_immediate(immdt, FT_NCCL_LITTLE) == number;
	unsigned big = ft_nccl_immediate(immdt, FT_NCCL_BIG) == number;

	return (uint8_t)(little << FT_NCCL_LITTLE | big << FT_NCCL_BIG);
}

static bool are_requests(uint32_t requests)
{
	return requests >= 2 && requests <= FT_NCCL_REQUESTS_MAX;
}

enum ft_nccl_verdict ft_nccl_mask_read(uint32_t immdt, enum ft_nccl_mask mask, uint32_t requests,
				       uint8_t *filled)
{
	uint32_t number = ft_nccl_immediate(immdt, FT_NCCL_LITTLE);
	uint32_t bits = number;
	uint32_t told = mask == FT_NCCL_MASK_BYTES && requests > MASK_BYTES_TOLD ? MASK_BYTES_TOLD
										 : requests;

	if (!are_requests(requests))
		return FT_NCCL_NOT;
	if (mask == FT_NCCL_MASK_BYTES) {
		if ((number & ~UINT32_C(0x01010101)) != 0)
			return FT_NCCL_NOT;
		bits = (number | number >> 7 | number >> 14 | number >> 21) & 0xf;
	}
	if (bits >> told != 0)
		return FT_NCCL_NOT;
	*filled = (uint8_t)bits;
	return FT_NCCL_READ;
}

enum ft_nccl_verdict ft_nccl_sizes_read(const struct ft_nccl_write *write,
					struct ft_nccl_sizes *sizes)
{
	struct ft_nccl_sizes read = { .requests = 0 };

	if (write->length % SIZE_BYTES != 0 || !are_requests(write->length / SIZE_BYTES))
		return FT_NCCL_NOT;
	read.requests = (uint8_t)(write->length / SIZE_BYTES);
	while (read.captured < read.requests &&
	       (read.captured + 1u) * SIZE_BYTES <= write->captured) {
		uint32_t size = ft_le32(write->bytes + (size_t)read.captured * SIZE_BYTES);

		if (size > INT32_MAX)
			return FT_NCCL_NOT;
		read.sizes[read.captured++] = size;
	}
	if (read.captured == 0)
		return FT_NCCL_CUT;
	*sizes = read;
	return FT_NCCL_READ;
}

int32_t ft_nccl_probed_slot(uint64_t records, uint64_t va, uint32_t length)
{
	uint64_t slots = ft_nccl_fifo(FT_NCCL_F)->slots;
	uint64_t at = va - records;

	if (length != FT_NCCL_PROBE_BYTES || at % FT_NCCL_RECORD_BYTES != FT_NCCL_PROBE_AT ||
	    at / FT_NCCL_RECORD_BYTES >= slots)
		return -1;
	return (int32_t)(at / FT_NCCL_RECORD_BYTES);
}

bool ft_nccl_is_recovery_answer(uint32_t immdt)
{
	return ft_nccl_immediate(immdt, FT_NCCL_LITTLE) == FT_NCCL_RECOVERY_ANSWER;
}
