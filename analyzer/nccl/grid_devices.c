#include "grid.h"

#include "fifo.h"

enum {
	WRITES = 2,   /* of a further device, at least */
	ROUNDS = 256, /* a whole number of times round any FIFO */
};

/* The first write of a queue pair. */
static struct ft_nccl_seen first_of(const struct ft_nccl_stranger *stranger)
{
	struct ft_nccl_logged logged = { 0 };
	uint32_t at = 0;

	ft_nccl_log_next(stranger->log, &at, &logged);
	return logged.seen;
}

/* So many devices behind the stranger, or as negative before; 0: its writes go to no other slots of the same FIFO. */
static int places_behind(const struct ft_nccl_seen *one, const struct ft_nccl_stranger *other,
			 const struct ft_nccl_grid *grid)
{
	const struct ft_nccl_seen two = first_of(other);
	const int devices = (int)grid->devices;
	struct ft_nccl_grid its;

	if (other->log->count < WRITES || !ft_nccl_grid_read(other->log, &its) ||
	    its.entry_bytes != grid->entry_bytes || its.slot_bytes != grid->slot_bytes ||
	    its.devices != grid->devices || its.rkeys[0] == grid->rkeys[0])
		return 0;
	for (int by = 1 - devices; by < devices; by++) {
		uint64_t at_one = (uint64_t)(one->psn + ROUNDS) * grid->devices;
		uint64_t at_two = (uint64_t)(two.psn + ROUNDS) * grid->devices;

		if (by != 0 && ft_nccl_fifo_agrees(grid->slot_bytes, one->va, at_one, two.va,
						   at_two + (uint64_t)(int64_t)by))
			return by;
	}
	return 0;
}

/* Those around the stranger: at[FT_NCCL_DEVICES_MAX] is itself. False: two are in one place. */
static bool look_around(const struct ft_nccl_connections *connections,
			struct ft_nccl_stranger *stranger, const struct ft_nccl_grid *grid,
			struct ft_nccl_stranger *at[2 * FT_NCCL_DEVICES_MAX])
{
	const struct ft_nccl_seen first = first_of(stranger);
	struct ft_nccl_stranger *other;
	uint32_t next = 0;

	at[FT_NCCL_DEVICES_MAX] = stranger;
	while ((other = ft_nccl_stranger_logged(&connections->strangers, &next)) != NULL) {
		int by;

		if (other == stranger || other->by_lid != stranger->by_lid ||
		    other->vni != stranger->vni)
			continue;
		by = places_behind(&first, other, grid);
		if (by != 0 && at[FT_NCCL_DEVICES_MAX + by] != NULL)
			return false;
		if (by != 0)
			at[FT_NCCL_DEVICES_MAX + by] = other;
	}
	return true;
}

bool ft_nccl_grid_find_devices(const struct ft_nccl_connections *connections,
			       struct ft_nccl_stranger *stranger, struct ft_nccl_grid *grid)
{
	struct ft_nccl_stranger *at[2 * FT_NCCL_DEVICES_MAX] = { NULL };
	unsigned from = 0;

	grid->fifos[0] = stranger;
	if (grid->devices == 1)
		return true;
	if (!look_around(connections, stranger, grid, at))
		return false;
	while (at[from] == NULL)
		from++;
	for (unsigned i = 0; i < grid->devices; i++) {
		struct ft_nccl_seen first;

		if (from + i >= 2 * FT_NCCL_DEVICES_MAX || at[from + i] == NULL)
			return false;
		grid->fifos[i] = at[from + i];
		first = first_of(at[from + i]);
		grid->rkeys[i] = first.rkey;
		if (first.frame < grid->frame) {
			grid->frame = first.frame;
			grid->ts_ns = first.ts_ns;
		}
	}
	return from + grid->devices > FT_NCCL_DEVICES_MAX;
}
