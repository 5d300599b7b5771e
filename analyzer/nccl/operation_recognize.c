#include "operation_chunks.h"
#include "operation_steps.h"

enum { SEEN_LEAST = 8 }; /* of so many messages all but one, at least */

/* Two connections between hosts may be of different trees, and begin at once, too. */
static const char *algorithm_of(const struct ft_nccl_chunks *look)
{
	const bool shown = look->part->ring->ranks * look->hops > 2 || look->slices == 2 ||
			   (!look->part->ring->of_hosts && ft_nccl_chunks_begin_at_once(look));

	return shown ? "RING" : NULL;
}

/* --- how many ranks there are --- */

/* What began before the capture may have any number of chunks left: others have to show how many ranks there are. */
static bool is_whole(const struct ft_nccl_chunks *look)
{
	const struct ft_nccl_circle *ring = look->part->ring;

	return ring->begun || ring->loop_ranks != 0;
}

/* All of it is loops, of this many ranks, as many in each host. */
static bool set_ranks(struct ft_nccl_chunks *look, size_t ranks)
{
	const struct ft_nccl_circle *ring = look->part->ring;

	if (ranks % ring->ranks != 0 || look->part->length / look->slices % look->tail != 0 ||
	    !is_whole(look) || (ring->loop_ranks != 0 && ranks != ring->loop_ranks))
		return false;
	look->hops = ranks / ring->ranks;
	return true;
}

static uint32_t ranks_of(const struct ft_nccl_chunks *look)
{
	return look->part->ring->ranks * (uint32_t)look->hops;
}

/*
 * Where some ranks send inside their hosts, what the members send does not add up to whole passes. But the first N chunks
 * that a rank sends in a loop are all of them, each once.
 */
static struct ft_nccl_stretch first_chunks(const struct ft_nccl_chunks *look, uint32_t member)
{
	const struct ft_nccl_circle *ring = look->part->ring;
	const size_t loop = look->tail * look->slices, own = ranks_of(look) * look->slices;
	struct ft_nccl_stretch sum =
		ft_nccl_stretch_of(ring->tracks[member], ring->at[member], own);

	for (size_t at = loop; at < look->part->length; at += loop) {
		const struct ft_nccl_stretch more =
			ft_nccl_stretch_of(ring->tracks[member], ring->at[member] + at, own);

		ft_nccl_stretch_add(&sum, &more);
	}
	return sum;
}

/* Of the first member of which all was seen; `seen` is less than it has to be: there is none. */
static struct ft_nccl_stretch first_chunks_of_any(const struct ft_nccl_chunks *look)
{
	const size_t loops = look->part->length / (look->tail * look->slices);
	struct ft_nccl_stretch sum = { 0 };

	for (uint32_t i = 0; i < look->part->ring->ranks; i++) {
		sum = first_chunks(look, i);
		if (sum.seen == loops * ranks_of(look) * look->slices && sum.sized)
			break;
	}
	return sum;
}

/* All of whom all was seen have the same. */
static bool same_first_chunks(const struct ft_nccl_chunks *look)
{
	const struct ft_nccl_stretch any = first_chunks_of_any(look);

	for (uint32_t i = 0; i < look->part->ring->ranks; i++) {
		const struct ft_nccl_stretch own = first_chunks(look, i);

		if (own.seen == any.seen && own.sized && own.bytes != any.bytes)
			return false;
	}
	return true;
}

/* --- what it is --- */

/* In loops: 2(N-1) chunks each. */
static bool is_looped_all_reduce(struct ft_nccl_chunks *look)
{
	return look->tail > 0 && look->tail % 2 == 0 && set_ranks(look, look->tail / 2 + 1) &&
	       ft_nccl_chunks_tail_follows(look) &&
	       (look->hops == 1 ? ft_nccl_chunks_are_sent_on(look) : same_first_chunks(look));
}

/* One loop could as well be of several ranks a host, whose messages follow sooner ones. */
static bool may_have_hops(const struct ft_nccl_chunks *look)
{
	const uint32_t members = look->part->ring->ranks;
	const size_t length = look->part->length;

	for (size_t hops = 2; 2 * (members * hops - 1) <= length; hops++) {
		const size_t chunks = 2 * (members * hops - 1);

		if (length % chunks == 0 &&
		    ft_nccl_chunks_follow(look, length, hops * (length / chunks)))
			return true;
	}
	return false;
}

/* Of chunks of other sizes than NCCL's, in one loop. */
static bool is_other_all_reduce(const struct ft_nccl_chunks *look)
{
	const uint32_t members = look->part->ring->ranks, shown = look->part->ring->loop_ranks;
	const size_t chunks = 2 * (size_t)(members - 1), length = look->part->length;

	if (members == 2 && look->part->sum.protocol == FT_NCCL_SIMPLE &&
	    ft_nccl_is_step(&look->part->sum) && !ft_nccl_chunks_are_answered(look))
		return false; /* PAT, whose members begin at once, takes such steps, too */
	return chunks > 0 && (shown == 0 || shown == members) && is_whole(look) &&
	       length % (chunks * look->slices) == 0 && look->part->undivided &&
	       !ft_nccl_may_be_sends(&look->part->sum, members) &&
	       ft_nccl_chunks_follow(look, length, length / chunks) && !may_have_hops(look);
}

/* An all-gather or a reduce-scatter: N-1 chunks a loop. */
static bool is_half(struct ft_nccl_chunks *look)
{
	return look->tail > 0 && set_ranks(look, look->tail + 1) &&
	       (ft_nccl_chunks_tail_follows(look) || look->hops == 1);
}

/* An immediate says another length than was written. */
static bool is_contradicted(const struct ft_nccl_chunks *look, uint32_t member, size_t i)
{
	const struct ft_nccl_track *track = look->part->ring->tracks[member];
	const struct ft_nccl_message *message = ft_nccl_chunks_message(look, member, i);

	return message->has_imm && track->connection->imm_content == FT_NCCL_IMM_LENGTH &&
	       !ft_nccl_message_is_sized(track, message);
}

/* Then what others sent does not tell the size. */
static bool is_any_contradicted(const struct ft_nccl_chunks *look)
{
	for (uint32_t i = 0; i < look->part->ring->ranks; i++)
		for (size_t j = 0; j < look->part->length; j++)
			if (ft_nccl_chunks_have(look, i, j) && is_contradicted(look, i, j))
				return true;
	return false;
}

/*
 * How many ranks loops show, unless it is two, and what they sent, which are not a ring's slices, may as well have gone up and
 * down a tree, which does not tell how many there are. Of hosts nobody knows which connections go up and down together.
 */
static uint32_t ranks_shown(const struct ft_nccl_chunks *look)
{
	const struct ft_nccl_circle *ring = look->part->ring;
	const uint32_t ranks = ranks_of(look);

	return ranks > 2 || look->slices == 2 || ring->loop_ranks == ranks ||
			       !(ring->of_hosts || ft_nccl_chunks_are_answered(look))
		       ? ranks
		       : 0;
}

/* Of what began before the capture more loops may have passed: its size is not told. */
static void tell_all_reduce(const struct ft_nccl_chunks *look, struct ft_nccl_collective *row)
{
	const bool looped = look->tail > 0;

	row->collective = "AllReduce";
	row->algorithm = algorithm_of(look);
	row->ranks = ranks_shown(look);
	if (looped && (look->hops > 1 || !look->part->sum.sized)) {
		const struct ft_nccl_stretch sum = first_chunks_of_any(look);

		if (look->part->ring->begun && !is_any_contradicted(look))
			ft_nccl_tell_bytes(row, &sum, 1, 1);
	} else if (look->part->ring->begun) {
		ft_nccl_tell_bytes(row, &look->part->sum, 2 * (ranks_of(look) - 1), 1);
	}
}

/* Where the last loop shows how long loops are, some may be missing; else nothing may. */
static bool is_seen_enough(const struct ft_nccl_chunks *look, bool loops)
{
	const uint64_t all = look->part->length * look->part->ring->ranks;
	const uint64_t seen = look->part->sum.seen;

	return loops && look->tail > 0 ? SEEN_LEAST * (all - seen) <= all : seen == all;
}

/* Lines between two hosts, one rank of each as far as they show: they may have gone up and down trees, each their own. */
static bool may_be_of_trees(const struct ft_nccl_chunks *look)
{
	const struct ft_nccl_circle *ring = look->part->ring;

	return ring->of_hosts && look->slices == 1 && ranks_of(look) == 2 && ring->loop_ranks != 2;
}

enum ft_nccl_ring_fit ft_nccl_circle_recognize(const struct ft_nccl_circle_part *part,
					       struct ft_nccl_collective *row)
{
	struct ft_nccl_chunks look = ft_nccl_chunks_of(part);
	const bool loops = !part->sum.differs && ft_nccl_chunks_find_loops(&look);

	if (part->sum.differs)
		return FT_NCCL_RING_FITS_NOTHING;
	if (!is_seen_enough(&look, loops))
		return FT_NCCL_RING_MAY_FIT;
	*row = ft_nccl_stretch_row(&part->sum);
	row->channels = 1;
	if (loops ? is_looped_all_reduce(&look) : is_other_all_reduce(&look)) {
		tell_all_reduce(&look, row);
		return may_be_of_trees(&look) ? FT_NCCL_RING_MAY_FIT : FT_NCCL_RING_FITS;
	}
	if (!loops || !part->same_bytes || (look.tail > 0 && !is_half(&look)))
		return FT_NCCL_RING_FITS_NOTHING;
	if (look.tail > 0 && !part->ring->begun)
		return FT_NCCL_RING_MAY_FIT; /* as much may be left of an all-reduce that began before */
	row->algorithm = algorithm_of(&look);
	if (look.tail > 0) {
		row->ranks = ranks_shown(&look);
		if (!is_any_contradicted(&look))
			ft_nccl_tell_bytes(row, &part->any, ranks_of(&look) - 1, 1);
	}
	return FT_NCCL_RING_FITS;
}
