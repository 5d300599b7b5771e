/*
 * Any write as a clear-to-send: an entry is read if and only if its family is possible; a cut write rules out no
 * family that the whole one allows, and what it tells the whole one tells too.
 */
#undef NDEBUG
#include <assert.h>

#include <decode/nccl.h>

#include "../holds.h"

enum { TAG_BEFORE = 0x5afe };

static void entry_holds(const struct ft_nccl_cts *entry, const struct ft_nccl_fifo *fifo)
{
	assert(entry->rkey_count <= fifo->rkeys);
	for (unsigned i = entry->rkey_count; i < FT_NCCL_RKEYS_MAX; i++)
		assert(entry->rkeys[i] == 0);
	assert(entry->sequence_bits % 8 == 0 && entry->sequence_bits <= 64);
	assert(entry->sequence_bits == 64 || entry->sequence >> entry->sequence_bits == 0);
	assert(entry->size < UINT64_C(1) << 41);
	assert(entry->requests <= fifo->entries);
}

static void cut_entry_holds(const struct ft_nccl_cts *cut, const struct ft_nccl_cts *whole)
{
	uint64_t known = cut->sequence_bits == 0 ? 0 : UINT64_MAX >> (64 - cut->sequence_bits);

	assert(cut->addr == whole->addr && (cut->has & ~whole->has) == 0);
	assert(cut->has == 0 || cut->size == whole->size);
	assert(cut->tag == whole->tag || (cut->has & FT_NCCL_CTS_TAG) == 0);
	assert(cut->sequence_bits <= whole->sequence_bits);
	assert(cut->sequence == (whole->sequence & known));
	for (unsigned i = 0; i < cut->rkey_count; i++)
		assert(cut->rkeys[i] == whole->rkeys[i]);
}

static void family_holds(enum ft_nccl_family family, const struct ft_nccl_write *whole,
			 const struct ft_nccl_write *cut)
{
	const struct ft_nccl_fifo *fifo = ft_nccl_fifo(family);
	bool possible = (ft_nccl_cts_fits(whole).possible >> family & 1) != 0;

	for (uint32_t i = 0; i <= FT_NCCL_REQUESTS_MAX; i++) {
		struct ft_nccl_cts entry = { .tag = TAG_BEFORE }, part = { .tag = TAG_BEFORE };
		bool inside = i < whole->length / fifo->entry_bytes;
		enum ft_nccl_verdict verdict = ft_nccl_cts_read(family, whole, i, &entry);

		assert((verdict == FT_NCCL_NOT) == !(possible && inside));
		if (verdict == FT_NCCL_READ)
			entry_holds(&entry, fifo);
		else
			assert(entry.tag == TAG_BEFORE);
		if (ft_nccl_cts_read(family, cut, i, &part) == FT_NCCL_READ &&
		    verdict == FT_NCCL_READ)
			cut_entry_holds(&part, &entry);
	}
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct ft_nccl_write whole, cut;
	struct ft_nccl_fits fits, cut_fits;

	if (size < 2)
		return;
	whole = (struct ft_nccl_write){ bytes + 2, (uint32_t)size - 2, (uint32_t)size - 2 };
	if ((bytes[0] & 1) != 0) /* lengths that random sizes seldom have */
		whole.length = (whole.length + 31) / 32 * 32;
	cut = whole;
	cut.captured = whole.captured < bytes[1] ? whole.captured : bytes[1];
	fits = ft_nccl_cts_fits(&whole);
	assert(ft_nccl_cts_may_be(&whole) == (fits.possible != 0));
	cut_fits = ft_nccl_cts_fits(&cut);
	assert((fits.shown & ~fits.possible) == 0 && (cut_fits.shown & ~cut_fits.possible) == 0);
	assert((fits.possible & ~cut_fits.possible) == 0);
	for (unsigned family = 0; family < FT_NCCL_FAMILIES; family++)
		family_holds((enum ft_nccl_family)family, &whole, &cut);
}
