#include "operation_pat_look.h"

#include "group_pat.h"
#include "operation_steps.h"

enum { CHUNK_LEAST = 65536 }; /* from there on twice as long, up to a step */

/* --- which messages --- */

size_t ft_nccl_pat_place(const struct ft_nccl_pat_tracks *pat, uint32_t distance)
{
	size_t place = 0;

	for (size_t i = 0; i < pat->distance_count; i++) {
		if (pat->distances[i].channels <= pat->channel)
			continue;
		if (pat->distances[i].ranks == distance)
			return place;
		place++;
	}
	return SIZE_MAX;
}

static bool find_places(struct ft_nccl_pat_look *look)
{
	look->dimensions = ft_nccl_pat_dimensions(look->ranks);
	for (uint32_t i = 0; i < look->dimensions; i++) {
		look->place[i] = ft_nccl_pat_place(
			look->pat, ft_nccl_pat_distance(look->gathers, i, look->ranks));
		if (look->place[i] == SIZE_MAX)
			return false;
	}
	return true;
}

/* Of a loop. */
static size_t blocks_of(const struct ft_nccl_pat_look *look, uint32_t dimension)
{
	return look->padded ? (size_t)1 << (look->dimensions - 1 - dimension)
			    : ft_nccl_pat_odd(dimension, look->ranks - 1);
}

/* So many messages of one member that they have all blocks; 0: there are none. */
static size_t length_of(const struct ft_nccl_pat_look *look, uint32_t dimension)
{
	const uint64_t wanted = blocks_of(look, dimension) * ft_nccl_pat_unit(look, 0);
	uint64_t sum = 0;
	size_t length = 0;

	if (look->loops > 1)
		return blocks_of(look, dimension) * look->loops;
	while (sum < wanted) {
		const uint64_t bytes = ft_nccl_pat_bytes(look, dimension, 0, length++);

		if (bytes == 0)
			return 0;
		sum += bytes;
	}
	return sum == wanted ? length : 0;
}

/* A member's messages are those of every other, of whole blocks. */
static bool is_alike(const struct ft_nccl_pat_look *look, uint32_t dimension, uint32_t rank)
{
	const uint64_t first = ft_nccl_pat_unit(look, 0);

	if (first == 0)
		return false;
	for (size_t i = 0; i < look->length[dimension]; i++) {
		const uint64_t bytes = ft_nccl_pat_bytes(look, dimension, rank, i);

		if (look->loops > 1
			    ? bytes != ft_nccl_pat_unit(look, i / blocks_of(look, dimension))
			    : bytes != ft_nccl_pat_bytes(look, dimension, 0, i) ||
				      bytes % first != 0)
			return false;
	}
	return true;
}

static bool are_alike(struct ft_nccl_pat_look *look)
{
	for (uint32_t i = 0; i < look->dimensions; i++) {
		look->length[i] = length_of(look, i);
		if (look->length[i] == 0)
			return false;
		for (uint32_t rank = 0; rank < look->ranks; rank++)
			if (!is_alike(look, i, rank))
				return false;
	}
	return true;
}

static bool is_chunk(uint64_t bytes)
{
	return bytes >= CHUNK_LEAST && bytes <= FT_NCCL_STEP_OFFERED && (bytes & (bytes - 1)) == 0;
}

/* It can end here on all connections, which at least one shows; if its last chunk is a full one, all have to. */
static bool ends_here(const struct ft_nccl_pat_look *look)
{
	const bool may_go_on = is_chunk(ft_nccl_pat_unit(look, look->loops - 1));
	bool shown = false;

	for (uint32_t i = 0; i < look->dimensions; i++)
		for (uint32_t rank = 0; rank < look->ranks; rank++) {
			const size_t at = ft_nccl_pat_track(look, i, rank);
			const enum ft_nccl_border border = ft_nccl_track_border(
				look->pat->tracks[at], look->pat->at[at] + look->length[i]);

			if (border == FT_NCCL_INSIDE ||
			    (may_go_on && border == FT_NCCL_BORDER_UNKNOWN))
				return false;
			shown |= border == FT_NCCL_BORDER;
		}
	return shown;
}

/* The connection for the highest bit has a message for each chunk: mostly it shows at once that more of them come. */
static bool goes_on(const struct ft_nccl_pat_look *look)
{
	const size_t at = ft_nccl_pat_track(look, look->dimensions - 1, 0);

	return ft_nccl_track_border(look->pat->tracks[at], look->pat->at[at] + look->loops) ==
	       FT_NCCL_INSIDE;
}

/* --- what it is --- */

static struct ft_nccl_stretch sum_of(const struct ft_nccl_pat_look *look)
{
	struct ft_nccl_stretch sum = { 0 };

	for (uint32_t i = 0; i < look->dimensions; i++)
		for (uint32_t rank = 0; rank < look->ranks; rank++) {
			const size_t at = ft_nccl_pat_track(look, i, rank);
			const struct ft_nccl_stretch own = ft_nccl_stretch_of(
				look->pat->tracks[at], look->pat->at[at], look->length[i]);

			if (i == 0 && rank == 0)
				sum = own;
			else
				ft_nccl_stretch_add(&sum, &own);
		}
	return sum;
}

/* Three who send each other a step each, whatever for, look the same. */
static bool is_ambiguous(const struct ft_nccl_pat_look *look)
{
	return look->ranks == 3 && look->loops == 1 &&
	       ft_nccl_pat_unit(look, 0) == FT_NCCL_STEP_OFFERED;
}

static bool tell(const struct ft_nccl_pat_look *look, struct ft_nccl_collective *row,
		 struct ft_nccl_pat_lengths *lengths)
{
	const struct ft_nccl_stretch sum = sum_of(look);

	if (!sum.sized || !ft_nccl_is_step(&sum) || is_ambiguous(look))
		return false;
	*row = ft_nccl_stretch_row(&sum);
	row->channels = 1;
	row->collective = look->gathers ? "AllGather" : "ReduceScatter";
	row->algorithm = "PAT";
	row->ranks = look->ranks;
	for (size_t i = 0; i < look->loops; i++)
		row->message_bytes += ft_nccl_pat_unit(look, i);
	row->message_bytes_least = row->message_bytes_most = row->message_bytes;
	*lengths = (struct ft_nccl_pat_lengths){ 0 };
	for (uint32_t i = 0; i < look->dimensions; i++)
		lengths->of[look->place[i]] = look->length[i];
	return true;
}

static bool is_operation(struct ft_nccl_pat_look *look)
{
	size_t places = 0;

	for (size_t i = 0; i < look->pat->distance_count; i++)
		places += look->pat->distances[i].channels > look->pat->channel ? 1 : 0;
	return are_alike(look) && ends_here(look) && ft_nccl_pat_follows(look) &&
	       ft_nccl_pat_is_undisturbed(look, places);
}

/* It may be padded only if several blocks share a message, so that there is one loop. */
static bool is_either(struct ft_nccl_pat_look *look)
{
	look->padded = false;
	if (is_operation(look))
		return true;
	look->padded = !look->gathers && look->loops == 1 &&
		       ft_nccl_pat_bytes(look, 0, 0, 0) >= 2 * ft_nccl_pat_unit(look, 0);
	return look->padded && is_operation(look);
}

bool ft_nccl_pat_recognize(const struct ft_nccl_pat_tracks *pat, bool gathers,
			   struct ft_nccl_collective *row, struct ft_nccl_pat_lengths *lengths)
{
	struct ft_nccl_pat_look look = { .pat = pat, .gathers = gathers, .ranks = pat->ranks };

	if (!find_places(&look))
		return false;
	for (look.loops = 1; ft_nccl_pat_unit(&look, look.loops - 1) != 0; look.loops++) {
		const uint64_t first = ft_nccl_pat_unit(&look, 0),
			       last = ft_nccl_pat_unit(&look, look.loops - 1);

		if (last > first)
			return false;
		if (!goes_on(&look) && is_either(&look))
			return tell(&look, row, lengths);
		if (last < first || !is_chunk(first))
			return false;
	}
	return false;
}
