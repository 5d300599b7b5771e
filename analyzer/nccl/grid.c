#include "grid.h"

#include <string.h>

#include <decode/little_endian.h>
#include <decode/packet.h>

#include "answer.h"
#include "fifo.h"

enum {
	WRITES = 4, /* that must lie on the grid */
	STEP_MOST = FT_NCCL_DEVICES_MAX * 512 /* bytes */,
	ENTRY_LEAST = 24,
	ENTRY_MOST = 64,
	ENTRIES_MOST = 8,    /* of a slot */
	PLAIN = 2,           /* writes that must go where they were told to */
	TOLD_MOST = 64,      /* of a log */
	PSNS = 1 << 24,      /* before they begin anew */
	DATA = 8,            /* bytes that tell where: an address */
	REPEATED_CLEAR = 12, /* bytes, of ENTRY_LEAST */
	KEY_AT_12 = 1u << FT_NCCL_C | 1u << FT_NCCL_D /* families with the first key there */
};

bool ft_nccl_may_be_on_grid(const struct ft_nccl_seen *seen)
{
	return seen->opcode == 0x0a && (seen->has & FT_HAS_RETH) != 0 &&
	       seen->length >= ENTRY_LEAST && seen->length <= FT_NCCL_LOG_CTS &&
	       seen->length % 8 == 0;
}

/* From slot to slot, by two writes in a row; 0: these do not tell. */
static uint16_t step_of(const struct ft_nccl_seen *a, const struct ft_nccl_seen *b)
{
	uint64_t step = b->va - a->va;

	if (ft_psn_distance(b->psn, a->psn) != 1 || b->rkey != a->rkey || step < a->length ||
	    step > STEP_MOST || step % 8 != 0)
		return 0;
	return (uint16_t)step;
}

static uint16_t slot_bytes_in(const struct ft_nccl_log *log, struct ft_nccl_grid *grid)
{
	struct ft_nccl_logged before = { 0 }, logged;
	bool has = false;

	grid->entry_bytes = FT_NCCL_LOG_CTS;
	for (uint32_t at = 0; ft_nccl_log_next(log, &at, &logged); before = logged, has = true) {
		if (!ft_nccl_may_be_on_grid(&logged.seen))
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

/* Farther apart than a slot may be are clear-to-sends that several devices take in turn. */
static bool split_step(struct ft_nccl_grid *grid)
{
	uint16_t step = grid->slot_bytes;
	unsigned devices = 1;

	while (step / devices > ENTRIES_MOST * grid->entry_bytes || step % devices != 0)
		devices++;
	grid->devices = devices;
	grid->slot_bytes = (uint16_t)(step / devices);
	return devices <= FT_NCCL_DEVICES_MAX;
}

bool ft_nccl_grid_read(const struct ft_nccl_log *log, struct ft_nccl_grid *grid)
{
	struct ft_nccl_logged first, logged;
	uint32_t at = 0;

	*grid = (struct ft_nccl_grid){ 0 };
	if (slot_bytes_in(log, grid) == 0 || grid->entry_bytes > ENTRY_MOST || !split_step(grid) ||
	    !ft_nccl_log_next(log, &at, &first))
		return false;
	grid->rkeys[0] = first.seen.rkey;
	while (ft_nccl_log_next(log, &at, &logged)) {
		if (logged.seen.rkey != first.seen.rkey ||
		    logged.seen.length % grid->entry_bytes != 0 ||
		    !ft_nccl_fifo_agrees(grid->slot_bytes, first.seen.va,
					 (uint64_t)first.seen.psn * grid->devices, logged.seen.va,
					 (uint64_t)logged.seen.psn * grid->devices))
			return false;
	}
	return true;
}

static uint8_t families_with(const struct ft_nccl_grid *grid)
{
	uint8_t families = 0;

	for (unsigned i = 0; i < FT_NCCL_FAMILIES; i++) {
		const struct ft_nccl_fifo *layout = ft_nccl_fifo((enum ft_nccl_family)i);

		if (layout->entry_bytes == grid->entry_bytes &&
		    layout->slot_bytes == grid->slot_bytes)
			families |= (uint8_t)(1u << i);
	}
	return families;
}

/*
 * So many of the first bytes are the same as one before them that payload is not encrypted: of random ones so many are in less
 * than one write in 10^8. All layouts have more.
 */
static bool is_clear(const struct ft_nccl_seen *seen)
{
	uint64_t values[4] = { 0 }; /* a bit for each that a byte can have */
	unsigned repeated = 0;

	if (seen->captured < ENTRY_LEAST)
		return false;
	for (uint32_t i = 0; i < ENTRY_LEAST; i++) {
		uint64_t bit = UINT64_C(1) << seen->payload[i] % 64;
		uint64_t *value = &values[seen->payload[i] / 64];

		repeated += (*value & bit) != 0;
		*value |= bit;
	}
	return repeated >= REPEATED_CLEAR;
}

/* In all writes of the log a word at this place counts them, as their PSNs do. */
static bool counts_at(const struct ft_nccl_log *log, uint32_t place)
{
	struct ft_nccl_logged logged;
	uint32_t ahead = 0;
	bool is_first = true;

	for (uint32_t at = 0; ft_nccl_log_next(log, &at, &logged); is_first = false) {
		uint32_t number;

		if (logged.seen.captured < place + 4)
			return false;
		number = ft_le32(logged.seen.payload + place) - logged.seen.psn;
		if (!is_first && (number - ahead) % PSNS != 0)
			return false;
		ahead = number;
	}
	return true;
}

/* Numbers of messages count the writes to the FIFO, where they were captured. */
static bool may_number(const struct ft_nccl_log *log, enum ft_nccl_family family)
{
	const struct ft_nccl_fifo *layout = ft_nccl_fifo(family);
	struct ft_nccl_logged logged;

	for (uint32_t at = 0; ft_nccl_log_next(log, &at, &logged);) {
		if (logged.seen.captured < layout->number_at + 4u || !is_clear(&logged.seen))
			return true;
	}
	return counts_at(log, layout->number_at);
}

/* Families with the grid's lengths, if their content fits, or is encrypted or cut off. */
static uint8_t families_of(const struct ft_nccl_log *log, const struct ft_nccl_grid *grid)
{
	struct ft_nccl_logged logged;
	uint8_t families = families_with(grid), possible = UINT8_MAX;

	for (uint32_t at = 0; ft_nccl_log_next(log, &at, &logged);) {
		const struct ft_nccl_write write = { logged.seen.payload, logged.seen.captured,
						     logged.seen.length };

		if (grid->plain || is_clear(&logged.seen))
			possible &= ft_nccl_cts_fits(&write).possible;
	}
	for (unsigned i = 0; i < FT_NCCL_FAMILIES && grid->devices == 1; i++) {
		if (!may_number(log, (enum ft_nccl_family)i))
			possible &= (uint8_t) ~(1u << i);
	}
	if (grid->plain)
		possible &= (uint8_t)(grid->rkey_at == 12 ? KEY_AT_12 : ~KEY_AT_12);
	return families & possible;
}

/*
 * A build of NCCL may have a layout of its own: with room for as many requests in a slot as all have since 2.12, and with the
 * message's number in it, which has to be seen. Queues of descriptors that others have lack one or the other.
 */
static bool may_be_own_layout(const struct ft_nccl_log *log, const struct ft_nccl_grid *grid)
{
	if (families_with(grid) == 0 || grid->slot_bytes != ENTRIES_MOST * grid->entry_bytes)
		return false;
	for (uint32_t place = DATA + 4; place + 4 <= grid->entry_bytes; place += 4) {
		if (counts_at(log, place))
			return true;
	}
	return false;
}

/* Where writes to the FIFO told data to go, if that can be read; a bit of `any` for each, so that most others are passed by. */
struct told {
	struct ft_nccl_seen at[TOLD_MOST];
	unsigned count;
	uint64_t any;
};

static uint64_t bit_of(uint64_t va)
{
	return UINT64_C(1) << (va * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

static void list_told(const struct ft_nccl_log *fifo, struct told *told)
{
	struct ft_nccl_logged logged;

	told->count = 0;
	told->any = 0;
	for (uint32_t at = 0; ft_nccl_log_next(fifo, &at, &logged) && told->count < TOLD_MOST;) {
		if (logged.seen.captured < DATA + 4)
			continue;
		told->at[told->count] = logged.seen;
		told->at[told->count++].va = ft_le64(logged.seen.payload);
		told->any |= bit_of(ft_le64(logged.seen.payload));
	}
}

/* Whether a write went where an earlier one to the FIFO said, and if so where its key stood there. */
static bool was_told(const struct told *told, const struct ft_nccl_seen *write, uint8_t *rkey_at)
{
	for (unsigned at = 0; at < told->count; at++) {
		const struct ft_nccl_seen *one = &told->at[at];

		if (one->frame > write->frame || one->va != write->va)
			continue;
		for (uint32_t i = DATA + 4; i + 4 <= one->captured && i < ENTRY_MOST; i += 4) {
			if (ft_le32(one->payload + i) == write->rkey) {
				*rkey_at = (uint8_t)i;
				return true;
			}
		}
	}
	return false;
}

/* Writes to a queue pair that went where the FIFO said. */
static unsigned count_told(const struct told *told, const struct ft_nccl_log *data,
			   struct ft_nccl_grid *grid)
{
	struct ft_nccl_logged logged;
	unsigned count = 0;

	for (uint32_t at = 0; ft_nccl_log_next(data, &at, &logged);) {
		if (ft_nccl_begins(logged.seen.opcode) &&
		    (told->any & bit_of(logged.seen.va)) != 0 &&
		    !ft_nccl_is_bare_end(&logged.seen) &&
		    was_told(told, &logged.seen, &grid->rkey_at))
			count++;
	}
	return count;
}

/* What the clear-to-sends say, if that can be read: how many writes went there; those of one queue pair do at least twice. */
static unsigned read_plainly(const struct ft_nccl_connections *connections,
			     const struct ft_nccl_stranger *stranger, struct ft_nccl_grid *grid)
{
	struct ft_nccl_stranger *other = NULL;
	struct told places;
	unsigned told = 0;

	list_told(stranger->log, &places);
	while (!grid->plain && places.count != 0 &&
	       (other = ft_nccl_stranger_between(&connections->strangers, stranger, other)) !=
		       NULL) {
		unsigned here;

		if (!ft_nccl_is_opposite(stranger, other))
			continue;
		here = count_told(&places, other->log, grid);
		grid->plain = here >= PLAIN;
		told += here;
	}
	return told;
}

bool ft_nccl_grid_of(struct ft_nccl_connections *connections, struct ft_nccl_stranger *stranger,
		     struct ft_nccl_grid *grid)
{
	unsigned told = 0;

	if (stranger->log->count < WRITES || stranger->log->count % 2 != 0 ||
	    !ft_nccl_grid_read(stranger->log, grid) ||
	    !ft_nccl_grid_find_devices(connections, stranger, grid))
		return false;
	if (grid->devices == 1) /* of several, keys stand in several places */
		told = read_plainly(connections, stranger, grid);
	grid->families = families_of(stranger->log, grid);
	if (grid->families == 0)
		return grid->plain && may_be_own_layout(stranger->log, grid);
	return grid->plain ||
	       (told == 0 && ft_nccl_replies_find(connections, grid, &grid->replies));
}

bool ft_nccl_plain_entry(const struct ft_nccl_followed *followed, const struct ft_nccl_write *write,
			 uint32_t index, struct ft_nccl_cts *entry)
{
	const uint32_t at = index * followed->model.fifo.entry_bytes;

	if (write->captured < at + followed->rkey_at + 4u)
		return false;
	*entry = (struct ft_nccl_cts){
		.addr = ft_le64(write->bytes + at),
		.size = ft_le32(write->bytes + at + DATA),
		.rkeys = { ft_le32(write->bytes + at + followed->rkey_at) },
		.has = FT_NCCL_CTS_SIZE,
		.rkey_count = 1,
	};
	return true;
}

void ft_nccl_plain_read(struct ft_nccl_moment *moment, const struct ft_nccl_write *write,
			struct ft_nccl_request *requests)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const uint32_t count = write->length / followed->model.fifo.entry_bytes;
	struct ft_nccl_cts entry;

	for (uint32_t i = 0; i < count && ft_nccl_plain_entry(followed, write, i, &entry); i++) {
		requests[i].va = entry.addr;
		requests[i].offered = entry.size;
		requests[i].has_offered = true;
		requests[i].rkeys[0] = entry.rkeys[0];
		requests[i].rkey_count = 1;
		ft_nccl_announce_key(moment->connections, moment->followed, 0, entry.rkeys[0]);
	}
}
