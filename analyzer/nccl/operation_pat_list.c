#include <stddef.h>

#include "group_tree_shape.h"
#include "operation_pat.h"
#include "operation_ring.h"
#include "operation_steps.h"

struct walk {
	struct ft_nccl_operations *operations;
	struct ft_nccl_pat_tracks *pat;
	uint32_t distance[FT_NCCL_PAT_PLACES];
	size_t places, count;        /* distances of this channel; tracks */
	struct ft_nccl_stretch rest; /* what is no operation that is known */
};

/* The track that goes on first; SIZE_MAX: all are at their end. */
static size_t earliest(const struct walk *walk)
{
	uint64_t least = UINT64_MAX;
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < walk->count; i++) {
		const uint64_t frame = ft_nccl_track_next(walk->pat->tracks[i], walk->pat->at[i]);

		if (frame < least) {
			least = frame;
			found = i;
		}
	}
	return found;
}

static void tell_rest(struct walk *walk)
{
	struct ft_nccl_collective row = ft_nccl_stretch_row(&walk->rest);

	row.channels = 1;
	ft_nccl_operations_add(walk->operations, &row);
	walk->rest = (struct ft_nccl_stretch){ 0 };
}

/* The messages of a track up to where an operation ends on it. */
static size_t length_of(const struct walk *walk, size_t at)
{
	const struct ft_nccl_track *track = walk->pat->tracks[at];
	const size_t from = walk->pat->at[at];
	size_t length = 1;

	while (from + length < track->count &&
	       ft_nccl_track_border(track, from + length) != FT_NCCL_BORDER)
		length++;
	return length;
}

static void leave_out(struct walk *walk, size_t at)
{
	const size_t length = length_of(walk, at);
	const struct ft_nccl_stretch own =
		ft_nccl_stretch_of(walk->pat->tracks[at], walk->pat->at[at], length);

	if (walk->rest.seen == 0)
		walk->rest = own;
	else
		ft_nccl_stretch_add(&walk->rest, &own);
	walk->pat->at[at] += length;
}

static bool took_pat(struct walk *walk, bool gathers)
{
	struct ft_nccl_collective row;
	struct ft_nccl_pat_lengths lengths;

	if (!ft_nccl_pat_recognize(walk->pat, gathers, &row, &lengths))
		return false;
	tell_rest(walk);
	ft_nccl_operations_add(walk->operations, &row);
	for (size_t i = 0; i < walk->count; i++)
		walk->pat->at[i] += lengths.of[i / walk->pat->ranks];
	return true;
}

/* PAT has neither lines nor slices of two steps. */
static bool is_of_ring(const struct ft_nccl_message *message)
{
	if (message->protocol == FT_NCCL_LL || message->protocol == FT_NCCL_LL128)
		return true;
	return message->request_count == 1 && message->requests[0].has_offered &&
	       message->requests[0].offered == FT_NCCL_SLICE_OFFERED;
}

static bool has_ring(const struct ft_nccl_pat_tracks *pat)
{
	return pat->distances[0].ranks == 1 && pat->distances[0].channels > pat->channel;
}

/* Each goes on before any of them ends that: as far as borders show, it is the same operation. */
static bool is_at_once(const struct walk *walk)
{
	uint64_t latest = 0, first_end = UINT64_MAX;

	for (size_t i = 0; i < walk->pat->ranks; i++) {
		const struct ft_nccl_stretch own = ft_nccl_stretch_of(
			walk->pat->tracks[i], walk->pat->at[i], length_of(walk, i));

		if (own.first_frame > latest)
			latest = own.first_frame;
		if (own.last_frame < first_end)
			first_end = own.last_frame;
	}
	return latest <= first_end;
}

/* All have as many messages behind them. Where trees have sent some of these that says nothing. */
static bool is_abreast(const struct walk *walk)
{
	const struct ft_nccl_pat_tracks *pat = walk->pat;

	for (size_t i = 0; i < pat->ranks; i++)
		if (!pat->tracks[i]->numbered ||
		    pat->tracks[i]->first_k + pat->at[i] != pat->tracks[0]->first_k + pat->at[0])
			return false;
	return pat->tree == NULL;
}

/* All members go on with something like that. */
static bool is_ring_next(const struct walk *walk)
{
	for (size_t i = 0; i < walk->pat->ranks; i++) {
		const struct ft_nccl_track *track = walk->pat->tracks[i];
		const size_t at = walk->pat->at[i];

		if (at >= track->count || track->messages[at] == NULL ||
		    !is_of_ring(track->messages[at]))
			return false;
	}
	return is_abreast(walk) || is_at_once(walk);
}

/* `at`: the track that goes on first. */
static bool took_ring(struct walk *walk, size_t at)
{
	struct ft_nccl_circle ring = { .tracks = walk->pat->tracks,
				       .ranks = walk->pat->ranks,
				       .at = walk->pat->at,
				       .loop_ranks = walk->pat->ranks };

	if (!has_ring(walk->pat) || at >= walk->pat->ranks || !is_ring_next(walk))
		return false;
	ring.begun = ft_nccl_circle_is_idle(&ring);
	tell_rest(walk);
	return ft_nccl_circle_step(walk->operations, &ring);
}

/* --- the tree --- */

static size_t track_between(const struct walk *walk, uint32_t from, uint32_t to)
{
	const uint32_t ranks = walk->pat->ranks;

	return ft_nccl_pat_place(walk->pat, (to + ranks - from) % ranks) * ranks + from;
}

/* The track of an edge, up or down. */
static size_t track_of(const struct walk *walk, size_t i)
{
	const struct ft_nccl_tree_edge *edge = &walk->pat->tree->edges[i / 2];

	return i % 2 == 0 ? track_between(walk, edge->child, edge->parent)
			  : track_between(walk, edge->parent, edge->child);
}

static bool is_in_tree(const struct walk *walk, size_t place, uint32_t from)
{
	const uint32_t ranks = walk->pat->ranks, to = from + walk->distance[place];

	return ft_nccl_tree_has(walk->pat->tree->number, from, to < ranks ? to : to - ranks, ranks);
}

/* Each member's next messages on the tree come before all else that it sends. */
static bool is_tree_first(const struct walk *walk, uint32_t rank)
{
	const struct ft_nccl_pat_tracks *pat = walk->pat;
	uint64_t latest = 0, next = UINT64_MAX;

	for (size_t place = 0; place < walk->places; place++) {
		const size_t i = place * pat->ranks + rank;
		const struct ft_nccl_track *track = pat->tracks[i];
		size_t length = 0;
		uint64_t frame;

		if (is_in_tree(walk, place, rank)) {
			if (pat->at[i] >= track->count)
				return false;
			length = length_of(walk, i);
			frame = ft_nccl_track_next(track, pat->at[i] + length - 1);
			latest = frame > latest ? frame : latest;
		}
		frame = ft_nccl_track_next(track, pat->at[i] + length);
		next = frame < next ? frame : next;
	}
	return latest < next;
}

static bool is_tree_next(const struct walk *walk)
{
	if (walk->pat->tree == NULL)
		return false;
	for (uint32_t rank = 0; rank < walk->pat->ranks; rank++)
		if (!is_tree_first(walk, rank))
			return false;
	return true;
}

static bool took_tree(struct walk *walk)
{
	const struct ft_nccl_pat_tracks *pat = walk->pat;
	struct ft_nccl_circle circle = { .tracks = pat->tree_tracks, .at = pat->tree_at };

	if (!is_tree_next(walk))
		return false;
	circle.tree = pat->tree;
	circle.ranks = (uint32_t)(2 * pat->tree->edge_count);
	for (size_t i = 0; i < circle.ranks; i++) {
		circle.tracks[i] = pat->tracks[track_of(walk, i)];
		circle.at[i] = pat->at[track_of(walk, i)];
	}
	tell_rest(walk);
	if (!ft_nccl_circle_step(walk->operations, &circle))
		return false;
	for (size_t i = 0; i < circle.ranks; i++)
		pat->at[track_of(walk, i)] = circle.at[i];
	return true;
}

void ft_nccl_pat_operations(struct ft_nccl_operations *operations, struct ft_nccl_pat_tracks *pat)
{
	struct walk walk = { .operations = operations, .pat = pat };

	for (size_t i = 0; i < pat->distance_count; i++)
		if (pat->distances[i].channels > pat->channel)
			walk.distance[walk.places++] = pat->distances[i].ranks;
	walk.count = walk.places * pat->ranks;
	for (size_t at = earliest(&walk); at != SIZE_MAX; at = earliest(&walk))
		if (!took_pat(&walk, false) && !took_pat(&walk, true) && !took_tree(&walk) &&
		    !took_ring(&walk, at))
			leave_out(&walk, at);
	tell_rest(&walk);
}
