#include "totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <engine/no_memory.h>
#include <flow/hash.h>
#include <partition/declared.h>

enum { FIRST_SLOTS = 256, SEEN_LIMIT = 1 << 20 };

int ft_totals_init(struct ft_totals *totals, uint32_t tenants)
{
	*totals = (struct ft_totals){
		.slot_mask = FIRST_SLOTS - 1,
		.seen_mask = FIRST_SLOTS - 1,
	};
	totals->slots = calloc(FIRST_SLOTS, sizeof *totals->slots);
	totals->seen = calloc(FIRST_SLOTS, sizeof *totals->seen);
	totals->pkeys = calloc(FT_PKEYS, sizeof *totals->pkeys);
	totals->seen_by_tenant = calloc(tenants + 1, sizeof *totals->seen_by_tenant);
	if (totals->slots != NULL && totals->seen != NULL && totals->pkeys != NULL &&
	    totals->seen_by_tenant != NULL)
		return 0;
	ft_totals_free(totals);
	return -ENOMEM;
}

void ft_totals_free(struct ft_totals *totals)
{
	for (uint32_t i = 0; i < totals->cell_count; i++)
		free(totals->cells[i].exceptions);
	free(totals->cells);
	free(totals->slots);
	free(totals->pkeys);
	free(totals->seen);
	free(totals->seen_by_tenant);
	*totals = (struct ft_totals){ 0 };
}

int ft_totals_grow(struct ft_totals *totals, uint32_t before, uint32_t tenants)
{
	uint32_t *larger = reallocarray(totals->seen_by_tenant, tenants + 1, sizeof *larger);

	if (larger == NULL)
		return -ENOMEM;
	totals->seen_by_tenant = larger;
	for (uint32_t i = before; i < tenants; i++)
		larger[i] = 0;
	return 0;
}

static void *grown(void *array, size_t count, size_t size)
{
	void *larger = reallocarray(array, count, size);

	if (larger == NULL)
		ft_no_memory();
	return larger;
}

static uint32_t home_of(uint32_t from, uint32_t to, uint32_t mask)
{
	return (uint32_t)(ft_mix(from + 0x9e3779b97f4a7c15u, to + 0xa0761d6478bd642fu)) & mask;
}

static uint32_t *slot_of(const struct ft_totals *totals, uint32_t from, uint32_t to)
{
	uint32_t at = home_of(from, to, totals->slot_mask);

	for (; totals->slots[at] != 0; at = (at + 1) & totals->slot_mask) {
		const struct ft_cell *cell = &totals->cells[totals->slots[at] - 1];

		if (cell->from == from && cell->to == to)
			break;
	}
	return &totals->slots[at];
}

static void double_slots(struct ft_totals *totals)
{
	uint32_t slots = 2 * (totals->slot_mask + 1);

	totals->slots = grown(totals->slots, slots, sizeof *totals->slots);
	memset(totals->slots, 0, slots * sizeof *totals->slots);
	totals->slot_mask = slots - 1;
	for (uint32_t i = 0; i < totals->cell_count; i++)
		*slot_of(totals, totals->cells[i].from, totals->cells[i].to) = i + 1;
}

uint32_t ft_totals_cell(struct ft_totals *totals, uint32_t from, uint32_t to)
{
	uint32_t *slot = slot_of(totals, from, to);

	if (*slot != 0)
		return *slot - 1;
	if (totals->cell_count == totals->cell_room) {
		totals->cell_room = totals->cell_room == 0 ? 64 : 2 * totals->cell_room;
		totals->cells = grown(totals->cells, totals->cell_room, sizeof *totals->cells);
	}
	totals->cells[totals->cell_count++] = (struct ft_cell){ .from = from, .to = to };
	*slot = totals->cell_count;
	if (2 * totals->cell_count > totals->slot_mask)
		double_slots(totals);
	return totals->cell_count - 1;
}

struct ft_cell ft_totals_sum(const struct ft_totals *totals)
{
	struct ft_cell sum = { .from = FT_NONE, .to = FT_NONE };

	for (uint32_t i = 0; i < totals->cell_count; i++) {
		sum.packets += totals->cells[i].packets;
		sum.bytes += totals->cells[i].bytes;
		sum.judged += totals->cells[i].judged;
	}
	return sum;
}

void ft_totals_except(struct ft_totals *totals, uint32_t index, uint32_t exception)
{
	struct ft_cell *cell = &totals->cells[index];
	uint32_t at = 0;

	while (at < cell->exception_count && cell->exceptions[at] < exception)
		at++;
	if (at < cell->exception_count && cell->exceptions[at] == exception)
		return;
	cell->exceptions = grown(cell->exceptions, cell->exception_count + 1, sizeof exception);
	memmove(&cell->exceptions[at + 1], &cell->exceptions[at],
		(cell->exception_count - at) * sizeof exception);
	cell->exceptions[at] = exception;
	cell->exception_count++;
}

/* True if it was not there yet. */
static bool insert(struct ft_seen_address *set, uint32_t mask, struct ft_seen_address seen)
{
	uint32_t at = (uint32_t)seen.digest & mask;

	for (; set[at].digest != 0; at = (at + 1) & mask)
		if (set[at].digest == seen.digest)
			return false;
	set[at] = seen;
	return true;
}

static void double_seen(struct ft_totals *totals)
{
	uint32_t mask = 2 * totals->seen_mask + 1;
	struct ft_seen_address *larger = calloc((size_t)mask + 1, sizeof *larger);

	if (larger == NULL)
		ft_no_memory();
	for (uint32_t i = 0; i <= totals->seen_mask; i++)
		if (totals->seen[i].digest != 0)
			insert(larger, mask, totals->seen[i]);
	free(totals->seen);
	totals->seen = larger;
	totals->seen_mask = mask;
}

static void see(struct ft_totals *totals, struct ft_seen_address seen)
{
	if (totals->seen_count == SEEN_LIMIT || !insert(totals->seen, totals->seen_mask, seen))
		return;
	totals->seen_count++;
	totals->seen_by_tenant[seen.tenant]++;
	if (2 * totals->seen_count > totals->seen_mask)
		double_seen(totals);
}

void ft_totals_see(struct ft_totals *totals, uint32_t tenant, uint64_t digest)
{
	if (tenant == FT_NONE)
		return;
	digest = ft_mix(digest ^ 0xa0761d6478bd642fu, tenant + 0x9e3779b97f4a7c15u) | 1;
	see(totals, (struct ft_seen_address){ digest, tenant });
}

uint32_t ft_totals_next_pkey(const struct ft_totals *totals, uint32_t from)
{
	uint32_t pkey = from;

	while (pkey < FT_PKEYS) {
		if (!totals->pkey_groups[pkey >> 8])
			pkey = (pkey | 255) + 1;
		else if (totals->pkeys[pkey].packets == 0)
			pkey++;
		else
			break;
	}
	return pkey;
}

static void merge_cell(struct ft_totals *into, const struct ft_cell *from)
{
	uint32_t index = ft_totals_cell(into, from->from, from->to);
	struct ft_cell *cell = &into->cells[index];

	cell->packets += from->packets;
	cell->bytes += from->bytes;
	cell->violating += from->violating;
	cell->judged += from->judged;
	cell->undecided += from->undecided;
	cell->ce_marked += from->ce_marked;
	cell->cnps += from->cnps;
	cell->rnr_naks += from->rnr_naks;
	cell->retransmitted += from->retransmitted;
	for (uint32_t i = 0; i < from->exception_count; i++)
		ft_totals_except(into, index, from->exceptions[i]);
}

void ft_totals_merge(struct ft_totals *into, const struct ft_totals *from)
{
	for (uint32_t i = 0; i < from->cell_count; i++)
		merge_cell(into, &from->cells[i]);
	for (uint32_t pkey = ft_totals_next_pkey(from, 0); pkey < FT_PKEYS;
	     pkey = ft_totals_next_pkey(from, pkey + 1)) {
		struct ft_pkey_total *sum = ft_totals_pkey(into, (uint16_t)pkey);

		sum->packets += from->pkeys[pkey].packets;
		sum->bytes += from->pkeys[pkey].bytes;
	}
	for (uint32_t i = 0; i <= from->seen_mask; i++)
		if (from->seen[i].digest != 0)
			see(into, from->seen[i]);
}

static void move_exceptions(struct ft_totals *totals, uint32_t index, const uint32_t *to)
{
	struct ft_cell *cell = &totals->cells[index];
	uint32_t *before = cell->exceptions, count = cell->exception_count;

	cell->exceptions = NULL;
	cell->exception_count = 0;
	for (uint32_t i = 0; i < count; i++)
		ft_totals_except(totals, index, to[before[i]]);
	free(before);
}

void ft_totals_move_exceptions(struct ft_totals *totals, const uint32_t *to)
{
	for (uint32_t i = 0; i < totals->cell_count; i++)
		move_exceptions(totals, i, to);
}
