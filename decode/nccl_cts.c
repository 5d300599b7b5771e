#include <decode/nccl.h>

#include <assert.h>

#include <decode/little_endian.h>

/* Offsets in an entry. */
struct gap {
	uint8_t from, to;
};

struct layout {
	struct ft_nccl_fifo fifo;
	uint8_t size_bytes; /* 4: signed */
	uint8_t rkeys_at;
	uint8_t requests_at;   /* A and B: a flag, always 1, as is their number of requests */
	uint8_t tag_at;        /* 0: none */
	struct gap hole, rest; /* bytes without meaning, zero in practice */
};

enum { ADDR_BYTES = 8, SIZE_AT = 8 };

/* Registered buffers are moved in pieces of 1 GiB; no buffer of a GPU comes near this. */
#define SIZE_LIMIT (UINT64_C(1) << 41)

/* No memory of a program is in the first page, nor where addresses of 57 bits do not lead. */
#define FIRST_PAGE    4096
#define ADDRESS_LIMIT (UINT64_C(1) << 57)

/* Where they have their memory, as far as was seen: what others write is seldom such an address. */
#define USUAL_LIMIT (UINT64_C(1) << 48)

static const struct layout layouts[FT_NCCL_FAMILIES] = {
	/* FIFO: entry, slot, entries, slots, slots first, rkeys, number; offsets; gaps */
	[FT_NCCL_A] = { { 24, 24, 1, 128, 128, 1, 12, 4 }, 4, 16, 20, 0, { 0, 0 }, { 0, 0 } },
	[FT_NCCL_B] = { { 32, 32, 1, 8, 8, 1, 12, 4 }, 4, 16, 20, 0, { 0, 0 }, { 24, 32 } },
	[FT_NCCL_C] = { { 32, 256, 8, 256, 64, 1, 24, 8 }, 4, 12, 16, 20, { 0, 0 }, { 0, 0 } },
	[FT_NCCL_D] = { { 64, 512, 8, 256, 256, 2, 32, 8 }, 4, 12, 20, 24, { 28, 32 }, { 40, 64 } },
	[FT_NCCL_E] = { { 64, 512, 8, 256, 256, 4, 40, 8 }, 8, 16, 32, 36, { 0, 0 }, { 48, 64 } },
	[FT_NCCL_F] = { { 64, 512, 8, 256, 256, 8, 56, 8 }, 8, 16, 48, 52, { 0, 0 }, { 0, 0 } },
};

/* The number of a connection's first message. */
static uint64_t first_of(const struct layout *layout)
{
	return layout->fifo.number_bytes == 4 ? 0 : 1;
}

/* B: where it has a gap, C of the same length has its sequence number. */
static bool gaps_tell(const struct layout *layout)
{
	return layout->fifo.number_bytes == 4;
}

const struct ft_nccl_fifo *ft_nccl_fifo(enum ft_nccl_family family)
{
	assert(family < FT_NCCL_FAMILIES);
	return &layouts[family].fifo;
}

char ft_nccl_family_letter(enum ft_nccl_family family)
{
	assert(family < FT_NCCL_FAMILIES);
	return "ABCDEF"[family];
}

uint64_t ft_nccl_slot_va(enum ft_nccl_family family, uint64_t base, uint64_t sequence,
			 uint32_t slots)
{
	assert(slots != 0);
	return base + sequence % slots * ft_nccl_fifo(family)->slot_bytes;
}

/* One entry, and what of it was captured. */
struct entry {
	const uint8_t *bytes;
	uint32_t captured;
};

static struct entry entry_at(const struct layout *layout, const struct ft_nccl_write *write,
			     uint32_t index)
{
	uint32_t at = index * layout->fifo.entry_bytes;
	uint32_t left = write->captured > at ? write->captured - at : 0;

	return (struct entry){
		.bytes = left != 0 ? write->bytes + at : write->bytes,
		.captured = left < layout->fifo.entry_bytes ? left : layout->fifo.entry_bytes,
	};
}

static bool holds(const struct entry *entry, uint32_t at, uint32_t bytes)
{
	return entry->captured >= at + bytes;
}

/* A number's low bytes, as many as were captured; how many goes to *known. */
static uint64_t low_bytes(const struct entry *entry, uint32_t at, uint32_t bytes, uint32_t *known)
{
	uint64_t number = 0;
	uint32_t left = entry->captured > at ? entry->captured - at : 0;

	*known = left < bytes ? left : bytes;
	if (*known == 8)
		return ft_le64(entry->bytes + at);
	if (*known == 4)
		return ft_le32(entry->bytes + at);
	for (uint32_t i = 0; i < *known; i++)
		number |= (uint64_t)entry->bytes[at + i] << 8 * i;
	return number;
}

static bool gap_is_zero(struct gap gap, const struct entry *entry)
{
	for (uint32_t at = gap.from; at < gap.to && at < entry->captured; at++) {
		if (entry->bytes[at] != 0)
			return false;
	}
	return true;
}

static bool gaps_are_zero(const struct layout *layout, const struct entry *entry)
{
	return gap_is_zero(layout->hole, entry) && gap_is_zero(layout->rest, entry);
}

static bool size_is_sane(const struct layout *layout, const struct entry *entry)
{
	if (!holds(entry, SIZE_AT, layout->size_bytes))
		return true;
	if (layout->size_bytes == 4)
		return (entry->bytes[SIZE_AT + 3] & 0x80) == 0;
	return ft_le64(entry->bytes + SIZE_AT) < SIZE_LIMIT;
}

static bool is_address(uint64_t addr)
{
	return addr >= FIRST_PAGE && addr < ADDRESS_LIMIT;
}

/* Of a buffer that is registered: no key is 0. */
static bool buffer_is_sane(const struct layout *layout, const struct entry *entry)
{
	if (!holds(entry, 0, ADDR_BYTES))
		return true;
	if (!is_address(ft_le64(entry->bytes)))
		return false;
	return !holds(entry, layout->rkeys_at, 4) || ft_le32(entry->bytes + layout->rkeys_at) != 0;
}

static bool entry_is_possible(const struct layout *layout, const struct entry *entry,
			      uint32_t requests)
{
	uint32_t known;
	uint64_t sequence;

	if (holds(entry, layout->requests_at, 4) &&
	    ft_le32(entry->bytes + layout->requests_at) != requests)
		return false;
	sequence = low_bytes(entry, layout->fifo.number_at, layout->fifo.number_bytes, &known);
	if (known == layout->fifo.number_bytes && sequence < first_of(layout))
		return false;
	if (gaps_tell(layout) && !gaps_are_zero(layout, entry))
		return false;
	return size_is_sane(layout, entry) && buffer_is_sane(layout, entry);
}

/* All entries of a slot carry the same sequence number. */
static bool is_same_message(const struct layout *layout, const struct entry *a,
			    const struct entry *b)
{
	uint32_t known_a, known_b;
	uint64_t of_a = low_bytes(a, layout->fifo.number_at, layout->fifo.number_bytes, &known_a);
	uint64_t of_b = low_bytes(b, layout->fifo.number_at, layout->fifo.number_bytes, &known_b);

	return known_b < layout->fifo.number_bytes || of_a == of_b;
}

static bool is_shown(const struct layout *layout, const struct entry *entry)
{
	uint32_t gap_end = gaps_tell(layout) ? layout->rest.to : 0;

	return holds(entry, layout->requests_at, 4) &&
	       holds(entry, layout->fifo.number_at, layout->fifo.number_bytes) &&
	       entry->captured >= gap_end && gaps_are_zero(layout, entry);
}

/* 0 unless the length is that of one to so many entries. */
static uint32_t requests_of(const struct layout *layout, uint32_t length)
{
	uint32_t requests = length / layout->fifo.entry_bytes;

	if (length % layout->fifo.entry_bytes != 0 || requests > layout->fifo.entries)
		return 0;
	return requests;
}

static bool is_possible(const struct layout *layout, const struct ft_nccl_write *write)
{
	uint32_t requests = requests_of(layout, write->length);
	struct entry first = entry_at(layout, write, 0);

	for (uint32_t i = 0; i < requests; i++) {
		struct entry entry = entry_at(layout, write, i);

		if (!entry_is_possible(layout, &entry, requests) ||
		    (i != 0 && !is_same_message(layout, &first, &entry)))
			return false;
	}
	return requests != 0;
}

struct ft_nccl_fits ft_nccl_cts_fits(const struct ft_nccl_write *write)
{
	struct ft_nccl_fits fits = { 0 };

	for (unsigned family = 0; family < FT_NCCL_FAMILIES; family++) {
		struct entry first = entry_at(&layouts[family], write, 0);

		if (!is_possible(&layouts[family], write))
			continue;
		fits.possible |= (uint8_t)(1u << family);
		if (is_shown(&layouts[family], &first))
			fits.shown |= (uint8_t)(1u << family);
	}
	return fits;
}

bool ft_nccl_begins_with_address(const struct ft_nccl_write *write)
{
	return write->captured >= ADDR_BYTES && is_address(ft_le64(write->bytes)) &&
	       ft_le64(write->bytes) < USUAL_LIMIT;
}

bool ft_nccl_cts_may_be(const struct ft_nccl_write *write)
{
	if (write->captured >= ADDR_BYTES && !is_address(ft_le64(write->bytes)))
		return false;
	for (unsigned family = FT_NCCL_FAMILIES; family-- > 0;) {
		if (is_possible(&layouts[family], write))
			return true;
	}
	return false;
}

static void read_rkeys(const struct layout *layout, const struct entry *bytes,
		       struct ft_nccl_cts *entry)
{
	for (uint32_t i = 0; i < layout->fifo.rkeys; i++) {
		uint32_t at = layout->rkeys_at + 4 * i;

		if (!holds(bytes, at, 4))
			return;
		entry->rkeys[i] = ft_le32(bytes->bytes + at);
		entry->rkey_count++;
	}
}

static void read_sequence(const struct layout *layout, const struct entry *bytes,
			  struct ft_nccl_cts *entry)
{
	uint32_t known;
	uint64_t sequence =
		low_bytes(bytes, layout->fifo.number_at, layout->fifo.number_bytes, &known);

	if (known == 0)
		return;
	entry->sequence_bits = (uint8_t)(8 * known);
	entry->sequence = (sequence - first_of(layout)) & UINT64_MAX >> (64 - 8 * known);
}

static void read_words(const struct layout *layout, const struct entry *bytes,
		       struct ft_nccl_cts *entry)
{
	uint32_t known;

	if (holds(bytes, SIZE_AT, layout->size_bytes)) {
		entry->size = low_bytes(bytes, SIZE_AT, layout->size_bytes, &known);
		entry->has |= FT_NCCL_CTS_SIZE;
	}
	if (holds(bytes, layout->requests_at, 4)) {
		entry->requests = ft_le32(bytes->bytes + layout->requests_at);
		entry->has |= FT_NCCL_CTS_REQUESTS;
	}
	if (layout->tag_at != 0 && holds(bytes, layout->tag_at, 4)) {
		entry->tag = (int32_t)ft_le32(bytes->bytes + layout->tag_at);
		entry->has |= FT_NCCL_CTS_TAG;
	}
}

enum ft_nccl_verdict ft_nccl_cts_read(enum ft_nccl_family family, const struct ft_nccl_write *write,
				      uint32_t index, struct ft_nccl_cts *entry)
{
	const struct layout *layout = &layouts[family];
	struct entry bytes;

	assert(family < FT_NCCL_FAMILIES);
	if (index >= requests_of(layout, write->length) || !is_possible(layout, write))
		return FT_NCCL_NOT;
	bytes = entry_at(layout, write, index);
	if (!holds(&bytes, 0, ADDR_BYTES))
		return FT_NCCL_CUT;
	*entry = (struct ft_nccl_cts){ .addr = ft_le64(bytes.bytes) };
	read_words(layout, &bytes, entry);
	read_rkeys(layout, &bytes, entry);
	read_sequence(layout, &bytes, entry);
	return FT_NCCL_READ;
}
