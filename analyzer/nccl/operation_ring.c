#include "operation_ring.h"

#include "operation_steps.h"

enum { BORDERS_TRIED = 16 };

static size_t left(const struct ft_nccl_circle *ring, uint32_t member)
{
	return ring->tracks[member]->count - ring->at[member];
}

static size_t least_left(const struct ft_nccl_circle *ring)
{
	size_t least = left(ring, 0);

	for (uint32_t i = 1; i < ring->ranks; i++)
		if (left(ring, i) < least)
			least = left(ring, i);
	return least;
}

/* Whether an operation can end here: for none of them it does not, and it is shown for most. */
enum end { NO_END, WEAK_END, END };

static enum end end_of(const struct ft_nccl_circle *ring, size_t length)
{
	uint32_t shown = 0;

	for (uint32_t i = 0; i < ring->ranks; i++) {
		enum ft_nccl_border border =
			ft_nccl_track_border(ring->tracks[i], ring->at[i] + length);

		if (border == FT_NCCL_INSIDE)
			return NO_END;
		shown += border == FT_NCCL_BORDER ? 1 : 0;
	}
	return shown > ring->ranks / 2 ? END : WEAK_END;
}

static struct ft_nccl_stretch sum_of(const struct ft_nccl_circle *ring, size_t length)
{
	struct ft_nccl_stretch sum = ft_nccl_stretch_of(ring->tracks[0], ring->at[0], length);

	for (uint32_t i = 1; i < ring->ranks; i++) {
		struct ft_nccl_stretch more =
			ft_nccl_stretch_of(ring->tracks[i], ring->at[i], length);

		ft_nccl_stretch_add(&sum, &more);
	}
	return sum;
}

static void sum_up(struct ft_nccl_circle_part *part)
{
	const struct ft_nccl_circle *ring = part->ring;

	part->same_bytes = true;
	for (uint32_t i = 0; i < ring->ranks; i++) {
		const struct ft_nccl_stretch own =
			ft_nccl_stretch_of(ring->tracks[i], ring->at[i], part->length);

		if (i == 0)
			part->sum = part->any = own;
		else
			ft_nccl_stretch_add(&part->sum, &own);
		if (!part->any.sized)
			part->any = own;
		part->same_bytes &= !own.sized || own.bytes == part->any.bytes;
	}
}

static enum ft_nccl_ring_fit recognize(const struct ft_nccl_circle_part *part,
				       struct ft_nccl_collective *row)
{
	if (part->ring->tree == NULL)
		return ft_nccl_circle_recognize(part, row);
	return ft_nccl_circle_climbs(part, row) ? FT_NCCL_RING_FITS : FT_NCCL_RING_FITS_NOTHING;
}

/*
 * Where it is not shown that an operation ends, what fits may be a part of one. Not so an all-reduce of as many ranks as others
 * show: only two all-gathers are as long, and where the first one ended was looked at before.
 */
static bool is_told(const struct ft_nccl_circle *ring, enum end end,
		    const struct ft_nccl_collective *row)
{
	return end == END || (ring->loop_ranks != 0 && row->collective != NULL && row->ranks != 0);
}

/* Nobody knows which of the next messages of the one and of the other are of one step. */
static bool is_in_doubt(const struct ft_nccl_circle *ring, size_t length)
{
	for (uint32_t i = 0; i < ring->ranks; i++)
		if (ring->at[i] + length > ring->tracks[i]->certain)
			return true;
	return false;
}

/*
 * The shortest part that ends at a border and is something a ring does; a border may be the haste of senders, so it may
 * have some inside, unless its beginning may be in the midst of an operation. 0: none, and *shortest is the part up to the
 * first border, 0 if there is no border either.
 */
static size_t find(const struct ft_nccl_circle *ring, struct ft_nccl_collective *row,
		   size_t *shortest)
{
	const size_t most = least_left(ring);
	enum ft_nccl_ring_fit fit = FT_NCCL_RING_FITS_NOTHING;
	unsigned tried = 0;
	size_t length;

	*shortest = 0;
	for (length = 1; length <= most && tried < BORDERS_TRIED; length++) {
		struct ft_nccl_circle_part part = { .ring = ring,
						    .length = length,
						    .undivided = tried == 0 };
		const enum end end = end_of(ring, length);

		if (end == NO_END)
			continue;
		tried++;
		if (end == END && *shortest == 0)
			*shortest = length;
		sum_up(&part);
		fit = is_in_doubt(ring, length) ? FT_NCCL_RING_FITS_NOTHING : recognize(&part, row);
		if (fit == FT_NCCL_RING_FITS && is_told(ring, end, row))
			return length;
		if (fit != FT_NCCL_RING_FITS_NOTHING || !ring->begun ||
		    (ring->tree == NULL && !ft_nccl_has_ring_steps(&part.sum)))
			break;
	}
	while (*shortest == 0 && ++length <= most)
		*shortest = end_of(ring, length) == END ? length : 0;
	return 0;
}

static void advance(struct ft_nccl_circle *ring, size_t length)
{
	for (uint32_t i = 0; i < ring->ranks; i++)
		ring->at[i] += length;
}

static void add_other(struct ft_nccl_operations *operations, const struct ft_nccl_stretch *sum,
		      bool complete)
{
	struct ft_nccl_collective row = ft_nccl_stretch_row(sum);

	row.channels = 1;
	row.complete &= complete;
	if (ft_nccl_are_sends(sum))
		row.collective = "SendRecv";
	ft_nccl_operations_add(operations, &row);
}

bool ft_nccl_circle_is_idle(const struct ft_nccl_circle *ring)
{
	for (uint32_t i = 0; i < ring->ranks; i++) {
		const struct ft_nccl_track *track = ring->tracks[i];
		const size_t at = ring->at[i];

		if (at >= track->count || track->messages[at] == NULL ||
		    track->messages[at]->cts_frame == 0 || (at == 0 && track->lacks_numbers) ||
		    (at > 0 && ft_nccl_track_border(track, at) != FT_NCCL_BORDER))
			return false;
	}
	return true;
}

/*
 * Where the capture begins in the middle of a job, members have the same number of messages behind them: what is before
 * the first number that all of them have is the end of an operation.
 */
struct ft_nccl_stretch ft_nccl_circle_begin(struct ft_nccl_circle *ring)
{
	struct ft_nccl_stretch sum = { .whole = false };
	uint64_t latest = 0;
	bool numbered = true;

	for (uint32_t i = 0; i < ring->ranks; i++) {
		ring->at[i] = 0;
		numbered &= ring->tracks[i]->numbered;
		if (ring->tracks[i]->first_k > latest)
			latest = ring->tracks[i]->first_k;
	}
	for (uint32_t i = 0; i < ring->ranks && numbered; i++) {
		const struct ft_nccl_track *track = ring->tracks[i];
		const uint64_t skipped = latest - track->first_k;
		struct ft_nccl_stretch more;

		ring->at[i] = skipped < track->count ? (size_t)skipped : track->count;
		more = ft_nccl_stretch_of(track, 0, ring->at[i]);
		ft_nccl_stretch_add(&sum, &more);
	}
	ring->begun = numbered && (latest == 0 || ft_nccl_circle_is_idle(ring));
	return sum;
}

void ft_nccl_circle_end(struct ft_nccl_operations *operations, const struct ft_nccl_circle *ring)
{
	struct ft_nccl_stretch sum = { .whole = false };

	for (uint32_t i = 0; i < ring->ranks; i++) {
		struct ft_nccl_stretch more =
			ft_nccl_stretch_of(ring->tracks[i], ring->at[i], left(ring, i));

		ft_nccl_stretch_add(&sum, &more);
	}
	add_other(operations, &sum, false);
}

static bool may_have_chains(const struct ft_nccl_circle *ring)
{
	return ring->tree == NULL && !ring->has_others;
}

enum ft_nccl_step ft_nccl_circle_take(struct ft_nccl_circle *ring, struct ft_nccl_collective *row,
				      struct ft_nccl_stretch *sum)
{
	size_t shortest, length = find(ring, row, &shortest);
	const bool named = length > 0 || (may_have_chains(ring) && !is_in_doubt(ring, 1) &&
					  ft_nccl_circle_chain(ring, row));

	if (!named && shortest == 0)
		return FT_NCCL_NO_MORE;
	if (!named) {
		*sum = sum_of(ring, shortest);
		length = shortest;
	}
	advance(ring, length);
	ring->begun = named || ft_nccl_circle_is_idle(ring);
	return named ? FT_NCCL_NAMED : FT_NCCL_OTHER;
}

static void show(struct ft_nccl_circle *ring, uint32_t ranks)
{
	if (ranks != 0)
		ring->shown = ring->shown == 0 || ring->shown == ranks ? ranks : FT_NCCL_NONE;
}

bool ft_nccl_circle_step(struct ft_nccl_operations *operations, struct ft_nccl_circle *ring)
{
	struct ft_nccl_collective row;
	struct ft_nccl_stretch sum;
	const enum ft_nccl_step step = ft_nccl_circle_take(ring, &row, &sum);

	if (step == FT_NCCL_NAMED) {
		ft_nccl_operations_add(operations, &row);
		show(ring, row.ranks);
	}
	if (step == FT_NCCL_OTHER)
		add_other(operations, &sum, true);
	return step != FT_NCCL_NO_MORE;
}

void ft_nccl_circle_operations(struct ft_nccl_operations *operations, struct ft_nccl_circle *ring)
{
	const struct ft_nccl_stretch skipped = ft_nccl_circle_begin(ring);

	add_other(operations, &skipped, false);
	while (ft_nccl_circle_step(operations, ring))
		;
	ft_nccl_circle_end(operations, ring);
}
