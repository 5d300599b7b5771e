#include "cts_parts.h"

#include <decode/packet.h>

#include "family.h"
#include "fifo.h"

static struct ft_nccl_write write_of(const struct ft_nccl_seen *seen)
{
	return (struct ft_nccl_write){
		.bytes = seen->payload,
		.captured = seen->captured,
		.length = (seen->has & FT_HAS_RETH) != 0 ? seen->length : seen->payload_length,
	};
}

/* The number nearest to what is expected that has these low bits. */
static uint64_t extend(uint64_t low, unsigned bits, uint64_t expected)
{
	uint64_t span, base;

	if (bits >= 64)
		return low;
	span = UINT64_C(1) << bits;
	base = (expected & ~(span - 1)) | low;
	if (base > expected + span / 2 && base >= span)
		return base - span;
	if (base + span / 2 < expected)
		return base + span;
	return base;
}

static uint64_t expected_k(const struct ft_nccl_followed *followed)
{
	return followed->has_newest ? followed->newest + 1 : 0;
}

/* The message that a slot of a family's FIFO is for, nearest to the one expected; false: there is no such slot. */
static bool k_of_slot(const struct ft_nccl_followed *followed, enum ft_nccl_family family,
		      uint64_t va, uint64_t *k)
{
	const struct ft_nccl_fifo *layout = ft_nccl_fifo(family);
	const struct ft_nccl_target *fifo = &followed->model.fifo;
	bool is_fixed = layout->slots == layout->slots_first && followed->base_bits == 0;
	uint64_t slots = is_fixed ? layout->slots : fifo->slots;
	uint64_t offset = va - fifo->addr, expected = expected_k(followed);
	uint16_t slot_bytes = ft_nccl_slot_bytes(followed, family);

	if (slots == 0 || offset % slot_bytes != 0 || offset / slot_bytes >= slots)
		return false;
	*k = expected + (offset / slot_bytes + slots - expected % slots) % slots;
	if (*k > expected + slots / 2 && *k >= slots)
		*k -= slots;
	return true;
}

/* By its address alone: the families that have the next message there are left, if there are any. */
static bool place(struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen,
		  struct ft_nccl_ask *ask)
{
	uint8_t next = 0;
	uint64_t k;

	ask->k = expected_k(followed);
	if ((seen->has & FT_HAS_RETH) == 0)
		return true;
	if (!followed->has_base)
		return false;
	for (unsigned i = 0; i < FT_NCCL_FAMILIES; i++) {
		if ((followed->families & 1u << i) != 0 &&
		    k_of_slot(followed, (enum ft_nccl_family)i, seen->va, &k) && k == ask->k)
			next |= (uint8_t)(1u << i);
	}
	ft_nccl_family_narrow(followed, next);
	ask->family = (enum ft_nccl_family)ft_nccl_family_taken(followed);
	return k_of_slot(followed, ask->family, seen->va, &ask->k);
}

static bool is_in_place(struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen,
			const struct ft_nccl_ask *ask)
{
	return (seen->has & FT_HAS_RETH) == 0 ||
	       (ft_nccl_fifo_has_key(followed, seen->rkey) &&
		(ft_nccl_fifo_place(followed, seen->va, seen->rkey, ask->k) ||
		 (ask->has_k && ft_nccl_fifo_learn(followed, ask->family, seen->va, ask->k))));
}

/*
 * As the likeliest of the families that fit; once there is one left, no other is tried. FT_NCCL_NOT: it is of none; FT_NCCL_CUT:
 * of one, but *first cannot be read.
 */
static enum ft_nccl_verdict read_first(struct ft_nccl_followed *followed,
				       const struct ft_nccl_write *write, struct ft_nccl_cts *first)
{
	bool is_one =
		followed->families != 0 && (followed->families & (followed->families - 1)) == 0;

	if (!is_one) {
		if (!ft_nccl_family_narrow(followed, ft_nccl_cts_fits(write).possible))
			return FT_NCCL_NOT;
		/* a set-up may leave families whose FIFOs differ */
		if (followed->model.is_set_up)
			ft_nccl_family_tell(followed);
	}
	return ft_nccl_cts_read((enum ft_nccl_family)ft_nccl_family_taken(followed), write, 0,
				first);
}

/* Queue pairs begin at PSN 0, and a clear-to-send takes one packet: devices take turns, and its PSN counts those of its own .. */
static bool is_counted(struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen,
		       uint8_t device, uint32_t strays, struct ft_nccl_ask *ask)
{
	const uint8_t devices = followed->model.devices;
	const uint32_t psn = ft_psn_back(seen->psn, strays);

	ask->k = extend(psn, 24, expected_k(followed) / devices) * devices + device;
	return is_in_place(followed, seen, ask);
}

/*
 * .. and what was none of them. A write that was refused was one if the next goes where it should have, and took the place of a
 * clear-to-send if that goes to its own; of two that were exchanged the one behind them shows it.
 */
static bool is_in_sequence(struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen,
			   uint8_t device, struct ft_nccl_ask *ask)
{
	struct ft_nccl_lane *lane = &followed->lanes[device];
	const int32_t behind = ft_psn_distance(seen->psn, lane->skipping_psn);

	if (is_counted(followed, seen, device, lane->strays, ask))
		return true;
	if (!followed->plain || ft_psn_distance(seen->psn, lane->cts.next) < 0)
		return false;
	if (lane->refused == 1 && lane->strays < UINT8_MAX && behind == 1 &&
	    is_counted(followed, seen, device, lane->strays + 1u, ask)) {
		lane->strays++;
		return true;
	}
	if (lane->refused == 0 && lane->strays != 0 && behind == 2 &&
	    is_counted(followed, seen, device, lane->strays - 1u, ask)) {
		lane->strays--;
		return true;
	}
	is_counted(followed, seen, device, lane->strays, ask);
	return false;
}

/* By its PSN, in a slot that is the next one's by then. */
static bool count_on(struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen,
		     uint8_t device, struct ft_nccl_ask *ask)
{
	uint16_t entry_bytes = followed->model.fifo.entry_bytes;
	struct ft_nccl_cts entry;

	ask->requests = ask->write.length / entry_bytes;
	if (followed->families != 0 && !followed->blind) {
		ask->family = (enum ft_nccl_family)ft_nccl_family_taken(followed);
		ask->is_read = read_first(followed, &ask->write, &entry) != FT_NCCL_NOT;
	}
	return ask->write.length % entry_bytes == 0 && ask->requests != 0 &&
	       ask->requests <= FT_NCCL_REQUESTS_MAX && is_in_sequence(followed, seen, device, ask);
}

/* A whole number of entries that a slot has room for. */
static bool has_entries(const struct ft_nccl_followed *followed, struct ft_nccl_ask *ask)
{
	uint16_t entry_bytes = ft_nccl_fifo(ask->family)->entry_bytes;

	ask->requests = ask->write.length / entry_bytes;
	return ask->write.length % entry_bytes == 0 && ask->requests != 0 &&
	       ask->requests <= ft_nccl_slot_entries(followed, ask->family);
}

bool ft_nccl_cts_understand(struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen,
			    uint8_t lane, struct ft_nccl_ask *ask)
{
	struct ft_nccl_cts *first = &ask->first;
	enum ft_nccl_verdict verdict;
	int32_t family;

	ask->write = write_of(seen);
	ask->has_first = false;
	if (followed->by_grid)
		return count_on(followed, seen, lane, ask);
	verdict = read_first(followed, &ask->write, first);
	ask->is_read = verdict != FT_NCCL_NOT;
	family = ft_nccl_family_taken(followed);
	if (family < 0 ||
	    (!ask->is_read && followed->readable != 0 && ask->write.captured >= ask->write.length))
		return false;
	ask->family = (enum ft_nccl_family)family;
	if (!has_entries(followed, ask))
		return false;
	if (verdict != FT_NCCL_READ || first->sequence_bits == 0)
		return place(followed, seen, ask);
	ask->has_first = true;
	ask->k = extend(first->sequence, first->sequence_bits, expected_k(followed));
	ask->has_k = true;
	return is_in_place(followed, seen, ask);
}
