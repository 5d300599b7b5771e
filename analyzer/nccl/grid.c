#include "grid.h"

#include <string.h>

#include <decode/little_endian.h>
#include <decode/packet.h>

#include "answer.h"
#include "fifo.h"
#include "source_port.h"

enum {
	WRITES = 4, /* that must lie on the grid .. */
	WRITES_ALONE =
		8, /* .. if the ports of both directions do not agree, as adapters may have it */
	SLOT_MOST = 1024 /* bytes */,
	ENTRY_LEAST = 24,
	ENTRY_MOST = 64,
	ENTRIES_MOST =
		8, /* of a slot: farther apart are clear-to-sends that several devices take in turn */
	LENGTHS = 3, /* messages whose immediate must be their length .. */
	PLAIN = 2,   /* .. or writes that must go where they were told to */
	DATA = 8,    /* bytes that tell where: an address */
	KEY_AT_12 = 1u << FT_NCCL_C | 1u << FT_NCCL_D /* families with the first key there */
};

static bool is_on(const struct ft_nccl_seen *seen)
{
	return seen->opcode == 0x0a && (seen->has & FT_HAS_RETH) != 0 &&
	       seen->length >= ENTRY_LEAST && seen->length <= FT_NCCL_LOG_CTS &&
	       seen->length % 8 == 0;
}

/* From slot to slot, by two writes in a row; 0: these do not tell. */
static uint16_t step_of(const struct ft_nccl_seen *a, const struct ft_nccl_seen *b)
{
	uint64_t step = b->va - a->va;

	if (ft_nccl_psn_distance(b->psn, a->psn) != 1 || b->rkey != a->rkey || step < a->length ||
	    step > SLOT_MOST || step % 8 != 0)
		return 0;
	return (uint16_t)step;
}

static uint16_t slot_bytes_in(const struct ft_nccl_log *log, struct ft_nccl_grid *grid)
{
	struct ft_nccl_logged before = { 0 }, logged;
	bool has = false;

	grid->entry_bytes = FT_NCCL_LOG_CTS;
	for (uint32_t at = 0; ft_nccl_log_next(log, &at, &logged); before = logged, has = true) {
		if (!is_on(&logged.seen))
			return 0;
		if (logged.seen.length < grid->entry_bytes)
			grid->entry_bytes = (uint16_t)logged.seen.length;
		if (!has) {
			grid->frame = logged.seen.frame;
			grid->ts_ns = logged.seen.ts_ns;
		} else if (grid->slot_bytes == 0) {
			grid->slot_bytes = step_of(&before.seen, &logged.seen);
		}
	}
	return grid->slot_bytes;
}

/* All writes lie where their PSNs say. */
static bool is_grid(const struct ft_nccl_log *log, struct ft_nccl_grid *grid)
{
	struct ft_nccl_logged first, logged;
	uint32_t at = 0;

	if (slot_bytes_in(log, grid) == 0 || grid->entry_bytes > ENTRY_MOST ||
	    grid->slot_bytes > ENTRIES_MOST * grid->entry_bytes ||
	    !ft_nccl_log_next(log, &at, &first))
		return false;
	while (ft_nccl_log_next(log, &at, &logged)) {
		if (logged.seen.rkey != first.seen.rkey ||
		    logged.seen.length % grid->entry_bytes != 0 ||
		    !ft_nccl_fifo_agrees(grid->slot_bytes, first.seen.va, first.seen.psn,
					 logged.seen.va, logged.seen.psn))
			return false;
	}
	return true;
}

/* Families with these lengths, if their content fits or there is none to see. */
static uint8_t families_of(const struct ft_nccl_log *log, const struct ft_nccl_grid *grid)
{
	struct ft_nccl_logged logged;
	uint8_t families = 0, possible = UINT8_MAX;

	for (unsigned i = 0; i < FT_NCCL_FAMILIES; i++) {
		const struct ft_nccl_fifo *layout = ft_nccl_fifo((enum ft_nccl_family)i);

		if (layout->entry_bytes == grid->entry_bytes &&
		    layout->slot_bytes == grid->slot_bytes)
			families |= (uint8_t)(1u << i);
	}
	for (uint32_t at = 0; grid->plain && ft_nccl_log_next(log, &at, &logged);) {
		const struct ft_nccl_write write = { logged.seen.payload, logged.seen.captured,
						     logged.seen.length };

		possible &= ft_nccl_cts_fits(&write).possible;
	}
	if (grid->plain)
		possible &= (uint8_t)(grid->rkey_at == 12 ? KEY_AT_12 : ~KEY_AT_12);
	return families & possible;
}

/* Whether a write went where an earlier one to the FIFO said, and if so where its key stood there. */
static bool was_told(const struct ft_nccl_log *fifo, const struct ft_nccl_seen *write,
		     uint8_t *rkey_at)
{
	struct ft_nccl_logged logged;

	for (uint32_t at = 0; ft_nccl_log_next(fifo, &at, &logged);) {
		const struct ft_nccl_seen *told = &logged.seen;

		if (told->frame > write->frame || told->captured < DATA + 4 ||
		    ft_le64(told->payload) != write->va)
			continue;
		for (uint32_t i = DATA + 4; i + 4 <= told->captured && i < ENTRY_MOST; i += 4) {
			if (ft_le32(told->payload + i) == write->rkey) {
				*rkey_at = (uint8_t)i;
				return true;
			}
		}
	}
	return false;
}

struct signs {
	unsigned right, wrong, told;
};

static struct signs signs_of(const struct ft_nccl_log *fifo, const struct ft_nccl_log *data,
			     struct ft_nccl_grid *grid)
{
	struct ft_nccl_logged logged;
	struct signs signs = { 0 };
	uint64_t length = 0;

	for (uint32_t at = 0; ft_nccl_log_next(data, &at, &logged);) {
		const struct ft_nccl_seen *seen = &logged.seen;

		if (ft_nccl_begins(seen->opcode) && !ft_nccl_is_bare_end(seen)) {
			length += seen->length;
			signs.told += was_told(fifo, seen, &grid->rkey_at) ? 1 : 0;
		}
		if (!ft_nccl_has_immediate(seen->opcode))
			continue;
		if (length != 0 && ft_nccl_immediate_orders(seen->immdt, (uint32_t)length) != 0)
			signs.right++;
		else if (length != 0)
			signs.wrong++;
		length = 0;
	}
	return signs;
}

static bool is_opposite(const struct ft_nccl_stranger *a, const struct ft_nccl_stranger *b)
{
	return b->used && b->log != NULL && a->by_lid == b->by_lid && a->vni == b->vni &&
	       memcmp(a->src, b->dst, sizeof a->src) == 0 &&
	       memcmp(a->dst, b->src, sizeof a->dst) == 0;
}

/* Both directions of a pair of queue pairs have one port. */
static bool is_pair(const struct ft_nccl_stranger *a, const struct ft_nccl_stranger *b)
{
	return a->udp_sport == b->udp_sport && a->udp_sport == ft_nccl_source_port(a->qpn, b->qpn);
}

/* Of those whose lengths are right: the other end of the same pair; else the only one. */
static void choose(const struct ft_nccl_stranger *stranger, struct ft_nccl_stranger *other,
		   struct ft_nccl_grid *grid, unsigned *choices)
{
	if (grid->partner != NULL && is_pair(stranger, grid->partner))
		return;
	*choices = is_pair(stranger, other) ? 1 : *choices + 1;
	grid->partner = other;
}

bool ft_nccl_grid_of(struct ft_nccl_connections *connections,
		     const struct ft_nccl_stranger *stranger, struct ft_nccl_grid *grid)
{
	struct ft_nccl_stranger *others = connections->strangers.strangers;
	unsigned choices = 0, told = 0;

	*grid = (struct ft_nccl_grid){ 0 };
	if (stranger->log->count < WRITES || stranger->log->count % 2 != 0 ||
	    !is_grid(stranger->log, grid))
		return false;
	for (unsigned i = 0; i < FT_NCCL_STRANGERS; i++) {
		struct signs signs;

		if (!is_opposite(stranger, &others[i]))
			continue;
		signs = signs_of(stranger->log, others[i].log, grid);
		told += signs.told;
		grid->plain = signs.told >= PLAIN;
		if (grid->plain)
			break;
		if (signs.right >= LENGTHS && signs.wrong == 0)
			choose(stranger, &others[i], grid, &choices);
	}
	grid->families = families_of(stranger->log, grid);
	if (grid->plain)
		return true;
	return told == 0 && choices == 1 &&
	       (is_pair(stranger, grid->partner) || stranger->log->count >= WRITES_ALONE);
}

void ft_nccl_plain_read(struct ft_nccl_moment *moment, const struct ft_nccl_write *write,
			struct ft_nccl_request *requests)
{
	const struct ft_nccl_followed *followed = moment->followed;
	uint32_t entry_bytes = followed->model.fifo.entry_bytes, at = 0;

	for (uint32_t i = 0; i < write->length / entry_bytes; i++, at += entry_bytes) {
		if (write->captured < at + followed->rkey_at + 4u)
			return;
		requests[i].va = ft_le64(write->bytes + at);
		requests[i].offered = ft_le32(write->bytes + at + DATA);
		requests[i].has_offered = true;
		requests[i].rkeys[0] = ft_le32(write->bytes + at + followed->rkey_at);
		requests[i].rkey_count = 1;
		ft_nccl_announce_key(moment->connections, moment->followed, 0,
				     requests[i].rkeys[0]);
	}
}
