#include "operation_ring.h"

#include "operation_steps.h"

/* What a part of a ring's messages is made of. */
struct look {
	const struct ft_nccl_circle_part *part;
	uint32_t slices;     /* messages of a chunk */
	uint64_t full_bytes; /* of a full chunk; 0: not one of NCCL's own sizes */
	size_t tail;         /* chunks of the last loop; 0: all are full */
};

static const struct ft_nccl_message *message_at(const struct look *look, uint32_t member, size_t i)
{
	const struct ft_nccl_circle *ring = look->part->ring;

	return ring->tracks[member]->messages[ring->at[member] + i];
}

/* --- the chunks --- */

static struct look look_at(const struct ft_nccl_circle_part *part)
{
	const struct ft_nccl_stretch *sum = &part->sum;
	struct look look = { part, 1, 0, 0 };

	if (sum->protocol == FT_NCCL_LL || sum->protocol == FT_NCCL_LL128) {
		look.full_bytes = ft_nccl_step_of_lines(sum);
	} else if (sum->offered == FT_NCCL_SLICE_OFFERED && part->length % 2 == 0) {
		look.slices = 2;
		look.full_bytes = FT_NCCL_CHUNK;
	}
	return look;
}

static uint64_t chunk_bytes(const struct look *look, uint32_t member, size_t chunk)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < look->slices; i++)
		bytes += ft_nccl_message_bytes(message_at(look, member, chunk * look->slices + i));
	return bytes;
}

/* Full chunks first, then those of the last loop; false if full ones follow others. */
static bool tail_of(const struct look *look, uint32_t member, size_t *tail)
{
	const size_t chunks = look->part->length / look->slices;
	size_t full = 0;

	while (full < chunks && chunk_bytes(look, member, full) == look->full_bytes)
		full++;
	for (size_t i = full; i < chunks; i++)
		if (chunk_bytes(look, member, i) >= look->full_bytes)
			return false;
	*tail = chunks - full;
	return true;
}

/* All members have as many chunks that are not full. */
static bool has_loops(struct look *look)
{
	size_t tail;

	if (look->full_bytes == 0)
		return false;
	for (uint32_t i = 0; i < look->part->ring->ranks; i++) {
		if (!tail_of(look, i, &tail) || (i > 0 && tail != look->tail))
			return false;
		look->tail = tail;
	}
	return true;
}

/* --- who waits for whom --- */

/*
 * In the last `count` messages each member sends on, or adds to, what it was sent: a message follows the one `lag`
 * earlier of the member before. The first chunk is its own.
 */
static bool follows(const struct look *look, size_t count, size_t lag)
{
	const uint32_t ranks = look->part->ring->ranks;
	const size_t length = look->part->length;

	for (uint32_t i = 0; i < ranks; i++)
		for (size_t j = length - count + lag; j < length; j++)
			if (message_at(look, i, j)->first_frame <=
			    message_at(look, (i + ranks - 1) % ranks, j - lag)->last_frame)
				return false;
	return true;
}

/* Of two members: a tree's way down is after its way up, a ring's members begin at once. */
static bool begins_at_once(const struct look *look)
{
	const struct ft_nccl_message *one = message_at(look, 0, 0);
	const struct ft_nccl_message *other = message_at(look, 1, 0);

	return one->first_frame < other->last_frame && other->first_frame < one->last_frame;
}

static const char *algorithm_of(const struct look *look)
{
	const bool shown = look->part->ring->ranks > 2 || look->slices == 2 || begins_at_once(look);

	return shown ? "RING" : NULL;
}

/* --- what it is --- */

static bool is_all_reduce(const struct look *look, bool loops)
{
	const size_t chunks = 2 * (size_t)(look->part->ring->ranks - 1);
	const size_t length = look->part->length;

	if (chunks == 0 || length / look->slices % chunks != 0)
		return false;
	if (loops)
		return look->tail == chunks && follows(look, chunks * look->slices, look->slices);
	return look->part->undivided &&
	       !ft_nccl_may_be_sends(&look->part->sum, look->part->ring->ranks) &&
	       follows(look, length, length / chunks);
}

static bool same_bytes(const struct look *look)
{
	const struct ft_nccl_circle *ring = look->part->ring;

	for (uint32_t i = 0; i < ring->ranks; i++)
		if (ft_nccl_stretch_of(ring->tracks[i], ring->at[i], look->part->length).bytes *
			    ring->ranks !=
		    look->part->sum.bytes)
			return false;
	return true;
}

bool ft_nccl_circle_recognize(const struct ft_nccl_circle_part *part,
			      struct ft_nccl_collective *row)
{
	const uint64_t ranks = part->ring->ranks;
	struct look look = look_at(part);
	bool loops;

	if (part->sum.seen != part->length * ranks || part->sum.differs)
		return false;
	*row = ft_nccl_stretch_row(&part->sum);
	row->channels = 1;
	loops = has_loops(&look);
	if (is_all_reduce(&look, loops)) {
		row->collective = "AllReduce";
		row->algorithm = algorithm_of(&look);
		ft_nccl_tell_bytes(row, &part->sum, 2 * (ranks - 1), 1);
		return true;
	}
	if (!loops || (look.tail != 0 && look.tail != ranks - 1) || !same_bytes(&look))
		return false;
	row->algorithm = algorithm_of(&look);
	if (look.tail > 0 && part->length / look.slices % (ranks - 1) == 0)
		ft_nccl_tell_bytes(row, &part->sum, ranks - 1, ranks);
	return true;
}
