#include "lock_parts.h"

#include <decode/packet.h>

#include "family.h"
#include "fifo.h"

enum {
	FORK_LOOKS = 2 /* before the newest, that agree on a slot no release has */
};

static struct ft_nccl_write write_of(const struct ft_nccl_seen *seen)
{
	return (struct ft_nccl_write){ seen->payload, seen->captured, seen->length };
}

bool ft_nccl_look_at(const struct ft_nccl_seen *seen, struct ft_nccl_look *look)
{
	struct ft_nccl_write write = write_of(seen);

	if (seen->opcode != 0x0a || (seen->has & FT_HAS_RETH) == 0 ||
	    seen->length > FT_NCCL_LOG_CTS)
		return false;
	look->seen = *seen;
	look->fits = ft_nccl_cts_fits(&write);
	return look->fits.possible != 0;
}

/* Two writes read as clear-to-sends of one connection. */
struct two_asks {
	struct ft_nccl_cts a, b;
	uint64_t apart; /* messages from a to b; 0: they are not of one connection */
};

static struct two_asks read_both(enum ft_nccl_family family, const struct ft_nccl_look *a,
				 const struct ft_nccl_look *b)
{
	struct ft_nccl_write write_a = write_of(&a->seen), write_b = write_of(&b->seen);
	struct two_asks both = { .apart = 0 };
	uint8_t bits;

	if (ft_nccl_cts_read(family, &write_a, 0, &both.a) != FT_NCCL_READ ||
	    ft_nccl_cts_read(family, &write_b, 0, &both.b) != FT_NCCL_READ)
		return both;
	bits = both.a.sequence_bits < both.b.sequence_bits ? both.a.sequence_bits
							   : both.b.sequence_bits;
	if (bits >= 8)
		both.apart = (both.b.sequence - both.a.sequence) & UINT64_MAX >> (64 - bits);
	if (both.apart > FT_NCCL_RING_MOST)
		both.apart = 0;
	return both;
}

/* Addresses and numbers of two writes are those of two clear-to-sends of one connection. */
static bool agree_as(enum ft_nccl_family family, uint16_t slot_bytes, const struct ft_nccl_look *a,
		     const struct ft_nccl_look *b)
{
	const struct two_asks both = read_both(family, a, b);

	return both.apart != 0 && ft_nccl_fifo_agrees(slot_bytes, a->seen.va, both.a.sequence,
						      b->seen.va, both.b.sequence);
}

static bool are_of_one(const struct ft_nccl_look *a, const struct ft_nccl_look *b)
{
	return a->seen.rkey == b->seen.rkey && ft_psn_distance(b->seen.psn, a->seen.psn) > 0;
}

static uint8_t agree(const struct ft_nccl_look *a, const struct ft_nccl_look *b)
{
	uint8_t possible = a->fits.possible & b->fits.possible;
	uint8_t shown = a->fits.shown & b->fits.shown;
	uint8_t agreed = 0;

	if (!are_of_one(a, b))
		return 0;
	for (unsigned family = 0; family < FT_NCCL_FAMILIES; family++) {
		const struct ft_nccl_fifo *layout = ft_nccl_fifo((enum ft_nccl_family)family);

		if ((possible & 1u << family) != 0 &&
		    agree_as((enum ft_nccl_family)family, layout->slot_bytes, a, b))
			agreed |= (uint8_t)(1u << family);
	}
	return (agreed & shown) != 0 ? agreed & shown : agreed;
}

static struct ft_nccl_agreement as_released(const struct ft_nccl_log *log,
					    const struct ft_nccl_look *newest)
{
	struct ft_nccl_agreement agreement = { 0 };
	struct ft_nccl_logged logged;
	struct ft_nccl_look look;
	unsigned counts[FT_NCCL_FAMILIES] = { 0 };

	for (uint32_t at = 0; ft_nccl_log_next(log, &at, &logged);) {
		uint8_t families;

		if (logged.seen.frame == newest->seen.frame ||
		    !ft_nccl_look_at(&logged.seen, &look))
			continue;
		families = agree(&look, newest);
		for (unsigned i = 0; i < FT_NCCL_FAMILIES; i++)
			counts[i] += families >> i & 1;
		if (agreement.frame == 0 && (families != 0 || agree(newest, &look) != 0)) {
			agreement.frame = logged.seen.frame;
			agreement.ts_ns = logged.seen.ts_ns;
		}
	}
	for (unsigned i = 0; i < FT_NCCL_FAMILIES; i++) {
		if (counts[i] >= (i == FT_NCCL_A ? 2 : 1)) /* one word tells A: weak */
			agreement.families |= (uint8_t)(1u << i);
	}
	return agreement;
}

/* From slot to slot, if no wrap lies between the two; 0: they cannot be of one FIFO so. */
static uint16_t slot_between(enum ft_nccl_family family, const struct ft_nccl_look *a,
			     const struct ft_nccl_look *b)
{
	const uint16_t entry_bytes = ft_nccl_fifo(family)->entry_bytes;
	struct two_asks both;
	uint64_t bytes;

	if (!are_of_one(a, b) || (a->fits.shown & b->fits.shown & 1u << family) == 0)
		return 0;
	both = read_both(family, a, b);
	if (both.apart == 0 || (b->seen.va - a->seen.va) % both.apart != 0)
		return 0;
	bytes = (b->seen.va - a->seen.va) / both.apart;
	return ft_nccl_fifo_may_step(bytes, entry_bytes) ? (uint16_t)bytes : 0;
}

/* As the writes before the newest have it that agree: the last of them, and those like it. 0: too few are. */
static uint16_t learnt_slot(const struct ft_nccl_log *log, const struct ft_nccl_look *newest,
			    enum ft_nccl_family family)
{
	struct ft_nccl_logged logged;
	struct ft_nccl_look look;
	uint16_t learnt = 0;
	unsigned alike = 0;

	for (uint32_t at = 0; ft_nccl_log_next(log, &at, &logged);) {
		uint16_t bytes;

		if (logged.seen.frame == newest->seen.frame ||
		    !ft_nccl_look_at(&logged.seen, &look))
			continue;
		bytes = slot_between(family, &look, newest);
		if (bytes == 0)
			continue;
		alike = bytes == learnt ? alike + 1 : 1;
		learnt = bytes;
	}
	return alike >= FORK_LOOKS ? learnt : 0;
}

/*
 * Builds of NCCL may have other slots than its releases. Entries that are NCCL's and count on, each as far behind the last as
 * its number is, tell how large they are. Only of layouts with whole numbers: a byte or a word that counts may be anything.
 */
static struct ft_nccl_agreement as_forked(const struct ft_nccl_log *log,
					  const struct ft_nccl_look *newest,
					  enum ft_nccl_family family)
{
	const uint16_t slot_bytes = learnt_slot(log, newest, family);
	struct ft_nccl_logged logged;
	struct ft_nccl_look look;

	for (uint32_t at = 0; slot_bytes != 0 && ft_nccl_log_next(log, &at, &logged);) {
		if (logged.seen.frame != newest->seen.frame &&
		    ft_nccl_look_at(&logged.seen, &look) && are_of_one(&look, newest) &&
		    agree_as(family, slot_bytes, &look, newest))
			return (struct ft_nccl_agreement){ .families = (uint8_t)(1u << family),
							   .slot_bytes = slot_bytes,
							   .frame = logged.seen.frame,
							   .ts_ns = logged.seen.ts_ns };
	}
	return (struct ft_nccl_agreement){ 0 };
}

struct ft_nccl_agreement ft_nccl_agreement_of(const struct ft_nccl_log *log,
					      const struct ft_nccl_look *newest)
{
	struct ft_nccl_agreement agreement = as_released(log, newest);

	for (unsigned i = 0; i < FT_NCCL_FAMILIES && agreement.families == 0; i++) {
		if ((newest->fits.shown & 1u << i) != 0 &&
		    ft_nccl_fifo((enum ft_nccl_family)i)->number_bytes == 8)
			agreement = as_forked(log, newest, (enum ft_nccl_family)i);
	}
	return agreement;
}
