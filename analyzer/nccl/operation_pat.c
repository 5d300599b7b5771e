#include "operation_pat.h"

#include "group_pat.h"
#include "operation_steps.h"

enum {
	DIMENSIONS = 32,
	STEPS = 8,           /* buffers of a connection */
	CHUNK_LEAST = 65536, /* from there on twice as long, up to a step */
};

struct look {
	const struct ft_nccl_pat_tracks *pat;
	bool gathers;
	bool padded; /* a message has room for blocks that do not exist */
	uint32_t dimensions, ranks;
	size_t loops;              /* chunks of a block */
	size_t place[DIMENSIONS];  /* of its distance */
	size_t length[DIMENSIONS]; /* messages */
};

static size_t track_at(const struct look *look, uint32_t dimension, uint32_t rank)
{
	return look->place[dimension] * look->ranks + rank;
}

/* NULL: it is missing. */
static const struct ft_nccl_message *message_at(const struct look *look, uint32_t dimension,
						uint32_t rank, size_t i)
{
	const size_t at = track_at(look, dimension, rank);
	const struct ft_nccl_track *track = look->pat->tracks[at];

	i += look->pat->at[at];
	return i < track->count && track->messages[i] != NULL &&
			       track->messages[i]->first_frame != 0
		       ? track->messages[i]
		       : NULL;
}

static uint64_t bytes_at(const struct look *look, uint32_t dimension, uint32_t rank, size_t i)
{
	const struct ft_nccl_message *message = message_at(look, dimension, rank, i);

	return message != NULL ? ft_nccl_message_bytes(message) : 0;
}

/* Of a block, in this loop: all that goes over the connection for the highest bit. */
static uint64_t unit(const struct look *look, size_t loop)
{
	return bytes_at(look, look->dimensions - 1, 0, loop);
}

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

static bool find_places(struct look *look)
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

/* Odd multiples of a power of two, up to `most`. */
static size_t odd_multiples(uint32_t bit, uint32_t most)
{
	return ((uint64_t)most + (UINT64_C(1) << bit)) >> (bit + 1);
}

/* Of a loop. */
static size_t blocks_of(const struct look *look, uint32_t dimension)
{
	return look->padded ? (size_t)1 << (look->dimensions - 1 - dimension)
			    : odd_multiples(dimension, look->ranks - 1);
}

/* So many messages of one member that they have all blocks; 0: there are none. */
static size_t length_of(const struct look *look, uint32_t dimension)
{
	const uint64_t wanted = blocks_of(look, dimension) * unit(look, 0);
	uint64_t sum = 0;
	size_t length = 0;

	if (look->loops > 1)
		return blocks_of(look, dimension) * look->loops;
	while (sum < wanted) {
		const uint64_t bytes = bytes_at(look, dimension, 0, length++);

		if (bytes == 0)
			return 0;
		sum += bytes;
	}
	return sum == wanted ? length : 0;
}

/* A member's messages are those of every other, of whole blocks. */
static bool is_alike(const struct look *look, uint32_t dimension, uint32_t rank)
{
	const uint64_t first = unit(look, 0);

	if (first == 0)
		return false;
	for (size_t i = 0; i < look->length[dimension]; i++) {
		const uint64_t bytes = bytes_at(look, dimension, rank, i);

		if (look->loops > 1
			    ? bytes != unit(look, i / blocks_of(look, dimension))
			    : bytes != bytes_at(look, dimension, 0, i) || bytes % first != 0)
			return false;
	}
	return true;
}

static bool are_alike(struct look *look)
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
static bool ends_here(const struct look *look)
{
	const bool may_go_on = is_chunk(unit(look, look->loops - 1));
	bool shown = false;

	for (uint32_t i = 0; i < look->dimensions; i++)
		for (uint32_t rank = 0; rank < look->ranks; rank++) {
			const size_t at = track_at(look, i, rank);
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
static bool goes_on(const struct look *look)
{
	const size_t at = track_at(look, look->dimensions - 1, 0);

	return ft_nccl_track_border(look->pat->tracks[at], look->pat->at[at] + look->loops) ==
	       FT_NCCL_INSIDE;
}

/* --- their order --- */

/*
 * Of the blocks that come over the connection for bit `from` so many go on over that for bit `to`, as they are or in sums. Of
 * three ranks none does; but then a rank sends to one of the others only after the other one's data came.
 */
static size_t needed(const struct look *look, uint32_t to, uint32_t from)
{
	if (look->ranks == 3)
		return to < from ? 1 : 0;
	if (look->gathers)
		return to < from ? odd_multiples(from, look->ranks - 1 - (UINT32_C(1) << to)) : 0;
	return from < to ? odd_multiples(to, look->ranks - 1 - (UINT32_C(1) << from)) : 0;
}

/* Which message of a loop has so many blocks, with those before it. Which of them are there nobody knows of padded ones. */
static size_t message_of(const struct look *look, uint32_t dimension, size_t blocks)
{
	uint64_t sum = 0;
	size_t i = 0;

	if (look->loops > 1)
		return blocks - 1;
	while (!look->padded && (sum += bytes_at(look, dimension, 0, i)) < blocks * unit(look, 0))
		i++;
	return i;
}

static const struct ft_nccl_message *received(const struct look *look, uint32_t dimension,
					      uint32_t rank, size_t i)
{
	const uint32_t distance = ft_nccl_pat_distance(look->gathers, dimension, look->ranks);

	return message_at(look, dimension, (rank + look->ranks - distance) % look->ranks, i);
}

/* When all has come in all dimensions but one. */
static uint64_t end_of_others(const struct look *look, uint32_t dimension, uint32_t rank)
{
	uint64_t latest = 0;

	for (uint32_t i = 0; i < look->dimensions; i++) {
		const uint64_t frame = received(look, i, rank, look->length[i] - 1)->last_frame;

		if (i != dimension && frame > latest)
			latest = frame;
	}
	return latest;
}

/*
 * A member asks for messages of all dimensions when it begins, before those of one of them have all come; and for as many as
 * there are buffers for one after the other, before those of all others have.
 */
static bool is_asked_at_once(const struct look *look, uint32_t rank)
{
	uint64_t asked = 0, came = UINT64_MAX;

	for (uint32_t i = 0; i < look->dimensions; i++) {
		const size_t length = look->length[i], ahead = length < STEPS ? length : STEPS;
		const struct ft_nccl_message *last = received(look, i, rank, length - 1);
		const uint64_t first = received(look, i, rank, 0)->cts_frame;

		if (received(look, i, rank, ahead - 1)->cts_frame >= end_of_others(look, i, rank))
			return false;
		asked = first > asked ? first : asked;
		came = last->last_frame < came ? last->last_frame : came;
	}
	return asked < came;
}

/* When a member sent the last message of a loop, it had what that takes. */
static bool has_come(const struct look *look, uint32_t rank, uint32_t to, uint32_t from)
{
	const size_t blocks = needed(look, to, from);
	const uint32_t distance = ft_nccl_pat_distance(look->gathers, from, look->ranks);
	const uint32_t sender = (rank + look->ranks - distance) % look->ranks;
	const size_t sent = look->length[to] / look->loops;
	const size_t came = look->length[from] / look->loops;

	if (blocks == 0)
		return true;
	for (size_t loop = 0; loop < look->loops; loop++) {
		const struct ft_nccl_message *last =
			message_at(look, to, rank, (loop + 1) * sent - 1);
		const struct ft_nccl_message *before = message_at(
			look, from, sender, loop * came + message_of(look, from, blocks));

		if (last->first_frame <= before->last_frame)
			return false;
	}
	return true;
}

static bool follows(const struct look *look)
{
	for (uint32_t rank = 0; rank < look->ranks; rank++) {
		if (!is_asked_at_once(look, rank))
			return false;
		for (uint32_t to = 0; to < look->dimensions; to++)
			for (uint32_t from = 0; from < look->dimensions; from++)
				if (!has_come(look, rank, to, from))
					return false;
	}
	return true;
}

/* Where the messages of this operation end on a track. */
static size_t end_on(const struct look *look, size_t place, size_t at)
{
	for (uint32_t i = 0; i < look->dimensions; i++)
		if (look->place[i] == place)
			return look->pat->at[at] + look->length[i];
	return look->pat->at[at];
}

/* A member begins nothing else before it has sent all of this. */
static bool is_undisturbed(const struct look *look, size_t places)
{
	for (uint32_t rank = 0; rank < look->ranks; rank++) {
		uint64_t latest = 0;

		for (uint32_t i = 0; i < look->dimensions; i++) {
			const struct ft_nccl_message *last =
				message_at(look, i, rank, look->length[i] - 1);

			if (last->first_frame > latest)
				latest = last->first_frame;
		}
		for (size_t place = 0; place < places; place++) {
			const size_t at = place * look->ranks + rank;

			if (ft_nccl_track_next(look->pat->tracks[at], end_on(look, place, at)) <
			    latest)
				return false;
		}
	}
	return true;
}

/* --- what it is --- */

static struct ft_nccl_stretch sum_of(const struct look *look)
{
	struct ft_nccl_stretch sum = { 0 };

	for (uint32_t i = 0; i < look->dimensions; i++)
		for (uint32_t rank = 0; rank < look->ranks; rank++) {
			const size_t at = track_at(look, i, rank);
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
static bool is_ambiguous(const struct look *look)
{
	return look->ranks == 3 && look->loops == 1 && unit(look, 0) == FT_NCCL_STEP_OFFERED;
}

static bool tell(const struct look *look, struct ft_nccl_collective *row,
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
		row->message_bytes += unit(look, i);
	row->message_bytes_least = row->message_bytes_most = row->message_bytes;
	*lengths = (struct ft_nccl_pat_lengths){ 0 };
	for (uint32_t i = 0; i < look->dimensions; i++)
		lengths->of[look->place[i]] = look->length[i];
	return true;
}

static bool is_operation(struct look *look)
{
	size_t places = 0;

	for (size_t i = 0; i < look->pat->distance_count; i++)
		places += look->pat->distances[i].channels > look->pat->channel ? 1 : 0;
	return are_alike(look) && ends_here(look) && follows(look) && is_undisturbed(look, places);
}

/* It may be padded only if several blocks share a message, so that there is one loop. */
static bool is_either(struct look *look)
{
	look->padded = false;
	if (is_operation(look))
		return true;
	look->padded =
		!look->gathers && look->loops == 1 && bytes_at(look, 0, 0, 0) >= 2 * unit(look, 0);
	return look->padded && is_operation(look);
}

bool ft_nccl_pat_recognize(const struct ft_nccl_pat_tracks *pat, bool gathers,
			   struct ft_nccl_collective *row, struct ft_nccl_pat_lengths *lengths)
{
	struct look look = { .pat = pat, .gathers = gathers, .ranks = pat->ranks };

	if (!find_places(&look))
		return false;
	for (look.loops = 1; unit(&look, look.loops - 1) != 0; look.loops++) {
		const uint64_t first = unit(&look, 0), last = unit(&look, look.loops - 1);

		if (last > first)
			return false;
		if (!goes_on(&look) && is_either(&look))
			return tell(&look, row, lengths);
		if (last < first || !is_chunk(first))
			return false;
	}
	return false;
}
