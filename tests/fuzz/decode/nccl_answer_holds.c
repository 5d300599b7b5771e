/*
 * Any immediate and any sizes write: an order is named if and only if the number turns into the immediate in it; a mask
 * names no request that is not there; a cut sizes write tells a part of what the whole one tells.
 */
#undef NDEBUG
#include <assert.h>

#include <decode/big_endian.h>
#include <decode/nccl.h>

#include "../holds.h"

static void immediate_holds(uint32_t immdt, uint32_t number)
{
	unsigned orders = ft_nccl_immediate_orders(immdt, number);
	uint32_t turned =
		number >> 24 | (number >> 8 & 0xff00) | (number & 0xff00) << 8 | number << 24;

	assert((orders & 1u << FT_NCCL_BIG) != 0 ? immdt == number : immdt != number);
	assert((orders & 1u << FT_NCCL_LITTLE) != 0 ? immdt == turned : immdt != turned);
	assert(ft_nccl_immediate_orders(number, number) & 1u << FT_NCCL_BIG);
}

static void mask_holds(uint32_t immdt, uint32_t requests)
{
	uint8_t filled = 0;

	if (ft_nccl_mask_read(immdt, FT_NCCL_MASK_BITS, requests, &filled) == FT_NCCL_READ)
		assert(requests <= 8 && filled >> requests == 0 && filled == immdt >> 24);
	else
		assert(filled == 0);
	if (ft_nccl_mask_read(immdt, FT_NCCL_MASK_BYTES, requests, &filled) == FT_NCCL_READ)
		assert(filled <= 0xf && filled >> requests == 0);
}

static void sizes_hold(const uint8_t *bytes, uint32_t length, uint32_t captured)
{
	struct ft_nccl_write whole = { bytes, length, length }, cut = { bytes, captured, length };
	struct ft_nccl_sizes sizes = { .requests = 0 }, part = { .requests = 0 };

	if (ft_nccl_sizes_read(&whole, &sizes) != FT_NCCL_READ) {
		assert(sizes.requests == 0);
		return;
	}
	assert(sizes.requests * 4u == length && sizes.captured == sizes.requests);
	if (ft_nccl_sizes_read(&cut, &part) != FT_NCCL_READ) {
		assert(captured < 4);
		return;
	}
	assert(part.requests == sizes.requests && part.captured <= sizes.captured);
	for (unsigned i = 0; i < FT_NCCL_REQUESTS_MAX; i++)
		assert(part.sizes[i] == (i < part.captured ? sizes.sizes[i] : 0));
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	uint32_t length, at;

	if (size < 10)
		return;
	immediate_holds(ft_be32(bytes), ft_be32(bytes + 4));
	mask_holds(ft_be32(bytes), bytes[8]);
	mask_holds(ft_be32(bytes) & 0x01010101, bytes[8] % 10);
	length = (uint32_t)size - 10;
	sizes_hold(bytes + 10, length, bytes[9] < length ? bytes[9] : length);
	at = (uint32_t)ft_nccl_probed_slot(ft_be64(bytes), ft_be64(bytes) + 160 * bytes[8] + 32,
					   128);
	assert(at == bytes[8]);
}
