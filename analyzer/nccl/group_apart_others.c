#include "group_apart_others.h"

#include "group_apart_idle.h"
#include "group_apart_pairs.h"

/*
 * Some of it carries slices as rings do, or all of it together leads once around through more than two sites, while the ring
 * does nothing on the same ways.
 */
static bool is_of_other_ring(struct ft_nccl_apart_finder *finder,
			     const struct ft_nccl_cluster *cluster,
			     const struct ft_nccl_cluster *ring)
{
	bool asked;

	if (cluster->has_slices)
		return ft_nccl_clusters_take_turns(finder, cluster, ring);
	return cluster->site_count > 2 &&
	       ft_nccl_clusters_take_turns_beside(finder, cluster, ring, &asked) &&
	       ft_nccl_clusters_lead_around(finder, cluster);
}

/* Rings of one communicator alone: all else that does not contradict it may be its own. */
static bool is_of_all(struct ft_nccl_apart_finder *finder, const struct ft_nccl_cluster *cluster,
		      size_t begin, size_t rings)
{
	for (size_t i = begin; i < rings; i++)
		if (ft_nccl_clusters_ranks_differ(finder, cluster, &finder->clusters[i]) ||
		    is_of_other_ring(finder, cluster, &finder->clusters[i]) ||
		    ft_nccl_idle_is_before(finder, cluster, &finder->clusters[i]))
			return false;
	return true;
}

/* Some rank is at one site of a ring, and of another cluster at another one. */
static bool is_renumbered(const struct ft_nccl_apart_finder *finder, size_t begin, size_t rings,
			  size_t end)
{
	for (size_t i = begin; i < rings; i++)
		for (size_t j = begin; j < end; j++)
			if (ft_nccl_clusters_ranks_differ(finder, &finder->clusters[j],
							  &finder->clusters[i]))
				return true;
	return false;
}

/* It carries slices at other times than the ring on the same ways: it may be of another communicator. */
static bool may_be_of_other(const struct ft_nccl_apart_finder *finder,
			    const struct ft_nccl_cluster *cluster,
			    const struct ft_nccl_cluster *ring)
{
	for (size_t i = 0; cluster->has_slices && i < cluster->count; i++) {
		const uint32_t at = cluster->at[i];
		const uint32_t beside = ft_nccl_cluster_find_beside(finder, ring, at);

		if (beside != FT_NCCL_NONE &&
		    ft_nccl_rhythm_is_other(&finder->rhythms.at[at], &finder->rhythms.at[beside]))
			return true;
	}
	return false;
}

/* Then rings may lack what is a channel of theirs after all. */
static bool is_beside_all(struct ft_nccl_apart_finder *finder,
			  const struct ft_nccl_cluster *cluster, size_t begin, size_t rings)
{
	bool beside = false;

	for (size_t i = begin; i < rings; i++) {
		struct ft_nccl_cluster *ring = &finder->clusters[i];

		if (!may_be_of_other(finder, cluster, ring))
			continue;
		ring->alone = true;
		beside = true;
	}
	return beside;
}

/* --- what is used, carries nothing of sends, and leads around with no slices --- */

static bool has_all_ways(const struct ft_nccl_apart_finder *finder, const struct ft_nccl_cluster *a,
			 const struct ft_nccl_cluster *b)
{
	for (size_t i = 0; i < b->count; i++)
		if (ft_nccl_cluster_find_beside(finder, a, b->at[i]) == FT_NCCL_NONE)
			return false;
	return true;
}

/*
 * They lead the same ways, and each was busy while the other did nothing: the rings of two communicators, or their trees. A ring
 * and a tree of one lead other ways, through more than two sites.
 */
static bool are_of_two(const struct ft_nccl_apart_finder *finder, const struct ft_nccl_cluster *a,
		       const struct ft_nccl_cluster *b)
{
	bool asked;

	return a->site_count == b->site_count && has_all_ways(finder, a, b) &&
	       has_all_ways(finder, b, a) &&
	       ft_nccl_clusters_take_turns_beside(finder, a, b, &asked);
}

/* Some of those of this part, from `begin` on, are of another communicator than this cluster. */
static bool has_other(const struct ft_nccl_apart_finder *finder,
		      const struct ft_nccl_cluster *cluster, size_t begin, uint32_t part)
{
	for (const struct ft_nccl_cluster *other = &finder->clusters[begin];
	     cluster->site_count > 2 && other < cluster; other++)
		if (other->part == part && are_of_two(finder, cluster, other))
			return true;
	return false;
}

/* Parts that what is of no ring has so far; 0: none. */
struct parts {
	uint32_t sends, idle, nameless;
	uint32_t first, last; /* of the rest; of the numbers between them some may be those above */
	bool named;           /* something names somebody */
};

static uint32_t next_of_rest(struct ft_nccl_apart_finder *finder, struct parts *parts)
{
	parts->last = ++finder->parts;
	if (parts->first == 0)
		parts->first = parts->last;
	return parts->last;
}

static uint32_t part_of_rest(struct ft_nccl_apart_finder *finder, struct parts *parts,
			     const struct ft_nccl_cluster *cluster, size_t begin)
{
	for (uint32_t part = parts->first; part != 0 && part <= parts->last; part++)
		if (part != parts->sends && part != parts->idle && part != parts->nameless &&
		    !has_other(finder, cluster, begin, part))
			return part;
	return next_of_rest(finder, parts);
}

static uint32_t number_of(struct ft_nccl_apart_finder *finder, uint32_t *part)
{
	if (*part == 0)
		*part = ++finder->parts;
	return *part;
}

static bool names_nobody(const struct ft_nccl_apart_finder *finder,
			 const struct ft_nccl_cluster *cluster)
{
	for (size_t i = 0; i < cluster->count; i++)
		if (finder->tags[cluster->at[i]].tagged > 0)
			return false;
	return true;
}

/* What names nobody by itself has no part in the ranks that others of the rest name: they may be another communicator's. */
static uint32_t part_of(struct ft_nccl_apart_finder *finder, struct parts *parts,
			const struct ft_nccl_cluster *cluster, size_t begin)
{
	if (cluster->are_sends)
		return number_of(finder, &parts->sends);
	if (ft_nccl_cluster_is_idle(finder, cluster))
		return number_of(finder, &parts->idle);
	if (parts->named && names_nobody(finder, cluster))
		return number_of(finder, &parts->nameless);
	return part_of_rest(finder, parts, cluster, begin);
}

/* What carries slices and shows no ring by itself may be a channel of one. */
void ft_nccl_others_part(struct ft_nccl_apart_finder *finder, const struct ft_nccl_others *others)
{
	const size_t begin = others->begin, rings = others->rings;
	const uint32_t first = others->first, last = finder->parts;
	const bool renumbered = is_renumbered(finder, begin, rings, others->end);
	struct parts parts = { 0 };

	for (size_t i = begin; i < others->end; i++)
		parts.named |= !names_nobody(finder, &finder->clusters[i]);
	for (size_t i = rings; i < others->end; i++) {
		struct ft_nccl_cluster *cluster = &finder->clusters[i];

		if (!cluster->are_sends && first == last &&
		    is_of_all(finder, cluster, begin, rings) &&
		    !is_beside_all(finder, cluster, begin, rings)) {
			cluster->part = first;
			continue;
		}
		cluster->part = part_of(finder, &parts, cluster, rings);
		cluster->alone = cluster->has_slices;
		cluster->renumbered = renumbered;
	}
}
