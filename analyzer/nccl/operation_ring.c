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

/* An operation can end here for all of them; for one at least it is shown. */
static bool at_border(const struct ft_nccl_circle *ring, size_t length)
{
	bool shown = false;

	for (uint32_t i = 0; i < ring->ranks; i++) {
		enum ft_nccl_border border =
			ft_nccl_track_border(ring->tracks[i], ring->at[i] + length);

		if (border == FT_NCCL_INSIDE)
			return false;
		shown |= border == FT_NCCL_BORDER;
	}
	return shown;
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

static bool recognize(const struct ft_nccl_circle_part *part, struct ft_nccl_collective *row)
{
	return part->ring->tree == NULL ? ft_nccl_circle_recognize(part, row)
					: ft_nccl_circle_climbs(part, row);
}

/*
 * The shortest part that ends at a border and is something a ring does; a border may be the haste of senders, so it may
 * have some inside. 0: none, and *shortest is the part up to the first border, 0 if there is no border either.
 */
static size_t find(const struct ft_nccl_circle *ring, struct ft_nccl_collective *row,
		   size_t *shortest)
{
	const size_t most = least_left(ring);
	unsigned tried = 0;

	*shortest = 0;
	for (size_t length = 1; length <= most && tried < BORDERS_TRIED; length++) {
		struct ft_nccl_circle_part part = { .ring = ring,
						    .length = length,
						    .undivided = tried == 0 };

		if (!at_border(ring, length))
			continue;
		if (tried++ == 0)
			*shortest = length;
		part.sum = sum_of(ring, length);
		if (recognize(&part, row))
			return length;
		if (ring->tree == NULL && !ft_nccl_has_ring_steps(&part.sum))
			break;
	}
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

/* Nothing was under way there: all was asked for in the capture, or nothing is before. */
static bool is_idle(const struct ft_nccl_circle *ring)
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
 * the first number that all of them have is the end of an operation. Returns that.
 */
static struct ft_nccl_stretch begin(struct ft_nccl_circle *ring)
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
	ring->begun = numbered && (latest == 0 || is_idle(ring));
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

enum step { NO_MORE, NAMED, OTHER };

/* Steps over the next operation; of one with a name *row is filled, of another *sum. */
static enum step take(struct ft_nccl_circle *ring, struct ft_nccl_collective *row,
		      struct ft_nccl_stretch *sum)
{
	size_t shortest, length = find(ring, row, &shortest);
	const bool named = length > 0 || (may_have_chains(ring) && ft_nccl_circle_chain(ring, row));

	if (!named && shortest == 0)
		return NO_MORE;
	if (!named) {
		*sum = sum_of(ring, shortest);
		length = shortest;
	}
	advance(ring, length);
	ring->begun = named || is_idle(ring);
	return named ? NAMED : OTHER;
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
	const enum step step = take(ring, &row, &sum);

	if (step == NAMED) {
		ft_nccl_operations_add(operations, &row);
		show(ring, row.ranks);
	}
	if (step == OTHER)
		add_other(operations, &sum, true);
	return step != NO_MORE;
}

/* How many operations show a number of ranks. */
struct vote {
	uint32_t ranks;
	size_t count;
};

enum { VOTES = 8 };

static void count_vote(struct vote *votes, uint32_t ranks)
{
	size_t i = 0;

	while (i < VOTES && votes[i].count > 0 && votes[i].ranks != ranks)
		i++;
	if (i < VOTES) {
		votes[i].ranks = ranks;
		votes[i].count++;
	}
}

static uint32_t most_votes(const struct vote *votes)
{
	struct vote most = { 0 };
	size_t second = 0;

	for (size_t i = 0; i < VOTES; i++) {
		if (votes[i].count > most.count) {
			second = most.count;
			most = votes[i];
		} else if (votes[i].count > second) {
			second = votes[i].count;
		}
	}
	return most.count > 0 && most.count == second ? FT_NCCL_NONE : most.ranks;
}

/* As far as they are known, ranks go up all around but once. */
static bool is_in_order(const struct ft_nccl_circle *ring)
{
	unsigned descents = 0;

	for (uint32_t i = 0; i < ring->ranks; i++) {
		const struct ft_nccl_party *one = &ring->tracks[i]->connection->sender;
		const struct ft_nccl_party *next =
			&ring->tracks[(i + 1) % ring->ranks]->connection->sender;

		descents += one->has_rank && next->has_rank && next->rank < one->rank ? 1 : 0;
	}
	return descents <= 1;
}

/* More passed than a message or two of each. */
static bool is_busy(const struct ft_nccl_circle *ring)
{
	size_t messages = 0;

	for (uint32_t i = 0; i < ring->ranks; i++)
		messages += ring->tracks[i]->count;
	return messages > 2 * (size_t)ring->ranks;
}

bool ft_nccl_circle_ask(struct ft_nccl_circle *ring)
{
	struct vote votes[VOTES] = { { 0 } };
	const struct ft_nccl_doubt *doubt = ring->doubt;
	struct ft_nccl_collective row;
	struct ft_nccl_stretch sum;
	size_t loops = 0, doubts;
	enum step step;
	bool in_order;

	begin(ring);
	while ((step = take(ring, &row, &sum)) != NO_MORE) {
		if (step != NAMED || row.ranks == 0)
			continue;
		count_vote(votes, row.ranks);
		loops++;
	}
	ring->doubt = NULL;
	ring->loop_ranks = most_votes(votes);
	in_order = is_in_order(ring);
	doubts = doubt->of_several + (in_order ? 0 : doubt->of_one);
	return doubts == 0 ? in_order || loops > 0 || !is_busy(ring) : doubts < loops;
}

void ft_nccl_circle_operations(struct ft_nccl_operations *operations, struct ft_nccl_circle *ring)
{
	const struct ft_nccl_stretch skipped = begin(ring);

	add_other(operations, &skipped, false);
	while (ft_nccl_circle_step(operations, ring))
		;
	ft_nccl_circle_end(operations, ring);
}
