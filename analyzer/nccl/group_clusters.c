#include "group_apart_parts.h"

#include <stdlib.h>

#include "group_forest.h"
#include "operation_steps.h"

enum { COMPARED_MOST = 1024 /* connections at one site, each with each */ };

static int compare_ends(const void *a, const void *b)
{
	const struct ft_nccl_cluster_end *left = a, *right = b;

	if (left->site != right->site)
		return left->site < right->site ? -1 : 1;
	return (left->at > right->at) - (left->at < right->at);
}

/* Both ends of all over which something passed, by site. How many. */
static size_t list_ends(struct ft_nccl_apart_finder *finder)
{
	size_t count = 0;

	for (uint32_t i = 0; i < finder->input->connection_count; i++) {
		if (finder->from[i] == FT_NCCL_NONE || finder->to[i] == FT_NCCL_NONE ||
		    finder->input->tracks[i].count == 0)
			continue;
		finder->ends[count++] = (struct ft_nccl_cluster_end){ finder->from[i], i };
		finder->ends[count++] = (struct ft_nccl_cluster_end){ finder->to[i], i };
	}
	if (count > 0)
		qsort(finder->ends, count, sizeof *finder->ends, compare_ends);
	return count;
}

bool ft_nccl_are_busy_alike(const struct ft_nccl_apart_finder *finder, uint32_t a, uint32_t b)
{
	switch (ft_nccl_spells_compare(&finder->spells.at[a], &finder->spells.at[b])) {
	case FT_NCCL_ALIKE:
		return true;
	case FT_NCCL_UNLIKE:
		return false;
	case FT_NCCL_UNDECIDED:
		break;
	}
	return ft_nccl_rhythms_agree(&finder->rhythms.at[a], &finder->rhythms.at[b]);
}

/* Of those at one site sends and receives are one, all else is that is busy at the same times. */
static void unite_at_site(struct ft_nccl_apart_finder *finder,
			  const struct ft_nccl_cluster_end *ends, size_t count)
{
	uint32_t sends = FT_NCCL_NONE;

	for (size_t i = 0; i < count; i++) {
		const uint32_t a = ends[i].at;

		if (finder->sends[a]) {
			ft_nccl_unite(finder->root, a, sends != FT_NCCL_NONE ? sends : a);
			sends = a;
			continue;
		}
		for (size_t j = i + 1; j < count; j++) {
			const uint32_t b = ends[j].at;

			if (!finder->sends[b] &&
			    ft_nccl_root_of(finder->root, a) != ft_nccl_root_of(finder->root, b) &&
			    ft_nccl_are_busy_alike(finder, a, b))
				ft_nccl_unite(finder->root, a, b);
		}
	}
}

static bool are_too_many(const struct ft_nccl_apart_finder *finder,
			 const struct ft_nccl_cluster_end *ends, size_t count)
{
	size_t compared = 0;

	for (size_t i = 0; i < count; i++)
		compared += finder->sends[ends[i].at] ? 0 : 1;
	return compared > COMPARED_MOST;
}

/* False: it would take too long. */
static bool unite(struct ft_nccl_apart_finder *finder)
{
	const size_t count = list_ends(finder);

	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && finder->ends[end].site == finder->ends[i].site;)
			end++;
		if (are_too_many(finder, finder->ends + i, end - i))
			return false;
		unite_at_site(finder, finder->ends + i, end - i);
	}
	return true;
}

static uint32_t component_of(struct ft_nccl_apart_finder *finder, uint32_t at)
{
	return ft_nccl_component_of(&finder->sites, finder->from[at]);
}

static int compare_places(const void *a, const void *b, void *context)
{
	struct ft_nccl_apart_finder *finder = context;
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	uint32_t one = component_of(finder, left), other = component_of(finder, right);

	if (one == other) {
		one = ft_nccl_root_of(finder->root, left);
		other = ft_nccl_root_of(finder->root, right);
	}
	if (one != other)
		return one < other ? -1 : 1;
	return (left > right) - (left < right);
}

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

/* Into room for two of each connection. */
static size_t list_sites(const struct ft_nccl_apart_finder *finder,
			 const struct ft_nccl_cluster *cluster, uint32_t *sites)
{
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < cluster->count; i++) {
		sites[count++] = finder->from[cluster->at[i]];
		sites[count++] = finder->to[cluster->at[i]];
	}
	qsort(sites, count, sizeof *sites, compare_numbers);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || sites[i] != sites[kept - 1])
			sites[kept++] = sites[i];
	return kept;
}

/* All that is used, or what carries slices alone. */
static bool lead_around(struct ft_nccl_apart_finder *finder, const struct ft_nccl_cluster *cluster,
			bool slices)
{
	const struct ft_nccl_track *tracks = finder->input->tracks;

	ft_nccl_cycle_begin(&finder->cycle, cluster->sites, cluster->site_count);
	for (size_t i = 0; i < cluster->count; i++) {
		const uint32_t at = cluster->at[i];

		if (slices ? ft_nccl_has_slice(&tracks[at]) : tracks[at].count > 0)
			ft_nccl_cycle_add(&finder->cycle, finder->from[at], finder->to[at]);
	}
	return ft_nccl_cycle_is_closed(&finder->cycle, cluster->sites, cluster->site_count);
}

bool ft_nccl_clusters_go_around(struct ft_nccl_apart_finder *finder,
				const struct ft_nccl_cluster *cluster)
{
	return lead_around(finder, cluster, true);
}

bool ft_nccl_clusters_lead_around(struct ft_nccl_apart_finder *finder,
				  const struct ft_nccl_cluster *cluster)
{
	return lead_around(finder, cluster, false);
}

void ft_nccl_clusters_list(struct ft_nccl_apart_finder *finder)
{
	uint32_t *room = finder->site_room;
	size_t places = 0;

	if (!unite(finder))
		return;
	for (uint32_t i = 0; i < finder->input->connection_count; i++)
		if (finder->from[i] != FT_NCCL_NONE && finder->to[i] != FT_NCCL_NONE)
			finder->order[places++] = i;
	if (places > 0)
		qsort_r(finder->order, places, sizeof *finder->order, compare_places, finder);
	for (size_t i = 0, end; i < places; i = end) {
		struct ft_nccl_cluster *cluster = &finder->clusters[finder->count++];
		const uint32_t root = ft_nccl_root_of(finder->root, finder->order[i]);

		for (end = i + 1;
		     end < places && ft_nccl_root_of(finder->root, finder->order[end]) == root;)
			end++;
		*cluster = (struct ft_nccl_cluster){ .component =
							     component_of(finder, finder->order[i]),
						     .at = finder->order + i,
						     .count = end - i,
						     .sites = room };
		cluster->site_count = list_sites(finder, cluster, room);
		room += 2 * cluster->count;
		cluster->are_sends = finder->sends[cluster->at[0]];
		cluster->has_slices = ft_nccl_has_slice(&finder->input->tracks[cluster->at[0]]);
		cluster->is_ring =
			!cluster->are_sends && ft_nccl_clusters_go_around(finder, cluster);
	}
}

bool ft_nccl_cluster_has_site(const struct ft_nccl_cluster *cluster, uint32_t site)
{
	return bsearch(&site, cluster->sites, cluster->site_count, sizeof *cluster->sites,
		       compare_numbers) != NULL;
}
