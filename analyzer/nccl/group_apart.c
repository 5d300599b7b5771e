#include "group_apart_parts.h"

#include <errno.h>
#include <stdlib.h>

#include "operation_steps.h"

static size_t count_common(const struct ft_nccl_cluster *a, const struct ft_nccl_cluster *b)
{
	size_t count = 0;

	for (size_t i = 0; i < a->site_count; i++)
		count += ft_nccl_cluster_has_site(b, a->sites[i]) ? 1 : 0;
	return count;
}

/* A rank is at one site of the ring, and here at another one of it: a ring leads through each host once. */
static bool do_ranks_differ(const struct ft_nccl_apart_finder *finder,
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

static const struct ft_nccl_rhythm *rhythm_of(const struct ft_nccl_apart_finder *finder,
					      const struct ft_nccl_cluster *cluster)
{
	return &finder->rhythms.at[cluster->at[0]];
}

/* As loops of all its operations show them: the ring has one rank at each site. */
static bool has_one_rank_each(const struct ft_nccl_apart_finder *finder,
			      const struct ft_nccl_cluster *ring)
{
	const uint32_t *ranks = finder->input->ranks;

	for (size_t i = 0; i < ring->count; i++)
		if (ranks == NULL || ranks[ring->at[i]] != ring->site_count)
			return false;
	return true;
}

/* Of two such rings: somewhere they have different ones. */
static bool have_other_ranks(const struct ft_nccl_apart_finder *finder,
			     const struct ft_nccl_cluster *a, const struct ft_nccl_cluster *b)
{
	if (!has_one_rank_each(finder, a) || !has_one_rank_each(finder, b))
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

/*
 * Two rings that cannot be one communicator's. Those that have no site in common may be on two rails; and where some are
 * others, these may be further ports of the same hosts, if there are as many.
 */
static bool exclude_each_other(const struct ft_nccl_apart_finder *finder,
			       const struct ft_nccl_cluster *a, const struct ft_nccl_cluster *b)
{
	const struct ft_nccl_rhythm *one = rhythm_of(finder, a), *other = rhythm_of(finder, b);
	const size_t common = count_common(a, b);

	if (common == 0)
		return false;
	return a->site_count != b->site_count || do_ranks_differ(finder, a, b) ||
	       have_other_ranks(finder, a, b) || ft_nccl_rhythms_take_turns(one, other) ||
	       (common < a->site_count && !ft_nccl_rhythms_agree(one, other));
}

/* A ring can be of the communicator that these rings have, and is as busy as one of them, or leads the same way. */
static bool is_ring_of(const struct ft_nccl_apart_finder *finder,
		       const struct ft_nccl_cluster *ring, size_t begin, size_t end, uint32_t part)
{
	bool alike = false;

	for (size_t i = begin; i < end; i++) {
		const struct ft_nccl_cluster *other = &finder->clusters[i];

		if (!other->is_ring || other->part != part)
			continue;
		if (exclude_each_other(finder, ring, other))
			return false;
		alike |= count_common(ring, other) > 0 ||
			 ft_nccl_rhythms_agree(rhythm_of(finder, ring), rhythm_of(finder, other));
	}
	return alike;
}

static void part_rings(struct ft_nccl_apart_finder *finder, size_t begin, size_t end)
{
	const uint32_t first = finder->parts + 1;

	for (size_t i = begin; i < end; i++) {
		struct ft_nccl_cluster *ring = &finder->clusters[i];

		for (uint32_t part = first; ring->is_ring && part <= finder->parts; part++)
			if (is_ring_of(finder, ring, begin, i, part)) {
				ring->part = part;
				break;
			}
		if (ring->is_ring && ring->part == 0)
			ring->part = ++finder->parts;
	}
}

/* Some of it carries slices as rings do, while the ring does nothing. */
static bool is_of_other_ring(const struct ft_nccl_apart_finder *finder,
			     const struct ft_nccl_cluster *cluster,
			     const struct ft_nccl_cluster *ring)
{
	return ft_nccl_has_slice(&finder->input->tracks[cluster->at[0]]) &&
	       ft_nccl_rhythms_take_turns(rhythm_of(finder, cluster), rhythm_of(finder, ring));
}

/* Rings of one communicator alone: all else that does not contradict it may be its own. */
static bool is_of_all(const struct ft_nccl_apart_finder *finder,
		      const struct ft_nccl_cluster *cluster, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		if (finder->clusters[i].is_ring &&
		    (do_ranks_differ(finder, cluster, &finder->clusters[i]) ||
		     is_of_other_ring(finder, cluster, &finder->clusters[i])))
			return false;
	return true;
}

/* Some rank is at one site of a ring, and of another cluster at another one. */
static bool is_renumbered(const struct ft_nccl_apart_finder *finder, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		for (size_t j = begin; finder->clusters[i].is_ring && j < end; j++)
			if (do_ranks_differ(finder, &finder->clusters[j], &finder->clusters[i]))
				return true;
	return false;
}

/* What is of no ring: sends and receives, and the rest. */
static void part_others(struct ft_nccl_apart_finder *finder, size_t begin, size_t end,
			uint32_t first)
{
	const uint32_t last = finder->parts;
	const bool renumbered = is_renumbered(finder, begin, end);
	uint32_t sends = 0, rest = 0;

	for (size_t i = begin; i < end; i++) {
		struct ft_nccl_cluster *cluster = &finder->clusters[i];
		uint32_t *number = cluster->are_sends ? &sends : &rest;

		if (cluster->is_ring)
			continue;
		if (!cluster->are_sends && first == last &&
		    is_of_all(finder, cluster, begin, end)) {
			cluster->part = first;
			continue;
		}
		if (*number == 0)
			*number = ++finder->parts;
		cluster->part = *number;
		cluster->renumbered = renumbered;
	}
}

static void part_component(struct ft_nccl_apart_finder *finder, size_t begin, size_t end)
{
	const uint32_t first = finder->parts + 1;

	part_rings(finder, begin, end);
	if (finder->parts >= first)
		part_others(finder, begin, end, first);
}

static void part_all(struct ft_nccl_apart_finder *finder, const struct ft_nccl_apart *apart)
{
	for (size_t begin = 0, end; begin < finder->count; begin = end) {
		for (end = begin + 1;
		     end < finder->count &&
		     finder->clusters[end].component == finder->clusters[begin].component;)
			end++;
		part_component(finder, begin, end);
	}
	for (size_t i = 0; i < finder->count; i++)
		for (size_t j = 0; j < finder->clusters[i].count; j++) {
			apart->part[finder->clusters[i].at[j]] = finder->clusters[i].part;
			apart->renumbered[finder->clusters[i].at[j]] =
				finder->clusters[i].renumbered;
		}
}

/* --- memory --- */

static int reserve(struct ft_nccl_apart_finder *finder)
{
	const size_t count = finder->input->connection_count;

	finder->from = calloc(count + 1, sizeof *finder->from);
	finder->to = calloc(count + 1, sizeof *finder->to);
	finder->root = calloc(count + 1, sizeof *finder->root);
	finder->sends = calloc(count + 1, sizeof *finder->sends);
	finder->order = calloc(count + 1, sizeof *finder->order);
	finder->site_room = calloc(2 * count + 1, sizeof *finder->site_room);
	finder->ends = calloc(2 * count + 1, sizeof *finder->ends);
	finder->clusters = calloc(count + 1, sizeof *finder->clusters);
	finder->tags = ft_nccl_tags_read(finder->input->connections, count, finder->input->messages,
					 finder->input->message_count);
	return finder->from != NULL && finder->to != NULL && finder->root != NULL &&
			       finder->sends != NULL && finder->order != NULL &&
			       finder->site_room != NULL && finder->ends != NULL &&
			       finder->clusters != NULL && finder->tags != NULL
		       ? 0
		       : -ENOMEM;
}

static void find(struct ft_nccl_apart_finder *finder, const struct ft_nccl_apart *apart)
{
	for (uint32_t i = 0; i < finder->input->connection_count; i++) {
		const struct ft_nccl_connection *connection = finder->input->connections[i];

		finder->from[i] = ft_nccl_site_of(&finder->sites, i, &connection->sender);
		finder->to[i] = ft_nccl_site_of(&finder->sites, i, &connection->receiver);
		finder->root[i] = i;
		finder->sends[i] = ft_nccl_is_of_sends(&finder->input->tracks[i]);
	}
	ft_nccl_clusters_list(finder);
	part_all(finder, apart);
}

int ft_nccl_apart_find(struct ft_nccl_apart *apart, const struct ft_nccl_apart_input *input)
{
	struct ft_nccl_apart_finder finder = { .input = input };
	int error = ft_nccl_sites_find(&finder.sites, input->connections, input->connection_count,
				       NULL);

	*apart = (struct ft_nccl_apart){
		.part = calloc(input->connection_count + 1, sizeof *apart->part),
		.renumbered = calloc(input->connection_count + 1, sizeof *apart->renumbered),
	};
	if (apart->part == NULL || apart->renumbered == NULL)
		error = -ENOMEM;
	if (error == 0)
		error = ft_nccl_rhythms_find(&finder.rhythms, input->tracks,
					     input->connection_count);
	if (error == 0)
		error = ft_nccl_cycle_create(&finder.cycle, finder.sites.count);
	if (error == 0)
		error = reserve(&finder);
	if (error == 0)
		find(&finder, apart);
	ft_nccl_sites_free(&finder.sites);
	ft_nccl_rhythms_free(&finder.rhythms);
	ft_nccl_cycle_free(&finder.cycle);
	free(finder.from);
	free(finder.to);
	free(finder.root);
	free(finder.sends);
	free(finder.order);
	free(finder.site_room);
	free(finder.ends);
	free(finder.clusters);
	free(finder.tags);
	return error;
}

void ft_nccl_apart_free(struct ft_nccl_apart *apart)
{
	free(apart->part);
	free(apart->renumbered);
	*apart = (struct ft_nccl_apart){ 0 };
}
