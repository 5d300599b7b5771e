#include "group_pat.h"

#include <errno.h>
#include <stdlib.h>

#include "group_neighbours.h"
#include "operation_steps.h"

/* Of so many members all are at PAT's distances, as in other things that they do: then what is offered must be as in PAT. */
enum { ALIKE_MOST = 5 };

struct plan {
	const struct ft_nccl_tracks *tracks;
	struct ft_nccl_neighbours neighbours;
	uint32_t members;
	bool shown; /* by what some receiver offers */
};

uint32_t ft_nccl_pat_dimensions(uint32_t ranks)
{
	uint32_t count = 0;

	while (count < 31 && (UINT32_C(1) << count) < ranks)
		count++;
	return count;
}

uint32_t ft_nccl_pat_distance(bool gathers, uint32_t dimension, uint32_t ranks)
{
	const uint32_t step = UINT32_C(1) << dimension;

	return gathers ? ranks - step : step;
}

static struct ft_nccl_direction way_of(const struct plan *plan, uint32_t from, uint32_t distance)
{
	return ft_nccl_direction_of(&plan->neighbours, from, (from + distance) % plan->members);
}

/* On how many channels both ends of all distances of one kind are connected. */
static size_t channels_of(const struct plan *plan, bool gathers)
{
	size_t least = SIZE_MAX;

	for (uint32_t i = 0; i < ft_nccl_pat_dimensions(plan->members); i++) {
		const size_t count =
			way_of(plan, 0, ft_nccl_pat_distance(gathers, i, plan->members)).count;

		if (count < least)
			least = count;
	}
	return least;
}

static bool has_distance(const struct plan *plan, bool gathers, uint32_t distance)
{
	for (uint32_t i = 0; i < ft_nccl_pat_dimensions(plan->members); i++)
		if (ft_nccl_pat_distance(gathers, i, plan->members) == distance)
			return true;
	return false;
}

/* Connections that PAT has to members so far away: as many as the kind has channels, of both the more. */
static size_t expected(const struct plan *plan, uint32_t distance, const size_t channels[2])
{
	const size_t there = has_distance(plan, false, distance) ? channels[0] : 0;
	const size_t back = has_distance(plan, true, distance) ? channels[1] : 0;

	return there > back ? there : back;
}

/* A step of SIMPLE was offered, as PAT and trees have it. */
static bool has_step(const struct ft_nccl_track *track)
{
	for (size_t i = 0; i < track->count; i++) {
		const struct ft_nccl_stretch one = ft_nccl_stretch_of(track, i, 1);

		if (one.offered == FT_NCCL_STEP_OFFERED)
			return true;
	}
	return false;
}

/* Receivers offer steps there; to the next rank a ring's slices, too. */
static bool are_offered(struct plan *plan, const struct ft_nccl_direction *way, bool is_ring)
{
	for (size_t i = 0; i < way->count; i++) {
		const struct ft_nccl_track *track = &plan->tracks->at[way->links[i].at];
		const struct ft_nccl_stretch all = ft_nccl_stretch_of(track, 0, track->count);

		if (!(is_ring ? ft_nccl_are_steps_or_slices(track) : ft_nccl_are_steps(track)))
			return false;
		if (plan->members > ALIKE_MOST)
			plan->shown |= all.offered_most > 0;
		else if (!is_ring && !plan->shown)
			plan->shown = has_step(track);
	}
	return true;
}

/* All members have as many connections so far on, in the order of their channels. */
static bool are_alike(struct plan *plan, uint32_t distance, size_t count)
{
	for (uint32_t i = 0; i < plan->members; i++) {
		const struct ft_nccl_direction way = way_of(plan, i, distance);

		if (way.count != count || !ft_nccl_direction_is_ordered(&plan->neighbours, &way) ||
		    !are_offered(plan, &way, distance == 1))
			return false;
	}
	return true;
}

static bool find_distances(struct plan *plan, size_t edges, struct ft_nccl_pat *pat)
{
	const size_t channels[2] = { channels_of(plan, false), channels_of(plan, true) };
	size_t explained = 0;

	if (channels[0] == 0 && channels[1] == 0)
		return false;
	for (uint32_t distance = 1; distance < plan->members; distance++) {
		const size_t there = way_of(plan, 0, distance).count;
		const size_t needed = expected(plan, distance, channels);

		if (there != needed && !(distance == 1 && there > needed))
			return false;
		if (there == 0)
			continue;
		if (!are_alike(plan, distance, there))
			return false;
		pat->distances[pat->count++] =
			(struct ft_nccl_distance){ distance, (uint32_t)there };
		explained += there * plan->members;
	}
	return explained == edges && plan->shown;
}

static void add_channels(const struct plan *plan, struct ft_nccl_pat *pat)
{
	uint32_t *at = pat->at;
	bool added = true;

	while (added) {
		added = false;
		for (size_t i = 0; i < pat->count; i++) {
			if (pat->distances[i].channels <= pat->channels)
				continue;
			added = true;
			for (uint32_t j = 0; j < plan->members; j++)
				*at++ = way_of(plan, j, pat->distances[i].ranks)
						.links[pat->channels]
						.at;
		}
		if (added)
			pat->ends[pat->channels++] = (size_t)(at - pat->at);
	}
}

static int reserve(struct ft_nccl_pat *pat, const struct ft_nccl_edges *edges)
{
	pat->distances = calloc(edges->member_count, sizeof *pat->distances);
	pat->at = calloc(edges->count, sizeof *pat->at);
	pat->ends = calloc(edges->count, sizeof *pat->ends);
	return pat->distances != NULL && pat->at != NULL && pat->ends != NULL ? 0 : -ENOMEM;
}

int ft_nccl_members_pat(struct ft_nccl_pat *pat, const struct ft_nccl_edges *edges,
			const struct ft_nccl_tracks *tracks)
{
	struct plan plan = { .members = edges->member_count, .tracks = tracks };
	int error;

	*pat = (struct ft_nccl_pat){ 0 };
	if (edges->member_count < FT_NCCL_PAT_LEAST || edges->count < 2 * edges->member_count ||
	    !ft_nccl_edges_have_ranks(edges))
		return 0;
	error = ft_nccl_neighbours_find(&plan.neighbours, edges);
	if (error == 0)
		error = reserve(pat, edges);
	if (error == 0 && find_distances(&plan, edges->count, pat))
		add_channels(&plan, pat);
	ft_nccl_neighbours_free(&plan.neighbours);
	return error == -ENOENT ? 0 : error;
}

void ft_nccl_pat_free(struct ft_nccl_pat *pat)
{
	free(pat->distances);
	free(pat->at);
	free(pat->ends);
	*pat = (struct ft_nccl_pat){ 0 };
}
