#include "group_apart_pairs.h"

enum { WAYS_ASKED = 4 /* between two rings */, WAYS_WEIGHED = 16 };

size_t ft_nccl_clusters_common(const struct ft_nccl_cluster *a, const struct ft_nccl_cluster *b)
{
	size_t count = 0;

	for (size_t i = 0; i < a->site_count; i++)
		count += ft_nccl_cluster_has_site(b, a->sites[i]) ? 1 : 0;
	return count;
}

bool ft_nccl_clusters_ranks_differ(const struct ft_nccl_apart_finder *finder,
				   const struct ft_nccl_cluster *cluster,
				   const struct ft_nccl_cluster *ring)
{
	for (size_t i = 0; i < cluster->count; i++) {
		const uint32_t at = cluster->at[i];
		const struct ft_nccl_tag *tag = &finder->tags[at];

		if (!ft_nccl_tag_is_rank(tag) || !ft_nccl_cluster_has_site(ring, finder->from[at]))
			continue;
		for (size_t j = 0; j < ring->count; j++) {
			const struct ft_nccl_tag *other = &finder->tags[ring->at[j]];

			if (ft_nccl_tag_is_rank(other) && other->tag == tag->tag &&
			    finder->from[ring->at[j]] != finder->from[at])
				return true;
		}
	}
	return false;
}

const struct ft_nccl_rhythm *ft_nccl_cluster_rhythm(const struct ft_nccl_apart_finder *finder,
						    const struct ft_nccl_cluster *cluster)
{
	return &finder->rhythms.at[cluster->at[0]];
}

uint32_t ft_nccl_cluster_find_beside(const struct ft_nccl_apart_finder *finder,
				     const struct ft_nccl_cluster *cluster, uint32_t at)
{
	for (size_t i = 0; i < cluster->count; i++)
		if (finder->from[cluster->at[i]] == finder->from[at] &&
		    finder->to[cluster->at[i]] == finder->to[at])
			return cluster->at[i];
	return FT_NCCL_NONE;
}

bool ft_nccl_clusters_take_turns_beside(const struct ft_nccl_apart_finder *finder,
					const struct ft_nccl_cluster *a,
					const struct ft_nccl_cluster *b, bool *asked)
{
	*asked = false;
	for (size_t i = 0; i < a->count && i < WAYS_ASKED; i++) {
		const uint32_t beside = ft_nccl_cluster_find_beside(finder, b, a->at[i]);

		if (beside == FT_NCCL_NONE)
			continue;
		*asked = true;
		if (ft_nccl_rhythms_take_turns(&finder->rhythms.at[a->at[i]],
					       &finder->rhythms.at[beside]))
			return true;
	}
	return false;
}

/*
 * On different ways one operation of both may be over before the next one begins, so these are asked only if there are no
 * others.
 */
bool ft_nccl_clusters_take_turns(const struct ft_nccl_apart_finder *finder,
				 const struct ft_nccl_cluster *a, const struct ft_nccl_cluster *b)
{
	bool asked;

	return ft_nccl_clusters_take_turns_beside(finder, a, b, &asked) ||
	       (!asked && ft_nccl_rhythms_take_turns(ft_nccl_cluster_rhythm(finder, a),
						     ft_nccl_cluster_rhythm(finder, b)));
}

bool ft_nccl_ring_has_one_rank_each(const struct ft_nccl_apart_finder *finder,
				    const struct ft_nccl_cluster *ring)
{
	const uint32_t *ranks = finder->input->ranks;

	for (size_t i = 0; i < ring->count; i++)
		if (ranks == NULL || ranks[ring->at[i]] != ring->site_count)
			return false;
	return true;
}

bool ft_nccl_clusters_clash(const struct ft_nccl_apart_finder *finder,
			    const struct ft_nccl_cluster *a, const struct ft_nccl_cluster *b)
{
	struct ft_nccl_clash clash = { 0 }, spells = { 0 };

	for (size_t i = 0; i < a->count && i < WAYS_WEIGHED; i++) {
		const uint32_t beside = ft_nccl_cluster_find_beside(finder, b, a->at[i]);

		if (beside == FT_NCCL_NONE)
			continue;
		ft_nccl_rhythms_weigh(&clash, &finder->rhythms.at[a->at[i]],
				      &finder->rhythms.at[beside]);
		ft_nccl_spells_weigh(&spells, &finder->spells.at[a->at[i]],
				     &finder->spells.at[beside]);
	}
	return ft_nccl_clash_tells_apart(&clash) || ft_nccl_spells_tell_apart(&spells);
}

/* Of two such rings: somewhere they have different ones. */
static bool have_other_ranks(const struct ft_nccl_apart_finder *finder,
			     const struct ft_nccl_cluster *a, const struct ft_nccl_cluster *b)
{
	if (!ft_nccl_ring_has_one_rank_each(finder, a) ||
	    !ft_nccl_ring_has_one_rank_each(finder, b))
		return false;
	for (size_t i = 0; i < a->count; i++)
		for (size_t j = 0; j < b->count; j++) {
			const struct ft_nccl_tag *one = &finder->tags[a->at[i]];
			const struct ft_nccl_tag *other = &finder->tags[b->at[j]];

			if (ft_nccl_tag_is_rank(one) && ft_nccl_tag_is_rank(other) &&
			    one->tag != other->tag &&
			    finder->from[a->at[i]] == finder->from[b->at[j]])
				return true;
		}
	return false;
}

bool ft_nccl_rings_exclude_each_other(const struct ft_nccl_apart_finder *finder,
				      const struct ft_nccl_cluster *a,
				      const struct ft_nccl_cluster *b)
{
	const size_t common = ft_nccl_clusters_common(a, b);

	if (common == 0)
		return false;
	return a->site_count != b->site_count || ft_nccl_clusters_ranks_differ(finder, a, b) ||
	       have_other_ranks(finder, a, b) || ft_nccl_clusters_take_turns(finder, a, b) ||
	       ft_nccl_clusters_clash(finder, a, b) ||
	       (common < a->site_count &&
		!ft_nccl_rhythms_agree(ft_nccl_cluster_rhythm(finder, a),
				       ft_nccl_cluster_rhythm(finder, b)));
}

/* The same ranks send at all sites, and all are known. */
static bool have_same_ranks(const struct ft_nccl_apart_finder *finder,
			    const struct ft_nccl_cluster *a, const struct ft_nccl_cluster *b)
{
	for (size_t i = 0; i < a->count; i++)
		for (size_t j = 0; j < b->count; j++) {
			const struct ft_nccl_tag *one = &finder->tags[a->at[i]];
			const struct ft_nccl_tag *other = &finder->tags[b->at[j]];

			if (finder->from[a->at[i]] == finder->from[b->at[j]] &&
			    (!ft_nccl_tag_is_rank(one) || !ft_nccl_tag_is_rank(other) ||
			     one->tag != other->tag))
				return false;
		}
	return true;
}

bool ft_nccl_rings_can_be_one(const struct ft_nccl_apart_finder *finder,
			      const struct ft_nccl_cluster *a, const struct ft_nccl_cluster *b)
{
	if (!a->shared && !b->shared)
		return true;
	return a->shared && b->shared && a->set == b->set && a->named &&
	       have_same_ranks(finder, a, b);
}
